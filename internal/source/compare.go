package source

import (
	"fmt"
	"slices"

	"signpost"
	"signpost/internal/routes"
	"signpost/internal/served"
)

// Align makes two services comparable by signpost/diff, and returns the host for which they are compared, with notes
// about what it did.
//
// {{host}} stays unresolved between definitions. If one side is a served manifest, the other is resolved for its host;
// of two manifests, new is compared as if it had been served for the host of old. A served manifest has one version, so
// only that version of the other side is compared.
func Align(old, new *Service) (host string, notes []string, err error) {
	host = old.Host
	one, other := old, new
	if host == signpost.HostPlaceholder {
		host, one, other = new.Host, new, old
	}
	switch {
	case one.Host == other.Host:
	case other.Host == signpost.HostPlaceholder:
		if known := bestHost(one, other); known != "" {
			host, one.Host = known, known
		}
		notes = append(notes, fmt.Sprintf("%s is compared as it is served for %s", other.Name, host))
		for _, v := range other.Versions {
			if _, err := v.Manifest.ForHost(host); err != nil {
				return "", nil, fmt.Errorf("render %q: %w", other.Name, err)
			}
		}
	default:
		notes = append(notes, fmt.Sprintf("%s is for %s: compared as if it were for %s", other.Name, other.Host, host))
	}
	for _, pair := range [][2]*Service{{old, new}, {new, old}} {
		if note := alignVersions(pair[0], pair[1]); note != "" {
			notes = append(notes, note)
		}
		if note := otherBasePath(pair[0], pair[1]); note != "" {
			notes = append(notes, note)
		}
	}
	return host, notes, nil
}

// otherBasePath notes that the address of a manifest is not below the base path that a definition sets. That is no change by
// itself: a proxy may map one to the other.
func otherBasePath(manifest, definition *Service) (note string) {
	declared := definition.File.BasePath
	if manifest.Address == nil || definition.Served || declared == "/" || declared == "" {
		return ""
	}
	base, _, ok := routes.Parse(manifest.Address.Path)
	if !ok || base == declared {
		return ""
	}
	return fmt.Sprintf("%s has the base path %s and %s has %s: if no proxy maps one to the other, the address of the manifest changes",
		manifest.Name, base, definition.Name, declared)
}

// alignVersions reduces other to one version if one is a manifest: the version of the manifest or, if unknown, the one
// with the most URLs in common.
func alignVersions(one, other *Service) (note string) {
	if !one.Served || len(one.Versions) == 0 || len(other.Versions) == 0 {
		return ""
	}
	v := &one.Versions[0]
	i := slices.IndexFunc(other.Versions, func(o signpost.Version) bool { return o.Name == v.Name })
	if i < 0 && v.Name != "" {
		return "" // a version that the other side lacks: that is a change
	}
	if i < 0 {
		var single []*Service
		for version := range slices.Chunk(other.Versions, 1) {
			single = append(single, &Service{Versions: version, Host: other.Host})
		}
		i = max(0, mostInCommon(one, single))
		v.Name = other.Versions[i].Name
	}
	if len(other.Versions) > 1 {
		note = fmt.Sprintf("%s is the manifest of one version: only %s of %s is compared", one.Name, v.Name, other.Name)
		other.Versions = other.Versions[i : i+1]
	}
	return note
}

// bestHost returns the host for which the most URLs of a definition become those of a served manifest, or "". It is known
// for certain, even if {{host}} is only a part of every host, while the host of a manifest on its own is a guess.
func bestHost(manifest, definition *Service) string {
	best, most := "", 0
	for _, v := range definition.Versions {
		for _, one := range manifest.Versions {
			if host, n := served.Compare(one.Manifest, v.Manifest); n > most {
				best, most = host, n
			}
		}
	}
	return best
}

// mostInCommon returns the index of the service with the most URLs in common with one, whatever hosts they are for, or -1
// if none has any. Ties go to the first.
func mostInCommon(one *Service, services []*Service) int {
	best, most := -1, 0
	for i, s := range services {
		n := 0
		for _, v := range s.Versions {
			open := served.Reopen(v.Manifest, s.Host)
			for _, was := range one.Versions {
				_, common := served.Compare(was.Manifest, open)
				n += common
			}
		}
		if n > most {
			best, most = i, n
		}
	}
	return best
}

// Join prepares services that are registered alongside for a comparison with services whose {{host}} is host, and
// returns notes about what it did. If host is unresolved, everything counts as registered on the same host.
func Join(registered []*Service, host string) (versions []signpost.Version, notes []string, err error) {
	if host != signpost.HostPlaceholder {
		if registered, notes, err = ServeAll(registered, host); err != nil {
			return nil, nil, err
		}
	}
	for _, s := range registered {
		if s.Host != host && host == signpost.HostPlaceholder {
			notes = append(notes, fmt.Sprintf("%s is for %s: taken as registered on the same host", s.Name, s.Host))
			for i, v := range s.Versions {
				s.Versions[i].Manifest = served.Reopen(v.Manifest, s.Host)
			}
		}
		for _, v := range s.Versions {
			v.Source = s.Name
			versions = append(versions, v)
		}
	}
	return versions, notes, nil
}

// ServedBy returns the service that a served manifest belongs to: by the base path in its address or, if unknown, by
// the most URLs in common. It returns nil if there is none.
func ServedBy(served *Service, services []*Service) *Service {
	if served.Address != nil {
		if base, _, ok := routes.Parse(served.Address.Path); ok {
			i := slices.IndexFunc(services, func(s *Service) bool { return s.File.BasePath == base })
			if i < 0 {
				return nil
			}
			return services[i]
		}
	}
	if i := mostInCommon(served, services); i >= 0 {
		return services[i]
	}
	return nil
}

// Published returns the services of old that can be paired with those of new by base path. A service with errors may not
// have a known one: it gets that of the service in new with the most URLs in common, unless old has another service
// there. Without any URL in common it is left out, because it was never published.
func Published(old, new []*Service) []*Service {
	taken := make(map[string]bool)
	for _, s := range old {
		taken[s.State().BasePath] = true
	}
	free := slices.DeleteFunc(slices.Clone(new), func(s *Service) bool { return taken[s.State().BasePath] })
	var published []*Service
	for _, s := range old {
		if s.State().BasePath == "" {
			i := mostInCommon(s, free)
			if i < 0 {
				continue
			}
			s.basePath = free[i].State().BasePath
			free = slices.Delete(free, i, i+1)
		}
		published = append(published, s)
	}
	return published
}
