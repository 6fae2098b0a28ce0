package foreign

import (
	"slices"
	"testing"

	"signpost"
)

func TestFinding(t *testing.T) {
	for rule, want := range map[string]string{"unknown-field": "foreign-field", signpost.RuleContextType: "foreign-type", signpost.RuleURL: signpost.RuleURL} {
		f := Finding(signpost.Finding{Rule: rule, Severity: signpost.SeverityError, Hint: "for definitions"})
		if f.Rule != want || f.Severity != signpost.SeverityWarning || (f.Hint != "for definitions") != slices.Contains(Rules, want) {
			t.Errorf("%s becomes %+v", rule, f)
		}
	}
}

func TestMethods(t *testing.T) {
	endpoints := []signpost.Endpoint{{Method: "GET"}, {}, {Method: "Post"}, {Method: "put"}}
	Methods(endpoints)
	for i, want := range []string{"get", "get", "post", "put"} {
		if endpoints[i].Method != want {
			t.Errorf("the method of endpoint %d is %q, not %q", i, endpoints[i].Method, want)
		}
	}
}
