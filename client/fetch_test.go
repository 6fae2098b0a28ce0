package client

import (
	"bytes"
	"compress/gzip"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
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
		fetched := r.URL.RawQuery == "" // Send has ctx in it
		if r.Method != http.MethodGet || r.Header.Get("User-Agent") != "signpost" || fetched && r.Header.Get("Accept") != "application/json" {
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
	opts := Options{limit: 1000, Transport: stalling}
	testkit.Cases(t, "testdata/responses.golden", func(path string) string {
		describe := func(a *Answer, err error) string {
			if a == nil {
				return err.Error()
			}
			return fmt.Sprintf("%d, revision %q, truncated %v, redirect %q, %d bytes %s, %v", a.Status, a.Header.Get("Signpost-Revision"), a.Truncated,
				a.Redirect, len(a.Body), bytes.TrimSpace(a.Body), err)
		}
		req := testkit.Must(NewRequest(t.Context(), endpoint("="+server.URL+path+" token!"), Call{Context: map[string]any{"token": secret}}))(t)
		text := "Fetch: " + describe(Fetch(t.Context(), server.URL+path, opts)) + "\nSend: " + describe(Send(req, opts))
		if shows(text) {
			t.Errorf("%s shows a context value: %s", path, text)
		}
		return strings.ReplaceAll(text, server.URL, "SERVER")
	})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Fetch(ctx, server.URL+"/plain", Options{}); !errors.Is(err, context.Canceled) {
		t.Errorf("canceled: %v", err)
	}
	secure := serve(t, mux, true)
	if _, err := Fetch(t.Context(), secure.URL+"/plain", Options{}); err == nil || !strings.Contains(err.Error(), "certificate") {
		t.Errorf("an unknown certificate: %v", err)
	}
}

// TestFetchManifest fetches manifests. A case is the status and the body of a response.
func TestFetchManifest(t *testing.T) {
	testkit.Cases(t, "testdata/manifests.golden", func(line string) string {
		code, body, _ := strings.Cut(line, " ")
		status := testkit.Must(strconv.Atoi(code))(t)
		m, err := FetchManifest(t.Context(), address, Options{Transport: inMemory(answer(status, body))})
		if failed, ok := errors.AsType[*StatusError](err); ok != (status != 200) || ok && failed.Status != status {
			t.Errorf("%s: the error is %#v", line, err)
		}
		if err != nil {
			return err.Error()
		}
		return string(testkit.Must(json.Marshal(m))(t))
	})
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
		{&requestError{err: os.ErrDeadlineExceeded, timeout: time.Minute}, Problem{Cause: causeTimeout, Message: "no response in time"}, "allow more time"},
		{&requestError{err: io.EOF, begun: true}, Problem{Message: "the response is cut off"}, "log"},
		{invalid(x509.UnknownAuthorityError{Cert: leaf}), Problem{TLS: true, Cause: causeUnknownAuthority, Message: "the certificate is self-signed; clients will not trust it"}, "whole chain"},
		{invalid(x509.UnknownAuthorityError{}), Problem{TLS: true, Cause: causeUnknownAuthority, Message: "the certificate is from an authority that clients do not trust"}, "whole chain"},
		{invalid(x509.HostnameError{Certificate: leaf, Host: "b.example"}), Problem{TLS: true, Message: "the certificate is not trusted: certificate is valid for a.example, not b.example"}, "for this name"},
		{invalid(x509.CertificateInvalidError{Cert: leaf, Reason: x509.Expired, Detail: "x"}),
			Problem{TLS: true, Message: "the certificate is not trusted: certificate has expired or is not yet valid: x"}, "renew it"},
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
