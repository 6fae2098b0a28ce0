package definition

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"signpost"
	"signpost/internal/testkit"
)

// minimal is a valid definition, for tests that add one thing to it.
const minimal = `
versions:
  v1:
    endpoints:
      https://{{host}}/v1/feeds: {name: Feeds, method: get, mime_type: application/json}
      https://{{host}}/v1/media: {name: Media, method: get, mime_type: application/json}
`

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
}

func TestFormatIsToldByNameThenByText(t *testing.T) {
	testkit.Cases(t, "testdata/formats.golden", func(input string) string {
		name, text, _ := strings.Cut(input, " ")
		if findings := Lint(Parse(name, []byte(text))); len(findings) > 0 {
			return fmt.Sprint(findings[0])
		}
		return "fine"
	})
}

// Features given replace those of the file. An override keeps what it leaves out: without a suffix, it must not send the token to
// more endpoints than before.
func TestCompileAppliesFeatures(t *testing.T) {
	const token, device = "plugin-login-flow.access_token", "signedDeviceInfoToken"
	const kids = "enable: [authentication]\nfeatures: {kids: {url_suffix: /feeds, context_obj: [{key: profile, type: ctx}]}}"
	const other = "enable: [authentication]\nfeatures: {authentication: {context_obj: [{key: other.token, type: ctx, required: true}]}}"
	for _, test := range []struct {
		text         string
		features     []string
		feeds, media string
	}{
		{kids, nil, "", token},
		{kids, []string{}, "", ""},
		{kids, []string{"geo-restriction"}, device, device},
		{kids, []string{"kids", "geo-restriction", "authentication"}, device + " profile", token + " " + device},
		{other, nil, "", "other.token"},
		{"enable: [authentication]\nfeatures: {authentication: {url_suffix: ''}}", nil, token, token},
	} {
		templates := testkit.Must(Parse("f.yaml", []byte(test.text+minimal)).Compile(test.features))(t)
		for i, e := range templates["v1"].Manifest().Endpoints {
			var keys []string
			for _, item := range e.ContextObj {
				keys = append(keys, item.Key)
			}
			if got, want := strings.Join(keys, " "), []string{test.feeds, test.media}[i]; got != want {
				t.Errorf("%s with %v: %s has %q, not %q", test.text, test.features, e.URL, got, want)
			}
		}
	}
	if _, err := Parse("f.yaml", []byte(minimal)).Compile([]string{"watermarks"}); err == nil || !strings.Contains(err.Error(), `"watermarks"`) {
		t.Errorf("an unknown feature gives %v", err)
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
	versions := testkit.Must(f.Manifests(nil))(t)
	endpoints := versions[0].Manifest.Endpoints
	want := endpoints[1].Clone()
	param := &endpoints[0].Modifiers[0].Params[0]
	param.UI.Options[0].Value, param.Schema.Enum[0] = "changed", "changed"
	again, _ := f.Manifests(nil)
	for i, e := range append(again[0].Manifest.Endpoints, endpoints[1]) {
		if diff := cmp.Diff(want.Modifiers, e.Modifiers); diff != "" {
			t.Errorf("%d: the change shows (-want +got):\n%s", i, diff)
		}
	}
}

// A manifest is strict JSON, and findings are about its endpoint, if there is one.
func TestParseManifest(t *testing.T) {
	testkit.Cases(t, "testdata/manifests.golden", func(text string) string {
		file := ParseManifest("m", []byte(text))
		if !file.Served() {
			t.Errorf("%s is not that of a service", text)
		}
		var out strings.Builder
		for _, f := range Lint(file) {
			fmt.Fprintln(&out, f.Path.Endpoint(), f)
		}
		return out.String()
	})
}

func FuzzParse(f *testing.F) {
	for _, text := range corpus(f, "ok", "err") {
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
			read := ParseManifest("m.json", out).Readable(nil)[0].Manifest
			if again, err := read.MarshalJSON(); string(again)+"\n" != string(out) {
				t.Errorf("read as a manifest, it is another one: %v\n%s\n%s", err, out, again)
			}
			if bytes.Contains(text, []byte("+")) { // what is beyond the specification needs a plus in a definition
				continue
			}
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

// TestOwnHost: URLs on the host of the address that a manifest comes from, and on subdomains of it, are the service's own.
// Without an address nothing tells which are.
func TestOwnHost(t *testing.T) {
	var endpoints []string
	for _, url := range []string{"https://own.example/a", "https://media.own.example/b", "https://media.example/c"} {
		endpoints = append(endpoints, fmt.Sprintf(`%q: {"name": %[1]q, "method": "get", "mime_type": "application/json", "context_obj": [{"key": "k", "type": "ctx", "required": true}]}`, url))
	}
	text := `{"endpoints": {` + strings.Join(endpoints, ", ") + "}}"
	for name, want := range map[string]string{
		"HTTP://OWN.example:80/v1/endpoints-manifest": "[https://media.example/c]",
		"https://other.example/v1/endpoints-manifest": "[https://own.example/a https://media.own.example/b https://media.example/c]",
		"oci://own.example/feeds:prod":                "[]",
		"saved.json":                                  "[]",
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
