package lsp

import (
	"encoding/json"
	"regexp"
	"strings"

	"signpost/internal/tree"
)

// plainText is text that YAML reads as itself without quotes, wherever it stands: a word that is no number, no
// Boolean, no date and no null, with signs in it that mean nothing.
var plainText = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_./+-]*$`)

// words that YAML reads as something other than text.
var reservedWords = map[string]bool{"true": true, "false": true, "null": true, "yes": true, "no": true, "on": true, "off": true, "y": true, "n": true}

// scalar writes a text in the style of the one that it replaces, with quotes where YAML needs them.
func scalar(style tree.Style, text string) string {
	switch {
	case style == tree.SingleQuoted:
		return "'" + strings.ReplaceAll(text, "'", "''") + "'"
	case style == tree.DoubleQuoted || !plainText.MatchString(text) || reservedWords[strings.ToLower(text)]:
		quoted, err := json.Marshal(text)
		if err != nil {
			return text // a string always marshals
		}
		return string(quoted)
	}
	return text
}
