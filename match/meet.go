package match

import (
	"iter"
	"slices"
	"strings"
)

// Feed is an example of the feeds that two URLs have in common.
type Feed struct {
	URL string

	// Host is what {{host}} stands for. It is empty if only URLs with the same origin as written share the feed.
	Host string
}

// String returns the feed for people, with an ellipsis for every value that does not matter.
func (f Feed) String() string { return strings.ReplaceAll(f.URL, anyValue, "…") }

// GeneralFeed returns the feed of a URL whose placeholders have values that occur in no URL.
func GeneralFeed(url string) Feed {
	origin, rest := cut(url)
	return Feed{URL: origin + strings.Join(generalWords(segments(rest)), "")}
}

// Find returns the endpoint that answers for a feed, by its number: its position among the endpoints of all versions.
func (x *Index) Find(feed Feed) (number int, ok bool) {
	origin, rest := cut(feed.URL)
	h := best(x.at(origin, feed.Host), split(rest))
	if h.node == nil {
		return 0, false
	}
	return h.ends[0], true
}

// word returns a segment of the feed.
func (f Feed) word(i int) string {
	_, rest := cut(f.URL)
	return split(rest)[i]
}

// Meetings returns the endpoints that can answer for the same feeds as a URL and have no more path segments, by number,
// and such feeds: one of each kind, the most general first. It leaves out those that wants returns false for. {{host}}
// can be any host that a URL names. [Index.Find] tells who answers for a feed.
func (x *Index) Meetings(url string, wants func(number int) bool) iter.Seq2[int, iter.Seq[Feed]] {
	return func(yield func(int, iter.Seq[Feed]) bool) {
		origin, rest := cut(url)
		parts := segments(rest)
		for _, p := range x.places(origin) {
			search := meeting{parts: parts, wants: wants, visit: func(other *node, words [][]string) bool {
				feeds := func(yield func(Feed) bool) {
					for choice := range choices(parts, words) {
						if !yield(Feed{p.origin + strings.Join(choice, ""), p.host}) {
							return
						}
					}
				}
				for _, number := range other.ends {
					if wants(number) && !yield(number, feeds) {
						return false
					}
				}
				return true
			}}
			if root := &p.rival.root; !search.below(root) || search.wanted(root) && !search.visit(root, nil) {
				return
			}
		}
	}
}

// place is an origin at which feeds are shared with the endpoints of a rival site.
type place struct {
	origin string
	host   string // what {{host}} stands for; empty if it is unresolved
	rival  *site
}

// places returns where URLs with an origin meet those of the index: at the origin itself and, since {{host}} can be any
// host that a URL names, where {{host}} makes two origins the same.
func (x *Index) places(origin string) []place {
	var places []place
	if own := x.sites[origin]; own != nil {
		places = append(places, place{origin, "", own})
	}
	if form := (&site{origin: origin}); form.open() {
		for _, s := range x.named {
			if name := form.hostFor(s.origin); name != "" {
				places = append(places, place{s.origin, name, s})
			}
		}
		return places
	}
	for _, s := range x.open {
		if name := s.hostFor(origin); name != "" {
			places = append(places, place{origin, name, s})
		}
	}
	return places
}

// meeting searches a tree for endpoints that match a feed that a URL matches as well, and have no more segments than it
// has.
type meeting struct {
	parts []segment                    // of the URL
	words [][]string                   // the feed so far: for each segment, the words that both match
	wants func(number int) bool        // whether an endpoint matters
	visit func(*node, [][]string) bool // returns false to end the search
}

func (m *meeting) wanted(n *node) bool { return slices.ContainsFunc(n.ends, m.wants) }

// below searches the children of a node. Deeper endpoints are visited first. It returns false if visit did.
func (m *meeting) below(n *node) bool {
	if n.depth == len(m.parts) {
		return true
	}
	s := m.parts[n.depth]
	if !s.literal() {
		for _, child := range n.children {
			if !m.step(child) {
				return false
			}
		}
		return true
	}
	for child := range n.patternsIn(s[0]) {
		if !m.step(child) {
			return false
		}
	}
	for end := 1; end <= min(len(s[0]), n.longest); end++ { // its own text, and every beginning of it
		if child := n.byText[s[0][:end]]; child != nil && child.segment.literal() && !m.step(child) {
			return false
		}
	}
	return true
}

// step searches a child of the node that the words so far lead to.
func (m *meeting) step(child *node) bool {
	wanted := m.wanted(child)
	if !wanted && len(child.children) == 0 {
		return true
	}
	part, before := m.parts[child.depth-1], m.words[:child.depth-1]
	words := common(part, child.segment)
	if len(words) > 0 && len(child.children) > 0 {
		m.words = append(before, words)
		if !m.below(child) {
			return false
		}
	}
	if !wanted {
		return true
	}
	if child.segment.last() != "" { // feeds that continue inside the segment
		words = slices.Concat(words, common(part, append(slices.Clone(child.segment), "")))
	}
	if len(words) == 0 {
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

// choices yields the feeds of a URL that start with one of the given words in each segment. Its other segments are
// general.
func choices(parts []segment, words [][]string) iter.Seq[[]string] {
	return func(yield func([]string) bool) {
		at := make([]int, len(words))
		for range maxChoices {
			choice := generalWords(parts)
			for i, j := range at {
				choice[i] = words[i][j]
			}
			if !yield(choice) {
				return
			}
			i := len(at) - 1
			for ; i >= 0; i-- {
				if at[i]++; at[i] < len(words[i]) {
					break
				}
				at[i] = 0
			}
			if i < 0 {
				return
			}
		}
	}
}

func generalWords(parts []segment) []string {
	words := make([]string, len(parts))
	for i, s := range parts {
		words[i] = s.general()
	}
	return words
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
	case !strings.HasPrefix(a[0], b[0]) && !strings.HasPrefix(b[0], a[0]), !strings.HasSuffix(a.last(), b.last()) && !strings.HasSuffix(b.last(), a.last()):
		return nil // no word begins or ends with both: nearly always, if there are many
	case b.whole() && strings.HasPrefix(a[0], b[0]):
		return []string{a.general()}
	case a.whole() && strings.HasPrefix(b[0], a[0]):
		return []string{b.general()}
	}
	u := unifier{a: a.general(), b: b.general(), dead: make(map[unifierState]bool)}
	u.walk(unifierState{}, nil)
	slices.SortStableFunc(u.words, func(a, b string) int { return len(a) - len(b) })
	return u.words
}

// unifier lists the words that match two segments, by walking through both at once.
type unifier struct {
	a, b  string // with anyValue for each placeholder
	dead  map[unifierState]bool
	words []string
}

// unifierState is how far both segments have been matched. Inside a placeholder, the value can be continued.
type unifierState struct {
	a, b             int
	insideA, insideB bool
}

// step is a way to match the next character of a word.
type step struct {
	char   byte // anyValue if every character will do
	next   int
	inside bool
}

func steps(s string, at int, inside bool) []step {
	var all []step
	if inside {
		all = append(all, step{anyValue[0], at, true})
	}
	if at < len(s) {
		all = append(all, step{s[at], at + 1, s[at] == anyValue[0]})
	}
	return all
}

// walk extends a word in every way that matches both. It returns false if there is none.
func (u *unifier) walk(at unifierState, word []byte) bool {
	if u.dead[at] || len(u.words) == maxWords {
		return false
	}
	if at.a == len(u.a) && at.b == len(u.b) {
		if !slices.Contains(u.words, string(word)) {
			u.words = append(u.words, string(word))
		}
		return true
	}
	found := false
	for _, a := range steps(u.a, at.a, at.insideA) {
		for _, b := range steps(u.b, at.b, at.insideB) {
			if a.next == at.a && b.next == at.b {
				continue // a longer value for both: the same word, but less general
			}
			char := a.char
			switch {
			case a.char == anyValue[0]:
				char = b.char
			case b.char != anyValue[0] && b.char != a.char:
				continue
			}
			if u.walk(unifierState{a.next, b.next, a.inside, b.inside}, append(word, char)) {
				found = true
			}
		}
	}
	if !found && len(u.words) < maxWords {
		u.dead[at] = true
	}
	return found
}
