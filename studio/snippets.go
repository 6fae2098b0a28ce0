package studio

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"strings"
)

// snippet is a request in the words of a tool.
type snippet struct {
	Name string `json:"name"`
	Text string `json:"text"`
}

// snippets returns the request of a draft for the tools that people paste it into.
func snippets(d draft) []snippet {
	return []snippet{
		{"URL", d.URL}, {"curl", curl(d)}, {"fetch", fetchCall(d)}, {"Go", goCall(d)}, {"PowerShell", powerShell(d)},
	}
}

// headers returns the headers that make the request what an app sends.
func (d draft) headers() [][2]string {
	all := [][2]string{{"Accept", d.Accept}}
	if d.BodyType != "" {
		all = append(all, [2]string{"Content-Type", d.BodyType})
	}
	return all
}

// curl returns the command that sends the same request.
func curl(d draft) string {
	parts := []string{"curl"}
	if strings.ContainsAny(d.URL, "{}[]") {
		parts = append(parts, "--globoff")
	}
	if d.Method != http.MethodGet {
		parts = append(parts, "-X", quoteShell(d.Method))
	}
	for _, h := range d.headers() {
		parts = append(parts, "-H", quoteShell(h[0]+": "+h[1]))
	}
	if d.BodyType != "" {
		parts = append(parts, "--data-raw", quoteShell(d.Body))
	}
	return strings.Join(append(parts, quoteShell(d.URL)), " ")
}

// quoteShell makes a text one word of a POSIX shell's command line.
func quoteShell(text string) string {
	const plain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_."
	if text != "" && strings.Trim(text, plain) == "" {
		return text
	}
	return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'"
}

// fetchCall returns the call of fetch in JavaScript. A browser sets Accept from the headers too.
func fetchCall(d draft) string {
	var out strings.Builder
	fmt.Fprintf(&out, "const response = await fetch(%s, {\n", quoteJS(d.URL))
	if d.Method != http.MethodGet {
		fmt.Fprintf(&out, "  method: %s,\n", quoteJS(d.Method))
	}
	out.WriteString("  headers: {\n")
	for _, h := range d.headers() {
		fmt.Fprintf(&out, "    %s: %s,\n", quoteJS(h[0]), quoteJS(h[1]))
	}
	out.WriteString("  },\n")
	if d.BodyType != "" {
		fmt.Fprintf(&out, "  body: %s,\n", quoteJS(d.Body))
	}
	out.WriteString("});\nconst feed = await response.json();")
	return out.String()
}

// quoteJS returns a string literal of JavaScript: JSON is one.
func quoteJS(text string) string {
	quoted, err := json.Marshal(text)
	if err != nil { // no text does that
		return `""`
	}
	return string(quoted)
}

// goCall returns the lines of Go that send the request.
func goCall(d draft) string {
	var out strings.Builder
	body := "nil"
	if d.BodyType != "" {
		body = "strings.NewReader(" + strconv.Quote(d.Body) + ")"
	}
	fmt.Fprintf(&out, "req, err := http.NewRequest(%q, %s, %s)\n", d.Method, strconv.Quote(d.URL), body)
	out.WriteString("if err != nil {\n\treturn err\n}\n")
	for _, h := range d.headers() {
		fmt.Fprintf(&out, "req.Header.Set(%q, %s)\n", h[0], strconv.Quote(h[1]))
	}
	out.WriteString("res, err := http.DefaultClient.Do(req)\nif err != nil {\n\treturn err\n}\ndefer res.Body.Close()")
	return out.String()
}

// powerShell returns the command for PowerShell 7, whose strings in single quotes are literal.
func powerShell(d draft) string {
	quote := func(text string) string {
		return "'" + strings.NewReplacer("'", "''", "\u2018", "\u2018\u2018", "\u2019", "\u2019\u2019").Replace(text) + "'"
	}
	var out strings.Builder
	fmt.Fprintf(&out, "Invoke-WebRequest -Uri %s", quote(d.URL))
	if d.Method != http.MethodGet {
		fmt.Fprintf(&out, " -Method %s", quote(d.Method))
	}
	fmt.Fprintf(&out, " -Headers @{ Accept = %s }", quote(d.Accept))
	if d.BodyType != "" {
		fmt.Fprintf(&out, " -ContentType %s -Body %s", quote(d.BodyType), quote(d.Body))
	}
	return out.String()
}
