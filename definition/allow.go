package definition

import (
	"fmt"
	"slices"
	"strings"

	"signpost"
	"signpost/internal/spell"
	"signpost/internal/tree"
	"signpost/match"
)

// allowance is an intended warning: an entry in the allow field of an endpoint or of the file.
type allowance struct {
	rule string
	keys []string   // context keys whose loss is meant; nil means all that are optional
	key  *tree.Node // name of the rule; nil after the file has been read
	at   place      // of the name
	in   place      // of the URL of the endpoint that has the field; zero for the file
}

// lossRules are the rules about context keys that feeds lose.
var lossRules = []string{match.RuleOverlapDropsContext, match.RuleOverlapInsideSegment}

// readAllow reads the allow field of an object, which maps rules to reasons. endpoint is the URL of the endpoint, or
// nil for the field of the file.
func (d *decoder) readAllow(n, endpoint *tree.Node) {
	for _, f := range n.Get("allow").Fields {
		reason, a := f.Value, &allowance{rule: f.Key.Text, key: f.Key, at: placeOf(f.Key), in: placeOf(endpoint)}
		if f.Value.Kind == tree.Object {
			reason = f.Value.Get("reason")
			a.keys = d.allowedKeys(a.rule, f.Value)
		}
		if reason.Text == "" && !d.broken[reason] && (reason.Kind == tree.String || f.Value.Kind == tree.Object) {
			d.add(signpost.RuleRequiredField, "say why it is intended", f.Key, "allow gives no reason for %s",
				f.Key.Text)
		}
		d.allowances = append(d.allowances, a)
	}
}

// allowedKeys returns the keys that an allowance names.
func (d *decoder) allowedKeys(rule string, n *tree.Node) []string {
	at, list := n.Field("keys")
	switch {
	case at == nil || d.broken[list]:
		return nil
	case !slices.Contains(lossRules, rule):
		d.add(RuleUnknownField, "name only the reason", at, "keys are for %s, not for %s",
			strings.Join(lossRules, " and "), rule)
	case len(list.Items) == 0:
		d.add(signpost.RuleRequiredField, "name a context key, or remove keys", at, "keys is an empty list")
	}
	keys := []string{}
	for _, item := range list.Items {
		keys = append(keys, item.Text)
	}
	return keys
}

// warn reports a warning of this package, unless it is allowed. endpoint is the URL of the endpoint that it is about,
// or nil.
func (d *decoder) warn(rule, hint string, at, endpoint *tree.Node, format string, args ...any) {
	f := signpost.Finding{Rule: rule, Severity: signpost.SeverityWarning, Hint: hint,
		Message: fmt.Sprintf(format, args...)}
	d.reportAt(f, tree.Field{Key: at, Value: at}, nil, endpoint)
}

// covers reports whether the allowance is for the endpoint whose URL is at a place.
func (a *allowance) covers(endpoint place) bool { return a.in == place{} || a.in == endpoint }

// allows reports whether a warning is allowed in the endpoint whose URL is at a place or, if that is zero, in the file.
// It records in used which rules of allow fields do so.
func (f *File) allows(rule string, endpoint place, used map[place]bool) bool {
	return f.allowsLoss(rule, endpoint, signpost.ContextItem{}, used)
}

// allowsLoss is allows for a warning about the loss of a context key. An allowance covers the keys that it names or, if
// it names none, those that are optional. The zero item stands for what is not about a key.
func (f *File) allowsLoss(rule string, endpoint place, lost signpost.ContextItem, used map[place]bool) bool {
	allowed := false
	for _, a := range f.allowances {
		if a.rule == rule && a.covers(endpoint) {
			used[a.at] = true
			isMeant := lost.Key == "" || slices.Contains(a.keys, lost.Key) || a.keys == nil && !lost.Required
			allowed = allowed || isMeant
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
		mayAllow := known && failed // once the errors are fixed
		if mayAllow || d.used[a.at] || slices.Contains(togetherRules, a.rule) {
			continue
		}
		f := unusedAllow(a.rule)
		switch {
		case known:
		case slices.ContainsFunc(Rules(), func(r Rule) bool { return r.Name == a.rule }):
			f.Message, f.Hint = fmt.Sprintf("%s cannot be allowed", a.rule), "only warnings can be allowed"
		default:
			f.Message, f.Hint = fmt.Sprintf("there is no warning %q to allow", a.rule), "docs/rules.md lists them"
			if near := spell.Nearest(a.rule, names); near != "" {
				f.Hint, f.Fix = fmt.Sprintf("did you mean %q?", near), d.replacement(a.key, near)
			}
		}
		d.report(f, a.key)
	}
}
