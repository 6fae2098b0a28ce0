package lsp

import (
	"encoding/json"
	"regexp"
	"strings"

	"signpost/internal/tree"
)

// plainText matches text that YAML reads as a string without quotes in any context: a word that is not a number,
// Boolean, date or null, and has no special characters.
var plainText = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_./+-]*$`)

// reservedWords are words that YAML reads as something other than text.
var reservedWords = map[string]bool{"true": true, "false": true, "null": true, "yes": true, "no": true, "on": true, "off": true, "y": true, "n": true}

// scalar writes text in the style of the scalar it replaces, with quotes if YAML needs them.
func scalar(style tree.Style, text string) string {
	switch {
	case style == tree.SingleQuoted:
		return "'" + strings.ReplaceAll(text, "'", "''") + "'"
	case style == tree.DoubleQuoted || !plainText.MatchString(text) || reservedWords[strings.ToLower(text)]:
		quoted, err := json.Marshal(text)
		if err != nil {
			return text // cannot happen: strings always marshal
		}
		return string(quoted)
	}
	return text
}
