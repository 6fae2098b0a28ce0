package match

import (
	"iter"
	"slices"
	"strings"
)

// Feed is an example of the feeds that one endpoint takes from another.
type Feed struct {
	URL  string // with an ellipsis for every value that does not matter
	Host string // what {{host}} stands for; empty if both URLs have the same origin as written
	All  bool   // it stands for every feed of the endpoint that takes it
}

// Takeovers returns the endpoints of x that answer for feeds for which, in after, the endpoint with the given number answers,
// and an example of these feeds. An endpoint's number is its position among the endpoints of all versions. Only endpoints
// that matter returns true for are considered.
func (x *Index) Takeovers(after *Index, number int, matters func(from int) bool) iter.Seq2[int, Feed] {
	return func(yield func(int, Feed) bool) {
		to := after.endpoints[number]
		origin, _ := cut(to.URL)
		general := to.node.words()
		seen := make(map[*node]bool)
		wants := func(n *node) bool { return !seen[n] && matters(n.ends[0]) }
		for n, feeds := range x.meetings(to, wants, wants) {
			for f := range feeds {
				if x.answers(f) == n.ends[0] && after.answers(f) == number {
					seen[n] = true
					if !yield(n.ends[0], Feed{f.String(), f.host, f.origin == origin && slices.Equal(f.words, general)}) {
						return
					}
					break
				}
			}
		}
	}
}

// feed is a feed that two URLs have in common, with anyValue for the values that do not matter.
type feed struct {
	origin string
	host   string // what {{host}} stands for; empty if only URLs with the same origin as written share the feed
	words  []string
}

// String returns the feed for people.
func (f feed) String() string {
	return strings.ReplaceAll(f.origin+strings.Join(f.words, ""), anyValue, "…")
}

// answers returns the number of the endpoint that answers for a feed, or -1.
func (x *Index) answers(f feed) int {
	if hits := x.hits(f); len(hits) > 0 {
		return hits[0].ends[0]
	}
	return -1
}

// meetings returns the URLs that can answer for the same feeds as an endpoint and have no more path segments, and such
// feeds: one of each kind, the most general first. It leaves out those that wants returns false for, and feeds that
// continue inside a segment of those that inside returns false for. {{host}} can be any host that a URL names.
func (x *Index) meetings(e indexed, wants, inside func(*node) bool) iter.Seq2[*node, iter.Seq[feed]] {
	return func(yield func(*node, iter.Seq[feed]) bool) {
		origin, rest := cut(e.URL)
		parts, general := segments(rest), e.node.words()
		for _, p := range x.places(origin, anyHost) {
			search := meeting{parts: parts, wants: wants, inside: inside, visit: func(n *node, words [][]string) bool {
				return yield(n, func(yield func(feed) bool) {
					left := maxChoices
					choose(nil, words, func(chosen []string) bool {
						left--
						return yield(feed{p.origin, p.host, slices.Concat(chosen, general[len(chosen):])}) && left > 0
					})
				})
			}}
			if root := &p.root; !search.below(root) || search.wanted(root) && !search.visit(root, nil) {
				return
			}
		}
	}
}

// meeting searches a tree for endpoints that match a feed that a URL matches as well, and have no more segments than it
// has.
type meeting struct {
	parts  []segment                    // of the URL
	words  [][]string                   // the feed so far: for each segment, the words that both match
	wants  func(*node) bool             // whether the endpoints with a URL matter
	inside func(*node) bool             // whether feeds matter that continue inside their last segment
	visit  func(*node, [][]string) bool // returns false to end the search
}

func (m *meeting) wanted(n *node) bool { return len(n.ends) > 0 && m.wants(n) }

// below searches the children of a node. Deeper endpoints are visited first. It returns false if visit did.
func (m *meeting) below(n *node) bool {
	if n.depth == len(m.parts) {
		return true
	}
	fails := func(child *node) bool { return !m.step(child) }
	s := m.parts[n.depth]
	if !s.literal() {
		return !slices.ContainsFunc(n.children, fails)
	}
	return !slices.ContainsFunc(n.patterns, fails) && !slices.ContainsFunc(slices.Collect(n.beginnings(s[0])), fails)
}

// step searches a child of the node that the words so far lead to.
func (m *meeting) step(child *node) bool {
	part, before := m.parts[child.depth-1], m.words[:child.depth-1]
	words := common(part, child.segment)
	if len(words) > 0 && len(child.children) > 0 {
		m.words = append(before, words)
		if !m.below(child) {
			return false
		}
	}
	if len(child.ends) > 0 && (child.segment.delimiter() || child.segment.last() != "" && m.inside(child)) {
		words = slices.Concat(words, common(part, append(slices.Clone(child.segment), "")))
	}
	if len(words) == 0 || !m.wanted(child) {
		return true
	}
	m.words = append(before, words)
	return m.visit(child, m.words)
}

// Limits of the work on two URLs, far beyond those that people write: with one placeholder in each segment, there are at
// most a few words that match two of them, and one word for nearly all.
const (
	maxWords   = 64
	maxChoices = 256
)

// choose visits every choice of one word for each segment. It returns false if visit did.
func choose(chosen []string, words [][]string, visit func([]string) bool) bool {
	if len(words) == 0 {
		return visit(chosen)
	}
	return !slices.ContainsFunc(words[0], func(word string) bool { return !choose(append(chosen, word), words[1:], visit) })
}

// common returns the words that match both segments, the shortest first. Every other such word is one of them with
// longer values.
func common(a, b segment) []string {
	switch {
	case a.literal():
		if b.matches(a[0]) {
			return []string{a[0]}
		}
		return nil
	case b.literal():
		return common(b, a)
	case !strings.HasSuffix(a.last(), b.last()) && !strings.HasSuffix(b.last(), a.last()):
		return nil // no word ends with both: nearly always, if there are many
	case !strings.HasPrefix(a[0], b[0]) && !strings.HasPrefix(b[0], a[0]):
		return nil
	}
	longer := anyValue + string(more)
	u := unifier{}
	words := u.words(strings.Join(a, longer), strings.Join(b, longer))
	slices.SortStableFunc(words, func(a, b string) int { return len(a) - len(b) })
	return words
}

// more stands for any number of further characters of a value.
const more = '\x02'

// unifier has the words that match the rests of two segments. In both, anyValue is one character of a value.
type unifier map[[2]string][]string

func (u unifier) words(a, b string) []string {
	rests := [2]string{a, b}
	if known, found := u[rests]; found {
		return known
	}
	var words []string
	next := func(char, a, b string) {
		for _, word := range u.words(a, b) {
			if word = char + word; len(words) < maxWords && !slices.Contains(words, word) {
				words = append(words, word)
			}
		}
	}
	switch {
	case a == "" && b == "":
		words = []string{""}
	case a != "" && a[0] == more:
		next("", a[1:], b)
		switch {
		case b == "":
		case b[0] == more: // two longer values give the same word, but less general
			next("", a, b[1:])
		default:
			next(b[:1], a, b[1:])
		}
	case b != "" && b[0] == more:
		return u.words(b, a)
	case a == "" || b == "":
	case a[:1] == anyValue:
		next(b[:1], a[1:], b[1:])
	case b[:1] == anyValue || a[0] == b[0]:
		next(a[:1], a[1:], b[1:])
	}
	u[rests] = words
	return words
}
