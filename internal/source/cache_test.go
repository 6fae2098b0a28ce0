package source

import (
	"context"
	"os"
	"strings"
	"testing"

	"github.com/opencontainers/go-digest"

	"signpost/internal/testkit"
)

// TestCache keeps what was read, and restores it. The same failure always has the same message, so that it is logged once.
func TestCache(t *testing.T) {
	dir := t.TempDir()
	source := func(address, text string) *Remote {
		return newRemote(address, dir, func(context.Context, state) (state, error) {
			return state{[]Document{{Name: address + "/a.yaml", Path: "a.yaml", Text: []byte(text), Sum: digest.FromBytes([]byte(text))}}, "1"}, nil
		})
	}
	a := source("oci://a.example.com/feeds:prod", "one")
	if ok, err := a.Restore(); ok || err != nil {
		t.Errorf("nothing was kept, but restored: %v, %v", ok, err)
	}
	if !a.Fetch(t.Context()) {
		t.Error("nothing was fetched")
	}
	testkit.OK(t, a.Keep())
	if ok, _ := a.Restore(); ok {
		t.Error("what nobody has read was kept")
	}
	a.Read()
	testkit.OK(t, a.Keep())
	b := source("oci://b.example.com/feeds:prod", "two")
	if ok, err := b.Restore(); ok || err != nil {
		t.Errorf("another source is restored: %v, %v", ok, err)
	}
	b.cache = a.cache
	if ok, err := b.Restore(); !ok || err != nil {
		t.Errorf("restored: %v, %v", ok, err)
	}
	documents, err := b.Read()
	if len(documents) != 1 || string(documents[0].Text) != "one" || documents[0].Name != b.name+"/a.yaml" || err != nil || b.Status().Version != "" {
		t.Errorf("restored %+v, %v, version %q", documents, err, b.Status().Version)
	}

	text := testkit.Must(os.ReadFile(a.cache))(t)
	for damaged, want := range map[string]string{strings.Replace(string(text), "one", "two", 1): "is damaged", "": "unexpected end"} {
		testkit.OK(t, os.WriteFile(a.cache, []byte(damaged), 0o600))
		if ok, err := a.Restore(); ok || err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("a damaged copy: %v, %v", ok, err)
		}
	}
	testkit.OK(t, os.Remove(a.cache))
	testkit.OK(t, os.Mkdir(a.cache, 0o700)) // blocks the path
	first, second := a.Keep(), a.Keep()
	if first == nil || second == nil || first.Error() != second.Error() || strings.Contains(first.Error(), temporary) {
		t.Errorf("%v, then %v", first, second)
	}
}
