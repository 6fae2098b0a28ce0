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
	out := make(map[*version]bool)
	all := slices.Concat(files, registered)
	for _, fetched := range all {
		host := addressHost(fetched.Name)
		if !fetched.served || host == "" || len(fetched.versions) == 0 {
			continue
		}
		manifest := fetched.versions[0].manifest
		manifest = served.Reopen(manifest, served.Host(manifest, host))
		for i, f := range all {
			for j := range f.versions {
				v := &f.versions[j]
				same := routes.Path(f.BasePath, v.name) == signpost.CutURL(fetched.Name).Path() && mostlyIn(manifest, v.manifest)
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
