package diff_test

import (
	"fmt"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"testing"

	"signpost"
	"signpost/diff"
	"signpost/internal/testkit"
	"signpost/match"
)

var placeholder = regexp.MustCompile(`\{\{[a-z]+\}\}`)

// broken returns what breaks for a feed that one endpoint answered for and another one does now, or "" if nothing does.
func broken(was, is match.Match, after []signpost.Version) string {
	old, new := was.Descriptor, is.Descriptor
	if old.Method != new.Method || old.MIMEType != new.MIMEType {
		return "method or type" // or no endpoint at all
	}
	find := func(e signpost.Endpoint, key string) *signpost.ContextItem {
		for i, c := range e.ContextObj {
			if c.Key == key {
				return &e.ContextObj[i]
			}
		}
		return nil
	}
	for _, c := range new.ContextObj {
		if had := find(old, c.Key); c.Required && (had == nil || !had.Required) {
			return "required key " + c.Key
		}
	}
	for _, c := range old.ContextObj {
		if find(new, c.Key) != nil {
			continue
		}
		// A key that the endpoint itself no longer declares is reported as context-removed, which is notable.
		dropped := slices.ContainsFunc(after, func(v signpost.Version) bool {
			return v.Name == was.Version && slices.ContainsFunc(v.Manifest.Endpoints, func(e signpost.Endpoint) bool {
				return e.URL == old.URL && find(e, c.Key) == nil
			})
		})
		if !dropped {
			return "lost key " + c.Key
		}
	}
	return ""
}

// overlapping returns random versions whose URLs overlap in every possible way: prefixes, ends inside segments,
// placeholders against text, and ties.
func overlapping(random *rand.Rand) []signpost.Version {
	var versions []signpost.Version
	for v := range 1 + random.IntN(2) {
		m := signpost.Manifest{}
		for range 1 + random.IntN(4) {
			addOverlapping(random, &m)
		}
		versions = append(versions, signpost.Version{Name: fmt.Sprint("v", v+1), Manifest: m})
	}
	return versions
}

func addOverlapping(random *rand.Rand, m *signpost.Manifest) {
	e := signpost.Endpoint{URL: "https://h.example", Name: "Feed", Method: "get", MIMEType: signpost.MIMEJSON}
	words := []string{"a", "b", "ab", "a-b", "{{x}}", "{{y}}", "a{{x}}", "{{x}}b", "a-{{x}}", "{{x}}-b", "{{x}}-{{y}}", ""}
	for range 1 + random.IntN(3) {
		e.URL += "/" + words[random.IntN(len(words))]
	}
	if n := len(m.Endpoints); n > 0 && random.IntN(6) == 0 { // for the same feeds as another one
		e.URL = strings.NewReplacer("{{x}}", "{{y}}", "{{y}}", "{{x}}").Replace(m.Endpoints[random.IntN(n)].URL)
	}
	if slices.ContainsFunc(m.Endpoints, func(other signpost.Endpoint) bool { return other.URL == e.URL }) {
		return
	}
	describe(random, &e)
	at := random.IntN(len(m.Endpoints) + 1)
	m.Endpoints = slices.Insert(m.Endpoints, at, e)
}

// describe gives an endpoint one of a few random descriptors, so that many endpoints are alike.
func describe(random *rand.Rand, e *signpost.Endpoint) {
	e.ContextObj, e.Extra = nil, ""
	switch random.IntN(7) {
	case 0:
		e.Method = signpost.MethodPost
	case 1:
		e.MIMEType = signpost.MIMEFeed
	case 2:
		for _, key := range []string{"k", "l"}[:1+random.IntN(2)] {
			e.ContextObj = append(e.ContextObj, signpost.ContextItem{Key: key, Type: signpost.ContextCtx, Required: random.IntN(2) == 0})
		}
	case 3:
		e.Extra = `"observe_storage":true`
	}
}

// edit applies one random edit.
func edit(random *rand.Rand, versions []signpost.Version) []signpost.Version {
	if random.IntN(10) == 0 {
		name := fmt.Sprint("v", len(versions)+1)
		v := signpost.Version{Name: name}
		addOverlapping(random, &v.Manifest)
		return append(versions, v)
	}
	m := &versions[random.IntN(len(versions))].Manifest
	if len(m.Endpoints) == 0 {
		addOverlapping(random, m)
		return versions
	}
	i := random.IntN(len(m.Endpoints))
	switch random.IntN(6) {
	case 0:
		m.Endpoints = slices.Delete(m.Endpoints, i, i+1)
	case 1:
		random.Shuffle(len(m.Endpoints), func(i, j int) { m.Endpoints[i], m.Endpoints[j] = m.Endpoints[j], m.Endpoints[i] })
	case 2:
		describe(random, &m.Endpoints[i])
	default:
		addOverlapping(random, m)
	}
	return versions
}

// feedsOf returns feeds for the endpoints: placeholders filled in with text from other URLs or from none, with and
// without a suffix.
func feedsOf(versions []signpost.Version) []string {
	values := []string{"z", "a", "b", "ab", "a-b", "az", "zb", "a-z", "z-b", "a-z-b", "z-z", "abz"}
	suffixes := []string{"", "z", "b", "/", "/a", "/z", "?q=1", "-b"}
	var feeds []string
	for _, v := range versions {
		for _, e := range v.Manifest.Endpoints {
			for _, first := range values {
				for _, second := range []string{first, "z", "a"} {
					next := first
					feed := placeholder.ReplaceAllStringFunc(e.URL, func(string) string {
						value := next
						next = second
						return value
					})
					for _, suffix := range suffixes {
						feeds = append(feeds, feed+suffix)
					}
				}
			}
		}
	}
	slices.Sort(feeds)
	return slices.Compact(feeds)
}

var suchAs = regexp.MustCompile(`such as "([^"]*)"`)

// Accepting that an endpoint takes feeds from another one does not accept that they break in another way.
func TestFingerprintsOfTakeovers(t *testing.T) {
	taken := make(map[string]string) // what takes the feeds, by fingerprint
	for _, taker := range []string{"/a/b l", "/a/b k", "/a/b", "post /a/b k l", "/a/b k l m!", "/a/b k l n!"} {
		for _, c := range diffVersions(versions("v1: /a k l"), versions("v1: /a k l, "+taker)) {
			if other := taken[c.Fingerprint]; other != "" && c.Rule != diff.ChangeEndpointAdded {
				t.Errorf("%q and %q have the same fingerprint: %s", other, taker, c.Message)
			}
			taken[c.Fingerprint] = taker
		}
	}
}

// Neither does accepting that a service is removed accept that of another one, whose name is no part of the fingerprint.
func TestFingerprintsOfServices(t *testing.T) {
	was := services(service("/films", feed("https://{{host}}/films/v1/feeds")), service("/sport", feed("https://{{host}}/sport/v1/feeds")))
	changes := testkit.Must(diff.Options{}.Services(was, nil))(t)
	if len(changes) != 2 || changes[0].Fingerprint == changes[1].Fingerprint {
		t.Errorf("got %s", jsonOf(t, changes))
	}
}

// The host that goes is part of the fingerprint of that, and where it went is not.
func TestFingerprintsOfHosts(t *testing.T) {
	manifest := func(text string) signpost.Service {
		return signpost.Service{Served: true, Versions: versions("v1: " + text)}
	}
	var all []string
	for _, to := range []string{"=https://b.example/x, =https://q.example/y", "=https://c.example/x, =https://r.example/y"} {
		changes := compare(manifest("=https://a.example/x, =https://p.example/y"), manifest(to))
		all = append(all, fingerprintsOf(changes)...)
	}
	if len(all) != 4 || all[0] == all[1] || !slices.Equal(all[:2], all[2:]) {
		t.Errorf("got %q", all)
	}
}

// Accepting each change that is listed does not accept those that are not.
func TestManyFeedsTakenOver(t *testing.T) {
	old := make([]string, 101)
	for i := range old {
		old[i] = fmt.Sprintf("/a%d/{{x}}", i)
	}
	before := strings.Join(old, ", ")
	for n, texts := range map[int]string{100: strings.Join(old[:100], ", "), 101: before} {
		changes := diffVersions(versions("v1: "+texts), versions("v1: "+texts+", post /{{y}}/longer"))
		accepted := diff.Accepted{}
		for _, c := range changes {
			if strings.Contains(c.Message, "takes feeds over from \"") {
				accepted.Entries = append(accepted.Entries, &diff.Acceptance{Change: c.Fingerprint, Reason: "meant"})
			}
		}
		breaking := 0
		for _, c := range accepted.Apply(changes, "2030-01-01") {
			if c.Level == diff.Breaking && c.Accepted == nil {
				breaking++
			}
		}
		if len(accepted.Entries) != 100 || breaking != n-100 {
			t.Errorf("of %d endpoints that lose feeds, %d are listed, and %d changes break when these are accepted", n, len(accepted.Entries), breaking)
		}
	}
}
