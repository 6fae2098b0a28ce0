package cli

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"signpost/internal/escape"
	"signpost/internal/testkit"
)

// controls returns every character that a terminal might act on: C0, DEL, C1 and the format characters that change the
// direction of text or hide it.
func controls() []rune {
	var all []rune
	for r := rune(0); r < 0xa0; r++ {
		if r < ' ' || r >= 0x7f {
			all = append(all, r)
		}
	}
	return append(all, 0x061c, 0x200b, 0x200e, 0x200f, 0x2028, 0x2029, 0x202a, 0x202b, 0x202c, 0x202d, 0x202e, 0x2066, 0x2067, 0x2068, 0x2069, 0xfeff, 0xe0041)
}

// ciCommand is an instruction to CI services if a line begins with it.
const ciCommand = "::error::owned"

// hostileText has all of them, sequences that set the title of a window and clear the screen, and lines that begin with
// a command.
var hostileText = "A" + string(controls()) + "\x1b]0;owned\a\x1b[2J\u009b2J\u202e\n" + ciCommand + "\r" + ciCommand + "\u2028" + ciCommand

// runEscaped runs a command line and fails if its output has a control character, or a line that Signpost did not
// begin. Newlines and tabs are allowed.
func runEscaped(t *testing.T, args ...string) {
	t.Helper()
	out, errs, _ := runCLI(args...)
	checkEscaped(t, fmt.Sprintf("%.200q", args), out, errs)
}

func checkEscaped(t *testing.T, name string, streams ...string) {
	t.Helper()
	for i, text := range streams {
		for at, r := range text {
			invalid := r == 0xfffd && !strings.HasPrefix(text[at:], "\ufffd")
			if r != '\n' && r != '\t' && (escape.Unsafe(r) || invalid) {
				t.Errorf("%s: stream %d has %U: %.200q", name, i+1, r, text[max(0, at-80):min(len(text), at+80)])
				return
			}
		}
		for line := range strings.Lines(text) {
			if strings.HasPrefix(strings.TrimLeft(line, " \t"), ciCommand) {
				t.Errorf("%s: stream %d has a line that begins with %q: %.300q", name, i+1, ciCommand, text)
				return
			}
		}
	}
}

// TestPrint finds commands that print without [printf], which escapes every text.
func TestPrint(t *testing.T) {
	t.Parallel()
	direct := regexp.MustCompile(`fmt\.Fprint\w*\((c\.Std\w+|w|out),`)
	for _, file := range testkit.Must(filepath.Glob("*.go"))(t) {
		if found := direct.FindString(testkit.Read(t, file)); found != "" && file != "output.go" && !strings.HasSuffix(file, "_test.go") {
			t.Errorf("%s has %s: use printf", file, found)
		}
	}
}

// lintCommands print findings in every format. SOURCE stands for the source.
var lintCommands = []string{
	"lint SOURCE", "lint SOURCE --format json", "lint SOURCE --format sarif", "lint SOURCE --format github", "lint SOURCE --format gitlab",
	"serve SOURCE --listen 127.0.0.1:-1", "serve SOURCE --listen 127.0.0.1:-1 --log-format json", "push SOURCE oci://127.0.0.1:1/feeds:prod",
}

// everyCommand runs every command that reads a source, in every format.
func everyCommand(t *testing.T, source, good string) {
	t.Helper()
	runCommands(t, source, good, append([]string{
		"lint GOOD --registered SOURCE", "lint GOOD --context-keys SOURCE", "lint GOOD --baseline SOURCE",
		"render SOURCE", "render SOURCE --all DIR", "import SOURCE",
		"match SOURCE https://{{host}}/v1/feeds/1", "match SOURCE https://a.example/v1/feeds/1 --registered SOURCE --format json",
		"diff SOURCE GOOD", "diff SOURCE GOOD --format json", "diff SOURCE GOOD --format markdown",
		"diff GOOD SOURCE", "diff GOOD SOURCE --format json", "diff GOOD SOURCE --format markdown", "diff GOOD GOOD --accepted SOURCE",
		"check http://127.0.0.1:1/ --values SOURCE", "check http://127.0.0.1:1/ --feed-schema SOURCE", "check http://127.0.0.1:1/ --registered SOURCE",
		"studio SOURCE --listen 127.0.0.1:-1", "serve GOOD --tls-cert SOURCE --tls-key SOURCE", "serve GOOD --ca-file SOURCE",
	}, lintCommands...))
}

// runCommands runs lines in which SOURCE stands for a source, GOOD for a definition and DIR for an empty directory.
func runCommands(t *testing.T, source, good string, lines []string) {
	t.Helper()
	for _, line := range lines {
		args := strings.Fields(line)
		for i, arg := range args {
			switch arg {
			case "SOURCE":
				args[i] = source
			case "GOOD":
				args[i] = good
			case "DIR":
				args[i] = t.TempDir()
			}
		}
		runEscaped(t, args...)
	}
}

// TestControlCharactersInNames gives every command files whose names have control characters and begin lines with a
// command for CI services.
func TestControlCharactersInNames(t *testing.T) {
	t.Parallel()
	dir, one := t.TempDir(), t.TempDir()
	texts := map[string]string{
		"misspelt.yaml": strings.Replace(oneEndpoint, "get", "GET", 1),
		"good.yaml":     oneEndpoint,
		"bad.yaml":      "versions: [",
		"other.json":    `{"compilerOptions": {}}`,
	}
	write := func(dir, name string) {
		t.Helper()
		for ending, text := range texts {
			testkit.Write(t, filepath.Join(dir, name+ending), text)
		}
	}
	for some := range slices.Chunk(controls()[1:], 50) { // a name cannot have NUL, and has up to 255 bytes
		write(dir, strings.Join(strings.Split(string(some), ""), "a")+ciCommand)
	}
	write(dir, "\xff\n"+ciCommand)
	name := "\xff" + string(controls()[1:]) + "\n" + ciCommand
	write(one, name)
	path := filepath.Join(one, name)
	good := path + "good.yaml"
	runCommands(t, dir, good, append([]string{"diff SOURCE SOURCE", "render SOURCE --all DIR", "match SOURCE https://a.example/"}, lintCommands...))
	for _, source := range []string{path + "bad.yaml", path + "other.json", name, "HEAD:" + name, "oci://127.0.0.1:1/" + name, "http://127.0.0.1:1/" + name, "https://" + name} {
		everyCommand(t, source, good)
	}
	runEscaped(t, "lint", "--fix", "--dry-run", dir)
	runEscaped(t, "lint", "--fix", dir)
	for _, args := range [][]string{
		{"lint", path + "misspelt.yaml", "--baseline", path, "--update-baseline"}, {"lint", good, "--format", name}, {"lint", "--" + name},
		{"lint", good, "--feature", name}, {"render", good}, {"render", good, "--all", path + "/x"}, {"render", good, "--api-version", name},
		{"render", good, "--host", name}, {"diff", good, good, "--ignore", name}, {"match", good, "https://feeds.example.com/v1/g"}, {"match", good, name},
		{"match", good, "https://feeds.example.com/v1/f/" + name}, {"match", good, good, "https://feeds.example.com/v1/f"}, {"match", good, "https://" + name},
		{"check", "http://127.0.0.1:1/" + name}, {"check", "https://" + name}, {"check", name}, {"check", "http://127.0.0.1:1/", "--param", name, "--context", name},
		{"serve", good, "--feature", name}, {"serve", good, "--base-path", name}, {"init", good}, {"init", path + ".yaml"}, {"init", name},
		{"push", good, name}, {"push", good, "oci://" + name}, {"explain", name}, {"completion", name}, {"help", name}, {name}, {"--" + name},
	} {
		runEscaped(t, args...)
	}
}

// TestControlCharacters sends control characters through every command that prints what others wrote.
func TestControlCharacters(t *testing.T) {
	t.Parallel()
	quote := func(text string) string { return string(testkit.Must(json.Marshal(text))(t)) }
	q := quote(hostileText)
	endpoint := func(more string) string {
		return `"name": ` + q + `, "method": "get", "mime_type": "application/json", "context_obj": [{"key": ` + q + `, "type": "ctx", "mapper": ` + quote("m"+hostileText) + `}]` + more
	}
	definition := func(fields, url, more string) string {
		return `{"service": ` + q + `, ` + fields + `"versions": {"v1": {"endpoints": {` + quote(url) + `: {` + endpoint(more) + `}}}}}`
	}
	modifier := `{"kind": "select", "id": ` + q + `, "name": ` + q + `, "key": ` + q + `, "label": ` + q + `, "options": [{"value": ` + q + `, "label": ` + q + `}]`
	const names = "https://{{host}}/v1/feeds"
	dir := t.TempDir()
	good := filepath.Join(dir, "good.json")
	testkit.Write(t, good, definition("", names, ""))
	for name, text := range map[string]string{
		"other.json":    strings.ReplaceAll(definition("", names, `, "modifiers": [`+modifier+`}]`), "owned", "changed"),
		"urls.json":     definition("", names+"/"+hostileText, ""),
		"hosts.json":    definition("", "https://"+hostileText+".example/", ""),
		"versions.json": strings.Replace(definition("", names, ""), `"v1"`, q, 1),
		"fields.json": definition(q+`: 1, "base_path": `+quote("/"+hostileText)+`, "enable": [`+q+`], "features": {`+quote("x"+hostileText)+`: {"url_suffix": `+q+`}}, `+
			`"modifiers": {`+q+`: `+modifier+`, "defaultValue": `+quote("B"+hostileText)+`}}, `, names,
			", "+q+`: 1, "modifiers": [`+quote("n"+hostileText)+`], "allow": {`+q+`: `+q+`}, "deprecated": {"since": `+q+`, "use": `+q+`}`),
		"manifest.json": `{"endpoints": {"https://a.example/v1/feeds": {` + endpoint(`, `+q+`: 1`) + `}}}`,
		"syntax.yaml":   "a: " + hostileText + "\n b: {",
		"api.json": `{"openapi": "3.0.0", "info": {"title": ` + q + `, "version": "1"}, "servers": [{"url": "https://a.example/v1"}, {"url": ` + q + `}], ` + q + `: 1,
			"paths": {"/feeds": {"get": {"summary": ` + q + `, "description": ` + q + `, ` + q + `: 1, "parameters": [{"name": ` + q + `, "in": "query", "description": ` + q + `,
			"schema": {"type": ` + q + `, "enum": [` + q + `]}}, {"$ref": ` + quote("#/components/"+hostileText) + `}], "security": [{` + q + `: []}]}},
			` + quote("/"+hostileText) + `: {"get": {}}}}`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path := filepath.Join(dir, name)
			testkit.Write(t, path, text)
			everyCommand(t, path, good)
		})
	}
	raw := t.TempDir() // each character as it is, in a definition of its own
	for _, r := range controls() {
		testkit.Write(t, filepath.Join(raw, fmt.Sprintf("%x.yaml", r)), "nam"+string(r)+"e: x"+string(r)+"y\nmodifers: '"+string(r)+"'\nversions: {}\n")
	}
	runCommands(t, raw, good, lintCommands)
}

// TestControlCharactersOfServers uses a server that responds with control characters in its status, its headers, its
// redirects and its body.
func TestControlCharactersOfServers(t *testing.T) {
	t.Parallel()
	line := strings.NewReplacer("\r", "", "\n", "", "\x00", "").Replace(hostileText)
	body := `{"endpoints": {"http://HOST/feeds": {"name": "A` + "\u009b2J\u202e" + `", "method": "get", "mime_type": "application/json", "` + "\u009b\u202e" + `": 1}}}`
	for name, answer := range map[string]string{
		"status":    "HTTP/1.1 418 " + line + "\r\nContent-Length: 0\r\n\r\n",
		"type":      "HTTP/1.1 200 OK\r\nContent-Type: " + line + "\r\nContent-Length: 2\r\n\r\n{}",
		"redirect":  "HTTP/1.1 302 Found\r\nLocation: http://other.example/" + strings.ReplaceAll(line, "\x7f", "") + "\r\nContent-Length: 0\r\n\r\n",
		"elsewhere": "HTTP/1.1 302 Found\r\nLocation: http://other.example/%1b[2J" + "\u202e" + "\r\nContent-Length: 0\r\n\r\n",
		"not HTTP":  line + "\r\n\r\n",
		"header":    "HTTP/1.1 200 OK\r\n" + line + ": x\r\n\r\n",
		"problem":   "HTTP/1.1 404 Not Found\r\nContent-Type: application/problem+json\r\nContent-Length: 200\r\n\r\n" + fmt.Sprintf("%-200s", `{"title": "\u001b[2J\u202e", "detail": "\u001b]0;a\u0007"}`),
		"body":      "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nETag: \"\u009b\"\r\nConnection: close\r\n\r\n" + body,
		"text":      "HTTP/1.1 200 OK\r\nContent-Type: text/yaml\r\nConnection: close\r\n\r\na: " + hostileText,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				conn, _, err := w.(http.Hijacker).Hijack()
				if err == nil {
					io.WriteString(conn, strings.ReplaceAll(answer, "HOST", r.Host))
					conn.Close()
				}
			}))
			defer srv.Close()
			address := srv.URL + "/v1/endpoints-manifest"
			runCommands(t, address, "example.yaml", []string{
				"check SOURCE", "check SOURCE --format json", "check SOURCE --format junit", "diff SOURCE SOURCE",
				"lint SOURCE", "lint --registered SOURCE GOOD",
				"match SOURCE " + srv.URL + "/feeds/1", "push GOOD " + strings.Replace(srv.URL, "http", "oci", 1) + "/a:b",
			})
		})
	}
}

// Escaping a JSON document does not change what it says, and a terminal still gets its colours.
func TestEscaping(t *testing.T) {
	t.Parallel()
	want := map[string]string{"a": hostileText}
	var out bytes.Buffer
	e := &stream{Writer: &out}
	printJSON(e, want)
	var got map[string]string
	testkit.OK(t, json.Unmarshal(out.Bytes(), &got))
	testkit.Equal(t, "JSON", got, want)
	out.Reset()
	io.WriteString(e, "\x1b[31merror\x1b[0m é€😀👨\u200d👩 \xff\r\n\ta")
	testkit.Equal(t, "text", out.String(), "\\u001b[31merror\\u001b[0m é€😀👨\u200d👩 \\xff\\u000d\n\ta")
	for _, char := range []string{"é", "€", "😀"} { // a write that ends inside a character is escaped, not lost
		for end := 1; end < len(char); end++ {
			out.Reset()
			io.WriteString(e, char[:end])
			io.WriteString(e, char[end:])
			want := ""
			for _, b := range []byte(char) {
				want += fmt.Sprintf(`\x%02x`, b)
			}
			testkit.Equal(t, char+" in two writes", out.String(), want)
		}
	}
	out.Reset()
	printf(e, "%s %q %5d|%-4s|%v %s", palette(true).wrap(red, "error\x1b"), "a\x1b", 7, "\n", fmt.Errorf("b\r"), safe("\n"))
	testkit.Equal(t, "arguments", out.String(), "\x1b[31merror\\u001b\x1b[0m \"a\\x1b\"     7|\\u000a   |b\\u000d \n")
}

// TestControlCharactersInLogs sends requests with control characters to serve.
func TestControlCharactersInLogs(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "x\u202e.json")
	testkit.Write(t, path, `{"service": "\u001b\u009b\u202e", "versions": {"v1": {"endpoints": {"https://{{host}}/v1/feeds": {"name": "\u009b\u202e", "method": "get", "mime_type": "application/json"}}}}}`)
	for _, format := range []string{"text", "json"} {
		addr := testkit.FreeAddress(t)
		p := testkit.Start(t, addr, exec.Command("signpost", "serve", path, "--listen", addr, "--log-level", "debug", "--log-format", format))
		conn := testkit.Must(net.Dial("tcp", addr))(t)
		conn.SetDeadline(time.Now().Add(testkit.Patience))
		fmt.Fprintf(conn, "GET /%%1b[2J%%c2%%9b\u202e HTTP/1.1\r\nHost: a\u202e\u009b\r\nX-Request-Id: \u202e\u009b\r\nTraceparent: \u202e\r\n\r\n")
		fmt.Fprintf(conn, "GET /v1/endpoints-manifest HTTP/1.1\r\nHost: a.example\r\nUser-Agent: \u202e\r\n\r\n\x1b[2J \u202e\r\n\r\n")
		conn.Read(make([]byte, 4<<10))
		conn.Close()
		p.Process.Signal(syscall.SIGTERM)
		<-p.Done
		checkEscaped(t, "serve with a log of "+format, p.Log.String())
		if !strings.Contains(p.Log.String(), "request") {
			t.Errorf("requests are not logged: %s", p.Log.String())
		}
	}
}
