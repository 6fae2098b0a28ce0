package source

import (
	"maps"
	"slices"
	"testing"
)

func TestCutRevision(t *testing.T) {
	tests := map[string][2]string{
		"HEAD:feeds.yaml":              {"HEAD", "feeds.yaml"},
		"origin/main:a/b:c.yaml":       {"origin/main", "a/b:c.yaml"},
		":feeds.yaml":                  {"", "feeds.yaml"},
		"main@{2026-01-01 10:00}:a.js": {"main@{2026-01-01 10:00}", "a.js"},
		"HEAD:":                        {"HEAD", ""},
	}
	for _, name := range slices.Sorted(maps.Keys(tests)) {
		revision, path := cutRevision(name)
		if got := [2]string{revision, path}; got != tests[name] {
			t.Errorf("%s: got %q, want %q", name, got, tests[name])
		}
	}
}
