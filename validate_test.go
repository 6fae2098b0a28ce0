package signpost_test

import (
	"encoding/json"
	"fmt"
	"math"
	"strconv"
	"strings"
	"testing"

	"signpost"
	"signpost/internal/testkit"
)

const (
	goodURL = "https://{{host}}/v1/feeds"

	// goodFeed describes an endpoint with a modifier of every kind.
	goodFeed = `{"name": "feeds", "method": "get", "mime_type": "application/json",
"context_obj": [{"key": "locale", "type": "ctx"}, {"key": "token", "type": "ctx", "required": true}],
"modifiers": [
	{"id": "search", "name": "Search", "params": [{"key": "search", "ui": {"label": "Search"}, "schema": {"type": "string"}}]},
	{"id": "limit", "name": "Limit", "params": [{"key": "limit", "ui": {"label": "Limit"}, "schema": {"type": "number"}}]},
	{"id": "live", "name": "Live", "params": [{"key": "live", "ui": {"label": "Live"}, "schema": {"type": "boolean"}}]},
	{"id": "sort", "name": "Sort", "params": [{"key": "sort", "ui": {"label": "Sort", "options": [
		{"value": "newest", "label": "Newest"}, {"value": "title", "label": "Title"}]},
		"schema": {"type": "string", "enum": ["newest", "title"]}}]}]}`
)

// goodEndpoint returns the endpoint that goodFeed describes.
func goodEndpoint(t testing.TB) signpost.Endpoint {
	t.Helper()
	return parse(t, `{"endpoints": {"`+goodURL+`": `+goodFeed+`}}`).Endpoints[0]
}

// described lists findings, all of which must be errors without a file position, with their hints and the values that
// certainly fix them.
func described(t testing.TB, findings []signpost.Finding) string {
	t.Helper()
	var out strings.Builder
	for _, f := range findings {
		path := f.Path.String()
		if url := f.Path.Endpoint(); strings.Contains(url, ":") {
			path = strings.TrimPrefix(strings.TrimPrefix(path, url), ".")
		}
		fmt.Fprintln(&out, strings.TrimSpace(path+" "+f.Rule+": "+f.Message))
		if f.Hint != "" {
			fmt.Fprintln(&out, "hint:", f.Hint)
		}
		if f.Replacement != nil {
			fmt.Fprintf(&out, "fix: %T %[1]v\n", f.Replacement)
		}
		if f.Severity != signpost.SeverityError || f.File != "" || f.Line != 0 || f.Column != 0 {
			t.Errorf("not an error without a place: %+v", f)
		}
	}
	return out.String()
}

func TestValidate(t *testing.T) {
	testkit.Cases(t, "testdata/validate.golden", func(input string) string {
		feed := input
		if old, new, ok := strings.Cut(input, " => "); ok {
			if feed = strings.Replace(goodFeed, old, new, 1); !strings.Contains(goodFeed, old) {
				t.Errorf("there is no %s", old)
			}
		}
		return described(t, parse(t, `{"endpoints": {"`+goodURL+`": `+feed+`}}`).Validate())
	})
}

// TestURLs shows what is wrong with URLs and, if nothing is, their scheme, host, port, path, query and placeholders.
func TestURLs(t *testing.T) {
	testkit.Cases(t, "testdata/urls.golden", func(raw string) string {
		u, cut := signpost.URL{}, signpost.CutURL(raw)
		if cut.String() != raw || (cut.Scheme() != "") != (cut.Origin() != "") || !strings.HasPrefix(strings.ToLower(raw), cut.Origin()) {
			t.Errorf("%q is read as %q, and its origin is %q", raw, cut, cut.Origin())
		}
		findings := signpost.NewManifest(feed(raw)).Validate()
		if len(findings) == 0 {
			u = cut
		}
		parsed, err := signpost.ParseURL(raw)
		if parsed != u || (err == nil) != (len(findings) == 0) || err != nil && err.Error() != findings[0].Message {
			t.Errorf("%q is parsed as %q, %v", raw, parsed, err)
		}
		if len(findings) > 0 {
			return strings.ReplaceAll(strings.TrimPrefix(described(t, findings), raw+" "), strconv.Quote(raw), "…")
		}
		out := fmt.Sprintf("%q\n", append([]string{u.Scheme(), u.Hostname(), u.Port(), u.Path(), u.Query()}, u.Placeholders()...))
		if resolved := u.Resolve("a.example").String(); resolved != raw || u.HasHostPlaceholder() {
			out += resolved + "\n"
		}
		return out
	})
}

// Findings are in the order of the endpoints, which may use the same ids and keys. A fix makes no URL that is invalid, too, or that
// another endpoint has or gets.
func TestValidateManifest(t *testing.T) {
	m := signpost.NewManifest(named("https://{{host}}/z", ""), named("/m", ""), goodEndpoint(t), goodEndpoint(t), goodEndpoint(t),
		feed("https://{host}/z"), feed("{host}/a"), feed("https://{host}/y"), feed("https://{HOST}/y"))
	m.Endpoints[3].URL += "/other"
	var got []string
	for _, f := range m.Validate() {
		got = append(got, fmt.Sprint(f.Path, " ", f.Rule, " ", f.Replacement))
	}
	want := []string{
		"https://{{host}}/z.name required-field <nil>", "/m url <nil>", "/m.name required-field <nil>", goodURL + " duplicate-key <nil>",
		"https://{host}/z url <nil>", "{host}/a url <nil>", "https://{host}/y url https://{{host}}/y", "https://{HOST}/y url <nil>",
	}
	testkit.Equal(t, "findings", got, want)
}

// Features and modifiers can be validated alone.
func TestValidateParts(t *testing.T) {
	got := described(t, signpost.Feature{ContextObj: ctx("a", "a")}.Validate()) +
		described(t, signpost.Select(signpost.ModifierInput{ID: "sort", Name: "Sort", Key: "sort", Label: "Sort", DefaultValue: true}).Validate())
	const want = `name required-field: feature has no name
context_obj[1].key context-duplicate: context key "a" is declared twice
params[0].ui.options select-options: a select has no options
hint: list each value with its label
params[0].schema.default modifier-default: default true is not a string
hint: put it in quotes
fix: string true
`
	testkit.Equal(t, "findings", got, want)
	for _, f := range append(signpost.BuiltIn(), signpost.Feature{Name: "kids"}) {
		testkit.Equal(t, f.Name, described(t, f.Validate()), "")
	}
	for _, m := range goodEndpoint(t).Modifiers {
		testkit.Equal(t, m.Name, described(t, m.Validate()), "")
	}
}

// A default may have any Go type that JSON has a number for.
func TestValidateGoDefaults(t *testing.T) {
	for _, value := range []any{0, uint8(1), 1.5, math.Inf(1), math.Inf(-1), math.NaN(), []any{1}, json.Number(".5")} {
		_, err := json.Marshal(value)
		_, list := value.([]any)
		m := signpost.Number(signpost.ModifierInput{ID: "m", Name: "M", Key: "m", Label: "M", DefaultValue: value})
		if got := m.Validate(); (len(got) == 0) != (err == nil && !list) {
			t.Errorf("%v: %v", value, got)
		}
	}
}
