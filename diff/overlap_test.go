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
		e.ContextObj = append(e.ContextObj, signpost.ContextItem{Key: "k", Type: signpost.ContextCtx, Required: random.IntN(2) == 0})
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

// wantBreaking checks what Diff promises: if a feed of the old state gets a different method, type or required key, or
// loses a key to another endpoint, a breaking change names its old or its new endpoint. Conversely, a change that says
// that feeds are taken over is true of at least one feed.
func wantBreaking(t testing.TB, old, new []signpost.Version) (brokenFeeds int) {
	t.Helper()
	before, after := match.NewIndex(old...), match.NewIndex(new...) // package match tests that they tell who answers
	changes := diffVersions(old, new)
	about := func(version, url string) bool {
		return slices.ContainsFunc(changes, func(c diff.Change) bool {
			return c.Level == diff.Breaking && c.Version == version && (c.Endpoint == url || c.Rule == diff.ChangeVersionRemoved)
		})
	}
	for _, feed := range feedsOf(slices.Concat(old, new)) {
		was, ok := before.Match(feed)
		is, answered := after.Match(feed)
		what := broken(was, is, new)
		if !ok || what == "" {
			continue
		}
		brokenFeeds++
		if !about(was.Version, was.Endpoint) && (!answered || !about(is.Version, is.Endpoint)) {
			t.Fatalf("%s: %s, and no breaking change says so\nfrom %s\nto   %s\n%s", feed, what, jsonOf(t, old), jsonOf(t, new), jsonOf(t, changes))
		}
	}
	for _, c := range changes {
		if c.Rule != diff.ChangeFeedsTakenOver && c.Rule != diff.ChangeContextShadowed {
			continue
		}
		feed := c.Endpoint
		if example := suchAs.FindStringSubmatch(c.Message); example != nil {
			feed = example[1]
		}
		feed = placeholder.ReplaceAllString(strings.ReplaceAll(feed, "…", "7"), "7")
		was, ok := before.Match(feed)
		is, _ := after.Match(feed)
		if !ok || is.Endpoint != c.Endpoint || is.Version != c.Version || broken(was, is, new) == "" {
			t.Fatalf("%s: %s, which is not so for %s\nfrom %s\nto   %s", c.Endpoint, c.Message, feed, jsonOf(t, old), jsonOf(t, new))
		}
	}
	return brokenFeeds
}

func TestDiffKeepsItsPromise(t *testing.T) {
	random := rand.New(rand.NewPCG(5, 6))
	brokenFeeds, taken := 0, 0
	for range 50 { // FuzzDiffKeepsItsPromise asks for more
		old := overlapping(random)
		new := cloneVersions(old)
		for range 1 + random.IntN(3) {
			new = edit(random, new)
		}
		brokenFeeds += wantBreaking(t, old, new)
		for _, c := range diffVersions(old, new) {
			if c.Rule == diff.ChangeFeedsTakenOver {
				taken++
			}
		}
	}
	if brokenFeeds < 800 || taken < 8 {
		t.Errorf("only %d feeds broke, and %d times feeds were taken over", brokenFeeds, taken)
	}
}

// FuzzDiffKeepsItsPromise looks for services and edits that the test above does not generate.
func FuzzDiffKeepsItsPromise(f *testing.F) {
	f.Add(uint64(1), uint64(2))
	f.Fuzz(func(t *testing.T, a, b uint64) {
		random := rand.New(rand.NewPCG(a, b))
		old := overlapping(random)
		wantBreaking(t, old, edit(random, edit(random, cloneVersions(old))))
	})
}
