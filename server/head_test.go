package server

import (
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"signpost"
)

// TestExtendedHeadersAreNotShared checks that extending a header value, which all responses share, does not affect the
// next response.
func TestExtendedHeadersAreNotShared(t *testing.T) {
	f := newField("Vary", "Accept-Encoding")
	theirs := make([]string, 1, 4)
	theirs[0] = "Origin"
	first, second := http.Header{"Vary": theirs}, http.Header{}
	f.set(first)
	f.set(second)
	second.Add("Vary", "Cookie")
	f.set(second) // the value is already present
	want := []http.Header{{"Vary": {"Origin", "Accept-Encoding"}}, {"Vary": {"Accept-Encoding", "Cookie"}}}
	if diff := cmp.Diff(want, []http.Header{first, second}); diff != "" || len(f.values) != 1 || theirs[:2][1] != "" {
		t.Errorf("headers (-want +got):\n%s, and the field has %q", diff, f.values)
	}
}

// TestHeadsDoNotShareMemory derives two heads from one, with all amounts of spare capacity after the common part.
func TestHeadsDoNotShareMemory(t *testing.T) {
	for length := range 100 {
		common := head{}.with(newField("Cache-Control", strings.Repeat("a", length)))
		plain, gzip := common.with(newField("Etag", "plain")), common.with(newField("Etag", "gzip"))
		if !strings.HasSuffix(string(plain.lines), "Etag: plain\r\n") || plain.fields[1].values[0] != "plain" {
			t.Fatalf("after %d bytes: %q and %q", length, plain.lines, gzip.lines)
		}
	}
}

// TestUnchangedManifestsStayInTheCache checks that cached manifests of unchanged services survive a change of others.
func TestUnchangedManifestsStayInTheCache(t *testing.T) {
	events := make(chan Event, 1)
	h := newHandler(t, Options{Observe: func(_ *http.Request, e Event) { events <- e }})
	service := func(path, name string) Service {
		return Service{BasePath: path, Versions: map[string]*signpost.Template{"v1": compile(t, name)}}
	}
	address := listen(t, h)
	get := func(path, name, cache string) {
		t.Helper()
		a := send(t, address, "GET", path+manifestPath, "Host: feeds.example.com")
		wantManifest(t, a, compile(t, name), "feeds.example.com")
		if e := nextEvent(t, events); e.Cache != cache {
			t.Errorf("%s is a %s, want a %s", path, e.Cache, cache)
		}
	}
	publish := func(services ...Service) {
		t.Helper()
		if err := h.Publish(services...); err != nil {
			t.Fatal(err)
		}
		checkManifests(t, h)
	}
	publish(service("/a", "a"), service("/b", "b"), service("/c", "c"))
	get("/a", "a", CacheMiss)
	get("/b", "b", CacheMiss)
	get("/c", "c", CacheMiss)
	publish(service("/a", "a"), service("/b", "changed"), service("/d", "c")) // compiled again, as in a reload
	if entries, _ := h.CacheSize(); entries != 1 {
		t.Errorf("%d entries, want only that of /a", entries)
	}
	get("/a", "a", CacheHit)
	get("/b", "changed", CacheMiss)
	get("/d", "c", CacheMiss)
	publish(service("/a", "c"), service("/b", "b"))
	get("/a", "c", CacheMiss)
	get("/b", "b", CacheMiss)
	publish()
	if entries, bytes := h.CacheSize(); entries != 0 || bytes != 0 {
		t.Errorf("%d entries with %d bytes of removed services are left", entries, bytes)
	}
}
