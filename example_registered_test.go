package signpost_test

import (
	"fmt"

	"signpost"
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
	index := signpost.NewIndex(exampleVersions("feeds.example.com")...)
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
	for _, findings := range signpost.Overlaps(exampleVersions("feeds.example.com"), nil, nil) {
		for _, f := range findings {
			fmt.Println(f.Message)
		}
	}
	// Output:
	// feeds of "https://feeds.example.com/feeds/sport" do not get "user_account.profile", as those of "https://feeds.example.com/feeds" (feeds.yaml) do
}

func ExampleManifest_Validate() {
	m := signpost.NewManifest(signpost.Endpoint{
		URL: "https://{{host}}/series/{series_id}", Name: "Series", Method: "GET", MIMEType: signpost.MIMEJSON,
	})
	for _, f := range m.Validate() {
		fmt.Println(f.Rule + ": " + f.Message)
		fmt.Println("  hint: " + f.Hint)
	}
	// Output:
	// url: URL "https://{{host}}/series/{series_id}" has a stray "{"
	//   hint: write {{series_id}}
	// method: method "GET" is not "get" or "post"
	//   hint: write it in lower case: get
}

// Diff explains what a change means to studios that registered the old state.
func ExampleDiff() {
	old := exampleVersions("feeds.example.com")[:1]
	new := exampleVersions("feeds.example.com")[:1]
	new[0].Manifest.Endpoints[0].Method = signpost.MethodPost
	new[0].Manifest.Endpoints[0].Name = "All feeds"
	for _, c := range signpost.Diff(old, new) {
		fmt.Printf("%s: %s [%s]\n", c.Level, c.Message, c.Rule)
	}
	// Output:
	// notable: name changed from "Feeds" to "All feeds" [name-changed]
	// breaking: method changed from "get" to "post" [method-changed]
}

func ExampleURL_Bind() {
	u, err := signpost.ParseURL("https://feeds.example.com/series/{{series_id}}/episodes")
	if err != nil {
		panic(err)
	}
	bound, err := u.Bind(map[string]string{"series_id": "the wire"})
	fmt.Println(bound, err)
	// Output: https://feeds.example.com/series/the%20wire/episodes <nil>
}
