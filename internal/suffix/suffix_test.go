package suffix

import (
	"slices"
	"strings"
	"testing"
)

// FuzzOf compares Of with a look at every suffix.
func FuzzOf(f *testing.F) {
	f.Add("/v1/media", "/media,a|,|/media|dia,media")
	f.Add("", "|a")
	f.Fuzz(func(t *testing.T, text, all string) {
		var lists [][]string
		var want []int
		for i, list := range strings.Split(all, "|") {
			suffixes := strings.Split(list, ",")
			lists = append(lists, suffixes)
			if slices.ContainsFunc(suffixes, func(s string) bool { return strings.HasSuffix(text, s) }) {
				want = append(want, i)
			}
		}
		if got := NewSet(lists...).Of(text); !slices.Equal(got, want) {
			t.Errorf("%q has %v of %q, and not %v", text, want, lists, got)
		}
	})
}
