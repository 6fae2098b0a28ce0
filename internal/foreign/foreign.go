// Package foreign has the rules for manifests that others serve or store. A definition is strict; such a manifest is
// read as far as it can be, and whatever is wrong or unknown in it is a warning.
package foreign

import (
	"strings"

	"signpost"
)

const (
	ruleField = "foreign-field" // an unknown field
	ruleType  = "foreign-type"  // an unknown type of a context item
)

// Rules are about what others write into manifests beyond the specification, which is kept and compared.
var Rules = []string{ruleField, ruleType}

// Finding converts a finding about a definition to one about a manifest of others.
func Finding(f signpost.Finding) signpost.Finding {
	f.Severity = signpost.SeverityWarning
	switch f.Rule {
	case "unknown-field": // of package definition
		f.Rule, f.Hint = ruleField, "check that the studio knows it; Signpost keeps and compares it"
	case signpost.RuleContextType:
		f.Rule, f.Hint = ruleType, "check that your apps know it; of such types, Signpost sends header and bearerHeader"
	}
	return f
}

// Methods lower-cases the methods of endpoints and fills in get where there is none, as other readers of manifests do.
func Methods(endpoints []signpost.Endpoint) {
	for i, e := range endpoints {
		endpoints[i].Method = strings.ToLower(e.Method)
		if e.Method == "" {
			endpoints[i].Method = signpost.MethodGet
		}
	}
}
