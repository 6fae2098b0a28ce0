package cli

import (
	"context"
	"maps"
	"net"
	"net/http"
	"strings"
	"testing"

	"signpost/internal/testkit"
)

// TestStudioPanic checks that a panic in a handler of the page is logged.
func TestStudioPanic(t *testing.T) {
	t.Parallel()
	listener := testkit.Must(net.Listen("tcp", "127.0.0.1:0"))(t)
	var errOut testkit.Buffer
	c := CLI{Stderr: &errOut}
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error)
	go func() {
		ended <- c.serveStudio(ctx, listener, http.HandlerFunc(func(http.ResponseWriter, *http.Request) { panic("a defect") }))
	}()
	if _, err := http.Get("http://" + listener.Addr().String()); err == nil {
		t.Error("a request that panics gets a response")
	}
	stop()
	testkit.OK(t, <-ended)
	if got := errOut.String(); !strings.Contains(got, "a defect") || !strings.Contains(got, "results_test.go") {
		t.Errorf("the log is %q", got)
	}
}

// TestPairsOnLines checks that a line break separates pairs, that none is lost, and that each wins over a default.
func TestPairsOnLines(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]map[string]string{
		"id=7":                     {"id": "7", "y": "2"},
		"id=7\n":                   {"id": "7", "y": "2"},
		"id=7\nname=x,y=z\n":       {"id": "7", "name": "x", "y": "z"},
		"\"key=two\nlines\",id=7":  {"key": "two\nlines", "id": "7", "y": "2"},
		"id=7\nis not a pair here": nil,
	} {
		var p pairs
		p.Set(text)
		got, err := p.parse("--param", map[string]string{"id": "1", "y": "2"})
		if !maps.Equal(got, want) || (err == nil) != (want != nil) {
			t.Errorf("%q gives %q, %v", text, got, err)
		}
	}
}
