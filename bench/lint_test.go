// Package bench shows how fast Signpost is, and how that grows. make bench runs it.
package bench

import (
	"bytes"
	"fmt"
	"testing"

	"signpost/definition"
)

// large returns a definition of n endpoints with two modifiers each.
func large(n int) []byte {
	var out bytes.Buffer
	out.WriteString("modifiers:\n  limit: {kind: number, id: limit, name: Page size, key: limit, label: Limit, defaultValue: 20}\nversions:\n  v1:\n    endpoints:\n")
	for i := range n {
		fmt.Fprintf(&out, `      https://{{host}}/v1/feeds/%d/{{id}}:
        name: Feed %d
        method: get
        mime_type: application/json
        modifiers:
          - limit
          - {kind: select, id: sort, name: Sort order, key: sort, label: Sort by, options: [{value: a, label: A}, {value: b, label: B}]}
`, i, i)
	}
	return out.Bytes()
}

// BenchmarkLint reads and lints a definition. Time and memory should grow as its size does.
func BenchmarkLint(b *testing.B) {
	for _, n := range []int{10, 1000, 10_000} {
		text := large(n)
		b.Run(fmt.Sprint(n, "-endpoints"), func(b *testing.B) {
			b.ReportAllocs()
			b.SetBytes(int64(len(text)))
			for b.Loop() {
				if findings := definition.Lint(definition.Parse("large.yaml", text)); len(findings) > 0 {
					b.Fatal(findings)
				}
			}
		})
	}
}
