package client

import (
	"compress/gzip"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"signpost/internal/testkit"
)

// TestFetch checks Fetch and Send, which shows more of a response, with the same server.
func TestFetch(t *testing.T) {
	const doc = `{"endpoints":{}}`
	mux := http.NewServeMux()
	mux.HandleFunc("/plain", func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodGet || r.Header.Get("User-Agent") != "signpost" || r.Header.Get("Accept") != "application/json" {
			t.Errorf("request %s with %v", r.Method, r.Header)
		}
		answer(200, doc, "Signpost-Revision: abc")(w, r)
	})
	mux.HandleFunc("/gzip", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Signpost-Revision", "abc")
		w.Header().Set("Content-Encoding", "gzip")
		zw := gzip.NewWriter(w)
		io.WriteString(zw, doc)
		zw.Close()
	})
	mux.HandleFunc("/moved", answer(301, "", "Location: /plain"))
	mux.HandleFunc("/choices", answer(300, ""))
	mux.HandleFunc("/made", answer(201, "", "Location: /plain"))
	mux.HandleFunc("/bad-redirect", answer(302, "", "Location: http://a b/"))
	mux.HandleFunc("/exact", answer(200, strings.Repeat(" ", 1000)))
	mux.HandleFunc("/cut", cutOff)
	mux.HandleFunc("/endless", endless)
	server := serve(t, mux, false)
	for _, test := range []struct{ path, err string }{ // without an error, the body is doc
		{"/plain", ""},
		{"/gzip", ""},
		{"/moved", `: the address redirects to "` + server.URL + `/plain"`},
		{"/choices", ": the response is 300 Multiple Choices, not 200 OK"},
		{"/made", ": the response is 201 Created, not 200 OK"},
		{"/cut", ": unexpected EOF"},
		{"/endless", ": the response is larger than 64 MiB"},
		{"/slow", ": no response in time: "},
	} {
		address := server.URL + test.path
		answer, err := Fetch(t.Context(), address, Options{limit: 1000, Transport: stalling})
		if test.err == "" {
			if err != nil || string(answer.Body) != doc || answer.Header.Get("Signpost-Revision") != "abc" || answer.Status != http.StatusOK {
				t.Errorf("got %+v, %v", answer, err)
			}
			continue
		}
		if want := `fetch "` + address + `"` + test.err; answer != nil || err == nil || !strings.HasPrefix(err.Error(), want) || strings.Count(err.Error(), address) != 1 && test.path != "/moved" {
			t.Errorf("got %v and error %v, want %s", answer, err, want)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Fetch(ctx, server.URL+"/plain", Options{}); !errors.Is(err, context.Canceled) {
		t.Errorf("canceled: %v", err)
	}
	secure := serve(t, mux, true)
	if _, err := Fetch(t.Context(), secure.URL+"/plain", Options{}); err == nil || !strings.Contains(err.Error(), "certificate") {
		t.Errorf("an unknown certificate: %v", err)
	}

	for path, want := range map[string]string{
		"/moved":        "301, 0 bytes, false, " + server.URL + "/plain, <nil>",
		"/bad-redirect": `failed to parse Location header`,
		"/exact":        "200, 1000 bytes, false, , <nil>",
		"/endless":      "200, 1000 bytes, true, , <nil>",
		"/cut":          "200, 1 bytes, false, , send request: unexpected EOF",
		"/slow":         "send request: context deadline exceeded",
		"/drip":         "200, 10 bytes, false, , send request: context deadline exceeded",
	} {
		req := testkit.Must(NewRequest(t.Context(), endpoint(server.URL+path, items(tokenItem)), Call{Context: map[string]any{"token": secret}}))(t)
		a, err := Send(req, Options{limit: 1000, Transport: stalling})
		got := fmt.Sprint(err)
		if a != nil {
			got = fmt.Sprintf("%d, %d bytes, %v, %s, %v", a.Status, len(a.Body), a.Truncated, a.Redirect, err)
		}
		if !strings.Contains(got, want) || shows(got) {
			t.Errorf("%s: %s, want %s", path, got, want)
		}
	}
}

func TestFetchManifest(t *testing.T) {
	const object = `{"endpoints":{"https://feeds.example.com/v1/feeds":{"name":"Feeds","method":"get","mime_type":"application/json",` +
		`"context_obj":[{"key":"a","type":"header","required":true,"mapper":null,"x":1}],"new_field":{}}}}`
	for _, test := range []struct {
		status    int
		body, err string
	}{
		{200, object, ""}, // lenient: extensions are not an error
		{200, "\ufeff" + object, ""},
		{200, "", "the response is empty"},
		{200, "<!doctype html>", "the response is HTML, not a manifest"},
		{200, "endpoints: {}", "the response is not JSON"},
		{200, "[]", "the manifest must be a JSON object, not an array"},
		{200, `"ok"`, "the manifest must be a JSON object, not a string"},
		{200, "7", "the manifest must be a JSON object, not a number"},
		{200, "true", "the manifest must be a JSON object, not a boolean"},
		{200, "null", "the manifest must be a JSON object, not null"},
		{200, "{}", `the response is not a manifest: manifest has no "endpoints" object`},
		{503, object, "the response is 503 Service Unavailable, not 200 OK"},
	} {
		address := serve(t, answer(test.status, test.body), false).URL + "/v1/endpoints-manifest"
		m, err := FetchManifest(t.Context(), address, Options{})
		if test.err == "" {
			if err != nil || len(m.Endpoints) != 1 || m.Endpoints[0].ContextObj[0].Type != "header" {
				t.Errorf("%s: %+v, %v", test.body, m, err)
			}
			continue
		}
		if want := fmt.Sprintf("fetch %q: %s", address, test.err); err == nil || err.Error() != want {
			t.Errorf("%s:\n got %v\nwant %s", test.body, err, want)
		}
		if status, ok := errors.AsType[*StatusError](err); ok != (test.status != 200) || ok && status.Status != test.status {
			t.Errorf("%s: the status is %+v", test.body, status)
		}
	}
}

// TestSendReleases checks that every response is closed and the timer of its request stopped, so that neither leaks.
func TestSendReleases(t *testing.T) {
	body, end, err := os.Pipe()
	testkit.OK(t, err)
	end.Close()
	var ctx context.Context
	opts := Options{Transport: roundTrip(func(req *http.Request) (*http.Response, error) {
		ctx = req.Context()
		return &http.Response{StatusCode: 200, Request: req, Body: body}, nil
	})}
	testkit.Must(Send(testkit.Must(http.NewRequest("GET", origin, nil))(t), opts))(t)
	if err := body.Close(); !errors.Is(err, os.ErrClosed) || ctx.Err() == nil {
		t.Errorf("closed: %v, stopped: %v", err, ctx.Err())
	}
}

func TestExplain(t *testing.T) {
	if p := Explain(nil); p != (Problem{}) {
		t.Errorf("no error: %+v", p)
	}
	expired := &requestError{err: context.DeadlineExceeded, timeout: 2 * time.Second}
	invalid := func(err error) error { return &tls.CertificateVerificationError{Err: err} }
	leaf := &x509.Certificate{DNSNames: []string{"a.example"}, NotAfter: time.Unix(0, 0)}
	for _, test := range []struct {
		err  error
		want Problem
		hint string
	}{
		{fmt.Errorf("send request: %w", expired), Problem{Cause: causeTimeout, Message: "no response within 2s"}, "allow more time"},
		{os.ErrDeadlineExceeded, Problem{Cause: causeTimeout, Message: "no response in time"}, "allow more time"},
		{&requestError{err: io.EOF, begun: true}, Problem{Message: "the response is cut off"}, "log"},
		{invalid(x509.UnknownAuthorityError{Cert: leaf}), Problem{TLS: true, Cause: causeUnknownAuthority, Message: "the certificate is self-signed; clients will not trust it"}, "whole chain"},
		{invalid(x509.UnknownAuthorityError{}), Problem{TLS: true, Cause: causeUnknownAuthority, Message: "the certificate is from an authority that clients do not trust"}, "whole chain"},
		{invalid(x509.HostnameError{Certificate: leaf, Host: "b.example"}), Problem{TLS: true, Message: "the certificate is not trusted: certificate is valid for a.example, not b.example"}, "for this name"},
		{invalid(x509.CertificateInvalidError{Cert: leaf, Reason: x509.Expired, Detail: "x"}),
			Problem{TLS: true, Message: "the certificate is not trusted: certificate has expired or is not yet valid: x"}, "valid now"},
		{&StatusError{"https://a.example/v1/endpoints-manifest", 404, ""}, Problem{Message: "the response is 404 Not Found, not 200 OK"}, "the path"},
		{&StatusError{"https://a.example/v1/endpoints-manifest", 302, "https://b.example/"}, Problem{Message: `the address redirects to "https://b.example/"`}, "use the target"},
		{&requestError{err: errors.New("odd")}, Problem{Message: "the request failed: odd"}, "what answers there"},
		{errors.New(`fetch "x": the response is not JSON`), Problem{Message: `fetch "x": the response is not JSON`}, "what answers there"},
	} {
		got := Explain(test.err)
		if !strings.Contains(got.Hint, test.hint) {
			t.Errorf("%v: the hint is %q", test.err, got.Hint)
		}
		got.Hint = ""
		if got != test.want {
			t.Errorf("%v:\n got %+v\nwant %+v", test.err, got, test.want)
		}
	}
}

// TestNoFlags checks that the library does not mention flags: its results carry facts, and the command line adds the
// flags.
func TestNoFlags(t *testing.T) {
	files, err := filepath.Glob("*.go")
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if flag := regexp.MustCompile(`--[a-z][a-z-]+`).Find(text); err != nil || flag != nil && !strings.HasSuffix(file, "_test.go") {
			t.Errorf("%s names the flag %s, %v", file, flag, err)
		}
	}
}
