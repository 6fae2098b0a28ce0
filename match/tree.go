package match

import (
	"slices"
	"strings"
	"unicode/utf8"
)

// An index is a tree of literal texts, in which placeholders lead to further trees. A placeholder is usually a whole
// path segment, so the text after it starts with a delimiter and there is only one way to continue. Otherwise, as in
// {{show}}-{{season}}, the text may occur many times in the segment; an Aho-Corasick automaton finds all occurrences of
// all such texts in one pass.

// textEnd is the node at which a text ends.
type textEnd struct {
	ends     []int  // endpoints whose URL ends here
	literals int    // number of characters up to here that are not part of a placeholder
	behind   *after // what follows a placeholder at this point; nil if there is none
}

// after holds what can follow a placeholder.
type after struct {
	tail  textTree // texts that start with a delimiter, and the end of the URL
	words *words   // all other texts; nil if there are none
}

// textTree is a radix tree. The zero value is empty.
type textTree struct {
	text     string   // label of the edge to this node
	at       *textEnd // nil if no text ends here
	children []*textTree
}

// insertURL returns the node of a canonical URL, creating it if needed.
func (t *textTree) insertURL(url string) *textEnd {
	literals := 0
	text, rest, more := cutPlaceholder(url)
	at := t.insert(text)
	for {
		literals += utf8.RuneCountInString(text)
		at.literals = literals
		if !more {
			return at
		}
		if at.behind == nil {
			at.behind = &after{}
		}
		text, rest, more = cutPlaceholder(rest)
		at = at.behind.insert(text)
	}
}

func (a *after) insert(text string) *textEnd {
	i := strings.IndexAny(text, delimiters)
	if i < 0 {
		i = len(text)
	}
	if i == 0 {
		return a.tail.insert(text)
	}
	if a.words == nil {
		a.words = newWords()
	}
	return a.words.insert(text[:i]).insert(text[i:])
}

// insert returns the node of a text, creating it if needed.
func (t *textTree) insert(text string) *textEnd {
	for text != "" {
		i, found := t.child(text[0])
		if !found {
			t.children = slices.Insert(t.children, i, &textTree{text: text})
			t, text = t.children[i], ""
			break
		}
		child := t.children[i]
		n := commonPrefix(child.text, text)
		if n < len(child.text) {
			split := &textTree{text: child.text[:n], children: []*textTree{child}}
			child.text = child.text[n:]
			t.children[i], child = split, split
		}
		t, text = child, text[n:]
	}
	if t.at == nil {
		t.at = &textEnd{}
	}
	return t.at
}

// child returns the position of the child whose text starts with first, and whether it exists.
func (t *textTree) child(first byte) (int, bool) {
	return slices.BinarySearchFunc(t.children, first, func(c *textTree, first byte) int { return int(c.text[0]) - int(first) })
}

func commonPrefix(a, b string) int {
	n := 0
	for n < min(len(a), len(b)) && a[n] == b[n] {
		n++
	}
	return n
}

// finish prepares the automata in the tree. Call it after the last insert.
func (t *textTree) finish() {
	open := []*textTree{t}
	for len(open) > 0 {
		t := open[len(open)-1]
		open = append(open[:len(open)-1], t.children...)
		if t.at != nil && t.at.behind != nil {
			open = append(open, &t.at.behind.tail)
			if words := t.at.behind.words; words != nil {
				words.link()
				for i := range words.states {
					if tail := words.states[i].tail; tail != nil {
						open = append(open, tail)
					}
				}
			}
		}
	}
}

// words is an automaton that finds all occurrences of its texts in one pass. State 0 is the start.
type words struct{ states []wordState }

type wordState struct {
	next    map[byte]int // next state by input byte
	fail    int          // state of the longest proper suffix that is also the beginning of a text
	shorter int          // nearest state on the fail chain in which a text ends; 0 if none
	tail    *textTree    // what follows the text that ends here; nil if none does
}

func newWords() *words { return &words{states: make([]wordState, 1)} }

// insert adds a text and returns the tree of what follows it.
func (w *words) insert(text string) *textTree {
	s := 0
	for i := range len(text) {
		next, ok := w.states[s].next[text[i]]
		if !ok {
			next = len(w.states)
			w.states = append(w.states, wordState{})
			if w.states[s].next == nil {
				w.states[s].next = make(map[byte]int)
			}
			w.states[s].next[text[i]] = next
		}
		s = next
	}
	if w.states[s].tail == nil {
		w.states[s].tail = &textTree{}
	}
	return w.states[s].tail
}

// link computes fail and shorter, breadth first.
func (w *words) link() {
	queue := []int{0}
	for len(queue) > 0 {
		s := queue[0]
		queue = queue[1:]
		for c, next := range w.states[s].next {
			if s != 0 {
				w.states[next].fail = w.step(w.states[s].fail, c)
			}
			fail := w.states[next].fail
			w.states[next].shorter = fail
			if w.states[fail].tail == nil {
				w.states[next].shorter = w.states[fail].shorter
			}
			queue = append(queue, next)
		}
	}
}

// step returns the next state for input byte c.
func (w *words) step(s int, c byte) int {
	for {
		if next, ok := w.states[s].next[c]; ok {
			return next
		}
		if s == 0 {
			return 0
		}
		s = w.states[s].fail
	}
}

// sweep is one pass over a feed URL. A placeholder matches one or more characters up to the next delimiter, so it can
// end at any position in its segment. Only the first position at which it can start matters.
type sweep struct {
	feed    string
	longest map[*textEnd]int // longest match so far for each node reached
	open    []entrance
	steps   int // number of steps taken, for tests
}

// entrance is a placeholder and the position where it starts.
type entrance struct {
	behind *after
	at     int
}

func sweepFeed(root *textTree, feed string) *sweep {
	s := &sweep{feed: feed, longest: make(map[*textEnd]int)}
	s.walk(root, 0)
	for len(s.open) > 0 {
		e := s.open[len(s.open)-1]
		s.open = s.open[:len(s.open)-1]
		s.enter(e.behind, e.at)
	}
	return s
}

func (s *sweep) hits() []hit {
	var hits []hit
	for at, length := range s.longest {
		if len(at.ends) > 0 {
			hits = append(hits, hit{at, length})
		}
	}
	return hits
}

// walk follows the texts of a tree, starting at a position of the feed.
func (s *sweep) walk(t *textTree, at int) {
	for {
		s.steps++
		s.reach(t.at, at)
		if at == len(s.feed) {
			return
		}
		i, found := t.child(s.feed[at])
		if !found || !strings.HasPrefix(s.feed[at:], t.children[i].text) {
			return
		}
		t = t.children[i]
		at += len(t.text)
	}
}

// reach records that the feed matches the path to p up to a position.
func (s *sweep) reach(p *textEnd, at int) {
	if p == nil {
		return
	}
	_, before := s.longest[p]
	s.longest[p] = at // positions only increase
	if p.behind != nil && !before {
		s.open = append(s.open, entrance{p.behind, at})
	}
}

// enter follows everything that can come after a placeholder.
func (s *sweep) enter(a *after, at int) {
	end := len(s.feed)
	if i := strings.IndexAny(s.feed[at:], delimiters); i >= 0 {
		end = at + i
	}
	s.steps += end - at
	if end == at {
		return
	}
	if next := a.tail.at; next != nil && next.behind != nil { // adjacent placeholders
		_, size := utf8.DecodeRuneInString(s.feed[at:])
		s.open = append(s.open, entrance{next.behind, at + size})
	}
	s.walk(&a.tail, end)
	if a.words == nil {
		return
	}
	state := 0
	for i := at + 1; i < end; i++ {
		state = a.words.step(state, s.feed[i])
		for found := state; found != 0; found = a.words.states[found].shorter {
			s.steps++
			tail := a.words.states[found].tail
			if tail == nil {
				continue
			}
			if s.reach(tail.at, i+1); i+1 == end {
				s.walk(tail, end)
			}
		}
	}
}
