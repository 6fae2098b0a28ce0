package cli

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os/exec"
	"regexp"
	"strings"
	"testing"

	"net/http/cookiejar"
	"signpost/internal/testkit"
)

// The query of an address may contain an access token, which only the server at that address may see.
const secret = "s3cr3t-t0ken"

// secretServer responds differently on each path, and reports leaks of the token.
func secretServer(t *testing.T) (address string) {
	other := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		t.Errorf("a redirect to another host was followed, with Referer %q", r.Referer())
	}))
	t.Cleanup(other.Close)
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.Contains(r.Referer(), secret) {
			t.Errorf("%s: Referer %q", r.URL.Path, r.Referer())
		}
		w.Header().Set("Content-Type", "application/json")
		switch kind := strings.Split(r.URL.Path, "/")[1]; {
		case r.URL.Query().Get("token") != secret:
			w.WriteHeader(http.StatusForbidden)
		case kind == "elsewhere":
			http.Redirect(w, r, other.URL+"/?"+r.URL.RawQuery, http.StatusFound)
		case kind == "moved":
			http.Redirect(w, r, "/manifest/v1/endpoints-manifest?"+r.URL.RawQuery, http.StatusFound)
		case kind == "failing":
			w.WriteHeader(http.StatusInternalServerError)
		case kind == "cut":
			w.Header().Set("Content-Length", "1000")
			io.WriteString(w, "{")
		default:
			io.WriteString(w, strings.ReplaceAll(secretBodies[kind], "HOST", r.Host))
		}
	}))
	t.Cleanup(srv.Close)
	return srv.URL
}

var secretBodies = map[string]string{
	"manifest":   `{"endpoints": {"http://HOST/v1/feeds": {"name": "Feeds", "method": "get", "mime_type": "application/json"}}}`,
	"broken":     `{"endpoints": {"http://HOST/v1/feeds": {"name": "", "method": "fetch", "mime_type": "json", "more": 1}}}`,
	"definition": `{"versions": {"v1": {"endpoints": {"https://{{host}}/v1/feeds": {"name": "Feeds", "method": "get", "mime_type": "application/json"}}}}}`,
	"text":       "not a manifest",
}

var secretKinds = []string{"manifest", "elsewhere", "moved", "failing", "text", "broken", "definition", "cut"}

func TestSecretInAddress(t *testing.T) {
	t.Parallel()
	server := secretServer(t)
	addresses := []string{"http://127.0.0.1:1/refused?token=" + secret, "http://127.0.0.1:bad/?token=" + secret, "http://127.0.0.1/%zz?token=" + secret, "http://127.0.0.1?token=" + secret,
		"http://u:" + secret + "@127.0.0.1:1/v1/endpoints-manifest", server + "/forbidden/x?key=" + secret + "#token=" + secret}
	for _, kind := range secretKinds {
		addresses = append(addresses, server+"/"+kind+"/v1/endpoints-manifest?token="+secret)
	}
	for _, address := range addresses {
		t.Run(regexp.MustCompile(`:\d+/`).ReplaceAllString(strings.ReplaceAll(address, secret, "TOKEN"), "/"), func(t *testing.T) {
			for _, line := range []string{
				"check ADDRESS", "check ADDRESS --format json", "check ADDRESS --format junit",
				"check http://127.0.0.1:1/v1/endpoints-manifest --registered ADDRESS",
				"diff ADDRESS ADDRESS", "diff ADDRESS ADDRESS --format json", "diff ADDRESS ADDRESS --format markdown",
				"match ADDRESS http://127.0.0.1/v1/feeds/1", "match ADDRESS " + server + "/v1/feeds/1 --format json",
				"render ADDRESS", "lint ADDRESS", "lint --registered ADDRESS example.yaml", "import ADDRESS", "push ADDRESS oci://127.0.0.1:1/a:b",
			} {
				out, errs, status := runCLI(strings.Fields(strings.ReplaceAll(line, "ADDRESS", address))...)
				if text := out + errs; strings.Contains(text, secret) {
					t.Errorf("%s prints %s", line, text)
				} else if status > exitFindings && !strings.Contains(text, "127.0.0.1") {
					t.Errorf("%s fails without naming the address: %s", line, text)
				}
			}
		})
	}
}

// TestSecretInServe follows addresses with a token. It is neither in the log, nor in the metrics, nor on standard output.
func TestSecretInServe(t *testing.T) {
	t.Parallel()
	server := secretServer(t)
	addr, admin := testkit.FreeAddress(t), testkit.FreeAddress(t)
	args := []string{"serve", "--listen", addr, "--admin-listen", admin, "--log-level", "debug", "--poll-interval", "50ms", "--definition-cache", t.TempDir()}
	for _, kind := range append(secretKinds, "forbidden") {
		args = append(args, server+"/"+kind+"/feeds.json?token="+secret)
	}
	p := testkit.Start(t, admin, exec.Command("signpost", args...))
	for _, want := range []string{"redirected to another host", server + "/failing/feeds.json?…"} {
		p.Log.WaitFor(t, want)
	}
	text := p.Log.String()
	for _, url := range []string{"http://" + admin + "/metrics", "http://" + admin + "/readyz", "http://" + addr + "/v1/endpoints-manifest"} {
		res, body := testkit.Get(t, nil, url)
		text += fmt.Sprint(res.Header, body)
	}
	if strings.Contains(text, secret) || !strings.Contains(text, "signpost_reloads_total") {
		t.Errorf("%s", text)
	}
}

// TestSecretInStudio registers addresses with a token. Neither the page nor its state contains it.
func TestSecretInStudio(t *testing.T) {
	t.Parallel()
	server := secretServer(t)
	addr := testkit.FreeAddress(t)
	args := []string{"studio", "--listen", addr, "--open=false"}
	for _, kind := range secretKinds {
		args = append(args, server+"/"+kind+"/v1/endpoints-manifest?token="+secret)
	}
	p := testkit.Start(t, addr, exec.Command("signpost", args...))
	p.Log.WaitFor(t, "Press Ctrl-C")
	browser := &http.Client{Jar: testkit.Must(cookiejar.New(nil))(t)}
	_, page := testkit.Get(t, browser, regexp.MustCompile(`http://\S+\?token=\w+`).FindString(p.Log.String()))
	state := ""
	testkit.Eventually(t, "everything is fetched", func() bool {
		_, state = testkit.Get(t, browser, "http://"+addr+"/api/state")
		return strings.Contains(state, `"Feeds"`) && !strings.Contains(state, "Fetching")
	})
	if text := state + page + p.Log.String(); strings.Contains(text, secret) || !strings.Contains(text, server+"/manifest/v1/endpoints-manifest?…") {
		t.Errorf("%s", text)
	}
}
