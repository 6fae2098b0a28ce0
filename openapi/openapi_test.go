package openapi_test

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"signpost"
	"signpost/definition"
	"signpost/internal/testkit"
	"signpost/openapi"
)

// corpus lists the golden files: a document, and the options to import it with.
var corpus = []struct {
	input, golden string
	opts          openapi.Options
}{
	{"video-3.0.yaml", "video-3.0.golden", openapi.Options{}},
	{"video-3.0.yaml", "video-3.0.all.golden", openapi.Options{Post: true, Deprecated: true, Version: "v7"}},
	{"video-3.0.yaml", "video-3.0.third-party.golden", openapi.Options{ThirdParty: true}},
	{"video-3.0.yaml", "video-3.0.chosen.golden", openapi.Options{Tags: []string{"Catalogue", "sports"}, Paths: []string{"/shows", "*/episodes", "/nowhere*"}}},
	{"video-3.1.json", "video-3.1.golden", openapi.Options{Post: true}},
	{"servers.yaml", "servers.golden", openapi.Options{}},
	{"servers.yaml", "servers.third-party.golden", openapi.Options{ThirdParty: true}},
	{"third.json", "third.golden", openapi.Options{ThirdParty: true}},
	{"files/api.yaml", "files.golden", openapi.Options{}},
	{"parts/api/api.yaml", "parts.golden", openapi.Options{Files: os.DirFS("testdata/parts"), Path: "api/api.yaml"}},
	{"hosts.yaml", "hosts.golden", openapi.Options{}},
	{"names.yaml", "names.golden", openapi.Options{}},
	{"security.yaml", "security.golden", openapi.Options{}},
	{"security.yaml", "security.context.golden", openapi.Options{Context: map[string]string{"bearerAuth": "plugin-login-flow.access_token", "queryKey": "plugin-login-flow.access_token", "devise": "device"}}},
	{"media.yaml", "media.golden", openapi.Options{}},
	{"media.yaml", "media.type.golden", openapi.Options{MIMEType: signpost.MIMEFeed}},
}

func TestGolden(t *testing.T) {
	inputs := testkit.Must(filepath.Glob("testdata/*.[yj]*"))(t)
	for _, c := range corpus {
		t.Run(c.golden, func(t *testing.T) {
			path := filepath.Join("testdata", c.input)
			inputs = slices.DeleteFunc(inputs, func(name string) bool { return name == path })
			result := importFile(t, path, c.opts)
			if again := importFile(t, path, c.opts); !cmp.Equal(result, again) {
				t.Errorf("a second run gives something else:\n%s", cmp.Diff(result, again))
			}
			wantNothingLost(t, result)
			for _, f := range lint(t, result) {
				chosen := f.Rule == "version-not-declared" && c.opts.Version != "" // URLs may name another version
				if f.Rule != "plain-http" && !chosen {                             // third parties may use plain http
					t.Errorf("lint finds something: %v", f)
				}
			}

			got := string(result.Definition) + "\nNotes:\n"
			for _, n := range result.Notes {
				got += n.String() + "\n"
			}
			testkit.Golden(t, filepath.Join("testdata", c.golden), got)
		})
	}
	if len(inputs) > 0 {
		t.Errorf("no test imports %q", inputs)
	}
}

func importFile(t *testing.T, path string, opts openapi.Options) *openapi.Result {
	t.Helper()
	if opts.Files == nil {
		opts.Files = os.DirFS(filepath.Dir(path))
	}
	return testkit.Must(openapi.Import(path, []byte(testkit.Read(t, path)), opts))(t)
}

func importText(t *testing.T, text string, opts openapi.Options) *openapi.Result {
	t.Helper()
	result, err := openapi.Import("api.yaml", []byte(text), opts)
	if err != nil {
		t.Fatalf("%v in\n%s", err, text)
	}
	return result
}

// lint returns the findings of the definition, which must have no errors and must compile.
func lint(t *testing.T, r *openapi.Result) []signpost.Finding {
	t.Helper()
	endpoints(t, r)
	return definition.Lint(definition.Parse("feeds.yaml", r.Definition))
}

// endpoints returns the endpoints of all versions of the definition.
func endpoints(t *testing.T, r *openapi.Result) []signpost.Endpoint {
	t.Helper()
	file := definition.Parse("feeds.yaml", r.Definition)
	templates, err := file.Compile(nil)
	if err != nil {
		t.Fatalf("the definition is refused: %v\n%s", err, r.Definition)
	}
	var all []signpost.Endpoint
	for _, version := range file.Versions() {
		if _, err := templates[version].Render("feeds.example.com"); err != nil {
			t.Fatalf("version %s cannot be rendered: %v\n%s", version, err, r.Definition)
		}
		all = append(all, templates[version].Manifest().Endpoints...)
	}
	if len(all) != r.Endpoints {
		t.Errorf("the definition has %d endpoints, not %d:\n%s", len(all), r.Endpoints, r.Definition)
	}
	return all
}

// wantNothingLost checks that each note is a single line and also a comment in the definition.
func wantNothingLost(t *testing.T, r *openapi.Result) {
	t.Helper()
	for _, n := range r.Notes {
		if line := n.String(); strings.ContainsAny(line, "\n\r\x1b") || n.Line < 1 {
			t.Errorf("note %q is not one line with a place", line)
		}
		if message := strings.TrimPrefix(n.Message, "left out: "); !strings.Contains(string(r.Definition), message) {
			t.Errorf("note %q is not in the definition:\n%s", message, r.Definition)
		}
	}
}

// wantNote checks that one of the notes contains a text or, if that is empty, that there are none.
func wantNote(t *testing.T, input string, r *openapi.Result, want string) {
	t.Helper()
	if notes := fmt.Sprint(r.Notes); !strings.Contains(notes, want) || want == "" && len(r.Notes) > 0 {
		t.Errorf("%s is noted %s, want %q", input, notes, want)
	}
}

// TestRejected shows why a document is rejected as a whole.
func TestRejected(t *testing.T) {
	testkit.Cases(t, "testdata/rejected.golden", func(text string) string {
		result, err := openapi.Import("api.yaml", []byte(text), openapi.Options{})
		if result != nil || err == nil {
			t.Errorf("Import(%q) gives the error %v and the result %v", text, err, result)
		}
		return fmt.Sprint(err)
	})
	for _, opts := range []openapi.Options{{Version: "1"}, {Version: "v0"}, {MIMEType: "json"}, {Context: map[string]string{"login": ""}}} {
		if _, err := openapi.Import("api.yaml", []byte("openapi: 3.0.0"), opts); err == nil {
			t.Errorf("options %v are accepted", opts)
		}
	}
}

func TestLimits(t *testing.T) {
	large := "openapi: 3.0.0\n# " + strings.Repeat("x", openapi.MaxSize)
	if _, err := openapi.Import("api.yaml", []byte(large), openapi.Options{}); err == nil || !strings.Contains(err.Error(), "larger than 64 MiB") {
		t.Errorf("a document that is too large gives %v", err)
	}

	// YAML does not allow longer keys, unless they are marked.
	long := "/" + strings.Repeat("x", 1000)
	imported := importText(t, "openapi: 3.0.0\npaths:\n  ? "+long+"\n  : {get: {}}", openapi.Options{})
	testkit.Equal(t, "a long path", endpoints(t, imported)[0].URL, "https://{{host}}"+long)

	deep := strings.Repeat("{allOf: [", 101) + strings.Repeat("]}", 101)
	nested := importText(t, "openapi: 3.0.0\npaths: {/a: {get: {parameters: [{name: a, in: query, schema: "+deep+"}]}}}", openapi.Options{})
	wantNote(t, "a deep schema", nested, "its schema leads back to itself, or is nested more than 100 levels deep")

	// However many parameters came before, each is read on its own.
	many := strings.Repeat("{name: p%d, in: query, schema: {allOf: [{type: integer}]}}, ", 130)
	for i := range 130 {
		many = strings.Replace(many, "%d", fmt.Sprint(i), 1)
	}
	if result := importText(t, "openapi: 3.0.0\npaths: {/a: {get: {parameters: ["+many+"]}}}", openapi.Options{}); len(endpoints(t, result)[0].Modifiers) != 130 {
		t.Errorf("130 parameters give other modifiers:\n%s", result.Definition)
	}

	// Repeated references to one long list could take any amount of memory.
	var doc strings.Builder
	doc.WriteString("openapi: 3.0.0\nx-many: [" + strings.Repeat("t, ", 5000) + "]\npaths:\n")
	for i := range 1200 {
		fmt.Fprintf(&doc, "  /p%d: {get: {tags: {$ref: '#/x-many'}}}\n", i)
	}
	if _, err := openapi.Import("api.yaml", []byte(doc.String()), openapi.Options{Tags: []string{"u", "t"}}); err == nil || !strings.Contains(err.Error(), "with its references resolved") {
		t.Errorf("a document that expands to too much gives %v", err)
	}
}

// TestEmpty imports documents without any endpoint. The definition still passes lint.
func TestEmpty(t *testing.T) {
	for _, text := range []string{
		"openapi: 3.1.0", "openapi: 3.0", "openapi: '3'", "openapi: 3.0.0\npaths:", "openapi: 3.0.0\npaths: []",
		"openapi: 3.0.0\npaths: {/a: {get: null, put: 5}}", `{"openapi": "3.1.0", "webhooks": {}}`,
	} {
		result := importText(t, text, openapi.Options{Version: "v2"})
		if all := endpoints(t, result); len(all) > 0 {
			t.Errorf("%q gives %v", text, all)
		}
		if !strings.Contains(string(result.Definition), "\nversions:\n  v2:\n") {
			t.Errorf("%q gives another version than v2:\n%s", text, result.Definition)
		}
	}
}

// TestPaths imports paths of a document. It shows the version, URL, name and type of each endpoint, the shared modifiers, what
// lint finds, and the notes.
func TestPaths(t *testing.T) {
	testkit.Cases(t, "testdata/paths.golden", func(paths string) string {
		opts := openapi.Options{MIMEType: "text/csv"}
		if strings.Contains(paths, "responses") {
			opts.MIMEType = ""
		}
		result := importText(t, "openapi: 3.0.0\npaths: {"+paths+"}", opts)
		file := definition.Parse("feeds.yaml", result.Definition)
		var out strings.Builder
		for _, version := range file.Readable(nil) {
			for _, e := range version.Manifest.Endpoints {
				fmt.Fprintln(&out, version.Name, e.URL, strconv.Quote(e.Name), e.MIMEType)
			}
		}
		if _, shared, ok := strings.Cut(string(result.Definition), "\nmodifiers:\n"); ok {
			shared, _, _ = strings.Cut(shared, "\n\n")
			fmt.Fprintln(&out, "shared:", strings.TrimSpace(shared))
		}
		for _, f := range lint(t, result) {
			fmt.Fprintln(&out, "lint:", f.Rule)
		}
		return out.String() + notes(result)
	})
}

// notes lists the notes of an import.
func notes(r *openapi.Result) string {
	var out strings.Builder
	for _, n := range r.Notes {
		fmt.Fprintln(&out, "note:", n.Message)
	}
	return out.String()
}

// URLs of third parties do not tell the version.
func TestVersionOption(t *testing.T) {
	for want, opts := range map[string]openapi.Options{"v4": {}, "v9": {Version: "v9"}, "v1": {ThirdParty: true}, "v5": {ThirdParty: true, Version: "v5"}} {
		result := importText(t, "openapi: 3.0.0\nservers: [{url: 'https://api.example.com/v4'}]\npaths: {/a: {get: {}}}", opts)
		endpoints(t, result)
		if got := definition.Parse("feeds.yaml", result.Definition).Versions(); len(got) != 1 || got[0] != want {
			t.Errorf("%+v gives the versions %q", opts, got)
		}
	}
}

// TestFiles follows a reference to a parameter, which leads to a file in the directory of the document and nowhere else. It
// shows the modifier or the notes, first with that directory and then without.
func TestFiles(t *testing.T) {
	files := fstest.MapFS{
		"docs/beside.yaml": {Data: []byte("{name: beside, in: query, schema: {type: string}}")},
		"docs/empty.yaml":  {},
		"docs/pipe.yaml":   {Mode: fs.ModeNamedPipe, Data: []byte("{name: pipe, in: query, schema: {type: string}}")},
		"above.yaml":       {Data: []byte("{name: above, in: query, schema: {type: string}}")},
	}
	testkit.Cases(t, "testdata/references.golden", func(ref string) string {
		var out strings.Builder
		for _, opts := range []openapi.Options{{Files: files, Path: "docs/api.yaml"}, {}} {
			opts.MIMEType = "text/csv"
			result := importText(t, "openapi: 3.1.0\npaths: {/a: {get: {parameters: [{$ref: '"+ref+"'}]}}}", opts)
			for _, m := range endpoints(t, result)[0].Modifiers {
				fmt.Fprintln(&out, "modifier:", m.ID)
			}
			out.WriteString(notes(result))
		}
		return out.String()
	})
}
