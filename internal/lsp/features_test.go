package lsp

import (
	"cmp"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func TestDiagnosticsFollowTheText(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "feeds.yaml")
	e := newEditor(t)

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
	// A version without changes counts.
	e.change(path, 4)
	if found := e.diagnostics(path, 4); !slices.ContainsFunc(found, atField) {
		t.Errorf("after a version without changes: %+v", found)
	}
	e.notify("textDocument/didClose", placeParams{TextDocument: documentID{uriOf(path)}})
	if found := e.diagnostics(path, 0); len(found) != 0 {
		t.Errorf("after closing: %+v", found)
	}
}

func TestDiagnosticsOfOtherFiles(t *testing.T) {
	dir := t.TempDir()
	e := newEditor(t)
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
	// Editors fade what is unused.
	path := filepath.Join(dir, "unused.yaml")
	e.open(path, strings.ReplaceAll(sports, "        modifiers: [limit]\n", ""))
	found := e.diagnostics(path, 1)
	if len(found) != 1 || found[0].Code != "unused-modifier" || !slices.Equal(found[0].Tags, []int{1}) {
		t.Errorf("findings: %+v", found)
	}
}

// TestRegisteredTogether checks that the definitions of a directory are linted together, open or not. Symbolic links are
// not followed.
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
	e := newEditor(t)
	e.open(mine, sports)
	if got := rules(e, 1); !slices.Contains(got, "base-path") {
		t.Errorf("with another service at the same base path: %v", got)
	}
	// The editor's text takes precedence over the file on disk.
	e.open(other, "base_path: /other\n"+strings.ReplaceAll(sports, "/v1/", "/other/v1/"))
	if got := rules(e, 1); len(got) != 0 {
		t.Errorf("with the other base path in the editor: %v", got)
	}
	if err := cmp.Or(os.Remove(other), os.Symlink(far, other)); err != nil {
		t.Fatal(err)
	}
	e = newEditor(t)
	e.open(mine, sports)
	if got := rules(e, 1); len(got) != 0 {
		t.Errorf("with a link that leads elsewhere: %v", got)
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
		{name: "fields in a flow that is open", text: "modifiers:\n  limit: {kind: number, ¦", want: []string{"key", "label"}, not: []string{"kind"}, insert: "key: "},
		{name: "shared modifiers", text: strings.Replace(sports, "modifiers: [limit]", "modifiers: [¦]", 1), want: []string{"limit"}, insert: "limit"},
		{name: "context keys", text: "context_keys: {user.profile: The profile}\n" + endpoint + "        context_obj:\n          - key: ¦\n",
			want: []string{"plugin-login-flow.access_token", "signedDeviceInfoToken", "user.profile"}},
		{name: "required", text: endpoint + "        context_obj:\n          - required: ¦\n", want: []string{"true", "false"}, insert: "true"},
		{name: "endpoints", text: "versions:\n  v1:\n    endpoints:\n      ¦", want: []string{"https://{{host}}/v1/"}, insert: "https://{{host}}/v1/"},
		{name: "rules to allow", text: endpoint + "        allow:\n          dup¦", want: []string{"duplicate-name"}, not: []string{"syntax", "unused-allow"}, insert: "duplicate-name: "},
		{name: "JSON fields", file: "feeds.json", text: `{"service": "A", ¦}`, want: []string{"versions"}, insert: `"versions": `},
		{name: "JSON values", file: "feeds.json", text: `{"versions": {"v1": {"endpoints": {"https://{{host}}/a": {"method": "¦`, want: []string{"get"}, insert: "get"},
		{name: "a list that is not begun", text: "enable: ¦", want: []string{"authentication"}, insert: "[authentication]"},
		{name: "features of the file", text: "features:\n  kids: {}\nenable: [¦]", want: []string{"kids"}, insert: "kids"},
		{name: "built-in features to override", text: "features:\n  ¦", want: []string{"authentication"}, insert: "authentication:"},
		{name: "names that need quotes", text: "features:\n  'a, b': {}\nenable: [¦]", want: []string{"a, b"}, insert: `"a, b"`},
		{name: "JSON booleans", file: "feeds.json", text: `{"features": {"a": {"context_obj": [{"required": ¦}]}}}`, want: []string{"true"}, insert: "true"},
		{name: "a quoted key", text: "'ver¦", want: []string{"versions"}, insert: "versions': "},
		{name: "an endpoint in JSON", file: "feeds.json", text: `{"versions": {"v2": {"endpoints": {¦}}}}`, want: []string{"https://{{host}}/v2/"}, insert: `"https://{{host}}/v2/`},
		{name: "both forms of a modifier", text: "modifiers:\n  limit:\n    ¦", want: []string{"kind", "params"}, not: []string{"method"}},
		{name: "a field that is there", text: "service: A\nservice¦", not: []string{"service"}},
		{name: "free text", text: "service: ¦", not: []string{"versions", "get"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			var out completionList
			ask(t, "completion", cmp.Or(test.file, "feeds.yaml"), test.text, &out)
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
			if versions, ok := byLabel["versions"]; ok && (versions.Documentation == nil || versions.Documentation.Value == "") {
				t.Error("versions is not explained")
			}
			for _, label := range test.not {
				if _, ok := byLabel[label]; ok {
					t.Errorf("%q is offered", label)
				}
			}
		})
	}
}

func TestHover(t *testing.T) {
	for _, test := range []struct{ name, text, want string }{
		{"a field", strings.Replace(sports, "mime_type", "mime¦_type", 1), "content type"},
		{"an endpoint", strings.Replace(sports, "v1/media", "v1/me¦dia", 1), `"key": "plugin-login-flow.access_token"`},
		{"an endpoint of the second version", strings.ReplaceAll(sports, "[limit]", "[]") + "  v2:\n    endpoints:\n      https://{{host}}/v2/li¦st: {name: Two, method: get, mime_type: text/csv}\n", `"name": "Two"`},
		{"an endpoint of a file with errors", strings.Replace(strings.Replace(sports, "v1/media", "v1/me¦dia", 1), "method: get", "method: put", 1), "Fix the errors"},
		{"a shared modifier", strings.Replace(sports, "[limit]", "[li¦mit]", 1), "```yaml\nlimit: {kind: number, id: limit, name: Page size, key: limit, label: Limit, defaultValue: 20}\n```"},
		{"a built-in feature", strings.Replace(sports, "[authen", "[auth¦en", 1),
			"Built in. Appends the context key `plugin-login-flow.access_token` to the endpoints whose URL ends in `/media`; required: true."},
		{"a built-in feature for all", strings.Replace(sports, "[authentication", "[geo¦-restriction", 1), "to every endpoint; required: false."},
		{"a feature of the file", "features:\n  ki¦ds:\n    context_obj: [{key: user.age, type: ctx}]\n" + sports, "```yaml\nkids:\n    context_obj: [{key: user.age, type: ctx}]\n```"},
		{"a context key", "context_keys: {user.age: The age}\nfeatures:\n  kids: {context_obj: [{key: us¦er.age, type: ctx}]}\n" + sports, "user.age: The age\n"},
		{"a value", strings.Replace(sports, "name: Matches", "name: Mat¦ches", 1), ""},
		{"a finding", strings.Replace(sports, "method: get", "method: G¦ET", 1), "The rule: a method is get or post"},
	} {
		t.Run(test.name, func(t *testing.T) {
			var out hover
			ask(t, "hover", "feeds.yaml", test.text, &out)
			if !strings.Contains(out.Contents.Value, test.want) || test.want == "" && out.Contents.Value != "" {
				t.Errorf("hover shows %q", out.Contents.Value)
			}
		})
	}
}

// TestWhileTyping checks that hover, outline and completion know the last text that parsed, navigation does not, and rename
// refuses.
func TestWhileTyping(t *testing.T) {
	e, path, text, in := opened(t, "feeds.yaml", strings.Replace(sports, "v1/media", "v1/me¦dia", 1))
	broken := text + "        modifiers: [limit\n"
	e.change(path, 2, contentChange{Text: broken})
	e.change(path, 3, contentChange{Text: broken + "x"})
	var shown hover
	if e.call("textDocument/hover", in, &shown); !strings.Contains(shown.Contents.Value, `"name": "Media"`) {
		t.Errorf("hover shows %q", shown.Contents.Value)
	}
	var outline []documentSymbol
	if e.call("textDocument/documentSymbol", in, &outline); len(outline) != 2 {
		t.Errorf("the outline is %v", outline)
	}
	var offered completionList
	typing, at := placeIn(path, strings.Replace(sports, "modifiers: [limit]", "modifiers: [¦", 1))
	e.change(path, 4, contentChange{Text: typing})
	e.call("textDocument/completion", at, &offered)
	if !slices.ContainsFunc(offered.Items, func(i completionItem) bool { return i.Label == "limit" }) {
		t.Errorf("offered: %+v", offered.Items)
	}
	_, in = placeIn(path, strings.Replace(sports, "[limit]", "[li¦mit]", 1))
	var place *location
	if e.call("textDocument/definition", in, &place); place != nil {
		t.Errorf("the definition is at %v of a text that does not parse", place)
	}
	in.NewName = "size"
	if err := e.try("textDocument/rename", in, nil); err == nil || !strings.Contains(err.Error(), "does not parse") {
		t.Errorf("rename gives %v", err)
	}
	// Of a text that never parsed there is nothing to show.
	other := filepath.Join(filepath.Dir(path), "other.yaml")
	e.open(other, "versions: {")
	in.TextDocument.URI = uriOf(other)
	outline = nil
	if e.call("textDocument/documentSymbol", in, &outline); outline == nil || len(outline) > 0 {
		t.Errorf("the outline is %v", outline)
	}
	var nothing *hover
	if e.call("textDocument/hover", in, &nothing); nothing != nil && !strings.Contains(nothing.Contents.Value, "syntax") {
		t.Errorf("hover shows %v", nothing)
	}
}

func TestNavigate(t *testing.T) {
	for place, want := range map[string]struct{ definition, references int }{ // lines, and how many
		"[li¦mit]":          {3, 3},
		"  li¦mit:":         {3, 3},
		"[auth¦entication]": {-1, 1}, // built in
		"name: Mat¦ches":    {-1, 0},
	} {
		e, _, _, in := opened(t, "feeds.yaml", strings.Replace(sports, strings.Replace(place, "¦", "", 1), place, 1))
		in.Context.IncludeDeclaration = true
		var defined *location
		line := -1
		if e.call("textDocument/definition", in, &defined); defined != nil {
			line = defined.Range.Start.Line
		}
		if line != want.definition {
			t.Errorf("%s is defined on line %d", place, line)
		}
		var places []location
		if e.call("textDocument/references", in, &places); len(places) != want.references {
			t.Errorf("%s is referred to from %v", place, places)
		}
	}
}

func TestRename(t *testing.T) {
	e, path, text, in := opened(t, "feeds.yaml", strings.Replace(sports, "[limit]", "[li¦mit]", 1))
	for name, written := range map[string]string{"size": "size", "page, size": `"page, size"`, "true": `"true"`} { // as YAML reads it
		in.NewName = name
		var edit workspaceEdit
		e.call("textDocument/rename", in, &edit)
		want := strings.Replace(strings.ReplaceAll(sports, "[limit]", "["+written+"]"), "  limit:", "  "+written+":", 1)
		if got := apply(text, path, edit); got != want {
			t.Errorf("renamed to\n%s", got)
		}
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
		e, _, _, in := opened(t, "feeds.yaml", strings.Replace(text, strings.Replace(test.place, "¦", "", 1), test.place, 1))
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
	marked := strings.ReplaceAll(sports, "method: get", "method: GET")
	e, path, text, in := opened(t, "feeds.yaml", strings.Replace(marked, "GET", "¦GET", 1))
	line := in.Position.Line
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
	// Kinds are hierarchical.
	for only, want := range map[string]string{"source": fixAll, "source.fixAll": fixAll, "quickfix": quickFix, "sour": "", "refactor": "", "source.fixAll.eslint": ""} {
		in.Context.Only = []string{only}
		e.call("textDocument/codeAction", in, &actions)
		got := ""
		for _, a := range actions {
			got += a.Kind
		}
		if got != want {
			t.Errorf("only %s gives %q", only, got)
		}
	}
	// Only fixes in the range are offered one by one.
	in.Context.Only = nil
	in.Range = span{position{0, 0}, position{line - 1, 80}}
	if e.call("textDocument/codeAction", in, &actions); len(actions) != 1 || actions[0].Kind != fixAll {
		t.Errorf("beside the finding: %v", actions)
	}
	if ask(t, "codeAction", "feeds.yaml", "¦"+sports, &actions); len(actions) != 0 {
		t.Errorf("without findings: %v", actions)
	}
}

func TestOutline(t *testing.T) {
	deprecated := strings.Replace(sports, "        name: Media\n", "        name: Media\n        deprecated: {since: 2020-01-01}\n", 1)
	var out []documentSymbol
	ask(t, "documentSymbol", "feeds.yaml", "¦"+deprecated, &out)
	var lines []string
	var list func([]documentSymbol, string)
	list = func(symbols []documentSymbol, indent string) {
		for _, s := range symbols {
			line := indent + s.Name + " " + s.Detail
			if slices.Equal(s.Tags, []int{1}) {
				line += ", deprecated"
			}
			lines = append(lines, strings.TrimRight(line, " "))
			list(s.Children, indent+"  ")
		}
	}
	list(out, "")
	want := []string{"modifiers", "  limit Page size", "v1", "  https://{{host}}/v1/matches Matches", "  https://{{host}}/v1/media Media, deprecated"}
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
