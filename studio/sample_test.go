package studio_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"

	"signpost/internal/testkit"
	"signpost/studio"
)

// sample requests a sample response of the built-in example, and returns its feed.
func sample(t *testing.T, address, version, endpoint string, in object) (feed object) {
	t.Helper()
	answer := expect(t, address+"/api/send", object{"source": "example.yaml", "version": version, "endpoint": endpoint, "send": "sample",
		"modifiers": in["modifiers"], "context": in["context"], "params": in["params"]}, 200, object{"sample": true, "notes": []any{}})
	testkit.OK(t, json.Unmarshal([]byte(answer["body"].(string)), &feed))
	return feed
}

// TestSampleAnswers checks that a sample has as many entries as limit says, with titles and pictures, and that every
// control changes it.
func TestSampleAnswers(t *testing.T) {
	t.Parallel()
	address := serveExample(t)
	const collections = "https://{{host}}/v1/collections"
	titles := func(modifiers object) []string {
		feed := sample(t, address, "v1", collections, object{"modifiers": modifiers})
		var all []string
		for _, e := range feed["entry"].([]any) {
			all = append(all, e.(object)["title"].(string))
		}
		return all
	}
	for _, limit := range []int{0, 1, 6, 20, 100} {
		testkit.Equal(t, "entries", len(titles(object{"limit": fmt.Sprint(limit)})), limit)
	}
	six := titles(object{"limit": "6"})
	testkit.Equal(t, "the same request again", titles(object{"limit": "6"}), six)
	for name, modifiers := range map[string]object{
		"page": {"limit": "6", "page": "1"}, "language": {"limit": "6", "lang": "de"}, "search": {"limit": "6", "q": "island"}, "toggle": {"limit": "6", "hd": "true"},
	} {
		if other := titles(modifiers); cmp.Equal(six, other) {
			t.Errorf("%s does not change the response", name)
		}
	}
	for _, title := range titles(object{"limit": "6", "q": "island"}) {
		if !strings.Contains(title, "Island") {
			t.Errorf("a search for island finds %q", title)
		}
	}
	testkit.Equal(t, "distinct titles", len(slices.Compact(slices.Sorted(slices.Values(titles(object{"limit": "100"}))))), 100)

	// Entries lead to the other endpoints.
	feed := sample(t, address, "v1", collections, object{"modifiers": object{"limit": "1"}})
	id := get(t, feed, "entry", 0, "series_id").(string)
	testkit.Equal(t, "link", get(t, feed, "entry", 0, "link", "href"), any("https://localhost/v1/series/"+id+"/episodes"))
	feed = sample(t, address, "v1", "https://{{host}}/v1/media", object{"context": object{"example-login.access_token": plainText("anna")}})
	testkit.Equal(t, "received", get(t, feed, "received", "context_keys"), object{"example-login.access_token": "anna"})
}

// getPicture requests a picture of a response.
func getPicture(t *testing.T, address string, local any, picture string) (int, http.Header, string) {
	t.Helper()
	res, body := testkit.Get(t, nil, fmt.Sprintf("%s/api/picture?local=%v&url=%s", address, local, url.QueryEscape(picture)))
	return res.StatusCode, res.Header, body
}

type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(req *http.Request) (*http.Response, error) { return f(req) }

// TestPictures checks that pictures are loaded through the studio's server: raster types only, up to a size limit, and
// from this machine only if the feed is there, too. It asks for nothing outside this machine, even if the code is wrong.
func TestPictures(t *testing.T) {
	t.Parallel()
	const pixel = "\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR"
	var asked atomic.Int64
	bodies := map[string]string{
		"/feed": "{}", "/ok.png": pixel, "/script.png": "<script>alert(1)</script>", "/huge.png": pixel + strings.Repeat("\x00", 9<<20),
		"/vector.svg": `<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>`,
	}
	moved := map[string]string{"/moved.png": "/ok.png", "/loop.png": "/loop.png", "/out.png": "file:///etc/passwd"}
	service := answerWith(t, func(w http.ResponseWriter, r *http.Request) { // as JSON, whatever it is
		asked.Add(1)
		if to := moved[r.URL.Path]; to != "" {
			http.Redirect(w, r, to, http.StatusFound)
		} else if body := bodies[r.URL.Path]; body != "" {
			io.WriteString(w, body)
		} else {
			http.NotFound(w, r)
		}
	})
	_, address := serveFile(t, "versions: {v1: {endpoints: {"+service.URL+"/feed: {name: X, method: get, mime_type: application/json}}}}")
	_, answer := ask(t, address+"/api/send", object{"source": "feeds.yaml", "version": "v1", "endpoint": service.URL + "/feed"})
	for path, want := range map[string]int{
		"/ok.png": 200, "/moved.png": 200, "/script.png": 415, "/vector.svg": 415, "/huge.png": 502, "/loop.png": 502, "/out.png": 502, "/missing.png": 502,
	} {
		status, header, body := getPicture(t, address, answer["local"], service.URL+path)
		if status != want || status == 200 && header.Get("Content-Type") != "image/png" {
			t.Errorf("%s: status %d, not %d: %s", path, status, want, body)
		}
		checkHeaders(t, header)
	}

	for _, bad := range []string{"javascript:alert(1)", "file:///etc/passwd", ""} {
		status, _, _ := getPicture(t, address, true, bad)
		testkit.Equal(t, bad, status, 422)
	}

	// A feed from the internet must not make this machine send requests to itself, or to its network.
	asked.Store(0)
	for _, picture := range []string{service.URL + "/ok.png", strings.Replace(service.URL, "127.0.0.1", "localhost", 1) + "/ok.png", "http://[::1]:1/a.png"} {
		if status, _, body := getPicture(t, address, false, picture); status != 502 || !strings.Contains(body, "in its network") {
			t.Errorf("%s: status %d: %s", picture, status, body)
		}
	}
	testkit.Equal(t, "requests to the local service", asked.Load(), int64(0))
	for ip, public := range map[string]bool{
		"127.0.0.1": false, "::1": false, "0.0.0.0": false, "169.254.169.254": false, "10.0.0.1": false, "172.16.0.1": false, "192.168.1.1": false,
		"fd00::1": false, "fe80::1": false, "::ffff:10.0.0.1": false, "93.184.215.14": true, "2606:4700::1": true,
	} {
		testkit.Equal(t, ip, studio.IsPublic(netip.MustParseAddr(ip)), public)
	}
}
