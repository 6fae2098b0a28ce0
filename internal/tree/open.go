package tree

import "strings"

// maxPlaceholder is the length up to which a placeholder is recognised.
const maxPlaceholder = 100

// Open returns the offsets of the brackets and, last, of the quote that are open at the end of a text. In YAML it is a
// guess, because any character may be part of plain text; quotes end on their line.
func Open(text string) []int {
	var open []int
	for i := 0; i < len(text); i++ {
		c := text[i]
		last := len(open) - 1
		first := i == 0 || strings.IndexByte(" \t\r\n[{,:", text[i-1]) >= 0 // of a word
		switch {
		case c == '#' && (i == 0 || isBlank(text[i-1])):
			for i+1 < len(text) && text[i+1] != '\n' {
				i++
			}
		case first && (c == '"' || c == '\''):
			end := i + 1
			for end < len(text) && text[end] != c && text[end] != '\n' {
				if text[end] == '\\' && c == '"' {
					end++
				}
				end++
			}
			if end >= len(text) {
				return append(open, i)
			}
			i = end
		case !first && strings.HasPrefix(text[i:], "{{"): // a placeholder
			i += max(1, strings.Index(text[i:min(len(text), i+maxPlaceholder)], "}}")+1)
		case first && (c == '{' || c == '['):
			open = append(open, i)
		case last >= 0 && c == closing[text[open[last]]]:
			open = open[:last]
		}
	}
	return open
}
