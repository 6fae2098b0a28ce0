package definition

import (
	"bytes"
	"cmp"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"signpost"
	"signpost/internal/spell"
	"signpost/internal/tree"
)

// MaxSize is the maximum size of a definition file in bytes. A hundred thousand endpoints with modifiers fit.
const MaxSize = tree.MaxSize

// decoder reads a file in three steps: check compares the tree with the table of fields, and corrects what is clear;
// read builds the values of the [File]; and lint judges these. A value that cannot be used is broken: nothing more is
// reported about it, and what is read of it is zero.
type decoder struct {
	*File
	opts Options

	broken   map[*tree.Node]bool
	unread   bool           // something is not where it belongs, so what seems unused may be used
	reported int            // number of findings
	repeats  map[string]int // how often a manifest has an error, by rule and message
	used     map[place]bool // rules of allow fields that allow something
	basePath *tree.Node     // nil if it could not be read

	extras map[*tree.Node]signpost.Extra // fields beyond the specification, by object
	within tree.Field                    // the endpoint that is being checked, if any
	quoted []quotedText                  // values in typographic quotes

	shared      map[string]*sharedModifier
	sharedNames []string
	declared    []tree.Field // features of the file
	enabled     []*tree.Node
	keys        []*tree.Node // context keys of endpoints and features
	size        int          // bytes that shared modifiers and features add to the manifests
}

// newDecoder parses the text into a tree, and reports its problems.
func newDecoder(f *File, text []byte, opts Options) *decoder {
	f.BasePath, f.deprecations = "/", make(map[signpost.Part]*signpost.Deprecation)
	f.located = make(map[int]signpost.Path)
	f.doc = tree.Parse(text, f.served || isJSON(f.Name, text))
	d := &decoder{
		File: f, opts: opts, broken: make(map[*tree.Node]bool), used: make(map[place]bool),
		extras: make(map[*tree.Node]signpost.Extra), repeats: make(map[string]int),
	}
	rules := map[tree.ProblemKind]string{
		tree.Syntax: RuleSyntax, tree.TooLarge: RuleTooLarge, tree.BadKey: RuleSyntax,
		tree.DuplicateKey: signpost.RuleDuplicateKey, tree.BadValue: signpost.RuleWrongType,
	}
	for _, problem := range f.doc.Problems {
		d.add(rules[problem.Kind], problem.Hint, problem.At, "%s", problem.Message)
		d.broken[problem.Value] = true
		if problem.Kind == tree.DuplicateKey && !f.served {
			d.unread = true // what the second one has
		}
	}
	if len(d.findings) == 0 && (f.doc.Root == nil || f.doc.Root.Kind == tree.Null) {
		f.doc.Root = nil
		d.add(RuleSyntax, "signpost init writes a definition to start from", f.doc.NodeAt(0, 0), "the file is empty")
	}
	return d
}

// allowEmpty withdraws the finding about an empty file.
func (d *decoder) allowEmpty() {
	if d.doc.Root == nil && !d.doc.Failed {
		d.findings, d.reported = nil, 0
	}
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

// add reports an error at a node, and returns it for what else is known about it.
func (d *decoder) add(rule, hint string, at *tree.Node, format string, args ...any) *signpost.Finding {
	return d.report(signpost.Finding{
		Rule: rule, Severity: signpost.SeverityError, Message: fmt.Sprintf(format, args...), Hint: hint,
	}, at)
}

// maxFindings limits the number of findings of a file. Nobody reads more, and each takes memory. One more counts the
// rest.
const maxFindings = 1000

// report adds a finding, with its position in the file, and returns it.
func (d *decoder) report(f signpost.Finding, at *tree.Node) *signpost.Finding {
	f.Message, f.Hint = spell.Shorten(f.Message), spell.Shorten(f.Hint)
	if f.Path == nil && d.served && d.within.Key != nil { // signpost check reports it instead of the line
		f.Path = signpost.Path{signpost.Field(d.within.Key.Text)}
	}
	if d.served && isError(f) { // told once, with a count: others wrote it, and often on every endpoint
		id := f.Rule + f.Message
		d.repeats[id]++
		if d.repeats[id] > 1 {
			return &f
		}
	}
	d.reported++
	if len(d.findings) <= maxFindings {
		d.findings = append(d.findings, d.finding(f, placeOf(at)))
		return &d.findings[len(d.findings)-1]
	}
	if isError(f) {
		d.findings[maxFindings].Severity = f.Severity
	}
	return &f
}

// finding returns a finding with its position in the file.
func (f *File) finding(found signpost.Finding, at place) signpost.Finding {
	found.File, found.Line, found.Column, found.Width = f.Name, at.line, at.column, at.width
	return found
}

// finish sorts the findings and releases the tree: a server keeps the file, but needs no positions.
func (d *decoder) finish() *File {
	for i, f := range d.findings {
		if n := d.repeats[f.Rule+f.Message]; n > 1 {
			d.findings[i].Message += fmt.Sprintf(" (in %d places)", n)
		}
	}
	if d.reported > maxFindings {
		rest := &d.findings[maxFindings]
		rest.Message = fmt.Sprintf("%d more findings are not listed", d.reported-maxFindings)
		rest.Hint, rest.Fix = "fix the others first", nil
	}
	// Problems with an aliased value are found wherever it is used.
	seen := make(map[string]bool)
	var once []signpost.Finding
	for _, f := range d.findings {
		id := fmt.Sprintln(f.Line, f.Column, f.Rule, f.Message)
		if !seen[id] {
			seen[id] = true
			once = append(once, f)
		}
	}
	d.findings = once
	sortFindings(d.findings)
	d.basePathAt = placeOf(d.basePath)
	d.doc.Problems = nil
	if !d.opts.KeepTree {
		d.doc.Root = nil
	}
	return d.File
}

// sortFindings sorts the findings of a file by position.
func sortFindings(findings []signpost.Finding) {
	slices.SortStableFunc(findings, func(a, b signpost.Finding) int {
		return cmp.Or(a.Line-b.Line, a.Column-b.Column)
	})
}
