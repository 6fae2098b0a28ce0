package openapi_test

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"signpost/openapi"
)

// hostile builds documents that cause as much work as their size allows. The argument is the number of items.
var hostile = map[string]func(n int) string{
	"parameters that share a long allOf": func(n int) string {
		return parameters(n, "{$ref: '#/x-s'}") + "x-s: {allOf: [" + strings.Repeat("{description: a}, ", n) + "]}\n"
	},
	"parameters that share a long anyOf": func(n int) string {
		return parameters(n, "{$ref: '#/x-s'}") + "x-s: {anyOf: [" + strings.Repeat("{enum: [a]}, ", n) + "]}\n"
	},
	"parameters that share a long enum": func(n int) string {
		return parameters(n, "{$ref: '#/x-s'}") + "x-s: {enum: [" + list(n, "v%d") + "]}\n"
	},
	"parameters that share a long default": func(n int) string {
		return parameters(n, "{$ref: '#/x-s'}") + "x-s: {type: number, default: " + strings.Repeat("x", 10*n) + "}\n"
	},
	"parameters that share a long description": func(n int) string {
		return parameters(n, "{$ref: '#/x-s'}") + "x-s: {type: string, description: '" + strings.Repeat("<*_ ", 4*n) + "'}\n"
	},
	"parameters with a long reference": func(n int) string {
		return "x-p: &p {$ref: '#" + strings.Repeat("/x", 5*n) + "'}\n" + head + "paths: {/a: {get: {parameters: [" + strings.Repeat("*p, ", n) + "]}}}\n"
	},
	"alternatives that double": func(n int) string {
		doc := parameters(1, "{$ref: '#/x-0'}")
		for i := range n {
			doc += fmt.Sprintf("x-%d: {anyOf: [{$ref: '#/x-%d'}, {$ref: '#/x-%[2]d'}]}\n", i, i+1)
		}
		return doc + fmt.Sprintf("x-%d: {enum: [a], x-enum-varnames: []}\n", n)
	},
	"schemas in schemas": func(n int) string {
		return parameters(1, strings.Repeat("{allOf: [", min(n, 2000))+strings.Repeat("]}", min(n, 2000)))
	},
	"references to references": func(n int) string {
		doc := head + "paths: {/a: {get: {parameters: [{$ref: '#/x-0'}]}}}\n"
		for i := range n {
			doc += fmt.Sprintf("x-%d: {$ref: '#/x-%d'}\n", i, i+1)
		}
		return doc
	},
	"operations that share misspelt fields": func(n int) string {
		return head + "x-op: &op {" + list(n, "sumary%d: 1") + "}\npaths:\n" + operations(n, "*op")
	},
	"operations that share parameters": func(n int) string {
		return head + "x-op: &op {parameters: [" + list(n, "{name: h%d, in: header}") + "]}\npaths:\n" + operations(n, "*op")
	},
	"operations that share servers": func(n int) string {
		return head + "x-op: &op {servers: [" + list(n, "{url: /s%d}") + "]}\npaths:\n" + operations(n, "*op")
	},
	"operations that share security": func(n int) string {
		return head + "x-op: &op {security: [" + list(n, "{s%d: []}") + "]}\npaths:\n" + operations(n, "*op")
	},
	"operations that share content types": func(n int) string {
		return head + "x-op: &op {responses: {200: {content: {" + list(n, "a/b%d: {}") + "}}}}\npaths:\n" + operations(n, "*op")
	},
	"operations that share responses": func(n int) string {
		return head + "x-op: &op {responses: {" + list(n, "r%d: {}") + "}}\npaths:\n" + operations(n, "*op")
	},
	"operations that share tags": func(n int) string {
		return head + "x-op: &op {tags: [" + list(n, "t%d") + "]}\npaths:\n" + operations(n, "*op")
	},
	"operations that share a name": func(n int) string {
		return head + "x-op: &op {summary: '" + strings.Repeat("name ", 10) + "'}\npaths:\n" + operations(n, "*op")
	},
	"operations that share a long name": func(n int) string {
		return head + "x-op: &op {summary: '" + strings.Repeat("name ", 5*n) + "', operationId: '" + strings.Repeat("name ", 5*n) + "'}\npaths:\n" + operations(n, "*op")
	},
	"versions": func(n int) string {
		doc := head + "paths:\n"
		for i := range n {
			doc += fmt.Sprintf("  /v%d/a: {get: {}}\n", i)
		}
		return doc
	},
	"merges": func(n int) string {
		doc := "x-0: &a0 {" + list(n, "k%d: 1") + "}\n"
		for i := range n {
			doc += fmt.Sprintf("x-%d: &a%[1]d {<<: *a%d}\n", i+1, i)
		}
		return doc + head + "paths: {}\n"
	},
	"one long path": func(n int) string {
		return head + "paths:\n  ? /" + strings.Repeat("{a}/", 20*n) + "\n  : {get: {}}\n"
	},
}

const head = "openapi: 3.0.0\n"

func list(n int, format string) string {
	var items []string
	for i := range n {
		items = append(items, fmt.Sprintf(format, i))
	}
	return strings.Join(items, ", ")
}

func parameters(n int, schema string) string {
	doc := head + "paths:\n  /a:\n    get:\n      parameters:\n"
	for i := range n {
		doc += fmt.Sprintf("      - {name: p%d, in: query, schema: %s}\n", i, schema)
	}
	return doc
}

func operations(n int, operation string) string {
	var doc strings.Builder
	for i := range n {
		fmt.Fprintf(&doc, "  /p%d: {get: %s}\n", i, operation)
	}
	return doc.String()
}

// TestHostile imports documents that must neither hang nor fail in any other way than with an error. With
// SIGNPOST_SOAK_OPENAPI they are large.
func TestHostile(t *testing.T) {
	n := 60
	if os.Getenv("SIGNPOST_SOAK_OPENAPI") != "" {
		n = 10_000
	}
	for name, doc := range hostile {
		t.Run(name, func(t *testing.T) {
			if result, err := openapi.Import("api.yaml", []byte(doc(n)), openapi.Options{}); err == nil {
				endpoints(t, result)
			}
		})
	}
}
