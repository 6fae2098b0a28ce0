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
	versionsHead = "versions:\n  v1:\n    endpoints:\n"
	endpointLine = "      https://{{host}}/v1/f#: {name: F#, method: get, mime_type: application/json}\n"
	endpoints    = versionsHead + "«" + endpointLine + "»"
	oneEndpoint  = versionsHead + "      https://{{host}}/v1/f: {name: F, method: get, mime_type: application/json}\n"

	apiHead    = "openapi: 3.0.0\ninfo: {title: A, version: '1'}\nservers: [{url: 'https://a.example/v1'}]\n"
	operation  = apiHead + "paths: {/f: {get: {"
	operations = apiHead + "paths:\n«  /f#: {get: {"
	parameter  = operation + "parameters: [{name: p, in: query, schema: "
)

// expand returns a text with the parts in «» repeated n times. In them, # stands for the number, and @ for the next one. A
// tilde before a slash stands for the number sign of a reference.
func expand(text string, n int) string {
	var out strings.Builder
	for {
		before, rest, found := strings.Cut(text, "«")
		out.WriteString(before)
		if !found {
			return strings.ReplaceAll(out.String(), "~/", "#/")
		}
		part, after, _ := strings.Cut(rest, "»")
		for i := range n {
			out.WriteString(strings.NewReplacer("#", strconv.Itoa(i), "@", strconv.Itoa(i+1)).Replace(part))
		}
		text = after
	}
}

// nested returns endpoints of which each is a prefix of the next.
func nested() (lines string) {
	for depth := range 20 {
		lines += fmt.Sprintf("      https://{{host}}%s#: {name: F%d-#, method: get, mime_type: text/x, context_obj: [{key: k%[2]d-#, type: ctx}]}\n",
			strings.Repeat("/a", depth+1), depth)
	}
	return lines
}

// hostileDefinitions are definitions of any size that are more expensive than they look: everything that can be repeated,
// compared with everything else, nested or expanded.
var hostileDefinitions = map[string]string{
	"endpoints": endpoints,
	"one line": `{"versions": {"v1": {"endpoints": {` +
		`«"https://{{host}}/v1/f#": {"name": "F", "method": "fetch", "mime_type": "json"},» "https://{{host}}/": {}}}}}`,
	"unknown fields":   "«modifers#: 1\n»" + versionsHead,
	"nested endpoints": versionsHead + "«" + nested() + "»",
	"URLs inside a segment": versionsHead +
		"«      https://{{host}}/v1/{{a}}-#: {name: F#, method: get, mime_type: text/x, context_obj: [{key: k#, type: ctx, required: true}]}\n»",
	"placeholders that cross": versionsHead +
		"«      https://{{host}}/{{a}}/p#/{{b}}: {name: F#, method: get, mime_type: text/x, context_obj: [{key: k#, type: ctx}]}\n" +
		"      https://{{host}}/q#/{{c}}/{{d}}: {name: G#, method: post, mime_type: text/x}\n»",
	"placeholders in a segment": versionsHead +
		"«      https://{{host}}/v1/" + strings.Repeat("{{p}}x", 15) + "#: {name: F#, method: get, mime_type: text/x}\n»",
	"hosts": versionsHead + "«      https://a#.{{host}}/f: {name: F, method: get, mime_type: text/x}\n" +
		"      https://a#.example/f: {name: F, method: get, mime_type: text/x}\n»",
	"versions": "versions:\n«  v#:\n    endpoints:\n      https://{{host}}/v#/f: {name: F, method: get, mime_type: text/x}\n»",
	"features": "enable: [«f#, »]\nfeatures:\n«  f#: {url_suffix: /f#, context_obj: [{key: k#, type: ctx}]}\n»" + endpoints,
	"modifiers": "modifiers:\n«  m#: {kind: text, id: m#, name: M, key: m#, label: M}\n»" +
		strings.Replace(endpoints, "}\n", ", modifiers: [m#, m1, limt#]}\n", 1),
	"options": "modifiers: {m: {kind: select, id: m, name: M, key: m, label: M, defaultValue: x, " +
		"options: [«{value: v, label: V}, {value: w#, label: W}, »]}}\n" + oneEndpoint,
	"an enum": "modifiers: {m: {id: m, name: M, params: [{key: m, ui: {label: M, options: [{value: a, label: A}]}, " +
		"schema: {type: string, enum: [«v#, »]}}]}}\n" + oneEndpoint,
	"context keys": "context_keys:\n«  user_account.profile#: P\n»" +
		strings.Replace(endpoints, "}\n", ", context_obj: [{key: user_acount.profile#, type: ctx}]}\n", 1),
	"allow":       strings.Replace(endpoints, "}\n", ", allow: {duplicate-name: so, plain-http: so}}\n", 1),
	"a long name": strings.Replace(oneEndpoint, "name: F", "name: «a»", 1),
	"a long URL":  versionsHead + "      ? https://{{host}}/«a/»\n      : {name: F, method: get, mime_type: text/x}\n",
	"keys twice":  strings.ReplaceAll(endpoints, "#", ""),
	"aliases": "x-a: &a {name: F, method: fetch, mime_type: json, context_obj: [{key: k, type: x}]}\n" + versionsHead +
		"«      https://{{host}}/v1/f#: *a\n»",
	"merges":          "x-0: &m0 {a: 1}\n«x-@: &m@ {<<: [*m#, *m#], b#: 1}\n»" + oneEndpoint,
	"nested lists":    "versions: «[»\n",
	"dashes":          "versions:\n«- »\n",
	"tabs":            "versions:\n«\tv1:\n»",
	"open quote":      "versions: \"a\n«  line # of it\n»",
	"open braces":     "versions: «{ a#: »\n",
	"colons":          "versions: 1\n«name: Media: all #\n»",
	"wide characters": "service: [«€», «é# ,»]\n" + oneEndpoint,
}

// hostileDocuments are OpenAPI documents of the same kind.
var hostileDocuments = map[string]string{
	"parameters": operations + "parameters: [{$ref: '~/components/parameters/p#'}]}}\n»components:\n  parameters:\n" +
		"«    p#: {name: p#, in: query, schema: {type: integer}}\n»",
	"one list of parameters": operations + "parameters: {$ref: '~/x-all'}}}\n»x-all:\n«  - {name: p#, in: query}\n»",
	"the same parameter":     operation + "parameters: [«{name: p, in: query}, »]}}}\n",
	"operations":             apiHead + "paths:\n«  /f#: {get: {operationId: same}, post: {operationId: same}, trace: {}}\n»",
	"summaries":              operations + "summary: Same, operationId: f#}}\n»",
	"tags":                   operations + "tags: [" + strings.Repeat("t, ", 30) + "]}}\n»",
	"media types":            operation + "responses: {'200': {content: {«a/b#: {}, »}}}}}}\n",
	"responses":              operation + "responses: {«'2#': {}, »}}}}\n",
	"security":               operations + "security: [" + strings.Repeat("{s#: []}, ", 20) + "]}}\n»",
	"servers":                operations + "servers: [" + strings.Repeat("{url: 'https://a#.example'}, ", 10) + "]}}\n»",
	"many servers":           operation + "servers: [«{url: 'https://{v}.example', variables: {v: {default: a#}}}, »]}}}\n",
	"a long path":            apiHead + "paths:\n  ? «/{a}»\n  : {get: {}}\n",
	"misspelt fields":        operation + "«sumary#: a, »}}}\n",
	"an enum":                parameter + "{enum: [«v#, »]}}]}}}\n",
	"shared enum":            operations + "parameters: [{name: p, in: query, schema: {$ref: '~/x-s'}}]}}\n»x-s: {enum: [«v#, »]}\n",
	"oneOf":                  parameter + "{oneOf: [«{const: v#, title: V}, »]}}]}}}\n",
	"allOf bomb":             parameter + "{$ref: '~/x-0'}}]}}}\n«x-#: {allOf: [{$ref: '~/x-@'}, {$ref: '~/x-@'}]}\n»",
	"$ref chain":             parameter + "{$ref: '~/x-0'}}]}}}\n«x-#: {$ref: '~/x-@'}\n»",
	"$ref circle":            operation + "parameters: [«{$ref: '~/x-p'},»]}}}\nx-p: {$ref: '~/x-p'}\n",
	"schema in itself": operations + "parameters: [{name: p, in: query, schema: {$ref: '~/x-s'}}]}}\n»" +
		"x-s: {anyOf: [{$ref: '~/x-s'}, {items: {$ref: '~/x-s'}}]}\n",
	"nested schema": parameter + "«{items: »{}«}»}]}}}\n",
	"aliases":       "x-0: &a0 {enum: [«v#, »]}\n" + aliases() + parameter + "*a9}]}}}\n",
}

// aliases returns schemas of which each has the one before nine times.
func aliases() (lines string) {
	for i := range 9 {
		lines += fmt.Sprintf("x-%d: &a%[1]d {anyOf: [%s]}\n", i+1, strings.Repeat(fmt.Sprintf("*a%d, ", i), 9))
	}
	return lines
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
	testkit.Write(t, other, oneEndpoint)
	run := func(name, text string, commands ...string) {
		t.Run(name, func(t *testing.T) {
			if !soak {
				t.Parallel()
			}
			file := filepath.Join(t.TempDir(), "feeds.yaml")
			per := (len(expand(text, 200)) - len(expand(text, 100))) / 100
			testkit.Write(t, file, expand(text, max(2, size/per)))
			memory, cpu := 0, time.Duration(0)
			for _, line := range commands {
				args := strings.Fields(strings.NewReplacer("FILE", file, "OTHER", other).Replace(line))
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
				t.Logf("soak: %-24s %4d MB %6.2f s", name, memory, cpu.Seconds())
			}
		})
	}
	for _, name := range slices.Sorted(maps.Keys(hostileDefinitions)) {
		run(name, hostileDefinitions[name], "lint FILE", "lint FILE --fix --dry-run", "diff OTHER FILE", "diff FILE OTHER",
			"match FILE https://localhost/v1/f", "render FILE --host localhost")
	}
	for _, name := range slices.Sorted(maps.Keys(hostileDocuments)) {
		run("import "+name, hostileDocuments[name], "import FILE")
	}
}

// cost runs the program and returns its peak of resident memory in MB and its CPU time.
func cost(t *testing.T, args ...string) (memory int, cpu time.Duration) {
	t.Helper()
	cmd := exec.Command(testkit.Program(t, "signpost"), args...)
	testkit.OK(t, cmd.Start())
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
