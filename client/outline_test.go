package client

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"signpost/internal/testkit"
)

func TestEachText(t *testing.T) {
	for text, want := range map[string][][3]string{
		`{"a": ["x", {"b/c~": "https://h/1"}, ["HTTP://h/2"]], "https://key/": 1, "n": 20, "s": "see https://h/3", "t": "ftp://h/4", "e": "https://h/5"}`: {
			{"https://h/1", "/a/1/b~1c~0", "/a/*/b~1c~0"}, {"HTTP://h/2", "/a/2/0", "/a/*/*"}, {"https://h/5", "/e", "/e"}},
		`{"a": "/x", "b": "//x", "c": "/", "id": "/x", "d": "/x y"}`: {{"/x", "/a", "/a"}, {"//x", "/b", "/b"}},
		`"https://h/"`: {{"https://h/", "", ""}},
		"20":           nil,
		`{"` + strings.Repeat("k", maxPointer+1) + `": "https://h/"}`:          {{"https://h/", "/…", "/…"}},
		strings.Repeat("[", 9000) + `"https://h/"` + strings.Repeat("]", 9000): {{"https://h/", strings.Repeat("/0", 128) + "/…", strings.Repeat("/*", 128) + "/…"}},
	} {
		tree, err := decodeJSON([]byte(text))
		var links [][3]string
		eachText(tree, "", func(text, pointer string) {
			if isLink(text, pointer) {
				links = append(links, [3]string{text, pointer, pattern(pointer)})
			}
		})
		if diff := cmp.Diff(want, links); diff != "" || err != nil {
			t.Errorf("%.100s (-want +got):\n%s", text, diff)
		}
	}
}

func TestIsError(t *testing.T) {
	testkit.Cases(t, "testdata/errors.golden", func(text string) string {
		object := testkit.Must(decodeJSON([]byte(text)))(t)
		return fmt.Sprint(isError(object.(map[string]any)))
	})
}
