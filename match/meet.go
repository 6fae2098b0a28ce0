package match

import (
	"iter"
	"slices"
	"strings"
)

// Feed is an example of the feeds that one endpoint takes from another.
type Feed struct {
	Rest string // what follows the origin of the URL, with an ellipsis for every value that does not matter
	All  bool   // it stands for every feed of the endpoint that takes it
}

// Takeovers returns the endpoints of x that answer for feeds for which, in after, the endpoint with the given number
// answers, and an example of these feeds. The URLs of both are rendered, and an endpoint's number is its position among
// the endpoints of all versions. Only endpoints that matter are considered, for which kept returns their number in
// after. If contest is not nil, it returns who else takes part before and after if one of them does.
func (x *Index) Takeovers(after *Index, number int, kept func(from int) (is int, matters bool),
	contest func(from int) (before, after func(number int) bool)) iter.Seq2[int, Feed] {
	return func(yield func(int, Feed) bool) {
		to := after.endpoints[number]
		at := to.spots[0]
		s := x.sites[at.origin]
		if s == nil {
			return
		}
		isKind := func([]string) bool { return true }
		wants := func(n *node) (whole, inside bool) {
			for _, from := range n.ends {
				is, matters := kept(from)
				inside = inside || matters
				whole = whole || matters && !at.yieldsTo(n, number, is)
			}
			return whole, inside
		}
		for n, feeds := range s.meetings(to, wants) {
			for _, from := range n.ends {
				if _, matters := kept(from); !matters {
					continue
				}
				var before, after func(int) bool
				if contest != nil {
					before, after = contest(from)
				}
				words, found := feeds.find(isKind, func(words []string) bool {
					return at.answers(words, number, after) && s.answerer(words, before) == from
				})
				if found && !yield(from, Feed{shown(words), slices.Equal(words, to.words)}) {
					return
				}
			}
		}
	}
}

// shown returns words for people, with an ellipsis for the values that do not matter.
func shown(words []string) string {
	return strings.ReplaceAll(strings.Join(words, ""), anyValue, "…")
}

// answerer returns the number of the endpoint that answers for a feed among those that take part, or -1. Nil means all.
func (s *site) answerer(words []string, takesPart func(number int) bool) int {
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
		if i >= 0 {
			best = best.or(hit{n, length, n.ends[i : i+1]})
		}
	})
	return best
}

// answers reports whether an endpoint, whose URL covers all of a feed, answers for it among those that take part. Nil
// means all.
func (at spot) answers(words []string, number int, takesPart func(number int) bool) bool {
	wins := true
	at.root.whole(words, func(n *node) bool {
		first := slices.IndexFunc(n.ends, func(other int) bool { return takesPart == nil || takesPart(other) })
		wins = first < 0 || !at.yieldsTo(n, number, n.ends[first])
		return wins
	})
	return wins
}

// yieldsTo reports whether an endpoint loses to another one, at a node, where the URLs of both cover all of a feed.
func (at spot) yieldsTo(n *node, number, other int) bool {
	if n.depth < at.depth {
		return false
	}
	return n.literals > at.literals || n.literals == at.literals && other < number
}

// meetings returns the URLs of the site that can answer for the same feeds as an endpoint and have no more path
// segments, and these feeds. wants says whether feeds matter that a URL covers to the end of a segment, and feeds that
// continue inside its last one. Deeper URLs come first.
func (s *site) meetings(e indexed, wants func(*node) (whole, inside bool)) iter.Seq2[*node, *feeds] {
	return func(yield func(*node, *feeds) bool) {
		m := meeting{e: e, wants: wants, visit: yield}
		if m.below(&s.root) {
			m.meet(&s.root, true, false)
		}
	}
}

// meeting searches a tree for URLs that match a feed that an endpoint's URL matches as well, and have no more segments
// than it has.
type meeting struct {
	e     indexed
	path  []segment // from the root to the current node
	wants func(*node) (whole, inside bool)
	visit func(*node, *feeds) bool // returns false to end the search
}

// below searches the children of a node. It returns false if visit did.
func (m *meeting) below(n *node) bool {
	if n.depth == len(m.e.parts) {
		return true
	}
	part := m.e.parts[n.depth]
	children := n.children
	if part.literal() {
		children = slices.AppendSeq(slices.Clone(n.patterns), n.beginnings(part[0]))
	}
	for _, child := range children {
		m.path = append(m.path[:n.depth], child.segment)
		whole := part.meets(child.segment)
		if whole && len(child.children) > 0 && !m.below(child) {
			return false
		}
		if len(child.ends) > 0 && !m.meet(child, whole, part.continues(child.segment)) {
			return false
		}
	}
	return true
}

// meet visits a node if it has feeds that matter. It returns false if visit did.
func (m *meeting) meet(n *node, whole, inside bool) bool {
	if len(n.ends) == 0 || !whole && !inside {
		return true
	}
	wantsWhole, wantsInside := m.wants(n)
	whole = whole && wantsWhole
	inside = inside && wantsInside
	if !whole && !inside {
		return true
	}
	return m.visit(n, &feeds{e: m.e, path: slices.Clone(m.path[:n.depth]), whole: whole, inside: inside})
}

// feeds are those for which both an endpoint's URL and a shorter one match.
type feeds struct {
	e             indexed
	path          []segment // of the shorter URL
	whole, inside bool      // the last segment of path ends where one of the feed does, or inside it

	words [][]string // for each segment of path, those that both match; nil until they are needed
	all   bool       // there are no others
}

// maxChoices is how many feeds are tried, far more than people's URLs have: most segments have one word that matches
// two of them.
const maxChoices = 256

// find returns the first feed of a kind that accept returns true for, the most general ones first. If there are too many
// to try them all, it returns one of the kind: a finding too many is better than one too few.
func (f *feeds) find(isKind, accept func(words []string) bool) (feed []string, found bool) {
	if f.words == nil {
		f.match()
	}
	left := maxChoices
	isThere := false
	choose(nil, f.words, func(chosen []string) bool {
		words := slices.Concat(chosen, f.e.words[len(chosen):])
		if isKind(words) {
			feed, isThere = words, true
			found = accept(words)
		}
		left--
		return !found && left > 0
	})
	return feed, found || isThere && (left == 0 || !f.all)
}

// match finds the words that both URLs match.
func (f *feeds) match() {
	f.all = true
	f.words = make([][]string, len(f.path))
	add := func(i int, s segment) {
		words, all := common(f.e.parts[i], s)
		f.words[i] = append(f.words[i], words...)
		f.all = f.all && all
	}
	for i, s := range f.path {
		isLast := i == len(f.path)-1
		if !isLast || f.whole {
			add(i, s)
		}
		if isLast && f.inside {
			add(i, s.longer())
		}
	}
}

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

// meets reports whether a word matches both segments. If both have placeholders, there is one unless their beginnings
// or their ends differ: a value of each can hold what the other one has in between.
func (s segment) meets(other segment) bool {
	switch {
	case s.literal():
		return other.matches(s[0])
	case other.literal():
		return s.matches(other[0])
	}
	a, b := s.last(), other.last()
	return s.beginsLike(other) && (strings.HasSuffix(a, b) || strings.HasSuffix(b, a))
}

func (s segment) beginsLike(other segment) bool {
	return strings.HasPrefix(s[0], other[0]) || strings.HasPrefix(other[0], s[0])
}

// continues reports whether a word that matches the segment goes on where the other one, which ends in a text, ends.
func (s segment) continues(other segment) bool {
	if s.literal() {
		return other.last() != "" && other.prefix(s[0][:len(s[0])-1]) >= 0
	}
	return other.last() != "" && s.beginsLike(other)
}

// longer returns the segment with another placeholder at its end.
func (s segment) longer() segment { return append(slices.Clip(s), "") }

// common returns words that match both segments, the shortest first, and whether they are all: every other such word is
// one of them with longer values.
func common(a, b segment) (words []string, all bool) {
	switch {
	case !a.meets(b):
		return nil, true
	case a.literal():
		return []string{a[0]}, true
	case b.literal():
		return []string{b[0]}, true
	}
	placeholder := anyValue + string(longerValue)
	u := unifier{known: make(map[[3]int][]string)}
	words = u.words(strings.Join(a, placeholder), strings.Join(b, placeholder), 0)
	slices.SortStableFunc(words, func(a, b string) int { return len(a) - len(b) })
	if u.partial {
		words = append(words, inTurn(a, b))
	}
	return words, !u.partial
}

// inTurn returns a word that matches two segments with placeholders: what one has in between is in a value of the
// other.
func inTurn(a, b segment) string {
	word := slices.Concat(segment{a[0]}, b[1:len(b)-1], a[1:])
	if len(b[0]) > len(a[0]) {
		word[0] = b[0]
	}
	if last := len(word) - 1; len(b.last()) > len(a.last()) {
		word[last] = b.last()
	}
	return strings.Join(word, anyValue)
}

// longerValue stands for any number of further characters of a value.
const longerValue = '\x02'

// Limits of the work on two segments. Those of people have a placeholder or two, and less than ten words in common. Two
// segments have as many pairs of rests as the product of their lengths at most, and far fewer unless they repeat
// themselves.
const (
	maxWords = 64
	maxRests = 2000
)

// unifier finds words that match two segments. In both, anyValue is one character of a value.
type unifier struct {
	known   map[[3]int][]string // those that match the rests of both, by their lengths
	partial bool                // a limit has left out some
}

// words returns the words that match both rests. swapped is 1 if a is that of the second segment.
func (u *unifier) words(a, b string, swapped int) []string {
	rests := [3]int{len(a), len(b), swapped}
	if known, found := u.known[rests]; found {
		return known
	}
	if len(u.known) > maxRests {
		u.partial = true
		return nil
	}
	u.known[rests] = nil // counts
	var words []string
	next := func(char, a, b string) {
		for _, word := range u.words(a, b, swapped) {
			word = char + word
			switch {
			case slices.Contains(words, word):
			case len(words) == maxWords:
				u.partial = true
			default:
				words = append(words, word)
			}
		}
	}
	switch {
	case a == "" && b == "":
		words = []string{""}
	case a != "" && a[0] == longerValue:
		next("", a[1:], b)
		switch {
		case b == "":
		case b[0] == longerValue: // two longer values give the same word, but less general
			next("", a, b[1:])
		default:
			next(b[:1], a, b[1:])
		}
	case b != "" && b[0] == longerValue:
		return u.words(b, a, 1-swapped)
	case a == "" || b == "":
	case a[:1] == anyValue:
		next(b[:1], a[1:], b[1:])
	case b[:1] == anyValue || a[0] == b[0]:
		next(a[:1], a[1:], b[1:])
	}
	u.known[rests] = words
	return words
}
