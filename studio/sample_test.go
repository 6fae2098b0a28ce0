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

	"signpost/studio"
)

// sample requests a sample response of the built-in example, and returns its feed.
func sample(t *testing.T, address, version, endpoint string, in object) (answer, feed object) {
	t.Helper()
	status, answer := ask(t, address+"/api/send", object{"source": "example.yaml", "version": version, "endpoint": endpoint, "send": "sample",
		"modifiers": in["modifiers"], "context": in["context"], "params": in["params"]})
	if status != 200 || answer["sample"] != true || !cmp.Equal(answer["notes"], any([]any{})) {
		t.Fatalf("status %d: %v", status, answer)
	}
	if err := json.Unmarshal([]byte(answer["body"].(string)), &feed); err != nil {
		t.Fatal(err)
	}
	return answer, feed
}

// TestSampleAnswers checks that a sample has as many entries as limit says, with titles and pictures, and that every
// control changes it.
func TestSampleAnswers(t *testing.T) {
	t.Parallel()
	address := serveExample(t)
	const collections = "https://{{host}}/v1/collections"
	titles := func(modifiers object) []string {
		_, feed := sample(t, address, "v1", collections, object{"modifiers": modifiers})
		var all []string
		for _, e := range feed["entry"].([]any) {
			all = append(all, e.(object)["title"].(string))
		}
		return all
	}
	for _, limit := range []int{0, 1, 6, 20, 100} {
		if got := titles(object{"limit": fmt.Sprint(limit)}); len(got) != limit {
			t.Errorf("limit %d: %d entries", limit, len(got))
		}
	}
	six := titles(object{"limit": "6"})
	if again := titles(object{"limit": "6"}); !cmp.Equal(six, again) {
		t.Error("the same request gets a different response")
	}
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
	all := titles(object{"limit": "100"})
	if distinct := slices.Compact(slices.Sorted(slices.Values(all))); len(distinct) != 100 {
		t.Errorf("%d titles, of which %d are distinct", len(all), len(distinct))
	}

	// Entries lead to the other endpoints.
	_, feed := sample(t, address, "v1", collections, object{"modifiers": object{"limit": "1"}})
	link, id := get(t, feed, "entry", 0, "link", "href").(string), get(t, feed, "entry", 0, "series_id").(string)
	if link != "https://localhost/v1/series/"+id+"/episodes" {
		t.Errorf("link %q with series_id %q", link, id)
	}
	_, feed = sample(t, address, "v1", "https://{{host}}/v1/media", object{"context": object{"example-login.access_token": plainText("anna")}})
	equal(t, "received", get(t, feed, "received", "context_keys"), object{"example-login.access_token": "anna"})
}

// getPicture requests a picture of a response.
func getPicture(t *testing.T, address string, from any, picture string) (int, http.Header, []byte) {
	t.Helper()
	res, err := http.Get(fmt.Sprintf("%s/api/picture?from=%v&url=%s", address, from, url.QueryEscape(picture)))
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
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
	service := answerWith(t, func(w http.ResponseWriter, r *http.Request) {
		asked.Add(1)
		w.Header().Set("Content-Type", "image/png")
		switch r.URL.Path {
		case "/feed":
			w.Header().Set("Content-Type", "application/json")
			io.WriteString(w, "{}")
		case "/ok.png":
			w.Header().Set("Content-Type", "text/html") // whatever it is called
			io.WriteString(w, pixel)
		case "/script.png":
			io.WriteString(w, "<script>alert(1)</script>")
		case "/vector.svg":
			io.WriteString(w, `<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>`)
		case "/huge.png":
			io.WriteString(w, pixel+strings.Repeat("\x00", 9<<20))
		case "/moved.png":
			http.Redirect(w, r, "/ok.png", http.StatusFound)
		case "/loop.png":
			http.Redirect(w, r, "/loop.png", http.StatusFound)
		case "/out.png":
			http.Redirect(w, r, "file:///etc/passwd", http.StatusFound)
		default:
			http.NotFound(w, r)
		}
	})
	_, address := serveFile(t, "versions: {v1: {endpoints: {"+service.URL+"/feed: {name: X, method: get, mime_type: application/json}}}}")
	_, answer := ask(t, address+"/api/send", object{"source": "feeds.yaml", "version": "v1", "endpoint": service.URL + "/feed"})
	for path, want := range map[string]int{
		"/ok.png": 200, "/moved.png": 200, "/script.png": 415, "/vector.svg": 415, "/huge.png": 502, "/loop.png": 502, "/out.png": 502, "/missing.png": 502,
	} {
		status, header, body := getPicture(t, address, answer["pictures"], service.URL+path)
		if status != want || status == 200 && header.Get("Content-Type") != "image/png" {
			t.Errorf("%s: status %d, not %d: %s", path, status, want, body)
		}
		checkHeaders(t, header)
	}

	for _, bad := range []string{"javascript:alert(1)", "file:///etc/passwd", ""} {
		status, _, _ := getPicture(t, address, "local", bad)
		equal(t, bad, status, 422)
	}

	// A feed from the internet must not make this machine send requests to itself, or to its network.
	asked.Store(0)
	for _, picture := range []string{service.URL + "/ok.png", strings.Replace(service.URL, "127.0.0.1", "localhost", 1) + "/ok.png", "http://[::1]:1/a.png"} {
		if status, _, body := getPicture(t, address, "public", picture); status != 502 || !strings.Contains(string(body), "in its network") {
			t.Errorf("%s: status %d: %s", picture, status, body)
		}
	}
	equal(t, "requests to the local service", asked.Load(), int64(0))
	for ip, public := range map[string]bool{
		"127.0.0.1": false, "::1": false, "0.0.0.0": false, "169.254.169.254": false, "10.0.0.1": false, "172.16.0.1": false, "192.168.1.1": false,
		"fd00::1": false, "fe80::1": false, "::ffff:10.0.0.1": false, "93.184.215.14": true, "2606:4700::1": true,
	} {
		equal(t, ip, studio.IsPublic(netip.MustParseAddr(ip)), public)
	}
	for origin, want := range map[string]string{
		"https://feeds.example.com": "public", "http://localhost:3000": "local", "http://192.168.1.1": "local", "http://[::1]:1": "local", "http://tv.local": "local",
	} {
		equal(t, origin, studio.PicturesOf(origin), want)
	}
}
