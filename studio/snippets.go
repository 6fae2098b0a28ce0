package studio

import (
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"strings"
	"text/template"
)

type snippet struct {
	Name string `json:"name"`
	Text string `json:"text"`
}

// snippetTexts have the request in the syntax of the tools that people paste it into. Browsers do not allow fetch to
// set Host, so X-Forwarded-Host takes its place. That of PowerShell is for version 7.
var snippetTexts = template.Must(template.New("").Funcs(template.FuncMap{
	"sh": quoteShell, "js": quoteJS, "go": strconv.Quote, "ps": quotePowerShell,
}).Parse(`
{{- define "curl"}}curl
{{- if .Globs}} --globoff{{end}}
{{- if ne .Method "GET"}} -X {{.Method}}{{end}}
{{- if .Host}} -H {{sh (print "Host: " .Host)}}{{end}}
{{- range .Headers}} -H {{sh (print .Name ": " .Value)}}{{end}}
{{- if .BodyType}} --data-raw {{sh .Body}}{{end}} {{sh .URL}}
{{- end}}

{{- define "fetch"}}const response = await fetch({{js .URL}}, {
{{- if ne .Method "GET"}}
  method: {{js .Method}},{{end}}
  headers: {
{{- range .Headers}}
    {{js .Name}}: {{js .Value}},{{end}}
  },
{{- if .BodyType}}
  body: {{js .Body}},{{end}}
});
const feed = await response.json();
{{- end}}

{{- define "Go"}}req, err := http.NewRequest({{go .Method}}, {{go .URL}}, {{if .BodyType}}strings.NewReader({{go .Body}}){{else}}nil{{end}})
if err != nil {
	return err
}
{{range .Headers}}req.Header.Set({{go .Name}}, {{go .Value}})
{{end}}
{{- if .Host}}req.Host = {{go .Host}}
{{end}}res, err := http.DefaultClient.Do(req)
if err != nil {
	return err
}
defer res.Body.Close()
{{- end}}

{{- define "PowerShell"}}Invoke-WebRequest -Uri {{ps .URL}}
{{- if ne .Method "GET"}} -Method {{ps .Method}}{{end}} -Headers @{
{{- if .Host}} 'Host' = {{ps .Host}};{{end}}
{{- range $i, $h := .Headers}}{{if ne .Name "Content-Type"}}{{if $i}};{{end}} {{ps .Name}} = {{ps .Value}}{{end}}{{end}} }
{{- if .BodyType}} -ContentType {{ps .BodyType}} -Body {{ps .Body}}{{end}}
{{- end}}`))

type header struct{ Name, Value string }

// snippets returns the request of a draft, as it is sent, for the tools that people paste it into. The URL is that of
// the feed, wherever the request goes.
func snippets(d draft) []snippet {
	values := struct {
		draft
		URL     string
		Globs   bool   // curl would take a part of the URL for a pattern
		Host    string // if it is not that of the URL
		Headers []header
	}{draft: d, URL: d.req.URL.String()}
	values.Globs = strings.ContainsAny(values.URL, "{}[]")
	if d.req.Host != d.req.URL.Host {
		values.Host = d.req.Host
	}
	for _, name := range slices.Sorted(maps.Keys(d.req.Header)) {
		if name != "User-Agent" { // that of Signpost; the tools have their own
			values.Headers = append(values.Headers, header{name, d.req.Header.Get(name)})
		}
	}
	all := []snippet{{"URL", d.URL}}
	for _, name := range []string{"curl", "fetch", "Go", "PowerShell"} {
		var text strings.Builder
		if err := snippetTexts.ExecuteTemplate(&text, name, values); err == nil { // always: the templates are fixed
			all = append(all, snippet{name, text.String()})
		}
	}
	return all
}

func quoteShell(text string) string { return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'" }

// quoteJS returns a JavaScript string literal: JSON is one.
func quoteJS(text string) string {
	var quoted strings.Builder
	enc := json.NewEncoder(&quoted)
	enc.SetEscapeHTML(false)
	enc.Encode(text) // cannot fail: every string marshals
	return strings.TrimSpace(quoted.String())
}

// powerShellQuotes doubles the characters that end a single-quoted string: in PowerShell, that includes typographic
// quotes.
var powerShellQuotes = strings.NewReplacer("'", "''", "\u2018", "\u2018\u2018", "\u2019", "\u2019\u2019",
	"\u201a", "\u201a\u201a", "\u201b", "\u201b\u201b")

func quotePowerShell(text string) string { return "'" + powerShellQuotes.Replace(text) + "'" }
