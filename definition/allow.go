package definition

import (
	"bytes"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"signpost"
	"signpost/internal/spell"
	"signpost/internal/tree"
)

// allowance is a warning that the author means: a comment on its line or above it, or an entry of the
// allow field of its endpoint or of the file.
type allowance struct {
	rule string
	at   *tree.Node // the name of the rule, in the comment or the field
	line int        // the line that a comment is about; 0 for a field
	in   *tree.Node // the endpoint that a field is in; nil for the file
	used bool

	unused signpost.Finding // for a rule that Lint judges: what to report if it allows nothing
}

// allowComment is what a comment says: the rules, separated by commas, and perhaps a reason.
var allowComment = regexp.MustCompile(`(?:^|[ \t])#[ \t]*signpost:[ \t]*allow[ \t]+([a-z-]+(?:[ \t]*,[ \t]*[a-z-]+)*)`)

// allowComments returns the allowances in the comments of a YAML file.
func (p *parser) allowComments() []*allowance {
	var all []*allowance
	if !bytes.Contains(p.doc.Text, []byte("signpost:")) {
		return nil
	}
	about := p.doc.Lines() // from the last line up, the next one that is not a comment alone
	for number := p.doc.Lines(); number >= 1; number-- {
		line := p.doc.Line(number)
		if !bytes.HasPrefix(bytes.TrimSpace(line), []byte("#")) {
			about = number
		}
		found := allowComment.FindSubmatchIndex(line)
		if found == nil {
			continue
		}
		start := p.doc.Offset(number, 1) + found[2]
		for rule := range strings.SplitSeq(string(line[found[2]:found[3]]), ",") {
			name := strings.TrimSpace(rule)
			at := start + strings.Index(rule, name)
			all = append(all, &allowance{rule: name, line: about, at: p.doc.NodeAt(at, at+len(name))})
			start += len(rule) + len(",")
		}
	}
	return all
}

// allowField returns a reader of an allow field: rules, each with the reason why it is allowed. endpoint is nil
// for the field of the file.
func (d *decoder) allowField(endpoint *tree.Node) reader {
	return reader{"allow", func(n *tree.Node) {
		if !d.is(n, "allow", tree.Object) {
			return
		}
		for _, f := range n.Fields {
			if d.is(f.Value, "the reason to allow "+f.Key.Text, tree.String) && f.Value.Text == "" {
				d.add(signpost.RuleRequiredField, "say why it is meant", f.Value, "allow gives no reason")
			}
			d.allowances = append(d.allowances, &allowance{rule: f.Key.Text, at: f.Key, in: endpoint})
		}
	}}
}

// warn reports a warning at the value that a path leads to from a field, unless it is allowed there.
// endpoint is nil for a warning that is not about an endpoint.
func (d *decoder) warn(f signpost.Finding, from tree.Field, path signpost.Path, endpoint *tree.Node) {
	before := len(d.findings)
	d.reportAt(f, from, path)
	if len(d.findings) == before {
		return
	}
	line := d.findings[before].Line
	allowed := false
	for _, place := range []allowKey{{rule: f.Rule}, {rule: f.Rule, in: endpoint}, {rule: f.Rule, line: line}} {
		for _, a := range d.allowed[place] {
			a.used, allowed = true, true
		}
	}
	if allowed {
		d.findings = d.findings[:before]
	}
}

// allowKey is where an allowance holds: on a line, in an endpoint or, with neither, in the whole file.
type allowKey struct {
	rule string
	line int
	in   *tree.Node
}

// indexAllowances makes the allowances known to warn.
func (d *decoder) indexAllowances() {
	d.allowed = make(map[allowKey][]*allowance, len(d.allowances))
	for _, a := range d.allowances {
		key := allowKey{a.rule, a.line, a.in}
		d.allowed[key] = append(d.allowed[key], a)
	}
}

// unusedAllowances reports those that allow nothing.
func (d *decoder) unusedAllowances() {
	for _, a := range d.allowances {
		if a.used {
			continue
		}
		message, hint := fmt.Sprintf("nothing here is reported as %s", a.rule), "remove it"
		if !slices.Contains(warnings(), a.rule) {
			message = fmt.Sprintf("there is no warning %q to allow", a.rule)
			switch near := spell.Nearest(a.rule, warnings()); {
			case isRule(a.rule):
				message, hint = fmt.Sprintf("%s cannot be allowed", a.rule), "only warnings can"
			case near != "":
				hint = fmt.Sprintf("did you mean %q?", near)
			default:
				hint = "docs/rules.md lists them"
			}
		}
		d.report(signpost.Finding{Rule: ruleUnusedAllow, Severity: signpost.SeverityWarning, Message: message, Hint: hint}, a.at)
		if last := len(d.findings) - 1; slices.Contains(togetherRules, a.rule) {
			a.unused, d.findings = d.findings[last], d.findings[:last]
		}
	}
}
