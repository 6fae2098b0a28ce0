package cli

import (
	"context"
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
	if got := errOut.String(); !strings.Contains(got, "a defect") || !strings.Contains(got, "studio_test.go") {
		t.Errorf("the log is %q", got)
	}
}
