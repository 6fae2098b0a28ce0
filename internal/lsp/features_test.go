package lsp

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func TestDiagnosticsFollowTheText(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "feeds.yaml")
	e := newEditor(t, dir)

	// 🏈 is one character, two UTF-16 units and four bytes.
	text := strings.Replace(sports, "{kind: number,", "{kind: number, placeholder: 🏈, ", 1)
	text = strings.Replace(text, "label: Limit", "lable: Limit", 1)
	e.open(path, text)
	found := slices.DeleteFunc(e.diagnostics(path, 1), func(d diagnostic) bool { return d.Code != "unknown-field" })
	if len(found) != 1 || found[0].Severity != severityError || found[0].Source != "signpost" {
		t.Fatalf("findings: %+v", found)
	}
	line := strings.Split(text, "\n")[3]
	from := len([]rune(line[:strings.Index(line, "lable")])) + 1 // one more unit than characters
	if want := (span{position{3, from}, position{3, from + len("lable")}}); found[0].Range != want {
		t.Errorf("the finding is at %v, not at %v", found[0].Range, want)
	}

	// An incremental change at a UTF-16 position after the football.
	e.change(path, 2, contentChange{Range: &found[0].Range, Text: "label"})
	if found := e.diagnostics(path, 2); len(found) != 0 {
		t.Errorf("after the change: %+v", found)
	}
	// Several changes are applied in order.
	e.change(path, 3, contentChange{Text: "versions:\n  v1:\n"}, contentChange{Range: &span{position{2, 0}, position{2, 0}}, Text: "    endpoint: {}\n"})
	atField := func(d diagnostic) bool { return d.Range.Start == position{2, 4} }
	if found := e.diagnostics(path, 3); !slices.ContainsFunc(found, atField) {
		t.Errorf("after two changes: %+v", found)
	}
	e.notify("textDocument/didClose", didClose{documentID{uriOf(path)}})
	if found := e.diagnostics(path, 0); len(found) != 0 {
		t.Errorf("after closing: %+v", found)
	}
}

func TestDiagnosticsOfOtherFiles(t *testing.T) {
	dir := t.TempDir()
	e := newEditor(t, dir)
	for name, text := range map[string]string{
		"compose.yaml": "services:\n  web:\n    image: nginx\n",
		"package.json": `{"name": "x", "version": "1.0.0"}`,
		"empty.yaml":   "\n",
	} {
		e.open(filepath.Join(dir, name), text)
		if found := e.diagnostics(filepath.Join(dir, name), 1); len(found) != 0 {
			t.Errorf("%s: %+v", name, found)
		}
	}
}

// TestRegisteredTogether checks that the definitions of a directory are linted together, open or not. Others are not
// read, not even through a symbolic link.
func TestRegisteredTogether(t *testing.T) {
	dir, outside := t.TempDir(), t.TempDir()
	mine, other, far := filepath.Join(dir, "a.yaml"), filepath.Join(dir, "b.yaml"), filepath.Join(outside, "c.yaml")
	for _, path := range []string{other, far} {
		if err := os.WriteFile(path, []byte(sports), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	rules := func(e *editor, version int) []string {
		var rules []string
		for _, d := range e.diagnostics(mine, version) {
			rules = append(rules, d.Code)
		}
		return rules
	}
	e := newEditor(t, dir)
	e.open(mine, sports)
	if got := rules(e, 1); !slices.Contains(got, "base-path") {
		t.Errorf("with another service at the same base path: %v", got)
	}
	// The editor's text takes precedence over the file on disk.
	e.open(other, "base_path: /other\n"+strings.ReplaceAll(sports, "/v1/", "/other/v1/"))
	if got := rules(e, 1); len(got) != 0 {
		t.Errorf("with the other base path in the editor: %v", got)
	}

	if err := os.Remove(other); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(far, other); err != nil {
		t.Fatal(err)
	}
	e = newEditor(t, dir)
	e.open(mine, sports)
	if got := rules(e, 1); len(got) != 0 {
		t.Errorf("with a link that leads out of the workspace: %v", got)
	}
	// A document outside all folders is linted alone.
	e = newEditor(t, outside)
	e.open(mine, sports)
	if got := rules(e, 1); len(got) != 0 {
		t.Errorf("outside of the workspace: %v", got)
	}
}

func TestCompletion(t *testing.T) {
	endpoint := "versions:\n  v1:\n    endpoints:\n      https://{{host}}/v1/feeds:\n"
	for _, test := range []struct {
		name, file, text string
		want             []string // must be offered
		not              []string
		insert           string // text inserted by the first of want
	}{
		{name: "fields at the top", text: "service: A\n¦", want: []string{"versions", "enable", "modifiers"}, not: []string{"service"}, insert: "versions:"},
		{name: "fields of an endpoint", text: endpoint + "        name: A\n        m¦\n", want: []string{"method", "mime_type"}, not: []string{"name"}, insert: "method: "},
		{name: "methods", text: endpoint + "        method: ¦\n", want: []string{"get", "post"}, insert: "get"},
		{name: "content types", text: endpoint + "        mime_type: app¦\n", want: []string{"application/json"}},
		{name: "kinds, in a flow that is open", text: "modifiers:\n  limit: {kind: ¦", want: []string{"text", "number", "boolean", "select"}},
		{name: "fields in a flow that is open", text: "modifiers:\n  limit: {kind: number, ¦", want: []string{"key", "label"}, not: []string{"kind"}, insert: "key: "},
		{name: "shared modifiers", text: strings.Replace(sports, "modifiers: [limit]", "modifiers: [¦]", 1), want: []string{"limit"}, insert: "limit"},
		{name: "features", text: "features:\n  kids: {}\nenable: [¦", want: []string{"authentication", "geo-restriction"}},
		{name: "context keys", text: "context_keys: {user.profile: The profile}\n" + endpoint + "        context_obj:\n          - key: ¦\n",
			want: []string{"plugin-login-flow.access_token", "signedDeviceInfoToken", "user.profile"}},
		{name: "context types", text: endpoint + "        context_obj:\n          - {key: a, type: ¦}\n", want: []string{"ctx", "bodyParam"}},
		{name: "required", text: endpoint + "        context_obj:\n          - required: ¦\n", want: []string{"true", "false"}, insert: "true"},
		{name: "versions", text: "versions:\n  ¦", want: []string{"v1"}, insert: "v1:"},
		{name: "the next version", text: "versions:\n  v1: {}\n  ¦", want: []string{"v2"}},
		{name: "endpoints", text: "versions:\n  v1:\n    endpoints:\n      ¦", want: []string{"https://{{host}}/v1/"}},
		{name: "rules to allow", text: "# signpost: allow dup¦", want: []string{"duplicate-name"}, insert: "duplicate-name"},
		{name: "JSON fields", file: "feeds.json", text: `{"service": "A", ¦}`, want: []string{"versions"}, insert: `"versions": `},
		{name: "JSON values", file: "feeds.json", text: `{"versions": {"v1": {"endpoints": {"https://{{host}}/a": {"method": "¦`, want: []string{"get"}, insert: "get"},
		{name: "free text", text: "service: ¦", not: []string{"versions", "get"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "feeds.yaml")
			if test.file != "" {
				path = filepath.Join(filepath.Dir(path), test.file)
			}
			text, in := placeIn(path, test.text)
			e := newEditor(t)
			e.open(path, text)
			var out completionList
			e.call("textDocument/completion", in, &out)
			byLabel := make(map[string]completionItem)
			for _, item := range out.Items {
				byLabel[item.Label] = item
			}
			for i, label := range test.want {
				item, ok := byLabel[label]
				if !ok {
					t.Errorf("%q is not offered, but %d others", label, len(out.Items))
				}
				if i == 0 && test.insert != "" && item.TextEdit.NewText != test.insert {
					t.Errorf("%q inserts %q", label, item.TextEdit.NewText)
				}
			}
			for _, label := range test.not {
				if _, ok := byLabel[label]; ok {
					t.Errorf("%q is offered", label)
				}
			}
		})
	}
}

// TestCompletionKnowsNamesWhileTyping checks that names come from the last version that could be parsed.
func TestCompletionKnowsNamesWhileTyping(t *testing.T) {
	path := filepath.Join(t.TempDir(), "feeds.yaml")
	e := newEditor(t)
	e.open(path, sports)
	text, in := placeIn(path, strings.Replace(sports, "modifiers: [limit]", "modifiers: [¦", 1))
	e.change(path, 2, contentChange{Text: text})
	var out completionList
	e.call("textDocument/completion", in, &out)
	if !slices.ContainsFunc(out.Items, func(i completionItem) bool { return i.Label == "limit" }) {
		t.Errorf("offered: %+v", out.Items)
	}
}

func TestHover(t *testing.T) {
	for _, test := range []struct{ name, text, want string }{
		{"a field", strings.Replace(sports, "mime_type", "mime¦_type", 1), "content type"},
		{"an endpoint", strings.Replace(sports, "v1/media", "v1/me¦dia", 1), "`plugin-login-flow.access_token`, required"},
		{"an endpoint's descriptor", strings.Replace(sports, "v1/media", "v1/me¦dia", 1), `"name": "Media"`},
		{"a shared modifier", strings.Replace(sports, "[limit]", "[li¦mit]", 1), "sets the query parameter `limit`"},
		{"a built-in feature", strings.Replace(sports, "[authen", "[auth¦en", 1), "access token"},
		{"a finding", strings.Replace(sports, "method: get", "method: G¦ET", 1), "The rule: a method is get or post"},
	} {
		t.Run(test.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "feeds.yaml")
			text, in := placeIn(path, test.text)
			e := newEditor(t)
			e.open(path, text)
			var out hover
			e.call("textDocument/hover", in, &out)
			if !strings.Contains(out.Contents.Value, test.want) {
				t.Errorf("hover shows %q", out.Contents.Value)
			}
		})
	}
}

func TestNavigate(t *testing.T) {
	path := filepath.Join(t.TempDir(), "feeds.yaml")
	text, in := placeIn(path, strings.Replace(sports, "[limit]", "[li¦mit]", 1))
	e := newEditor(t)
	e.open(path, text)

	var definition location
	e.call("textDocument/definition", in, &definition)
	if definition.Range.Start != (position{3, 2}) {
		t.Errorf("defined at %v", definition.Range)
	}
	var places []location
	in.Context.IncludeDeclaration = true
	e.call("textDocument/references", in, &places)
	if len(places) != 3 {
		t.Errorf("referred to from %v", places)
	}

	in.NewName = "page size" // quoted, also in a flow collection
	var edit workspaceEdit
	e.call("textDocument/rename", in, &edit)
	got := apply(text, path, edit)
	want := strings.Replace(strings.ReplaceAll(sports, "[limit]", `["page size"]`), "  limit:", `  "page size":`, 1)
	if got != want {
		t.Errorf("renamed to\n%s", got)
	}
	for name, why := range map[string]string{"": "not a valid name", "a\nb": "not a valid name"} {
		in.NewName = name
		if err := e.try("textDocument/rename", in, nil); err == nil || !strings.Contains(err.Error(), why) {
			t.Errorf("rename to %q: %v", name, err)
		}
	}
	_, in = placeIn(path, strings.Replace(sports, "[authentication]", "[auth¦entication]", 1))
	in.NewName = "login"
	if err := e.try("textDocument/rename", in, nil); err == nil {
		t.Error("a built-in feature was renamed")
	}
}

func TestQuickFix(t *testing.T) {
	path := filepath.Join(t.TempDir(), "feeds.yaml")
	text := strings.ReplaceAll(sports, "method: get", "method: GET")
	e := newEditor(t)
	e.open(path, text)
	line := strings.Count(text[:strings.Index(text, "GET")], "\n")
	var in codeActionParams
	in.TextDocument.URI = uriOf(path)
	in.Range = span{position{line, 0}, position{line, 80}}
	var actions []codeAction
	e.call("textDocument/codeAction", in, &actions)
	var kinds []string
	for _, a := range actions {
		kinds = append(kinds, a.Kind)
		if got := apply(text, path, a.Edit); a.Kind == quickFix && got != strings.Replace(text, "GET", "get", 1) {
			t.Errorf("%s gives\n%s", a.Title, got)
		}
		if got := apply(text, path, a.Edit); a.Kind == fixAll && got != sports {
			t.Errorf("%s gives\n%s", a.Title, got)
		}
	}
	if !slices.Equal(kinds, []string{quickFix, fixAll}) {
		t.Errorf("the actions are %v", kinds)
	}
}

func TestOutline(t *testing.T) {
	path := filepath.Join(t.TempDir(), "feeds.yaml")
	e := newEditor(t)
	e.open(path, sports)
	var out []documentSymbol
	e.call("textDocument/documentSymbol", documentParams{documentID{uriOf(path)}}, &out)
	var lines []string
	var list func([]documentSymbol, string)
	list = func(symbols []documentSymbol, indent string) {
		for _, s := range symbols {
			lines = append(lines, strings.TrimRight(indent+s.Name+" "+s.Detail, " "))
			list(s.Children, indent+"  ")
		}
	}
	list(out, "")
	want := []string{"v1", "  https://{{host}}/v1/matches Matches", "    limit", "  https://{{host}}/v1/media Media", "    limit", "modifiers", "  limit Page size"}
	if !slices.Equal(lines, want) {
		t.Errorf("the outline is\n%s", strings.Join(lines, "\n"))
	}
}

// apply applies an edit to the text of a file, last change first.
func apply(text, path string, edit workspaceEdit) string {
	doc := newDocument(uriOf(path), 1, text)
	edits := edit.Changes[doc.uri]
	slices.SortFunc(edits, func(a, b textEdit) int { return b.Range.Start.compare(a.Range.Start) })
	for _, e := range edits {
		text = text[:doc.offset(e.Range.Start)] + e.NewText + text[doc.offset(e.Range.End):]
	}
	return text
}

// TestSeveralFolders checks that all folders of the workspace count, including those added or removed later.
func TestSeveralFolders(t *testing.T) {
	first, second := t.TempDir(), t.TempDir()
	mine, other := filepath.Join(second, "a.yaml"), filepath.Join(second, "b.yaml")
	if err := os.WriteFile(other, []byte(sports), 0o644); err != nil {
		t.Fatal(err)
	}
	clashes := func(e *editor) bool {
		return slices.ContainsFunc(e.diagnostics(mine, 1), func(d diagnostic) bool { return d.Code == "base-path" })
	}
	e := newEditor(t, first, second)
	e.open(mine, sports)
	if !clashes(e) {
		t.Error("the second folder does not count")
	}
	var removed, added foldersChanged
	removed.Event.Removed = []workspaceFolder{{URI: uriOf(second)}}
	added.Event.Added = removed.Event.Removed
	e.notify("workspace/didChangeWorkspaceFolders", removed)
	if clashes(e) {
		t.Error("a folder that was removed still counts")
	}
	e.notify("workspace/didChangeWorkspaceFolders", added)
	if !clashes(e) {
		t.Error("a folder that was added does not count")
	}
}
