package tree

import "strings"

// maxPlaceholder is the length up to which a placeholder is recognised.
const maxPlaceholder = 100

// Unclosed returns the offsets of the brackets and, last, of the quote that are not closed in a text. In YAML it is a
// guess, because any character may be part of plain text; quotes end on their line.
func Unclosed(text string) []int {
	var found []int
	for i := 0; i < len(text); i++ {
		c := text[i]
		last := len(found) - 1
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
				return append(found, i)
			}
			i = end
		case !first && strings.HasPrefix(text[i:], "{{"): // a placeholder
			i += max(1, strings.Index(text[i:min(len(text), i+maxPlaceholder)], "}}")+1)
		case first && (c == '{' || c == '['):
			found = append(found, i)
		case last >= 0 && c == closing[text[found[last]]]:
			found = found[:last]
		}
	}
	return found
}
