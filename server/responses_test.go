package server

import (
	"fmt"
	"maps"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"signpost"
	"signpost/internal/testkit"
)

// TestResponses sends the requests in testdata/responses.txt, which shows every kind of response with all of its headers, on
// connections of package wire. The responses of plain net/http must be the same.
func TestResponses(t *testing.T) {
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
	ours := []string{"feeds.example.com", "[::1]"}

	var out strings.Builder
	golden := testkit.Read(t, "testdata/responses.txt")
	for _, c := range []struct {
		name     string
		opts     Options
		services []Service
		wrap     func(*Handler) http.Handler
	}{
		{"a manifest", Options{}, []Service{v1(template)}, nil},
		{"options", Options{CacheControl: "max-age=60", CORSOrigin: "https://studio.example.com", AllowedHosts: ours}, []Service{v1(template)}, nil},
		{"without CORS", Options{CORSOrigin: CORSNone}, []Service{v1(template)}, nil},
		{"versions", Options{}, []Service{{BasePath: "/feeds", Versions: versions}}, nil},
		{"deprecated", Options{}, []Service{deprecated}, nil},
		{"a part of a name", Options{}, []Service{v1(compileURL(t, "https://media.{{host}}/v1/feeds"))}, nil},
		{"many services", Options{}, many, nil},
		{"nothing published", Options{}, nil, nil},
		{"headers of an outer handler", Options{AllowedHosts: ours}, []Service{v1(template)}, around},
	} {
		handler := newHandler(t, c.opts, c.services...)
		wired, plain := listen(t, handler), listenPlain(t, handler)
		if c.wrap != nil { // serve has none
			plain = listenPlain(t, c.wrap(handler))
			wired = plain
		}
		tag := ""
		for _, block := range regexp.MustCompile(`(?m)^=== `+c.name+`\n(> .*\n)+`).FindAllString(golden, -1) {
			_, request, _ := strings.Cut(strings.ReplaceAll(strings.TrimSpace(block), "\n> ", "\n"), "\n")
			got := ask(t, wired, strings.Replace(request, "TAG", tag, 1))
			if tag == "" {
				tag = got.Header.Get("Etag")
			}
			if c.wrap == nil && c.opts.CORSOrigin == "" {
				checkAnswer(t, got)
			}
			text := describe(t, got)
			head, body, _ := strings.Cut(text, "\n\n")
			if strings.Contains(head, "evil") || got.StatusCode < 400 && strings.Contains(body, "evil") {
				t.Errorf("%s: %q is repeated in the response:\n%s", c.name, request, text)
			}
			if diff := cmp.Diff(describe(t, ask(t, plain, strings.Replace(request, "TAG", tag, 1))), text); diff != "" {
				t.Errorf("%s: %q (-net/http +wire):\n%s", c.name, request, diff)
			}
			fmt.Fprintf(&out, "%s%s\n\n", block, indent("< ", text))
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
