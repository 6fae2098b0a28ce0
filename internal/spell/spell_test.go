package spell_test

import (
	"strings"
	"testing"

	"signpost/internal/spell"
)

func TestNearest(t *testing.T) {
	fields := []string{"name", "method", "mime_type", "context_obj", "modifiers"}
	tests := []struct {
		name       string
		candidates []string
		want       string
	}{
		{"method", fields, "method"},
		{"metod", fields, "method"},        // one left out
		{"methood", fields, "method"},      // one too many
		{"mathod", fields, "method"},       // one wrong
		{"mehtod", fields, "method"},       // two swapped
		{"Method", fields, "method"},       // in capitals
		{"mimetype", fields, "mime_type"},  // joined
		{"mime-type", fields, "mime_type"}, // another separator
		{"modifier", fields, "modifiers"},
		{"contextObj", fields, "context_obj"},
		{"nmae", fields, "name"},
		{"colour", fields, ""}, // like none of them
		{"x", fields, ""},
		{"", fields, ""},
		{"", []string{"a"}, ""},
		{"ab", []string{"cd"}, ""},   // nothing in common
		{"di", []string{"id"}, "id"}, // a swap is one mistake, not two
		{"method", nil, ""},
		{"cat", []string{"bat", "hat"}, "bat"},    // as near: the first
		{"catt", []string{"cart", "cat"}, "cart"}, // as near, of another length: the first
		{"newst", []string{"new", "newest"}, "newest"},
		{"größe", []string{"grösse", "große"}, "große"}, // letters, not bytes
	}
	for _, test := range tests {
		if got := spell.Nearest(test.name, test.candidates); got != test.want {
			t.Errorf("Nearest(%q, %q) = %q, want %q", test.name, test.candidates, got, test.want)
		}
	}
}

func TestOnly(t *testing.T) {
	for _, test := range []struct {
		name string
		want string
		only bool
	}{
		{"limt", "limit", true},
		{"sor", "sort", false}, // or sport
		{"colour", "", false},
	} {
		if got, only := spell.Only(test.name, []string{"limit", "sort", "sop"}); got != test.want || only != test.only {
			t.Errorf("Only(%q) = %q, %v", test.name, got, only)
		}
	}
}

func TestDistance(t *testing.T) {
	long := strings.Repeat("x", 100)
	for _, test := range []struct {
		a, b string
		want int
	}{{"", "", 0}, {"abc", "abc", 0}, {"abc", "acb", 1}, {"abc", "b", 2}, {"ä", "a", 1}, {long, long, 0}, {long, "x", 100}} {
		if got := spell.Distance(test.a, test.b); got != test.want {
			t.Errorf("Distance(%q, %q) = %d, not %d", test.a, test.b, got, test.want)
		}
	}
}
