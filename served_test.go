package signpost_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"signpost"
)

func urlsOf(m signpost.Manifest) []string {
	var urls []string
	for _, e := range m.Endpoints {
		urls = append(urls, e.URL)
	}
	return urls
}

func manifestOf(urls ...string) signpost.Manifest {
	var m signpost.Manifest
	for _, u := range urls {
		m.Endpoints = append(m.Endpoints, signpost.Endpoint{URL: u, ContextObj: []signpost.ContextItem{{Key: "k"}}})
	}
	return m
}

func TestServedHost(t *testing.T) {
	for _, test := range []struct {
		name, own string
		urls      []string
		want      string
	}{
		{"that of the address", "a.example", []string{"https://b.example/x", "https://b.example/y", "https://a.example/z"}, "a.example"},
		{"an address behind another name", "internal", []string{"https://b.example/x", "https://b.example/y", "https://a.example/z"}, "b.example"},
		{"the first of equals", "", []string{"https://b.example/x", "https://a.example/z"}, "b.example"},
		{"a port does not count", "", []string{"https://b.example:8443/x", "https://a.example/z", "https://b.example/x"}, "b.example"},
		{"IPv6", "", []string{"https://[2001:db8::1]:8443/x"}, "[2001:db8::1]"},
		{"still open", "a.example", []string{"https://a.example/x", "https://{{host}}/y"}, signpost.HostPlaceholder},
		{"no URL, but an address", "a.example", nil, "a.example"},
		{"no URL", "", nil, signpost.HostPlaceholder},
	} {
		if got := manifestOf(test.urls...).ServedHost(test.own); got != test.want {
			t.Errorf("%s: %q, not %q", test.name, got, test.want)
		}
	}
}

func TestForHostAndReopen(t *testing.T) {
	open := manifestOf("https://{{host}}:8443/x", "https://cdn.{{host}}/y", "https://other.example/{{id}}")
	served, err := open.ForHost("a.example")
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"https://a.example:8443/x", "https://cdn.a.example/y", "https://other.example/{{id}}"}
	if diff := cmp.Diff(want, urlsOf(served)); diff != "" {
		t.Errorf("served (-want +got):\n%s", diff)
	}
	want[0] = open.Endpoints[0].URL // cdn.a.example may be an independent name
	reopened := served.Reopen("a.example")
	if diff := cmp.Diff(want, urlsOf(reopened)); diff != "" {
		t.Errorf("reopened (-want +got):\n%s", diff)
	}
	served.Endpoints[0].ContextObj[0].Key = "changed"
	if open.Endpoints[0].ContextObj[0].Key != "k" || reopened.Endpoints[0].ContextObj[0].Key != "k" {
		t.Error("the copies share their context items")
	}
	for _, host := range []string{"", "a b", "a.example/x", `a"b`} {
		if _, err := open.ForHost(host); err == nil {
			t.Errorf("%q is taken for a host", host)
		}
	}
	if _, err := open.ForHost("[::1]"); err == nil {
		t.Error("an IP address is part of a name")
	}
}
