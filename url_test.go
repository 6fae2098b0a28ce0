package signpost_test

import (
	"net/url"
	"strings"
	"testing"

	"signpost"
	"signpost/internal/testkit"
)

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
		testkit.Equal(t, bound.String(), u.Query(), url.Values{"p": {value}, "q": {"1"}})
	})
}
