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
		"NEWEST_FIRST":   "Newest first",
		"NEWEST":         "Newest",
		"UHD":            "UHD",
		"skipTLSVerify":  "Skip TLS verify",
		"showIDs":        "Show ids",
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
		strings.Repeat("word ", 12) + "end":               "", // half a sentence is not a name
		strings.Repeat("é", 60):                           strings.Repeat("é", 60),
		strings.Repeat("é", 61):                           "",
		"Short. Long " + strings.Repeat("word ", 1000):    "Short",
		"Optional":                                        "",
		"Optional.":                                       "",
		"(Required)":                                      "",
		"Optional. Page size.":                            "Page size",
		"OPTIONAL: page size":                             "Page size",
		"Optional - page size":                            "Page size",
		"[optional] page size":                            "Page size",
		"Required. Deprecated. Page size":                 "Page size",
		"Optional parameter. Page size":                   "Page size",
		"**Optional.** Page size":                         "Page size",
		"Optional page size":                              "Optional page size",
		"Required if limit is set":                        "Required if limit is set",
		"Page size (optional).":                           "Page size",
		"Output only. ID":                                 "ID",
		"Genre, e.g. Drama. Any will do.":                 "Genre, e.g. Drama",
		"Version no. 5 or 6":                              "Version no. 5 or 6",
		"Really? Yes":                                     "Really",
		"*Emphasis* and _stress_ and __more__":            "Emphasis and stress and more",
		"show_id and __typename and a*b*c":                "show_id and __typename and a*b*c",
		"## Heading\nText":                                "Heading",
		"> Quoted":                                        "Quoted",
		"- newest\n- title":                               "newest",
		"1. newest\n2. title":                             "newest",
		"~~Old~~ New":                                     "Old New",
		"![Logo](https://example.com/a.png) Show":         "Show",
		"See [the docs][1]":                               "See the docs",
		"See <https://example.com/x>":                     "See https://example.com/x",
		"<p>One</p><p>Two</p>":                            "One",
		"The <id> of the show":                            "The <id> of the show",
		"Less &lt; more &amp; all":                        "Less < more & all",
		"a \\* b":                                         "a * b",
		"```json\n{}\n```\nText":                          "Text",
		"<!-- hidden -->Text":                             "Text",
		"a\x1b[31mb\u200bc":                               "a[31mbc",
	} {
		if got := headline(&node{kind: text, text: description}, maxHeadline); got != want {
			t.Errorf("headline(%q) is %q, want %q", description, got, want)
		}
	}
	if got := headline(&node{kind: list}, maxHeadline); got != "" {
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
