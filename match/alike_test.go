package match_test

import (
	"maps"
	"strings"
	"testing"

	"signpost"
	"signpost/match"
)

// Hosts are alike if nothing can tell them apart: who is on them, and what other URLs name.
func TestAlike(t *testing.T) {
	for _, test := range []struct {
		name     string
		versions []signpost.Version
		want     string // hosts, each with the one to look at instead
	}{
		{"one service", versions("a.example b.example c.example: https://{{host}}/f"), "b.example=a.example c.example=a.example"},
		{"two services", versions("a.example b.example c.example: https://{{host}}/f", "b.example c.example: https://{{host}}/g"),
			"c.example=b.example"},
		{"a host is written out", versions("a.example b.example c.example: https://{{host}}/f https://B.example:8443/g"),
			"c.example=a.example"},
		{"{{host}} is a part", versions("a.example b.example: https://{{host}}/f https://cdn.{{host}}/g"),
			"b.example=a.example cdn.b.example=cdn.a.example"},
		{"of a host that is written out", versions("a.example b.example: https://cdn.{{host}}/g https://cdn.b.example/h"), ""},
		{"of a host that is declared", versions("a.example b.example cdn.b.example: https://{{host}}/f https://cdn.{{host}}/g"), ""},
		{"of hosts that are all declared", versions("a.example b.example cdn.a.example cdn.b.example: https://{{host}}/f https://cdn.{{host}}/g"), ""},
		{"into which not all fit", versions("a.example 192.0.2.1 192.0.2.2: https://cdn.{{host}}/g"), ""},
		{"an address", versions("a.example 192.0.2.1: https://{{host}}/g"), "192.0.2.1=a.example"},
		{"no hosts", versions(": https://{{host}}/f"), ""},
	} {
		want := make(map[string]string)
		for _, pair := range strings.Fields(test.want) {
			host, other, _ := strings.Cut(pair, "=")
			want[host] = other
		}
		if got := match.Alike(test.versions...); !maps.Equal(got, want) {
			t.Errorf("%s: %v, want %v", test.name, got, want)
		}
	}
}

// versions returns versions that are given by their hosts and URLs.
func versions(texts ...string) []signpost.Version {
	var all []signpost.Version
	for _, text := range texts {
		hosts, urls, _ := strings.Cut(text, ": ")
		v := signpost.Version{Hosts: strings.Fields(hosts)}
		for _, url := range strings.Fields(urls) {
			v.Manifest.Endpoints = append(v.Manifest.Endpoints, signpost.Endpoint{URL: url})
		}
		all = append(all, v)
	}
	return all
}
