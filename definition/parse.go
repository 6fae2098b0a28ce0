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

// MaxSize bounds a definition file, in bytes. A hundred thousand endpoints with modifiers fit into it.
const MaxSize = tree.MaxSize

// maxDepth bounds the nesting of a file. The deepest value of the format is at level 11.
const maxDepth = 32

// parser holds one file while it is read, and what was found wrong with it.
type parser struct {
	name     string
	doc      *tree.Document
	broken   map[*tree.Node]bool // reported already: what follows from it is not worth a finding
	findings []signpost.Finding

	rest int              // how many findings there are beyond those
	last signpost.Finding // the first of them
}

// newParser reads the text into a tree. The format is JSON if asJSON is set or the name or the text says so.
func newParser(name string, text []byte, asJSON bool) *parser {
	p := &parser{name: name, broken: make(map[*tree.Node]bool)}
	p.doc = tree.Parse(text, tree.Options{JSON: asJSON || isJSON(name, text), MaxDepth: maxDepth, ExpandAliases: true})
	for _, problem := range p.doc.Problems {
		rule := map[tree.ProblemKind]string{
			tree.Syntax: RuleSyntax, tree.BadKey: RuleSyntax, tree.DuplicateKey: signpost.RuleDuplicateKey, tree.BadValue: signpost.RuleWrongType,
		}[problem.Kind]
		p.add(rule, problem.Hint, problem.At, "%s", problem.Message)
		p.broken[problem.Value] = true
	}
	if len(p.findings) == 0 && (p.doc.Root == nil || p.doc.Root.Kind == tree.Null) {
		p.doc.Root = nil
		p.add(RuleSyntax, "signpost init writes a definition to start from", p.doc.NodeAt(0, 0), "the file is empty")
	}
	return p
}

// isJSON tells the format by the name of the file and, where that does not say, by how the text begins.
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

// add reports a finding at the place of a node.
func (p *parser) add(rule, hint string, at *tree.Node, format string, args ...any) {
	p.report(signpost.Finding{
		Rule: rule, Severity: signpost.SeverityError, Message: fmt.Sprintf(format, args...), Hint: hint,
	}, at)
}

// maxFindings bounds the findings of a file. Nobody reads more, and each takes memory.
const maxFindings = 10_000

// report gives a finding its place in the file.
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

// finish sorts the findings and lets go of the tree: a server keeps the file, and needs no places.
func (p *parser) finish() {
	if p.rest > 0 {
		p.last.Message, p.last.Hint, p.last.Fix = fmt.Sprintf("%d more findings are not listed", p.rest), "correct the others first", nil
		p.findings = append(p.findings, p.last)
		p.rest = 0
	}
	p.sortFindings()
	p.doc.Root, p.doc.Problems, p.broken = nil, nil, nil
}

// sortFindings puts the findings in the order of their places and drops those that were said before: what
// is wrong with an aliased value is found in each place that it is used in.
func (p *parser) sortFindings() {
	type said struct {
		rule, message string
		line, column  int
	}
	seen := make(map[said]bool, len(p.findings))
	p.findings = slices.DeleteFunc(p.findings, func(f signpost.Finding) bool {
		key := said{f.Rule, f.Message, f.Line, f.Column}
		before := seen[key]
		seen[key] = true
		return before
	})
	slices.SortStableFunc(p.findings, func(a, b signpost.Finding) int {
		return cmp.Or(a.Line-b.Line, a.Column-b.Column)
	})
}
