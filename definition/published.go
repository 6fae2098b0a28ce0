package definition

import (
	"slices"
	"strings"

	"signpost"
	"signpost/internal/routes"
)

// published returns the versions to leave out of a comparison because another file has them: a manifest that was
// fetched from a host of a definition, at the path of one of its versions, is the same service, which does not take
// feeds from itself. The definition stays if it is judged.
func published(files, registered []*File) map[*version]bool {
	out := make(map[*version]bool)
	all := slices.Concat(files, registered)
	for _, fetched := range all {
		address := signpost.CutURL(fetched.Name)
		if !fetched.served || addressHost(fetched.Name) == "" || len(fetched.versions) == 0 {
			continue
		}
		for i, f := range all {
			for j := range f.versions {
				v := &f.versions[j]
				same := routes.Path(f.BasePath, v.name) == address.Path() && f.Hosts.Has(address.Hostname())
				switch judged := i < len(files); {
				case f.served || !same:
				case judged:
					out[&fetched.versions[0]] = true
				default:
					out[v] = true
				}
			}
		}
	}
	return out
}

// WithoutPublished returns registered files without the versions that are another state of one of some files: [Lint]
// leaves them out in the same way.
func WithoutPublished(files, registered []*File) []*File {
	out := published(files, registered)
	left := slices.Clone(registered)
	for i, f := range registered {
		var versions []version
		for j := range f.versions {
			if !out[&f.versions[j]] {
				versions = append(versions, f.versions[j])
			}
		}
		if len(versions) < len(f.versions) {
			other := *f
			other.versions = versions
			left[i] = &other
		}
	}
	return left
}

// IsOf returns whether a manifest is taken to be that of a definition: it was fetched from where one of the versions
// would be published or, if its address is not known, has one of their URLs. Hosts that the definition declares decide.
func (f *File) IsOf() func(definition *File) bool {
	byRest := make(map[string][]signpost.URL)
	for _, v := range f.versions {
		for u := range v.manifest.All() {
			byRest[u.Rest()] = append(byRest[u.Rest()], u)
		}
	}
	name, path := addressHost(f.Name), signpost.CutURL(f.Name).Path()
	return func(of *File) bool {
		isOn := func(name string) bool { return name != "" && (len(of.Hosts) == 0 || of.Hosts.Has(name)) }
		for _, v := range of.versions {
			if isOn(name) && path == routes.Path(of.BasePath, v.name) {
				return true
			}
			for u := range v.manifest.All() {
				isOwn := func(other signpost.URL) bool { return isOn(u.HostFor(other)) }
				if name == "" && slices.ContainsFunc(byRest[u.Rest()], isOwn) {
					return true
				}
			}
		}
		return false
	}
}

// asRegistered returns the endpoints of files by the URLs under which a studio has them.
func asRegistered(files []*File) map[string]registeredEndpoint {
	all := make(map[string]registeredEndpoint)
	for _, f := range files {
		for _, v := range f.versions {
			for u, e := range v.manifest.All() {
				known := registeredEndpoint{*e, f.own().Owns(u)}
				all[e.URL] = known
				for _, name := range f.Hosts.Exact() {
					all[u.Resolve(name).String()] = known
				}
			}
		}
	}
	return all
}

// registeredEndpoint is an endpoint under one of its URLs.
type registeredEndpoint struct {
	signpost.Endpoint
	own bool // on a host of the service
}

// isEntryOf reports whether an endpoint of an export, which has all that a studio has, is the entry of a judged one: it
// is on a host of its service, or it is called alike, so that it does not matter.
func (r registeredEndpoint) isEntryOf(e signpost.Endpoint) bool {
	return r.own || strings.EqualFold(r.Method, e.Method) && slices.Equal(r.ContextObj, e.ContextObj)
}
