// Package express tests the Express service of docs/node.md with a real Express.
package express

import (
	"encoding/base64"
	"encoding/json"
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

// project copies the example into a directory with the packages that make installed, and renders the manifest as its
// build script does.
func project(t *testing.T) (dir, node string) {
	t.Helper()
	node = testkit.Find(t, "node", "the Express example")
	modules := filepath.Join(testkit.Root(), "bin", "npm", "node_modules")
	if _, err := os.Stat(filepath.Join(modules, "express")); err != nil {
		testkit.Missing(t, "Express from npm", "the Express example")
	}
	dir = t.TempDir()
	testkit.OK(t, os.CopyFS(dir, os.DirFS(".")))
	testkit.OK(t, os.Symlink(modules, filepath.Join(dir, "node_modules")))
	var pkg struct {
		Scripts map[string]string
	}
	testkit.OK(t, json.Unmarshal([]byte(testkit.Read(t, "package.json")), &pkg))
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

// TestExpress compares the manifests of the Express route with those of signpost serve, byte for byte, and lets check
// call the service as studios and apps do.
func TestExpress(t *testing.T) {
	dir, node := project(t)
	express, serve, signpost := testkit.FreeAddress(t), testkit.FreeAddress(t), testkit.Program(t, "signpost")
	_, port, _ := net.SplitHostPort(express)
	start(t, express, dir, node, "server.js", port)
	start(t, serve, dir, signpost, "serve", "--listen", serve, "feeds.yaml")
	for _, host := range []string{"feeds.example.com", "FEEDS.example.com", "feeds.example.com.", "b.example.org:8443", "localhost", "xn--mnchen-3ya.example"} {
		_, want := get(t, serve, host)
		res, got := get(t, express, host)
		if got != want || res.StatusCode != http.StatusOK || !strings.Contains(got, "/v1/matches") {
			t.Errorf("%s: %s\n%s\nnot\n%s", host, res.Status, got, want)
		}
		if kind, cors := res.Header.Get("Content-Type"), res.Header.Get("Access-Control-Allow-Origin"); !strings.HasPrefix(kind, "application/json") || cors != "*" {
			t.Errorf("%s: Content-Type %q, Access-Control-Allow-Origin %q", host, kind, cors)
		}
		if again, _ := get(t, express, host, "If-None-Match", res.Header.Get("ETag")); again.StatusCode != http.StatusNotModified {
			t.Errorf("%s: with its ETag the status is %s", host, again.Status)
		}
	}
	if res, body := get(t, express, "evil.example"); res.StatusCode != http.StatusMisdirectedRequest || strings.Contains(body, "evil") {
		t.Errorf("a host that is not allowed: %s\n%s", res.Status, body)
	}
	check := exec.Command(signpost, "check", "http://localhost:"+port+"/v1/endpoints-manifest", "--ignore", "https",
		"--send-to", "http://localhost:"+port, "--context", "plugin-login-flow.access_token=s3cr3t")
	if out, err := check.CombinedOutput(); err != nil || !strings.Contains(string(out), "1 followed") {
		t.Errorf("%s: %v\n%s", check, err, out)
	}
}

// TestCtx decodes what clients really send with the code of the example and with package contextkeys.
func TestCtx(t *testing.T) {
	dir, node := project(t)
	const text = `{"token":"~~~???>>>","n":20,"on":true,"none":null,"é\n":"\u00e9&","list":["~",2],"map":{"a":[{}]}}`
	std, padded := base64.RawStdEncoding.EncodeToString([]byte(text)), base64.StdEncoding.EncodeToString([]byte(text))
	cases := []string{
		"", base64.RawURLEncoding.EncodeToString([]byte("{}")),
		base64.RawURLEncoding.EncodeToString([]byte(text)), base64.URLEncoding.EncodeToString([]byte(text)), std, padded,
		strings.ReplaceAll(padded, "+", " "), url.QueryEscape(padded), url.QueryEscape(url.QueryEscape(padded)),
		base64.RawURLEncoding.EncodeToString([]byte("[1]")), base64.RawURLEncoding.EncodeToString([]byte("null")), "!!!", "eyJwcm9maWxlIjo3", "%zz",
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

// TestNodePage checks that docs/node.md shows the files of the example as they are.
func TestNodePage(t *testing.T) {
	page := testkit.Read(t, filepath.Join(testkit.Root(), "docs", "node.md"))
	for _, file := range []string{"manifest.js", "ctx.js"} {
		if !strings.Contains(page, "```js "+file+"\n"+testkit.Read(t, file)+"```\n") {
			t.Errorf("docs/node.md does not show %s as it is", file)
		}
	}
}
