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
	expect(t, address+"/api/send", object{"source": "example.yaml", "version": "v1", "endpoint": collections, "send": "sample", "modifiers": object{"limit": "-1"}},
		200, object{"status": 400.0, "notes": []any{}})
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
func getPicture(t *testing.T, address string, feed any, picture string) (int, http.Header, string) {
	t.Helper()
	res, body := testkit.Get(t, nil, fmt.Sprintf("%s/api/picture?feed=%v&url=%s", address, feed, url.QueryEscape(picture)))
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
		status, header, body := getPicture(t, address, answer["to"], service.URL+path)
		if status != want || status == 200 && header.Get("Content-Type") != "image/png" {
			t.Errorf("%s: status %d, not %d: %s", path, status, want, body)
		}
		checkHeaders(t, header)
	}

	for _, bad := range []string{"javascript:alert(1)", "file:///etc/passwd", ""} {
		status, _, _ := getPicture(t, address, service.URL, bad)
		testkit.Equal(t, bad, status, 422)
	}

	// A feed must not make this machine send requests to itself, or to its network, unless it is from there itself.
	asked.Store(0)
	elsewhere := strings.Replace(service.URL, "127.0.0.1", "127.0.0.2", 1)
	for _, feed := range []string{"", "https://feeds.example.com", elsewhere} {
		status, _, _ := getPicture(t, address, feed, service.URL+"/ok.png")
		testkit.Equal(t, "status for a feed at "+feed, status, 502)
	}
	for _, picture := range []string{service.URL + "/ok.png", strings.Replace(service.URL, "127.0.0.1", "localhost", 1) + "/ok.png", "http://[::1]:1/a.png"} {
		if status, _, body := getPicture(t, address, "https://feeds.example.com", picture); status != 502 || !strings.Contains(body, "in its network") {
			t.Errorf("%s: status %d: %s", picture, status, body)
		}
	}
	testkit.Equal(t, "requests to the local service", asked.Load(), int64(0))
	const feed = "feeds.example.com"
	for public, ips := range map[bool]string{
		true: "93.184.215.14 8.8.8.8 100.63.255.255 100.128.0.1 198.17.0.1 198.20.0.1 192.0.1.1 223.255.255.1 2606:4700::1 2a00:1450::1",
		false: "127.0.0.1 ::1 0.0.0.0 0.1.2.3 :: 169.254.169.254 10.0.0.1 172.16.0.1 172.31.0.1 192.168.1.1 100.64.0.1 100.127.0.1 192.0.0.1 192.0.0.170 " +
			"192.0.2.1 192.88.99.1 198.18.0.1 198.19.255.1 198.51.100.1 203.0.113.1 224.0.0.1 240.0.0.1 255.255.255.255 fd00::1 fe80::1 fe80::1%eth0 " +
			"ff02::1 fec0::1 ::ffff:10.0.0.1 ::ffff:127.0.0.1 ::127.0.0.1 64:ff9b::7f00:1 64:ff9b:1::1 100::1 2001::1 2001:db8::1 2002:7f00:1::1 3fff::1 5f00::1",
	} {
		for _, ip := range strings.Fields(ips) {
			at := netip.MustParseAddr(ip)
			testkit.Equal(t, ip, studio.MayLoad(feed, "pictures.example.net", at), public)
			testkit.Equal(t, ip+" without a feed", studio.MayLoad("", "", at), public)
			testkit.Equal(t, ip+", the feed's own host", studio.MayLoad(feed, "Feeds.Example.com.", at), true)
		}
	}
	loopback := netip.MustParseAddr("127.0.0.1")
	testkit.Equal(t, "another name of the feed's host", studio.MayLoad("localhost", "127.0.0.1", loopback), false)
	testkit.Equal(t, "IPv6", studio.MayLoad("[::1]", "::1", netip.MustParseAddr("::1")), true)
}
