package lsp

import (
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"signpost"
	"signpost/definition"
	"signpost/internal/source"
	"signpost/internal/testkit"
	"signpost/internal/tree"
	"signpost/internal/workspace"
)

// inProject writes a project of three definitions, and returns its directory.
func inProject(t *testing.T) string {
	dir := t.TempDir()
	endpoints := "versions:\n  v1:\n    endpoints:\n      https://{{host}}/v1%s: {name: A, method: get, mime_type: application/json, context_obj: [%s]}\n"
	token := "{key: token, type: ctx, required: true}"
	for name, text := range map[string]string{
		".git/HEAD":       "",
		".signpost.yaml":  "definitions: [services/*.yaml]\nregistered: [export.json, \"https://partner.example.net/v1/endpoints-manifest\"]\ncontext_keys: {token: The token}\n",
		"services/a.yaml": "base_path: /a\n" + fmt.Sprintf(endpoints, "/a", token),
		"services/b.yaml": "base_path: /b\n" + fmt.Sprintf(endpoints, "/a/b", ""),
		"services/c.yaml": "base_path: /c\n" + fmt.Sprintf(endpoints, "/c", token),
		"export.json":     `{"endpoints": {"https://{{host}}/v1/c/x": {"name": "X", "method": "get", "mime_type": "application/json"}}}`,
	} {
		testkit.Write(t, filepath.Join(dir, name), text)
	}
	return dir
}

// lintFile judges a file as signpost lint FILE does, but without addresses.
func lintFile(t *testing.T, dir, path string) []signpost.Finding {
	t.Helper()
	project := testkit.Must(workspace.ReadProject(filepath.Join(dir, definition.ProjectName)))(t)
	project.Registered, _ = cutAddresses(project.Registered)
	opts := workspace.Options{Definition: project.Options(definition.Options{})}
	args := workspace.Arguments{Judged: []string{path}, Project: project}
	return testkit.Must(workspace.Read(t.Context(), new(source.Reader), opts, args))(t).Findings()
}

// TestProject checks that a document is judged with its project, which changes on disk; that the editor says which
// addresses it left out; and that the project file itself is judged and completed.
func TestProject(t *testing.T) {
	dir := inProject(t)
	a, c, project := filepath.Join(dir, "services/a.yaml"), filepath.Join(dir, "services/c.yaml"), filepath.Join(dir, definition.ProjectName)
	e := newEditor(t)
	e.open(a, testkit.Read(t, a))
	if got := e.found(a, 1); !strings.Contains(got, "overlap-drops-context") {
		t.Errorf("b.yaml takes feeds of a.yaml: %s", got)
	}
	if !strings.Contains(e.out.String(), "https://partner.example.net/v1/endpoints-manifest") {
		t.Errorf("the editor is not told what is left out: %s", e.out.String())
	}
	e.open(c, testkit.Read(t, c))
	if got := e.found(c, 1); strings.Count(got, "overlap-drops-context") != 1 {
		t.Errorf("the export takes feeds of c.yaml: %s", got)
	}

	// Files change on disk, and the project with them.
	testkit.OK(t, os.Remove(filepath.Join(dir, "services/b.yaml")))
	testkit.Write(t, project, "definitions: [services/*.yaml, 'http://127.0.0.1:1/feeds.yaml']\ncontext_keys: {session: Not the token}\n")
	e.notify("workspace/didChangeWatchedFiles", struct{}{})
	e.found(a, 1)
	if !strings.Contains(e.out.String(), "http://127.0.0.1:1/feeds.yaml") {
		t.Errorf("the editor is not told that a definition is left out: %s", e.out.String())
	}
	for _, path := range []string{a, c} {
		if got := e.found(path, 1); !strings.Contains(got, "unknown-context-key") || strings.Contains(got, "overlap") {
			t.Errorf("%s: %s", path, got)
		}
	}
	e.open(project, "definition: [services]\n")
	if got := e.found(project, 1); !strings.Contains(got, "unknown-field") {
		t.Errorf("the project file: %s", got)
	}
	testkit.Write(t, project, "definition: [services]\n")
	e.notify("workspace/didChangeWatchedFiles", struct{}{})
	e.found(a, 1)
	if !strings.Contains(e.out.String(), "judges documents without "+project+": line 1: unknown field \\\"definition\\\"") {
		t.Errorf("the editor is not told that the project is left out: %s", e.out.String())
	}
	text, in := placeIn(project, "def¦")
	e.open(project, text)
	var list completionList
	e.call("textDocument/completion", in, &list)
	if len(list.Items) != 4 || list.Items[0].Label != "definitions" {
		t.Errorf("completion offers %v", list.Items)
	}
}

// TestLinkedDirectory checks that a document in a directory behind a symbolic link is judged with the project that
// signpost lint finds there.
func TestLinkedDirectory(t *testing.T) {
	link := filepath.Join(t.TempDir(), "link")
	testkit.OK(t, os.Symlink(filepath.Join(inProject(t), "services"), link))
	c := filepath.Join(link, "c.yaml")
	e := newEditor(t)
	e.open(c, testkit.Read(t, c))
	if got := e.found(c, 1); !strings.Contains(got, "overlap-drops-context") {
		t.Errorf("what the project registers does not count: %s", got)
	}
}

// TestLinkedFile checks that a document is not judged against itself by another name, as by signpost lint: neither one
// that the project has, too, nor one that it has not.
func TestLinkedFile(t *testing.T) {
	dir := inProject(t)
	e := newEditor(t)
	for _, name := range []string{"services/d.yaml", "link.yaml"} {
		path := filepath.Join(dir, name)
		testkit.OK(t, os.Symlink(filepath.Join(dir, "services/c.yaml"), path))
		e.open(path, testkit.Read(t, path))
		if got := e.found(path, 1); strings.Contains(got, "base-path") || !strings.Contains(got, "overlap-drops-context") {
			t.Errorf("%s: %s", name, got)
		}
		e.notify("textDocument/didClose", placeParams{TextDocument: documentID{uriOf(path)}})
		testkit.OK(t, os.Remove(path))
	}
}

// TestParsedOnce counts the calls of the parser: one for each text, whatever the editor asks about it, and whatever is
// registered together with it. An unsaved text counts for the others, whether it looks like a definition or not.
func TestParsedOnce(t *testing.T) {
	dir := inProject(t)
	a, b := filepath.Join(dir, "services/a.yaml"), filepath.Join(dir, "services/b.yaml")
	partner := filepath.Join(t.TempDir(), "partner.yaml") // in a folder of its own
	texts := map[string]string{a: testkit.Read(t, a), b: testkit.Read(t, b), partner: sports}
	e := newEditor(t)
	for _, path := range []string{a, b, partner} {
		e.open(path, texts[path])
	}
	e.publish()
	version := 1
	for _, path := range []string{a, b, partner, a} {
		for _, more := range []string{"# é🏈\r\n", "{", "x-notes: 1\n"} {
			before := tree.Parsed.Load()
			version++
			e.change(path, version, contentChange{Text: texts[path] + more}, contentChange{Text: more + texts[path]})
			e.publish()
			in := placeParams{TextDocument: documentID{uriOf(path)}, Position: position{Line: 6, Character: 9}}
			for _, method := range []string{"hover", "documentSymbol", "codeAction", "references", "definition"} {
				e.try("textDocument/"+method, in, nil)
			}
			if n := tree.Parsed.Load() - before; n != 1 {
				t.Errorf("%s%q: %d calls of the parser", path, more, n)
			}
		}
	}
	e.open(b, "notes: 1")
	if got := e.found(b, 1); !strings.Contains(got, definition.RuleNotADefinition) {
		t.Errorf("the project names the file, and what is typed into it has the findings %q", got)
	}
	testkit.Equal(t, "findings of a.yaml", e.found(a, version), "")
}

// TestKeepsDefinitions checks that a document that was a definition is judged until it is closed.
func TestKeepsDefinitions(t *testing.T) {
	path := filepath.Join(t.TempDir(), "feeds.yaml")
	e := newEditor(t)
	e.open(path, sports)
	for i, text := range []string{"", "verions", "openapi: 3.1.0\n"} {
		e.change(path, 2+i, contentChange{Text: text})
		if e.found(path, 2+i) == "" {
			t.Errorf("with %q there are no findings", text)
		}
	}
	e.notify("textDocument/didClose", placeParams{TextDocument: documentID{uriOf(path)}})
	e.open(path, "openapi: 3.1.0\n")
	testkit.Equal(t, "after closing it", e.found(path, 1), "")
}

// TestNotJSON checks that a message that is not JSON is answered, and does not end the session; and that the editor is asked
// to watch files if it can.
func TestNotJSON(t *testing.T) {
	bodies, log, err := converse(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"capabilities":{"workspace":{"didChangeWatchedFiles":{"dynamicRegistration":true}}}}}
		{"jsonrpc":
		{"jsonrpc":"2.0","method":"initialized"}
		{"jsonrpc":"2.0","id":"signpost-watch","result":null}
		{"jsonrpc":"2.0","id":2,"method":"shutdown"}
		{"jsonrpc":"2.0","method":"exit"}`)
	if err != nil || len(bodies) != 4 || strings.Contains(log, "WARN") {
		t.Fatalf("%v: %s\n%s", err, bodies, log)
	}
	for i, want := range []string{`"id":1`, `"code":-32700`, `{"globPattern":"**/*.{yaml,yml,json,YAML,YML,JSON}"}`, `"id":2`} {
		if !strings.Contains(bodies[i], want) {
			t.Errorf("message %d is %s, without %s", i, bodies[i], want)
		}
	}
	if _, _, err := converse(`{"jsonrpc":`); !errors.Is(err, ErrNoShutdown) {
		t.Error(err)
	}
}

// TestSameAsLint makes random edits of the definitions of a project: the editor has the findings that signpost lint has for
// the same text, after each of them.
func TestSameAsLint(t *testing.T) {
	dir := inProject(t)
	edits := 300
	if text := os.Getenv("SIGNPOST_SOAK_EDITS"); text != "" {
		edits = testkit.Must(strconv.Atoi(text))(t)
	}
	random := rand.New(rand.NewPCG(1, 2))
	e := newEditor(t)
	texts := make(map[string]string)
	var paths []string
	for _, name := range []string{"a", "b", "c"} {
		path := filepath.Join(dir, "services", name+".yaml")
		texts[path] = testkit.Read(t, path)
		paths = append(paths, path)
		e.open(path, texts[path])
	}
	words := []string{"/a", "/b", "/c/x", "token", "tokn", "required: true", "\n", "  ", "", "{", "]", "base_path: /a\n", "versions:", "{{host}}", "name", "é🏈"}
	original := make(map[string]string)
	for path, text := range texts {
		original[path] = text
	}
	for version := 2; version < 2+edits; version++ {
		path := paths[random.IntN(len(paths))]
		text := []rune(texts[path])
		from := random.IntN(len(text) + 1)
		to := min(len(text), from+random.IntN(6))
		next := string(text[:from]) + words[random.IntN(len(words))] + string(text[to:])
		if random.IntN(8) == 0 { // most edits break something, and then little else is judged
			next = original[path]
		}
		texts[path] = next
		testkit.Write(t, path, next)
		e.out.Reset()
		e.change(path, version, contentChange{Text: next})
		for _, path := range paths {
			want := lintFile(t, dir, path)
			got := e.findings(e.documents[uriOf(path)])
			if a, b := asJSON(t, got), asJSON(t, want); a != b {
				t.Fatalf("edit %d of %s: the editor has\n%s\nlint has\n%s\nof\n%s", version, path, a, b, texts[path])
			}
		}
	}
}

func asJSON(t *testing.T, findings []signpost.Finding) string {
	return string(testkit.Must(json.Marshal(slices.Concat([]signpost.Finding{}, findings)))(t))
}
