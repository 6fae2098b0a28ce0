package match

import (
	"iter"
	"slices"
	"strings"
)

// Feed is an example of the feeds that one endpoint takes from another.
type Feed struct {
	URL string // with an ellipsis for every value that does not matter
	All bool   // it stands for every feed of the endpoint that takes it
}

// Takeovers returns the endpoints of x that answer for feeds for which, in after, the endpoint with the given number
// answers, and an example of these feeds. The URLs of both are rendered, and an endpoint's number is its position among
// the endpoints of all versions. Only endpoints that matter returns true for are considered. If contest is not nil, it
// returns who else takes part before and after if one of them does.
func (x *Index) Takeovers(after *Index, number int, matters func(from int) bool,
	contest func(from int) (before, after func(number int) bool)) iter.Seq2[int, Feed] {
	return func(yield func(int, Feed) bool) {
		to := after.endpoints[number]
		at := to.spots[0]
		s := x.sites[at.url.String()]
		if s == nil {
			return
		}
		ends := func(n *node) []int {
			if contest == nil {
				return n.ends[:1]
			}
			return n.ends
		}
		wants := func(n *node) bool { return slices.ContainsFunc(ends(n), matters) }
		for n, feeds := range s.meetings(to, wants, wants) {
			for _, from := range ends(n) {
				if !matters(from) {
					continue
				}
				var before, after func(int) bool
				if contest != nil {
					before, after = contest(from)
				}
				for words := range feeds {
					if s.answers(words, before) != from || at.answers(words, after) != number {
						continue
					}
					if !yield(from, Feed{shown(s.url.String(), words), slices.Equal(words, to.words)}) {
						return
					}
					break
				}
			}
		}
	}
}

// shown returns a feed for people: an origin and words with anyValue for the values that do not matter.
func shown(origin string, words []string) string {
	return strings.ReplaceAll(origin+strings.Join(words, ""), anyValue, "…")
}

// answers returns the number of the endpoint that answers for a feed among those that take part, or -1. Nil means all.
func (s *site) answers(words []string, takesPart func(number int) bool) int {
	if h := s.best(words, takesPart); h.node != nil {
		return h.ends[0]
	}
	return -1
}

// best returns the URL of the site that answers for a feed. Its node is nil if there is none.
func (s *site) best(words []string, takesPart func(number int) bool) hit {
	best := hit{}
	s.root.prefixes(words, 0, func(n *node, length int) {
		i := 0
		if takesPart != nil {
			i = slices.IndexFunc(n.ends, takesPart)
		}
		if i < 0 {
			return
		}
		if h := (hit{n, length, n.ends[i : i+1]}); best.node == nil || h.compare(best) < 0 {
			best = h
		}
	})
	return best
}

// meetings returns the URLs of the site that can answer for the same feeds as an endpoint and have no more path
// segments, and such feeds: one of each kind, the most general first. It leaves out those that wants returns false for,
// and feeds that continue inside a segment of those that inside returns false for.
func (s *site) meetings(e indexed, wants, inside func(*node) bool) iter.Seq2[*node, iter.Seq[[]string]] {
	return func(yield func(*node, iter.Seq[[]string]) bool) {
		search := meeting{parts: e.parts, wants: wants, inside: inside, visit: func(n *node, words [][]string) bool {
			return yield(n, func(yield func([]string) bool) {
				left := maxChoices
				choose(nil, words, func(chosen []string) bool {
					left--
					return yield(slices.Concat(chosen, e.words[len(chosen):])) && left > 0
				})
			})
		}}
		if root := &s.root; search.below(root) && search.wanted(root) {
			search.visit(root, nil)
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
	s := m.parts[n.depth]
	children := n.children
	if s.literal() {
		children = slices.AppendSeq(slices.Clone(n.patterns), n.beginnings(s[0]))
	}
	for _, child := range children {
		if !m.step(child) {
			return false
		}
	}
	return true
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

// Limits of the work on two URLs, far beyond those that people write: with one placeholder in each segment, there are
// at most a few words that match two of them, and one word for nearly all. Two segments have as many pairs of rests as
// the product of their lengths at most, and far fewer unless they repeat themselves.
const (
	maxWords   = 64
	maxChoices = 256
	maxRests   = 10_000
)

// choose visits every choice of one word for each segment. It returns false if visit did.
func choose(chosen []string, words [][]string, visit func([]string) bool) bool {
	if len(words) == 0 {
		return visit(chosen)
	}
	for _, word := range words[0] {
		if !choose(append(chosen, word), words[1:], visit) {
			return false
		}
	}
	return true
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
	words := u.words(strings.Join(a, longer), strings.Join(b, longer), 0)
	slices.SortStableFunc(words, func(a, b string) int { return len(a) - len(b) })
	return words
}

// more stands for any number of further characters of a value.
const more = '\x02'

// unifier has the words that match the rests of two segments, by the lengths of the rests. In both, anyValue is one
// character of a value.
type unifier map[[3]int][]string

// words returns the words that match both rests. swapped is 1 if a is that of the second segment.
func (u unifier) words(a, b string, swapped int) []string {
	rests := [3]int{len(a), len(b), swapped}
	known, found := u[rests]
	if found || len(u) > maxRests {
		return known
	}
	u[rests] = nil // counts
	var words []string
	next := func(char, a, b string) {
		for _, word := range u.words(a, b, swapped) {
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
		return u.words(b, a, 1-swapped)
	case a == "" || b == "":
	case a[:1] == anyValue:
		next(b[:1], a[1:], b[1:])
	case b[:1] == anyValue || a[0] == b[0]:
		next(a[:1], a[1:], b[1:])
	}
	u[rests] = words
	return words
}
