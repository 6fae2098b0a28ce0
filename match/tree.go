package match

import (
	"iter"
	"strings"
	"unicode/utf8"

	"signpost"
)

// delimiters start a segment of a URL. Placeholders never match them.
const delimiters = "/?#"

func isDelimiter(c byte) bool { return strings.IndexByte(delimiters, c) >= 0 }

// anyValue is a placeholder value that occurs in no URL.
const anyValue = "\x01"

// split cuts the part of a URL after its origin before every delimiter.
func split(rest string) []string {
	words := make([]string, 0, strings.Count(rest, "/")+1)
	for rest != "" {
		end := strings.IndexAny(rest[1:], delimiters) + 1
		if end == 0 {
			end = len(rest)
		}
		words = append(words, rest[:end])
		rest = rest[end:]
	}
	return words
}

// segment is a piece of an endpoint's URL from one delimiter to the next. It holds the texts around its placeholders,
// so it has one placeholder less than texts.
type segment []string

// generalWords splits the part of an endpoint's URL after its origin, with anyValue in place of each placeholder.
// {{host}} is literal text.
func generalWords(rest string) []string {
	general := signpost.ReplacePlaceholders(rest, func(name string) string {
		if name == "host" {
			return signpost.HostPlaceholder
		}
		return anyValue
	})
	return split(general)
}

func (s segment) literal() bool { return len(s) == 1 }

// last returns the text after the last placeholder.
func (s segment) last() string { return s[len(s)-1] }

// prefix returns the length of the longest beginning of word that matches the segment, with at least one character for
// each placeholder, or -1.
func (s segment) prefix(word string) int {
	rest, ok := strings.CutPrefix(word, s[0])
	if !ok {
		return -1
	}
	for i, text := range s[1:] {
		if rest == "" {
			return -1
		}
		find := strings.Index // the leftmost match leaves the most for the rest
		if i == len(s)-2 {
			find = strings.LastIndex
		}
		at := find(rest[1:], text)
		if at < 0 {
			return -1
		}
		rest = rest[1+at+len(text):]
	}
	return len(word) - len(rest)
}

// matches reports whether the whole word matches the segment.
func (s segment) matches(word string) bool {
	return strings.HasSuffix(word, s.last()) && s.prefix(word) == len(word)
}

// node is a node in a tree of endpoint URLs, reached by a segment from its parent. The root stands for the origin.
type node struct {
	parent   *node
	word     string // of the URL's general words
	segment  segment
	depth    int   // number of segments up to here
	literals int   // number of characters up to here that are not part of a placeholder
	ends     []int // endpoints whose URL ends here, in order of registration

	children []*node          // in insertion order
	patterns []*node          // those with placeholders
	byText   map[string]*node // by word; nil if there is only one, as along a long URL
	longest  int              // length of the longest one that is literal
}

// endsInside reports whether the URL at n, which matches the words, ends inside one of them.
func (n *node) endsInside(words []string) bool {
	if n.depth == 0 {
		return false
	}
	word := words[n.depth-1]
	return insideSegment(word, n.segment.prefix(word))
}

// insert returns the node of a URL, given by its general words, creating it if needed.
func (n *node) insert(words []string) *node {
	for _, word := range words {
		child := n.child(word)
		if child == nil {
			s := segment(strings.Split(word, anyValue))
			child = &node{parent: n, word: word, segment: s, depth: n.depth + 1, literals: n.literals}
			for _, text := range s {
				child.literals += utf8.RuneCountInString(text)
			}
			n.children = append(n.children, child)
			if len(n.children) == 2 {
				n.byText = map[string]*node{n.children[0].word: n.children[0]}
			}
			if n.byText != nil {
				n.byText[word] = child
			}
			if s.literal() {
				n.longest = max(n.longest, len(s[0]))
			} else {
				n.patterns = append(n.patterns, child)
			}
		}
		n = child
	}
	return n
}

// path returns the segments from the root to the node.
func (n *node) path() []segment {
	path := make([]segment, n.depth)
	for ; n.parent != nil; n = n.parent {
		path[n.depth-1] = n.segment
	}
	return path
}

// child returns the child with a general word, or nil.
func (n *node) child(word string) *node {
	if len(n.children) == 1 && n.children[0].word == word {
		return n.children[0]
	}
	return n.byText[word]
}

// prefixes visits the URLs at n and below that are prefixes of a feed, with their length. A beginning of the feed with
// the given length led to n, and the words are the rest of it.
func (n *node) prefixes(words []string, length int, visit func(*node, int)) {
	if len(n.ends) > 0 {
		visit(n, length)
	}
	if len(words) == 0 {
		return
	}
	word := words[0]
	reach := func(child *node, end int) {
		if end == len(word) {
			child.prefixes(words[1:], length+end, visit)
		} else if end >= 0 && len(child.ends) > 0 {
			visit(child, length+end)
		}
	}
	for child := range n.beginnings(word) {
		reach(child, len(child.segment[0]))
	}
	for _, child := range n.patterns {
		reach(child, child.segment.prefix(word))
	}
}

// whole visits the URLs below n that match all of a feed, until visit returns false.
func (n *node) whole(words []string, visit func(*node) bool) bool {
	if len(words) == 0 {
		return len(n.ends) == 0 || visit(n)
	}
	if child := n.child(words[0]); child != nil && child.segment.literal() && !child.whole(words[1:], visit) {
		return false
	}
	for _, child := range n.patterns {
		if child.segment.matches(words[0]) && !child.whole(words[1:], visit) {
			return false
		}
	}
	return true
}

// beginnings returns the literal children that a word begins with, the shortest first.
func (n *node) beginnings(word string) iter.Seq[*node] {
	return func(yield func(*node) bool) {
		for end := 1; end <= min(len(word), n.longest); end++ {
			if child := n.child(word[:end]); child != nil && child.segment.literal() && !yield(child) {
				return
			}
		}
	}
}
