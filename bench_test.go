package signpost_test

import (
	"fmt"
	"testing"

	"signpost"
)

var benchmarkSizes = []int{10, 1000} // endpoints

func benchmarkManifest(b *testing.B, endpoints int) signpost.Manifest {
	var m signpost.Manifest
	for i := range endpoints {
		e := goodEndpoint(b)
		e.URL = fmt.Sprintf("https://{{host}}/v1/feeds/%d/{{id}}", i)
		m.Endpoints = append(m.Endpoints, e)
	}
	return m
}

func BenchmarkCompile(b *testing.B) {
	for _, size := range benchmarkSizes {
		m := benchmarkManifest(b, size)
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

// BenchmarkRender renders for a usual host, and for one for which two URLs become the same.
func BenchmarkRender(b *testing.B) {
	for _, size := range benchmarkSizes {
		m := benchmarkManifest(b, size)
		m.Endpoints = append(m.Endpoints, feed("https://colliding.example.com/v1/feeds/0/{{id}}"))
		template := compile(b, m)
		for _, host := range []string{"api.example.com", "colliding.example.com"} {
			b.Run(fmt.Sprintf("%s/endpoints=%d", host, size), func(b *testing.B) {
				b.SetBytes(int64(len(rendered(b, template, host))))
				b.ReportAllocs()
				for b.Loop() {
					rendered(b, template, host)
				}
			})
		}
	}
}
