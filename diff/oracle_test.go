package diff_test

import (
	"cmp"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"signpost"
	"signpost/diff"
	"signpost/match"
)

// The oracle renders everything that is registered, before and after, for every host that matters, and compares what each
// feed gets: its endpoint, method, content type and keys. It knows nothing of how diff finds that out.

// unknownHost is the host of everything that declares none.
const unknownHost = "x.example"

// world is what is registered in a studio that got its manifests from one host.
type world struct {
	name          string
	before, after []signpost.Version  // rendered
	written       map[string][]string // URLs as definitions have them
	faulty        bool                // the definition before had errors
}

// situation is a change of a service beside others.
type situation struct {
	old, new signpost.Service
	others   []signpost.Version
}

// worlds returns the worlds in which a change of definitions is seen. On the unknown host, one service that declares its
// hosts is a guest of those that declare none.
func (s situation) worlds() []world {
	hosts := slices.Concat(s.old.Hosts, s.new.Hosts)
	guests := []string{""}
	isOpen := func(e signpost.Endpoint) bool { return strings.Contains(e.URL, signpost.HostPlaceholder) }
	isUndeclared := func(v signpost.Version) bool {
		return len(v.Hosts) == 0 && slices.ContainsFunc(v.Manifest.Endpoints, isOpen)
	}
	if len(hosts) == 0 {
		for _, other := range s.others {
			guests = append(guests, other.Source)
		}
	}
	if len(hosts) == 0 || slices.ContainsFunc(s.others, isUndeclared) {
		hosts = append(hosts, unknownHost)
	}
	hosts = slices.Compact(slices.Sorted(slices.Values(hosts)))
	var all []world
	for _, host := range hosts {
		for _, guest := range guests {
			w := world{name: host, written: make(map[string][]string), faulty: true}
			was, is := []string{host}, []string{host}
			if host == unknownHost { // which is one of those declared
				is = hosts
				if len(s.old.Hosts) > 0 {
					was = append(was, s.old.Hosts...)
				} else {
					was = hosts
				}
			}
			w.before, w.after = w.render(s.old.Versions, was...), w.render(s.new.Versions, is...)
			w.addOthers(s.others, unknownHost, guest)
			all = append(all, w)
		}
		if s.old.Hosts.Has(host) && len(s.new.Hosts) > 0 && !s.new.Hosts.Has(host) { // nothing answers there any more
			w := world{name: host, written: make(map[string][]string)}
			w.before = w.render(s.old.Versions, host)
			w.addOthers(s.others, unknownHost, "")
			all = append(all, w)
		}
	}
	if len(s.old.Hosts) > 0 && len(s.new.Hosts) > 0 { // a studio that has it from all hosts, and gets it from those that came, too
		w := world{name: s.new.Hosts[0], written: make(map[string][]string), faulty: true}
		w.before = w.render(s.old.Versions, s.old.Hosts...)
		w.after = w.render(s.new.Versions, slices.Compact(slices.Sorted(slices.Values(slices.Concat(s.old.Hosts, s.new.Hosts))))...)
		w.addOthers(s.others, unknownHost, "")
		all = append(all, w)
	}
	return all
}

// addOthers registers the other services on their hosts. Those that declare none, and the guest, are on the unknown one.
func (w *world) addOthers(others []signpost.Version, unknown, guest string) {
	for _, other := range others {
		hosts := slices.Clone(other.Hosts)
		if len(hosts) == 0 || other.Source == guest {
			hosts = append(hosts, unknown)
		}
		rendered := w.render([]signpost.Version{other}, hosts...)
		w.before, w.after = append(w.before, rendered...), append(w.after, rendered...)
	}
}

// render fills in each of the hosts. Of two URLs that match equally well, the one that comes first in its file answers.
func (w *world) render(versions []signpost.Version, hosts ...string) []signpost.Version {
	versions = cloneVersions(versions)
	for i, v := range versions {
		versions[i].Manifest.Endpoints = nil
		for _, e := range v.Manifest.Endpoints {
			written := e.URL
			for j, host := range hosts {
				e.URL = strings.ReplaceAll(written, signpost.HostPlaceholder, host)
				if e.URL != written || j == 0 {
					w.written[e.URL] = append(w.written[e.URL], e.URL, written)
					versions[i].Manifest.Endpoints = append(versions[i].Manifest.Endpoints, e)
				}
			}
		}
	}
	return versions
}

// collides reports whether a version has a URL twice, which no host can serve.
func collides(versions []signpost.Version) bool {
	for _, v := range versions {
		seen := make(map[string]bool)
		for _, e := range v.Manifest.Endpoints {
			if seen[e.URL] {
				return true
			}
			seen[e.URL] = true
		}
	}
	return false
}

// wantCollisions checks that a version whose URLs become the same on a host has no manifest there, which lint reports if the
// host is declared and diff if it is new. It reports whether there are such URLs.
func wantCollisions(t testing.TB, s situation, changes []diff.Change, explain string) bool {
	t.Helper()
	var collided bool
	for _, host := range []string{"a.example", "b.example", unknownHost} {
		w := world{name: host, written: make(map[string][]string)}
		exists := func(versions []signpost.Version) bool {
			all := true
			for i, v := range versions {
				_, err := v.Manifest.ForHost(host)
				isTwice := collides(w.render(versions[i:i+1], host))
				if isTwice != (err != nil) || isTwice != (len(v.Manifest.ValidateHosts(host)) > 0) {
					t.Fatalf("%s on %s: one URL twice: %v, and the error is %v\n%s", v.Name, host, isTwice, err, explain)
				}
				all = all && !isTwice
			}
			return all
		}
		was, is := exists(s.old.Versions), exists(s.new.Versions)
		isHost := func(c diff.Change) bool {
			return c.Rule == diff.ChangeHost && c.Level == diff.Breaking && c.Old == host
		}
		if was && !is && s.old.Hosts.Has(host) && !slices.ContainsFunc(changes, isHost) {
			t.Fatalf("the manifest for %s is gone, and no change says so\n%s\n%s", host, explain, jsonOf(t, changes))
		}
		collided = collided || !was || !is
	}
	return collided
}

// wantAll checks that there is a change about every endpoint whose descriptor differs on the host of the world, or that is
// new or gone.
func (w *world) wantAll(t testing.TB, old, new []signpost.Version, changes []diff.Change, explain string) {
	t.Helper()
	was, is := w.descriptors(t, old), w.descriptors(t, new)
	for id := range maps.Keys(was) {
		is[id] += "" // so that all are in it
	}
	for id, text := range is {
		told := func(c diff.Change) bool {
			isWhole := c.Endpoint == "" && (c.Version == id.version || c.Rule == diff.ChangeHost)
			return isWhole || c.Version == id.version && slices.Contains(w.written[id.url], c.Endpoint)
		}
		if was[id] != text && !slices.ContainsFunc(changes, told) {
			t.Fatalf("%v on %s was %q, is %q, and no change says so\n%s\n%s", id, w.name, was[id], text, explain, jsonOf(t, changes))
		}
	}
}

type versionURL struct{ version, url string }

func (w *world) descriptors(t testing.TB, versions []signpost.Version) map[versionURL]string {
	all := make(map[versionURL]string)
	for _, v := range w.render(versions, w.name) {
		for _, e := range v.Manifest.Endpoints {
			all[versionURL{v.Name, e.URL}] = jsonOf(t, e)
		}
	}
	return all
}

// wantFingerprints checks that the same change has the same fingerprints as definitions, as a directory, as manifests for
// some host, and as a manifest and a definition.
func wantFingerprints(t testing.TB, old, new signpost.Version, explain string) {
	t.Helper()
	w := world{name: "moved.example", written: make(map[string][]string)}
	old.Errors = nil
	states := func(versions ...signpost.Version) (definition, manifest signpost.Service) {
		return signpost.Service{Versions: versions}, signpost.Service{Served: true, Host: w.name, Versions: w.render(versions, w.name)}
	}
	fingerprints := func(changes []diff.Change) []string {
		return fingerprintsOf(changes, diff.ChangeHostsUnknown) // which is nothing that manifests have
	}
	was, registered := states(old)
	is, renewed := states(new)
	want := fingerprints(compare(was, is))
	inDirectory := func(s signpost.Service) []signpost.Service {
		return services(service("/other"), withBasePath(s, "/films"))
	}
	directories, err := diff.Options{}.Services(inDirectory(was), inDirectory(is))
	if err != nil || !slices.Equal(fingerprints(directories), want) {
		t.Fatalf("other fingerprints for directories: %s\n%s\n%s, %v", explain, jsonOf(t, compare(was, is)), jsonOf(t, directories), err)
	}
	isMove := func(c diff.Change) bool { return c.Rule == diff.ChangeHost }
	if slices.ContainsFunc(compare(registered, renewed), isMove) {
		return // to a partner, with the same paths: only manifests are taken to have moved
	}
	asFile := func(s signpost.Service) signpost.Service {
		s.Versions = cloneVersions(s.Versions)
		s.Versions[0].Name = "" // which a file does not tell
		return s
	}
	for _, changes := range [][]diff.Change{
		compare(registered, renewed), compare(registered, is), compare(asFile(registered), asFile(renewed)), compare(asFile(registered), is),
	} {
		if !slices.Equal(fingerprints(changes), want) {
			t.Fatalf("other fingerprints for manifests: %s\n%s\n%s", explain, jsonOf(t, compare(was, is)), jsonOf(t, changes))
		}
	}
}

// fingerprintsOf returns the sorted fingerprints of changes, except those of some rules.
func fingerprintsOf(changes []diff.Change, except ...string) []string {
	var all []string
	for _, c := range changes {
		if !slices.Contains(except, c.Rule) {
			all = append(all, c.Fingerprint)
		}
	}
	return slices.Sorted(slices.Values(all))
}

// elsewhere returns what is registered with other hosts in place of all that are declared or written out.
func elsewhere(versions []signpost.Version, hosts signpost.Hosts) ([]signpost.Version, signpost.Hosts) {
	move := func(text string) string { return strings.ReplaceAll(text, ".example", ".moved") }
	moveAll := func(hosts signpost.Hosts) (moved signpost.Hosts) {
		for _, name := range hosts {
			moved = append(moved, move(name))
		}
		return moved
	}
	versions = cloneVersions(versions)
	for i, v := range versions {
		versions[i].Errors, versions[i].Hosts = nil, moveAll(v.Hosts)
		for j, e := range v.Manifest.Endpoints {
			v.Manifest.Endpoints[j].URL = move(e.URL)
		}
	}
	return versions, moveAll(hosts)
}

// wantFingerprintsElsewhere checks that a change has the same fingerprints on other hosts, unless it is about those.
func wantFingerprintsElsewhere(t testing.TB, s situation, changes []diff.Change, explain string) {
	t.Helper()
	moved := s
	moved.old.Versions, moved.old.Hosts = elsewhere(s.old.Versions, s.old.Hosts)
	moved.new.Versions, moved.new.Hosts = elsewhere(s.new.Versions, s.new.Hosts)
	moved.others, _ = elsewhere(s.others, nil)
	there := compare(moved.old, moved.new, moved.others...)
	aboutHosts := []string{diff.ChangeHost, diff.ChangeHostAdded}
	if !slices.Equal(fingerprintsOf(there, aboutHosts...), fingerprintsOf(changes, aboutHosts...)) {
		t.Fatalf("other fingerprints on other hosts: %s\n%s\n%s", explain, jsonOf(t, changes), jsonOf(t, there))
	}
}

func withBasePath(s signpost.Service, base string) signpost.Service {
	s.BasePath = base
	return s
}

// judge checks that a breaking change is about each feed of the world that breaks, or a notable one where OLD had an error.
// It returns the number of feeds that break.
func (w *world) judge(t testing.TB, changes []diff.Change, explain string) (brokenFeeds int) {
	t.Helper()
	before, after := match.NewIndex(w.before...), match.NewIndex(w.after...)
	about := func(m match.Match) bool {
		return slices.ContainsFunc(changes, func(c diff.Change) bool {
			isLoud := c.Level == diff.Breaking || w.faulty && strings.Contains(c.Message, "OLD had an error here")
			host := signpost.CutURL(m.Endpoint).Hostname()
			isWhole := c.Rule == diff.ChangeVersionRemoved && c.Version == m.Version || c.Rule == diff.ChangeHost && (c.Old == host || c.Old == w.name)
			return isLoud && (isWhole || c.Version == m.Version && slices.Contains(w.written[m.Endpoint], c.Endpoint))
		})
	}
	for _, feed := range feedsOf(slices.Concat(w.before, w.after)) {
		was, ok := before.Match(feed)
		is, answered := after.Match(feed)
		if what := broken(was, is, w.after); ok && what != "" {
			brokenFeeds++
			if !about(was) && (!answered || !about(is)) {
				t.Fatalf("%s on %s: %s, and no breaking change says so\n%s\n%s", feed, w.name, what, explain, jsonOf(t, changes))
			}
		}
	}
	return brokenFeeds
}

// wantTrue checks that the feeds of a takeover exist in one of the worlds, and break there.
func wantTrue(t testing.TB, worlds []world, changes []diff.Change, explain string) {
	t.Helper()
	for _, c := range changes {
		if c.Rule != diff.ChangeFeedsTakenOver && c.Rule != diff.ChangeContextShadowed {
			continue
		}
		feed := c.Endpoint
		if example := suchAs.FindStringSubmatch(c.Message); example != nil {
			feed = example[1]
		}
		holds := slices.ContainsFunc(worlds, func(w world) bool {
			feed := strings.ReplaceAll(strings.ReplaceAll(feed, signpost.HostPlaceholder, cmp.Or(c.Host, w.name)), "…", "7")
			feed = placeholder.ReplaceAllString(feed, "7")
			was, ok := match.NewIndex(w.before...).Match(feed)
			is, _ := match.NewIndex(w.after...).Match(feed)
			return ok && is.Version == c.Version && slices.Contains(w.written[is.Endpoint], c.Endpoint) && broken(was, is, w.after) != ""
		})
		if !holds {
			t.Fatalf("%s: %s, which is so in no world\n%s", c.Endpoint, c.Message, explain)
		}
	}
}

// someHosts returns a random list of hosts to declare, or none.
func someHosts(random *rand.Rand) signpost.Hosts {
	return []signpost.Hosts{nil, {"a.example"}, {"b.example"}, {"a.example", "b.example"}}[random.IntN(4)]
}

// spread puts the endpoints of versions on {{host}}, on hosts that may be declared, and on that of somebody else.
func spread(random *rand.Rand, versions []signpost.Version) []signpost.Version {
	origins := []string{"{{host}}", "{{host}}", "a.example", "b.example", "partner.example"}
	for _, v := range versions {
		for i, e := range v.Manifest.Endpoints {
			if strings.HasPrefix(e.URL, "https://h.example") {
				v.Manifest.Endpoints[i].URL = strings.Replace(e.URL, "h.example", origins[random.IntN(len(origins))], 1)
			}
		}
	}
	return versions
}

// someErrors returns where a definition may have errors.
func someErrors(random *rand.Rand, m signpost.Manifest) []signpost.Path {
	var paths []signpost.Path
	for _, e := range m.Endpoints {
		path := signpost.Path{signpost.Field(e.URL)}
		switch field := []signpost.Field{"", "method", "mime_type", "context_obj", "modifiers", "enable", "unknown"}[random.IntN(7)]; {
		case random.IntN(2) == 0:
		case field == "":
			paths = append(paths, path)
		case random.IntN(2) == 0 && (field == "context_obj" || field == "modifiers"):
			paths = append(paths, append(path, field, signpost.Item(0)))
		default:
			paths = append(paths, append(path, field))
		}
	}
	return paths
}

// wantFaults checks which changes say that OLD had an error: those of what it is in and, if it may have kept something from
// being there, of what is new. They are not breaking, because nobody was served that.
func wantFaults(t testing.TB, s situation, changes []diff.Change, explain string) {
	t.Helper()
	isFaulty := func(c diff.Change) bool {
		return slices.ContainsFunc(s.old.Versions, func(v signpost.Version) bool {
			at := slices.IndexFunc(v.Manifest.Endpoints, func(e signpost.Endpoint) bool {
				isSame := func(host string) bool {
					return signpost.CutURL(e.URL).Resolve(host) == signpost.CutURL(c.Endpoint).Resolve(host)
				}
				return slices.ContainsFunc(append(slices.Concat(s.old.Hosts, s.new.Hosts), unknownHost), isSame)
			})
			return at >= 0 && v.Name == c.Version && slices.ContainsFunc(v.Errors, func(path signpost.Path) bool {
				e := v.Manifest.Endpoints[at]
				switch {
				case path.Endpoint() != e.URL:
					return false
				case len(path) == 1:
					return true
				case path[1] == signpost.Field("context_obj"):
					isOther := len(path) == 3 && len(e.ContextObj) > 0 && len(c.Subject) > 1 && c.Subject[1] != e.ContextObj[0].Key
					return len(c.Subject) > 0 && c.Subject[0] == "context" && !isOther
				case path[1] == signpost.Field("enable"):
					return c.Old == nil && len(c.Subject) > 0 && c.Subject[0] == "context"
				case path[1] == signpost.Field("unknown"):
					return c.Old == nil
				}
				return len(c.Subject) > 0 && path[1] == signpost.Field(c.Subject[0])
			})
		})
	}
	for _, c := range changes {
		isTold := strings.Contains(c.Message, "OLD had an error here")
		elsewhere := []string{ // about another endpoint too, or a new one
			diff.ChangeFeedsTakenOver, diff.ChangeContextShadowed, diff.ChangeHostsUnknown, diff.ChangeEndpointAdded,
		}
		isHere := c.Endpoint != "" && !slices.Contains(elsewhere, c.Rule)
		if isTold && c.Level == diff.Breaking || isHere && isTold != isFaulty(c) {
			t.Fatalf("OLD had an error there: %v, and the change is %s\n%s", isFaulty(c), jsonOf(t, c), explain)
		}
	}
}

// someSituation returns a random service, a change of it, and something beside it.
func someSituation(random *rand.Rand) situation {
	s := situation{}
	s.old = signpost.Service{Versions: spread(random, overlapping(random)), Hosts: someHosts(random)}
	s.new = signpost.Service{Versions: cloneVersions(s.old.Versions), Hosts: s.old.Hosts}
	if random.IntN(3) == 0 {
		for i, v := range s.old.Versions {
			s.old.Versions[i].Errors = someErrors(random, v.Manifest)
			for j := range v.Manifest.Endpoints {
				describe(random, &s.new.Versions[i].Manifest.Endpoints[j]) // to repair some of them
			}
		}
	}
	for range 1 + random.IntN(3) {
		s.new.Versions = spread(random, edit(random, s.new.Versions))
	}
	if random.IntN(4) == 0 {
		s.new.Hosts = someHosts(random)
	}
	for i := range random.IntN(3) {
		other := spread(random, overlapping(random))[0]
		other.Name, other.Source, other.Hosts = fmt.Sprintf("v%d", 8+i), fmt.Sprintf("other%d.yaml", i), someHosts(random)
		s.others = append(s.others, other)
	}
	return s
}

// wantTruth compares a situation as definitions, as a manifest and a definition, and as two manifests.
func wantTruth(t testing.TB, random *rand.Rand) (feeds [3]int) {
	t.Helper()
	s := someSituation(random)
	if collides(slices.Concat(s.old.Versions, s.new.Versions, s.others)) {
		return feeds // as written
	}
	explain := fmt.Sprintf("from %q %s\nto   %q %s\nbeside %s",
		s.old.Hosts, jsonOf(t, s.old.Versions), s.new.Hosts, jsonOf(t, s.new.Versions), jsonOf(t, s.others))
	definitions := compare(s.old, s.new, s.others...)
	wantFaults(t, s, definitions, explain)
	wantFingerprintsElsewhere(t, s, definitions, explain)
	collided := wantCollisions(t, s, definitions, explain)
	worlds := s.worlds()
	if collided && slices.ContainsFunc(worlds, func(w world) bool { return collides(w.before) || collides(w.after) }) {
		return feeds // an error of lint, or no manifest
	}
	for _, w := range worlds {
		feeds[0] += w.judge(t, definitions, "definitions\n"+explain)
		w.wantAll(t, s.old.Versions, s.new.Versions, definitions, "definitions\n"+explain)
	}
	wantTrue(t, worlds, definitions, explain)

	// The manifest of the first version before, and the definition after.
	host := []string{"a.example", "b.example"}[random.IntN(2)]
	w := world{name: host, written: make(map[string][]string)}
	w.before, w.after = w.render(s.old.Versions[:1], host), w.render(s.new.Versions, host)
	manifest := signpost.Service{Served: true, Host: host, Versions: cloneVersions(w.before)}
	manifest.Versions[0].Errors = nil // they were registered with it
	rendered := signpost.Service{Served: true, Host: host, Versions: cloneVersions(w.after[:1])}
	alone := w.before
	w.addOthers(s.others, host, "")
	if collides(w.before) || collides(w.after) {
		return feeds
	}
	options := diff.Options{Registered: s.others, Host: host}
	changes, err := options.Diff(manifest, s.new)
	if err != nil {
		t.Fatal(err)
	}
	feeds[1] = w.judge(t, changes, "a manifest for "+host+"\n"+explain)
	if len(s.new.Hosts) > 0 && !s.new.Hosts.Has(host) {
		gone := world{name: host, before: alone, written: w.written}
		gone.judge(t, changes, "a manifest for "+host+", which is no host any more\n"+explain)
	}
	w.wantAll(t, manifest.Versions, s.new.Versions[:1], changes, "a manifest for "+host+"\n"+explain)
	wantTrue(t, []world{w}, changes, explain)

	// The same, with a directory in which everything else is new, on the host of the manifest or on its own ones.
	was, directory := services(withBasePath(manifest, "/films")), services(withBasePath(s.new, "/films"))
	for _, other := range s.others {
		directory = append(directory, signpost.Service{
			BasePath: "/" + other.Name, Hosts: other.Hosts, Versions: []signpost.Version{other},
		})
	}
	changes, err = diff.Options{Host: host}.Services(was, directory)
	if err != nil {
		t.Fatal(err)
	}
	w.before, w.after = alone, w.render(s.new.Versions, host)
	for _, other := range s.others {
		hosts := []string{host}
		if len(other.Hosts) > 0 && !other.Hosts.Has(host) {
			hosts = other.Hosts
		}
		w.after = append(w.after, w.render([]signpost.Version{other}, hosts...)...)
	}
	feeds[1] += w.judge(t, changes, "a manifest for "+host+" and a directory\n"+explain)
	wantTrue(t, []world{w}, changes, explain)

	// Two manifests, the second one perhaps with other hosts.
	two := world{name: host, written: make(map[string][]string)}
	moves := [][]string{nil, {"://" + host, "://moved.example"}, {"://partner.example", "://moved.example"}}[random.IntN(3)]
	for i, e := range rendered.Versions[0].Manifest.Endpoints {
		rendered.Versions[0].Manifest.Endpoints[i].URL = strings.NewReplacer(moves...).Replace(e.URL)
	}
	two.before, two.after = two.render(manifest.Versions, host), two.render(rendered.Versions, host)
	changes, err = diff.Diff(manifest, rendered)
	if err != nil {
		t.Fatal(err)
	}
	feeds[2] = two.judge(t, changes, "two manifests for "+host+"\n"+explain)
	if moves == nil {
		two.wantAll(t, manifest.Versions, rendered.Versions, changes, "two manifests for "+host+"\n"+explain)
	}
	if len(s.old.Versions) == 1 && len(s.new.Versions) == 1 {
		wantFingerprints(t, s.old.Versions[0], s.new.Versions[0], explain)
	}
	return feeds
}

func TestOracle(t *testing.T) {
	random := rand.New(rand.NewPCG(7, 8))
	var feeds [3]int
	for range 120 { // FuzzOracle asks for more
		for i, n := range wantTruth(t, random) {
			feeds[i] += n
		}
	}
	for i, n := range feeds {
		if n < 1000 {
			t.Errorf("only %d feeds broke in comparison %d", n, i)
		}
	}
}

// FuzzOracle looks for services and edits that the test above does not generate.
func FuzzOracle(f *testing.F) {
	f.Add(uint64(1), uint64(2))
	f.Fuzz(func(t *testing.T, a, b uint64) { wantTruth(t, rand.New(rand.NewPCG(a, b))) })
}

// wantTruthOfServices compares directories of services that declare their hosts, some of which come and go.
func wantTruthOfServices(t testing.TB, random *rand.Rand) (feeds int) {
	t.Helper()
	var olds, news []signpost.Service
	w := world{written: make(map[string][]string)}
	register := func(state *[]signpost.Version, s signpost.Service) {
		for _, v := range w.render(s.Versions, s.Hosts...) {
			v.Name = s.BasePath + " " + v.Name
			*state = append(*state, v)
		}
	}
	for _, base := range []string{"/one", "/two", "/three"} {
		old := signpost.Service{BasePath: base, Hosts: someHosts(random), Versions: spread(random, overlapping(random))}
		if len(old.Hosts) == 0 {
			continue
		}
		new := signpost.Service{BasePath: base, Hosts: old.Hosts, Versions: cloneVersions(old.Versions)}
		for range random.IntN(3) {
			new.Versions = spread(random, edit(random, new.Versions))
		}
		if random.IntN(4) == 0 {
			new.Hosts = signpost.Hosts{"a.example", "b.example"}
		}
		isNew, isGone := random.IntN(8) == 0, random.IntN(8) == 0
		if !isNew {
			olds = append(olds, old)
			register(&w.before, old)
		}
		if !isGone {
			news = append(news, new)
			register(&w.after, new)
		}
	}
	if collides(w.before) || collides(w.after) {
		return 0
	}
	changes, err := diff.Options{}.Services(olds, news)
	if err != nil {
		t.Fatal(err)
	}
	for i, c := range changes {
		changes[i].Version = strings.TrimSpace(c.Service + " " + c.Version)
		if c.Rule == diff.ChangeServiceRemoved {
			for _, v := range w.before {
				if strings.HasPrefix(v.Name, c.Service+" ") {
					changes = append(changes, diff.Change{Rule: diff.ChangeVersionRemoved, Level: diff.Breaking, Version: v.Name})
				}
			}
		}
	}
	return w.judge(t, changes, fmt.Sprintf("from %+v\nto   %+v", olds, news))
}

func TestOracleOfServices(t *testing.T) {
	random := rand.New(rand.NewPCG(9, 10))
	feeds := 0
	for range 60 {
		feeds += wantTruthOfServices(t, random)
	}
	if feeds < 1000 {
		t.Errorf("only %d feeds broke", feeds)
	}
}

func FuzzOracleOfServices(f *testing.F) {
	f.Add(uint64(1), uint64(2))
	f.Fuzz(func(t *testing.T, a, b uint64) { wantTruthOfServices(t, rand.New(rand.NewPCG(a, b))) })
}
