package diff

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"signpost"
	"signpost/internal/routes"
)

// UndecidedError reports that a comparison depends on something that neither side tells.
type UndecidedError struct {
	What   Undecided
	reason string
}

// Undecided is what a comparison depends on.
type Undecided string

// What a comparison can depend on.
const (
	UndecidedHost    Undecided = "host"    // for which a manifest was rendered: see [Options.Host]
	UndecidedHosts   Undecided = "hosts"   // which hosts of an export are the service's own
	UndecidedVersion Undecided = "version" // of which a manifest is
	UndecidedService Undecided = "service" // of which a manifest is
)

func (e *UndecidedError) Error() string { return e.reason }

// isRendered reports whether {{host}} is in none of the URLs of a service.
func isRendered(s *signpost.Service) bool {
	return !slices.ContainsFunc(s.Versions, func(v signpost.Version) bool { return hasHost(&v) })
}

// mixed returns the manifest if one side is a manifest and the other side is not, and the services of the other side. A
// manifest that was stored with {{host}} counts as a definition beside one without.
func mixed(olds, news []signpost.Service) (manifest *signpost.Service, others []signpost.Service) {
	single := func(services []signpost.Service) bool {
		return len(services) == 1 && services[0].Served && len(services[0].Versions) > 0
	}
	old, new := single(olds), single(news)
	if old && new {
		old, new = isRendered(&olds[0]), isRendered(&news[0])
	}
	switch {
	case old && !new:
		return &olds[0], news
	case new && !old:
		return &news[0], olds
	}
	return nil, nil
}

// planManifest compares a manifest with the version of a service that it is of. Everything else counts as registered:
// after the change if the manifest is the old state, and otherwise before and after, because nothing tells that it has
// changed.
func (d *differ) planManifest(p *plan, manifest *signpost.Service, services []signpost.Service, isOld bool) error {
	of, err := d.locate(p, manifest, services)
	if err != nil {
		return err
	}
	c := &comparison{name: p.name(of), pair: pair[signpost.Service]{of, manifest}}
	if isOld {
		c.pair = pair[signpost.Service]{manifest, of}
	}
	c.pairVersions()
	isThis := func(at *slot) bool { return at.old != nil && at.new != nil }
	found := slices.ContainsFunc(c.slots, isThis) // else other versions are reported as such
	for _, at := range c.slots {
		at.besides = found && !isThis(at)
		if at.besides && !isOld {
			at.new = at.old
		}
		if p.host != "" {
			at.hosts = []string{p.host}
		}
	}
	for i := range services {
		s := &services[i]
		if s == of {
			continue
		}
		for j := range s.Versions {
			v := &s.Versions[j]
			at := &slot{service: p.name(s), version: v.Name, besides: true, declared: s.Hosts}
			at.new = v
			if !isOld {
				at.old = v
			}
			c.slots = append(c.slots, at)
		}
	}
	p.comparisons = []*comparison{c}
	d.noteManifest(p, manifest, of, len(services) > 1, found)
	return nil
}

// noteManifest says what a manifest is compared with.
func (d *differ) noteManifest(p *plan, manifest, of *signpost.Service, several, found bool) {
	if len(manifest.Versions) == 0 || len(of.Versions) == 0 {
		return
	}
	name, other := manifest.Versions[0].Source, of.Versions[0].Source
	if several {
		d.Note(fmt.Sprintf("%s is the manifest of one service: only %s is compared", name, other))
	}
	if p.host != "" {
		d.Note(fmt.Sprintf("%s is compared as it is served for %s", other, p.host))
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
func (d *differ) locate(p *plan, manifest *signpost.Service, services []signpost.Service) (*signpost.Service, error) {
	var fits []*signpost.Service
	for i := range services {
		s := &services[i]
		if len(services) == 1 || manifest.BasePath != "" && manifest.BasePath == s.BasePath {
			fits = []*signpost.Service{s}
			break
		}
		host, err := d.hostOf(manifest, s)
		if manifest.BasePath == "" && err == nil && common(manifest, s.Versions, host) > 0 {
			fits = append(fits, s)
		}
	}
	switch len(fits) {
	case 0:
		return nil, &UndecidedError{UndecidedService, "no service has a URL of the manifest"}
	case 1:
	default:
		return nil, &UndecidedError{UndecidedService, "nothing tells which service the manifest is of"}
	}
	var err error
	if p.host, err = d.hostOf(manifest, fits[0]); err != nil {
		return nil, err
	}
	if len(manifest.Versions) == 1 && manifest.Versions[0].Name == "" && len(fits[0].Versions) > 0 {
		name, decided := versionOf(manifest, fits[0], p.host)
		if !decided {
			return nil, &UndecidedError{UndecidedVersion, "nothing tells which version the manifest is of"}
		}
		manifest.Versions[0].Name = name
	}
	return fits[0], nil
}

// versionOf returns the version of a service that a manifest is of: the one with the most URLs of it or, if none has
// any, the one that its own URLs name. It returns false if neither decides.
func versionOf(manifest, of *signpost.Service, host string) (name string, decided bool) {
	own := *manifest // partners' URLs can be in every version
	own.Versions = []signpost.Version{{}}
	for _, e := range manifest.Versions[0].Manifest.Endpoints {
		if host == "" || strings.Contains(hostname(e.URL), host) {
			own.Versions[0].Manifest.Endpoints = append(own.Versions[0].Manifest.Endpoints, e)
		}
	}
	var best []string
	most := 1
	for i, v := range of.Versions {
		n := common(&own, of.Versions[i:i+1], host)
		if n > most {
			best, most = nil, n
		}
		if n == most {
			best = append(best, v.Name)
		}
	}
	named := versionsNamed(&own.Versions[0])
	switch {
	case len(best) == 1:
		return best[0], true
	case len(best) == 0 && len(named) == 1 && of.Versions[0].Name != "":
		return versionIn(&own.Versions[0]), true
	case len(of.Versions) == 1:
		return of.Versions[0].Name, true
	}
	return "", false
}

// hostOf returns the host for which a manifest of a service was rendered: the one that was given, or the host of its
// address, or the declared one that occurs in it, or the only one for which URLs of the service become URLs of the
// manifest. It is empty if it makes no difference.
func (d *differ) hostOf(manifest, of *signpost.Service) (string, error) {
	served := make(map[string]bool) // hosts of the manifest
	rest := make(map[string][]signpost.URL)
	for _, v := range manifest.Versions {
		for _, e := range v.Manifest.Endpoints {
			u := signpost.CutURL(e.URL)
			served[strings.ToLower(u.Hostname())] = true
			rest[u.Rest()] = append(rest[u.Rest()], u)
		}
	}
	if d.Host != "" || !isRendered(manifest) {
		return d.Host, nil
	}
	if manifest.Host != "" && (served[manifest.Host] || of.Hosts.Has(manifest.Host)) {
		return manifest.Host, nil
	}
	declared := slices.DeleteFunc(of.Hosts.Exact(), func(name string) bool { return !served[name] })
	if len(declared) == 1 {
		return declared[0], nil
	}
	var possible []string
	open := false
	for _, v := range of.Versions {
		for _, e := range v.Manifest.Endpoints {
			u := signpost.CutURL(e.URL)
			open = open || u.HasHostPlaceholder()
			for _, candidate := range rest[u.Rest()] {
				if name := u.HostFor(candidate); u.HasHostPlaceholder() && name != "" && !slices.Contains(possible, name) {
					possible = append(possible, name)
				}
			}
		}
	}
	switch {
	case len(possible) == 1:
		return possible[0], nil
	case manifest.Host != "" || !open || len(served) == 0:
		return manifest.Host, nil
	}
	return "", &UndecidedError{UndecidedHost, "nothing tells for which host the manifest was rendered"}
}

// common returns how many URLs of versions, rendered for a host, a manifest has.
func common(manifest *signpost.Service, versions []signpost.Version, host string) int {
	known := make(map[string]bool)
	for _, v := range manifest.Versions {
		for _, e := range v.Manifest.Endpoints {
			known[canonical(e.URL)] = true
		}
	}
	n := 0
	for _, v := range versions {
		for _, e := range v.Manifest.Endpoints {
			if known[canonical(fill(e.URL, cmp.Or(host, signpost.HostPlaceholder)))] {
				n++
			}
		}
	}
	return n
}

// joinManifests makes two manifests comparable. If nothing is left on a host of old, and one new host has some of its
// paths, that is one change, and what is on the new host is compared as if it were on the old one.
func joinManifests(old, new *signpost.Service) (moves [][2]string) {
	was, is := pathsByHost(old), pathsByHost(new)
	from := make(map[string][]string) // old hosts, by the new one
	for host, paths := range was {
		if is[host] != nil {
			continue
		}
		var candidates []string
		for other, others := range is {
			shared := func(path string) bool { return others[path] }
			if was[other] == nil && slices.ContainsFunc(slices.Collect(maps.Keys(paths)), shared) {
				candidates = append(candidates, other)
			}
		}
		if len(candidates) == 1 {
			from[candidates[0]] = append(from[candidates[0]], host)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(from)) {
		if hosts := from[name]; len(hosts) == 1 {
			moves = append(moves, [2]string{hosts[0], name})
		}
	}
	new.Versions = slices.Clone(new.Versions)
	for i, v := range new.Versions {
		endpoints := slices.Clone(v.Manifest.Endpoints)
		for j, e := range endpoints {
			u := signpost.CutURL(e.URL)
			for _, move := range moves {
				if strings.EqualFold(u.Hostname(), move[1]) {
					endpoints[j].URL = u.WithAuthority(strings.Replace(u.Authority(), u.Hostname(), move[0], 1)).String()
				}
			}
		}
		new.Versions[i].Manifest.Endpoints = endpoints
	}
	if len(old.Versions) == 1 && len(new.Versions) == 1 { // a file does not tell its version
		old.Versions = slices.Clone(old.Versions)
		was, is := &old.Versions[0].Name, &new.Versions[0].Name
		*was, *is = cmp.Or(*was, *is), cmp.Or(*is, *was)
	}
	return moves
}

// pathsByHost returns what follows the authority in the URLs of a manifest, by host.
func pathsByHost(s *signpost.Service) map[string]map[string]bool {
	all := make(map[string]map[string]bool)
	for _, v := range s.Versions {
		for _, e := range v.Manifest.Endpoints {
			u := signpost.CutURL(e.URL)
			name := strings.ToLower(u.Hostname())
			if all[name] == nil {
				all[name] = make(map[string]bool)
			}
			all[name][u.Rest()] = true
		}
	}
	return all
}

// versionIn returns the version that is named most often in the URLs of states, or v1. A manifest file does not name
// its version, but a change has the same fingerprint there.
func versionIn(states ...*signpost.Version) string {
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
func versionsNamed(states ...*signpost.Version) map[string]int {
	counts := make(map[string]int)
	for _, v := range states {
		if v == nil {
			continue
		}
		for _, e := range v.Manifest.Endpoints {
			if name := routes.VersionIn(signpost.CutURL(e.URL)); name != "" {
				counts[name]++
			}
		}
	}
	return counts
}
