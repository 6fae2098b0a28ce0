package definition

import (
	"fmt"
	"slices"

	"signpost"
	"signpost/internal/spell"
	"signpost/internal/tree"
)

// allowance is an intended warning: an entry in the allow field of an endpoint or of the file.
type allowance struct {
	rule string
	at   *tree.Node // name of the rule
	in   *tree.Node // URL of the endpoint that has the field; nil for the file
}

// readAllow reads the allow field of an object, which maps rules to reasons. endpoint is the URL of the endpoint, or nil for
// the field of the file.
func (d *decoder) readAllow(n, endpoint *tree.Node) {
	for _, f := range n.Get("allow").Fields {
		if f.Value.Kind == tree.String && f.Value.Text == "" {
			d.add(signpost.RuleRequiredField, "say why it is intended", f.Key, "allow gives no reason for %s", f.Key.Text)
		}
		d.allowances = append(d.allowances, allowance{f.Key.Text, f.Key, endpoint})
	}
}

// warn reports a warning of this package, unless it is allowed. endpoint is the URL of the endpoint that it is about, or nil.
func (d *decoder) warn(rule, hint string, at, endpoint *tree.Node, format string, args ...any) {
	f := signpost.Finding{Rule: rule, Severity: signpost.SeverityWarning, Hint: hint, Message: fmt.Sprintf(format, args...)}
	d.reportAt(f, tree.Field{Key: at, Value: at}, nil, endpoint)
}

// allows reports whether a warning is allowed in the endpoint with a URL or, if that is nil, in the file. It records in used
// which rules of allow fields do so.
func (f *File) allows(rule string, endpoint *tree.Node, used map[*tree.Node]bool) bool {
	allowed := false
	for _, a := range f.allowances {
		if a.rule == rule && (a.in == nil || a.in == endpoint) {
			used[a.at], allowed = true, true
		}
	}
	return allowed
}

// unusedAllow returns the finding about an allowance of a rule that allows nothing.
func unusedAllow(rule string) signpost.Finding {
	return signpost.Finding{Rule: RuleUnusedAllow, Severity: signpost.SeverityWarning,
		Message: fmt.Sprintf("nothing here is reported as %s", rule), Hint: "remove it"}
}

// checkAllowances reports allowances that allow nothing. Those of togetherRules are left to Lint.
func (d *decoder) checkAllowances() {
	names := allowable()
	failed := slices.ContainsFunc(d.findings, isError)
	for _, a := range d.allowances {
		known := slices.Contains(names, a.rule)
		if d.used[a.at] || slices.Contains(togetherRules, a.rule) || known && failed { // it may allow something once the errors are fixed
			continue
		}
		f := d.report(unusedAllow(a.rule), a.at)
		switch {
		case known:
		case isRule(a.rule):
			f.Message, f.Hint = fmt.Sprintf("%s cannot be allowed", a.rule), "only warnings can be allowed"
		default:
			f.Message, f.Hint = fmt.Sprintf("there is no warning %q to allow", a.rule), "docs/rules.md lists them"
			if near := spell.Nearest(a.rule, names); near != "" {
				f.Hint, f.Fix = fmt.Sprintf("did you mean %q?", near), d.replacement(a.at, near)
			}
		}
	}
}
