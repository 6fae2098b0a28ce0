package server

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"signpost"
	"signpost/internal/wire"
)

// startPair serves a handler twice on loopback: on connections of package wire, and on plain ones.
func startPair(t *testing.T, h http.Handler) (wired, plain string) {
	start := func(srv *http.Server, wrap func(*net.TCPListener) net.Listener) string {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		srv.Handler = h
		go srv.Serve(wrap(l.(*net.TCPListener)))
		t.Cleanup(func() { srv.Close() })
		return l.Addr().String()
	}
	wired = start(&http.Server{ConnContext: wire.Context}, func(l *net.TCPListener) net.Listener { return wire.NewListener(l, 100) })
	plain = start(&http.Server{}, func(l *net.TCPListener) net.Listener { return l })
	return wired, plain
}

// talk sends text and returns everything until the server closes.
func talk(t *testing.T, address, text string) []byte {
	t.Helper()
	conn, err := net.Dial("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	conn.SetDeadline(time.Now().Add(patience))
	if _, err := io.WriteString(conn, text); err != nil {
		t.Fatal(err)
	}
	answer, err := io.ReadAll(conn)
	if err != nil {
		t.Fatalf("%v after %d bytes; the request ends in %q", err, len(answer), text[max(0, len(text)-200):])
	}
	return answer
}

// sorted sorts the lines of each head and removes the time of day.
func sorted(t *testing.T, answers []byte, requests []string) string {
	t.Helper()
	var out strings.Builder
	r := bufio.NewReader(bytes.NewReader(answers))
	for _, request := range requests {
		method, _, _ := strings.Cut(request, " ")
		res, err := http.ReadResponse(r, &http.Request{Method: method})
		if err != nil {
			t.Fatalf("%q: %v in %q", request, err, answers)
		}
		body, err := io.ReadAll(res.Body)
		if err != nil {
			t.Fatalf("%q: %v", request, err)
		}
		if res.Header.Get("Date") == "" {
			t.Errorf("%q: no Date", request)
		}
		res.Header.Del("Date")
		fmt.Fprintln(&out, res.Proto, res.Status, res.ContentLength, res.Close, res.TransferEncoding)
		for _, name := range slices.Sorted(maps.Keys(res.Header)) {
			fmt.Fprintln(&out, name, res.Header[name])
		}
		fmt.Fprintf(&out, "%s\n", body)
	}
	if rest, _ := io.ReadAll(r); len(rest) > 0 {
		t.Errorf("unexpected data after the responses: %q", rest)
	}
	return out.String()
}

// TestWireRespondsLikeNetHTTP compares announced responses with those written by net/http, request by request.
func TestWireRespondsLikeNetHTTP(t *testing.T) {
	var endpoints []signpost.Endpoint
	for i := range 300 {
		endpoints = append(endpoints, signpost.Endpoint{URL: fmt.Sprintf("https://{{host}}/v2/%d", i), Name: "Feed", Method: "get", MIMEType: signpost.MIMEJSON})
	}
	large, err := signpost.Compile(signpost.NewManifest(endpoints...))
	if err != nil {
		t.Fatal(err)
	}
	h := newHandler(t, Options{AllowedHosts: []string{"feeds.example.com"}, MaxBodyBytes: 10},
		Service{Versions: map[string]*signpost.Template{"v1": compile(t, "a"), "v2": large}})
	wired, plain := startPair(t, h)
	request := func(method, path, proto string, lines ...string) string {
		return method + " " + path + " " + proto + "\r\nHost: feeds.example.com\r\n" + strings.Join(append(lines, "\r\n"), "\r\n")
	}
	const largePath = "/v2/endpoints-manifest"
	gzip := "Accept-Encoding: gzip"
	known := "If-None-Match: *"
	all := []string{
		request("GET", manifestPath, "HTTP/1.1"),
		request("GET", largePath, "HTTP/1.1"),
		request("HEAD", manifestPath, "HTTP/1.1"),
		request("GET", manifestPath, "HTTP/1.1", gzip),
		request("HEAD", largePath, "HTTP/1.1", gzip),
		request("GET", largePath, "HTTP/1.1", known),
		request("GET", largePath, "HTTP/1.1", gzip, known),
		request("HEAD", largePath, "HTTP/1.1", known),
		request("GET", "/none", "HTTP/1.1"),
		request("OPTIONS", manifestPath, "HTTP/1.1"),
		request("DELETE", manifestPath, "HTTP/1.1"),
		request("GET", manifestPath, "HTTP/1.1", "Content-Length: 2") + "{}",
		request("GET", largePath, "HTTP/1.1", gzip),
		request("GET", manifestPath, "HTTP/1.0", "Connection: keep-alive"),
	}
	for _, last := range []string{
		request("GET", largePath, "HTTP/1.1", "Connection: close"),
		request("GET", manifestPath, "HTTP/1.0"),
		request("HEAD", manifestPath, "HTTP/1.1", "Connection: close"),
		request("GET", manifestPath, "HTTP/1.1", "Connection: close", known),
		request("GET", manifestPath, "HTTP/1.1", "Expect: 100-continue", "Content-Length: 2") + "{}",
		request("GET", manifestPath, "HTTP/1.1", "Content-Length: 11") + "0123456789.",
		strings.Replace(request("GET", manifestPath, "HTTP/1.1", "Connection: close"), "feeds", "other", 1),
	} {
		requests := append(slices.Clip(all), last) // all at once: a client may pipeline
		text := strings.Join(requests, "")
		got := sorted(t, talk(t, wired, text), requests)
		if want := sorted(t, talk(t, plain, text), requests); got != want {
			t.Errorf("%q: got\n%s\nwant\n%s", last, got, want)
		}
	}
}
