package signpost_test

import (
	"fmt"
	"strings"
	"testing"

	"signpost"
)

// Validating a manifest takes time linear in its size, even for invalid input. The test counts allocations, because
// comparing pairs would allocate findings, keys or lists for each pair.
func TestWorkIsLinear(t *testing.T) {
	item := func(key string) signpost.ContextItem {
		return signpost.ContextItem{Key: key, Type: signpost.ContextCtx}
	}
	manifest := func(n int, url func(i int) string, keys func(i int) []signpost.ContextItem) signpost.Manifest {
		var m signpost.Manifest
		for i := range n {
			e := feed(url(i))
			e.Name = fmt.Sprint(i)
			if keys != nil {
				e.ContextObj = keys(i)
			}
			m.Endpoints = append(m.Endpoints, e)
		}
		return m
	}
	own := func(i int) []signpost.ContextItem { return []signpost.ContextItem{item(fmt.Sprint("k", i))} }
	path := func(format string) func(int) string {
		return func(i int) string { return fmt.Sprintf("https://{{host}}"+format, i) }
	}
	for name, build := range map[string]func(n int) signpost.Manifest{
		"paths":                func(n int) signpost.Manifest { return manifest(n, path("/v1/feeds/%d"), own) },
		"texts behind one":     func(n int) signpost.Manifest { return manifest(n, path("/v1/{{id}}/part%d"), own) },
		"texts in one segment": func(n int) signpost.Manifest { return manifest(n, path("/v1/{{id}}-part%d-"), own) },
		"segments that cross":  func(n int) signpost.Manifest { return manifest(n, path("/{{a}}/p%d/{{b}}"), own) },
		"hosts of one URL": func(n int) signpost.Manifest {
			return manifest(n, func(i int) string {
				return fmt.Sprintf([]string{"https://a%d.{{host}}/a", "https://a%d.example/a"}[i%2], i)
			}, nil)
		},
		"the same name": func(n int) signpost.Manifest {
			m := manifest(n, path("/%d"), nil)
			for i := range m.Endpoints {
				m.Endpoints[i].Name = "x"
			}
			return m
		},
		"keys that are in the URL": func(n int) signpost.Manifest {
			var query []string
			e := feed("")
			for i := range n {
				key := fmt.Sprint("p", i)
				query = append(query, key+"=1")
				e.Modifiers = append(e.Modifiers, signpost.Text(signpost.ModifierInput{ID: key, Name: key, Key: key, Label: key}))
			}
			e.URL = "https://{{host}}/a?" + strings.Join(query, "&")
			return signpost.NewManifest(e)
		},
		"keys of nested endpoints": func(n int) signpost.Manifest {
			var items []signpost.ContextItem
			for i := range n {
				items = append(items, item(fmt.Sprint("k", i)))
			}
			return manifest(3, func(i int) string { return "https://{{host}}" + strings.Repeat("/a", i+1) }, func(i int) []signpost.ContextItem { return items[:n-i*n/4] })
		},
	} {
		work := func(n int) float64 {
			m := build(n)
			return testing.AllocsPerRun(1, func() {
				m.Validate()
				m.OwnWarnings(signpost.Deployment{})
			})
		}
		if small, large := work(200), work(400); large > 2.6*small {
			t.Errorf("%s: %.0f allocations for 200, %.0f for 400", name, small, large)
		}
	}
}
