package source

import (
	"signpost"
	"signpost/client"
	"signpost/definition"
)

// Errors returns what is wrong with services that are used together. Definitions are strict. In a manifest, an unknown
// field or an unknown type of a context item does not keep it from being used: it is returned in foreign, as a warning.
func Errors(services ...*Service) (errors, foreign []signpost.Finding) {
	var files []*definition.File
	served := make(map[string]bool)
	for _, s := range services {
		files = append(files, s.File)
		served[s.File.Name] = s.Served
	}
	for _, f := range definition.Errors(files...) {
		rule, hint := "", ""
		if served[f.File] {
			switch f.Rule {
			case "unknown-field":
				rule, hint = client.RuleForeignField, "Signpost ignores it"
			case signpost.RuleContextType:
				rule, hint = client.RuleForeignType, "Signpost cannot send such a key"
			}
		}
		if rule == "" {
			errors = append(errors, f)
			continue
		}
		f.Rule, f.Hint, f.Severity = rule, hint, signpost.SeverityWarning
		foreign = append(foreign, f)
	}
	return errors, foreign
}
