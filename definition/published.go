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
				isJudged := i < len(files)
				switch {
				case f.served || !same:
				case isJudged:
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
	return without(registered, published(files, registered))
}

// without returns files without some of their versions. Those that have none of them are the same.
func without(files []*File, out map[*version]bool) []*File {
	left := slices.Clone(files)
	for i, f := range files {
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

// WithoutStates returns definitions without the version that a manifest is taken to be of. That is the one which would
// be published at its address, on a host that the definition declares, or else the only one with most of its URLs.
func (f *File) WithoutStates(definitions []*File) []*File {
	name, path := addressHost(f.Name), signpost.CutURL(f.Name).Path()
	out, similar := make(map[*version]bool), make(map[*version]bool)
	for _, of := range definitions {
		for i := range of.versions {
			v := &of.versions[i]
			isThere := path == routes.Path(of.BasePath, v.name)
			switch {
			case name != "" && isThere && of.Hosts.Has(name):
				out[v] = true
			case (name == "" || isThere) && f.isMostly(of, v):
				similar[v] = true
			}
		}
	}
	if len(out) == 0 && len(similar) == 1 { // two services can have URLs in common
		out = similar
	}
	return without(definitions, out)
}

// isMostly reports whether a version of a definition, rendered for one of its hosts, has most of the URLs of a
// manifest. Those that are written out in both tell nothing: they may be of a third party.
func (f *File) isMostly(of *File, v *version) bool {
	byRest := make(map[string][]signpost.URL)
	for written := range v.manifest.All() {
		byRest[written.Rest()] = append(byRest[written.Rest()], written)
	}
	common, others := 0, 0
	for i := range f.versions {
		for u := range f.versions[i].manifest.All() {
			isRendered := func(written signpost.URL) bool {
				name := written.HostFor(u)
				isOn := name != "" && (len(of.Hosts) == 0 || of.Hosts.Has(name))
				return isOn || written.HasHostPlaceholder() && written.Equal(u) // it was stored unresolved
			}
			switch {
			case slices.ContainsFunc(byRest[u.Rest()], isRendered):
				common++
			case !slices.ContainsFunc(byRest[u.Rest()], u.Equal):
				others++
			}
		}
	}
	return common > others
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
