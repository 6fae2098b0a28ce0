package signpost

import (
	"slices"
	"strings"

	"signpost/host"
)

// Hosts lists the hosts that a service is published on: exact names, or "*.example.com" for all subdomains of
// example.com, but not example.com itself. [ParseHosts] validates and normalizes them. An empty list means that the
// service does not declare its hosts.
type Hosts []string

// ParseHosts returns the normalized list of hosts, without duplicates. The error names the entry that is invalid.
func ParseHosts(entries ...string) (Hosts, error) {
	var hosts Hosts
	for _, entry := range entries {
		name, err := host.ParsePattern(entry)
		if err != nil {
			return nil, err
		}
		if !slices.Contains(hosts, name) {
			hosts = append(hosts, name)
		}
	}
	return hosts, nil
}

// FetchedFrom returns the hosts of a service whose manifest was fetched from a host: that one and all its subdomains,
// which are the service's own too. The entry has a leading dot, which [ParseHosts] does not accept.
func FetchedFrom(name string) Hosts {
	name, err := host.Parse(name)
	if err != nil {
		return nil
	}
	return Hosts{"." + name}
}

// Has reports whether the service can be published on a host: it is in the list, or a suffix of the list covers it.
func (h Hosts) Has(name string) bool {
	normal, _ := host.Parse(name) // empty if invalid
	return normal != "" && slices.ContainsFunc(h, func(entry string) bool {
		suffix, wild := strings.CutPrefix(entry, "*")
		return wild && strings.HasSuffix(normal, suffix) || owns(entry, normal)
	})
}

// Covers reports whether the service can be published on every host that an entry of a list stands for.
func (h Hosts) Covers(entry string) bool {
	suffix, wild := strings.CutPrefix(entry, "*")
	if !wild {
		return h.Has(entry)
	}
	return slices.ContainsFunc(h, func(other string) bool {
		wider, wild := strings.CutPrefix(other, "*")
		return wild && strings.HasSuffix(suffix, wider)
	})
}

// Exact returns the names of the list, without its suffixes.
func (h Hosts) Exact() []string {
	var names []string
	for _, entry := range h {
		if !strings.HasPrefix(entry, "*") {
			names = append(names, strings.TrimPrefix(entry, "."))
		}
	}
	return names
}

// Owns reports whether a URL is the service's own: it contains {{host}}, or its host is an exact name of the list.
// Every other URL is somebody else's, even if a suffix of the list covers it, because a suffix does not say whose each
// host is.
func (h Hosts) Owns(u URL) bool {
	if u.HasHostPlaceholder() {
		return true
	}
	normal, _ := host.Parse(u.Hostname())
	return normal != "" && slices.ContainsFunc(h, func(entry string) bool { return owns(entry, normal) })
}

// owns reports whether an entry stands for a host that is the service's own.
func owns(entry, normal string) bool {
	domain, fetched := strings.CutPrefix(entry, ".")
	return normal == domain || fetched && strings.HasSuffix(normal, entry)
}

// ValidateHosts returns what keeps the manifest from existing for the given hosts: URLs that become the same, or do not
// fit. For such a host, Render and ForHost return a [*HostError].
func (m Manifest) ValidateHosts(hosts ...string) []Finding {
	if len(hosts) == 0 {
		return nil
	}
	var findings []Finding
	check := m.hostCheck()
	for _, name := range hosts {
		for misfit := range check.misfits(name) {
			f := Finding{Rule: RuleURL, Severity: SeverityError, Path: Path{Field(misfit.URL.raw)},
				Message: misfit.Error(),
				Hint:    "write the hostname in the URL, or use another host"}
			if misfit.Same.raw != "" {
				f.Rule, f.Path, f.Hint = RuleResolvedURLCollision, Path{Field(misfit.Same.raw)}, "remove one of the two"
			}
			findings = append(findings, f)
		}
	}
	return findings
}
