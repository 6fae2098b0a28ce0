package lsp

import (
	"bytes"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"signpost"
	"signpost/definition"
	"signpost/internal/fields"
)

// hover explains what is at a place: a finding, an endpoint, a name, or a field. While the text does not parse, all but
// the findings come from the last text that did.
func (s *server) hover(doc *document, in placeParams) (any, error) {
	offset := doc.offset(in.Position)
	for _, f := range s.findings(doc) {
		if from, to := doc.extent(f); from <= offset && offset < to {
			return newHover(doc.span(from, to), explainFinding(f)), nil
		}
	}
	doc = doc.parsed()
	if doc == nil {
		return nil, nil
	}
	at := partAt(doc.root(), nil, doc.offset(in.Position), nil)
	if at == nil {
		return nil, nil
	}
	text := ""
	switch found, _ := doc.symbolAt(in.Position); {
	case at.isKey && len(at.path) == 4 && at.path[0] == "versions" && at.path[2] == "endpoints":
		text = describeEndpoint(doc, at.path[1], at.node.Text)
	case found != nil:
		text = describeSymbol(doc, found)
	case at.isKey:
		for _, object := range doc.fields().At(at.path[:len(at.path)-1]...) {
			if f := object.Field(at.node.Text); f != nil {
				text = f.Doc
			} else if object.Plus && strings.HasPrefix(at.node.Text, signpost.Beyond) {
				text = explainExtra(at.node.Text)
			}
		}
	}
	if text == "" {
		return nil, nil
	}
	return newHover(doc.nodeSpan(at.node), text), nil
}

func newHover(at span, text string) hover { return hover{markup{"markdown", text}, at} }

func explainFinding(f signpost.Finding) string {
	text := fmt.Sprintf("**%s** `%s`\n\n%s", f.Severity, f.Rule, escapeMarkdown(f.Message))
	if f.Hint != "" {
		text += "\n\n" + escapeMarkdown(f.Hint)
	}
	for _, r := range definition.Rules() {
		if r.Name == f.Rule {
			text += "\n\nThe rule: " + escapeMarkdown(r.Summary) + "."
		}
	}
	return text
}

// markdown matches the characters that Markdown may interpret.
var markdown = regexp.MustCompile("[\\\\`*_\\[\\]<>#]")

// escapeMarkdown keeps text from a file from being interpreted as Markdown.
func escapeMarkdown(text string) string { return markdown.ReplaceAllString(text, `\$0`) }

// describeEndpoint shows an endpoint as it appears in the manifest, with the context keys that its feeds get.
func describeEndpoint(doc *document, version, url string) string {
	versions, err := doc.file().Manifests(nil)
	if err != nil {
		return "Fix the errors in this file to see the manifest entry of this endpoint."
	}
	for _, v := range versions {
		i := slices.IndexFunc(v.Manifest.Endpoints, func(e signpost.Endpoint) bool { return e.URL == url })
		if v.Name != version || i < 0 {
			continue
		}
		var indented bytes.Buffer
		body, err := v.Manifest.Endpoints[i].MarshalJSON()
		if err == nil && json.Indent(&indented, body, "", "  ") == nil {
			return fmt.Sprintf("In the manifest:\n\n```json\n%s\n```", indented.String())
		}
	}
	return ""
}

// describeSymbol shows the declaration of a name, or says what a built-in feature does. Otherwise it returns "".
func describeSymbol(doc *document, s *symbol) string {
	if s.decl != nil {
		text := doc.text[s.decl.Start():max(s.decl.End(), s.value.End())]
		_, brackets := closing(text) // a node ends before its closing bracket
		return fmt.Sprintf("```yaml\n%s%s\n```", text, brackets)
	}
	builtIn := signpost.BuiltIn()
	i := slices.IndexFunc(builtIn, func(f signpost.Feature) bool { return f.Name == s.name })
	if s.kind != fields.Features || i < 0 {
		return ""
	}
	to := "every endpoint"
	if suffix := builtIn[i].URLSuffix; suffix != "" {
		to = "the endpoints whose URL ends in `" + suffix + "`"
	}
	item := builtIn[i].ContextObj[0]
	return fmt.Sprintf("Built in. Appends the context key `%s` to %s; required: %t.", item.Key, to, item.Required)
}
