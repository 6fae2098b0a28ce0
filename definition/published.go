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

// WithoutStates returns definitions without the versions that a manifest is taken to be of. If its address is known, that
// is the version which would be published there: on a host that the definition declares, or with most of the URLs.
// Otherwise, it is each one with most of the URLs.
func (f *File) WithoutStates(definitions []*File) []*File {
	urls := f.urlsIn(definitions)
	out := make(map[*version]bool)
	name, path := addressHost(f.Name), signpost.CutURL(f.Name).Path()
	for _, of := range definitions {
		for i := range of.versions {
			v := &of.versions[i]
			isThere := name != "" && path == routes.Path(of.BasePath, v.name)
			isPublished := isThere && of.Hosts.Has(name)
			out[v] = isPublished || (isThere || name == "") && urls.areMostlyOf(of, v)
		}
	}
	return without(definitions, out)
}

// manifestURLs are those of a manifest.
type manifestURLs struct {
	all    []signpost.URL
	byRest map[string][]signpost.URL
	owners map[signpost.URL]map[*version]bool // versions that have it, rendered
}

func (f *File) urlsIn(definitions []*File) manifestURLs {
	urls := manifestURLs{byRest: make(map[string][]signpost.URL), owners: make(map[signpost.URL]map[*version]bool)}
	for _, v := range f.versions {
		for u := range v.manifest.All() {
			urls.all = append(urls.all, u)
			urls.byRest[u.Rest()] = append(urls.byRest[u.Rest()], u)
			urls.owners[u] = make(map[*version]bool)
		}
	}
	for _, of := range definitions {
		for i := range of.versions {
			v := &of.versions[i]
			for written := range v.manifest.All() {
				for _, u := range urls.rendered(of, written) {
					urls.owners[u][v] = true
				}
			}
		}
	}
	return urls
}

// rendered returns what the URL of a definition with {{host}} is in the manifest, on hosts of the definition.
func (m manifestURLs) rendered(of *File, written signpost.URL) []signpost.URL {
	var urls []signpost.URL
	for _, u := range m.byRest[written.Rest()] {
		name := written.HostFor(u)
		isOn := name != "" && (len(of.Hosts) == 0 || of.Hosts.Has(name))
		if isOn || written.HasHostPlaceholder() && written.Equal(u) { // it was stored unresolved
			urls = append(urls, u)
		}
	}
	return urls
}

// areMostlyOf reports whether the manifest has most of the URLs of a version with {{host}}, or the version most of those of
// the manifest on its host. What several versions have does not count: two services can have URLs in common.
func (m manifestURLs) areMostlyOf(of *File, v *version) bool {
	common, missing := 0, 0
	hosts := make(map[string]bool)
	for written := range v.manifest.All() {
		rendered := m.rendered(of, written)
		isOthers := func(u signpost.URL) bool { return len(m.owners[u]) > 1 }
		switch {
		case !written.HasHostPlaceholder() || slices.ContainsFunc(rendered, isOthers):
		case len(rendered) == 0:
			missing++
		default:
			common++
			hosts[rendered[0].Hostname()] = true
		}
	}
	others := 0
	for _, u := range m.all {
		if owners := m.owners[u]; len(owners) < 2 && !owners[v] && hosts[u.Hostname()] {
			others++
		}
	}
	return common > missing || common > others
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
