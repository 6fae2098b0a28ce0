package source

import (
	"bytes"
	"os"
	"strings"
	"testing"

	"signpost/definition"
)

// TestCacheKeepsLargeArtifacts checks that the files of an artifact may be larger together than a single definition.
func TestCacheKeepsLargeArtifacts(t *testing.T) {
	c := cache{t.TempDir()}
	large := bytes.Repeat([]byte("x"), definition.MaxSize+2)
	if err := c.keep("oci://oci.example.com/feeds:prod", large); err != nil {
		t.Fatal(err)
	}
	if got, err := c.restore("oci://oci.example.com/feeds:prod"); err != nil || !bytes.Equal(got, large) {
		t.Errorf("%d of %d bytes were restored, %v", len(got), len(large), err)
	}
	if got, err := c.restore("oci://oci.example.com/other:prod"); err != nil || got != nil {
		t.Errorf("%d bytes of another source were restored, %v", len(got), err)
	}
}

// TestCacheFailsWithTheSameMessage checks that the same failure always has the same message, so that it is logged once.
func TestCacheFailsWithTheSameMessage(t *testing.T) {
	c := cache{t.TempDir()}
	if err := os.Mkdir(c.path("a"), 0o700); err != nil { // blocks the path
		t.Fatal(err)
	}
	first, second := c.keep("a", []byte("text")), c.keep("a", []byte("text"))
	if first == nil || second == nil || first.Error() != second.Error() || strings.Contains(first.Error(), temporary) {
		t.Errorf("%v, then %v", first, second)
	}
}
