package served_test

import (
	"fmt"
	"strings"
	"testing"

	"signpost"
	"signpost/internal/served"
	"signpost/internal/testkit"
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

// TestHost reads lines of the host of the address, or none, and the URLs of a manifest.
func TestHost(t *testing.T) {
	testkit.Cases(t, "testdata/hosts.golden", func(line string) string {
		own, urls, _ := strings.Cut(line, ":")
		return served.Host(manifestOf(strings.Fields(urls)...), own)
	})
}

func TestReopen(t *testing.T) {
	open := manifestOf("https://{{host}}:8443/x", "https://cdn.{{host}}/y", "https://other.example/{{id}}")
	resolved := testkit.Must(open.ForHost("a.example"))(t)
	want := []string{"https://a.example:8443/x", "https://cdn.a.example/y", "https://other.example/{{id}}"}
	testkit.Equal(t, "served", urlsOf(resolved), want)
	want[0] = open.Endpoints[0].URL // cdn.a.example may be an independent name
	reopened := served.Reopen(resolved, "a.example")
	testkit.Equal(t, "reopened", urlsOf(reopened), want)
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

// TestCompare reads lines of the URLs of a served manifest.
func TestCompare(t *testing.T) {
	definition := manifestOf("https://cdn.{{host}}/a", "https://{{host}}/b", "https://{{host}}/c", "https://other.example/d")
	testkit.Cases(t, "testdata/compare.golden", func(urls string) string {
		host, common := served.Compare(manifestOf(strings.Fields(urls)...), definition)
		return fmt.Sprintf("%d for %q", common, host)
	})
}
