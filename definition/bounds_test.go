package definition

import (
	"fmt"
	"runtime"
	"strings"
	"testing"
)

// repeated returns n lines made from a format with the number of the line.
func repeated(n int, format string) string {
	var out strings.Builder
	for i := range n {
		fmt.Fprintf(&out, format, i)
	}
	return out.String()
}

// Of the findings that are not listed, the note counts the rest, and an error makes it an error: the file does not compile.
func TestFindingsAreBounded(t *testing.T) {
	options := strings.TrimSuffix(repeated(maxFindings+3, `{"value": "v%d", "label": "X"}, `), ", ")
	text := `{"modifiers": {"m": {"kind": "select", "id": "m", "name": "M", "key": "m", "label": "M", "options": [` + options + `]}},
"versions": {"v1": {"endpoints": {"https://{{host}}/%s/a": {"name": "A", "method": "get", "mime_type": "application/json", "modifiers": ["m"], "allow": {"overlap-drops-context": "it is public"}}}}, "v2": {"endpoints": {}}}, "allow": {"no-endpoints": "it is new"}}`
	for version, want := range map[string]string{"v1": "2 more findings are not listed", "v2": "3 more findings are not listed"} {
		file := Parse("f.json", []byte(fmt.Sprintf(text, version)))
		findings := Lint(file)
		last := findings[len(findings)-1]
		if _, err := file.Compile(nil); len(findings) != maxFindings+1 || last.Message != want || (err != nil) != (version == "v2") {
			t.Errorf("%s: %d findings, the last: %v; compiled: %v", version, len(findings), last, err)
		}
		if before := findings[len(findings)-2]; last.Line != 1 || last.Column <= before.Column {
			t.Errorf("%s: the note is at %d:%d, the last finding at %d:%d", version, last.Line, last.Column, before.Line, before.Column)
		}
	}
}

// A small file must not become a large manifest: shared modifiers and features are repeated for every endpoint.
func TestManifestsAreBounded(t *testing.T) {
	options := repeated(5000, "{value: v%d, label: Value}, ")
	modifier := "modifiers: {m: {kind: select, id: m, name: M, key: m, label: M, options: [" + options + "]}}\n"
	endpoints := "versions: {v1: {endpoints: {" + repeated(1000, `"https://{{host}}/v1/f%d": {name: F, method: get, mime_type: application/json, modifiers: [m]}, `) + "}}}\n"
	features := "enable: [" + repeated(1000, "f%d, ") + "]\nfeatures: {" + repeated(1000, "f%d: {context_obj: [{key: k%[1]d, type: ctx}]}, ") + "}\n"
	const want = "shared modifiers, features and fields with a plus make the manifests larger by more than 32 MiB"
	for name, text := range map[string]string{"modifiers": modifier + endpoints, "features": features + strings.ReplaceAll(endpoints, ", modifiers: [m]", "")} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		file := Parse("f.yaml", []byte(text))
		runtime.ReadMemStats(&after)
		var found bool
		for _, f := range Lint(file) {
			found = found || f.Message == want
		}
		if !found {
			t.Errorf("%s: got %d findings", name, len(Lint(file)))
		}
		if took := (after.TotalAlloc - before.TotalAlloc) >> 20; took > 512 {
			t.Errorf("%s: parsing allocated %d MiB", name, took)
		}
	}
}
