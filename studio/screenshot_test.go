package studio_test

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"signpost/internal/source"
	"signpost/internal/testkit"
	"signpost/studio"
)

var screenshots = flag.String("screenshots", "", "write pictures of the page to this folder: make screenshot")

// riskyYAML has something for every view to show.
const riskyYAML = `service: Example feeds
enable: [authentication, geo-restriction]
features:
  parental-control:
    url_suffix: /kids
    context_obj: [{key: user_account.profile, type: ctx, required: true, mapper: profile}]
modifiers:
  limit: {kind: number, id: limit, name: Page size, key: limit, label: Limit, defaultValue: 20, placeholder: 1 to 100}
versions:
  v1:
    endpoints:
      https://{{host}}/v1/collections:
        name: Collections
        method: get
        mime_type: application/json
        context_obj: [{key: user_account.profile, type: ctx, mapper: profile}]
        modifiers:
          - limit
          - {kind: select, id: sort, name: Sort order, key: sort, label: Sort by, defaultValue: newest, options: [{value: newest, label: Newest first}, {value: title, label: Title}]}
          - {kind: boolean, id: hd, name: HD only, key: hd, label: HD only}
      https://{{host}}/v1/collections/media:
        name: Media
        method: get
        mime_type: application/vnd+vendor.feed+json
        modifiers: [limit]
      https://{{host}}/v1/collections/media-archive: {name: Archive, method: get, mime_type: application/json}
      https://{{host}}/v1/series/{{series_id}}: {name: Series, method: get, mime_type: application/json}
      https://{{host}}/v1/series/{{series_id}}/episodes: {name: Episodes, method: get, mime_type: application/json, modifiers: [limit]}
      https://{{host}}/v1/kids: {name: Kids, method: get, mime_type: application/json}
      https://ratings.example.org/titles/{{title_id}}: {name: Ratings, method: get, mime_type: application/json}
  v2:
    endpoints:
      https://{{host}}/v2/collections: {name: Collections, method: get, mime_type: application/json, modifiers: [limit]}
      https://{{host}}/v2/progress:
        name: Viewing progress
        method: post
        mime_type: application/x-www-form-urlencoded
        context_obj: [{key: device.id, type: bodyParam, required: true, mapper: device_id}]
`

// brokenYAML has two errors.
const brokenYAML = `service: Sports
base_path: /sports
versions: {v1: {endpoints: {"https://{{host}}/v1/matches": {name: Matches, method: GET, mime_type: aplication/json}}}}
`

// showFour shows four services, one of them broken and one changed, which has a warning besides.
func showFour(s *studio.Studio) {
	simple := func(title, path string) string {
		return fmt.Sprintf("service: %s\nbase_path: /%s\nversions: {v1: {endpoints: {\"https://{{host}}/v1/%s\": {name: %s, method: get, mime_type: application/json}}}}\n",
			title, path, path, title)
	}
	files := []source.Document{file("feeds.yaml", riskyYAML), file("news.yaml", simple("News", "news")), file("sports.yaml", brokenYAML), file("radio.yaml", simple("Radio", "radio"))}
	s.Show(snapshotOf(files...))
	files[1] = file("news.yaml", "enable: [authentication]\n"+strings.Replace(simple("News", "news"), "method: get", "method: post", 1))
	s.Show(snapshotOf(files...))
}

// TestScreenshot makes the picture of the README from the real page, and pictures of every view to look at.
func TestScreenshot(t *testing.T) {
	if *screenshots == "" {
		t.Skip("-screenshots is not set")
	}
	write := func(p *tab, name string) {
		p.eval("document.activeElement.blur(); scrollTo(0, 0)")
		p.wait(settled)
		picture := testkit.Must(chromedp.Run(p.ctx, chromedp.CaptureScreenshot()))(t)
		testkit.OK(t, os.WriteFile(filepath.Join(*screenshots, name+".png"), picture, 0o644))
	}
	p := openTab(t, serveExample(t))
	p.emulate(1440, 880, 1.5, "light")
	p.waitText("#answer-facts", "200")
	p.typeInto(field("Limit"), "9")
	p.waitText("#answer-facts", "9 entries, as the limit says")
	write(p, "studio")

	s, address := serve(t, studio.Options{Host: "feeds.example.com"})
	showFour(s)
	p = openTab(t, address)
	for _, view := range views {
		p.openView(view)
		for _, size := range []int64{320, 768, 1024, 1440, 2560} {
			for _, scheme := range []string{"light", "dark", "forced"} {
				p.emulate(size, 900, 1, scheme)
				write(p, fmt.Sprintf("%s-%d-%s", view.name, size, scheme))
			}
		}
	}
}
