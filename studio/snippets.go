package studio

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"signpost"
)

// snippet is a request in the syntax of a tool.
type snippet struct {
	Name string `json:"name"`
	Text string `json:"text"`
}

// snippets returns the request of a draft, as it is sent, for the tools that people paste it into. The URL is that of
// the feed, wherever the request goes.
func snippets(d draft) []snippet {
	feed := d.gaps(d.URL)
	d.URL = d.gaps(d.req.URL.String())
	return []snippet{
		{"URL", feed}, {"curl", curl(d)}, {"fetch", fetchCall(d)}, {"Go", goCall(d)}, {"PowerShell", powerShell(d)},
	}
}

// gaps marks in a URL what is missing from it: open placeholders, and ctx, as {{name}}.
func (d draft) gaps(u string) string {
	u = strings.NewReplacer("%7B%7B", "{{", "%7D%7D", "}}").Replace(u)
	var lacking []string
	for _, p := range d.Problems {
		if key, found := strings.CutPrefix(p.Field, "context:"); found && p.Context && !d.inBody(key) {
			lacking = append(lacking, key)
		}
	}
	if len(lacking) == 0 {
		return u
	}
	u, _, _ = strings.Cut(u, "ctx=") // the last parameter
	if !strings.HasSuffix(u, "&") && !strings.HasSuffix(u, "?") {
		separator := "?"
		if strings.Contains(u, "?") {
			separator = "&"
		}
		u += separator
	}
	return u + "ctx={{" + strings.Join(lacking, ", ") + "}}"
}

func (d draft) inBody(key string) bool {
	return slices.ContainsFunc(d.endpoint.ContextObj, func(item signpost.ContextItem) bool {
		return item.Key == key && item.Type == signpost.ContextBodyParam
	})
}

// headers returns the headers that an app sends.
func (d draft) headers() [][2]string {
	all := [][2]string{{"Accept", d.Accept}}
	if d.BodyType != "" {
		all = append(all, [2]string{"Content-Type", d.BodyType})
	}
	for _, name := range []string{"X-Forwarded-Host", "X-Forwarded-Proto"} { // only if it goes to another server
		if value := d.req.Header.Get(name); value != "" {
			all = append(all, [2]string{name, value})
		}
	}
	return all
}

// host returns the value of the Host header if it differs from the URL.
func (d draft) host() string {
	if d.req.Host == d.req.URL.Host {
		return ""
	}
	return d.req.Host
}

// curl returns the equivalent curl command.
func curl(d draft) string {
	parts := []string{"curl"}
	if strings.ContainsAny(d.URL, "{}[]") {
		parts = append(parts, "--globoff")
	}
	if d.Method != http.MethodGet {
		parts = append(parts, "-X", quoteShell(d.Method))
	}
	if host := d.host(); host != "" {
		parts = append(parts, "-H", quoteShell("Host: "+host))
	}
	for _, h := range d.headers() {
		parts = append(parts, "-H", quoteShell(h[0]+": "+h[1]))
	}
	if d.BodyType != "" {
		parts = append(parts, "--data-raw", quoteShell(d.Body))
	}
	return strings.Join(append(parts, quoteShell(d.URL)), " ")
}

// quoteShell quotes a text for a POSIX shell.
func quoteShell(text string) string {
	const plain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_."
	if text != "" && strings.Trim(text, plain) == "" {
		return text
	}
	return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'"
}

// fetchCall returns the equivalent JavaScript call of fetch. Browsers do not allow it to set Host, so X-Forwarded-Host
// takes its place.
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

// quoteJS returns a JavaScript string literal: JSON is one.
func quoteJS(text string) string {
	var quoted strings.Builder
	enc := json.NewEncoder(&quoted)
	enc.SetEscapeHTML(false)
	enc.Encode(text) // cannot fail: every string marshals
	return strings.TrimSpace(quoted.String())
}

// goCall returns the equivalent Go code.
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
	if host := d.host(); host != "" {
		fmt.Fprintf(&out, "req.Host = %q\n", host)
	}
	out.WriteString("res, err := http.DefaultClient.Do(req)\nif err != nil {\n\treturn err\n}\ndefer res.Body.Close()")
	return out.String()
}

// powerShellQuotes doubles the characters that end a single-quoted string: in PowerShell, that includes typographic
// quotes.
var powerShellQuotes = strings.NewReplacer("'", "''", "\u2018", "\u2018\u2018", "\u2019", "\u2019\u2019", "\u201a", "\u201a\u201a", "\u201b", "\u201b\u201b")

// powerShell returns the equivalent command for PowerShell 7, in which single-quoted strings are literal.
func powerShell(d draft) string {
	quote := func(text string) string { return "'" + powerShellQuotes.Replace(text) + "'" }
	var out strings.Builder
	fmt.Fprintf(&out, "Invoke-WebRequest -Uri %s", quote(d.URL))
	if d.Method != http.MethodGet {
		fmt.Fprintf(&out, " -Method %s", quote(d.Method))
	}
	out.WriteString(" -Headers @{ ")
	if host := d.host(); host != "" {
		fmt.Fprintf(&out, "'Host' = %s; ", quote(host))
	}
	var pairs []string
	for _, h := range d.headers() {
		if h[0] != "Content-Type" { // has a parameter of its own
			pairs = append(pairs, quote(h[0])+" = "+quote(h[1]))
		}
	}
	out.WriteString(strings.Join(pairs, "; ") + " }")
	if d.BodyType != "" {
		fmt.Fprintf(&out, " -ContentType %s -Body %s", quote(d.BodyType), quote(d.Body))
	}
	return out.String()
}
