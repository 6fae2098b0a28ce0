package spell_test

import (
	"strings"
	"testing"

	"signpost/internal/spell"
	"signpost/internal/testkit"
)

func TestNearest(t *testing.T) {
	testkit.Cases(t, "testdata/names.golden", func(text string) string {
		name, list, ok := strings.Cut(text, ": ")
		if !ok {
			name, list = strings.TrimSuffix(text, ":"), "name method mime_type context_obj modifiers"
		}
		candidates := strings.Fields(list)
		near := spell.Nearest(name, candidates)
		switch only, certain := spell.Only(name, candidates); {
		case only != near:
			t.Errorf("%s: %q is nearest, but not the only one: %q", text, near, only)
		case certain:
			return near + ", certainly"
		}
		return near
	})
	long := strings.Repeat("x", 65) // too long to compare
	if got := spell.Nearest(long, []string{long + "x"}); got != "" || spell.Nearest("method", nil) != "" {
		t.Errorf("got %q", got)
	}
}
