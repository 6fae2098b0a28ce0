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
		{"metod", fields, "method"},        // missing letter
		{"methood", fields, "method"},      // extra letter
		{"mathod", fields, "method"},       // wrong letter
		{"mehtod", fields, "method"},       // swapped letters
		{"Method", fields, "method"},       // upper case
		{"mimetype", fields, "mime_type"},  // missing separator
		{"mime-type", fields, "mime_type"}, // different separator
		{"modifier", fields, "modifiers"},
		{"contextObj", fields, "context_obj"},
		{"nmae", fields, "name"},
		{"colour", fields, ""}, // similar to none of them
		{"x", fields, ""},
		{"", fields, ""},
		{"", []string{"a"}, ""},
		{"ab", []string{"cd"}, ""},   // nothing in common
		{"di", []string{"id"}, "id"}, // a swap is one mistake, not two
		{"method", nil, ""},
		{"cat", []string{"bat", "hat"}, "bat"},    // a tie goes to the first
		{"catt", []string{"cart", "cat"}, "cart"}, // a tie between different lengths goes to the first
		{"newst", []string{"new", "newest"}, "newest"},
		{strings.Repeat("x", 65), []string{strings.Repeat("x", 66)}, ""}, // too long to compare
		{"größe", []string{"grösse", "große"}, "große"},                  // counts letters, not bytes
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
		{"sor", "sort", false}, // sort or sport
		{"colour", "", false},
	} {
		if got, only := spell.Only(test.name, []string{"limit", "sort", "sop"}); got != test.want || only != test.only {
			t.Errorf("Only(%q) = %q, %v", test.name, got, only)
		}
	}
}
