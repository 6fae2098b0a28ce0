package diff_test

import (
	"fmt"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"signpost"
	"signpost/diff"
)

// serviceCase is a change to services that are registered together, and the expected changes as "service version
// endpoint: rule: message".
type serviceCase struct {
	name     string
	old, new []signpost.Service
	want     []string
}

func service(base string, endpoints ...signpost.Endpoint) signpost.Service {
	return signpost.Service{BasePath: base, Versions: v1(endpoints...)}
}

func serviceCases() []serviceCase {
	const films, sport = "https://{{host}}/films/v1/feeds", "https://{{host}}/sport/v1/feeds"
	one := []signpost.Service{service("/films", feed(films))}
	two := []signpost.Service{service("/films", feed(films)), service("/sport", feed(sport))}
	return []serviceCase{
		{"nothing", two, []signpost.Service{two[1], two[0]}, nil},
		{"service removed", two, one, []string{"/sport  : service-removed: service removed, with all of its versions"}},
		{"service added", one, two, []string{"/sport  : service-added: service added"}},
		{"base path changed", two, []signpost.Service{two[0], service("/sports", feed(sport))}, []string{
			`/sport  : service-removed: service removed, with all of its versions; perhaps moved to "/sports", which has the same endpoints`,
			`/sports  : service-added: service added`}},
		{"endpoint changed", two, []signpost.Service{two[0], service("/sport", named(sport, "Sport"))},
			[]string{`/sport v1 ` + sport + `: name-changed: name changed from "Feed" to "Sport"`}},
		{"feeds of another service", two, []signpost.Service{two[0], service("/sport", feed(sport), formPost(films+"/sport"))}, []string{
			`/sport v1 ` + films + `/sport: endpoint-added: endpoint "Feed" added`,
			`/sport v1 ` + films + `/sport: feeds-taken-over: takes feeds over from "` + films + `" (v1 of /films): method "post" instead of "get"; mime_type "application/x-www-form-urlencoded" instead of "application/json"`}},
		{"feeds for a new service", one, []signpost.Service{one[0], service("/sport", formPost(films+"/sport"))}, []string{
			`/sport  : service-added: service added`,
			`/sport v1 ` + films + `/sport: feeds-taken-over: takes feeds over from "` + films + `" (v1 of /films): method "post" instead of "get"; mime_type "application/x-www-form-urlencoded" instead of "application/json"`}},
	}
}

func TestDiffServices(t *testing.T) {
	for _, test := range serviceCases() {
		t.Run(test.name, func(t *testing.T) {
			var got []string
			for _, c := range diff.Services(test.old, test.new) {
				got = append(got, fmt.Sprintf("%s %s %s: %s: %s", c.Service, c.Version, c.Endpoint, c.Rule, c.Message))
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("changes (-want +got):\n%s", diff)
			}
		})
	}
}

// The base path is part of every manifest's address. If it is unknown, there is nothing to report.
func TestDiffBasePath(t *testing.T) {
	at := func(base string) signpost.Service { return service(base, feed("https://{{host}}/feeds")) }
	changes := diff.Diff(at("/"), at("/feeds"))
	if len(changes) != 1 || changes[0].Rule != diff.ChangeBasePath || changes[0].Old != "/" || changes[0].New != "/feeds" || changes[0].Service != "" {
		t.Errorf("%+v", changes)
	}
	if changes := diff.Diff(at(""), at("/feeds")); len(changes) > 0 {
		t.Errorf("unknown before: %+v", changes)
	}
	if changes := diff.Diff(at("/feeds"), at("")); len(changes) > 0 {
		t.Errorf("unknown now: %+v", changes)
	}
}

// Manifests registered alongside can lose feeds as well, and can keep others from losing some.
func TestDiffWithOthers(t *testing.T) {
	const feeds, media = "https://{{host}}/feeds", "https://{{host}}/feeds/media"
	rules := func(old, new signpost.Service, others ...signpost.Version) string {
		var all []string
		for _, c := range diff.Diff(old, new, others...) {
			all = append(all, c.Rule)
		}
		return strings.Join(all, " ")
	}
	if got := rules(service("/"), service("/", formPost(media)), v1(feed(feeds))...); got != "endpoint-added feeds-taken-over" {
		t.Errorf("below another service: %s", got)
	}
	if got := rules(service("/"), service("/", formPost(media)), v1(formPost(feeds))...); got != "endpoint-added" {
		t.Errorf("below another service that is alike: %s", got)
	}
	old := service("/", feed(feeds))
	if got := rules(old, service("/", feed(feeds), formPost(media)), v1(formPost(media))...); got != "endpoint-added" {
		t.Errorf("where another service answers already: %s", got)
	}
	if got := rules(old, old, v1(formPost(media))...); got != "" {
		t.Errorf("nothing changed: %s", got)
	}
}

// A fingerprint depends neither on order nor on unrelated edits, and distinguishes changes.
func TestDiffFingerprints(t *testing.T) {
	random := rand.New(rand.NewPCG(7, 8))
	for _, test := range diffCases() {
		fingerprints := func(old, new []signpost.Version) map[string]string {
			all := make(map[string]string)
			for _, c := range diffVersions(old, new) {
				if !regexp.MustCompile(`^[a-f][0-9a-f]{11}$`).MatchString(c.Fingerprint) { // YAML reads 123456789012 and 1e2345678901 as numbers
					t.Fatalf("%s: fingerprint %q", test.name, c.Fingerprint)
				}
				text := c.Version + " " + c.Endpoint + " " + c.Rule + " " + c.Message
				if other, taken := all[c.Fingerprint]; taken {
					t.Errorf("%s: %s and %s have the same fingerprint", test.name, other, text)
				}
				all[c.Fingerprint] = text
			}
			return all
		}
		before := fingerprints(test.old, test.new)
		if strings.Contains(test.name, "order") || strings.Contains(test.name, "tie") {
			continue // these are about the order
		}
		for range 5 {
			old, new := cloneVersions(test.old), cloneVersions(test.new)
			seed := random.Uint64()
			for _, versions := range [][]signpost.Version{old, new} {
				// Both sides need the same order; otherwise there would be more changes.
				shuffle := rand.New(rand.NewPCG(seed, 0))
				weight := shuffle.Perm(256)
				rank := func(text string) int {
					sum := 0
					for _, c := range []byte(text) {
						sum = weight[(sum+int(c))%256]
					}
					return sum
				}
				for v := range versions {
					m := &versions[v].Manifest
					for i := range m.Endpoints {
						e := &m.Endpoints[i]
						e.Name += ", renamed on both sides"
						slices.SortStableFunc(e.ContextObj, func(a, b signpost.ContextItem) int { return rank(a.Key) - rank(b.Key) })
					}
					m.Endpoints = append(m.Endpoints, named("https://elsewhere.example/feed", "Elsewhere"))
					slices.SortStableFunc(m.Endpoints, func(a, b signpost.Endpoint) int { return rank(a.URL) - rank(b.URL) })
				}
			}
			after := fingerprints(old, new)
			for fingerprint, text := range before {
				if strings.Contains(text, "name-changed") || strings.Contains(text, "version-") || strings.Contains(text, "such as") {
					continue // renamed above, or a version that contains the renamed endpoint
				}
				if _, found := after[fingerprint]; !found {
					t.Errorf("%s: %s has another fingerprint after unrelated edits", test.name, text)
				}
			}
		}
	}
}
