package definition

import (
	"bytes"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"signpost"
	"signpost/internal/testkit"
)

// TestFix shows what is wrong with a changed definition, the lines that fixes write, and what is left then.
func TestFix(t *testing.T) {
	fixable := testkit.Variants(t, "../testdata/mistakes/values.txtar")[0].Text
	testkit.Cases(t, "testdata/fixes.golden", func(input string) string {
		name, text := "f.json", input
		if input[0] != '{' {
			old, new, _ := strings.Cut(input, " => ")
			if name, text = "f.yaml", strings.Replace(fixable, old, new, 1); !strings.Contains(fixable, old) {
				t.Errorf("there is no %s", old)
			}
		}
		return fixedLines(t, name, text)
	})
}

// fixedLines lists the findings about a text, the lines that fixes write, and the findings that are left. Everything else stays
// byte for byte the same, whatever the line endings.
func fixedLines(t *testing.T, name, text string) string {
	t.Helper()
	checkFix(t, name, []byte(text))
	fixed := Options{}.Fix(name, []byte(text))
	crlf := func(text string) string { return strings.ReplaceAll(text, "\n", "\r\n") }
	for old, want := range map[string]string{crlf(text): crlf(string(fixed.Text)), "\ufeff" + text: "\ufeff" + string(fixed.Text)} {
		if got := (Options{}).Fix(name, []byte(old)); string(got.Text) != want {
			t.Errorf("got\n%q\nwant\n%q", got.Text, want)
		}
	}
	var out strings.Builder
	for _, f := range Lint(Parse(name, []byte(text))) {
		fmt.Fprintf(&out, "%d:%d %s\n", f.Line, f.Column, f.Message)
	}
	lines := strings.Split(string(fixed.Text), "\n")
	for _, line := range lines {
		if !slices.Contains(strings.Split(text, "\n"), line) {
			fmt.Fprintf(&out, "+ %s\n", line)
		}
	}
	if added := len(lines) - strings.Count(text, "\n") - 1; added != 0 {
		fmt.Fprintf(&out, "%d lines more\n", added)
	}
	if len(fixed.Applied) > 0 {
		for _, f := range Lint(fixed.File) {
			fmt.Fprintf(&out, "left: %d:%d %s\n", f.Line, f.Column, f.Message)
		}
	}
	return out.String()
}

// A fix is not applied if it leaves more errors than before, or as many errors and more warnings.
func TestFixNoWorse(t *testing.T) {
	for _, test := range []struct {
		old, new string
		want     bool
	}{
		{"http://", "https://", true},
		{"http://", "ftp://", false}, // an error for a warning
		{"name: A", "name: B", true},
		{"method: post", "method: put", false},
		{"{{host}}/a", "{{host}}", false}, // a warning more
	} {
		text := []byte("versions:\n  v1:\n    endpoints:\n" +
			"      http://{{host}}/a: {name: A, method: post, mime_type: application/json, context_obj: [{key: k, type: ctx}]}\n")
		start := bytes.Index(text, []byte(test.old))
		f := Fixed{Text: text, File: Parse("f.yaml", text)}
		fix := f.File.write(f.File.doc.NodeAt(start, start+len(test.old)), test.new)
		got := Options{}.try(&f, []signpost.Finding{{Fix: fix}}, map[string]bool{})
		if got != test.want || len(f.Applied) > 0 != test.want || bytes.Equal(f.Text, text) == test.want {
			t.Errorf("%s for %s: applied %v\n%s", test.new, test.old, got, f.Text)
		}
	}
}

// TestApplyFixes takes fixes in any order.
func TestApplyFixes(t *testing.T) {
	edit := func(line, from, to int, text string) signpost.Fix {
		return signpost.Fix{Edits: []signpost.Edit{{Line: line, Column: from, EndLine: line, EndColumn: to, Text: text}}}
	}
	got := ApplyFixes("f.yaml", []byte("a: 1\nb: 2\nc: 3\n"), edit(3, 4, 5, "drei"), edit(1, 4, 5, "eins"), edit(2, 1, 2, ""))
	if string(got) != "a: eins\n: 2\nc: drei\n" {
		t.Errorf("got %q", got)
	}
}

// checkFix checks the invariants of a fixed file.
func checkFix(t *testing.T, name string, text []byte) {
	t.Helper()
	before := Parse(name, text)
	fixed := Options{}.Fix(name, text)
	if !noWorse(fixed.File, before) {
		t.Errorf("%s: worse than before: %v, then %v\n%s", name, Lint(before), Lint(fixed.File), fixed.Text)
	}
	if again := (Options{}).Fix(name, fixed.Text); len(again.Applied) > 0 && !bytes.Equal(again.Text, fixed.Text) {
		t.Errorf("%s: a second run changes more: %v\n%s\n%s", name, again.Applied, fixed.Text, again.Text)
	}
	if len(fixed.Applied) == 0 && !bytes.Equal(text, fixed.Text) {
		t.Errorf("%s: changed without a finding", name)
	}
}

// FuzzFix checks that fixing any file, such as those of the corpus, terminates and does not make it worse.
func FuzzFix(f *testing.F) {
	for path, text := range corpus(f, "warn", "err") {
		f.Add(text, filepath.Ext(path) == ".json")
	}
	f.Fuzz(func(t *testing.T, text []byte, json bool) {
		checkFix(t, map[bool]string{true: "f.json", false: "f.yaml"}[json], text)
	})
}
