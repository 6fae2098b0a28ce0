package definition

import (
	"bytes"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"signpost"
	"signpost/internal/spell"
	"signpost/internal/tree"
)

// allowance is an intended warning: a comment on its line or above it, or an entry in the allow field of its endpoint
// or of the file.
type allowance struct {
	rule     string
	at       *tree.Node // name of the rule, in the comment or the field
	line     int        // line that a comment applies to; 0 for a field
	in       *tree.Node // endpoint that contains the field; nil for the file
	reasoned bool       // gives a reason
	used     bool
	removal  func() *signpost.Fix // returns the fix that removes it, or nil

	unused signpost.Finding // for a rule checked by Lint: what to report if it allows nothing
}

var (
	// directive matches a comment addressed to Signpost: the word, and the rest.
	directive = regexp.MustCompile(`(?:^|[ \t])(#[ \t]*(?i:signpost)[ \t]*:[ \t]*)([A-Za-z-]+)([^\r\n]*)`)

	// allowedRules matches the rules of an allow comment, separated by commas.
	allowedRules = regexp.MustCompile(`^[ \t]+([a-z-]+(?:[ \t]*,[ \t]*[a-z-]+)*)`)
)

// notAllow lists the words that other linters use for allow.
var notAllow = []string{"ignore", "disable", "skip", "suppress", "nolint", "noqa", "off"}

// readAllowComments collects the allowances in the comments of a YAML file.
func (d *decoder) readAllowComments() {
	if !bytes.Contains(d.doc.Text, []byte("ignpost")) && !bytes.Contains(d.doc.Text, []byte("IGNPOST")) {
		return
	}
	about := d.doc.Lines() // going up from the last line, the nearest one that is not only a comment
	for number := d.doc.Lines(); number >= 1; number-- {
		line := d.doc.Line(number)
		if !bytes.HasPrefix(bytes.TrimSpace(line), []byte("#")) {
			about = number
		}
		if found := directive.FindSubmatchIndex(line); found != nil {
			start := d.doc.Offset(number, 1)
			for i := range found {
				found[i] += start
			}
			d.readDirective(found, about)
		}
	}
}

// readDirective reads a comment that applies to a line. at holds the offsets of a match of directive.
func (d *decoder) readDirective(at []int, about int) {
	word := d.doc.NodeAt(at[4], at[5])
	rest := string(d.doc.Text[at[6]:at[7]])
	if word.Text != "allow" {
		d.notAllowed(word, rest)
		return
	}
	found := allowedRules.FindStringSubmatchIndex(rest)
	if found == nil {
		d.warnAllow(word, nil, "# signpost: allow RULE because REASON", "allow names no rule")
		return
	}
	reasoned := strings.ContainsFunc(rest[found[1]:], unicode.IsLetter)
	names := strings.Split(rest[found[2]:found[3]], ",")
	start := at[6] + found[2]
	for i, rule := range names {
		name := strings.TrimSpace(rule)
		from := start + strings.Index(rule, name)
		node := d.doc.NodeAt(from, from+len(name))
		removal := func() *signpost.Fix { return d.removeRule(at[2], at[7], node, i, len(names)) }
		d.allowances = append(d.allowances, &allowance{rule: name, line: about, at: node, reasoned: reasoned, removal: removal})
		start += len(rule) + len(",")
	}
}

// notAllowed reports a comment that seems intended to allow something. Other words may be prose.
func (d *decoder) notAllowed(word *tree.Node, rest string) {
	lower := strings.ToLower(word.Text)
	if !slices.Contains(notAllow, lower) && spell.Nearest(lower, []string{"allow"}) == "" {
		return
	}
	var fix *signpost.Fix
	if found := allowedRules.FindStringSubmatch(rest); found != nil && slices.Contains(warnings(), found[1]) {
		fix = d.replacement(word, "allow")
	}
	d.warnAllow(word, fix, "# signpost: allow RULE because REASON", "%q does nothing: write allow", word.Text)
}

func (d *decoder) warnAllow(at *tree.Node, fix *signpost.Fix, hint, format string, args ...any) {
	d.report(signpost.Finding{
		Rule: RuleUnusedAllow, Severity: signpost.SeverityWarning, Message: fmt.Sprintf(format, args...), Hint: hint, Fix: fix,
	}, at)
}

// allowField returns a reader of an allow field, which maps rules to reasons. endpoint is nil for the field of the
// file.
func (d *decoder) allowField(endpoint *tree.Node) reader {
	return reader{"allow", func(n *tree.Node) {
		if !d.is(n, "allow", tree.Object) {
			return
		}
		for _, f := range n.Fields {
			if f.Value.Kind == tree.Null || d.is(f.Value, "the reason to allow "+f.Key.Text, tree.String) && f.Value.Text == "" {
				d.add(signpost.RuleRequiredField, "say why it is intended", f.Key, "allow gives no reason for %s", f.Key.Text)
			}
			removal := func() *signpost.Fix {
				owner := endpoint
				if owner == nil {
					owner = d.doc.Root
				}
				if key, value := owner.Field("allow"); len(n.Fields) == 1 && value == n {
					return d.removeField(owner, tree.Field{Key: key, Value: value})
				}
				return d.removeField(n, f)
			}
			d.allowances = append(d.allowances, &allowance{rule: f.Key.Text, at: f.Key, in: endpoint, reasoned: true, removal: removal})
		}
	}}
}

// warn reports a warning at the value that a path leads to from a field, unless it is allowed there. endpoint is nil if
// the warning is not about an endpoint.
func (d *decoder) warn(f signpost.Finding, from tree.Field, path signpost.Path, endpoint *tree.Node) {
	at := d.locate(&f, from, path)
	if at == nil {
		return
	}
	allowed := false
	for _, place := range []allowKey{{rule: f.Rule}, {rule: f.Rule, in: endpoint}, {rule: f.Rule, line: at.Line()}} {
		for _, a := range d.allowed[place] {
			a.used, allowed = true, true
		}
	}
	if !allowed {
		d.report(f, at)
	}
}

// allowKey is where an allowance applies: to a line, to an endpoint or, with neither, to the whole file.
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

// unusedAllowances reports allowances that allow nothing or give no reason.
func (d *decoder) unusedAllowances() {
	if len(d.allowances) == 0 {
		return
	}
	names := warnings()
	failed := slices.ContainsFunc(d.findings, func(f signpost.Finding) bool { return f.Severity == signpost.SeverityError })
	for _, a := range d.allowances {
		switch near := spell.Nearest(a.rule, names); {
		case a.used && !a.reasoned:
			d.warnAllow(a.at, nil, fmt.Sprintf("# signpost: allow %s because …", a.rule), "allow gives no reason for %s", a.rule)
		case a.used:
		case slices.Contains(names, a.rule) && failed: // the warning may appear once the errors are fixed
		case slices.Contains(names, a.rule):
			before := len(d.findings)
			d.warnAllow(a.at, a.removal(), "remove it", "nothing here is reported as %s", a.rule)
			if slices.Contains(togetherRules, a.rule) && len(d.findings) > before {
				a.unused, d.findings = d.findings[before], d.findings[:before]
				a.unused.Fix = nil // not certain: files that are not given may need it
			}
		case isRule(a.rule):
			d.warnAllow(a.at, a.removal(), "only warnings can be allowed", "%s cannot be allowed", a.rule)
		case near != "":
			var fix *signpost.Fix
			if _, only := spell.Only(a.rule, names); only {
				fix = d.replacement(a.at, near)
			}
			d.warnAllow(a.at, fix, fmt.Sprintf("did you mean %q?", near), "there is no warning %q to allow", a.rule)
		default:
			d.warnAllow(a.at, nil, "docs/rules.md lists them", "there is no warning %q to allow", a.rule)
		}
	}
}
