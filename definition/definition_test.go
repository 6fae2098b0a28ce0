package definition

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"signpost"
)

// minimal is a valid definition, for tests that add one thing to it.
const minimal = `
versions:
  v1:
    endpoints:
      https://{{host}}/v1/feeds: {name: Feeds, method: get, mime_type: application/json}
      https://{{host}}/v1/media: {name: Media, method: get, mime_type: application/json}
`

// render compiles a valid text and returns its first version for a host.
func render(t *testing.T, name, text, host string, features []string) string {
	t.Helper()
	f := Parse(name, []byte(text))
	templates, err := f.Compile(features)
	if err != nil {
		t.Fatal(err)
	}
	out, err := templates[f.Versions()[0]].Render(host)
	if err != nil {
		t.Fatal(err)
	}
	return string(out)
}

// JSON is also YAML, so both parsers must find the same things in the same places.
func TestJSONAndYAMLGiveTheSamePlaces(t *testing.T) {
	text := `{
  "sérvice": "é",
  "base_path": 7,
  "enable": ["authentification", "geo-restriction"],
  "features": {"x": {"context_obj": [{"key": "k", "type": "cookie", "bogus": null}]}},
  "modifiers": {"limit": {"kind": "number", "id": "l", "name": "Ü", "key": "ctx", "label": "L", "defaultValue": "x"}},
  "versions": {
    "v1": {
      "endpoints": {
        "https://{{host}}/ü": {"name": "é", "method": "GET", "mime_type": "json", "modifiers": ["limit", "limt", 5]},
        "https://{{host}}/v2/x": {"name": "", "name": "again", "method": "get", "mime_type": "application/json"}
      }
    },
    "v2": {}
  }
}`
	fromJSON, fromYAML := Lint(Parse("f.json", []byte(text))), Lint(Parse("f.yaml", []byte(text)))
	for i := range fromYAML {
		fromYAML[i].File = "f.json"
	}
	if diff := cmp.Diff(fromJSON, fromYAML); diff != "" {
		t.Errorf("JSON and YAML differ (-json +yaml):\n%s", diff)
	}
	if len(fromJSON) < 12 {
		t.Errorf("only %d findings: %v", len(fromJSON), fromJSON)
	}
	for _, f := range fromJSON { // the text at the position is what the message quotes
		line := []rune(strings.Split(text, "\n")[f.Line-1])
		at := string(line[f.Column-1 : f.Column-1+f.Width])
		if f.Rule == "method" && at != `"GET"` || f.Rule == "unknown-modifier" && at != `"limt"` {
			t.Errorf("%v points at %s", f, at)
		}
	}
}

func TestFormatIsToldByNameThenByText(t *testing.T) {
	yamlOnly := "{versions: {v1: {endpoints: {}}}, allow: {no-endpoints: x}} # a comment"
	jsonOnly := `{"versions": {"v1": {"endpoints": {"https:\/\/{{host}}\/a": {"name": "\ud83d\ude00", "method": "get", "mime_type": "application/json"}}}}}`
	for _, test := range []struct {
		name, text string
		fine       bool
	}{
		{"f.yaml", yamlOnly, true},
		{"f.json", yamlOnly, false},
		{"<stdin>", yamlOnly, true},
		{"f.json", jsonOnly, true},
		{"<stdin>", jsonOnly, true},
		{"F.JSON", "\ufeff" + jsonOnly, true},
		{"f.yml", "\ufeff" + yamlOnly, true},
	} {
		if findings := Lint(Parse(test.name, []byte(test.text))); (len(findings) == 0) != test.fine {
			t.Errorf("%s %.20q: %v", test.name, test.text, findings)
		}
	}
}

func TestCompileAppliesFeatures(t *testing.T) {
	text := "enable: [authentication]\nfeatures: {kids: {url_suffix: /feeds, context_obj: [{key: profile, type: ctx}]}}" + minimal
	const token, device, profile = "plugin-login-flow.access_token", "signedDeviceInfoToken", "profile"
	for _, test := range []struct {
		features []string
		want     map[string]int
	}{
		{nil, map[string]int{token: 1, device: 0, profile: 0}},
		{[]string{}, map[string]int{token: 0, device: 0, profile: 0}},
		{[]string{"geo-restriction"}, map[string]int{token: 0, device: 2, profile: 0}},
		{[]string{"kids", "geo-restriction", "authentication"}, map[string]int{token: 1, device: 2, profile: 1}},
	} {
		out := render(t, "f.yaml", text, "h.example", test.features)
		for key, want := range test.want {
			if got := strings.Count(out, `"`+key+`"`); got != want {
				t.Errorf("features %v: %q is there %d times, not %d", test.features, key, got, want)
			}
		}
	}
	if _, err := Parse("f.yaml", []byte(text)).Compile([]string{"watermarks"}); err == nil || !strings.Contains(err.Error(), `"watermarks"`) {
		t.Errorf("an unknown feature gives %v", err)
	}
}

// An override without a suffix must not send the token to more endpoints than before.
func TestOverriddenFeatureKeepsWhatItLeavesOut(t *testing.T) {
	text := "enable: [authentication]\nfeatures: {authentication: {context_obj: [{key: other.token, type: ctx, required: true}]}}" + minimal
	out := render(t, "f.yaml", text, "h.example", nil)
	if n := strings.Count(out, "other.token"); n != 1 || strings.Contains(out, "plugin-login-flow") {
		t.Errorf("the other token is there %d times:\n%s", n, out)
	}
	text = "enable: [authentication]\nfeatures: {authentication: {url_suffix: ''}}" + minimal
	if n := strings.Count(render(t, "f.yaml", text, "h.example", nil), "plugin-login-flow"); n != 2 {
		t.Errorf("with an empty suffix the token is on %d endpoints, not 2", n)
	}
}

// Spec section 2.5: each endpoint has its own copy of a shared modifier.
func TestSharedModifiersAreIndependent(t *testing.T) {
	text := `
modifiers: {sort: {kind: select, id: sort, name: Sort, key: sort, label: Sort, options: [{value: a, label: A}]}}
versions:
  v1:
    endpoints:
      https://{{host}}/a: &feed {name: A, method: get, mime_type: application/json, modifiers: [sort]}
      https://{{host}}/b: *feed
`
	f := Parse("f.yaml", []byte(text))
	versions, err := f.Manifests(nil)
	if err != nil {
		t.Fatal(err)
	}
	m := versions[0].Manifest
	m.Endpoints[0].Modifiers[0].Params[0].UI.Options[0].Value = "changed"
	m.Endpoints[0].Modifiers[0].Params[0].Schema.Enum[0] = "changed"
	again, err := f.Manifests(nil)
	for _, e := range append(again[0].Manifest.Endpoints, m.Endpoints[1]) {
		if got := e.Modifiers[0].Params[0]; err != nil || got.UI.Options[0].Value != "a" || got.Schema.Enum[0] != "a" {
			t.Errorf("the change shows in %s: %+v", e.URL, got)
		}
	}
}

func TestParseManifest(t *testing.T) {
	const endpoint = `"https://a.example/v1/feeds": {"name": "Feeds", "method": "get", "mime_type": "application/json"`
	for _, test := range []struct{ text, want string }{
		{`{"endpoints": {` + endpoint + `}}}`, "[]"},
		{`{"endpoints": {` + endpoint + `, "modifiers": [{"id": "a", "name": "A", "params": [{"key": "a", "ui": {"label": "A"}, "schema": {"type": "string"}}]}]}}}`, "[]"},
		{`{}`, `[m:1:1: error: the manifest has no endpoints [required-field]]`},
		{`[]`, `[m:1:1: error: the manifest must be an object, not a list [wrong-type]]`},
		{`{"endpoints": {}, "version": 1}`, `[m:1:19: error: unknown field "version" in the manifest [unknown-field]]`},
		{`{"endpoints": {` + endpoint + `, "modifiers": ["limit"]}}}`, `[m:1:128: error: modifier must be an object, not text [wrong-type]]`},
		{`endpoints: {}`, `[m:1:1: error: "endpoints" where JSON begins with { [syntax]]`},
	} {
		file := ParseManifest("m", []byte(test.text))
		if got := fmt.Sprint(Lint(file)); got != test.want || !file.Served() {
			t.Errorf("%s\ngot  %s\nwant %s", test.text, got, test.want)
		}
		for _, f := range Lint(file) {
			if inside := strings.Contains(test.text, endpoint); inside != (f.Path.Endpoint() == "https://a.example/v1/feeds") {
				t.Errorf("%v is about %q", f, f.Path.Endpoint())
			}
		}
	}
}

func FuzzParse(f *testing.F) {
	for _, path := range slices.Concat(corpus(f, "ok"), corpus(f, "err")) {
		text, err := os.ReadFile(path)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		checkParse(t, "fuzz.yaml", text)
		checkParse(t, "fuzz.json", text)
	})
}

// checkParse checks the invariants of any file: findings have a position and are sorted; with an error, nothing can be
// served; without one, what is served is valid and, pasted back as a definition, gives the same manifest.
func checkParse(t *testing.T, name string, text []byte) {
	file := Parse(name, text)
	findings := Lint(file)
	lines := file.doc.Lines()
	refused := false
	for i, f := range findings {
		if f.Line < 1 || f.Line > lines+1 || f.Column < 1 || f.Width < 1 || f.Rule == "" || f.Message == "" {
			t.Errorf("finding without a place or a text: %#v", f)
		}
		if i > 0 && (f.Line < findings[i-1].Line || f.Line == findings[i-1].Line && f.Column < findings[i-1].Column) {
			t.Errorf("findings are not in order: %v, then %v", findings[i-1], f)
		}
		refused = refused || f.Severity == signpost.SeverityError
	}
	templates, err := file.Compile(nil)
	if refused {
		if templates != nil || err == nil {
			t.Fatalf("a file with errors was compiled: %v", findings)
		}
		return
	}
	if err != nil {
		t.Fatalf("a file without errors was not compiled: %v", err)
	}
	for version, template := range templates {
		for _, host := range []string{"feeds.example.com", "[2001:db8::1]"} {
			out, err := template.Render(host)
			if misfit := new(signpost.HostError); errors.As(err, &misfit) && host[0] == '[' {
				continue // such as {{host}}.example.com for an IP address
			}
			if err != nil {
				t.Fatal(err)
			}
			checkManifest(t, template.Manifest(), out, host)
			pasted := fmt.Sprintf(`{"versions": {%q: %s}}`, version, out)
			back := Parse("pasted.json", []byte(pasted))
			templates, err := back.Compile(nil)
			if err != nil {
				t.Fatalf("the manifest cannot be pasted back: %v\n%s", err, pasted)
			}
			if again, _ := templates[version].Render("other.example.com"); !bytes.Equal(out, again) {
				t.Errorf("pasted back, the manifest is another one\n%s\n%s", out, again)
			}
		}
	}
}

// checkManifest compares a rendered manifest with that of its template: valid JSON, no duplicate keys, the host in
// place of {{host}}, and all other placeholders untouched.
func checkManifest(t *testing.T, before signpost.Manifest, out []byte, host string) {
	t.Helper()
	if !json.Valid(out) {
		t.Fatalf("not JSON: %s", out)
	}
	var after signpost.Manifest
	if err := json.Unmarshal(out, &after); err != nil { // also rejects duplicate endpoints
		t.Fatal(err)
	}
	want := make(map[string]bool)
	for _, e := range before.Endpoints {
		want[strings.ReplaceAll(e.URL, "{{host}}", host)] = true
	}
	for _, e := range after.Endpoints {
		if !want[e.URL] || strings.Contains(e.URL, "{{host}}") {
			t.Errorf("URL %q is not one of the definition's", e.URL)
		}
		delete(want, e.URL)
	}
	if len(want) > 0 {
		t.Errorf("URLs are missing: %v", want)
	}
}

// TestOwnHost: URLs on the host of the address that a manifest comes from are the service's own, and otherwise those on
// the host that most URLs have.
func TestOwnHost(t *testing.T) {
	var endpoints []string
	for _, url := range []string{"https://own.example/a", "https://media.example/b", "https://media.example/c"} {
		endpoints = append(endpoints, fmt.Sprintf(`%q: {"name": %[1]q, "method": "get", "mime_type": "application/json", "context_obj": [{"key": "k", "type": "ctx", "required": true}]}`, url))
	}
	text := `{"endpoints": {` + strings.Join(endpoints, ", ") + "}}"
	for name, want := range map[string]string{
		"HTTP://OWN.example:80/v1/endpoints-manifest": "[https://media.example/b https://media.example/c]",
		"https://other.example/v1/endpoints-manifest": "[https://own.example/a]",
		"oci://own.example/feeds:prod":                "[https://own.example/a]",
		"saved.json":                                  "[https://own.example/a]",
	} {
		var foreign []string
		for _, f := range Lint(ParseManifest(name, []byte(text))) {
			foreign = append(foreign, f.Path.Endpoint())
		}
		if got := fmt.Sprint(foreign); got != want {
			t.Errorf("%s: %s", name, got)
		}
	}
}

// TestHintListsSomeNames: a hint lists the first names, and counts the others.
func TestHintListsSomeNames(t *testing.T) {
	text := "modifiers:\n" + repeated(maxListed+3, "  m%d: {kind: text, id: m%[1]d, name: M, key: k%[1]d, label: M}\n") +
		"versions: {v1: {endpoints: {\"https://{{host}}/a\": {name: A, method: get, mime_type: application/json, modifiers: [quality]}}}}\n"
	findings := Errors(Parse("f.yaml", []byte(text)))
	if len(findings) != 1 || findings[0].Hint != "known: m0, m1, m2, m3, m4, m5, m6, m7, m8, m9, m10, m11 and 3 more" {
		t.Errorf("got %v, hint %q", findings, findings[0].Hint)
	}
}
