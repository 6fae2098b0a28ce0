package workspace

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"signpost"
	"signpost/internal/source"
	"signpost/internal/testkit"
)

// endpoint returns a definition with one endpoint, which requires a key unless that is empty.
func endpoint(base, url, key string) string {
	context := "[]"
	if key != "" {
		context = fmt.Sprintf("[{key: %s, type: ctx, required: true}]", key)
	}
	return fmt.Sprintf("base_path: %s\nversions:\n  v1:\n    endpoints:\n      https://{{host}}/v1%s: "+
		"{name: %[2]s, method: get, mime_type: application/json, context_obj: %[3]s}\n", base, url, context)
}

// rules returns the rules of findings with the base names of their files.
func rules(findings []signpost.Finding) string {
	var all []string
	for _, f := range findings {
		all = append(all, filepath.Base(f.File)+" "+f.Rule)
	}
	return strings.Join(all, ", ")
}

func names(files []*File) string {
	var all []string
	for _, f := range files {
		all = append(all, filepath.Base(f.Name))
	}
	return strings.Join(all, " ")
}

// TestLook follows a directory: each changed text is parsed once, the rest is reused, and everything is judged together
// after every change.
func TestLook(t *testing.T) {
	dir := t.TempDir()
	put := func(name, text string) { testkit.Write(t, filepath.Join(dir, name), text) }
	put("a.yaml", endpoint("/a", "/a", "token"))
	put("b.yaml", endpoint("/b", "/b", ""))
	put("notes.yaml", "just: notes")
	w := testkit.Must(Follow(t.Context(), new(source.Reader), Options{Hasty: true}, Arguments{Judged: []string{dir, filepath.Join(dir, "a.yaml")}}))(t)
	for i, step := range []struct {
		do                         func()
		parsed                     int
		changed, removed, findings string
	}{
		{func() {}, 2, "a.yaml b.yaml", "", ""},
		{func() {}, 2, "", "", ""},
		{func() { put("b.yaml", endpoint("/b", "/a/b", "")) }, 3, "b.yaml", "", "b.yaml overlap-drops-context"},
		{func() { put("c.yaml", endpoint("/b", "/c", "")) }, 4, "c.yaml", "", "b.yaml overlap-drops-context, c.yaml base-path"},
		{func() { put("c.yaml", "{") }, 5, "c.yaml", "", "b.yaml overlap-drops-context, c.yaml syntax"},
		{func() { os.Remove(filepath.Join(dir, "b.yaml")) }, 5, "", "b.yaml", "c.yaml syntax"},
		{func() { os.RemoveAll(dir) }, 5, "", "", "c.yaml syntax"}, // what was read stays
	} {
		step.do()
		before := w.last
		s := w.Look()
		testkit.Equal(t, fmt.Sprintf("step %d", i), fmt.Sprintf("%d; %s; %s; %s", w.parsed, names(s.Changed), names(s.Removed), rules(s.Findings())),
			fmt.Sprintf("%d; %s; %s; %s", step.parsed, step.changed, step.removed, step.findings))
		for _, f := range s.Files {
			if slices.Contains(before.Files, f) == slices.Contains(s.Changed, f) {
				t.Errorf("step %d: %s is parsed again, or not at all", i, f.Name)
			}
		}
	}
	if s := w.Look(); len(s.Failures) != 2 {
		t.Errorf("%d sources fail", len(s.Failures))
	}
}

// TestUnsaved lays a text over a file, without parsing the others again. The text on disk is there when it is needed.
func TestUnsaved(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "b.yaml")
	testkit.Write(t, filepath.Join(dir, "a.yaml"), endpoint("/a", "/a", "token"))
	testkit.Write(t, path, endpoint("/b", "/b", ""))
	w := testkit.Must(Follow(t.Context(), new(source.Reader), Options{Hasty: true}, Arguments{Judged: []string{dir}}))(t)
	for _, step := range []struct {
		unsaved  map[string]string
		findings string
		parsed   int
	}{
		{nil, "", 2},
		{map[string]string{path: endpoint("/b", "/a/b", "")}, "b.yaml overlap-drops-context", 3},
		{map[string]string{path: endpoint("/b", "/a/b", "")}, "b.yaml overlap-drops-context", 3},
		{nil, "", 4},
	} {
		w.Look()
		w.Lay(step.unsaved)
		if got := rules(w.last.Findings()); got != step.findings || w.parsed != step.parsed {
			t.Errorf("with %v: %q, %d texts parsed", step.unsaved, got, w.parsed)
		}
	}
}

// TestForget drops texts, and sees changes nevertheless.
func TestForget(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"a.yaml", "b.yaml"} {
		testkit.Write(t, filepath.Join(dir, name), endpoint("/"+name, "/"+name, ""))
	}
	sources := testkit.Must(new(source.Reader).Follow(dir))(t)
	w := New(Options{}, Source{Source: sources[0]})
	if first := w.Look(); len(first.Files[0].Text) == 0 {
		t.Error("there is no text at first")
	}
	w.Forget()
	for _, text := range []string{endpoint("/c", "/c", ""), "versions: 5"} {
		testkit.Write(t, filepath.Join(dir, "b.yaml"), text)
		s := w.Look()
		testkit.Equal(t, "changed", names(s.Changed), "b.yaml")
		for _, f := range s.Files {
			if f.Text != nil {
				t.Errorf("%s has a text", f.Name)
			}
		}
	}
	testkit.Equal(t, "findings", rules(w.Look().Findings()), "b.yaml wrong-type")
	if w.parsed != 4 {
		t.Errorf("%d texts are parsed", w.parsed)
	}
}

// TestRoles checks who takes part in what: of a project, the other definitions clash and overlap, and are not judged; what
// is registered overlaps only, and may be a manifest.
func TestRoles(t *testing.T) {
	t.Chdir(t.TempDir())
	for name, text := range map[string]string{
		"services/a.yaml": endpoint("/a", "/a", "token"),
		"services/b.yaml": endpoint("/b", "/a/b", ""),
		"services/c.yaml": endpoint("/b", "/c", ""),
		"services/d.yaml": "versions: 5\n",
		"export.json":     `{"endpoints": {"https://{{host}}/v1/a/b/e": {"name": "E", "method": "get", "mime_type": "application/json"}}}`,
		".signpost.yaml":  "definitions: [services/*.yaml]\nregistered: [export.json]\ncontext_keys: {token: The token}\n",
	} {
		testkit.Write(t, name, text)
	}
	testkit.OK(t, os.Symlink("services", "linked"))
	project := testkit.Must(ReadProject(".signpost.yaml"))(t)
	for _, test := range []struct {
		args []string
		want string
	}{
		{nil, "a.yaml overlap-drops-context, b.yaml overlap-drops-context, c.yaml base-path, d.yaml wrong-type"},
		{[]string{"services/a.yaml"}, "a.yaml overlap-drops-context, a.yaml overlap-drops-context"},
		{[]string{"services/b.yaml"}, "b.yaml base-path, b.yaml overlap-drops-context"},
		{[]string{"linked/b.yaml"}, "b.yaml base-path, b.yaml overlap-drops-context"},
		{[]string{"services"}, "a.yaml overlap-drops-context, b.yaml overlap-drops-context, c.yaml base-path, d.yaml wrong-type"},
		{[]string{"export.json"}, "export.json not-a-definition"},
	} {
		opts := Options{Definition: project.Options(Options{}.Definition)}
		args := Arguments{Judged: test.args, Project: project}
		s := testkit.Must(Read(t.Context(), new(source.Reader), opts, args))(t)
		testkit.Equal(t, fmt.Sprint(test.args), rules(s.Findings()), test.want)
		w := testkit.Must(Follow(t.Context(), new(source.Reader), opts, args))(t)
		testkit.Equal(t, fmt.Sprint(test.args, " followed"), rules(w.Look().Findings()), test.want)
	}
}

// TestFindProject looks for the project file from a directory up to the root of the repository.
func TestFindProject(t *testing.T) {
	dir := t.TempDir()
	for _, made := range []string{"repo/.git", "repo/a/b", "repo/inner/.git", "none/below"} {
		testkit.OK(t, os.MkdirAll(filepath.Join(dir, made), 0o777))
	}
	for _, in := range []string{"", "repo", "none"} {
		testkit.Write(t, filepath.Join(dir, in, ".signpost.yaml"), "")
	}
	testkit.OK(t, os.Symlink("nowhere", filepath.Join(dir, "repo/a/.signpost.yaml"))) // which reading it will report
	for from, want := range map[string]string{
		"repo": "repo", "repo/a": "repo/a", "repo/a/b": "repo/a", "repo/inner": "", "none": "none", "none/below": "",
	} {
		path, found := FindProject(filepath.Join(dir, from))
		if found != (want != "") || found && path != filepath.Join(dir, want, ".signpost.yaml") {
			t.Errorf("from %s: %s, %v", from, path, found)
		}
	}
}

// A definition of which a version is left out beside its manifest has another sum, for those that keep what they made of it.
func TestWithoutStates(t *testing.T) {
	dir := t.TempDir()
	saved, a := filepath.Join(dir, "saved.json"), filepath.Join(dir, "a.yaml")
	testkit.Write(t, a, endpoint("/a", "/a", "")+strings.Replace(endpoint("", "/a/2", "")[len("base_path: \nversions:\n"):], "v1", "v2", 2))
	args := Arguments{Judged: []string{saved}, Project: Project{Path: "p", Definitions: []string{a}}}
	testkit.Write(t, saved, `{"endpoints": {"https://a.example/v1/a": {}}}`)
	w := testkit.Must(Follow(t.Context(), new(source.Reader), Options{Hasty: true, Manifests: true}, args))(t)
	before := w.Look()
	testkit.Write(t, saved, `{"endpoints": {"https://a.example/v1/elsewhere": {}}}`)
	after := w.Look()
	was, is := before.Files[1], after.Files[1]
	left, all := was.Definition.Versions(), is.Definition.Versions()
	if !slices.Equal(left, []string{"v2"}) || len(all) != 2 || was.Sum == is.Sum || len(before.LeftOut) != 1 || len(after.LeftOut) != 0 {
		t.Errorf("%v with %s, then %v with %s", left, was.Sum, all, is.Sum)
	}
}
