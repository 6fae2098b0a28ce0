package definition

import (
	"bytes"
	"cmp"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"signpost"
	"signpost/internal/tree"
)

// MaxSize is the maximum size of a definition file in bytes. A hundred thousand endpoints with modifiers fit.
const MaxSize = tree.MaxSize

// maxDepth limits the nesting of a file. The deepest value of the format is at level 11.
const maxDepth = 32

// parser holds a file while it is being read, and its findings.
type parser struct {
	name     string
	doc      *tree.Document
	broken   map[*tree.Node]bool // already reported: consequences are not
	findings []signpost.Finding

	duplicated bool             // a key occurs twice, and what the second one has is not read
	rest       int              // number of findings beyond the limit
	last       signpost.Finding // the first of these
}

// newParser parses the text into a tree. The format is JSON if asJSON is set or the name or the text suggests it.
func newParser(name string, text []byte, asJSON bool) *parser {
	p := &parser{name: name, broken: make(map[*tree.Node]bool)}
	p.doc = tree.Parse(text, tree.Options{JSON: asJSON || isJSON(name, text), MaxDepth: maxDepth})
	for _, problem := range p.doc.Problems {
		rule := map[tree.ProblemKind]string{
			tree.Syntax: RuleSyntax, tree.TooLarge: RuleTooLarge, tree.BadKey: RuleSyntax,
			tree.DuplicateKey: signpost.RuleDuplicateKey, tree.BadValue: signpost.RuleWrongType,
		}[problem.Kind]
		p.add(rule, problem.Hint, problem.At, "%s", problem.Message)
		p.broken[problem.Value] = true
		p.duplicated = p.duplicated || problem.Kind == tree.DuplicateKey
	}
	if len(p.findings) == 0 && (p.doc.Root == nil || p.doc.Root.Kind == tree.Null) {
		p.doc.Root = nil
		p.add(RuleSyntax, "signpost init writes a definition to start from", p.doc.NodeAt(0, 0), "the file is empty")
	}
	return p
}

// isJSON determines the format from the file name or, if that is inconclusive, from how the text starts.
func isJSON(name string, text []byte) bool {
	switch strings.ToLower(filepath.Ext(name)) {
	case ".json":
		return true
	case ".yaml", ".yml":
		return false
	}
	text = bytes.TrimPrefix(text, []byte(tree.ByteOrderMark))
	rest, object := bytes.CutPrefix(bytes.TrimSpace(text), []byte("{"))
	rest = bytes.TrimSpace(rest)
	return object && (bytes.HasPrefix(rest, []byte(`"`)) || bytes.HasPrefix(rest, []byte("}")))
}

// add reports a finding at a node.
func (p *parser) add(rule, hint string, at *tree.Node, format string, args ...any) {
	p.report(signpost.Finding{
		Rule: rule, Severity: signpost.SeverityError, Message: fmt.Sprintf(format, args...), Hint: hint,
	}, at)
}

// notADefinition reports that the file is something else.
func (p *parser) notADefinition(is *format, at *tree.Node) {
	but := ""
	if is.name != "" {
		but = ": it looks like " + is.name
	}
	p.add(RuleNotADefinition, is.hint, at, "this is not a Signpost definition%s", but)
}

// maxFindings limits the number of findings of a file. Nobody reads more, and each takes memory.
const maxFindings = 1000

// report adds a finding, with its position in the file.
func (p *parser) report(f signpost.Finding, at *tree.Node) {
	f.File, f.Width = p.name, at.Width()
	f.Line, f.Column = p.doc.Position(at.Start())
	if len(p.findings) < maxFindings {
		p.findings = append(p.findings, f)
		return
	}
	if p.rest++; p.rest == 1 {
		p.last = f
	}
	if f.Severity == signpost.SeverityError {
		p.last.Severity = f.Severity
	}
}

// finish sorts the findings and releases the tree: a server keeps the file, but needs no positions.
func (p *parser) finish() {
	if p.rest > 0 {
		p.last.Message, p.last.Hint, p.last.Fix = fmt.Sprintf("%d more findings are not listed", p.rest), "fix the others first", nil
		p.findings = append(p.findings, p.last)
		p.rest = 0
	}
	p.sortFindings()
	p.doc.Root, p.doc.Problems, p.broken = nil, nil, nil
}

// sortFindings sorts the findings by position and removes duplicates: problems with an aliased value are found wherever
// it is used.
func (p *parser) sortFindings() {
	type reported struct {
		rule, message string
		line, column  int
	}
	seen := make(map[reported]bool, len(p.findings))
	p.findings = slices.DeleteFunc(p.findings, func(f signpost.Finding) bool {
		key := reported{f.Rule, f.Message, f.Line, f.Column}
		before := seen[key]
		seen[key] = true
		return before
	})
	slices.SortStableFunc(p.findings, func(a, b signpost.Finding) int {
		return cmp.Or(a.Line-b.Line, a.Column-b.Column)
	})
}
