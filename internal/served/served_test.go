package served_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"signpost"
	"signpost/internal/served"
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

func TestHost(t *testing.T) {
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
		if got := served.Host(manifestOf(test.urls...), test.own); got != test.want {
			t.Errorf("%s: %q, not %q", test.name, got, test.want)
		}
	}
}

func TestReopen(t *testing.T) {
	open := manifestOf("https://{{host}}:8443/x", "https://cdn.{{host}}/y", "https://other.example/{{id}}")
	resolved, err := open.ForHost("a.example")
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"https://a.example:8443/x", "https://cdn.a.example/y", "https://other.example/{{id}}"}
	if diff := cmp.Diff(want, urlsOf(resolved)); diff != "" {
		t.Errorf("served (-want +got):\n%s", diff)
	}
	want[0] = open.Endpoints[0].URL // cdn.a.example may be an independent name
	reopened := served.Reopen(resolved, "a.example")
	if diff := cmp.Diff(want, urlsOf(reopened)); diff != "" {
		t.Errorf("reopened (-want +got):\n%s", diff)
	}
	resolved.Endpoints[0].ContextObj[0].Key = "changed"
	if open.Endpoints[0].ContextObj[0].Key != "k" || reopened.Endpoints[0].ContextObj[0].Key != "k" {
		t.Error("the copies share their context items")
	}
	for url, want := range map[string]string{
		"https://A.Example:80/v1": "https://{{host}}:80/v1",
		"https://b.example/v1":    "https://b.example/v1",
		"https://x.a.example/v1":  "https://x.a.example/v1",
	} {
		if got := served.Unresolve(url, "a.example"); got != want {
			t.Errorf("%s became %s", url, got)
		}
	}
}

func TestCompare(t *testing.T) {
	definition := manifestOf("https://cdn.{{host}}/a", "https://{{host}}/b", "https://{{host}}/c", "https://other.example/d")
	for _, test := range []struct {
		urls   []string
		host   string
		common int
	}{
		{[]string{"https://cdn.x.example/a"}, "x.example", 1},
		{[]string{"https://CDN.x.example/a", "https://y.example/b", "https://y.example/c", "https://other.example/d"}, "y.example", 3},
		{[]string{"https://cdn.192.0.2.1/a", "http://x.example/b", "https://cdn.x.example/b2"}, "", 0},
		{[]string{"https://{{host}}/b", "https://other.example/d"}, "", 2},
	} {
		if host, common := served.Compare(manifestOf(test.urls...), definition); host != test.host || common != test.common {
			t.Errorf("%q: %d for %q", test.urls, common, host)
		}
	}
}
