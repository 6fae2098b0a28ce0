package openapi

import (
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"signpost/internal/draft"
	"signpost/internal/tree"
)

var (
	camelCase  = regexp.MustCompile(`([\p{Ll}\p{N}])(\p{Lu})`)
	acronymEnd = regexp.MustCompile(`(\p{Lu})(\p{Lu}\p{Ll}{2})`) // splits TLSVerify, but not IDs
	separators = regexp.MustCompile(`[^\p{L}\p{M}\p{N}]+`)
	constant   = regexp.MustCompile(`^[A-Z][A-Z0-9]*(_[A-Z0-9]+)+$|^[A-Z]{5,}$`) // NEWEST_FIRST or NEWEST, but not UHD
)

// humanise turns an identifier into words: sort_by, sortBy and SORT_BY become "Sort by".
func humanise(name string) string {
	if constant.MatchString(name) {
		name = strings.ToLower(name)
	}
	name = acronymEnd.ReplaceAllString(camelCase.ReplaceAllString(name, "$1 $2"), "$1 $2")
	words := strings.Fields(separators.ReplaceAllString(name, " "))
	for i, word := range words {
		if word != strings.ToUpper(word) { // acronyms keep their capitals
			word = strings.ToLower(word)
		}
		if i == 0 {
			first, size := utf8.DecodeRuneInString(word)
			word = string(unicode.ToUpper(first)) + word[size:]
		}
		words[i] = word
	}
	return strings.Join(words, " ")
}

const (
	// maxSentence is the maximum length of a name taken from a description, in characters.
	maxSentence = 60

	// maxSummary is the maximum length of a name taken from a summary or an operation id, in characters. OpenAPI 2 asked
	// for summaries shorter than this.
	maxSummary = 120

	// maxDescription is how many bytes of a description are read.
	maxDescription = 1024
)

// emphasis removes the only Markdown that is common inside a short sentence.
var emphasis = strings.NewReplacer("**", "", "`", "")

// title returns a text on one line without its full stop, or "" if it is too long for a name.
func title(n *tree.Node) string {
	text := strings.TrimRight(emphasis.Replace(str(n)), ".:;, ")
	if utf8.RuneCountInString(text) > maxSummary {
		return ""
	}
	return text
}

// sentence returns the first sentence of a description, or "" if it is no name: too long, marked up as Markdown or
// HTML, or only saying that a parameter is optional.
func sentence(n *tree.Node) string {
	if !isScalar(n) {
		return ""
	}
	text, _, _ := strings.Cut(n.Text[:min(len(n.Text), maxDescription)], "\n\n")
	text, _, _ = strings.Cut(draft.OneLine(emphasis.Replace(text)), ". ")
	text = strings.TrimRight(text, ".:;, ")
	usage := slices.Contains([]string{"optional", "required", "deprecated"}, strings.ToLower(text))
	abbreviation := strings.HasSuffix(text, "e.g") || strings.HasSuffix(text, "i.e")
	if usage || abbreviation || strings.ContainsAny(text, "*<>[]#|\\") || utf8.RuneCountInString(text) > maxSentence ||
		separators.ReplaceAllString(text, "") == "" {
		return ""
	}
	return text
}
