package signpost_test

import (
	"fmt"
	"testing"

	"signpost"
)

var benchmarkSizes = []int{10, 1000} // endpoints

func benchmarkManifest(endpoints int) signpost.Manifest {
	var m signpost.Manifest
	for i := range endpoints {
		e := goodEndpoint()
		e.URL = fmt.Sprintf("https://{{host}}/v1/feeds/%d/{{id}}", i)
		m.Endpoints = append(m.Endpoints, e)
	}
	return m
}

func BenchmarkCompile(b *testing.B) {
	for _, size := range benchmarkSizes {
		m := benchmarkManifest(size)
		b.Run(fmt.Sprintf("endpoints=%d", size), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := signpost.Compile(m, signpost.Authentication(), signpost.GeoRestriction()); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkRender renders for a usual host, and for "colliding", for which two URLs become the same.
func BenchmarkRender(b *testing.B) {
	for _, size := range benchmarkSizes {
		m := benchmarkManifest(size)
		template := compile(b, m)
		other := feed("https://colliding.example.com/v1/feeds/0/{{id}}")
		colliding := compile(b, signpost.NewManifest(append(m.Endpoints, other)...))
		ways := []struct {
			name   string
			render func() ([]byte, error)
		}{
			{"template", func() ([]byte, error) { return template.Render("api.example.com") }},
			{"colliding", func() ([]byte, error) { return colliding.Render("colliding.example.com") }},
		}
		for _, way := range ways {
			b.Run(fmt.Sprintf("%s/endpoints=%d", way.name, size), func(b *testing.B) {
				doc, err := way.render()
				if err != nil {
					b.Fatal(err)
				}
				b.SetBytes(int64(len(doc)))
				b.ReportAllocs()
				for b.Loop() {
					if _, err := way.render(); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}
