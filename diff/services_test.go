package diff_test

import (
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"signpost"
	"signpost/diff"
	"signpost/internal/testkit"
)

// serviceCase is a change to services that are registered together, and beside others. The expected changes are in
// testdata/services.golden.
type serviceCase struct {
	name     string
	old, new []signpost.Service
	others   []signpost.Version
}

// changes compares the services or, if there is one, its two states.
func (c serviceCase) changes() []diff.Change {
	if len(c.old) == 1 && len(c.new) == 1 {
		return compare(c.old[0], c.new[0], c.others...)
	}
	changes, err := diff.Options{Registered: c.others}.Services(c.old, c.new)
	if err != nil {
		panic(err)
	}
	return changes
}

func services(all ...signpost.Service) []signpost.Service { return all }

func service(base string, endpoints ...signpost.Endpoint) signpost.Service {
	return signpost.Service{BasePath: base, Versions: v1(endpoints...)}
}

func serviceCases() []serviceCase {
	const films, sport, below = "https://{{host}}/films/v1/feeds", "https://{{host}}/sport/v1/feeds", "https://{{host}}/films/v1/feeds/sport"
	first, second := service("/films", feed(films)), service("/sport", feed(sport))
	one, two := services(first), services(first, second)
	deprecated := second
	deprecated.Deprecations = map[signpost.Part]*signpost.Deprecation{{Version: "v1"}: {Until: time.Date(2020, 6, 30, 0, 0, 0, 0, time.UTC)}}
	served := signpost.Service{Served: true, BasePath: "/elsewhere", Host: "a.example", Versions: v1(formPost("https://a.example/sport/v1/feeds"))}
	on := func(s signpost.Service, hosts ...string) signpost.Service {
		s.Hosts = hosts
		return s
	}
	manifest := func(urls ...string) signpost.Service {
		s := signpost.Service{Served: true, Versions: v1(feed("https://a.example/search"))}
		for _, u := range urls {
			s.Versions[0].Manifest.Endpoints = append(s.Versions[0].Manifest.Endpoints, feed(u))
		}
		return s
	}
	here, there := manifest("https://a.example/films"), manifest("https://a.example/sport")
	partner, post := "https://b.example/films", formPost("https://{{host}}/films/{{id}}")
	return []serviceCase{
		{"manifest at another base path", services(served), two, nil},
		{"feeds on a host where another service is new",
			services(on(service("/films", feed(partner), post), "a.example"), service("/sport")),
			services(on(service("/films", feed(partner), post), "a.example", "b.example"), service("/sport", formPost(partner+"/{{id}}/all"))), nil},
		{"manifests with a URL in common", services(here, there), services(there, here), nil},
		{"a manifest beside a definition that it may be of",
			services(manifest("https://a.example/films/v1/feeds"), first), services(second), nil},
		{"nothing", two, services(second, first), nil},
		{"service removed", two, one, nil},
		{"deprecated service removed", services(first, deprecated), one, nil},
		{"service added", one, two, nil},
		{"base path of one of two", two, services(first, service("/sports", feed(sport))), nil},
		{"endpoint changed", two, services(first, service("/sport", named(sport, "Sport"))), nil},
		{"feeds of another service", two, services(first, service("/sport", feed(sport), formPost(below))), nil},
		{"feeds of a service that declares hosts", services(on(first, "a.example"), second),
			services(on(first, "a.example"), service("/sport", feed(sport), formPost(below))), nil},
		{"feeds for a new service", one, services(first, service("/sport", formPost(below))), nil},

		{"base path", one, services(service("/", feed(films))), nil},
		{"base path unknown before", services(service("", feed(films))), one, nil},
		{"base path unknown before, of two", services(service("", feed(films), feed(sport))), two, nil},
		{"base path unknown now", one, services(service("", feed(films))), nil},

		{"below others", services(service("/")), services(service("/", formPost(below))), v1(feed(films))},
		{"below others that are alike", services(service("/")), services(service("/", formPost(below))), v1(formPost(films))},
		{"where others answer already", one, services(service("/films", feed(films), formPost(below))), v1(formPost(below))},
		{"nothing beside others", one, one, v1(formPost(below))},
	}
}

func TestDiffServices(t *testing.T) {
	var out strings.Builder
	for _, test := range serviceCases() {
		changes := test.changes()
		fmt.Fprintf(&out, "# %s\n%s\n", test.name, report(t, changes))
		for i := range test.others {
			test.others[i].Source = "as another command names it"
		}
		testkit.Equal(t, test.name+": fingerprints", identities(test.changes()), identities(changes))
	}
	testkit.Golden(t, filepath.Join("testdata", "services.golden"), out.String())
}

// Whoever else loses feeds to an endpoint has a change of its own.
func TestTakeoversOfSeveral(t *testing.T) {
	token := feed("https://{{host}}/v1/feeds/top")
	token.ContextObj = []signpost.ContextItem{{Key: "token", Type: signpost.ContextCtx}}
	other := token
	other.URL = "https://{{host}}/v1/feeds/new"
	post := formPost("https://{{host}}/v1/feeds/{{id}}")
	one := diffVersions(v1(token), v1(token, post))
	both := diffVersions(v1(token, other), v1(token, other, post))
	for _, id := range identities(one) {
		if !slices.Contains(identities(both), id) {
			t.Errorf("%s is not in %q", id, identities(both))
		}
	}
	if len(one) != 3 || len(both) != 5 {
		t.Errorf("%d and %d changes", len(one), len(both))
	}
}

// A fingerprint depends neither on order nor on unrelated edits, and distinguishes changes.
func TestDiffFingerprints(t *testing.T) {
	for _, test := range diffCases(t) {
		fingerprints := func(old, new []signpost.Version) map[string]string {
			all := make(map[string]string)
			for _, c := range diffVersions(old, new) {
				if !regexp.MustCompile(`^[a-f][0-9a-f]{11}$`).MatchString(c.Fingerprint) { // YAML reads 123456789012 and 1e2345678901 as numbers
					t.Fatalf("%s: fingerprint %q", test.input, c.Fingerprint)
				}
				text := c.Version + " " + c.Endpoint + " " + c.Rule + " " + c.Message
				if other, taken := all[c.Fingerprint]; taken {
					t.Errorf("%s: %s and %s have the same fingerprint", test.input, other, text)
				}
				all[c.Fingerprint] = text
			}
			return all
		}
		before := fingerprints(test.old, test.new)
		if strings.HasSuffix(test.input, aboutOrder) {
			continue
		}
		old, new := cloneVersions(test.old), cloneVersions(test.new)
		for _, v := range slices.Concat(old, new) {
			for i := range v.Manifest.Endpoints {
				v.Manifest.Endpoints[i].Name += ", renamed on both sides"
				slices.Reverse(v.Manifest.Endpoints[i].ContextObj)
			}
		}
		for _, versions := range [][]signpost.Version{old, new} {
			for i := range versions {
				m := &versions[i].Manifest
				m.Endpoints = append(m.Endpoints, named("https://elsewhere.example/feed", "Elsewhere"))
				slices.Reverse(m.Endpoints)
			}
		}
		after := fingerprints(old, new)
		for fingerprint, text := range before {
			if strings.Contains(text, "name-changed") || strings.Contains(text, "version-") || strings.Contains(text, "such as") {
				continue // renamed above, or a version that contains the renamed endpoint
			}
			if _, found := after[fingerprint]; !found {
				t.Errorf("%s: %s has another fingerprint after unrelated edits", test.input, text)
			}
		}
	}
}
