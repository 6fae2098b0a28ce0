package cli

import (
	"encoding/pem"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"

	"signpost"
	"signpost/client"
	"signpost/internal/testkit"
	"signpost/server"
)

// publish starts a service on loopback with a manifest and feeds, some of which are broken.
func publish(t *testing.T, start func(*httptest.Server), opts server.Options, endpoints ...signpost.Endpoint) *httptest.Server {
	t.Helper()
	mux := http.NewServeMux()
	s := httptest.NewUnstartedServer(mux)
	s.Config.ErrorLog = log.New(io.Discard, "", 0) // handshakes fail on purpose
	_, port, _ := net.SplitHostPort(s.Listener.Addr().String())
	for i := range endpoints {
		e := &endpoints[i]
		e.URL = strings.ReplaceAll(e.URL, "PORT", port)
		e.Name, e.Method, e.MIMEType = e.URL, signpost.MethodGet, signpost.MIMEJSON
	}
	template := testkit.Must(signpost.Compile(signpost.NewManifest(endpoints...)))(t)
	handler := testkit.Must(server.New(opts, server.Service{Versions: map[string]*signpost.Template{"v1": template}}))(t)
	mux.Handle("/v1/endpoints-manifest", handler)
	mux.HandleFunc("/v1/feeds", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("Access-Control-Allow-Origin", "*")
		io.WriteString(w, `{"entries": []}`)
	})
	mux.HandleFunc("/v1/media", func(w http.ResponseWriter, r *http.Request) { // repeats what it was sent
		http.Redirect(w, r, "/sign-in?"+r.URL.RawQuery, http.StatusFound)
	})
	start(s)
	t.Cleanup(s.Close)
	return s
}

func TestCheckWithAuthority(t *testing.T) {
	t.Parallel()
	s := publish(t, (*httptest.Server).StartTLS, server.Options{}, signpost.Endpoint{URL: "https://{{host}}:PORT/v1/feeds"})
	address := s.URL + "/v1/endpoints-manifest"
	out, errOut, code := runCLI("check", address)
	if code != exitFindings || !strings.Contains(out, "failed   certificate  the certificate is self-signed") || !strings.Contains(out, "--ca-file") {
		t.Errorf("an unknown certificate authority: %d\n%s%s", code, out, errOut)
	}
	file := filepath.Join(t.TempDir(), "ca.pem")
	block := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: s.Certificate().Raw})
	testkit.Write(t, file, string(block))
	out, errOut, code = runCLI("check", address, "--ca-file", file)
	if code != exitFine || errOut != "15 results: 14 passed, 0 failed, 0 warned, 1 skipped\n" {
		t.Errorf("%d\n%s%s", code, out, errOut)
	}
	for line := range strings.Lines(out) {
		if !strings.HasPrefix(line, "passed   ") && !strings.Contains(line, "feed-cache") {
			t.Error(line)
		}
	}
}

// TestCheckKeepsContext checks that a value of --context is never printed, whatever happens.
func TestCheckKeepsContext(t *testing.T) {
	t.Parallel()
	token := []signpost.ContextItem{{Key: "token", Type: signpost.ContextCtx, Required: true}}
	s := publish(t, (*httptest.Server).Start, server.Options{},
		signpost.Endpoint{URL: "http://{{host}}:PORT/v1/media", ContextObj: token},
		signpost.Endpoint{URL: "http://{{host}}:PORT/v1/feeds", ContextObj: token},
		signpost.Endpoint{URL: "http://localhost:PORT/v1/feeds", ContextObj: token})
	const secret = "opensesame"
	for _, args := range []string{
		"token=SECRET", "token=SECRET --format json", `token=a,p={"x":"SECRET"}`, "other=SECRET", `"token=SECRET,"`, `token="SECRET`, "SECRET", "=SECRET", "token=a,SECRET",
		"token=SECRET --context token=SECRET2", "token=SECRET --timeout -1s", "token=SECRET --ca-file nowhere.pem",
		"token=SECRET --nonsense", "token=SECRET --help",
	} {
		args = "check " + s.URL + "/v1/endpoints-manifest --context " + args
		out, errOut, code := runCLI(strings.Fields(strings.ReplaceAll(args, "SECRET", secret))...)
		if strings.Contains(out+errOut, secret) || strings.Contains(out+errOut, "ctx=") {
			t.Errorf("%s shows the value (exit code %d):\n%s%s", args, code, out, errOut)
		}
	}
}

// TestCheckOnATerminal checks that progress is a line on standard error that disappears before the summary.
func TestCheckOnATerminal(t *testing.T) {
	s := publish(t, (*httptest.Server).Start, server.Options{}, signpost.Endpoint{URL: "http://{{host}}:PORT/v1/feeds"}, signpost.Endpoint{URL: "http://{{host}}:PORT/v1/media"})
	control, tty := openTerminal(t)
	var out, errs testkit.Buffer
	go io.Copy(&errs, control)
	for _, stderr := range []io.Writer{tty, io.Discard} {
		c := CLI{Stdout: &out, Stderr: stderr, LookupEnv: func(string) (string, bool) { return "", false }}
		testkit.Equal(t, "exit code", c.Main([]string{"check", s.URL + "/v1/endpoints-manifest"}), exitFindings)
	}
	errs.WaitFor(t, "skipped\r\n")
	const begin, end = "\r\x1b[K0 of 2 URLs called\r\x1b[K1 of 2 URLs called\r\x1b[K2 of 2 URLs called", "\r\x1b[K17 results: 11 passed, 1 failed, 3 warned, 2 skipped\r\n"
	testkit.Equal(t, "standard error", errs.String(), begin+end)
	if strings.Contains(out.String(), "\x1b") {
		t.Errorf("standard output is %q", out.String())
	}
}

// TestCheckPage checks that docs/check.md explains every check, and shows what check prints about a wrong host, which its
// transcripts cannot produce.
func TestCheckPage(t *testing.T) {
	t.Parallel()
	s := publish(t, (*httptest.Server).Start, server.Options{PublicHost: "backend.internal"},
		signpost.Endpoint{URL: "https://{{host}}/a"}, signpost.Endpoint{URL: "https://{{host}}/b"}, signpost.Endpoint{URL: "https://{{host}}/c"})
	out, _, _ := runCLI("check", s.URL+"/v1/endpoints-manifest", "--probe=false")
	_, failed, _ := strings.Cut(out, "failed ")
	failed, _, _ = strings.Cut(failed, "passed ")
	failed = "failed " + strings.ReplaceAll(failed, "127.0.0.1", "feeds.example.com")
	page := testkit.Read(t, filepath.Join(repo, "docs", "check.md"))
	if !strings.Contains(page, "```text\n"+failed+"```\n") {
		t.Errorf("docs/check.md does not contain\n%s", failed)
	}
	for _, name := range client.Checks() {
		if !strings.Contains(page, "\n| `"+name+"` | ") {
			t.Errorf("docs/check.md does not explain the check %s", name)
		}
	}
}
