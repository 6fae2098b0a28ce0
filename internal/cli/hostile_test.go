package cli

import (
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"signpost/internal/testkit"
)

// Bounds of a command on hostile input of a megabyte, for make soak. They are those of docs/hardening.md.
const (
	maxInputMemory = 512              // MB
	maxInputCPU    = 10 * time.Second // with slack for a busy machine
)

const (
	endpointLine = "      https://{{host}}/v1/f#: {name: F#, method: get, mime_type: application/json}\n"
	versionsHead = "versions:\n  v1:\n    endpoints:\n"
	apiHead      = "openapi: 3.0.0\ninfo: {title: A, version: '1'}\nservers: [{url: 'https://a.example/v1'}]\n"
)

// repeat returns a text for each number below n, in which # stands for the number.
func repeat(n int, text string) string {
	var out strings.Builder
	for i := range n {
		out.WriteString(strings.ReplaceAll(text, "#", strconv.Itoa(i)))
	}
	return out.String()
}

// hostileDefinitions builds definitions of any size that are more expensive than they look: everything that can be
// repeated, compared with everything else, nested or expanded.
var hostileDefinitions = map[string]func(n int) string{
	"endpoints": func(n int) string { return versionsHead + repeat(n, endpointLine) },
	"one line": func(n int) string {
		return `{"versions": {"v1": {"endpoints": {` + strings.TrimSuffix(repeat(n, `"https://{{host}}/v1/f#": {"name": "F", "method": "fetch", "mime_type": "json"},`), ",") + "}}}}"
	},
	"unknown fields": func(n int) string { return repeat(n, "modifers#: 1\n") + versionsHead },
	"nested endpoints": func(n int) string {
		out := versionsHead
		for i := range n {
			out += fmt.Sprintf("      https://{{host}}%s%d: {name: F%d, method: get, mime_type: text/x, context_obj: [{key: k%d, type: ctx}]}\n", strings.Repeat("/a", i%40+1), i/40, i, i)
		}
		return out
	},
	"URLs inside a segment": func(n int) string {
		return versionsHead + repeat(n, "      https://{{host}}/v1/{{a}}-#: {name: F#, method: get, mime_type: text/x, context_obj: [{key: k#, type: ctx, required: true}]}\n")
	},
	"placeholders that cross": func(n int) string {
		return versionsHead + repeat(n, "      https://{{host}}/{{a}}/p#/{{b}}: {name: F#, method: get, mime_type: text/x, context_obj: [{key: k#, type: ctx}]}\n      https://{{host}}/q#/{{c}}/{{d}}: {name: G#, method: post, mime_type: text/x}\n")
	},
	"placeholders in a segment": func(n int) string {
		return versionsHead + repeat(n, "      https://{{host}}/v1/"+repeat(15, "{{p#}}x")+"#: {name: F#, method: get, mime_type: text/x}\n")
	},
	"hosts": func(n int) string {
		return versionsHead + repeat(n, "      https://a#.{{host}}/f: {name: F, method: get, mime_type: text/x}\n      https://a#.example/f: {name: F, method: get, mime_type: text/x}\n")
	},
	"versions": func(n int) string {
		return "versions:\n" + repeat(n, "  v#:\n    endpoints:\n      https://{{host}}/v#/f: {name: F, method: get, mime_type: text/x}\n")
	},
	"features": func(n int) string {
		return "enable: [" + repeat(n, "f#, ") + "]\nfeatures:\n" + repeat(n, "  f#: {url_suffix: /f#, context_obj: [{key: k#, type: ctx}]}\n") + versionsHead + repeat(n, endpointLine)
	},
	"modifiers": func(n int) string {
		return "modifiers:\n" + repeat(n, "  m#: {kind: text, id: m#, name: M, key: m#, label: M}\n") + versionsHead + repeat(n, strings.Replace(endpointLine, "}\n", ", modifiers: [m#, m1, limt#]}\n", 1))
	},
	"options": func(n int) string {
		return "modifiers: {m: {kind: select, id: m, name: M, key: m, label: M, defaultValue: x, options: [" + repeat(n, "{value: v, label: V}, {value: w#, label: W}, ") + "]}}\n" + versionsHead + repeat(1, endpointLine)
	},
	"an enum": func(n int) string {
		return "modifiers: {m: {id: m, name: M, params: [{key: m, ui: {label: M, options: [{value: a, label: A}]}, schema: {type: string, enum: [" + repeat(n, "v#, ") + "]}}]}}\n" + versionsHead + repeat(1, endpointLine)
	},
	"context keys": func(n int) string {
		return "context_keys:\n" + repeat(n, "  user_account.profile#: P\n") + versionsHead + repeat(n, strings.Replace(endpointLine, "}\n", ", context_obj: [{key: user_acount.profile#, type: ctx}]}\n", 1))
	},
	"allow": func(n int) string {
		return versionsHead + repeat(n, strings.Replace(endpointLine, "}\n", ", allow: {duplicate-name: so, plain-http: so}}\n", 1))
	},
	"a long name": func(n int) string {
		return versionsHead + strings.Replace(repeat(1, endpointLine), "F0", strings.Repeat("a", 80*n), 1)
	},
	"a long URL": func(n int) string {
		return versionsHead + "      ? https://{{host}}/" + strings.Repeat("a/", 40*n) + "\n      : {name: F, method: get, mime_type: text/x}\n"
	},
	"keys twice": func(n int) string { return versionsHead + repeat(n, strings.ReplaceAll(endpointLine, "#", "")) },
	"aliases": func(n int) string {
		return "x-a: &a {name: F, method: fetch, mime_type: json, context_obj: [{key: k, type: x}]}\n" + versionsHead + repeat(n, "      https://{{host}}/v1/f#: *a\n")
	},
	"merges": func(n int) string {
		out := "x-0: &m0 {a: 1}\n"
		for i := range n {
			out += fmt.Sprintf("x-%d: &m%d {<<: [*m%d, *m%d], b%d: 1}\n", i+1, i+1, i, i, i)
		}
		return out + versionsHead + repeat(1, endpointLine)
	},
	"nested lists": func(n int) string { return "versions: " + strings.Repeat("[", 20*n) + "\n" },
	"dashes":       func(n int) string { return "versions:\n" + strings.Repeat("- ", 40*n) + "\n" },
	"tabs":         func(n int) string { return "versions:\n" + strings.Repeat("\tv1:\n", 10*n) },
	"open quote":   func(n int) string { return "versions: \"a\n" + repeat(n, "  line # of it\n") },
	"open braces":  func(n int) string { return "versions: " + repeat(n, "{ a#: ") + "\n" },
	"colons":       func(n int) string { return "versions: 1\n" + repeat(n, "name: Media: all #\n") },
	"wide characters": func(n int) string {
		return "service: [" + strings.Repeat("€", 30*n) + ", " + repeat(n, "é# ,") + "]\n" + versionsHead + repeat(1, endpointLine)
	},
}

// hostileParameter returns a document with one parameter whose schema is built, and more at the top level. A tilde
// stands for the number sign of a reference.
func hostileParameter(schema, more string) string {
	return apiHead + "paths: {/f: {get: {parameters: [{name: p, in: query, schema: " + schema + "}]}}}\n" + more
}

// hostileOperations returns a document with n paths, each with the fields of a GET operation.
func hostileOperations(n int, fields string) string {
	return apiHead + "paths:\n" + repeat(n, "  /f#: {get: {"+fields+"}}\n")
}

// hostileDocuments does the same for OpenAPI.
var hostileDocuments = map[string]func(n int) string{
	"parameters": func(n int) string {
		return hostileOperations(n, "parameters: [{$ref: '~/components/parameters/p#'}]") +
			"components:\n  parameters:\n" + repeat(n, "    p#: {name: p#, in: query, schema: {type: integer}}\n")
	},
	"one list of parameters": func(n int) string {
		return hostileOperations(n, "parameters: {$ref: '~/x-all'}") + "x-all:\n" + repeat(n, "  - {name: p#, in: query}\n")
	},
	"the same parameter": func(n int) string {
		return hostileOperations(1, "parameters: ["+strings.Repeat("{name: p, in: query}, ", n)+"]")
	},
	"operations": func(n int) string {
		return apiHead + "paths:\n" + repeat(n, "  /f#: {get: {operationId: same}, post: {operationId: same}, trace: {}}\n")
	},
	"summaries": func(n int) string { return hostileOperations(n, "summary: Same, operationId: f#") },
	"tags":      func(n int) string { return hostileOperations(n, "tags: ["+repeat(30, "t#, ")+"]") },
	"media types": func(n int) string {
		return hostileOperations(1, "responses: {'200': {content: {"+repeat(n, "a/b#: {}, ")+"}}}")
	},
	"responses": func(n int) string { return hostileOperations(1, "responses: {"+repeat(n, "'2#': {}, ")+"}") },
	"security":  func(n int) string { return hostileOperations(n, "security: ["+repeat(20, "{s#: []}, ")+"]") },
	"servers": func(n int) string {
		return hostileOperations(n, "servers: ["+repeat(10, "{url: 'https://a#.example'}, ")+"]")
	},
	"many servers": func(n int) string {
		return hostileOperations(1, "servers: ["+repeat(n, "{url: 'https://{v}.example', variables: {v: {default: a#}}}, ")+"]")
	},
	"a long path": func(n int) string {
		return apiHead + "paths:\n  ? " + strings.Repeat("/{a}", 20*n) + "\n  : {get: {}}\n"
	},
	"misspelt fields": func(n int) string { return hostileOperations(1, repeat(n, "sumary#: a, ")) },
	"an enum":         func(n int) string { return hostileParameter("{enum: ["+repeat(n, "v#, ")+"]}", "") },
	"shared enum": func(n int) string {
		return hostileOperations(n, "parameters: [{name: p, in: query, schema: {$ref: '~/x-s'}}]") + "x-s: {enum: [" + repeat(n, "v#, ") + "]}\n"
	},
	"oneOf": func(n int) string { return hostileParameter("{oneOf: ["+repeat(n, "{const: v#, title: V}, ")+"]}", "") },
	"allOf bomb": func(n int) string {
		out := hostileParameter("{$ref: '~/x-0'}", "")
		for i := range n {
			out += fmt.Sprintf("x-%d: {allOf: [{$ref: '~/x-%d'}, {$ref: '~/x-%d'}]}\n", i, i+1, i+1)
		}
		return out
	},
	"$ref chain": func(n int) string {
		out := hostileParameter("{$ref: '~/x-0'}", "")
		for i := range n {
			out += fmt.Sprintf("x-%d: {$ref: '~/x-%d'}\n", i, i+1)
		}
		return out
	},
	"$ref circle": func(n int) string {
		return hostileOperations(1, "parameters: ["+strings.Repeat("{$ref: '~/x-p'},", n)+"]") + "x-p: {$ref: '~/x-p'}\n"
	},
	"schema in itself": func(n int) string {
		return hostileOperations(n, "parameters: [{name: p, in: query, schema: {$ref: '~/x-s'}}]") + "x-s: {anyOf: [{$ref: '~/x-s'}, {items: {$ref: '~/x-s'}}]}\n"
	},
	"nested schema": func(n int) string {
		return hostileParameter(strings.Repeat("{items: ", 10*n)+"{}"+strings.Repeat("}", 10*n), "")
	},
	"aliases": func(n int) string {
		out := hostileParameter("*a9", "")
		head := "x-0: &a0 {enum: [" + repeat(n, "v#, ") + "]}\n"
		for i := range 9 {
			head += fmt.Sprintf("x-%d: &a%d {anyOf: [%s]}\n", i+1, i+1, strings.Repeat(fmt.Sprintf("*a%d, ", i), 9))
		}
		return head + out
	},
}

// TestHostileInput runs the commands on input that is built to hurt: all of them end. In make soak, the inputs have a
// megabyte, and CPU time and memory are bounded.
func TestHostileInput(t *testing.T) {
	t.Parallel()
	soak := os.Getenv("SIGNPOST_SOAK_INPUTS") != ""
	size := 2 << 10
	if soak {
		size = 1 << 20
	}
	other := filepath.Join(t.TempDir(), "other.yaml")
	writeFile(t, other, versionsHead+repeat(1, endpointLine))
	run := func(t *testing.T, commands ...[]string) {
		t.Helper()
		memory, cpu := 0, time.Duration(0)
		for _, args := range commands {
			if soak {
				m, c := cost(t, args...)
				if memory, cpu = max(memory, m), max(cpu, c); m > maxInputMemory || c > maxInputCPU {
					t.Errorf("%s takes %d MB and %v", args, m, c)
				}
			} else if _, _, code := runCLI("", args...); code > exitFailure {
				t.Errorf("%s exits with %d", args, code)
			}
		}
		if soak {
			_, name, _ := strings.Cut(t.Name(), "/")
			t.Logf("soak: %-24s %4d MB %6.2f s", name, memory, cpu.Seconds())
		}
	}
	write := func(t *testing.T, build func(n int) string) string {
		t.Helper()
		path := filepath.Join(t.TempDir(), "feeds.yaml")
		per := max(1, (len(build(200))-len(build(100)))/100)
		text := strings.ReplaceAll(build(max(20, size/per)), "~/", "#/")
		writeFile(t, path, text)
		return path
	}
	for _, name := range slices.Sorted(maps.Keys(hostileDefinitions)) {
		t.Run(name, func(t *testing.T) {
			if !soak {
				t.Parallel()
			}
			file := write(t, hostileDefinitions[name])
			run(t, []string{"lint", file}, []string{"lint", file, "--fix", "--dry-run"}, []string{"diff", other, file}, []string{"diff", file, other},
				[]string{"match", file, "https://localhost/v1/f"}, []string{"render", file, "--host", "localhost"})
		})
	}
	for _, name := range slices.Sorted(maps.Keys(hostileDocuments)) {
		t.Run("import "+name, func(t *testing.T) {
			if !soak {
				t.Parallel()
			}
			run(t, []string{"import", write(t, hostileDocuments[name])})
		})
	}
}

// cost runs the program and returns its peak of resident memory in MB and its CPU time.
func cost(t *testing.T, args ...string) (memory int, cpu time.Duration) {
	t.Helper()
	cmd := exec.Command(testkit.Program(t, "signpost"), args...)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan struct{})
	go func() {
		cmd.Wait()
		close(ended)
	}()
	for running := true; running; { // what the system reports afterwards includes the test, from which it was forked
		status, _ := os.ReadFile(fmt.Sprintf("/proc/%d/status", cmd.Process.Pid))
		if _, after, ok := strings.Cut(string(status), "VmHWM:"); ok {
			kilobytes, _ := strconv.Atoi(strings.Fields(after)[0])
			memory = kilobytes >> 10
		}
		select {
		case <-ended:
			running = false
		case <-time.After(2 * time.Millisecond):
		}
	}
	return memory, cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
}
