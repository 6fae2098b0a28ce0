package signpost_test

import (
	"fmt"
	"testing"

	"signpost"
)

func benchmarkManifest(b *testing.B) signpost.Manifest {
	var m signpost.Manifest
	for i := range 1000 {
		e := goodEndpoint(b)
		e.URL = fmt.Sprintf("https://{{host}}/v1/feeds/%d/{{id}}", i)
		m.Endpoints = append(m.Endpoints, e)
	}
	return m
}

func BenchmarkCompile(b *testing.B) {
	m := benchmarkManifest(b)
	b.ReportAllocs()
	for b.Loop() {
		compile(b, m, signpost.Authentication(), signpost.GeoRestriction())
	}
}

// BenchmarkRender renders for a usual host, and for one for which two URLs become the same.
func BenchmarkRender(b *testing.B) {
	m := benchmarkManifest(b)
	m.Endpoints = append(m.Endpoints, feed("https://colliding.example.com/v1/feeds/0/{{id}}"))
	template := compile(b, m)
	for _, host := range []string{"api.example.com", "colliding.example.com"} {
		b.Run(host, func(b *testing.B) {
			b.SetBytes(int64(len(rendered(b, template, host))))
			b.ReportAllocs()
			for b.Loop() {
				rendered(b, template, host)
			}
		})
	}
}
