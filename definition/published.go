package definition

import (
	"slices"

	"signpost"
	"signpost/internal/routes"
)

// published returns the versions to leave out of a comparison because another file has them: a manifest that was fetched
// from a host of a definition, at the path of one of its versions, is the same service, which does not take feeds from
// itself. The definition stays if it is judged.
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
