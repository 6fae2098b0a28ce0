package lsp

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"signpost/internal/testkit"
)

// found returns the findings of a version of a document, one per line.
func (e *editor) found(path string, version int) (lines string) {
	e.t.Helper()
	for _, d := range e.diagnostics(path, version) {
		lines += fmt.Sprintf("%v-%v %d %s%v\n", d.Range.Start, d.Range.End, d.Severity, d.Code, d.Tags)
	}
	return lines
}

func TestDiagnosticsFollowTheText(t *testing.T) {
	path := filepath.Join(t.TempDir(), "feeds.yaml")
	e := newEditor(t)
	expect := func(version int, want string) {
		t.Helper()
		testkit.Equal(t, fmt.Sprint("findings of version ", version), e.found(path, version), want)
	}
	// 🏈 is one character, two UTF-16 units and four bytes. An incremental change comes after it.
	text := strings.NewReplacer("{kind: number,", "{kind: number, placeholder: 🏈, ", "label: Limit", "lable: Limit").Replace(sports)
	e.open(path, text)
	expect(1, "{3 82}-{3 87} 1 unknown-field[]\n")
	e.change(path, 2, contentChange{Range: &span{position{3, 82}, position{3, 87}}, Text: "label"})
	expect(2, "")
	// Several changes are applied in order, and a version without changes counts.
	e.change(path, 3, contentChange{Text: "versions:\n  v1:\n"}, contentChange{Range: &span{position{2, 0}, position{2, 0}}, Text: "    endpoint: {}\n"})
	e.change(path, 4)
	expect(4, "{1 2}-{1 4} 2 no-endpoints[]\n{2 4}-{2 12} 1 unknown-field[]\n")
	e.change(path, 5, contentChange{Text: "openapi: 3.1.0\n"}) // it was a definition, and stays one until it is closed
	expect(5, "{0 0}-{0 1} 1 not-a-definition[]\n")
	e.notify("textDocument/didClose", placeParams{TextDocument: documentID{uriOf(path)}})
	expect(0, "")
	e.open(path, "openapi: 3.1.0\n")
	expect(1, "")
}

func TestDiagnosticsOfOtherFiles(t *testing.T) {
	dir := t.TempDir()
	e := newEditor(t)
	for name, test := range map[string]struct{ text, want string }{
		"compose.yaml": {"services:\n  web:\n    image: nginx\n", ""},
		"package.json": {`{"name": "x", "version": "1.0.0"}`, ""},
		"empty.yaml":   {"\n", ""},
		// Editors fade what is unused.
		"unused.yaml": {strings.ReplaceAll(sports, "        modifiers: [limit]\n", ""), "{3 2}-{3 7} 2 unused-modifier[1]\n"},
	} {
		e.open(filepath.Join(dir, name), test.text)
		testkit.Equal(t, name, e.found(filepath.Join(dir, name), 1), test.want)
	}
}

// TestRegisteredTogether checks that the definitions of a directory are linted together, open or not.
func TestRegisteredTogether(t *testing.T) {
	dir := t.TempDir()
	mine, other := filepath.Join(dir, "a.yaml"), filepath.Join(dir, "below", "b.yaml")
	for name, text := range map[string]string{"b.yml": sports, "b.json": `{"versions": {"v1": {"endpoints": {}}}}`} { // each by itself
		beside := t.TempDir()
		testkit.Write(t, filepath.Join(beside, name), text)
		e := newEditor(t)
		e.open(filepath.Join(beside, "a.yaml"), sports)
		if got := e.found(filepath.Join(beside, "a.yaml"), 1); !strings.Contains(got, "base-path") {
			t.Errorf("beside %s: %s", name, got)
		}
	}
	testkit.Write(t, other, sports)
	e := newEditor(t)
	e.open(mine, sports)
	if got := e.found(mine, 1); !strings.Contains(got, "base-path") {
		t.Errorf("with another service at the same base path: %s", got)
	}
	// The editor's text takes precedence over the file on disk.
	e.open(other, "base_path: /other\n"+strings.ReplaceAll(sports, "/v1/", "/other/v1/"))
	testkit.Equal(t, "with the other base path in the editor", e.found(mine, 1), "")
	// What cannot be read is told once.
	testkit.OK(t, os.Symlink("itself.yaml", filepath.Join(dir, "itself.yaml")))
	for _, times := range []int{1, 0} {
		e.out.Reset()
		e.notify("workspace/didChangeWatchedFiles", struct{}{})
		testkit.Equal(t, "with a file that cannot be read", e.found(mine, 1), "")
		if strings.Count(e.out.String(), "judges documents without what it cannot read:\\nread definition") != times {
			t.Errorf("not told %d times: %s", times, e.out.String())
		}
	}
}

// opened starts an editor with a text, without its mark ¦, and returns the params of a request about the marked place.
func opened(t *testing.T, file, marked string) (e *editor, path, text string, in placeParams) {
	t.Helper()
	path = filepath.Join(t.TempDir(), file)
	text, in = placeIn(path, marked)
	e = newEditor(t)
	e.open(path, text)
	return e, path, text, in
}

// ask sends a request about the place marked ¦ in a text.
func ask(t *testing.T, method, file, text string, out any) {
	t.Helper()
	e, _, _, in := opened(t, file, text)
	e.call("textDocument/"+method, in, out)
}

// marked returns a text in which a place is marked with ¦.
func marked(text, place string) string {
	return strings.Replace(text, strings.Replace(place, "¦", "", 1), place, 1)
}

// TestCompletion lists the texts that are offered at ¦, each with a | behind it.
func TestCompletion(t *testing.T) {
	testkit.Cases(t, "testdata/completion.golden", func(text string) string {
		file := "feeds.yaml"
		if rest, isJSON := strings.CutPrefix(text, "feeds.json: "); isJSON {
			file, text = "feeds.json", rest
		}
		var list completionList
		ask(t, "completion", file, text, &list)
		inserted := ""
		for _, item := range list.Items {
			inserted += item.TextEdit.NewText + "|"
			if !strings.Contains(item.TextEdit.NewText, item.Label) {
				t.Errorf("%s inserts %s", item.Label, item.TextEdit.NewText)
			}
			if item.Label == "versions" && (item.Documentation == nil || item.Documentation.Value == "") {
				t.Error("versions is not explained")
			}
		}
		return inserted
	})
}

func TestHover(t *testing.T) {
	for _, test := range []struct{ text, want string }{
		{marked(sports, "mime¦_type"), "content type"},
		{marked(sports, "v1/me¦dia"), `"key": "plugin-login-flow.access_token"`},
		{sports + "      https://{{host}}/list: {name: One, method: get, mime_type: text/csv}\n" + // in both versions
			"  v2:\n    endpoints:\n      https://{{host}}/li¦st: {name: Two, method: get, mime_type: text/csv}\n", `"name": "Two"`},
		{strings.Replace(marked(sports, "v1/me¦dia"), "method: get", "method: put", 1), "Fix the errors"},
		{marked(sports, "[li¦mit]"), "```yaml\nlimit: {kind: number, id: limit, name: Page size, key: limit, label: Limit, defaultValue: 20}\n```"},
		{marked(sports, "[auth¦en"),
			"Built in. Appends the context key `plugin-login-flow.access_token` to the endpoints whose URL ends in `/media`; required: true."},
		{strings.Replace(sports, "[authentication", "[geo¦-restriction", 1), "to every endpoint; required: false."},
		{"features:\n  ki¦ds:\n    context_obj: [{key: user.age, type: ctx}]\n" + sports, "```yaml\nkids:\n    context_obj: [{key: user.age, type: ctx}]\n```"},
		{"context_keys: {user.age: The age}\nfeatures:\n  kids: {context_obj: [{key: us¦er.age, type: ctx}]}\n" + sports, "user.age: The age\n"},
		{marked(sports, "name: Mat¦ches"), ""},
		{sports + "        +obs¦erve: [a]\n", "It is carried into the manifest as `observe`"},
		{strings.Replace(sports, "method: get", "method: G¦ET", 1),
			`is not "get" or "post"` + "\n\nwrite it in lower case: get\n\nThe rule: a method is get or post"},
	} {
		var out hover
		ask(t, "hover", "feeds.yaml", test.text, &out)
		if !strings.Contains(out.Contents.Value, test.want) || test.want == "" && out.Contents.Value != "" {
			t.Errorf("hover in %s\nshows %q", test.text, out.Contents.Value)
		}
	}
}

// TestWhileTyping checks that hover, outline and completion know the last text that parsed, navigation does not, and rename
// refuses. Of a text that never parsed there is nothing to show.
func TestWhileTyping(t *testing.T) {
	e, path, text, in := opened(t, "feeds.yaml", marked(sports, "v1/me¦dia"))
	broken := text + "        modifiers: [limit\n"
	e.change(path, 2, contentChange{Text: broken})
	e.change(path, 3, contentChange{Text: broken + "x"})
	answers := func(method string, in placeParams, want string) {
		t.Helper()
		var out any
		err := e.try("textDocument/"+method, in, &out)
		if got := fmt.Sprint(out, err); !strings.Contains(got, want) {
			t.Errorf("%s gives %s, not %s", method, got, want)
		}
	}
	answers("hover", in, `"name": "Media"`)
	answers("documentSymbol", in, "detail:Media")
	typing, at := placeIn(path, strings.Replace(sports, "modifiers: [limit]", "modifiers: [¦", 1))
	e.change(path, 4, contentChange{Text: typing})
	answers("completion", at, "kind:12 label:limit")
	answers("completion", at, "kind:5 label:kind")
	_, in = placeIn(path, marked(sports, "[li¦mit]"))
	in.NewName = "size"
	answers("definition", in, "<nil> <nil>")
	answers("rename", in, "code -32803 message: the file does not parse")
	other := filepath.Join(filepath.Dir(path), "other.yaml")
	e.open(other, "versions: {")
	in.TextDocument.URI = uriOf(other)
	answers("documentSymbol", in, "[] <nil>")
	answers("hover", in, "<nil> <nil>")
}

func TestNavigate(t *testing.T) {
	for place, want := range map[string][]int{ // line of the definition, and lines of references
		"[li¦mit]":          {3, 3, 11, 16},
		"  li¦mit:":         {3, 3, 11, 16},
		"[limit¦]":          {3, 3, 11, 16}, // right behind the name
		"  limit¦:":         {3, 3, 11, 16},
		"[auth¦entication]": {-1, 1}, // built in
		"name: Mat¦ches":    {-1},
	} {
		e, _, _, in := opened(t, "feeds.yaml", marked(sports, place))
		in.Context.IncludeDeclaration = true
		var defined *location
		got := []int{-1}
		if e.call("textDocument/definition", in, &defined); defined != nil {
			got[0] = defined.Range.Start.Line
		}
		var places []location
		e.call("textDocument/references", in, &places)
		for _, p := range places {
			got = append(got, p.Range.Start.Line)
		}
		testkit.Equal(t, place, got, want)
	}
}

func TestRename(t *testing.T) {
	e, path, text, in := opened(t, "feeds.yaml", marked(sports, "[li¦mit]"))
	for name, written := range map[string]string{"size": "size", "page, size": `"page, size"`, "true": `"true"`} { // as YAML reads it
		in.NewName = name
		var edit workspaceEdit
		e.call("textDocument/rename", in, &edit)
		want := strings.Replace(strings.ReplaceAll(sports, "[limit]", "["+written+"]"), "  limit:", "  "+written+":", 1)
		testkit.Equal(t, "renamed to "+name, apply(text, path, edit), want)
	}
	const features = "features:\n  authentication: {url_suffix: /play}\n  kids: {context_obj: [{key: user.age, type: ctx}]}\n  teens: {context_obj: [{key: user.age, type: ctx}]}\n"
	for _, test := range []struct{ place, name, why string }{
		{"ki¦ds", "teens", `feature "teens" already exists`},
		{"ki¦ds", "geo-restriction", `feature "geo-restriction" is built in: choose another name`},
		{"authenti¦cation", "login", `feature "authentication" is built in and keeps its name`},
		{"geo-¦restriction", "login", `feature "geo-restriction" is not declared in this file`},
		{"user.a¦ge", "age", "only shared modifiers and features can be renamed"},
		{"url_su¦ffix", "age", "only shared modifiers and features can be renamed"},
		{"ki¦ds", "", "not a valid name"},
		{"ki¦ds", " a", "not a valid name"},
		{"ki¦ds", "a\u2028b", "not a valid name"},
		{"ki¦ds", "limit", ""},
		{"ki¦ds", "kids", ""},
	} {
		text := features + strings.Replace(sports, "[authentication]", "[geo-restriction]", 1)
		e, _, _, in := opened(t, "feeds.yaml", marked(text, test.place))
		in.NewName = test.name
		err := e.try("textDocument/rename", in, nil)
		if test.why == "" && err != nil || test.why != "" && (err == nil || !strings.Contains(err.Error(), test.why)) {
			t.Errorf("rename %s to %s gives %v", test.place, test.name, err)
		}
		if refused := e.try("textDocument/prepareRename", in, nil); test.name == "login" && refused == nil {
			t.Errorf("%s can be renamed", test.place)
		}
	}
}

func TestQuickFix(t *testing.T) {
	e, path, text, in := opened(t, "feeds.yaml", strings.Replace(strings.ReplaceAll(sports, "method: get", "method: GET"), "GET", "¦GET", 1))
	fixed := map[string]string{quickFix: strings.Replace(text, "GET", "get", 1), fixAll: sports}
	line := in.Position.Line
	for _, test := range []struct {
		only string // kinds are hierarchical
		last int    // line of the range
		want []string
	}{
		{"", line, []string{quickFix, fixAll}}, {"", line - 1, []string{fixAll}}, // only fixes in the range are offered one by one
		{"source", line, []string{fixAll}}, {"source.fixAll", line, []string{fixAll}}, {"quickfix", line, []string{quickFix}},
		{"sour", line, nil}, {"refactor", line, nil}, {"source.fixAll.eslint", line, nil},
	} {
		in.Context.Only = nil
		if test.only != "" {
			in.Context.Only = []string{test.only}
		}
		in.Range = span{position{0, 0}, position{test.last, 80}}
		var actions []codeAction
		e.call("textDocument/codeAction", in, &actions)
		var kinds []string
		for _, a := range actions {
			kinds = append(kinds, a.Kind)
			testkit.Equal(t, a.Title, apply(text, path, a.Edit), fixed[a.Kind])
		}
		testkit.Equal(t, fmt.Sprintf("actions for %q up to line %d", test.only, test.last), kinds, test.want)
	}
	var actions []codeAction
	ask(t, "codeAction", "feeds.yaml", "¦"+sports, &actions)
	testkit.Equal(t, "without findings", len(actions), 0)
}

func TestOutline(t *testing.T) {
	deprecated := strings.Replace(sports, "        name: Media\n", "        name: Media\n        deprecated: {since: 2020-01-01}\n", 1)
	var out []documentSymbol
	ask(t, "documentSymbol", "feeds.yaml", "¦"+deprecated, &out)
	got := "\n"
	var list func([]documentSymbol, string)
	list = func(symbols []documentSymbol, indent string) {
		for _, s := range symbols {
			got += fmt.Sprintln(indent, s.Name, s.Detail, s.Kind, s.Tags)
			list(s.Children, indent+" ")
		}
	}
	list(out, "")
	testkit.Equal(t, "outline", got, `
 modifiers  3 []
  limit Page size 8 []
 v1  3 []
  https://{{host}}/v1/matches Matches 11 []
  https://{{host}}/v1/media Media 11 [1]
`)
}

// apply applies an edit to the text of a file, last change first.
func apply(text, path string, edit workspaceEdit) string {
	doc := newDocument(uriOf(path), 1, text)
	edits := edit.Changes[doc.uri]
	slices.SortFunc(edits, func(a, b textEdit) int { return doc.offset(b.Range.Start) - doc.offset(a.Range.Start) })
	for _, e := range edits {
		text = text[:doc.offset(e.Range.Start)] + e.NewText + text[doc.offset(e.Range.End):]
	}
	return text
}
