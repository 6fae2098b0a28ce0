package definition

import (
	"fmt"
	"testing"
	"time"
)

const deprecatedYAML = `
modifiers:
  page: {kind: number, id: p, name: Page, key: page, label: Page, deprecated: {since: 2026-01-01, use: cursor}}
versions:
  v1:
    deprecated: {since: 2026-01-01, until: 2026-06-30, use: v2, reason: it is old}
    endpoints:
      https://{{host}}/v1/feeds: {name: Feeds, method: get, mime_type: application/json, modifiers: [page], deprecated: {since: 2026-02-01}}
      https://{{host}}/v1/media: {name: Media, method: get, mime_type: application/json, modifiers: [{id: q, name: Q, params: [{key: q, ui: {label: Q}, schema: {type: string}}], deprecated: {since: 2026-03-01}}]}
  v2:
    endpoints:
      https://{{host}}/v2/feeds: {name: Feeds, method: get, mime_type: application/json, modifiers: [page]}
`

func TestDeprecation(t *testing.T) {
	file := Parse("f.yaml", []byte(deprecatedYAML))
	const feeds, media = "https://{{host}}/v1/feeds", "https://{{host}}/v1/media"
	for _, test := range []struct{ version, endpoint, modifier, since string }{
		{"v1", "", "", "2026-01-01"},
		{"v1", feeds, "", "2026-02-01"},
		{"v1", feeds, "p", "2026-01-01"},
		{"v1", media, "", ""},
		{"v1", media, "q", "2026-03-01"},
		{"v2", "https://{{host}}/v2/feeds", "p", "2026-01-01"},
	} {
		got := ""
		if dep := file.Deprecation(test.version, test.endpoint, test.modifier); dep != nil {
			got = dep.Since.Format(time.DateOnly)
		}
		if got != test.since {
			t.Errorf("%+v: since %q", test, got)
		}
	}
	if dep := file.Deprecation("v1", "", ""); dep.Use != "v2" || dep.Reason != "it is old" || dep.Until.Format(time.DateOnly) != "2026-06-30" {
		t.Errorf("v1: %+v", dep)
	}
	// The last day is included. Package signpost tests it for all time zones.
	const expired = "[f.yaml:6:44: warning: deprecated until 2026-06-30, which has passed [deprecation-expired]]"
	for month, want := range map[time.Month]string{time.June: "[]", time.July: expired} {
		today := time.Date(2026, month, 30, 23, 59, 0, 0, time.UTC)
		if got := fmt.Sprint(Lint(Options{Today: today}.Parse("f.yaml", []byte(deprecatedYAML)))); got != want {
			t.Errorf("%v: got %s", today, got)
		}
	}
}
