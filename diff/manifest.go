package diff

import (
	"cmp"
	"fmt"
	"iter"
	"maps"
	"slices"
	"strings"

	"signpost"
	"signpost/host"
	"signpost/internal/routes"
)

// UndecidedError reports that a comparison depends on something that neither side tells.
type UndecidedError string

func (e UndecidedError) Error() string { return string(e) }

// What a comparison can depend on.
const (
	UndecidedHost    UndecidedError = "nothing tells for which host the manifest was rendered" // see [Options.Host]
	UndecidedHosts   UndecidedError = "nothing tells which endpoints of the export are the service's own"
	UndecidedVersion UndecidedError = "nothing tells which version the manifest is of"
	UndecidedService UndecidedError = "nothing tells which service the manifest is of"
	UnknownManifest  UndecidedError = "no service has a URL of the manifest"
	UndecidedExport  UndecidedError = "a definition does not tell what a studio has"
)

// endpointsOf returns the endpoints of versions, with their URLs.
func endpointsOf(versions ...signpost.Version) iter.Seq2[signpost.URL, *signpost.Endpoint] {
	return func(yield func(signpost.URL, *signpost.Endpoint) bool) {
		for _, v := range versions {
			for u, e := range v.Manifest.All() {
				if !yield(u, e) {
					return
				}
			}
		}
	}
}

// urlsOf returns the URLs of the endpoints of versions.
func urlsOf(versions ...signpost.Version) []signpost.URL {
	var urls []signpost.URL
	for u := range endpointsOf(versions...) {
		urls = append(urls, u)
	}
	return urls
}

// urlSet has the URLs of versions.
type urlSet struct {
	hosts  map[string]bool
	byRest map[string][]signpost.URL // by what follows the authority
}

func urlSetOf(versions ...signpost.Version) urlSet {
	s := urlSet{make(map[string]bool), make(map[string][]signpost.URL)}
	for u := range endpointsOf(versions...) {
		s.hosts[hostname(u)] = true
		s.byRest[u.Rest()] = append(s.byRest[u.Rest()], u)
	}
	return s
}

// common returns how many URLs of versions are in the set, if they are rendered for a host. Empty means as written.
func (s urlSet) common(host string, versions ...signpost.Version) int {
	n := 0
	for u := range endpointsOf(versions...) {
		if slices.ContainsFunc(s.byRest[u.Rest()], u.Resolve(cmp.Or(host, signpost.HostPlaceholder)).Equal) {
			n++
		}
	}
	return n
}

// hasHost reports whether {{host}} is in a URL of versions.
func hasHost(versions ...signpost.Version) bool {
	return slices.ContainsFunc(urlsOf(versions...), signpost.URL.HasHostPlaceholder)
}

// mixed returns the manifest if one side is a manifest and the other side is not, and the services of the other side. A
// manifest that was stored with {{host}} counts as a definition beside one without.
func (d *differ) mixed(olds, news []signpost.Service) (manifest *signpost.Service, others []signpost.Service) {
	isPair := len(olds) == 1 && len(news) == 1
	if d.Whole && !isPair || len(olds) == 0 || len(news) == 0 { // services have come or gone
		return nil, nil
	}
	single := func(services []signpost.Service) bool {
		return len(services) == 1 && services[0].Served && len(services[0].Versions) > 0
	}
	old, new := single(olds), single(news)
	if old && new {
		old, new = !hasHost(olds[0].Versions...), !hasHost(news[0].Versions...)
	}
	switch {
	case old == new:
		return nil, nil
	case old:
		return &olds[0], news
	default:
		return &news[0], olds
	}
}

// planManifest compares a manifest with the version of a service that it is of. Everything else counts as registered:
// after the change if the manifest is the old state, and otherwise before and after, because nothing tells that it has
// changed.
func (d *differ) planManifest(manifest *signpost.Service, services []signpost.Service, isOld bool) error {
	of, err := d.locate(manifest, services)
	if err != nil {
		return err
	}
	states := pair[signpost.Service]{of, manifest}
	if isOld {
		states = pair[signpost.Service]{manifest, of}
	}
	c := d.newComparison(states)
	c.name = d.label(of)
	isThere := func(at *slot) bool { return at.old != nil && at.new != nil }
	found := slices.ContainsFunc(c.slots, isThere) // else other versions are reported as such
	for _, at := range c.slots {
		at.service = c.name
		if d.plan.host != "" {
			at.hosts[after] = []string{d.plan.host}
		}
		at.besides = found && !isThere(at)
	}
	for i := range services {
		if s := &services[i]; s != of {
			others := d.newComparison(pair[signpost.Service]{new: s}).slots
			for _, at := range others {
				at.besides = true
			}
			c.slots = append(c.slots, others...)
		}
	}
	for _, at := range c.slots {
		if at.besides && !isOld {
			at.old = cmp.Or(at.old, at.new)
			at.new = at.old
		}
	}
	d.plan.comparisons = []*comparison{c}
	d.noteManifest(manifest, of, len(services) > 1, found)
	return nil
}

// noteManifest says what a manifest is compared with.
func (d *differ) noteManifest(manifest, of *signpost.Service, several, found bool) {
	if len(of.Versions) == 0 {
		return
	}
	name, other := manifest.Versions[0].Source, of.Versions[0].Source
	if several {
		d.Note(fmt.Sprintf("%s is the manifest of one service: only %s is compared", name, other))
	}
	if d.plan.host != "" {
		d.Note(fmt.Sprintf("%s is compared as it is served for %s", other, d.plan.host))
	}
	if found && len(of.Versions) > 1 {
		d.Note(fmt.Sprintf("%s is the manifest of one version: only %s of %s is compared",
			name, manifest.Versions[0].Name, other))
	}
	if base := manifest.BasePath; base != "" && of.BasePath != "" && of.BasePath != "/" && of.BasePath != base {
		d.Note(fmt.Sprintf("%s has the base path %s and %s has %s: "+
			"if no proxy maps one to the other, the address of the manifest changes", name, base, other, of.BasePath))
	}
}

// locate finds the service and the version that a manifest is of, and the host that it was rendered for.
func (d *differ) locate(manifest *signpost.Service, services []signpost.Service) (of *signpost.Service, err error) {
	urls := urlSetOf(manifest.Versions...)
	var fits []*signpost.Service
	for i := range services {
		s := &services[i]
		if len(services) == 1 || manifest.BasePath != "" && manifest.BasePath == s.BasePath {
			fits = []*signpost.Service{s}
			break
		}
		host, err := d.hostOf(manifest, s)
		if err == nil && urls.common(host, s.Versions...) > 0 {
			fits = append(fits, s)
		}
	}
	switch len(fits) {
	case 0:
		return nil, UnknownManifest
	case 1:
		of = fits[0]
	default:
		return nil, UndecidedService
	}
	d.plan.host, err = d.hostOf(manifest, of)
	if err == nil && len(manifest.Versions) == 1 && manifest.Versions[0].Name == "" && len(of.Versions) > 0 {
		manifest.Versions[0].Name, err = versionOf(manifest.Versions[0], of.Versions, d.plan.host)
	}
	return of, err
}

// versionOf returns which of the given versions a manifest is of: the one with the most URLs of it or, if none has any,
// the one that its own URLs name.
func versionOf(manifest signpost.Version, versions []signpost.Version, host string) (string, error) {
	isPartners := func(e signpost.Endpoint) bool { return !strings.Contains(hostname(signpost.CutURL(e.URL)), host) }
	own := signpost.Version{} // a partner's URL can be in any version
	own.Manifest.Endpoints = slices.DeleteFunc(slices.Clone(manifest.Manifest.Endpoints), isPartners)
	urls := urlSetOf(own)
	var best []string
	most := 1
	for _, v := range versions {
		n := urls.common(host, v)
		if n > most {
			best, most = nil, n
		}
		if n == most {
			best = append(best, v.Name)
		}
	}
	switch named := versionsNamed(own); {
	case len(best) == 1:
		return best[0], nil
	case len(best) == 0 && len(named) == 1 && versions[0].Name != "":
		return versionIn(own), nil
	case len(versions) == 1:
		return versions[0].Name, nil
	}
	return "", UndecidedVersion
}

// hostOf returns the host for which a manifest of a service was rendered: the one that was given; or the host of its
// address, unless that is a local one; or the declared one that occurs in it; or the only one for which URLs of the
// service become URLs of the manifest. It is empty if it makes no difference.
func (d *differ) hostOf(manifest, of *signpost.Service) (string, error) {
	urls := urlSetOf(manifest.Versions...)
	isPublic := urls.hosts[manifest.Host] || of.Hosts.Has(manifest.Host) || !host.IsLocal(manifest.Host)
	declared := slices.DeleteFunc(of.Hosts.Exact(), func(name string) bool { return !urls.hosts[name] })
	switch {
	case d.Host != "" || hasHost(manifest.Versions...):
		return d.Host, nil
	case manifest.Host != "" && isPublic:
		return manifest.Host, nil
	case len(declared) == 1:
		return declared[0], nil
	}
	possible := make(map[string]bool)
	for u := range endpointsOf(of.Versions...) {
		for _, candidate := range urls.byRest[u.Rest()] {
			if name := u.HostFor(candidate); u.HasHostPlaceholder() && name != "" {
				possible[name] = true
			}
		}
	}
	switch {
	case len(possible) == 1:
		return slices.Collect(maps.Keys(possible))[0], nil
	case manifest.Host != "" || !hasHost(of.Versions...) || len(urls.hosts) == 0:
		return manifest.Host, nil
	}
	return "", UndecidedHost
}

// joinManifests makes two manifests comparable. If nothing is left on a host of old, and one new host has some of its
// paths, that is one change, and what is on the new host is compared as if it were on the old one.
func joinManifests(old, new *signpost.Service) (moves [][2]string) {
	was, is := urlSetOf(old.Versions...), urlSetOf(new.Versions...)
	candidates := make(map[string][]string) // new hosts, by the old one
	for u := range endpointsOf(old.Versions...) {
		gone := hostname(u)
		for _, other := range is.byRest[u.Rest()] {
			came := hostname(other)
			if !is.hosts[gone] && !was.hosts[came] && !slices.Contains(candidates[gone], came) {
				candidates[gone] = append(candidates[gone], came)
			}
		}
	}
	from := make(map[string][]string) // old hosts, by the new one
	for gone, came := range candidates {
		if len(came) == 1 {
			from[came[0]] = append(from[came[0]], gone)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(from)) {
		if hosts := from[name]; len(hosts) == 1 {
			moves = append(moves, [2]string{hosts[0], name})
		}
	}
	for u, e := range endpointsOf(new.Versions...) {
		for _, move := range moves {
			if strings.EqualFold(u.Hostname(), move[1]) {
				e.URL = u.WithAuthority(strings.Replace(u.Authority(), u.Hostname(), move[0], 1)).String()
			}
		}
	}
	if len(old.Versions) == 1 && len(new.Versions) == 1 { // a file does not tell its version
		was, is := &old.Versions[0].Name, &new.Versions[0].Name
		*was, *is = cmp.Or(*was, *is), cmp.Or(*is, *was)
	}
	return moves
}

// versionIn returns the version that is named most often in the URLs of states, or v1. A manifest file does not name
// its version, but a change has the same fingerprint there.
func versionIn(states ...signpost.Version) string {
	counts := versionsNamed(states...)
	best := "v1"
	for version, n := range counts {
		if n > counts[best] || n == counts[best] && version < best {
			best = version
		}
	}
	return best
}

// versionsNamed counts the URLs of states by the first version in their path.
func versionsNamed(states ...signpost.Version) map[string]int {
	counts := make(map[string]int)
	for u := range endpointsOf(states...) {
		if name := routes.VersionIn(u); name != "" {
			counts[name]++
		}
	}
	return counts
}
