package definition

import (
	"signpost"
	"signpost/internal/routes"
	"signpost/internal/served"
)

// published returns the manifests that were fetched from the deployment of a definition among the files, and the
// versions of that definition. The two are the same service, which does not take feeds from itself.
func published(files []*File) (fetched, defined map[*version]bool) {
	versions := make(map[string]*version) // by the path of their manifest
	for _, f := range files {
		for i := range f.versions {
			if v := &f.versions[i]; !f.served {
				versions[routes.Path(f.BasePath, v.name)] = v
			}
		}
	}
	fetched, defined = make(map[*version]bool), make(map[*version]bool)
	for _, f := range files {
		host := addressHost(f.Name)
		if !f.served || host == "" || len(f.versions) == 0 {
			continue
		}
		v := versions[signpost.CutURL(f.Name).Path()]
		if m := f.versions[0].manifest; v != nil && mostlyIn(served.Reopen(m, served.Host(m, host)), v.manifest) {
			fetched[&f.versions[0]], defined[v] = true, true
		}
	}
	return fetched, defined
}

// mostlyIn reports whether at least half of the endpoints of a manifest are in another one, with their names. A service
// that merely has the same base path has other endpoints.
func mostlyIn(m, other signpost.Manifest) bool {
	type id struct{ url, name string }
	known := make(map[id]bool, len(other.Endpoints))
	for _, e := range other.Endpoints {
		known[id{e.URL, e.Name}] = true
	}
	common := 0
	for _, e := range m.Endpoints {
		if known[id{e.URL, e.Name}] {
			common++
		}
	}
	return common > 0 && 2*common >= len(m.Endpoints)
}
