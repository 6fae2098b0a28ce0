package lsp

import (
	"strings"
)

// cursor describes what the author is typing. It is found without parsing, because completion is often requested while
// the file has syntax errors.
type cursor struct {
	path   []string // keys leading to the enclosing container; "" is a list item
	key    string   // for a value, its key; "" in a list
	value  bool     // a value, not a key
	item   bool     // a list item, which may be a value or the first key of an object
	flow   bool     // inside braces or brackets, as all of JSON is
	json   bool
	quote  byte     // opening quotation mark of the word, or 0
	word   string   // the word typed so far
	start  int      // offset of the word, after its quotation mark
	keys   []string // other keys of the container
	allows bool     // in a comment, after "signpost: allow"
}

// at returns the cursor at an offset.
func at(text string, offset int, json bool) cursor {
	s := &scanner{text: text, target: offset}
	if json {
		s.flowValue(0, frame{indent: -1})
	} else {
		s.block()
	}
	if !s.found {
		s.cursor = cursor{value: true, start: offset} // inside block text, for example, where nothing can be completed
		s.cursor.key = notCompletable
	}
	s.cursor.json = json
	for _, k := range s.keys {
		typed := k.from <= offset && offset <= k.to || s.cursor.value && k.name == s.cursor.key
		if k.container == s.container && !typed {
			s.cursor.keys = append(s.cursor.keys, k.name)
		}
	}
	return s.cursor
}

// notCompletable is a key that is in no schema.
const notCompletable = "\x00"

// scanner reads YAML or JSON by its shape alone: indentation, dashes, colons, braces and quotes.
type scanner struct {
	text   string
	target int // the offset to find

	stack []frame // enclosing keys and list items of the current block
	ids   int     // last container id used

	found     bool
	cursor    cursor
	container int // container id of the cursor
	keys      []scannedKey
}

// frame is a key or a list item that may enclose further lines.
type frame struct {
	indent int
	key    string // "" for a list item
	item   bool
	id     int // container id of its children
}

type scannedKey struct {
	container int
	name      string
	from, to  int
}

func (s *scanner) newID() int { s.ids++; return s.ids }

// block scans the lines of a YAML file.
func (s *scanner) block() {
	s.stack = []frame{{indent: -1, id: s.newID()}}
	scalar := -1 // indentation of the key whose block text is being skipped, or -1
	for from := 0; from <= len(s.text); {
		to := len(s.text)
		if i := strings.IndexByte(s.text[from:], '\n'); i >= 0 {
			to = from + i
		}
		line := strings.TrimSuffix(s.text[from:to], "\r")
		indent := len(line) - len(strings.TrimLeft(line, " "))
		blank := strings.TrimSpace(line) == ""
		here := from <= s.target && s.target <= to
		switch {
		case scalar >= 0 && (blank || indent > scalar):
			if here && !blank {
				return
			}
			from = to + 1
			continue
		case blank && here && !s.found:
			s.pop(s.target-from, false)
			s.set(cursor{start: s.target, path: s.path()}, s.top().id)
		case strings.HasPrefix(strings.TrimSpace(line), "#"):
			if here && !s.found {
				s.comment(s.text[from:s.target])
			}
		case !blank:
			end := s.line(from, to, indent)
			scalar = -1
			if last := strings.TrimSpace(line); end <= to && isBlockScalar(last) {
				scalar = indent
			}
			from = max(to, end) + 1
			continue
		}
		scalar = -1
		from = to + 1
	}
}

// isBlockScalar reports whether a line starts block text, such as "description: >-".
func isBlockScalar(line string) bool {
	i := strings.LastIndexByte(line, ' ')
	if i < 0 || !strings.HasSuffix(line[:i], ":") && !strings.HasSuffix(line[:i], "-") {
		return false
	}
	sign := line[i+1:]
	return (sign[0] == '|' || sign[0] == '>') && strings.Trim(sign[1:], "+-123456789") == ""
}

// line scans one line of a block and returns its end offset. A flow collection may span several lines.
func (s *scanner) line(from, to, indent int) int {
	at := from + indent
	dash := func() bool {
		return at < to && s.text[at] == '-' && (at+1 == len(s.text) || strings.IndexByte(" \r\n", s.text[at+1]) >= 0)
	}
	item := dash()
	s.pop(indent, item)
	for dash() {
		s.stack = append(s.stack, frame{indent: at - from, item: true, id: s.newID()})
		at++
		for at < to && s.text[at] == ' ' {
			at++
		}
	}
	if at < to && (s.text[at] == '{' || s.text[at] == '[') {
		return s.flowValue(at, s.top())
	}
	key, after := s.plainKey(at, to)
	if after < 0 {
		s.word(at, to, cursor{path: s.path(), item: item}, s.top().id)
		return to
	}
	parent := s.top().id
	s.keys = append(s.keys, scannedKey{parent, key, at, after - 1})
	if s.target >= at && s.target < after {
		s.word(at, after, cursor{path: s.path()}, parent)
	}
	s.stack = append(s.stack, frame{indent: at - from, key: key, id: s.newID()})
	for after < to && s.text[after] == ' ' {
		after++
	}
	if after < to && (s.text[after] == '{' || s.text[after] == '[') && !strings.HasPrefix(s.text[after:], "{{") {
		return s.flowValue(after, s.top())
	}
	path := s.path()
	s.word(after, to, cursor{path: path[:len(path)-1], key: key, value: true}, parent)
	return to
}

// plainKey returns the key that starts at an offset and the offset after its colon, or -1 if there is none.
func (s *scanner) plainKey(at, to int) (key string, after int) {
	line := strings.TrimRight(s.text[at:to], "\r")
	if line == "" {
		return "", -1
	}
	if quote := line[0]; quote == '"' || quote == '\'' {
		end := strings.IndexByte(line[1:], quote)
		if end < 0 {
			return "", -1
		}
		rest := line[end+2:]
		if trimmed := strings.TrimLeft(rest, " "); strings.HasPrefix(trimmed, ":") {
			return line[1 : end+1], at + len(line) - len(trimmed) + 1
		}
		return "", -1
	}
	for i := range len(line) {
		switch {
		case line[i] == '#' && i > 0 && line[i-1] == ' ':
			return "", -1
		case line[i] == ':' && (i+1 == len(line) || line[i+1] == ' '):
			return strings.TrimRight(line[:i], " "), at + i + 1
		}
	}
	return "", -1
}

// word records the cursor if it is in the rest of a line.
func (s *scanner) word(at, to int, c cursor, container int) {
	if s.target < at || s.target > to {
		return
	}
	if typed := s.text[at:s.target]; strings.Contains(typed, " #") || strings.HasPrefix(typed, "#") {
		s.comment(typed)
		return
	}
	c.start, c.word = at, s.text[at:s.target]
	if c.word != "" && (c.word[0] == '"' || c.word[0] == '\'') {
		c.quote, c.start, c.word = c.word[0], at+1, c.word[1:]
	}
	s.set(c, container)
}

// comment records a cursor in a comment. Rule names are completed after "signpost: allow".
func (s *scanner) comment(typed string) {
	c := cursor{key: notCompletable, value: true, start: s.target}
	if _, after, ok := strings.Cut(typed, "signpost:"); ok {
		if rules, ok := strings.CutPrefix(strings.TrimLeft(after, " "), "allow "); ok {
			word := strings.TrimLeft(rules[strings.LastIndexByte(rules, ',')+1:], " ")
			c.allows, c.word, c.start = true, word, s.target-len(word)
		}
	}
	s.set(c, -1)
}

func (s *scanner) set(c cursor, container int) {
	if !s.found {
		s.found, s.cursor, s.container = true, c, container
	}
}

// pop leaves the frames that a line with this indentation is not part of. List items may be indented as little as their
// key.
func (s *scanner) pop(indent int, item bool) {
	for len(s.stack) > 1 {
		f := s.top()
		if f.indent < indent || item && !f.item && f.indent == indent {
			return
		}
		s.stack = s.stack[:len(s.stack)-1]
	}
}

func (s *scanner) top() frame { return s.stack[len(s.stack)-1] }

func (s *scanner) path() []string {
	path := make([]string, 0, len(s.stack))
	for _, f := range s.stack[1:] {
		path = append(path, f.key)
	}
	return path
}

// flowFrame is an open object or list of a flow collection.
type flowFrame struct {
	list bool
	id   int

	key     string
	inValue bool
	from    int // start of the current word, or -1 between words
	quoted  bool
}

// flowValue scans a flow collection and returns the offset after it.
func (s *scanner) flowValue(at int, around frame) int {
	var base []string
	if len(s.stack) > 0 {
		base = s.path()
	}
	var open []*flowFrame
	place := func() cursor {
		c := cursor{path: append([]string{}, base...), flow: true}
		for i, f := range open {
			if i == len(open)-1 {
				c.key, c.value, c.item = f.key, f.inValue || f.list, f.list
				if f.list {
					c.path, c.key, c.value = append(c.path, ""), "", false
				}
			} else if f.list {
				c.path = append(c.path, "")
			} else {
				c.path = append(c.path, f.key)
			}
		}
		return c
	}
	note := func(i int) {
		if i != s.target || s.found || len(open) == 0 {
			return
		}
		f := open[len(open)-1]
		c := place()
		c.start = i
		if f.from >= 0 {
			c.start, c.word = f.from, s.text[f.from:i]
			if c.word != "" && (c.word[0] == '"' || c.word[0] == '\'') {
				c.quote, c.start, c.word = c.word[0], f.from+1, c.word[1:]
			}
		}
		s.set(c, f.id)
	}
	i := at
	for ; i < len(s.text); i++ {
		note(i)
		c := s.text[i]
		if len(open) == 0 {
			if c == '{' || c == '[' {
				open = append(open, &flowFrame{list: c == '[', id: s.flowID(around), from: -1})
			}
			continue
		}
		f := open[len(open)-1]
		switch {
		case f.from < 0 && (c == '"' || c == '\''):
			f.from, f.quoted = i, true
			for i++; i < len(s.text) && s.text[i] != c && s.text[i] != '\n'; i++ {
				note(i)
				if s.text[i] == '\\' && c == '"' && i+1 < len(s.text) && s.text[i+1] != '\n' {
					i++
					note(i)
				}
			}
			note(i)
			if i == len(s.text) {
				return i
			}
			if s.text[i] == '\n' { // missing closing quote: continue on the next line
				f.from = -1
			}
		case f.from >= 0 && c == '{' && strings.HasPrefix(s.text[i:], "{{"):
			i++ // a placeholder inside a word
			note(i)
		case f.from >= 0 && !f.quoted && c == '}' && strings.HasPrefix(s.text[i:], "}}") && strings.Contains(s.text[f.from:i], "{{"):
			i++
			note(i)
		case c == '{' || c == '[':
			open = append(open, &flowFrame{list: c == '[', id: s.newID(), from: -1})
		case c == '}' || c == ']':
			if open = open[:len(open)-1]; len(open) == 0 {
				note(i + 1)
				return i + 1
			}
			outer := open[len(open)-1]
			outer.from = -1
		case c == ',':
			f.key, f.inValue, f.from, f.quoted = "", false, -1, false
		case c == ':' && !f.list && !f.inValue && f.from >= 0 && (f.quoted || i+1 == len(s.text) || strings.IndexByte(" \r\n\t", s.text[i+1]) >= 0):
			f.key = strings.Trim(strings.TrimSpace(s.text[f.from:i]), `"'`)
			s.keys = append(s.keys, scannedKey{f.id, f.key, f.from, i})
			f.inValue, f.from, f.quoted = true, -1, false
		case c == '\n' && f.from >= 0 && !f.quoted && !f.inValue:
			f.from = -1
		case c == '#' && i > 0 && (s.text[i-1] == ' ' || s.text[i-1] == '\n'):
			end := strings.IndexByte(s.text[i:], '\n')
			if end < 0 {
				end = len(s.text) - i
			}
			if i < s.target && s.target <= i+end {
				s.comment(s.text[i:s.target])
			}
			i += end - 1
		case strings.IndexByte(" \t\r\n", c) < 0 && f.from < 0:
			f.from, f.quoted = i, false
		}
	}
	note(i)
	return i
}

// flowID returns the container id of the outermost object of a flow collection, which is that of the children of its
// key.
func (s *scanner) flowID(around frame) int {
	if around.id != 0 {
		return around.id
	}
	return s.newID()
}
