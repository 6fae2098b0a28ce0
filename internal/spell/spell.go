// Package spell suggests known names for misspelt ones, and writes lists and numbers of things.
package spell

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Quoted returns the values in quotes, separated by commas.
func Quoted(values []string) string {
	quoted := make([]string, len(values))
	for i, v := range values {
		quoted[i] = strconv.Quote(v)
	}
	return strings.Join(quoted, ", ")
}

// First returns the first n names, separated by commas, and how many more there are.
func First(names []string, n int) string {
	list := strings.Join(names[:min(len(names), n)], ", ")
	if more := len(names) - n; more > 0 {
		list += fmt.Sprintf(" and %d more", more)
	}
	return list
}

// maxWord and maxMessage limit what a message quotes and its length, in bytes: a URL may have a megabyte.
const maxWord, maxMessage = 200, 800

// Shorten returns a message whose words, and then all of it, have lost their middle if they are too long.
func Shorten(message string) string {
	if len(message) <= maxWord {
		return message
	}
	words := strings.SplitAfter(message, " ")
	for i, word := range words {
		words[i] = cut(word, maxWord)
	}
	return cut(strings.Join(words, ""), maxMessage)
}

func cut(text string, n int) string {
	if len(text) <= n {
		return text
	}
	return strings.ToValidUTF8(text[:n/2], "") + "…" + strings.ToValidUTF8(text[len(text)-n/2:], "")
}

// Count returns "1 error", "2 errors" and so on.
func Count(n int, word string) string {
	if n == 1 {
		return "1 " + word
	}
	return fmt.Sprintf("%d %ss", n, word)
}

// Thousands formats a number with commas.
func Thousands(n uint) string {
	text := strconv.FormatUint(uint64(n), 10)
	for i := len(text) - 3; i > 0; i -= 3 {
		text = text[:i] + "," + text[i:]
	}
	return text
}

// maxLength is the longest name, in characters, to look for: names of fields, rules, features and options are far
// shorter, and the work grows with the product of the two lengths.
const maxLength = 64

// Nearest returns the candidate that name most likely stands for, or "" if none is close.
func Nearest(name string, candidates []string) string {
	if utf8.RuneCountInString(name) > maxLength {
		return ""
	}
	from := []rune(name)
	best, bestDistance := "", max(1, len(from)/3)+1 // at most a third of the letters wrong, or one
	begins := func(c string) bool { return strings.HasPrefix(c, string(from[:min(1, len(from))])) }
	for _, c := range candidates {
		n := utf8.RuneCountInString(c)
		if n-len(from) > bestDistance || len(from)-n > bestDistance {
			continue // lengths differ too much; also skips candidates longer than maxLength
		}
		d := distance(from, []rune(c))
		isBetter := d < bestDistance || d == bestDistance && best != "" && begins(c) && !begins(best)
		if isBetter && d < n { // the first letter is seldom wrong
			best, bestDistance = c, d
		}
	}
	return best
}

// Only returns the candidate that name is certainly a misspelling of, that is, the only close one.
func Only(name string, candidates []string) (string, bool) {
	near := Nearest(name, candidates)
	if near == "" {
		return "", false
	}
	others := slices.DeleteFunc(slices.Clone(candidates), func(c string) bool { return c == near })
	return near, Nearest(name, others) == ""
}

// distance is the number of letters to insert, delete, replace or swap with a neighbour to turn a into b.
func distance(a, b []rune) int {
	before := make([]int, len(b)+1) // the row before the previous one
	last := make([]int, len(b)+1)
	row := make([]int, len(b)+1)
	for j := range last {
		last[j] = j
	}
	for i := 1; i <= len(a); i++ {
		row[0] = i
		for j := 1; j <= len(b); j++ {
			cost := 1
			if a[i-1] == b[j-1] {
				cost = 0
			}
			row[j] = min(last[j]+1, row[j-1]+1, last[j-1]+cost)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				row[j] = min(row[j], before[j-2]+1)
			}
		}
		before, last, row = last, row, before
	}
	return last[len(b)]
}
