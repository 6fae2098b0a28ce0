package adopt

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"signpost"
	"signpost/definition"
	"signpost/internal/testkit"
	"signpost/internal/tree"
)

const own = "feeds.example.com"

// normal returns a manifest in a form in which equal ones are equal: endpoints in order, and without the defaults of
// absent fields. It knows nothing of the code under test.
func normal(t *testing.T, text string) []any {
	t.Helper()
	dec := json.NewDecoder(strings.NewReader(text))
	dec.UseNumber()
	var top map[string]any
	testkit.OK(t, dec.Decode(&top))
	endpoints := top["endpoints"].(map[string]any)
	delete(top, "endpoints")
	all := []any{top}
	for _, url := range keys(t, text) {
		e := endpoints[url].(map[string]any)
		for _, name := range []string{"context_obj", "modifiers"} {
			if list, ok := e[name].([]any); ok && len(list) == 0 {
				delete(e, name)
			}
		}
		items, _ := e["context_obj"].([]any)
		for _, item := range items {
			item := item.(map[string]any)
			if item["required"] == false {
				delete(item, "required")
			}
			if item["mapper"] == nil {
				delete(item, "mapper")
			}
		}
		all = append(all, []any{url, e})
	}
	return all
}

// keys returns the URLs of a manifest in order.
func keys(t *testing.T, text string) []string {
	t.Helper()
	var doc map[string]json.RawMessage
	testkit.OK(t, json.Unmarshal([]byte(text), &doc))
	dec := json.NewDecoder(bytes.NewReader(doc["endpoints"]))
	testkit.Must(dec.Token())(t)
	var all []string
	for dec.More() {
		key := testkit.Must(dec.Token())(t)
		all = append(all, key.(string))
		testkit.OK(t, dec.Decode(new(json.RawMessage)))
	}
	return all
}

// rendered returns what a service with the definition sends: as it reads, if it has errors.
func rendered(t *testing.T, text []byte, version, host string) string {
	t.Helper()
	file := definition.Parse("feeds.yaml", text)
	if len(definition.Errors(file)) == 0 && host != "" {
		templates := testkit.Must(file.Compile(nil))(t)
		return string(testkit.Must(templates[version].Render(host))(t))
	}
	for _, v := range file.Readable(nil) {
		if v.Name == version {
			m := v.Manifest
			if host != "" {
				m = testkit.Must(m.ForHost(host))(t)
			}
			return string(testkit.Must(m.MarshalJSON())(t))
		}
	}
	t.Fatalf("there is no %s in\n%s", version, text)
	return ""
}

// texts are what YAML, JSON and people treat in special ways.
var texts = []string{
	"a", "Page size", "true", "No", "null", "~", "12", "1.50", "0x10", "1e3", "2024-05-01", "a: b", "a #b", "- a", "? a", "[a]", "{a}", "&a", "*a", "!a",
	"%a", "@a", "`a", "|", ">", "'", `"`, `\`, "a\nb\r\n", "\ta ", "\x00\x1b", "\u0085\u00a0\u2028\ufeff", "é📺\U0010ffff", "<<", "=", "---", "...",
	"+", "+a", "x-a", "{{host}}", "{{id}}", "<&>", strings.Repeat("long ", 300),
}

var numbers = []string{"0", "-0", "20", "20.0", "1e3", "1E+2", "-1.50e-7", "12345678901234567890.12345678901234567890", "1e308"}

// random writes random manifests.
type random struct {
	*rand.Rand
	odd   bool // with values of the wrong type, and keys twice
	extra bool // with fields beyond the specification
}

func (r random) text() string   { return tree.Quote(texts[r.IntN(len(texts))]) }
func (r random) number() string { return numbers[r.IntN(len(numbers))] }

// one returns one of the texts.
func (r random) one(of ...string) string { return of[r.IntN(len(of))] }

// any returns a value of any kind.
func (r random) any(depth int) string {
	switch n := r.IntN(7); {
	case n == 0 && depth < 4:
		return "[" + r.any(depth+1) + "," + r.any(depth+1) + "]"
	case n == 1 && depth < 4:
		return "{" + r.text() + ":" + r.any(depth+1) + `,"b":` + r.any(depth+1) + "}"
	case n == 2:
		return r.number()
	case n == 3:
		return r.one("true", "false", "null", "[]", "{}")
	}
	return r.text()
}

// object returns an object with the fields, given as names and values in turn. Names with a question mark are optional.
func (r random) object(fields ...string) string {
	var members []string
	for i := 0; i < len(fields); i += 2 {
		name, optional := strings.CutSuffix(fields[i], "?")
		value := fields[i+1]
		if optional && r.IntN(2) == 0 {
			continue
		}
		if r.odd && r.IntN(20) == 0 {
			value = r.any(0)
		}
		members = append(members, tree.Quote(name)+":"+value)
		if r.odd && r.IntN(40) == 0 {
			members = append(members, tree.Quote(name)+":"+value)
		}
	}
	if r.extra && r.IntN(3) == 0 {
		members = append(members, tree.Quote("z"+texts[r.IntN(len(texts))])+":"+r.any(0), `"observe_storage":`+r.any(0))
	}
	r.Shuffle(len(members), func(i, j int) { members[i], members[j] = members[j], members[i] })
	return "{" + strings.Join(members, ",") + "}"
}

func (r random) list(max int, item func() string) string {
	var items []string
	for range r.IntN(max + 1) {
		items = append(items, item())
	}
	return "[" + strings.Join(items, ",") + "]"
}

func (r random) contextItem() string {
	kind := r.one(`"ctx"`, `"bodyParam"`)
	if r.extra {
		kind = r.one(kind, `"header"`, `"bearerHeader"`, `"my type"`, `"é"`, `""`)
	}
	return r.object("key", r.text(), "type", kind, "required?", r.one("true", "false"), "mapper?", r.one("null", r.text()))
}

func (r random) modifier() string {
	if r.IntN(2) == 0 { // one that several endpoints have
		return r.one(`{"id":"limit","name":"Limit","params":[{"key":"limit","ui":{"label":"L"},"schema":{"type":"number","default":20}}]}`,
			`{"id":"limit","name":"Limit","params":[{"key":"limit","ui":{"label":"L"},"schema":{"type":"string","default":"20"}}]}`,
			`{"id":"sort","name":"Sort","params":[{"key":"sort","ui":{"label":"L","options":[{"value":"a","label":"A"}]},"schema":{"type":"string","enum":["a"]}}]}`)
	}
	param := func() string {
		options := `[` + r.object("value", r.text(), "label", r.text()) + `,` + r.object("value", `"b"`, "label", r.text()) + `]`
		ui := r.object("label", r.text(), "placeholder?", r.text(), "options?", options)
		schema := r.object("type", r.one(`"string"`, `"number"`, `"boolean"`), "default?", r.one(r.text(), r.number(), "true", "false", `""`),
			"enum?", "["+r.text()+`,"b"]`)
		return r.object("key", r.text(), "ui", ui, "schema", schema)
	}
	return r.object("id", r.text(), "name", r.text(), "params", "["+r.one(param(), param()+","+param())+"]")
}

func (r random) endpoint() string {
	method := r.one(`"get"`, `"post"`)
	if r.extra {
		method = r.one(method, `"GET"`, `"put"`)
	}
	return r.object("name", r.text(), "method", method, "mime_type", r.one(`"application/json"`, r.text()),
		"context_obj?", r.list(3, r.contextItem), "modifiers?", r.list(3, r.modifier))
}

func (r random) manifest() string {
	var endpoints []string
	for i := range 1 + r.IntN(5) {
		url := r.one("https://"+own, "https://"+own+":8443", "http://"+own, "https://FEEDS.example.com", "https://partner.example.net", "https://not"+own) +
			fmt.Sprintf("/%d/", i) + strings.ReplaceAll(texts[r.IntN(len(texts))], signpost.HostPlaceholder, "host")
		endpoints = append(endpoints, tree.Quote(url)+":"+r.endpoint())
	}
	text := `"endpoints":{` + strings.Join(endpoints, ",") + "}"
	if r.extra {
		text = `"top":` + r.any(0) + "," + text
	}
	return "{" + text + "}"
}

// TestRandom: whatever a manifest says in the right types, the definition gives the same.
func TestRandom(t *testing.T) {
	for seed := range uint64(200) {
		r := random{Rand: rand.New(rand.NewPCG(seed, 1)), extra: seed%2 == 1}
		text, host := r.manifest(), r.one(own, "")
		result, err := Import([]Source{{Name: "m.json", Text: []byte(text), Version: "v1"}}, Options{Host: host})
		if err != nil {
			t.Fatalf("%d: %v\n%s", seed, err, text)
		}
		if len(result.LeftOut) > 0 {
			t.Errorf("%d: %q is left out of\n%s", seed, result.LeftOut, text)
		}
		testkit.Equal(t, fmt.Sprintf("%d: %s\n%s", seed, text, result.Definition), normal(t, rendered(t, result.Definition, "v1", host)), normal(t, text))
		if t.Failed() {
			return
		}
	}
}

// TestRandomOdd: what cannot be written is listed, and everything else is the same, as Import itself proves.
func TestRandomOdd(t *testing.T) {
	for seed := range uint64(200) {
		r := random{Rand: rand.New(rand.NewPCG(seed, 2)), extra: seed%2 == 1, odd: true}
		text := r.manifest()
		result, err := Import([]Source{{Name: "m.json", Text: []byte(text), Version: "v1"}}, Options{Host: own})
		if err != nil {
			t.Fatalf("%d: %v\n%s", seed, err, text)
		}
		if file := definition.Parse("feeds.yaml", result.Definition); len(file.Versions()) != 1 {
			t.Fatalf("%d: the definition cannot be read:\n%s", seed, result.Definition)
		}
	}
}

// TestCorpus imports the manifests of all definitions of the corpus.
func TestCorpus(t *testing.T) {
	imported := 0
	for _, dir := range []string{"ok", "warn", "err"} {
		paths, _ := filepath.Glob(filepath.Join(testkit.Root(), "testdata", dir, "*"))
		for _, path := range paths {
			if filepath.Ext(path) == ".golden" {
				continue
			}
			file := definition.Parse(path, []byte(testkit.Read(t, path)))
			var sources []Source
			for _, v := range file.Readable(nil) {
				m, err := v.Manifest.ForHost(own)
				text, writeErr := m.MarshalJSON()
				if err != nil || writeErr != nil || len(m.Endpoints) == 0 { // a URL does not exist for the host, or is there twice
					continue
				}
				sources = append(sources, Source{Name: v.Name + ".json", Text: text, Version: v.Name})
			}
			if len(sources) == 0 {
				continue
			}
			imported++
			result, err := Import(sources, Options{Host: own})
			if err != nil {
				t.Errorf("%s: %v", path, err)
				continue
			}
			for _, s := range sources {
				got := rendered(t, result.Definition, s.Version, own)
				testkit.Equal(t, path+"\n"+string(result.Definition), normal(t, got), normal(t, string(s.Text)))
			}
		}
	}
	if imported < 70 {
		t.Errorf("only %d definitions of the corpus have manifests", imported)
	}
}

// TestProof: a definition that gives other JSON than the manifest is never returned.
func TestProof(t *testing.T) {
	text := `{"top":1,"endpoints":{"https://` + own + `/a":{"name":"A","method":"get","mime_type":"application/json","x":1.0},` +
		`"https://` + own + `/b":{"name":"B","method":"get","mime_type":"application/json","context_obj":[{"key":"k","type":"ctx"}]}}}`
	source := Source{Name: "m.json", Text: []byte(text), Version: "v1"}
	m := testkit.Must(new(Result).read(source, own, &counter{uses: make(map[string]int)}))(t)
	same := string(testkit.Must(Import([]Source{source}, Options{Host: own}))(t).Definition)
	first, second, _ := strings.Cut(same[strings.Index(same, "      https:"):], "\n      https:")
	second = "      https:" + strings.TrimSuffix(second, "\n")
	for _, test := range []struct {
		old, new string
		ok       bool
	}{
		{"", "", true},
		{"context_obj: []\n", "\n", true},
		{first + "\n" + second, second + "\n" + first, false},
		{second, "", false},
		{"+x: 1.0", "+x: 1", false},
		{"+top: 1", "+top: true", false},
		{"name: B", "name: b", false},
		{"type: ctx", "type: ctx, mapper: m", false},
		{"type: ctx", "type: bodyParam", false},
		{"/{{host}}/a", "/{{host}}/c", false},
	} {
		changed := strings.Replace(same, test.old, test.new, 1)
		if err := prove(definition.Parse("feeds.yaml", []byte(changed)), []*manifest{m}, own); (err == nil) != test.ok {
			t.Errorf("with %q for %q: %v", test.new, test.old, err)
		}
	}
}

// TestLongNames: notes quote what a manifest has, and stay short.
func TestLongNames(t *testing.T) {
	long := strings.Repeat("x", 10_000)
	text := `{"endpoints":{"https://` + own + `/` + long + `":{"name":3,"` + long + `":1},"https://` + own + `/b` + long + `":null}}`
	result := testkit.Must(Import([]Source{{Name: "m.json", Text: []byte(text)}}, Options{}))(t)
	for _, line := range slices.Concat(result.Notes, result.LeftOut) {
		if len(line) > 1000 {
			t.Errorf("%d bytes: %.100s", len(line), line)
		}
	}
	if len(result.LeftOut) != 2 {
		t.Errorf("left out: %q", result.LeftOut)
	}
}

// A field beyond the specification is noted with what has it.
func TestNotesNameOwners(t *testing.T) {
	text := `{"title": "Feeds", "endpoints": {"https://feeds.example.com/v1/a": {"name": "A", "method": "get",
		"mime_type": "application/json", "ttl": 1, "modifiers": [{"id": "m", "name": "M", "params": [
			{"key": "m", "ui": {"label": "M", "help": "x"}, "schema": {"type": "string"}}]}]}}}`
	result := testkit.Must(Import([]Source{{Name: "a.json", Text: []byte(text)}}, Options{}))(t)
	testkit.Equal(t, "the notes", result.Notes[:3], []string{
		`field "title" of the manifest is beyond the specification: carried with a plus, 1 time`,
		`field "ttl" of endpoints is beyond the specification: carried with a plus, 1 time`,
		`field "help" of ui is beyond the specification: carried with a plus, 1 time`,
	})
}
