package openapi

import (
	"html"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"
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
			word = capitalise(word)
		}
		words[i] = word
	}
	return strings.Join(words, " ")
}

func capitalise(s string) string {
	first, size := utf8.DecodeRuneInString(s)
	if size == 0 {
		return s
	}
	return string(unicode.ToUpper(first)) + s[size:]
}

const (
	// maxHeadline is the maximum length of a name taken from a description, in characters. If it is longer, the label
	// is used.
	maxHeadline = 60

	// maxSummary is the maximum length of a name taken from a summary, in characters. OpenAPI 2 asked for summaries
	// shorter than this.
	maxSummary = 120

	// maxDescription is how many bytes of a description are read: enough for a first sentence that can be a name,
	// including links and preceding lead-ins.
	maxDescription = 1024
)

// headline returns the first sentence of a description or summary as a name: without Markdown, without lead-ins such as
// "Optional.", and without a full stop. It returns "" if the sentence has more than limit characters, because half a
// sentence is not a name.
func headline(description *node, limit int) string {
	if !description.isScalar() {
		return ""
	}
	text := description.text
	if len(text) > maxDescription {
		text = text[:maxDescription]
	}
	for block := range strings.SplitSeq(withoutMarkdown(text), "\n\n") {
		block = trimLeadIns(oneLine(block))
		sentence := strings.TrimRight(firstSentence(block), ".:;,。 ")
		if separators.ReplaceAllString(sentence, "") == "" {
			continue
		}
		if utf8.RuneCountInString(sentence) > limit {
			return ""
		}
		return sentence
	}
	return ""
}

// Words that tell how a parameter is used, rather than what it is for. On their own at the start of a description, they
// do not name anything.
const leadInWords = `(?:this (?:parameter|field) is )?(?:optional|required|mandatory|deprecated|output only|input only|read[ -]only|immutable|beta|experimental|preview)` +
	`(?: (?:query )?(?:parameter|param|field|argument|value))?`

var (
	leadIn = regexp.MustCompile(`(?i)^(?:[(\[]\s*` + leadInWords + `\s*[)\]][.:,]?|` + leadInWords + `\s*(?:[.:;!]|[-–—]+ |$))\s*`)
	aside  = regexp.MustCompile(`(?i)\s*[(\[]\s*` + leadInWords + `\s*[)\]]$`)
)

// trimLeadIns removes "Optional.", "(required)", "Deprecated:" and the like from the start, and the bracketed ones from
// the end.
func trimLeadIns(s string) string {
	rest := s
	for {
		loc := leadIn.FindStringIndex(rest)
		if loc == nil || loc[1] == 0 {
			break
		}
		rest = rest[loc[1]:]
	}
	if rest != s {
		rest = capitalise(rest)
	}
	return aside.ReplaceAllString(strings.TrimRight(rest, ". "), "")
}

var (
	sentenceEnd  = regexp.MustCompile(`[.!?] +\p{Lu}|。`)
	abbreviation = regexp.MustCompile(`(?i)(?:^|[\s(])(?:e\.g|i\.e|etc|vs|cf|approx|incl|no|\p{L})$`)
)

// firstSentence returns the text up to its first full stop, not counting that of "e.g. Drama".
func firstSentence(s string) string {
	for _, end := range sentenceEnd.FindAllStringIndex(s, -1) {
		if !abbreviation.MatchString(s[:end[0]]) {
			return s[:end[0]]
		}
	}
	return s
}

// Markdown and HTML found in descriptions. Block elements become empty lines, so that a heading, a list or a table ends
// the sentence before it.
var (
	fence      = regexp.MustCompile("(?s)(?:```|~~~).*?(?:```|~~~|$)")
	comment    = regexp.MustCompile(`(?s)<!--.*?(?:-->|$)`)
	blockTag   = regexp.MustCompile(`(?i)</?(?:p|br|div|ul|ol|li|h[1-6]|pre|table|tr|td|th|hr|details|summary|blockquote)\b[^>]*>`)
	inlineTag  = regexp.MustCompile(`(?i)</?(?:a|b|i|u|em|strong|code|span|sub|sup|small|kbd|tt|font|img)\b[^>]*>`)
	autolink   = regexp.MustCompile(`<(https?://[^>\s]*)>`)
	blockStart = regexp.MustCompile(`(?m)^[ \t]*(?:#{1,6}[ \t]+|>[ \t]?|[-*+][ \t]+|\d+[.)][ \t]+|\|)`)
	heading    = regexp.MustCompile(`(?m)^[ \t]*#{1,6}[ \t]+(.*?)[ \t#]*$`)
	image      = regexp.MustCompile(`!\[[^\]]*\](?:\([^)]*\)|\[[^\]]*\])`)
	link       = regexp.MustCompile(`\[([^\]]*)\](?:\([^)]*\)|\[[^\]]*\])`)
	strong     = regexp.MustCompile("\\*\\*|~~|`")
	underline  = regexp.MustCompile(`(^|[\s(])__?([^_\s](?:[^_]*[^_\s])?)__?($|[\s.,;:!?)])`)
	emphasis   = regexp.MustCompile(`(^|[\s(])\*([^*\s](?:[^*]*[^*\s])?)\*($|[\s.,;:!?)])`)
	escape     = regexp.MustCompile("\\\\([\\\\`*_{}\\[\\]()#+.!|<>~-])")
)

// withoutMarkdown converts Markdown to plain text, with an empty line between blocks.
func withoutMarkdown(s string) string {
	if !strings.ContainsAny(s, "\r\n<>#*+_[]`|~\\&") {
		return s
	}
	s = strings.NewReplacer("\r\n", "\n", "\r", "\n").Replace(s)
	s = fence.ReplaceAllString(s, "\n\n")
	s = comment.ReplaceAllString(s, "")
	s = blockTag.ReplaceAllString(s, "\n\n")
	s = inlineTag.ReplaceAllString(s, "")
	s = autolink.ReplaceAllString(s, "$1")
	s = heading.ReplaceAllString(s, "\n\n$1\n\n")
	s = blockStart.ReplaceAllString(s, "\n\n")
	s = image.ReplaceAllString(s, "")
	s = link.ReplaceAllString(s, "$1")
	s = strong.ReplaceAllString(s, "")
	s = underline.ReplaceAllString(s, "$1$2$3")
	s = emphasis.ReplaceAllString(s, "$1$2$3")
	s = escape.ReplaceAllString(s, "$1")
	return html.UnescapeString(s)
}

// oneLine returns text without line breaks and without characters that a terminal or a YAML comment cannot show.
func oneLine(s string) string {
	s = strings.Map(func(r rune) rune {
		if unicode.IsSpace(r) || unicode.IsPrint(r) {
			return r
		}
		return -1
	}, s)
	return strings.Join(strings.Fields(s), " ")
}
