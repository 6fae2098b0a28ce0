package daemon_test

import (
	"fmt"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"

	"signpost/internal/testkit"
)

// hostile are requests with as much client-supplied data as possible, one for each %d.
var hostile = []string{
	"GET " + manifestV1 + " HTTP/1.1\r\nHost: mark%d.example.com\r\n",
	"GET /mark%d/v1/endpoints-manifest?mark HTTP/1.1\r\nHost: a.example.com\r\n",
	"MARK%d " + manifestV1 + " HTTP/1.1\r\nHost: a.example.com\r\n",
	"GET " + manifestV1 + " HTTP/1.1\r\nHost: mark..%d\r\n",
	"GET " + manifestV1 + " HTTP/1.1\r\nHost: mark%d.example.net\r\nUser-Agent: mark\r\nX-Request-Id: mark\r\n",
}

// series returns the names and labels of our metrics, one per line, without their values.
func series(t *testing.T, p *process) string {
	t.Helper()
	var all strings.Builder
	for line := range strings.Lines(mustFetch(t, p.admin+"/metrics").body) {
		if name, _, _ := strings.Cut(line, " "); strings.HasPrefix(name, "signpost_") && !strings.HasPrefix(name, "signpost_build_info") {
			fmt.Fprintln(&all, regexp.MustCompile(`revision="\w+"`).ReplaceAllString(name, "revision"))
		}
	}
	return all.String()
}

func TestMetrics(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path := filepath.Join(dir, "feeds.json")
	testkit.Write(t, path, feeds("one", 3))
	testkit.Write(t, filepath.Join(dir, "b.json"), strings.Replace(service("/b", "b", 1), "feeds", "b", 1))
	p := startServe(t, dir, "--allowed-host", "*.example.com,127.0.0.1", "--trusted-proxy", "10.0.0.0/8", "--feature", "geo-restriction")
	for name, want := range map[string]string{
		"sources": "[" + dir + "]", "features": "[geo-restriction]", "allowed_hosts": "[*.example.com 127.0.0.1]", "trusted_proxies": "[10.0.0.0/8]",
		"public_host": "", "cors_origin": "*",
	} {
		if got := fmt.Sprint(p.logged("settings")[0][name]); got != want {
			t.Errorf("setting %s is %v, want %v", name, got, want)
		}
	}
	if len(p.logged(openServer)) > 0 {
		t.Error("a server with allowed hosts logs a warning")
	}
	atStart := series(t, p)
	testkit.Golden(t, "testdata/series.txt", atStart) // every counter exists before the first request
	revision := p.get(t, manifestV1).Header.Get("Signpost-Revision")
	attack := func(times int) string {
		for i := range times {
			for _, request := range hostile {
				send(t, p, fmt.Sprintf(request, i)+"Connection: close\r\n\r\n")
			}
		}
		return series(t, p)
	}
	if before, after := attack(2), attack(10); before != after {
		t.Errorf("more requests make more metrics:\n%s\n%s", before, after)
	}
	if text := strings.ToLower(mustFetch(t, p.admin+"/metrics").body); strings.Contains(text, "mark") {
		t.Errorf("the metrics contain text from a request:\n%s", regexp.MustCompile(`.*mark.*`).FindString(text))
	}
	for name, want := range map[string]float64{
		`signpost_requests_total{base_path="/",status="200",version="v1"}`:                        13,
		`signpost_requests_total{base_path="/",status="405",version="v1"}`:                        12,
		`signpost_requests_total{base_path="/",status="400",version="v1"}`:                        12,
		`signpost_requests_total{base_path="/",status="421",version="v1"}`:                        12,
		`signpost_request_duration_seconds_count{base_path="/",version="v1"}`:                     49,
		`signpost_cache_requests_total{result="miss"}`:                                            11, // as many as hosts
		`signpost_cache_requests_total{result="hit"}`:                                             2,
		`signpost_cache_entries`:                                                                  11,
		`signpost_refused_hosts_total{reason="malformed"}`:                                        12,
		`signpost_refused_hosts_total{reason="not-allowed"}`:                                      12,
		`signpost_reloads_total{result="success"}`:                                                1,
		`signpost_last_reload_successful`:                                                         1,
		`signpost_definition_findings{severity="error"}`:                                          0,
		`signpost_definition_findings{severity="warning"}`:                                        0,
		fmt.Sprintf(`signpost_manifest_info{base_path="/",revision="%s",version="v1"}`, revision): 1,
	} {
		if got := p.metric(t, name); got != want {
			t.Errorf("%s is %v, want %v", name, got, want)
		}
	}
	for _, name := range []string{`signpost_response_bytes_total{base_path="/",version="v1"}`, `signpost_cache_bytes`, `signpost_last_reload_success_timestamp_seconds`} {
		if p.metric(t, name) == 0 {
			t.Errorf("%s is zero", name)
		}
	}

	// A reload that changes a revision and replaces a service, and one that fails.
	replace(t, path, strings.Replace(feeds("two", 3), "https:", "http:", 1))
	testkit.Write(t, filepath.Join(dir, "b.json"), strings.Replace(service("/c", "c", 1), "feeds", "c", 1))
	p.signal(t, syscall.SIGHUP)
	waitFor(t, "another revision", func() bool {
		revision := p.get(t, manifestV1).Header.Get("Signpost-Revision")
		return p.metric(t, fmt.Sprintf(`signpost_manifest_info{base_path="/",revision="%s",version="v1"}`, revision)) == 1 &&
			p.metric(t, `signpost_definition_findings{severity="warning"}`) == 1 && p.serves(t, "/c"+manifestV1, "c")
	})
	if now := series(t, p); strings.Contains(now, `"/b"`) || strings.Count(now, `"/c"`) != strings.Count(atStart, `"/b"`) {
		t.Errorf("the metrics do not follow the services:\n%s", now)
	}
	waitFor(t, "requests for the new service to be counted", func() bool {
		return p.metric(t, `signpost_requests_total{base_path="/c",status="200",version="v1"}`) > 0
	})
	replace(t, path, "{}")
	p.signal(t, syscall.SIGHUP)
	waitFor(t, "a failed reload", func() bool {
		return p.metric(t, `signpost_reloads_total{result="failure"}`) == 1 && p.metric(t, "signpost_last_reload_successful") == 0 &&
			p.metric(t, `signpost_definition_findings{severity="error"}`) > 0
	})
}

// TestRawRequests sends headers that are too large, and a body that is ambiguous. There is one response to each.
func TestRawRequests(t *testing.T) {
	t.Parallel()
	p := startServe(t)
	const limit, slack = 16 << 10, 4096 // net/http adds the slack
	const get = "GET " + manifestV1 + " HTTP/1.1\r\nHost: a.example.com\r\nConnection: close\r\n"
	for _, test := range []struct {
		name, request, want string
	}{
		{"large header", get + "X-Large: " + strings.Repeat("x", limit-100) + "\r\n\r\n", "200"},
		{"larger header", get + "X-Large: " + strings.Repeat("x", limit+slack) + "\r\n\r\n", "431"},
		{"many headers", get + strings.Repeat("X-Many: x\r\n", (limit+slack)/10) + "\r\n", "431"},
		{"OPTIONS * with two lengths, and what looks like a second request",
			"OPTIONS * HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\nGET /smuggled HTTP/1.1\r\nHost: b\r\n\r\n", ""},
	} {
		answer := send(t, p, test.request)
		if !strings.HasPrefix(answer, "HTTP/1.1 "+test.want) || strings.Count(answer, "HTTP/1.1 ") != 1 {
			t.Errorf("%s: the response is %.100q, want %s", test.name, answer, test.want)
		}
	}
}
