package server

import (
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"signpost"
	"signpost/internal/testkit"
)

// TestResponses compares every kind of response, with all of its headers, with testdata/responses.txt, on connections of
// package wire. Those of plain net/http must be the same.
func TestResponses(t *testing.T) {
	const host, get, gzip = "Host: feeds.example.com", "GET " + manifestPath, "Accept-Encoding: gzip"
	template := compile(t, "a")
	versions := map[string]*signpost.Template{"v2": compileURL(t, "https://{{host}}/v2"), "v10": compileURL(t, "https://{{host}}/v10")}
	since, until := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC), time.Date(2026, 6, 30, 0, 0, 0, 0, time.UTC)
	deprecated := Service{Versions: versions, Deprecated: map[string]signpost.Deprecation{"v2": {Since: since, Until: until}, "v10": {Since: since}, "v3": {}}}
	var many []Service
	for i := range maxListed + 3 {
		many = append(many, at(fmt.Sprintf("/s%02d", i), template))
	}
	around := func(h *Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			for name, value := range map[string]string{
				"Vary": "Origin", "Cache-Control": "private", "X-Request-Id": "42", "Access-Control-Allow-Origin": "https://studio.example.com",
				"Access-Control-Expose-Headers": "X-Request-Id", "Content-Type": "text/plain",
			} {
				w.Header().Set(name, value)
			}
			h.ServeHTTP(w, r)
		})
	}
	redirect := func(port string) func(*Handler) http.Handler {
		return func(h *Handler) http.Handler { return h.Redirect(port) }
	}
	const preflight = "Origin: https://studio.example.com\nAccess-Control-Request-Method: GET\nAccess-Control-Request-Headers: if-none-match"

	var out strings.Builder
	for _, c := range []struct {
		name     string
		opts     Options
		services []Service
		wrap     func(*Handler) http.Handler
		requests []string // first line and headers
	}{
		{"a manifest", Options{}, []Service{v1(template)}, nil, []string{
			get + "?host=evil.example\n" + host, get + "\nHost: other.example.com", "HEAD " + manifestPath + "\n" + host,
			get + "\n" + host + "\nAccept-Encoding: br, gzip", "HEAD " + manifestPath + "\n" + host + "\n" + gzip,
			get + "\n" + host + "\nIf-None-Match: TAG", get + "\n" + host + "\nIf-None-Match: *\n" + gzip, "HEAD " + manifestPath + "\n" + host + "\nIf-None-Match: *",
			get + "\nHost: other.example.com\nIf-None-Match: TAG", get + "\n" + host + "\n" + gzip + "\nIf-None-Match: TAG",
			"OPTIONS " + manifestPath + "\n" + host + "\n" + preflight, "OPTIONS /\n" + host, get + " HTTP/1.0\n" + host, get + " HTTP/1.0",
			"DELETE " + manifestPath + "\n" + host, "get " + manifestPath + "\n" + host, "TRACE " + manifestPath + "\n" + host, "GET /evil\n" + host,
			get + "\nHost: evil..example", "GET /v1/endpoints%2Dmanifest\n" + host, get + "/\n" + host, "GET /v1//endpoints-manifest\n" + host, "POST /evil\n" + host,
			get + "\n" + host + "\nContent-Length: 0", get + "\n" + host + "\nContent-Length: 1000", get + "\n" + host + "\nTransfer-Encoding: chunked",
			"POST " + manifestPath + "\n" + host + "\nContent-Length: 1000", "GET /evil\n" + host + "\nContent-Length: 1000",
		}},
		{"options", Options{CacheControl: "max-age=60", CORSOrigin: "https://studio.example.com", AllowedHosts: []string{"feeds.example.com"}}, []Service{v1(template)}, nil,
			[]string{get + "\n" + host, get + "\n" + host + "\nIf-None-Match: TAG", get + "\nHost: evil.example", "OPTIONS " + manifestPath + "\n" + host + "\n" + preflight}},
		{"without CORS", Options{CORSOrigin: CORSNone}, []Service{v1(template)}, nil,
			[]string{get + "\n" + host, "DELETE " + manifestPath + "\n" + host, "OPTIONS " + manifestPath + "\n" + host + "\n" + preflight}},
		{"versions", Options{}, []Service{{BasePath: "/feeds", Versions: versions}}, nil,
			[]string{"GET /feeds/v2/endpoints-manifest\n" + host, "GET /feeds/v10/endpoints-manifest\n" + host, get + "\n" + host}},
		{"deprecated", Options{}, []Service{deprecated}, nil,
			[]string{"GET /v2/endpoints-manifest\n" + host, "GET /v10/endpoints-manifest\n" + host, "GET /v2/endpoints-manifest\n" + host + "\nIf-None-Match: TAG"}},
		{"a part of a name", Options{}, []Service{v1(compileURL(t, "https://media.{{host}}/v1/feeds"))}, nil,
			[]string{get + "\n" + host, get + "\nHost: 192.0.2.1", get + "\nHost: [::1]:443\n" + gzip}},
		{"many services", Options{}, many, nil, []string{"GET /\n" + host, "GET /s22" + manifestPath + "\n" + host}},
		{"nothing published", Options{}, nil, nil, []string{"GET /\n" + host, get + "\n" + host}},
		{"headers of an outer handler", Options{AllowedHosts: []string{"feeds.example.com"}}, []Service{v1(template)}, around, []string{
			get + "\n" + host, get + "\n" + host + "\nIf-None-Match: TAG", get + "\nHost: evil.example", "OPTIONS " + manifestPath + "\n" + host, "GET /\n" + host}},
		{"redirect", Options{AllowedHosts: []string{"feeds.example.com", "[::1]"}}, nil, redirect("443"), []string{
			get + "?a=b\nHost: Feeds.Example.com:80", "GET //other.example/%2e\n" + host, "GET *\n" + host, "HEAD /\nHost: [::1]:80", "GET /\nHost: evil.example", "GET /\nHost: evil..example"}},
		{"redirect to a port", Options{}, nil, redirect("8443"), []string{get + "\n" + host, get + "\nHost: [::1]:8080"}},
	} {
		handler := newHandler(t, c.opts, c.services...)
		var h http.Handler = handler
		if c.wrap != nil {
			h = c.wrap(handler)
		}
		wired, plain := listen(t, h), listenPlain(t, h)
		tag := ""
		for _, request := range c.requests {
			fmt.Fprintf(&out, "=== %s\n%s\n", c.name, indent("> ", request))
			got := ask(t, wired, strings.Replace(request, "TAG", tag, 1))
			if tag == "" {
				tag = got.Header.Get("Etag")
			}
			if c.wrap == nil && c.opts.CORSOrigin == "" {
				checkAnswer(t, got)
			}
			text := describe(t, got)
			if strings.Contains(text, "evil") {
				t.Errorf("%s: %q is repeated in the response:\n%s", c.name, request, text)
			}
			if diff := cmp.Diff(describe(t, ask(t, plain, strings.Replace(request, "TAG", tag, 1))), text); diff != "" {
				t.Errorf("%s: %q (-net/http +wire):\n%s", c.name, request, diff)
			}
			fmt.Fprintf(&out, "%s\n\n", indent("< ", text))
		}
	}
	testkit.Golden(t, "testdata/responses.txt", out.String())
}

// describe returns a response with its headers in order, without Date, and uncompressed.
func describe(t testing.TB, a answer) string {
	a.Header.Del("Date")
	if a.Header.Get("Content-Encoding") == "gzip" {
		a.Header.Set("Content-Length", "(compressed)") // depends on the release of Go
	}
	lines := []string{a.Proto + " " + a.Status}
	for _, name := range slices.Sorted(maps.Keys(a.Header)) {
		lines = append(lines, name+": "+strings.Join(a.Header[name], " | "))
	}
	if a.Close {
		lines = append(lines, "(closes the connection)")
	}
	body := a.body
	if len(body) > 0 {
		body = a.plain(t)
	}
	return strings.Join(append(lines, "", string(body)), "\n")
}

func indent(with, text string) string {
	return with + strings.ReplaceAll(strings.TrimRight(text, "\n"), "\n", "\n"+with)
}
