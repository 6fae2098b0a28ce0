package client

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"signpost"
	"signpost/contextkeys"
	"signpost/internal/httpurl"
)

// feeds is a feed service: a manifest, feeds that link to each other on the host of the request, and a log of requests.
type feeds struct {
	mux      *http.ServeMux
	manifest signpost.Manifest

	mu    sync.Mutex
	calls []string // path and query without ctx, in order of arrival
}

func newFeeds(endpoints ...signpost.Endpoint) *feeds {
	f := &feeds{mux: http.NewServeMux()}
	for i := range endpoints {
		endpoints[i].Name = fmt.Sprintf("Feed %d", i)
	}
	f.manifest = signpost.NewManifest(endpoints...)
	f.mux.HandleFunc("/v1/endpoints-manifest", func(w http.ResponseWriter, r *http.Request) {
		m, err := f.manifest.ForHost(r.Host)
		if err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		json.NewEncoder(w).Encode(m)
	})
	return f
}

// feed serves a JSON text at a path, with BASE replaced by the scheme and host of the request.
func (f *feeds) feed(path, text string, headers ...string) {
	f.handle(path, func(w http.ResponseWriter, r *http.Request) {
		headers := append([]string{jsonType, "Access-Control-Allow-Origin: *"}, headers...)
		answer(200, strings.ReplaceAll(text, "BASE", base(r)), headers...)(w, r)
	})
}

func (f *feeds) handle(path string, handler http.HandlerFunc) {
	f.mux.HandleFunc("GET "+path, func(w http.ResponseWriter, r *http.Request) {
		f.mu.Lock()
		f.calls = append(f.calls, identity(r.URL.RequestURI()))
		f.mu.Unlock()
		handler(w, r)
	})
}

// asked returns the requests received since the last call.
func (f *feeds) asked() []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	calls := f.calls
	f.calls = nil
	return calls
}

// base returns the prefix of links in a response: the service trusts forwarding headers.
func base(r *http.Request) string {
	scheme := "http"
	if r.TLS != nil || r.Header.Get("X-Forwarded-Proto") == "https" {
		scheme = "https"
	}
	return scheme + "://" + r.Host
}

// ways returns the different ways to reach the same service, each with the address of its manifest.
func (f *feeds) ways(t *testing.T) map[string]struct {
	address string
	opts    CheckOptions
} {
	t.Helper()
	plain := serveHTTP(t, f.mux)
	sendTo, err := httpurl.ParseOrigin(plain.URL)
	if err != nil {
		t.Fatal(err)
	}
	nowhere := Options{Transport: network(t, nil, nil)}
	return map[string]struct {
		address string
		opts    CheckOptions
	}{
		"plain http": {plain.URL + "/v1/endpoints-manifest", CheckOptions{}},
		"TLS":        {address, CheckOptions{Options: site(t, f.mux)}},
		"send to":    {address, CheckOptions{Options: nowhere, SendTo: sendTo}},
	}
}

// failures returns the failed results, without the host of the service.
func failures(report Report) []string {
	host, _, _ := strings.Cut(strings.TrimPrefix(strings.TrimPrefix(report.Address, "https://"), "http://"), "/")
	scheme, _, _ := strings.Cut(report.Address, "://")
	var failed []string
	for _, r := range report.Results {
		if r.Status == Failed {
			text := fmt.Sprintf("%s %s: %s\n%s", r.Check, r.Endpoint, r.Message, r.Hint)
			failed = append(failed, strings.ReplaceAll(text, scheme+"://"+host, "BASE"))
		}
	}
	return failed
}

// TestCheckFindsWhatIsBroken checks a service with one dead link, one endpoint with JSON of the wrong shape, and one endpoint that is
// only reachable through a link. The check names exactly these, however the service is reached.
func TestCheckFindsWhatIsBroken(t *testing.T) {
	f := newFeeds(
		endpoint("https://{{host}}/v1/feeds"),
		endpoint("https://{{host}}/v1/list"),
		endpoint("https://{{host}}/v1/series/{{series_id}}", items(tokenItem)),
	)
	f.feed("/v1/feeds", `{"entry": [
		{"title": "One", "content": {"src": "BASE/v1/series/1"}, "image": "BASE/img/1.jpg"},
		{"title": "Nine", "content": {"src": "BASE/v1/series/9"}},
		{"title": "Elsewhere", "link": "https://www.example.org/about"}]}`)
	f.feed("/v1/list", `[{"title": "One"}]`)
	f.handle("/v1/series/1", contextkeys.Middleware([]signpost.ContextItem{tokenItem})(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		answer(200, `{"entry": []}`, jsonType, "Access-Control-Allow-Origin: *", "Cache-Control: private")(w, r)
	})).ServeHTTP)
	for name, way := range f.ways(t) {
		t.Run(name, func(t *testing.T) {
			if name == "plain http" { // its URLs need the server's port
				f := withPort(t, f)
				way.address = f.URL + "/v1/endpoints-manifest"
			}
			f.asked()
			way.opts.Context = map[string]string{"token": secret}
			report := check(t, way.address, way.opts)
			failed := failures(report)
			want := []string{
				"feed BASE/v1/list: the body is JSON, but an array, not an object\nsend a JSON object, such as {\"entry\": []}",
				"links BASE/v1/feeds: \"BASE/v1/series/9\", at /entry/1/content/src, does not work: the response is 404 Not Found\ncorrect the link, or publish what it leads to",
			}
			if name == "plain http" {
				failed = failed[max(0, len(failed)-2):] // the first one says that studios require https
			}
			if fmt.Sprint(failed) != fmt.Sprint(want) {
				t.Errorf("got\n%s\nwant\n%s", strings.Join(failed, "\n"), strings.Join(want, "\n"))
			}
			var reached Result
			for _, r := range resultsOf(report, "probe") {
				if strings.Contains(r.Endpoint, "{{series_id}}") {
					reached = r
				}
			}
			expect(t, reached, `passed: 200 OK, application/json; reached as "`, "")
			expect(t, one(t, report, "feed-cors"), "passed: pages of every origin can read 3 feeds", "")
			expect(t, one(t, report, "feed-cache"), "passed: no feed that requires a context key is marked public", "")
			seen := make(map[string]bool)
			for _, call := range f.asked() {
				if seen[call] {
					t.Errorf("%s was requested twice", call)
				}
				seen[call] = true
			}
			for _, r := range report.Results {
				if strings.Contains(r.Message+r.Hint+r.Endpoint, secret) {
					t.Errorf("a result shows the secret: %+v", r)
				}
			}
		})
	}
}

// withPort serves the same feeds over plain http, with a manifest whose URLs include the server's port.
func withPort(t *testing.T, f *feeds) *httptest.Server {
	t.Helper()
	mux := http.NewServeMux()
	mux.Handle("/", f.mux)
	s := serveHTTP(t, mux)
	mux.HandleFunc("/v1/endpoints-manifest", func(w http.ResponseWriter, r *http.Request) {
		m := signpost.NewManifest(f.manifest.Endpoints...)
		for i := range m.Endpoints {
			m.Endpoints[i].URL = strings.Replace(m.Endpoints[i].URL, "https://{{host}}", s.URL, 1)
		}
		w.Header().Set("Content-Type", "application/json")
		json.NewEncoder(w).Encode(m)
	})
	return s
}
