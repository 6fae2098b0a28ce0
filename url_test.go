package signpost_test

import (
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"signpost"
)

func TestCutURL(t *testing.T) {
	type parts struct{ Scheme, Hostname, Port, Path, Query string }
	for raw, want := range map[string]parts{
		"https://{{host}}/v1/feeds":              {"https", "{{host}}", "", "/v1/feeds", ""},
		"HTTPS://A.Example:8443/v1?a=b?c#d?e":    {"https", "A.Example", "8443", "/v1", "a=b?c"},
		"https://media.{{host}}:8443":            {"https", "media.{{host}}", "8443", "", ""},
		"https://[2001:db8::1]:80?q":             {"https", "[2001:db8::1]", "80", "", "q"},
		"https://[::1]/":                         {"https", "[::1]", "", "/", ""},
		"https://a#b/c?d":                        {"https", "a", "", "", ""},
		"https://a/b?next=https://c.example:1/d": {"https", "a", "", "/b", "next=https://c.example:1/d"},
		"/v1/feeds?x":                            {"", "", "", "/v1/feeds", "x"},
		"/redirect?to=https://evil.example/":     {"", "", "", "/redirect", "to=https://evil.example/"},
		"https://a:/b":                           {"https", "a", "", "/b", ""},
		"":                                       {},
	} {
		u := signpost.CutURL(raw)
		if got := (parts{u.Scheme(), u.Hostname(), u.Port(), u.Path(), u.Query()}); got != want {
			t.Errorf("%q: got %+v, want %+v", raw, got, want)
		}
		if u.String() != raw {
			t.Errorf("%q became %q", raw, u)
		}
		if absolute := u.Scheme() != ""; absolute != (u.Origin() != "") || absolute && !strings.HasPrefix(strings.ToLower(raw), u.Origin()) {
			t.Errorf("%q has the origin %q", raw, u.Origin())
		}
	}
}

func TestParseURL(t *testing.T) {
	if u, err := signpost.ParseURL(goodURL); err != nil || u != signpost.CutURL(goodURL) {
		t.Errorf("got %v, %v", u, err)
	}
	u, err := signpost.ParseURL("https://user:pw@example.com/a")
	if u != (signpost.URL{}) || err == nil || !strings.Contains(err.Error(), "user info") {
		t.Errorf("got %v, %v", u, err)
	}
}

func TestURLPlaceholders(t *testing.T) {
	for raw, want := range map[string][]string{
		"https://{{host}}/a":                            nil,
		"https://{{host}}/{{b}}/{{a}}/{{b}}?c={{c}}":    {"b", "a", "c"},
		"https://{{tenant}}.{{host}}/{{hostname}}":      {"tenant", "hostname"},
		"https://{{host}}/{{a":                          nil,
		"https://{{host}}/{{a}}{{host}}{{host}}/{{b}}x": {"a", "b"},
	} {
		if got := signpost.CutURL(raw).Placeholders(); !slices.Equal(got, want) {
			t.Errorf("%s: got %q, want %q", raw, got, want)
		}
	}
}

func TestURLResolve(t *testing.T) {
	for raw, want := range map[string]string{
		"https://{{host}}/v1/{{id}}":          "https://a.example/v1/{{id}}",
		"HTTPS://Media.{{host}}:80/v1?x":      "HTTPS://Media.a.example:80/v1?x",
		"https://{{host}}.{{host}}":           "https://a.example.a.example",
		"https://b.example/v1":                "https://b.example/v1",
		"https://b.example/{{host}}?{{host}}": "https://b.example/{{host}}?{{host}}",
	} {
		u := signpost.CutURL(raw)
		if got := u.Resolve("a.example"); got.String() != want {
			t.Errorf("%s became %s", raw, got)
		}
		if open := u.HasHostPlaceholder(); open != (raw != u.Resolve("a.example").String()) {
			t.Errorf("%s: has a host placeholder: %v", raw, open)
		}
	}
}

func TestHostFor(t *testing.T) {
	for _, test := range []struct{ url, other, want string }{
		{"https://{{host}}/v1", "https://a.example/v2", "a.example"},
		{"https://{{host}}:8443/v1", "HTTPS://A.example:8443", "a.example"},
		{"https://{{host}}/v1", "https://192.0.2.1/v1", "192.0.2.1"},
		{"https://cdn.{{host}}/v1", "https://cdn.a.example/v1", "a.example"},
		{"https://cdn.{{host}}/v1", "https://cdn.192.0.2.1/v1", ""},
		{"https://cdn.{{host}}/v1", "https://a.example/v1", ""},
		{"https://{{host}}/v1", "http://a.example/v1", ""},
		{"https://{{host}}/v1", "https://a.example:8443/v1", ""},
		{"https://{{host}}/v1", "https://a..b/v1", ""},
		{"https://{{host}}/v1", "https:///v1", ""},
	} {
		if got := signpost.CutURL(test.url).HostFor(signpost.CutURL(test.other)); got != test.want {
			t.Errorf("%s becomes %s for %q, want %q", test.url, test.other, got, test.want)
		}
	}
}

func TestURLEqual(t *testing.T) {
	for _, test := range []struct {
		a, b         string
		origin, same bool
	}{
		{"https://a.example/x", "HTTPS://A.example/x", true, true},
		{"https://a.example/x", "https://a.example/X", true, false},
		{"https://a.example/x", "https://a.example/x?", true, false},
		{"https://a.example/x", "http://a.example/x", false, false},
		{"https://a.example/x", "https://a.example:443/x", false, false},
		{"https://a.example/x", "https://me@a.example/x", false, false},
		{"https://a.example", "https://a.example/", true, false},
	} {
		a, b := signpost.CutURL(test.a), signpost.CutURL(test.b)
		if a.SameOrigin(b) != test.origin || b.SameOrigin(a) != test.origin || a.Equal(b) != test.same || b.Equal(a) != test.same {
			t.Errorf("%s and %s: same origin %v, equal %v", a, b, a.SameOrigin(b), a.Equal(b))
		}
	}
}

func TestURLBindRejects(t *testing.T) {
	for _, test := range []struct {
		url    string
		values map[string]string
		want   string
	}{
		{"https://a.example/{{id}}/{{x}}", map[string]string{}, "needs a value for {{id}}, {{x}}"},
		{"https://a.example/{{id}}", map[string]string{"id": "1", "x": "2"}, "has no placeholder {{x}}"},
		{"https://a.example/{{id}}/b", map[string]string{"id": ".."}, "leads elsewhere"},
		{"https://{{id}}.example/b", map[string]string{"id": "a"}, "has a placeholder in its host"},
	} {
		if u, err := signpost.CutURL(test.url).Bind(test.values); err == nil || !strings.Contains(err.Error(), test.want) || u != (signpost.URL{}) {
			t.Errorf("%s: got %v, %v", test.url, u, err)
		}
	}
	if u, err := signpost.CutURL("https://{{host}}/a").Bind(nil); err != nil || u.String() != "https://{{host}}/a" {
		t.Errorf("got %v, %v", u, err)
	}
}

// FuzzBind checks that a value affects only its own segment or parameter of the URL.
func FuzzBind(f *testing.F) {
	for _, seed := range []string{"7", "..", "a/b", "?x#y", "a&b=c", "{{b}}", "@evil", "\x00", "é", "%2e%2e", "\xff"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, value string) {
		bound, err := signpost.CutURL("https://feeds.example.com/a/{{id}}/b?p={{id}}&q=1").Bind(map[string]string{"id": value})
		if err != nil {
			if value != "" && value != "." && value != ".." {
				t.Errorf("%q is refused: %v", value, err)
			}
			return
		}
		u, err := url.Parse(bound.String())
		if err != nil {
			t.Fatalf("%q gives %q: %v", value, bound, err)
		}
		if u.Host != "feeds.example.com" || u.User != nil || u.Fragment != "" || u.Path != "/a/"+value+"/b" || strings.Count(u.EscapedPath(), "/") != 3 {
			t.Errorf("%q gives %q", value, bound)
		}
		if diff := cmp.Diff(url.Values{"p": {value}, "q": {"1"}}, u.Query()); diff != "" {
			t.Errorf("%q gives %q:\n%s", value, bound, diff)
		}
	})
}
