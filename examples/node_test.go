// Package examples tests the Node services of docs/node.md with a real Express and a real Fastify.
package examples

import (
	"encoding/base64"
	"encoding/json"
	"io"
	"maps"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"signpost/contextkeys"
	"signpost/internal/testkit"
)

// frameworks are the examples in Node, by directory, which is also the name of the package in npm.
var frameworks = []string{"express", "fastify"}

// project copies an example into a directory with the packages that make installed, and renders the manifest as its
// build script does.
func project(t *testing.T, framework string) (dir, node string) {
	t.Helper()
	node = testkit.Find(t, "node", "the Node examples")
	modules := filepath.Join(testkit.Root(), "bin", "npm", "node_modules")
	if _, err := os.Stat(filepath.Join(modules, framework)); err != nil {
		testkit.Missing(t, framework+" from npm", "its example")
	}
	dir = t.TempDir()
	testkit.OK(t, os.CopyFS(dir, os.DirFS(framework)))
	testkit.OK(t, os.Symlink(modules, filepath.Join(dir, "node_modules")))
	var pkg struct {
		Scripts map[string]string
	}
	testkit.OK(t, json.Unmarshal([]byte(testkit.Read(t, filepath.Join(framework, "package.json"))), &pkg))
	build := exec.Command("sh", "-c", pkg.Scripts["build"])
	build.Dir = dir
	build.Env = append(os.Environ(), "PATH="+filepath.Dir(testkit.Program(t, "signpost"))+":"+os.Getenv("PATH"))
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%s: %v\n%s", build, err, out)
	}
	return dir, node
}

// start runs a server in a directory.
func start(t *testing.T, address, dir string, args ...string) {
	t.Helper()
	cmd := exec.Command(args[0], args[1:]...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "HOSTS=feeds.example.com,localhost,b.example.org,xn--mnchen-3ya.example")
	testkit.Start(t, address, cmd)
}

func get(t *testing.T, address, host string, header ...string) (*http.Response, string) {
	t.Helper()
	return testkit.Get(t, nil, "http://"+address+"/v1/endpoints-manifest", append(header, "Host", host)...)
}

// TestManifestRoute compares the manifests of each route with those of signpost serve, byte for byte, and lets check
// call the service as studios and apps do.
func TestManifestRoute(t *testing.T) {
	for _, framework := range frameworks {
		t.Run(framework, func(t *testing.T) { testManifestRoute(t, framework) })
	}
}

func testManifestRoute(t *testing.T, framework string) {
	dir, node := project(t, framework)
	service, serve, signpost := testkit.FreeAddress(t), testkit.FreeAddress(t), testkit.Program(t, "signpost")
	_, port, _ := net.SplitHostPort(service)
	start(t, service, dir, node, "server.js", port)
	start(t, serve, dir, signpost, "serve", "--listen", serve, "feeds.yaml")
	for _, host := range []string{"feeds.example.com", "FEEDS.example.com", "feeds.example.com.", "b.example.org:8443", "localhost", "xn--mnchen-3ya.example"} {
		_, want := get(t, serve, host)
		res, got := get(t, service, host)
		if got != want || res.StatusCode != http.StatusOK || !strings.Contains(got, "/v1/matches") {
			t.Errorf("%s: %s\n%s\nnot\n%s", host, res.Status, got, want)
		}
		checkHeaders(t, res, "application/json")
		for _, tag := range []string{res.Header.Get("ETag"), `"other", W/` + res.Header.Get("ETag"), "*"} {
			again, body := get(t, service, host, "If-None-Match", tag)
			if again.StatusCode != http.StatusNotModified || body != "" || again.Header.Get("ETag") != res.Header.Get("ETag") {
				t.Errorf("%s: with If-None-Match: %s the answer is %s %q", host, tag, again.Status, body)
			}
		}
	}
	res, body := get(t, service, "evil.example")
	if res.StatusCode != http.StatusMisdirectedRequest || strings.Contains(body, "evil") {
		t.Errorf("a host that is not allowed: %s\n%s", res.Status, body)
	}
	checkHeaders(t, res, "application/problem+json")
	if answer := rawRequest(t, service, "GET /v1/endpoints-manifest HTTP/1.0\r\n\r\n"); !strings.HasPrefix(answer, "HTTP/1.1 400 ") {
		t.Errorf("without a Host header:\n%s", answer)
	}
	// A proxy that terminates TLS and does not say so: the link is one that apps can call.
	if _, feed := testkit.Get(t, nil, "http://"+service+"/v1/matches", "Host", "feeds.example.com"); !strings.Contains(feed, `"https://feeds.example.com/v1/matches/7/events"`) {
		t.Errorf("the link of the feed: %s", feed)
	}
	check := exec.Command(signpost, "check", "http://localhost:"+port+"/v1/endpoints-manifest", "--ignore", "https",
		"--send-to", "http://localhost:"+port, "--context", "plugin-login-flow.access_token=s3cr3t")
	if out, err := check.CombinedOutput(); err != nil || !strings.Contains(string(out), "1 followed") {
		t.Errorf("%s: %v\n%s", check, err, out)
	}
}

func checkHeaders(t *testing.T, res *http.Response, contentType string) {
	t.Helper()
	if kind, cors := res.Header.Get("Content-Type"), res.Header.Get("Access-Control-Allow-Origin"); !strings.HasPrefix(kind, contentType) || cors != "*" {
		t.Errorf("%s: Content-Type %q, Access-Control-Allow-Origin %q", res.Status, kind, cors)
	}
}

// rawRequest sends text as it is and returns the answer.
func rawRequest(t *testing.T, address, text string) string {
	t.Helper()
	conn := testkit.Must(net.Dial("tcp", address))(t)
	defer conn.Close()
	testkit.Must(conn.Write([]byte(text)))(t)
	return string(testkit.Must(io.ReadAll(conn))(t))
}

// TestCtx decodes what clients really send with the code of the examples and with package contextkeys.
func TestCtx(t *testing.T) {
	dir, node := project(t, "express")
	const text = `{"token":"~~~???>>>","n":20,"on":true,"none":null,"é\n":"\u00e9&","list":["~",2],"map":{"a":[{}]}}`
	std, padded := base64.RawStdEncoding.EncodeToString([]byte(text)), base64.StdEncoding.EncodeToString([]byte(text))
	cases := []string{
		"", base64.RawURLEncoding.EncodeToString([]byte("{}")),
		base64.RawURLEncoding.EncodeToString([]byte(text)), base64.URLEncoding.EncodeToString([]byte(text)), std, padded,
		strings.ReplaceAll(padded, "+", " "), url.QueryEscape(padded), url.QueryEscape(url.QueryEscape(padded)),
		base64.RawURLEncoding.EncodeToString([]byte("[1]")), base64.RawURLEncoding.EncodeToString([]byte("null")), base64.RawURLEncoding.EncodeToString([]byte("undefined")),
		"undefined", "null", std[:20] + "\n" + std[20:], "!!!", "eyJwcm9maWxlIjo3", "%zz",
	}
	input := testkit.Must(json.Marshal(cases))(t)
	cmd := exec.Command(node, "--input-type=module", "--eval", `import { readCtx } from "./ctx.js";
const read = (ctx) => { try { return readCtx(ctx); } catch { return "error"; } };
console.log(JSON.stringify(`+string(input)+`.map(read)));`)
	cmd.Dir = dir
	var got []any
	testkit.OK(t, json.Unmarshal(testkit.Must(cmd.Output())(t), &got))
	for i, ctx := range cases {
		var want any = "error"
		if values, err := contextkeys.Decode(ctx); err == nil {
			text := testkit.Must(json.Marshal(maps.Collect(values.All())))(t)
			testkit.OK(t, json.Unmarshal(text, &want))
		}
		testkit.Equal(t, "ctx="+ctx, got[i], want)
	}
}

// TestNodePage checks that docs/node.md shows the files of the examples as they are, and that both have the same ones.
func TestNodePage(t *testing.T) {
	page := testkit.Read(t, filepath.Join(testkit.Root(), "docs", "node.md"))
	for _, file := range []string{"manifest.js", "ctx.js", "feeds.yaml"} {
		text := testkit.Read(t, filepath.Join("express", file))
		kind := strings.TrimPrefix(filepath.Ext(file), ".")
		if !strings.Contains(page, "```"+kind+" "+file+"\n"+text+"```\n") {
			t.Errorf("docs/node.md does not show %s as it is", file)
		}
		testkit.Equal(t, file, testkit.Read(t, filepath.Join("fastify", file)), text)
	}
	for _, framework := range frameworks {
		_, route, _ := strings.Cut(testkit.Read(t, filepath.Join(framework, "server.js")), "app.get(")
		route, _, _ = strings.Cut("app.get("+route, "\n\n")
		if !strings.Contains(page, "```text\n"+route+"\n```\n") {
			t.Errorf("docs/node.md does not show the route of %s as it is:\n%s", framework, route)
		}
	}
}
