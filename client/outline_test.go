package client

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// linksIn returns the links of a JSON text, each with its pointer and pattern.
func linksIn(text string) (links [][3]string) {
	eachText([]byte(text), func(text string, way []step) {
		if isLink(text, way) {
			pointer, pattern := pointer(way)
			links = append(links, [3]string{text, pointer, pattern})
		}
	})
	return links
}

func TestEachText(t *testing.T) {
	for text, want := range map[string][][3]string{
		`{"a": ["x", {"b/c~": "https://h/1"}, ["HTTP://h/2"]], "https://key/": 1, "n": 20, "s": "see https://h/3", "t": "ftp://h/4", "e": "https://h/5"}`: {
			{"https://h/1", "/a/1/b~1c~0", "/a/*/b~1c~0"}, {"HTTP://h/2", "/a/2/0", "/a/*/*"}, {"https://h/5", "/e", "/e"}},
		`{"a": "/x", "b": "//x", "c": "/", "id": "/x", "d": "/x y"}`: {{"/x", "/a", "/a"}},
		`"https://h/"`: {{"https://h/", "", ""}},
		"20":           nil,
		`{"` + strings.Repeat("k", maxPointer+1) + `": "https://h/"}`:          {{"https://h/", "/…", "/…"}},
		strings.Repeat("[", 9000) + `"https://h/"` + strings.Repeat("]", 9000): {{"https://h/", strings.Repeat("/0", 128) + "/…", strings.Repeat("/*", 128) + "/…"}},
	} {
		if diff := cmp.Diff(want, linksIn(text)); diff != "" {
			t.Errorf("%.100s (-want +got):\n%s", text, diff)
		}
	}
}

func TestIsError(t *testing.T) {
	for text, want := range map[string]bool{
		`{"error": "x"}`: true, `{"errors": [], "status": 500}`: true, `{"message": "x"}`: false, `{"error": null, "entry": []}`: false, `{}`: false,
		`{"type": "feed", "title": "x"}`: false, `{"error": {"error": 1}, "timestamp": 1, "path": "/"}`: true,
	} {
		if got := isError([]byte(text)); got != want {
			t.Errorf("%s: %v", text, got)
		}
	}
}

// FuzzEachText checks that the links are those found in the parsed tree, at the locations of their pointers.
func FuzzEachText(f *testing.F) {
	for _, text := range []string{`{"a":["https://h/1",{"b":"http://h/2"}]}`, `"https://h"`, `[[["http://x/"]],{"":{"~/":"https://y/?q=1"}}]`, `{"a":1,"a":"https://h/"}`} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		var tree any
		if json.Unmarshal([]byte(text), &tree) != nil {
			return
		}
		found := make(map[string]string)
		var walk func(v any, at string)
		walk = func(v any, at string) {
			switch v := v.(type) {
			case map[string]any:
				for key, value := range v {
					walk(value, at+"/"+pointerEscapes.Replace(key))
				}
			case []any:
				for i, value := range v {
					walk(value, fmt.Sprintf("%s/%d", at, i))
				}
			case string:
				if isLink(v, nil) && strings.Contains(v, "://") {
					found[at] = v
				}
			}
		}
		walk(tree, "")
		got := make(map[string]string)
		for _, l := range linksIn(text) {
			if strings.HasSuffix(l[1], "/…") {
				return
			}
			got[l[1]] = l[0] // of duplicate keys, the last one counts, as in the tree
		}
		for at, url := range found {
			if got[at] != url {
				t.Errorf("%q: %q at %s, want %q", text, got[at], at, url)
			}
		}
	})
}
