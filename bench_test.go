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

func BenchmarkRender(b *testing.B) {
	template := compile(b, benchmarkManifest(b))
	b.SetBytes(int64(len(rendered(b, template, "api.example.com"))))
	b.ReportAllocs()
	for b.Loop() {
		rendered(b, template, "api.example.com")
	}
}
