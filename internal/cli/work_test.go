package cli

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"signpost/definition"
)

// stepCounter is a running testdata/steps, which counts the steps of a command line.
type stepCounter struct {
	mu  sync.Mutex
	in  io.Writer
	out *bufio.Reader
}

// startSteps builds and starts the counter. It counts the steps of Signpost and of the YAML parser.
func startSteps(t testing.TB) *stepCounter {
	dir := t.TempDir()
	program := filepath.Join(dir, "steps")
	build := exec.Command("go", "build", "-cover", "-covermode=atomic", "-coverpkg=signpost/...,go.yaml.in/yaml/v4/...", "-o", program, "./testdata/steps")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("build the counter: %v\n%s", err, out)
	}
	cmd := exec.Command(program)
	cmd.Env = append(os.Environ(), "GOCOVERDIR="+dir)
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		in.Close()
		cmd.Wait()
	})
	return &stepCounter{in: in, out: bufio.NewReader(out)}
}

func (c *stepCounter) steps(t testing.TB, args ...string) (steps int) {
	t.Helper()
	c.mu.Lock()
	defer c.mu.Unlock()
	line, err := json.Marshal(args)
	if err != nil {
		t.Fatal(err)
	}
	fmt.Fprintf(c.in, "%s\n", line)
	var status int
	if _, err := fmt.Fscan(c.out, &steps, &status); err != nil {
		t.Fatalf("%q: %v", args, err)
	}
	return steps
}

const (
	// stepsPerByte is the maximum number of steps per byte of input, in addition to stepsAnyway: with 100 kB, less than
	// a second.
	stepsPerByte = 2000
	stepsAnyway  = 1_000_000

	// usualSteps is a number of steps per byte that is no cause for concern: three times that of a clean definition.
	usualSteps = 300
)

// checkWork runs a command on an input and, if it takes more steps than usual, on a half and a quarter of it. It fails
// if the steps grow faster than the size. One jump is allowed, where an input reaches a limit beyond which it is
// handled differently.
func (c *stepCounter) checkWork(t *testing.T, file string, size int, build func(n int) string, command func(n int) []string) {
	t.Helper()
	steps := func(n int) (steps, bytes int) {
		text := build(n)
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return c.steps(t, command(n)...), len(text)
	}
	whole, bytes := steps(size)
	if whole <= stepsAnyway+usualSteps*bytes {
		return
	}
	half, _ := steps(size / 2)
	quarter, _ := steps(size / 4)
	if float64(whole) > 2.7*float64(half) && float64(half) > 2.7*float64(quarter) {
		t.Errorf("steps grow faster than the size: %d, then %d for twice as much, and %d for twice as much again", quarter, half, whole)
	}
	if most := stepsAnyway + stepsPerByte*bytes; whole > most {
		t.Errorf("%d steps for %d bytes, more than %d", whole, bytes, most)
	}
}

// lines returns a text for each number below n, in which # stands for the number and % for #.
func lines(n int, text string) string {
	var out strings.Builder
	for i := range n {
		out.WriteString(strings.ReplaceAll(strings.ReplaceAll(text, "#", fmt.Sprint(i)), "%", "#"))
	}
	return out.String()
}

const (
	endpointLine = "      https://{{host}}/v1/f#: {name: F#, method: get, mime_type: application/json}\n"
	versionsHead = "versions:\n  v1:\n    endpoints:\n"
	apiHead      = "openapi: 3.0.0\ninfo: {title: A, version: '1'}\nservers: [{url: 'https://a.example/v1'}]\n"
)

// hostileDefinitions builds definitions of any size that are more expensive than they look.
var hostileDefinitions = map[string]func(n int) string{
	"clean": func(n int) string { return versionsHead + lines(n, endpointLine) },
	"one long line": func(n int) string {
		return `{"versions": {"v1": {"endpoints": {` + strings.TrimSuffix(lines(n, `"https://{{host}}/v1/f#": {"name": "F", "method": "fetch", "mime_type": "json"},`), ",") + "}}}}"
	},
	"unknown fields": func(n int) string { return lines(n, "modifers#: 1\n") + versionsHead },
	"unknown endpoint field": func(n int) string {
		return versionsHead + "      https://{{host}}/v1/f:\n        name: F\n" + lines(n, "        nme#: 1\n")
	},
	"keys in the URL": func(n int) string {
		return versionsHead + "      https://{{host}}/v1/f?" + lines(n, "k#=1&") + ":\n        name: F\n        method: get\n        mime_type: application/json\n        modifiers:\n" +
			lines(n, "          - {kind: text, id: k#, name: K, key: k#, label: K}\n")
	},
	"hosts that collide": func(n int) string {
		return versionsHead + lines(n, "      https://a#.{{host}}/f: {name: F, method: get, mime_type: a/b}\n      https://a#.example/f: {name: F, method: get, mime_type: a/b}\n")
	},
	"nested endpoints": func(n int) string {
		out := versionsHead
		for i := range n {
			out += fmt.Sprintf("      https://{{host}}%s: {name: F%d, method: get, mime_type: a/b, context_obj: [{key: k%d, type: ctx}]}\n", strings.Repeat("/a", i%40+1)+fmt.Sprint(i/40), i, i)
		}
		return out
	},
	"URLs that begin alike": func(n int) string {
		return versionsHead + lines(n, "      https://{{host}}/v1/"+strings.Repeat("a", 60)+"#: {name: F#, method: post, mime_type: a/b, context_obj: [{key: k#, type: ctx}]}\n")
	},
	"URLs inside a segment": func(n int) string {
		return versionsHead + lines(n, "      https://{{host}}/v1/{{a}}-#: {name: F#, method: get, mime_type: a/b, context_obj: [{key: k#, type: ctx, required: true}]}\n")
	},
	"placeholders that cross": func(n int) string {
		return versionsHead + lines(n, "      https://{{host}}/{{a}}/p#/{{b}}: {name: F#, method: get, mime_type: a/b, context_obj: [{key: k#, type: ctx}]}\n      https://{{host}}/q#/{{c}}/{{d}}: {name: G#, method: post, mime_type: a/b}\n")
	},
	"allow comments": func(n int) string {
		return versionsHead + lines(n, endpointLine[:len(endpointLine)-1]+" % signpost: allow duplicate-name because it is so\n")
	},
	"allow lines": func(n int) string {
		return lines(n, "% signpost: allow duplicate-name because #\n") + versionsHead + lines(1, endpointLine)
	},
	"allow fields": func(n int) string {
		return versionsHead + lines(n, strings.Replace(endpointLine, "}\n", ", allow: {duplicate-name: so, plain-http: so}}\n", 1))
	},
	"versions": func(n int) string {
		return "versions:\n" + lines(n, "  v#:\n    endpoints:\n      https://{{host}}/v#/f: {name: F, method: get, mime_type: a/b}\n")
	},
	"versions that are none": func(n int) string { return "versions:\n" + lines(n, "  x#:\n    endpoints: {}\n") },
	"features": func(n int) string {
		return "enable: [" + lines(n, "f#, ") + "]\nfeatures:\n" + lines(n, "  f#: {context_obj: [{key: k#, type: ctx}]}\n") + versionsHead + lines(1, endpointLine)
	},
	"features of suffixes": func(n int) string {
		return "features:\n" + lines(n, "  f#: {url_suffix: /f#, context_obj: [{key: k#, type: ctx}]}\n") + versionsHead + lines(n, endpointLine)
	},
	"features that clash": func(n int) string {
		return "features:\n" + lines(n, "  f#: {context_obj: [{key: k#, type: ctx, mapper: m}]}\n") + versionsHead + lines(1, endpointLine)
	},
	"features for all": func(n int) string {
		return "features:\n" + lines(n, "  f#: {context_obj: [{key: k#, type: ctx}]}\n") + versionsHead + lines(n, endpointLine)
	},
	"features for all versions": func(n int) string {
		return "features:\n" + lines(n, "  f#: {context_obj: [{key: k#, type: ctx}]}\n") + "versions:\n" +
			lines(n, "  v#: {endpoints: {'https://{{host}}/v#/f': {name: F, method: get, mime_type: a/b}}}\n")
	},
	"features unknown": func(n int) string {
		return "enable: [" + lines(n, "authentification#, ") + "]\n" + versionsHead + lines(1, endpointLine)
	},
	"modifiers unknown": func(n int) string {
		return versionsHead + lines(n, strings.Replace(endpointLine, "}\n", ", modifiers: [limt#]}\n", 1))
	},
	"modifiers shared": func(n int) string {
		return "modifiers:\n" + lines(n, "  m#: {kind: text, id: m#, name: M, key: m#, label: M}\n") + versionsHead + lines(n, strings.Replace(endpointLine, "}\n", ", modifiers: [m#, m1]}\n", 1))
	},
	"modifiers alike": func(n int) string {
		return versionsHead + "      https://{{host}}/v1/f:\n        modifiers:\n" + lines(n, "          - {kind: text, id: m, name: M, key: m, label: M}\n")
	},
	"options": func(n int) string {
		return "modifiers: {m: {kind: select, id: m, name: M, key: m, label: M, options: [" + lines(n, "{value: v#, label: V}, ") + "]}}\n" + versionsHead + lines(1, endpointLine)
	},
	"options alike": func(n int) string {
		return "modifiers: {m: {kind: select, id: m, name: M, key: m, label: M, defaultValue: x, options: [" + lines(n, "{value: v, label: V}, ") + "]}}\n" + versionsHead + lines(1, endpointLine)
	},
	"an enum": func(n int) string {
		return "modifiers: {m: {id: m, name: M, params: [{key: m, ui: {label: M, options: [{value: a, label: A}]}, schema: {type: string, enum: [" + lines(n, "v#, ") + "]}}]}}\n" + versionsHead + lines(1, endpointLine)
	},
	"a long default": func(n int) string {
		return "modifiers: {m: {kind: select, id: m, name: M, key: m, label: M, defaultValue: " + strings.Repeat("a", 40*n) + ", options: [{value: " + strings.Repeat("b", 40*n) + ", label: B}]}}\n" + versionsHead + lines(1, endpointLine)
	},
	"a long name": func(n int) string {
		return versionsHead + strings.Replace(lines(1, endpointLine), "F0", strings.Repeat("a", 80*n), 1)
	},
	"a long key": func(n int) string { return strings.Repeat("k", 80*n) + ": 1\n" + versionsHead + lines(1, endpointLine) },
	"a long URL": func(n int) string {
		return versionsHead + "      ? https://{{host}}/" + strings.Repeat("a/", 40*n) + "\n      : {name: F, method: get, mime_type: a/b}\n"
	},
	"placeholders": func(n int) string {
		return versionsHead + "      https://{{host}}/" + lines(n, "{{p#}}-") + ": {name: F, method: get, mime_type: a/b}\n"
	},
	"braces": func(n int) string {
		return versionsHead + "      https://{{host}}/" + strings.Repeat("{{", 40*n) + ": {name: F, method: get, mime_type: a/b}\n"
	},
	"dots": func(n int) string {
		return versionsHead + "      https://{{host}}/" + strings.Repeat("../", 30*n) + ": {name: F, method: get, mime_type: a/b}\n"
	},
	"dashes": func(n int) string {
		return versionsHead + "      https://{{host}}/{{a}}-{{b}}: {name: F, method: get, mime_type: a/b}\n      https://{{host}}/" + strings.Repeat("-", 80*n) + ": {name: G, method: post, mime_type: a/b}\n"
	},
	"context keys": func(n int) string {
		return versionsHead + "      https://{{host}}/v1/f:\n        context_obj:\n" + lines(n, "          - {key: user_account.profile#, type: ctx}\n")
	},
	"a catalogue": func(n int) string {
		return "context_keys:\n" + lines(n, "  user_account.profile#: P\n") + versionsHead + lines(n, strings.Replace(endpointLine, "}\n", ", context_obj: [{key: user_acount.profile#, type: ctx}]}\n", 1))
	},
	"a catalogue of long keys": func(n int) string {
		long := strings.Repeat("user_account_", 4)
		return "context_keys:\n" + lines(n, "  "+long+"#: P\n") + versionsHead + lines(n, "      https://{{host}}/v1/f#: {context_obj: [{key: "+long+"x#, type: ctx}]}\n")
	},
	"long keys": func(n int) string {
		return versionsHead + "      https://{{host}}/v1/f:\n        context_obj:\n" + lines(n, "          - {key: "+strings.Repeat("user_account_", 4)+"#x, type: ctx}\n")
	},
	"names alike": func(n int) string {
		return versionsHead + strings.ReplaceAll(lines(n, endpointLine), "name: F", "name: A #")
	},
	"keys twice": func(n int) string { return versionsHead + lines(n, strings.ReplaceAll(endpointLine, "#", "")) },
	"deprecations": func(n int) string {
		return versionsHead + lines(n, strings.Replace(endpointLine, "}\n", ", deprecated: {since: yesterday, use: f#}}\n", 1))
	},
	"aliases": func(n int) string {
		return "x-a: &a {name: F, method: fetch, mime_type: json, context_obj: [{key: k, type: x}]}\n" + versionsHead + lines(n, "      https://{{host}}/v1/f#: *a\n")
	},
	"anchors": func(n int) string {
		return "x-a:\n" + lines(n, "  - &a# {a: 1}\n") + versionsHead + lines(n, "      https://{{host}}/v1/f#: *a#\n")
	},
	"merges": func(n int) string {
		out := "x-0: &m0 {a: 1}\n"
		for i := range n {
			out += fmt.Sprintf("x-%d: &m%d {<<: [*m%d, *m%d], b%d: 1}\n", i+1, i+1, i, i, i)
		}
		return out + versionsHead + lines(1, endpointLine)
	},
	"merges of one": func(n int) string {
		return "x-a: &a {" + lines(n, "k#: 1, ") + "}\n" + versionsHead + lines(n, "      https://{{host}}/v1/f#: {<<: *a, name: F}\n")
	},
	"nested lists": func(n int) string { return "x-a: " + strings.Repeat("[", 20*n) + "\n" },
	"nested maps":  func(n int) string { return "x-a: " + strings.Repeat("{a: ", 20*n) + "\n" },
	"nested blocks": func(n int) string {
		out := "x-a:\n"
		for i := range min(n, 400) {
			out += strings.Repeat(" ", i+1) + "a:\n"
		}
		return out
	},
	"dashes in YAML": func(n int) string { return strings.Repeat("- ", 40*n) + "\n" },
	"questions":      func(n int) string { return strings.Repeat("? ", 40*n) + "\n" },
	"tabs":           func(n int) string { return "versions:\n" + strings.Repeat("\tv1:\n", 10*n) },
	"open quote":     func(n int) string { return "service: \"a\n" + lines(n, "  line # of it\n") },
	"open braces":    func(n int) string { return "x-a: " + lines(n, "{ a#: ") + "\n" },
	"colons":         func(n int) string { return lines(n, "name: Media: all #\n") },
	"comments": func(n int) string {
		return lines(n, "% a comment, number #, that says nothing\n") + versionsHead + lines(1, endpointLine)
	},
	"carriage": func(n int) string { return strings.ReplaceAll(versionsHead+lines(n, endpointLine), "\n", "\r\n") },
	"text blocks": func(n int) string {
		return "service: |\n" + lines(n, "  line # of it\n") + versionsHead + lines(1, endpointLine)
	},
	"escapes": func(n int) string {
		return "service: \"" + strings.Repeat(`\u2028\x1b`, 8*n) + "\"\n" + versionsHead + lines(1, endpointLine)
	},
	"wide characters": func(n int) string {
		return "service: [" + strings.Repeat("€", 30*n) + ", " + lines(n, "é# ,") + "]\n" + versionsHead + lines(1, endpointLine)
	},
	"lists": func(n int) string { return "[" + strings.Repeat("1,", 40*n) + "1]" },
}

// hostileDocuments does the same for OpenAPI.
var hostileDocuments = map[string]func(n int) string{
	"paths": func(n int) string {
		return apiHead + "paths:\n" + lines(n, "  /f#: {get: {summary: F, responses: {'200': {content: {application/json: {}}}}}}\n")
	},
	"parameters": func(n int) string {
		return apiHead + "paths:\n  /f:\n    get:\n      parameters:\n" + lines(n, "        - {name: p#, in: query, schema: {type: string}}\n")
	},
	"parameters shared": func(n int) string {
		return apiHead + "paths:\n" + lines(n, "  /f#: {get: {parameters: [{$ref: '%/components/parameters/p#'}]}}\n") +
			"components:\n  parameters:\n" + lines(n, "    p#: {name: p#, in: query, schema: {type: integer}}\n")
	},
	"allOf chain": func(n int) string {
		out := apiHead + "paths: {/f: {get: {parameters: [{name: p, in: query, schema: {$ref: '#/components/schemas/s0'}}]}}}\ncomponents:\n  schemas:\n"
		for i := range n {
			out += fmt.Sprintf("    s%d: {allOf: [{$ref: '#/components/schemas/s%d'}]}\n", i, i+1)
		}
		return out
	},
	"allOf wide": func(n int) string {
		return apiHead + "paths: {/f: {get: {parameters: [{name: p, in: query, schema: {allOf: [" + lines(n, "{enum: [a, b#]}, ") + "]}}]}}}\n"
	},
	"allOf bomb": func(n int) string {
		out := apiHead + "paths: {/f: {get: {parameters: [{name: p, in: query, schema: {$ref: '#/components/schemas/s0'}}]}}}\ncomponents:\n  schemas:\n"
		for i := range n {
			out += fmt.Sprintf("    s%d: {allOf: [{$ref: '#/components/schemas/s%d'}, {$ref: '#/components/schemas/s%d'}]}\n", i, i+1, i+1)
		}
		return out
	},
	"$ref chain": func(n int) string {
		out := apiHead + "paths: {/f: {get: {parameters: [{$ref: '#/components/parameters/p0'}]}}}\ncomponents:\n  parameters:\n"
		for i := range n {
			out += fmt.Sprintf("    p%d: {$ref: '#/components/parameters/p%d'}\n", i, i+1)
		}
		return out
	},
	"$ref circle": func(n int) string {
		return apiHead + "paths: {/f: {get: {parameters: [" + strings.Repeat("{$ref: '#/components/parameters/p'},", n) + "]}}}\ncomponents: {parameters: {p: {$ref: '#/components/parameters/p'}}}\n"
	},
	"an enum": func(n int) string {
		return apiHead + "paths: {/f: {get: {parameters: [{name: p, in: query, schema: {enum: [" + lines(n, "v#, ") + "]}}]}}}\n"
	},
	"operations": func(n int) string {
		return apiHead + "paths:\n" + lines(n, "  /f#: {get: {operationId: same}, post: {operationId: same}, trace: {}}\n")
	},
	"same shape": func(n int) string { return apiHead + "paths:\n" + lines(n, "  /f/{a#}: {get: {summary: same}}\n") },
	"servers": func(n int) string {
		return "openapi: 3.0.0\ninfo: {title: A, version: '1'}\nservers:\n" + lines(n, "  - {url: 'https://a#.example/v#'}\n") + "paths: {/f: {get: {}}}\n"
	},
	"security": func(n int) string {
		return apiHead + "security: [" + lines(n, "{s#: []}, ") + "]\npaths:\n" + lines(n, "  /f#: {get: {}}\n") + "components: {securitySchemes: {" + lines(n, "s#: {type: apiKey, in: query, name: k#}, ") + "}}\n"
	},
	"media types": func(n int) string {
		return apiHead + "paths: {/f: {get: {responses: {'200': {content: {" + lines(n, "a/b#: {}, ") + "}}}}}}\n"
	},
	"responses": func(n int) string {
		return apiHead + "paths: {/f: {get: {responses: {" + lines(n, "'#': {content: {a/b#: {}}}, ") + "}}}}\n"
	},
	"description": func(n int) string {
		return apiHead + "paths: {/f: {get: {description: '" + strings.Repeat("word. ", 12*n) + "'}}}\n"
	},
	"merges": func(n int) string {
		out := "x-0: &m0 {a: 1}\n"
		for i := range n {
			out += fmt.Sprintf("x-%d: &m%d {<<: [*m%d, *m%d], b%d: 1}\n", i+1, i+1, i, i, i)
		}
		return apiHead + out + "paths: {/f: {get: {}}}\n"
	},
	"unknown": func(n int) string {
		return apiHead + lines(n, "pths#: 1\n") + "paths: {/f: {get: {" + lines(n, "paramters#: [], ") + "}}}\n"
	},
}

// TestWorkIsLinear counts the steps of commands on hostile input of up to some 50 kB.
func TestWorkIsLinear(t *testing.T) {
	counter := startSteps(t)
	dir := t.TempDir()
	file, other := filepath.Join(dir, "input.yaml"), filepath.Join(dir, "other.yaml")
	if err := os.WriteFile(other, []byte(versionsHead+lines(1, endpointLine)), 0o600); err != nil {
		t.Fatal(err)
	}
	check := func(t *testing.T, build func(n int) string, args ...string) {
		n := 400
		for n > 32 && len(build(n)) > 50_000 {
			n /= 2
		}
		counter.checkWork(t, file, n, build, func(n int) []string {
			if args[0] == "match" {
				return append(args, "https://{{host}}/"+strings.Repeat("-", 20*n))
			}
			return args
		})
	}
	for name, build := range hostileDefinitions {
		t.Run(name, func(t *testing.T) {
			check(t, build, "lint", file, "--registered", file)
			check(t, build, "lint", file, "--fix", "--dry-run")
			check(t, build, "diff", file, other)
			check(t, build, "diff", other, file)
			check(t, build, "match", file)
			check(t, func(n int) string { return edits(t, build(n), 1) }, "lsp", "<"+file)
		})
	}
}

// FuzzLintWork counts the steps of lint on definitions that repeat a line over and over.
func FuzzLintWork(f *testing.F) {
	f.Add("", "modifers#: 1\n", versionsHead)
	f.Add(versionsHead, endpointLine, "")
	for _, build := range hostileDefinitions {
		text := build(2)
		if i, j := strings.Index(text, "1"), strings.LastIndex(text, "1"); i >= 0 {
			i, j = strings.LastIndex(text[:i], "\n")+1, min(len(text), j+1+strings.Index(text[j:]+"\n", "\n"))
			f.Add(text[:i], strings.ReplaceAll(text[i:j], "1", "#"), text[j:])
		}
	}
	counter := startSteps(f)
	file := filepath.Join(f.TempDir(), "input.yaml")
	f.Fuzz(func(t *testing.T, before, line, after string) {
		if line == "" || len(before)+len(after) > 2000 || len(line) > 400 {
			return
		}
		build := func(n int) string { return before + lines(n, line) + after }
		definition.Lint(definition.Parse("input.yaml", []byte(build(2)))) // shows the fuzzer what is new
		counter.checkWork(t, file, max(16, min(800, 20_000/len(line))), build, func(int) []string { return []string{"lint", file} })
	})
}
