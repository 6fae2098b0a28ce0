package lsp

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"signpost"
	"signpost/definition"
	"signpost/internal/tree"
)

// hover explains what is at a place: a finding, an endpoint, a name, or a field.
func (s *server) hover(_ context.Context, v *view, doc *document, offset int, _ placeParams) (any, error) {
	for _, f := range v.findings(doc) {
		sp := doc.findingSpan(f)
		if from, to := doc.offset(sp.Start), doc.offset(sp.End); from <= offset && offset < to {
			return hover{*markdown(explainFinding(f)), sp}, nil
		}
	}
	path, key := keyAt(doc.root(), offset-doc.skipped(), nil)
	if key != nil && isEndpoint(path) {
		return hover{*markdown(describeEndpoint(doc, path[1], key.Text)), doc.nodeSpan(key)}, nil
	}
	if found, at := symbolAt(doc.root(), offset-doc.skipped()); found != nil {
		if text := describeSymbol(found); text != "" {
			return hover{*markdown(text), doc.nodeSpan(at)}, nil
		}
	}
	if key != nil {
		if text := s.schema.describe(path); text != "" {
			return hover{*markdown(text), doc.nodeSpan(key)}, nil
		}
	}
	return nil, nil
}

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

// keyAt returns the key at an offset and the path to its value, or nil.
func keyAt(n *tree.Node, offset int, path []string) ([]string, *tree.Node) {
	if n == nil {
		return nil, nil
	}
	for _, f := range n.Fields {
		here := append(path[:len(path):len(path)], f.Key.Text)
		if f.Key.Start() <= offset && offset <= f.Key.End() {
			return here, f.Key
		}
		if f.Value.Start() <= offset && offset <= f.Value.End() {
			return keyAt(f.Value, offset, here)
		}
	}
	for _, item := range n.Items {
		if item.Start() <= offset && offset <= item.End() {
			return keyAt(item, offset, append(path[:len(path):len(path)], ""))
		}
	}
	return nil, nil
}

func isEndpoint(path []string) bool {
	return len(path) == 4 && path[0] == "versions" && path[2] == "endpoints"
}

// describeEndpoint shows an endpoint as it appears in the manifest, and the context keys that its feeds get.
func describeEndpoint(doc *document, version, url string) string {
	versions, err := doc.file().Manifests(nil)
	if err != nil {
		return "Fix the errors in this file to see the manifest entry of this endpoint."
	}
	for _, v := range versions {
		for _, e := range v.Manifest.Endpoints {
			if v.Name != version || e.URL != url {
				continue
			}
			var text strings.Builder
			text.WriteString(feedKeys(e))
			if body, err := e.MarshalJSON(); err == nil {
				var indented bytes.Buffer
				if json.Indent(&indented, body, "", "  ") == nil {
					fmt.Fprintf(&text, "\n\n```json\n%s\n```", indented.String())
				}
			}
			return text.String()
		}
	}
	return ""
}

func feedKeys(e signpost.Endpoint) string {
	if len(e.ContextObj) == 0 {
		return "Feeds of this endpoint get no context keys."
	}
	text := "Feeds of this endpoint get:\n"
	for _, item := range e.ContextObj {
		need := "optional"
		if item.Required {
			need = "required"
		}
		text += fmt.Sprintf("\n- `%s`, %s, in %s", strings.ReplaceAll(item.Key, "`", ""), need, item.Type)
	}
	return text
}

// describeSymbol explains a name, or returns "" if it is self-explanatory.
func describeSymbol(s *symbol) string {
	switch {
	case s.kind == contextKey && s.value != nil && s.value.Kind == tree.String:
		return escapeMarkdown(s.value.Text)
	case s.kind == sharedModifier && s.value != nil:
		kind, key := field1(s.value, "kind").Text, field1(s.value, "key").Text
		if kind == "" || key == "" {
			return ""
		}
		return fmt.Sprintf("%s: sets the query parameter `%s`. Its control is of kind %s.",
			escapeMarkdown(field1(s.value, "name").Text), strings.ReplaceAll(key, "`", ""), escapeMarkdown(kind))
	case isBuiltIn(s):
		return builtInFeatures[s.name]
	}
	return ""
}

var builtInFeatures = map[string]string{
	signpost.FeatureAuthentication: "Built in. Appends the user's access token, required, to the endpoints whose URL ends in `/media`.",
	signpost.FeatureGeoRestriction: "Built in. Appends `signedDeviceInfoToken`, optional, to every endpoint.",
}
