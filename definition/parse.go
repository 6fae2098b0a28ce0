package definition

import (
	"bytes"
	"cmp"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"signpost"
)

// MaxSize bounds a definition file, in bytes. A hundred thousand endpoints with modifiers fit into it.
const MaxSize = 64 << 20

// maxDepth bounds the nesting of a file. The deepest value of the format is at level 11.
const maxDepth = 32

// parser holds one file while it is read, and what was found wrong with it.
type parser struct {
	name     string
	json     bool // whatever the name says
	source   source
	findings []signpost.Finding
}

// add reports a finding at the place of a node.
func (p *parser) add(rule, hint string, at *node, format string, args ...any) {
	p.report(signpost.Finding{
		Rule: rule, Severity: signpost.SeverityError, Message: fmt.Sprintf(format, args...), Hint: hint,
	}, at)
}

// report gives a finding its place in the file.
func (p *parser) report(f signpost.Finding, at *node) {
	f.File, f.Line, f.Column, f.Width = p.name, at.line, at.column, p.source.width(at)
	p.findings = append(p.findings, f)
}

// sortFindings puts the findings in the order of their places and drops those that were said before: what
// is wrong with an aliased value is found in each place that it is used in.
func (p *parser) sortFindings() {
	seen := make(map[string]bool)
	p.findings = slices.DeleteFunc(p.findings, func(f signpost.Finding) bool {
		said := seen[f.String()]
		seen[f.String()] = true
		return said
	})
	slices.SortStableFunc(p.findings, func(a, b signpost.Finding) int {
		return cmp.Or(a.Line-b.Line, a.Column-b.Column)
	})
}

// tree returns the values of the file, or nil with findings where there are none to look at.
func (p *parser) tree() *node {
	start := &node{line: 1, column: 1}
	if len(p.source.text) > MaxSize {
		p.source.text = nil // not worth showing
		p.add(ruleSyntax, "split the service into several files", start, "the file is larger than %d MiB", MaxSize>>20)
		return nil
	}
	if at := invalidUTF8(p.source.text); at != nil {
		p.add(ruleSyntax, "save the file as UTF-8", at, "the file is not UTF-8 text")
		return nil
	}
	p.source.text = bytes.TrimPrefix(p.source.text, []byte("\ufeff"))
	p.source.yaml = !p.fromJSON()

	var root *node
	if p.fromJSON() {
		root = p.parseJSON()
	} else {
		root = p.parseYAML()
	}
	if len(p.findings) == 0 && (root == nil || root.kind == kindNull) {
		p.add(ruleSyntax, "signpost init writes a definition to start from", start, "the file is empty")
		return nil
	}
	return root
}

// invalidUTF8 returns the place of the first byte that is not UTF-8, or nil.
func invalidUTF8(text []byte) *node {
	if utf8.Valid(text) {
		return nil
	}
	at := &node{line: 1, column: 1}
	for {
		r, size := utf8.DecodeRune(text)
		switch {
		case r == utf8.RuneError && size == 1:
			return at
		case r == '\n':
			at.line, at.column = at.line+1, 1
		default:
			at.column++
		}
		text = text[size:]
	}
}

// fromJSON tells the format by the name of the file and, where that does not say, by how the text begins.
func (p *parser) fromJSON() bool {
	switch ext := strings.ToLower(filepath.Ext(p.name)); {
	case p.json || ext == ".json":
		return true
	case ext == ".yaml" || ext == ".yml":
		return false
	}
	rest, object := bytes.CutPrefix(bytes.TrimSpace(p.source.text), []byte("{"))
	rest = bytes.TrimSpace(rest)
	return object && (bytes.HasPrefix(rest, []byte(`"`)) || bytes.HasPrefix(rest, []byte("}")))
}

// keys sees to it that no key stands in an object twice.
type keys struct {
	*parser
	first map[string]*node
}

func (p *parser) newKeys(size int) keys { return keys{p, make(map[string]*node, size)} }

// add reports whether the key is new. If it is not, that is a finding which names the first place.
func (k keys) add(key *node) bool {
	if first := k.first[key.text]; first != nil {
		k.parser.add(signpost.RuleDuplicateKey, "keep one of the two", key,
			"%q is there already, in line %d, column %d", key.text, first.line, first.column)
		return false
	}
	k.first[key.text] = key
	return true
}
