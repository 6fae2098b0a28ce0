package signpost_test

import (
	"fmt"
	"net/url"
	"strings"
	"testing"

	"signpost"
	"signpost/internal/testkit"
)

// TestURLPairs shows whether two URLs are the same to clients, and for which host the first becomes the second.
func TestURLPairs(t *testing.T) {
	testkit.Cases(t, "testdata/urlpairs.golden", func(pair string) string {
		first, second, _ := strings.Cut(pair, " ")
		a, b := signpost.CutURL(first), signpost.CutURL(second)
		if a.SameOrigin(b) != b.SameOrigin(a) || a.Equal(b) != b.Equal(a) {
			t.Errorf("%s: the order matters", pair)
		}
		switch {
		case a.HasHostPlaceholder():
			return fmt.Sprintf("%q", a.HostFor(b))
		case a.Equal(b):
			return "equal"
		case a.SameOrigin(b):
			return "of the same origin"
		}
		return ""
	})
}

// TestURLBind fills in placeholders. It takes a URL, and names with their values.
func TestURLBind(t *testing.T) {
	testkit.Cases(t, "testdata/bind.golden", func(input string) string {
		words := strings.Fields(input)
		values := make(map[string]string)
		for _, word := range words[1:] {
			name, value, _ := strings.Cut(word, "=")
			values[name] = value
		}
		u, err := signpost.CutURL(words[0]).Bind(values)
		if err != nil && u == (signpost.URL{}) {
			return "error: " + err.Error()
		}
		return u.String()
	})
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
