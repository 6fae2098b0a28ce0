package match_test

import (
	"fmt"

	"signpost"
	"signpost/match"
)

// exampleVersions are two services that are registered in the same studio.
func exampleVersions(host string) []signpost.Version {
	profile := signpost.ContextItem{Key: "user_account.profile", Type: signpost.ContextCtx, Required: true}
	feeds := signpost.NewManifest(signpost.Endpoint{
		URL: "https://{{host}}/feeds", Name: "Feeds", Method: signpost.MethodGet, MIMEType: signpost.MIMEJSON,
		ContextObj: []signpost.ContextItem{profile},
	})
	sport := signpost.NewManifest(signpost.Endpoint{
		URL: "https://{{host}}/feeds/sport", Name: "Sport", Method: signpost.MethodGet, MIMEType: signpost.MIMEJSON,
	})
	versions := []signpost.Version{{Name: "v1", Source: "feeds.yaml", Manifest: feeds}, {Name: "v1", Source: "sport.yaml", Manifest: sport}}
	for i := range versions {
		versions[i].Manifest, _ = versions[i].Manifest.ForHost(host) // the error is for an invalid host
	}
	return versions
}

// Match considers everything registered together: here, the feed loses a key to the other service.
func ExampleIndex_Match() {
	index := match.NewIndex(exampleVersions("feeds.example.com")...)
	m, ok := index.Match("https://feeds.example.com/feeds/sport/7?limit=20")
	fmt.Println(ok, m.Endpoint, "of", m.Source)
	for _, s := range m.Shadowed {
		fmt.Println("shadows", s.Endpoint, "of", s.Source, "and loses", s.LostKeys)
	}
	// Output:
	// true https://feeds.example.com/feeds/sport of sport.yaml
	// shadows https://feeds.example.com/feeds of feeds.yaml and loses [user_account.profile]
}

func ExampleOverlaps() {
	for _, findings := range match.Overlaps(exampleVersions("feeds.example.com"), nil) {
		for _, f := range findings {
			fmt.Println(f.Message)
		}
	}
	// Output:
	// feeds of "https://feeds.example.com/feeds/sport" lose context key "user_account.profile": "https://feeds.example.com/feeds/sport" shadows "https://feeds.example.com/feeds" (feeds.yaml)
}
