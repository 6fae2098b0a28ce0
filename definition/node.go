package definition

import (
	"bytes"
	"regexp"
	"unicode/utf8"
)

// kind is the JSON type of a node.
type kind string

const (
	kindObject kind = "an object"
	kindArray  kind = "a list"
	kindString kind = "text"
	kindNumber kind = "a number"
	kindBool   kind = "true or false"
	kindNull   kind = "null"
)

// node is a value of a YAML or JSON file, with its place. Both formats give the same tree.
type node struct {
	kind   kind
	text   string  // of text; a number and a truth value as written in JSON
	fields []field // of an object, in the order of the file, no key twice
	items  []*node // of a list

	line, column int  // in characters, from 1
	broken       bool // reported already: what follows from it is not worth a finding
}

type field struct{ key, value *node }

// field returns the key and the value of a field, or nil.
func (n *node) field(name string) (key, value *node) {
	for _, f := range n.fields {
		if f.key.text == name {
			return f.key, f.value
		}
	}
	return nil, nil
}

// source is the text of a file, for showing the place of a finding.
type source struct {
	text  []byte
	yaml  bool
	lines [][]byte // cut when first asked for
}

// yamlBreak is what ends a line in YAML. In JSON it is the line feed alone.
var yamlBreak = regexp.MustCompile("\r\n|[\r\n\u0085\u2028\u2029]")

// count returns the number of lines.
func (s *source) count() int {
	if s.lines == nil && s.yaml {
		from := 0
		for _, at := range yamlBreak.FindAllIndex(s.text, -1) {
			s.lines = append(s.lines, s.text[from:at[0]])
			from = at[1]
		}
		s.lines = append(s.lines, s.text[from:])
	} else if s.lines == nil {
		s.lines = bytes.Split(s.text, []byte("\n"))
	}
	return len(s.lines)
}

// line returns a line, counted from 1, without its end.
func (s *source) line(number int) []byte {
	if number < 1 || number > s.count() {
		return nil
	}
	return bytes.TrimSuffix(s.lines[number-1], []byte("\r"))
}

// width returns how many characters the value at a place takes on its line, and 1 where that is unclear.
func (s *source) width(n *node) int {
	rest := s.line(n.line)
	for i := 1; i < n.column && len(rest) > 0; i++ {
		_, size := utf8.DecodeRune(rest)
		rest = rest[size:]
	}
	switch {
	case len(rest) == 0:
		return 1
	case rest[0] == '"' || rest[0] == '\'':
		for i := 1; i < len(rest); i++ {
			switch {
			case rest[i] == '\\' && rest[0] == '"':
				i++
			case rest[i] == rest[0]:
				return utf8.RuneCount(rest[:i+1])
			}
		}
	case n.text != "" && bytes.HasPrefix(rest, []byte(n.text)):
		return utf8.RuneCountInString(n.text)
	}
	return 1
}
