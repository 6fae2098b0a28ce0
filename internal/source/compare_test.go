package source

import (
	"fmt"
	"net/url"
	"strings"
	"testing"

	"signpost"
)

// loaded returns the service of a definition or manifest, fetched from address unless that is empty.
func loaded(t *testing.T, name, text, address string) *Service {
	t.Helper()
	d := Document{Name: name, Text: []byte(text)}
	if address != "" {
		var err error
		if d.Address, err = url.Parse(address); err != nil {
			t.Fatal(err)
		}
	}
	s := NewService(d)
	s.Load(nil)
	return s
}

// endpoints returns the descriptors of URLs in YAML or JSON.
func endpoints(urls ...string) string {
	var all []string
	for _, u := range urls {
		all = append(all, fmt.Sprintf(`%q: {"name": "F", "method": "get", "mime_type": "application/json"}`, u))
	}
	return "{" + strings.Join(all, ", ") + "}"
}

func manifest(urls ...string) string { return `{"endpoints": ` + endpoints(urls...) + `}` }

const twoVersions = "base_path: /sport\nversions:\n  v1: {endpoints: %s}\n  v2: {endpoints: %s}\n"

func TestAlign(t *testing.T) {
	definition := func() *Service {
		return loaded(t, "feeds.yaml", fmt.Sprintf(twoVersions, endpoints("https://{{host}}/v1/a", "https://{{host}}/v1/b"), endpoints("https://{{host}}/v2/a")), "")
	}
	for _, test := range []struct {
		name         string
		old, new     *Service
		host         string
		notes        string
		oldVersions  string
		newVersions  string
		wantsFailure bool
	}{
		{name: "definitions", old: definition(), new: definition(), host: "{{host}}", oldVersions: "v1 v2", newVersions: "v1 v2"},
		{name: "a saved manifest has the version with the most URLs in common", old: loaded(t, "saved.json", manifest("https://a.example/v2/a"), ""), new: definition(), host: "a.example",
			notes: "feeds.yaml is compared as it is served for a.example; saved.json is the manifest of one version: only v2 of feeds.yaml is compared", oldVersions: "v2", newVersions: "v2"},
		{name: "the first, if none has any", old: definition(), new: loaded(t, "saved.json", manifest("https://a.example/v3/a"), ""), host: "a.example",
			notes: "feeds.yaml is compared as it is served for a.example; saved.json is the manifest of one version: only v1 of feeds.yaml is compared", oldVersions: "v1", newVersions: "v1"},
		{name: "an address has a version", old: loaded(t, "live", manifest("https://a.example/v1/x"), "https://a.example/sport/v2/endpoints-manifest"), new: definition(), host: "a.example",
			notes: "feeds.yaml is compared as it is served for a.example; live is the manifest of one version: only v2 of feeds.yaml is compared", oldVersions: "v2", newVersions: "v2"},
		{name: "one that the other side lacks", old: loaded(t, "live", manifest("https://a.example/v3/x"), "https://a.example/sport/v3/endpoints-manifest"), new: definition(), host: "a.example",
			notes: "feeds.yaml is compared as it is served for a.example", oldVersions: "v3", newVersions: "v1 v2"},
		{name: "manifests of two hosts", old: loaded(t, "old.json", manifest("https://a.example/v1/a"), ""), new: loaded(t, "new.json", manifest("https://b.example/v1/a"), ""), host: "a.example",
			notes: "new.json is for b.example: compared as if it were for a.example", oldVersions: "", newVersions: ""},
		{name: "{{host}} as part of the only host", old: loaded(t, "saved.json", manifest("https://cdn.a.example/v2/a"), ""),
			new:  loaded(t, "cdn.yaml", fmt.Sprintf(twoVersions, endpoints("https://cdn.{{host}}/v1/a"), endpoints("https://cdn.{{host}}/v2/a")), ""),
			host: "a.example", notes: "cdn.yaml is compared as it is served for a.example; saved.json is the manifest of one version: only v2 of cdn.yaml is compared",
			oldVersions: "v2", newVersions: "v2"},
		{name: "no manifest for the host", old: loaded(t, "old.json", manifest("https://10.0.0.7/v1/a"), ""), new: loaded(t, "part.yaml", "versions: {v1: {endpoints: "+endpoints("https://cdn.{{host}}/v1/a")+"}}", ""), wantsFailure: true},
	} {
		host, notes, err := Align(test.old, test.new)
		if (err != nil) != test.wantsFailure {
			t.Errorf("%s: %v", test.name, err)
		}
		if err != nil {
			continue
		}
		if host != test.host || strings.Join(notes, "; ") != test.notes || names(test.old) != test.oldVersions || names(test.new) != test.newVersions {
			t.Errorf("%s: host %s, versions %q and %q\n%s", test.name, host, names(test.old), names(test.new), strings.Join(notes, "; "))
		}
	}
}

func names(s *Service) string {
	var all []string
	for _, v := range s.Versions {
		all = append(all, v.Name)
	}
	return strings.Join(all, " ")
}

func TestJoin(t *testing.T) {
	registered := func() []*Service {
		return []*Service{
			loaded(t, "saved.json", manifest("https://b.example/v1/a"), ""),
			loaded(t, "feeds.yaml", "versions: {v1: {endpoints: "+endpoints("https://{{host}}/v1/b")+"}}", ""),
			loaded(t, "cdn.yaml", "versions: {v1: {endpoints: "+endpoints("https://cdn.{{host}}/v1/c")+"}}", ""),
		}
	}
	for host, want := range map[string]string{
		"{{host}}":  "saved.json https://{{host}}/v1/a, feeds.yaml https://{{host}}/v1/b, cdn.yaml https://cdn.{{host}}/v1/c; saved.json is for b.example: taken as registered on the same host",
		"a.example": "saved.json https://b.example/v1/a, feeds.yaml https://a.example/v1/b, cdn.yaml https://cdn.a.example/v1/c; ",
		"10.0.0.7":  "saved.json https://b.example/v1/a, feeds.yaml https://10.0.0.7/v1/b; cdn.yaml is left out: ",
	} {
		versions, notes, err := Join(registered(), host)
		var all []string
		for _, v := range versions {
			all = append(all, v.Source+" "+v.Manifest.Endpoints[0].URL)
		}
		if got := strings.Join(all, ", ") + "; " + strings.Join(notes, "; "); err != nil || !strings.HasPrefix(got, want) || host != "10.0.0.7" && got != want {
			t.Errorf("%s: %v\n got %s\nwant %s", host, err, got, want)
		}
	}
	if _, _, err := Join(registered(), "not a host"); err == nil {
		t.Error("no error for what is not a host")
	}
}

func TestServedBy(t *testing.T) {
	sport := loaded(t, "sport.yaml", "base_path: /sport\nversions: {v1: {endpoints: "+endpoints("https://{{host}}/sport/v1/a")+"}}", "")
	news := loaded(t, "news.yaml", "base_path: /news\nversions: {v1: {endpoints: "+endpoints("https://{{host}}/news/v1/a", "https://{{host}}/news/v1/b")+"}}", "")
	for _, test := range []struct {
		served *Service
		want   *Service
	}{
		{loaded(t, "live", manifest("https://a.example/sport/v1/a"), "https://a.example/news/v1/endpoints-manifest"), news},
		{loaded(t, "live", manifest("https://a.example/sport/v1/a"), "https://a.example/films/v1/endpoints-manifest"), nil},
		{loaded(t, "live", manifest("https://a.example/sport/v1/a"), "https://a.example/manifest.json"), sport},
		{loaded(t, "saved.json", manifest("https://a.example/sport/v1/a", "https://a.example/news/v1/a", "https://a.example/news/v1/b"), ""), news},
		{loaded(t, "saved.json", manifest("https://a.example/films/v1/a"), ""), nil},
	} {
		if got := ServedBy(test.served, []*Service{sport, news}); got != test.want {
			t.Errorf("%s %s: %+v", test.served.Name, test.served.Address, got)
		}
	}
}

// TestPublished pairs services whose base path cannot be read with those of the new state.
func TestPublished(t *testing.T) {
	load := func(name, text string) *Service { return loaded(t, name, text, "") }
	const broken = "base_path: [\"/x\"]\nversions: {v1: {endpoints: %s}}\n"
	sport := load("sport.yaml", "base_path: /sport\nversions: {v1: {endpoints: "+endpoints("https://{{host}}/sport/v1/a")+"}}\n")
	news := load("news.yaml", "base_path: /news\nversions: {v1: {endpoints: "+endpoints("https://{{host}}/news/v1/a", "https://{{host}}/news/v1/b")+"}}\n")
	old := []*Service{
		load("was-sport.yaml", "base_path: /sport\nversions: {v1: {endpoints: "+endpoints("https://{{host}}/news/v1/a")+"}}\n"),
		load("was-news.yaml", fmt.Sprintf(broken, endpoints("https://{{host}}/news/v1/b", "https://{{host}}/sport/v1/a"))),
		load("never.yaml", fmt.Sprintf(broken, endpoints("https://{{host}}/films/v1/a"))),
		load("late.yaml", fmt.Sprintf(broken, endpoints("https://{{host}}/news/v1/a"))), // somebody else has that place
	}
	var got []string
	for _, s := range Published(old, []*Service{sport, news}) {
		got = append(got, s.Name+" "+s.State().BasePath)
	}
	if want := "was-sport.yaml /sport, was-news.yaml /news"; strings.Join(got, ", ") != want {
		t.Errorf("got %q, want %s", got, want)
	}
}

// TestServeFor checks what a service is resolved for, and features that only some services have.
func TestServeFor(t *testing.T) {
	s := NewService(Document{Name: "feeds.yaml", Text: []byte("features: {kids: {context_obj: [{key: profile, type: ctx}]}}\nversions: {v1: {endpoints: " + endpoints("https://{{host}}/v1/media") + "}}\n")})
	for _, test := range []struct {
		features []string
		keys     int
	}{{nil, 0}, {[]string{"kids", "authentication", "unknown"}, 2}, {[]string{}, 0}} {
		if s.Load(test.features); s.Host != signpost.HostPlaceholder || len(s.Versions[0].Manifest.Endpoints[0].ContextObj) != test.keys {
			t.Errorf("%q: %+v", test.features, s.Versions)
		}
	}
	for _, host := range []string{"a.example", "b.example"} {
		if err := s.ServeFor(host); err != nil || s.Host != host || s.Versions[0].Manifest.Endpoints[0].URL != "https://"+host+"/v1/media" || s.Versions[0].Source != "feeds.yaml" {
			t.Errorf("%s: %+v, %v", host, s, err)
		}
	}
}
