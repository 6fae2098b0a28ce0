package openapi

import (
	"regexp"
	"strings"
	"unicode"
)

var (
	camelCase   = regexp.MustCompile(`([\p{Ll}\p{N}])(\p{Lu})`)
	separators  = regexp.MustCompile(`[^\p{L}\p{M}\p{N}]+`)
	sentenceEnd = regexp.MustCompile(`[.!?] +\p{Lu}`) // the point of "e.g. 5" ends nothing
	markdown    = regexp.MustCompile("\\[([^\\]]*)\\]\\([^)]*\\)|`|\\*\\*")
)

// humanise turns a name of the document into words: sort_by and sortBy become "Sort by".
func humanise(name string) string {
	words := strings.Fields(separators.ReplaceAllString(camelCase.ReplaceAllString(name, "$1 $2"), " "))
	for i, word := range words {
		if word != strings.ToUpper(word) { // an acronym stays
			word = strings.ToLower(word)
		}
		if first := []rune(word); i == 0 {
			first[0] = unicode.ToUpper(first[0])
			word = string(first)
		}
		words[i] = word
	}
	return strings.Join(words, " ")
}

// maxHeadline is how long the name of a modifier gets, in characters.
const maxHeadline = 60

// headline returns the first sentence of a description, cut to the length of a name.
func headline(description *node) string {
	if !description.isScalar() {
		return ""
	}
	paragraph, _, _ := strings.Cut(strings.TrimSpace(description.text), "\n\n")
	sentence := oneLine(markdown.ReplaceAllString(paragraph, "$1"))
	if end := sentenceEnd.FindStringIndex(sentence); end != nil {
		sentence = sentence[:end[0]]
	}
	sentence = strings.TrimRight(sentence, ".:; ")
	if runes := []rune(sentence); len(runes) > maxHeadline {
		sentence = string(runes[:maxHeadline])
		if i := strings.LastIndexByte(sentence, ' '); i > 0 {
			sentence = sentence[:i]
		}
		sentence = strings.TrimRight(sentence, ",.:; ") + "…"
	}
	return sentence
}

// oneLine returns text without line breaks, and without what a terminal or a YAML comment cannot show.
func oneLine(s string) string {
	s = strings.Map(func(r rune) rune {
		if unicode.IsSpace(r) || unicode.IsPrint(r) {
			return r
		}
		return -1
	}, s)
	return strings.Join(strings.Fields(s), " ")
}
