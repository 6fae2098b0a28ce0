package match

import (
	"iter"
	"slices"
	"strings"
)

// anyValue is a placeholder value that occurs in no URL.
const anyValue = "\x01"

// segment is a piece of a canonical URL that starts with a delimiter and contains no other. It holds the texts around
// its placeholders, so it has one placeholder less than texts.
type segment []string

func (s segment) literal() bool { return len(s) == 1 }

// general returns the segment with anyValue in place of each placeholder.
func (s segment) general() string { return strings.Join(s, anyValue) }

// segments splits the URL of an endpoint into its segments.
func segments(url string) []segment {
	var all []segment
	current := segment{""}
	rest := canonical(url)
	for {
		text, after, placeholder := cutPlaceholder(rest)
		for {
			i := strings.IndexAny(text, "/?#"+authorityEnd)
			if i < 0 {
				break
			}
			current[len(current)-1] += text[:i]
			all = append(all, current)
			current = segment{text[i : i+1]}
			text = text[i+1:]
		}
		current[len(current)-1] += text
		if !placeholder {
			return append(all, current)
		}
		current = append(current, "")
		rest = after
	}
}

// feedOf returns a feed that starts with the given words; its remaining segments are general.
func feedOf(parts []segment, words []string) string {
	var feed strings.Builder
	for i, s := range parts {
		if i < len(words) {
			feed.WriteString(words[i])
		} else {
			feed.WriteString(s.general())
		}
	}
	return strings.Replace(feed.String(), authorityEnd, "", 1)
}

// matches reports whether word matches the segment, with at least one character for each placeholder.
func (s segment) matches(word string) bool {
	if s.literal() {
		return word == s[0]
	}
	rest, ok := strings.CutPrefix(word, s[0])
	for _, text := range s[1 : len(s)-1] {
		if !ok || rest == "" {
			return false
		}
		i := strings.Index(rest[1:], text) // the leftmost match leaves the most for the rest
		if i < 0 {
			return false
		}
		rest = rest[1+i+len(text):]
	}
	rest, found := strings.CutSuffix(rest, s[len(s)-1])
	return ok && found && rest != ""
}

// common returns words that match both segments, the most general one first. It returns nil if there are none.
func common(a, b segment) []string {
	switch {
	case a.literal():
		if b.matches(a[0]) {
			return []string{a[0]}
		}
		return nil
	case b.literal():
		return common(b, a)
	}
	prefix, suffix := a[0], a[len(a)-1]
	if len(b[0]) > len(prefix) {
		prefix = b[0]
	}
	if last := b[len(b)-1]; len(last) > len(suffix) {
		suffix = last
	}
	if !strings.HasPrefix(prefix, a[0]) || !strings.HasPrefix(prefix, b[0]) ||
		!strings.HasSuffix(suffix, a[len(a)-1]) || !strings.HasSuffix(suffix, b[len(b)-1]) {
		return nil
	}
	inner := slices.Concat(segment{prefix}, a[1:len(a)-1], b[1:len(b)-1], segment{suffix})
	words := []string{inner.general()}
	// The end of the prefix can be the beginning of the suffix: y-x matches both y-{{a}} and {{b}}-x.
	for shared := 0; len(inner) == 2 && shared <= min(len(prefix), len(suffix)); shared++ {
		word := prefix + suffix[shared:]
		if strings.HasSuffix(prefix, suffix[:shared]) && a.matches(word) && b.matches(word) {
			words = append(words, word)
		}
	}
	return words
}

// segmentNode is a node in a tree of endpoint URLs. Its edges are segments.
type segmentNode struct {
	children []*segmentChild // in insertion order
	patterns []*segmentChild // those with placeholders
	byText   map[string]*segmentChild
}

type segmentChild struct {
	segment segment
	open    segment // the same followed by a placeholder, for feeds that continue inside the segment
	ends    []Owner // endpoints whose URL ends here
	next    *segmentNode
}

func (n *segmentNode) add(parts []segment, id Owner) {
	for {
		child := n.child(parts[0])
		if len(parts) == 1 {
			child.ends = append(child.ends, id)
			return
		}
		if child.next == nil {
			child.next = &segmentNode{}
		}
		n, parts = child.next, parts[1:]
	}
}

// child returns the child for a segment, creating it if needed. Placeholder names do not matter.
func (n *segmentNode) child(s segment) *segmentChild {
	child := n.byText[s.general()]
	if child == nil {
		child = &segmentChild{segment: s, open: append(slices.Clone(s), "")}
		if n.byText == nil {
			n.byText = make(map[string]*segmentChild)
		}
		n.byText[s.general()] = child
		n.children = append(n.children, child)
		if !s.literal() {
			n.patterns = append(n.patterns, child)
		}
	}
	return child
}

// intersection searches a tree for endpoints that overlap a URL: they match a feed that the URL matches as well, and
// have no more segments than it has.
type intersection struct {
	parts []segment  // of the URL
	words [][]string // the feed so far: for each segment, some words that both match
	work  func() bool
	visit func(Owner, [][]string)
}

// walk searches the tree below n, comparing its children with the segment at depth. It returns false if work did, which
// stops the search.
func (x *intersection) walk(n *segmentNode, depth int) bool {
	s := x.parts[depth]
	if !s.literal() {
		for _, child := range n.children {
			if !x.step(child, depth) {
				return false
			}
		}
		return true
	}
	for _, child := range n.patterns {
		if !x.step(child, depth) {
			return false
		}
	}
	for end := range len(s[0]) + 1 { // its own text, and every prefix of it
		if child := n.byText[s[0][:end]]; child != nil && child.segment.literal() && !x.step(child, depth) {
			return false
		}
	}
	return true
}

func (x *intersection) step(child *segmentChild, depth int) bool {
	if !x.work() {
		return false
	}
	exact := common(x.parts[depth], child.segment)
	if len(child.ends) > 0 {
		if options := slices.Concat(exact, common(x.parts[depth], child.open)); len(options) > 0 {
			x.words = append(x.words[:depth], options)
			for _, id := range child.ends {
				x.visit(id, x.words)
			}
		}
	}
	if child.next == nil || len(exact) == 0 || depth+1 == len(x.parts) {
		return true
	}
	x.words = append(x.words[:depth], exact)
	return x.walk(child.next, depth+1)
}

// Owner identifies an endpoint in a [Tree].
type Owner struct {
	Slot int
	URL  string
}

// Tree finds endpoints that share feeds with a URL.
type Tree struct{ root segmentNode }

// Add adds an endpoint.
func (t *Tree) Add(id Owner) { t.root.add(segments(id.URL), id) }

// Search visits the endpoints that may share feeds with a URL, each with such feeds. It returns false if work did.
func (t *Tree) Search(url string, work func() bool, visit func(id Owner, feeds iter.Seq[string])) bool {
	parts := segments(url)
	search := intersection{parts: parts, work: work, visit: func(id Owner, words [][]string) {
		visit(id, func(yield func(string) bool) {
			for choice := range choicesOf(words) {
				if !yield(feedOf(parts, choice)) {
					return
				}
			}
		})
	}}
	return search.walk(&t.root, 0)
}

// GeneralFeed returns a feed of an endpoint with values for its placeholders that occur in no URL.
func GeneralFeed(url string) string { return feedOf(segments(url), nil) }

// Readable replaces the values of a general feed by an ellipsis.
func Readable(feed string) string { return strings.ReplaceAll(feed, anyValue, "…") }

// choicesOf yields combinations with one word from each list: the first words, then all combinations that differ from
// these in one place. Their number is linear in the number of words; trying all combinations would not be worth the
// time.
func choicesOf(words [][]string) iter.Seq[[]string] {
	return func(yield func([]string) bool) {
		choice := make([]string, len(words))
		for i, options := range words {
			choice[i] = options[0]
		}
		if !yield(choice) {
			return
		}
		for i, options := range words {
			for _, choice[i] = range options[1:] {
				if !yield(choice) {
					return
				}
			}
			choice[i] = options[0]
		}
	}
}
