package openapi_test

import (
	"path/filepath"
	"testing"
	"testing/fstest"

	"signpost/internal/testkit"
	"signpost/openapi"
)

// Any document gives an error and nothing else, or a definition that passes lint, can be served, and reports what was
// left out.
func FuzzImport(f *testing.F) {
	inputs, err := filepath.Glob("testdata/*.[yj]*")
	if err != nil || len(inputs) == 0 {
		f.Fatalf("no document to start from: %v", err)
	}
	for _, path := range append(inputs, "testdata/files/api.yaml") {
		text := []byte(testkit.Read(f, path))
		f.Add(text, byte(0))
		f.Add(text, byte(0xff))
	}
	for _, text := range []string{
		"openapi: 3.0.0\npaths: {/a: {get: {parameters: [{name: a, in: query, schema: {default: 1e400, type: number}}]}}}",
		"openapi: 3.1.0\npaths: {/a: {get: {summary: 'true', parameters: [{name: 'null', in: query, schema: {enum: [~, on, 1.0, {}, []]}}]}}}",
		"openapi: 3.1.0\npaths: &p {/a: {get: *p, post: *p, $ref: '#/paths'}}",
		"openapi: 3.1.0\nservers: [&s {url: '{a}{b}', variables: {a: {default: '//'}, b: *s}}]\npaths: {'': {get: {}}, ':': {get: {}}}",
		"openapi: 3.1.0\npaths: {/a: {<<: [{get: {}}, {post: {}}, 5], $ref: 'other.yaml#/item'}}",
		`{"openapi":"3.0.0","info":{"title":"\u0000\u0085\u2028\ufeff\ud800"},"paths":{"/\u0007":{"get":{}},"/\"":{"get":{"summary":"\u001b[2J"}}}}`,
		`{"openapi":"3.0.0","paths":{"/a":{"get":{"parameters":[{"name":"\u00a0","in":"query","schema":{"enum":["\n"," ","\u200b"]}}]}}}}`,
	} {
		f.Add([]byte(text), byte(0x0f))
	}
	files := fstest.MapFS{"other.yaml": {Data: []byte("item: {get: {parameters: [{$ref: '#/p'}]}}\np: {name: p, in: query, schema: {type: integer}}")}}

	f.Fuzz(func(t *testing.T, text []byte, flags byte) {
		opts := openapi.Options{
			Files: files, ThirdParty: flags&1 != 0, Post: flags&2 != 0, Deprecated: flags&4 != 0,
		}
		if flags&8 != 0 {
			opts.Version = "v3"
		}
		if flags&16 != 0 {
			opts.Paths = []string{"/*"}
		}
		result, err := openapi.Import("api.yaml", text, opts)
		if err != nil {
			if result != nil {
				t.Errorf("an error, and also a result: %v", err)
			}
			return
		}
		endpoints(t, result)
		wantNothingLost(t, result)
	})
}
