package definition

import (
	"bytes"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"signpost"
)

// Definitions with %s in place of a piece of text.
const (
	atTop      = "%sversions: {v1: {endpoints: {}}}\n"
	beforeOne  = "%sversions:\n  v1:\n    endpoints:\n      https://{{host}}/v1/media: {name: Media, method: get, mime_type: application/json}\n"
	inEndpoint = "versions:\n  v1:\n    endpoints:\n      https://{{host}}/a:\n%s        mime_type: application/json\n"
	inContext  = "versions:\n  v1:\n    endpoints:\n      https://{{host}}/a: {name: A, method: post, mime_type: application/json, context_obj: [{key: k, %s}]}\n"
	ofUnused   = "%smodifiers: {m: {kind: text, id: m, name: M, key: m, label: M}}\nversions: {v1: {endpoints: {}}}\n"
	inModifier = "allow: {unused-modifier: x, no-endpoints: x}\nmodifiers:\n  m:\n    id: m\n    name: M\n    key: m\n    label: M\n    %sversions: {v1: {endpoints: {}}}\n"
	inFlow     = "allow: {unused-modifier: x, no-endpoints: x}\nmodifiers: {m: {%s, id: m, name: M, key: m, label: M}}\nversions: {v1: {endpoints: {}}}\n"
	jsonSelect = `{"allow": {"unused-modifier": "y"}, "modifiers": {"m": {"kind": "select", "id": "m", "name": "M", "key": "m", "label": "M", %s}}, "versions": {"v1": {"endpoints": {}}}}`
)

// TestFix fixes mistakes. Everything else stays byte for byte the same, whatever the line endings.
func TestFix(t *testing.T) {
	for _, test := range []struct{ name, in, old, new string }{
		{"a quoted name", inEndpoint, "        name: A\n        'mehtod'  :   \"GET\" # loud\n", "        name: A\n        'method'  :   \"get\" # loud\n"},
		{"a context type", inContext, "type: bodyparam, required: 'TRUE'", "type: bodyParam, required: true"},
		{"bare options", inFlow, "kind: select, options: [football, table-tennis, 'on']",
			"kind: select, options: [{value: football, label: Football}, {value: table-tennis, label: Table tennis}, {value: 'on', label: 'On'}]"},
		{"options in lines", inModifier, "kind: select\n    options:\n      - football # the first\n      - true\n",
			"kind: select\n    options:\n      - {value: football, label: Football} # the first\n      - {value: \"true\", label: \"True\"}\n"},
		{"an option that needs quotes", inFlow, `kind: select, options: ["a, b"]`, `kind: select, options: [{value: "a, b", label: "A, b"}]`},
		{"an option with &, < and >", inFlow, `kind: select, options: ["R&D <new>"]`, `kind: select, options: [{value: "R&D <new>", label: "R&D <new>"}]`},
		{"two that touch", inFlow, "kin: dropdown, options: [{value: a, label: A}]", "kind: select, options: [{value: a, label: A}]"},
		{"JSON", "%s", `{"servce": 5, "versions": {"1": {"endpoints": {}}}}`, `{"service": "5", "versions": {"v1": {"endpoints": {}}}}`},
		{"options in JSON", jsonSelect, `"options":["a b", 1]`, `"options":[{"value": "a b", "label": "A b"}, {"value": "1", "label": "1"}]`},
	} {
		t.Run(test.name, func(t *testing.T) {
			name := "f.yaml"
			if strings.HasPrefix(fmt.Sprintf(test.in, test.old), "{") {
				name = "f.json"
			}
			for _, end := range []string{"\n", "\r\n"} {
				for _, mark := range []string{"", "\ufeff"} {
					old := mark + strings.ReplaceAll(fmt.Sprintf(test.in, test.old), "\n", end)
					want := mark + strings.ReplaceAll(fmt.Sprintf(test.in, test.new), "\n", end)
					fixed := Options{}.Fix(name, []byte(old))
					if string(fixed.Text) != want || len(slices.DeleteFunc(Lint(fixed.File), func(f signpost.Finding) bool { return f.Rule == RuleNoEndpoints })) > 0 {
						t.Errorf("got\n%q\nwant\n%q\nleft: %v", fixed.Text, want, Lint(fixed.File))
					}
				}
			}
		})
	}
}

// There is no fix for what would change what apps send, or for what a person has to decide.
func TestNoFix(t *testing.T) {
	for _, test := range []struct{ in, text string }{
		{inEndpoint, "        name: A\n        method: put\n"},
		{inContext, "type: header"},
		{beforeOne, "context_keys: {k: K}\nfeatures: {f: {context_obj: [{key: kk, type: ctx}]}}\n"},
		{inFlow, "kind: select, options: [{value: ab, label: A}, {value: ac, label: B}], defaultValue: ad"},
		{inFlow, "kind: text, lable: again"},
		{inEndpoint, "        name: A\n        method: |\n          GET\n"},
		{ofUnused, "x-allow: &a {plain-http: x, duplicate-name: x}\nallow: {<<: *a, unused-modifier: x}\n"},
		{atTop, "allow:\n  ? plain-http\n  : x\n  ? duplicate-name\n  : x\n"},
		{inFlow, `kind: select, options: ["a\nb"]`},
		{"%s", "versions: {v1: {endpoints: {\"https://{{host}}/v1/:id\": &e {name: A, method: get, mime_type: application/json}, \"https://{{host}}/v1/{{id}}\": {<<: *e, name: B}}}}\n"},
	} {
		text := fmt.Sprintf(test.in, test.text)
		fixed := Options{}.Fix("f.yaml", []byte(text))
		if len(fixed.Applied) > 0 || string(fixed.Text) != text || len(Lint(fixed.File)) == 0 {
			t.Errorf("%q: fixed %v, left %v", test.text, fixed.Applied, Lint(fixed.File))
		}
	}
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
		text := []byte(strings.Replace(fmt.Sprintf(inContext, "type: ctx"), "https", "http", 1))
		start := bytes.Index(text, []byte(test.old))
		f := Fixed{Text: text, File: Parse("f.yaml", text)}
		fix := f.File.write(f.File.doc.NodeAt(start, start+len(test.old)), test.new)
		got := Options{}.try("f.yaml", &f, []signpost.Finding{{Fix: fix}}, map[string]bool{})
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
