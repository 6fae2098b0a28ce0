package definition_test

import (
	"slices"
	"strings"
	"testing"

	"signpost/definition"
)

// A manifest that was fetched from the deployment of a definition is the same service: it does not take feeds from
// itself, but both take part in overlap with others.
func TestPublishedManifest(t *testing.T) {
	const (
		address = "https://feeds.example.com/feeds/v1/endpoints-manifest"
		feeds   = `
base_path: /feeds
hosts: [feeds.example.com]
versions:
  v1:
    endpoints:
      https://{{host}}/feeds/v1/all: {name: All, method: get, mime_type: application/json, context_obj: [{key: user.token, type: ctx}]}
      https://{{host}}/feeds/v1/new: {name: New, method: get, mime_type: application/json}
`
		served = `{"endpoints": {
"https://feeds.example.com/feeds/v1/all": {"name": "All", "method": "post", "mime_type": "application/json", "context_obj": [{"key": "user.token", "type": "ctx"}]},
"https://feeds.example.com/feeds/v1/old": {"name": "Old", "method": "get", "mime_type": "application/json"}}}`
		sport = `
base_path: /sport
versions:
  v1:
    endpoints:
      https://{{host}}/feeds/v1/all/sport: {name: Sport, method: get, mime_type: application/json}
`
	)
	definitionOf := func(text string) *definition.File { return definition.Parse("feeds.yaml", []byte(text)) }
	manifest := func(text string) *definition.File { return definition.ParseManifest(address, []byte(text)) }
	export := func(text string) *definition.File { return definition.ParseManifest("export.json", []byte(text)) }
	const partner = "      https://partner.example.net/a: {name: A, method: get, mime_type: application/json}\n"
	other := func() *definition.File { return definition.Parse("sport.yaml", []byte(sport)) }
	const lost = "sport.yaml overlap-drops-context"
	type files = []*definition.File
	for _, test := range []struct {
		name               string
		judged, registered files
		want               []string
	}{
		{"lint", files{definitionOf(feeds)}, files{manifest(served)}, nil},
		{"check", files{manifest(served)}, files{definitionOf(feeds)}, nil},
		{"studio", files{definitionOf(feeds), manifest(served)}, nil, nil},
		{"lint with another service", files{definitionOf(feeds), other()}, files{manifest(served)}, []string{lost}},
		{"check with another service", files{manifest(served)}, files{definitionOf(feeds), other()}, []string{address + " hosts-unknown"}},
		{"studio with another service", files{other(), definitionOf(feeds), manifest(served)}, nil, []string{lost}},
		{"lint after a deployment with half of it", files{definitionOf(feeds + "      https://{{host}}/feeds/v1/more: {name: More, method: get, mime_type: application/json}\n" +
			"      https://{{host}}/feeds/v1/most: {name: Most, method: get, mime_type: application/json}\n")}, files{manifest(served)}, nil},
		{"another host", files{definitionOf(strings.Replace(feeds, "feeds.example.com", "feeds.example.org", 1))}, files{manifest(served)}, nil},
		{"unknown hosts", files{definitionOf(strings.Replace(feeds, "hosts", "x-hosts", 1))}, files{manifest(served)}, []string{"feeds.yaml hosts-unknown"}},
		{"another base path", files{definitionOf(strings.Replace(feeds, "base_path: /feeds", "base_path: /films", 1))}, files{manifest(served)}, []string{"feeds.yaml registered-twice"}},
		{"an export", files{definitionOf(feeds)}, files{export(served)}, nil},
		{"check of an export", files{export(served)}, files{other()}, []string{"export.json hosts-unknown"}},
		{"an invalid URL in an export", files{definitionOf(feeds)},
			files{export(`{"endpoints": {"https://feeds.example.com/feeds/v1/all#x": {"method": "get"}}}`)}, nil},
		{"hosts that cannot be read", files{definitionOf(strings.Replace(feeds, "feeds.example.com]", "feeds example]", 1))},
			files{manifest(served)}, []string{"feeds.yaml hosts"}},
		{"an export with another host", files{definitionOf(strings.Replace(feeds, "feeds.example.com", "feeds.example.org", 1))}, files{export(served)}, nil},
		{"a partner in an export", files{definitionOf(feeds + partner)}, files{export(`{"endpoints": {"https://partner.example.net/a": {"method": "get"}}}`)}, nil},
		{"a partner with other settings in an export", files{definitionOf(feeds + partner)},
			files{export(`{"endpoints": {"https://partner.example.net/a": {"method": "post"}}}`)}, []string{"feeds.yaml registered-twice"}},
	} {
		var slim files
		for _, f := range test.judged {
			slim = append(slim, f.ForLint())
		}
		for _, judged := range []files{test.judged, slim} {
			var got []string
			for _, f := range definition.LintTogether(judged, test.registered) {
				got = append(got, f.File+" "+f.Rule)
			}
			if !slices.Equal(got, test.want) {
				t.Errorf("%s: got %q, not %q", test.name, got, test.want)
			}
		}
	}
}

// Only what an error hides may decide about other files.
func TestPartial(t *testing.T) {
	const text = `
versions:
  v1:
    endpoints:
      https://{{host}}/feeds: {name: Feeds, method: get, mime_type: application/json, context_obj: [{key: k, type: ctx}]}
`
	for _, test := range []struct {
		old, new string
		want     bool
	}{
		{"method: get", "method: GET", false},
		{"type: ctx", "type: cookie", false},
		{"\nversions", "\nhosts: [a b]\nversions", true},
		{"\nversions", "\nenable: [authentification]\nversions", true},
		{"context_obj: [{key: k, type: ctx}]", "context_obj: {key: k}", true},
		{"{{host}}", "{host}", true},
		{"    endpoints", "\tendpoints", true},
	} {
		f := definition.Parse("feeds.yaml", []byte(strings.Replace(text, test.old, test.new, 1)))
		if len(definition.Errors(f)) == 0 || f.Partial() != test.want {
			t.Errorf("%s: %v, not %v: %v", test.new, f.Partial(), test.want, definition.Errors(f))
		}
	}
}

// What is allowed for a judged endpoint is allowed whichever of the two URLs is the shorter one.
func TestAllowInsideSegment(t *testing.T) {
	other := func(path string) *definition.File {
		return definition.Parse("other.json", []byte(`{"versions": {"v1": {"endpoints": {"https://{{host}}`+path+
			`": {"name": "N", "method": "post", "mime_type": "application/json"}}}}}`))
	}
	const text = `
base_path: /media
versions:
  v1:
    endpoints:
      https://{{host}}/media: {name: Media, method: get, mime_type: application/json, allow: {overlap-inside-segment: it is meant}}
`
	for _, path := range []string{"/med", "/media-archive"} {
		found := definition.LintTogether([]*definition.File{definition.Parse("media.yaml", []byte(text))}, []*definition.File{other(path)})
		if len(found) > 0 {
			t.Errorf("%s: %v", path, found)
		}
	}
}

// What is beyond the specification does not change how clients call an endpoint.
func TestCalledAlike(t *testing.T) {
	const text = `
versions:
  v1:
    endpoints:
      https://{{host}}/med: {name: Med, method: get, mime_type: application/json, context_obj: [{key: k, type: ctx}]}
      https://{{host}}/media: {name: Media, method: get, mime_type: application/json, context_obj: [{key: k, type: ctx, +note: x}]}
`
	if found := definition.Lint(definition.Parse("feeds.yaml", []byte(text))); len(found) > 0 {
		t.Error(found)
	}
}
