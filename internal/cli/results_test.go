package cli

import (
	"bytes"
	"context"
	"maps"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"signpost/internal/testkit"
)

// TestLostResults checks that a command fails if its results cannot be written, whatever else it found.
func TestLostResults(t *testing.T) {
	t.Parallel()
	bad := filepath.Join(repo, "testdata", "err", "method.yaml")
	good := filepath.Join(t.TempDir(), "good.yaml")
	writeFile(t, good, starter)
	old := filepath.Join(t.TempDir(), "old.yaml")
	writeFile(t, old, strings.Replace(string(starter), "name: Collections", "name: Renamed", 1))
	spec, err := filepath.Glob(filepath.Join(repo, "openapi", "testdata", "*.yaml"))
	if err != nil || len(spec) == 0 {
		t.Fatalf("no OpenAPI document: %v", err)
	}
	for _, args := range [][]string{
		{"lint", bad},
		{"lint", bad, "--format", "json"},
		{"lint", bad, "--format", "github"},
		{"lint", good, "--format", "sarif"},
		{"render", good},
		{"diff", old, good},
		{"diff", old, good, "--format", "markdown"},
		{"match", good, "https://feeds.example.com/v1/collections"},
		{"import", spec[0]},
		{"init", "-"},
		{"schema"},
		{"version"},
		{"help"},
		{"lint", "--help"},
		{"completion", "bash"},
	} {
		full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
		if err != nil {
			t.Skip(err)
		}
		var errOut bytes.Buffer
		c := CLI{Stdin: strings.NewReader(""), Stdout: full, Stderr: &errOut, LookupEnv: func(string) (string, bool) { return "", false }}
		code := c.Main(args)
		if code != exitFailure || !strings.HasSuffix(errOut.String(), "signpost: write to standard output: no space left on device\n") {
			t.Errorf("%v exited with %d: %s", args, code, errOut.String())
		}
		full.Close()
	}
}

// TestStudioPanic checks that a panic in a handler of the page is logged.
func TestStudioPanic(t *testing.T) {
	t.Parallel()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
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
	if err := <-ended; err != nil {
		t.Error(err)
	}
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
