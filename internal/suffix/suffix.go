// Package suffix finds the suffixes that a text has, among many.
package suffix

import "slices"

// Set holds suffixes, each with a number.
type Set struct {
	numbers map[string][]int // by suffix
	lengths []int
}

// NewSet returns the suffixes of some lists, with the position of their list as their number.
func NewSet(lists ...[]string) *Set {
	s := &Set{numbers: make(map[string][]int)}
	for number, suffixes := range lists {
		for _, suffix := range suffixes {
			s.numbers[suffix] = append(s.numbers[suffix], number)
			s.lengths = append(s.lengths, len(suffix))
		}
	}
	slices.Sort(s.lengths)
	s.lengths = slices.Compact(s.lengths)
	return s
}

// Of returns the numbers of the suffixes that a text has, each once, in ascending order.
func (s *Set) Of(text string) []int {
	var numbers []int
	for _, length := range s.lengths {
		if length <= len(text) {
			numbers = append(numbers, s.numbers[text[len(text)-length:]]...)
		}
	}
	slices.Sort(numbers)
	return slices.Compact(numbers)
}
