package openapi

import (
	"strings"
	"testing"

	"signpost/internal/tree"
)

func TestHumanise(t *testing.T) {
	for name, want := range map[string]string{
		"limit":          "Limit",
		"page_size":      "Page size",
		"includeExpired": "Include expired",
		"seriesID":       "Series ID",
		"URL":            "URL",
		"filter[genre]":  "Filter genre",
		"NEWEST_FIRST":   "Newest first",
		"UHD":            "UHD",
		"skipTLSVerify":  "Skip TLS verify",
		"showIDs":        "Show ids",
		"élan_vital":     "Élan vital",
		"---":            "",
		"":               "",
	} {
		if got := humanise(name); got != want {
			t.Errorf("humanise(%q) is %q, want %q", name, got, want)
		}
	}
}

func TestSentence(t *testing.T) {
	for description, want := range map[string]string{
		"Page size. At most 100.":                      "Page size",
		"Sort order:\n\n* newest\n* title":             "Sort order",
		"Time\n  of the schedule":                      "Time of the schedule",
		"**Quality** of the `stream`":                  "Quality of the stream",
		"# Heading":                                    "", // markup is not a name
		"<b>Time</b>":                                  "",
		"Genre, e.g. Drama. Any will do.":              "", // cut off in the middle
		" . ":                                          "",
		strings.Repeat("word ", 12) + "end":            "", // half a sentence is not a name
		strings.Repeat("é", 60):                        strings.Repeat("é", 60),
		strings.Repeat("é", 61):                        "",
		"Short. Long " + strings.Repeat("word ", 1000): "Short",
		"Optional":                                     "",
		"REQUIRED. Page size":                          "",
		"a\x1bb\u200bc":                                "abc",
	} {
		if got := sentence(&tree.Node{Kind: tree.String, Text: description}); got != want {
			t.Errorf("sentence(%q) is %q, want %q", description, got, want)
		}
	}
	if got := title(&tree.Node{Kind: tree.String, Text: "Media\nof an entry."}); got != "Media of an entry" {
		t.Errorf("title gives %q", got)
	}
	if got := title(&tree.Node{Kind: tree.String, Text: strings.Repeat("é", 121)}); got != "" {
		t.Errorf("title gives %q", got)
	}
}
