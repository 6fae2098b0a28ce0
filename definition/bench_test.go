package definition_test

import (
	"bytes"
	"fmt"
	"testing"

	"signpost/definition"
	"signpost/internal/testkit"
)

// service returns the definition of a service at /s{number}, as those of the program in bench.
func service(number, endpoints int) []byte {
	var out bytes.Buffer
	fmt.Fprintf(&out, `base_path: /s%d
enable: [geo-restriction]
modifiers:
  limit: {kind: number, id: limit, name: Page size, key: limit, label: Items per page, defaultValue: 20}
versions:
  v1:
    endpoints:
`, number)
	for i := range endpoints {
		fmt.Fprintf(&out, `      https://{{host}}/s%d/v1/feeds/%d/{{id}}:
        name: Feed %d
        method: get
        mime_type: application/json
        modifiers:
          - limit
          - kind: select
            id: sort
            name: Sort order
            key: sort
            label: Sort by
            options: [{value: newest, label: Newest first}, {value: title, label: Title}]
`, number, i, i)
	}
	return out.Bytes()
}

// The time that an editor needs after a keystroke, and a server after a save.
func BenchmarkParse(b *testing.B) {
	for _, endpoints := range []int{20, 2000} {
		b.Run(fmt.Sprint(endpoints), func(b *testing.B) {
			text := service(1, endpoints)
			b.SetBytes(int64(len(text)))
			b.ReportAllocs()
			for b.Loop() {
				definition.Parse("feeds.yaml", text)
			}
		})
	}
}

// The rules about what is registered together.
func BenchmarkLint(b *testing.B) {
	var files []*definition.File
	for i := range 200 {
		files = append(files, definition.Parse(fmt.Sprintf("s%d.yaml", i), service(i, 20)))
	}
	b.ReportAllocs()
	for b.Loop() {
		if findings := definition.Lint(files...); len(findings) > 0 {
			b.Fatal(findings)
		}
	}
}

func BenchmarkCompile(b *testing.B) {
	f := definition.Parse("feeds.yaml", service(1, 2000))
	b.ReportAllocs()
	for b.Loop() {
		testkit.Must(f.Compile(nil))(b)
	}
}
