package usage

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"signpost"
	"signpost/contextkeys"
	"signpost/internal/testkit"
)

// FuzzLine counts any line. It is counted exactly once, or not at all if it is empty, for a manifest or a preflight; what
// comes out has no name that is not declared or shaped like one, and is the same usage file if it is read again.
func FuzzLine(f *testing.F) {
	for _, line := range testkit.Inputs(f, "testdata/lines.golden") {
		f.Add([]byte(line))
	}
	f.Add([]byte(combined("/v1/films/7/media?ctx="+ctx(`{"`+token+`":"x"}`)+"&a=1&%zz=2&b", 200)))
	f.Fuzz(func(t *testing.T, line []byte) {
		c := NewCounter(services(), nil)
		c.workers[0].line(bytes.TrimSpace(line), Line{})
		u := c.Usage()
		counted := u.Requests
		for reason, n := range u.Unread {
			counted += n
			if masked := u.First[reason].Masked; strings.ContainsAny(masked, "abcdefghijklmnopqrstuvwxyz0123456789\x1b") {
				t.Errorf("masked as %q", masked)
			}
		}
		var sum uint
		for _, e := range u.Endpoints {
			sum += e.Requests
			for name := range e.Undeclared {
				if !isName([]byte(name)) {
					t.Errorf("undeclared %q", name)
				}
			}
			for name, k := range e.Keys {
				if k.Present+k.Missing+k.Undefined+k.Unseen != e.Requests {
					t.Errorf("key %s: %+v of %d", name, k, e.Requests)
				}
			}
		}
		for _, n := range u.Unmatched {
			sum += n
		}
		if counted > 1 || sum != u.Requests {
			t.Errorf("counted %d times, and %d requests by endpoint", counted, sum)
		}
		text := testkit.Must(json.Marshal(u))(t)
		again := NewCounter(services(), nil)
		testkit.OK(t, again.Count(t.Context(), "usage", bytes.NewReader(text)))
		testkit.Equal(t, "usage file", string(testkit.Must(json.Marshal(again.Usage()))(t)), string(text))
	})
}

// FuzzContext compares the keys that are found in a ctx parameter with those of package contextkeys. A whole ctx that
// stands for no value is undefined, where contextkeys has no keys.
func FuzzContext(f *testing.F) {
	for _, text := range []string{`{"k":"v"}`, `{"k":null}`, `{"k":"undefined"}`, `{"k":[1,{"k":2}],"x":{}}`, `{"x":"k"}`, `["k"]`, `{"k":1,}`, `{}`, ` {"k" : 1} `, `{"":1}`,
		"null", " undefined "} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		want := Key{Missing: 1}
		if whole := strings.TrimSpace(text); whole == "null" || whole == "undefined" {
			want = Key{Undefined: 1}
		}
		values, err := contextkeys.Decode(ctx(text))
		for name, value := range values.All() {
			if name != "k" {
				continue
			}
			want = Key{Present: 1}
			if s, isText := value.(string); value == nil || isText && isNothing([]byte(s)) {
				want = Key{Undefined: 1}
			}
		}
		got := Key{Item: &signpost.ContextItem{Key: "k", Type: signpost.ContextCtx}}
		want.Item = got.Item
		(&Endpoint{Keys: map[string]*Key{"k": &got}}).countKeys([]byte(ctx(text)))
		if got != want && err == nil {
			t.Errorf("%q: %+v, and contextkeys has %+v", text, got, want)
		}
	})
}
