package main

import (
	"fmt"
	"testing"

	"signpost/definition"
)

// BenchmarkLint parses and lints a definition. Time and memory should be linear in its size.
func BenchmarkLint(b *testing.B) {
	for _, n := range []int{10, 1000, 10_000} {
		text := service(0, n)
		b.Run(fmt.Sprint(n, "-endpoints"), func(b *testing.B) {
			b.ReportAllocs()
			b.SetBytes(int64(len(text)))
			for b.Loop() {
				if findings := definition.Lint(definition.Parse("service.yaml", text)); len(findings) > 0 {
					b.Fatal(findings)
				}
			}
		})
	}
}
