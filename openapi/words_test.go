package openapi

import (
	"strings"
	"testing"
)

func TestHumanise(t *testing.T) {
	for name, want := range map[string]string{
		"limit":          "Limit",
		"page_size":      "Page size",
		"page-size":      "Page size",
		"includeExpired": "Include expired",
		"seriesID":       "Series ID",
		"URL":            "URL",
		"filter[genre]":  "Filter genre",
		"$top":           "Top",
		"q":              "Q",
		"v2Only":         "V2 only",
		"größe":          "Größe",
		"élan_vital":     "Élan vital",
		"---":            "",
		"":               "",
	} {
		if got := humanise(name); got != want {
			t.Errorf("humanise(%q) is %q, want %q", name, got, want)
		}
	}
}

func TestHeadline(t *testing.T) {
	for description, want := range map[string]string{
		"Page size":                                       "Page size",
		"Page size. At most 100.":                         "Page size",
		"Page size, e.g. 20.":                             "Page size, e.g. 20",
		"Sort order:\n\n* newest\n* title":                "Sort order",
		"Time\n  of the `schedule`":                       "Time of the schedule",
		"The [IANA](https://example.com/zones) time zone": "The IANA time zone",
		"**Quality**":                                     "Quality",
		"Ready? Say so":                                   "Ready",
		" . ":                                             "",
		strings.Repeat("word ", 12) + "end":               strings.Repeat("word ", 11) + "word…",
		strings.Repeat("é", 61):                           strings.Repeat("é", 60) + "…",
		"a\x1b[31mb\u200bc":                               "a[31mbc",
	} {
		if got := headline(&node{kind: text, text: description}); got != want {
			t.Errorf("headline(%q) is %q, want %q", description, got, want)
		}
	}
	if got := headline(&node{kind: list}); got != "" {
		t.Errorf("the headline of a list is %q", got)
	}
}

func TestSuccessCode(t *testing.T) {
	for codes, want := range map[string]string{
		"default 404 200": "200",
		"204 201 default": "201",
		"2XX 226":         "226",
		"2XX default":     "2XX",
		"2xx 400":         "2xx",
		"400 500":         "default",
		"":                "default",
	} {
		if got := successCode(strings.Fields(codes)); got != want {
			t.Errorf("successCode(%q) is %q, want %q", codes, got, want)
		}
	}
}
