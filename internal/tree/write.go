package tree

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strconv"
	"strings"
)

// Write returns a text, number or Boolean as it is written in the document in place of a scalar, in the style of that
// one. It returns false unless the scalar is on one line.
func (n *Node) Write(value any) (string, bool) {
	if n.Style == BlockText || n.start == n.end || strings.ContainsAny(n.Text, "\r\n") {
		return "", false
	}
	text, isText := value.(string)
	switch {
	case !isText:
		return fmt.Sprint(value), true
	case n.doc.JSON || n.Style == DoubleQuoted || n.Kind != String:
		return Quote(text), true
	case n.Style == SingleQuoted:
		return "'" + strings.ReplaceAll(text, "'", "''") + "'", true
	case isPlain(text, !strings.ContainsAny(n.Text, "[]{},")): // it may or may not be inside brackets
		return text, true
	}
	return Quote(text), true
}

var (
	plainText = regexp.MustCompile(`^\+?[A-Za-z][\w./+-]*( [\w./+-]+)*$`)
	plainURL  = regexp.MustCompile(`^https?://[\w{}/.~%?=&+-]+$`)
	constant  = regexp.MustCompile(`(?i)^(true|false|null|yes|no|on|off|y|n)$`)
)

// Scalar returns text as YAML for a new document, quoted if YAML might read it as something else.
func Scalar(text string) string {
	if plainText.MatchString(text) && !constant.MatchString(text) {
		return text
	}
	return strconv.Quote(text) // YAML has the same escapes
}

// Key returns the URL of an endpoint as a YAML key.
func Key(url string) string {
	if plainURL.MatchString(url) {
		return url
	}
	return strconv.Quote(url)
}

// maxKey is the maximum length of a key in bytes: YAML allows 1024 characters before a colon.
const maxKey = 1000

// Pair returns a key with its value, both of them YAML. Between braces, indent is a space. Elsewhere it is a line break
// and the indentation of the key, and the value may also be a block that follows.
func Pair(key, value, indent string) string {
	if len(key) > maxKey {
		key = "? " + key + indent
	}
	return strings.TrimSuffix(key+": "+value, " ")
}

// Flow returns a value as YAML on one line.
func (n *Node) Flow() string {
	var parts []string
	switch n.Kind {
	case List:
		for _, item := range n.Items {
			parts = append(parts, item.Flow())
		}
		return "[" + strings.Join(parts, ", ") + "]"
	case Object:
		for _, f := range n.Fields {
			parts = append(parts, Pair(Scalar(f.Key.Text), f.Value.Flow(), " "))
		}
		return "{" + strings.Join(parts, ", ") + "}"
	case String:
		return Scalar(n.Text)
	case Null:
		return "null"
	}
	return n.Text
}

// Quote returns a text in double quotes that YAML and JSON both understand.
func Quote(text string) string {
	var out strings.Builder
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	enc.Encode(text) // strings always encode
	quoted := strings.TrimSuffix(out.String(), "\n")
	return strings.ReplaceAll(quoted, "\u0085", `\u0085`) // YAML takes it for a line break
}

// JSON returns a value as JSON on one line, with aliases expanded, and false if that takes more than max bytes.
func (n *Node) JSON(max int) (string, bool) {
	var out strings.Builder
	n.writeJSON(&out, max)
	return out.String(), out.Len() <= max
}

func (n *Node) writeJSON(out *strings.Builder, max int) {
	if out.Len() > max {
		return
	}
	separator := ""
	switch n.Kind {
	case Object:
		out.WriteByte('{')
		for _, f := range n.Fields {
			out.WriteString(separator + Quote(f.Key.Text) + ":")
			f.Value.writeJSON(out, max)
			separator = ","
		}
		out.WriteByte('}')
	case List:
		out.WriteByte('[')
		for _, item := range n.Items {
			out.WriteString(separator)
			item.writeJSON(out, max)
			separator = ","
		}
		out.WriteByte(']')
	case Null:
		out.WriteString("null")
	case String:
		out.WriteString(Quote(n.Text))
	default: // what JSON has no form for is reported
		if json.Valid([]byte(n.Text)) {
			out.WriteString(n.Text)
		} else {
			out.WriteString(Quote(n.Text))
		}
	}
}

// isPlain reports whether YAML reads the text unchanged without quotes, as a key and as a value, inside brackets or on
// a line of its own.
func isPlain(text string, inBrackets bool) bool {
	if constant.MatchString(text) || strings.ContainsAny(text, "#&*!|>'\"%@`\\\r\n\t") {
		return false
	}
	format := "? %s\n: %s\n"
	if inBrackets {
		format = "{? %s : %s}"
	}
	doc := Parse(fmt.Appendf(nil, format, text, text), false)
	if doc.Root == nil || len(doc.Root.Fields) != 1 {
		return false
	}
	f := doc.Root.Fields[0]
	return f.Key.Text == text && f.Value.Kind == String && !f.Value.Date && f.Value.Text == text
}
