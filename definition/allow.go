package definition

import (
	"bytes"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"signpost"
	"signpost/internal/spell"
)

// allowance is a warning that the author means: a comment on its line or above it, or an entry of the
// allow field of its endpoint or of the file.
type allowance struct {
	rule string
	at   *node // the name of the rule, in the comment or the field
	line int   // the line that a comment is about; 0 for a field
	in   *node // the endpoint that a field is in; nil for the file
	used bool
}

// allowComment is what a comment says: the rules, separated by commas, and perhaps a reason.
var allowComment = regexp.MustCompile(`(?:^|[ \t])#[ \t]*signpost:[ \t]*allow[ \t]+([a-z-]+(?:[ \t]*,[ \t]*[a-z-]+)*)`)

// allowComments returns the allowances in the comments of a YAML file.
func (p *parser) allowComments() []*allowance {
	var all []*allowance
	if !bytes.Contains(p.source.text, []byte("signpost:")) {
		return nil
	}
	for number := 1; number <= p.source.count(); number++ {
		line := p.source.line(number)
		found := allowComment.FindSubmatchIndex(line)
		if found == nil {
			continue
		}
		about := number
		for about < p.source.count() && bytes.HasPrefix(bytes.TrimSpace(p.source.line(about)), []byte("#")) {
			about++ // a comment on lines of its own is about the next that is not one
		}
		start := found[2]
		for rule := range strings.SplitSeq(string(line[found[2]:found[3]]), ",") {
			name := strings.TrimSpace(rule)
			column := utf8.RuneCount(line[:start]) + strings.Index(rule, name) + 1
			all = append(all, &allowance{rule: name, line: about, at: &node{kind: kindString, text: name, line: number, column: column}})
			start += len(rule) + len(",")
		}
	}
	return all
}

// allowField returns a reader of an allow field: rules, each with the reason why it is allowed. endpoint is nil
// for the field of the file.
func (d *decoder) allowField(endpoint *node) reader {
	return reader{"allow", func(n *node) {
		if !d.is(n, "allow", kindObject) {
			return
		}
		for _, f := range n.fields {
			if d.is(f.value, "the reason to allow "+f.key.text, kindString) && f.value.text == "" {
				d.add(signpost.RuleRequiredField, "say why it is meant", f.value, "allow gives no reason")
			}
			d.allowances = append(d.allowances, &allowance{rule: f.key.text, at: f.key, in: endpoint})
		}
	}}
}

// warn reports a warning at the value that a path leads to from a field, unless it is allowed there.
// endpoint is nil for a warning that is not about an endpoint.
func (d *decoder) warn(f signpost.Finding, from field, path signpost.Path, endpoint *node) {
	before := len(d.findings)
	d.reportAt(f, from, path)
	if len(d.findings) == before {
		return
	}
	line := d.findings[before].Line
	allowed := false
	for _, a := range d.allowances {
		here := a.line == line || a.line == 0 && (a.in == nil || a.in == endpoint)
		if a.rule == f.Rule && here {
			a.used, allowed = true, true
		}
	}
	if allowed {
		d.findings = d.findings[:before]
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
	}
}
