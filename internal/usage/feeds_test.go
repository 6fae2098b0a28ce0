package usage

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"signpost"
	"signpost/internal/testkit"
)

// TestLocate compares what is remembered of feeds with what package match says about each.
func TestLocate(t *testing.T) {
	t.Parallel()
	for seed := range uint64(300) {
		random := rand.New(rand.NewPCG(seed, 39))
		words := []string{"/", "/", "a", "b", "ab", "aab", "7", "xyz", "é", "-", "/{{x}}", "{{x}}", "{{x}}-{{y}}", "?q="}
		if seed%2 == 0 { // without text beside placeholders
			words = []string{"/ab", "/aab", "/xyz", "/é", "/{{x}}", "/{{x}}", "/", "?q="}
		}
		var urls []signpost.Endpoint
		for range 1 + random.IntN(12) {
			url := "https://{{host}}"
			for range 1 + random.IntN(6) {
				url += words[random.IntN(len(words))]
			}
			if _, err := signpost.ParseURL(url); err == nil {
				urls = append(urls, testkit.FullEndpoint(url))
			}
		}
		c := NewCounter([]signpost.Service{{Versions: []signpost.Version{{Manifest: signpost.Manifest{Endpoints: urls}}}}}, nil)
		w := c.workers[0]
		for range 300 {
			path := "/"
			for range random.IntN(8) {
				path += []string{"/", "/", "a", "b", "ab", "aab", "7", "zz", "qr", "0", "é", "-"}[random.IntN(12)]
			}
			query := []string{"", "q=", "q=a"}[random.IntN(3)]
			for _, host := range []string{"", "a.example"} {
				r := request{host: []byte(host), path: []byte(path), query: []byte(query)}
				if got, want := w.locate(r), c.find(r); got != want {
					t.Fatalf("%s?%s on %q: %d, and match has %d\n%s", path, query, host, got, want, fmt.Sprint(urls))
				}
			}
		}
	}
}
