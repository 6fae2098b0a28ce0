package source

import (
	"signpost"
	"signpost/client"
	"signpost/definition"
)

// Errors returns the errors of services that are used together. Definitions are strict. In a manifest, an unknown field
// or an unknown type of a context item does not prevent its use: these are returned in foreign, as warnings.
func Errors(services ...*Service) (errors, foreign []signpost.Finding) {
	var files []*definition.File
	served := make(map[string]bool)
	for _, s := range services {
		files = append(files, s.File)
		served[s.File.Name] = s.Served
	}
	for _, f := range definition.Errors(files...) {
		if served[f.File] {
			f = client.Lenient(f)
		}
		if f.Severity == signpost.SeverityError {
			errors = append(errors, f)
		} else {
			foreign = append(foreign, f)
		}
	}
	return errors, foreign
}
