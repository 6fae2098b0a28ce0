package cli

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"signpost/client"
	"signpost/internal/testkit"
)

// TestCheckFlags checks that the flags of check have an effect. What check finds is tested in package client.
func TestCheckFlags(t *testing.T) {
	t.Parallel()
	answers := map[string]string{
		"/v1/endpoints-manifest": `{"endpoints": {
			"https://feeds.example.com/v1/feeds": {"name": "Feeds", "method": "get", "mime_type": "application/json"},
			"https://feeds.example.com/v1/series/{{id}}": {"name": "Series", "method": "get", "mime_type": "application/json"},
			"https://feeds.example.com/v1/odd": {"name": 5, "method": "GET", "cache": 1}}}`,
		"/v1/feeds":    `{"entry": [{"src": "https://feeds.example.com/v1/series/1"}, {"src": "https://feeds.example.com/v2/x"}, {"src": "https://sports.example.com/v1/y"}]}`,
		"/v1/series/1": `{"entry": []}`,
		"/v1/odd":      `{"entry": []}`,
	}
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("Access-Control-Allow-Origin", "*")
		if answers[r.URL.Path] == "" {
			w.WriteHeader(http.StatusNotFound)
		}
		fmt.Fprint(w, answers[r.URL.Path])
	}))
	defer s.Close()
	dir := t.TempDir()
	for name, text := range map[string]string{
		"empty.yaml":  "",
		"values.yaml": "params: {id: 9}\nendpoints: {'/v1/series/{{id}}': {params: {id: 1}}}\n",
		"entry.json":  `{"type": "object", "required": ["title"]}`,
		"feed.json":   `{"required": ["entry"], "properties": {"entry": {"items": {"$ref": "entry.json"}}}}`,
		"other.yaml":  "versions:\n  v2:\n    endpoints:\n      https://{{host}}/v2/x: {name: X, method: get, mime_type: application/json}\n",
		"sports.json": `{"endpoints": {"https://sports.example.com/v1": {"name": "Sports", "method": "get", "mime_type": "application/json"}}}`,
		"wide.json": `{"endpoints": {"https://feeds.example.com/v1": {"name": "All", "method": "get", "mime_type": "application/json",
			"context_obj": [{"key": "token", "type": "ctx", "required": true}]}}}`,
	} {
		testkit.Write(t, filepath.Join(dir, name), text)
	}
	testkit.Cases(t, filepath.Join("testdata", "check-flags.golden"), func(line string) string {
		check, flags, _ := strings.Cut(strings.ReplaceAll(line, "DIR", dir), " ")
		args := "check https://feeds.example.com/v1/endpoints-manifest --format json --send-to " + s.URL + " " + flags
		out, errOut, _ := runCLI(strings.Fields(args)...)
		var report client.Report
		testkit.OK(t, json.Unmarshal([]byte(out), &report))
		report.Results = slices.DeleteFunc(report.Results, func(r client.Result) bool { return r.Check != check })
		var answer strings.Builder
		printReport(&answer, report)
		return strings.ReplaceAll(answer.String()+errOut, dir, "DIR")
	})
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
