package lsp

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"signpost"
	"signpost/definition"
	"signpost/internal/fields"
	"signpost/internal/tree"
)

// hover explains what is at a place: a finding, an endpoint, a name, or a field. While the text does not parse, all but
// the findings come from the last text that did.
func (s *server) hover(doc *document, in placeParams) (any, error) {
	offset := doc.offset(in.Position)
	for _, f := range s.workspace.findings(doc) {
		if from, to := doc.extent(f); from <= offset && offset < to {
			return newHover(doc.span(from, to), explainFinding(f)), nil
		}
	}
	if doc = doc.parsed(); doc == nil {
		return nil, nil
	}
	path, key := keyAt(doc.tree().Root, doc.offset(in.Position), nil)
	if key != nil && len(path) == 4 && path[0] == "versions" && path[2] == "endpoints" {
		return newHover(doc.nodeSpan(key), describeEndpoint(doc, path[1], key.Text)), nil
	}
	if found, at := doc.symbolAt(in.Position); found != nil {
		if text := describeSymbol(found); text != "" {
			return newHover(doc.nodeSpan(at), text), nil
		}
	}
	if key != nil {
		for _, f := range fields.Definition.FieldAt(key.Text, path[:len(path)-1]...) {
			return newHover(doc.nodeSpan(key), f.Doc), nil
		}
	}
	return nil, nil
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

// escapeMarkdown keeps text from a file from being interpreted as Markdown.
func escapeMarkdown(text string) string {
	return strings.NewReplacer(`\`, `\\`, "`", "\\`", "*", `\*`, "_", `\_`, "[", `\[`, "]", `\]`, "<", `\<`, ">", `\>`, "#", `\#`).Replace(text)
}

// code returns text as inline code.
func code(text string) string { return "`" + strings.ReplaceAll(text, "`", "") + "`" }

// keyAt returns the key at an offset and the path to its value, or nil.
func keyAt(n *tree.Node, offset int, path []string) ([]string, *tree.Node) {
	for _, f := range n.Fields {
		here := append(path[:len(path):len(path)], f.Key.Text)
		if contains(f.Key, offset) {
			return here, f.Key
		}
		if contains(f.Value, offset) {
			return keyAt(f.Value, offset, here)
		}
	}
	for _, item := range n.Items {
		if contains(item, offset) {
			return keyAt(item, offset, append(path[:len(path):len(path)], ""))
		}
	}
	return nil, nil
}

func contains(n *tree.Node, offset int) bool { return n.Start() <= offset && offset <= n.End() }

// describeEndpoint shows an endpoint as it appears in the manifest, and the context keys that its feeds get.
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
		e := v.Manifest.Endpoints[i]
		text := "Feeds of this endpoint get no context keys."
		if len(e.ContextObj) > 0 {
			text = "Feeds of this endpoint get:\n"
		}
		for _, item := range e.ContextObj {
			text += fmt.Sprintf("\n- %s, %s, in %s", code(item.Key), need(item.Required), item.Type)
		}
		var indented bytes.Buffer
		if body, err := e.MarshalJSON(); err == nil && json.Indent(&indented, body, "", "  ") == nil {
			text += fmt.Sprintf("\n\n```json\n%s\n```", indented.String())
		}
		return text
	}
	return ""
}

func need(required bool) string {
	if required {
		return "required"
	}
	return "optional"
}

// describeSymbol explains a name, or returns "" if there is nothing to say.
func describeSymbol(s *symbol) string {
	switch {
	case s.kind == feature:
		return describeFeature(s)
	case s.kind == contextKey && s.value != nil:
		return escapeMarkdown(s.value.Text)
	case s.kind == sharedModifier && s.value != nil:
		kind, key := s.value.Get("kind").Text, s.value.Get("key").Text
		if kind != "" && key != "" {
			return fmt.Sprintf("%s: sets the query parameter %s. Its control is of kind %s.",
				escapeMarkdown(s.value.Get("name").Text), code(key), escapeMarkdown(kind))
		}
	}
	return ""
}

// describeFeature says what a feature of the file or a built-in one does.
func describeFeature(s *symbol) string {
	for _, f := range signpost.BuiltIn() {
		if f.Name == s.name && s.value == nil {
			return "Built in. " + effect(f)
		}
	}
	if s.value == nil {
		return ""
	}
	f := signpost.Feature{URLSuffix: s.value.Get("url_suffix").Text}
	for _, suffix := range s.value.Get("url_suffix").Items {
		f.URLSuffixes = append(f.URLSuffixes, suffix.Text)
	}
	for _, item := range s.value.Get("context_obj").Items {
		f.ContextObj = append(f.ContextObj, signpost.ContextItem{Key: item.Get("key").Text, Required: item.Get("required").Text == "true"})
	}
	return effect(f)
}

// effect says which context keys a feature appends to which endpoints.
func effect(f signpost.Feature) string {
	var where, keys []string
	for _, suffix := range append([]string{f.URLSuffix}, f.URLSuffixes...) {
		if suffix != "" {
			where = append(where, code(suffix))
		}
	}
	to := "every endpoint"
	if len(where) > 0 {
		to = "the endpoints whose URL ends in " + strings.Join(where, " or ")
	}
	for _, item := range f.ContextObj {
		keys = append(keys, fmt.Sprintf("%s, %s", code(item.Key), need(item.Required)))
	}
	if len(keys) == 0 {
		return "Overrides a built-in feature for " + to + "."
	}
	return fmt.Sprintf("Appends %s, to %s.", strings.Join(keys, ", and "), to)
}
