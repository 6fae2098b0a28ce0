package definition

import (
	"slices"

	"signpost"
	"signpost/internal/routes"
	"signpost/internal/served"
)

// published returns the versions to leave out of a comparison because another file has them: a manifest that was fetched
// from the deployment of a definition is the same service, which does not take feeds from itself. The definition stays if
// it is judged.
func published(files, registered []*File) map[*version]bool {
	type defined struct {
		*version
		judged bool
	}
	versions := make(map[string]defined) // by the path of their manifest
	all := slices.Concat(files, registered)
	for i, f := range all {
		for j := range f.versions {
			if v := &f.versions[j]; !f.served {
				versions[routes.Path(f.BasePath, v.name)] = defined{v, i < len(files)}
			}
		}
	}
	out := make(map[*version]bool)
	for _, f := range all {
		host := addressHost(f.Name)
		if !f.served || host == "" || len(f.versions) == 0 {
			continue
		}
		fetched, v := &f.versions[0], versions[signpost.CutURL(f.Name).Path()]
		if v.version != nil && mostlyIn(served.Reopen(fetched.manifest, served.Host(fetched.manifest, host)), v.manifest) {
			if v.judged {
				out[fetched] = true
			} else {
				out[v.version] = true
			}
		}
	}
	return out
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
