package definition

import (
	"slices"

	"signpost"
	"signpost/internal/routes"
)

// Readable returns the manifests as [File.Manifests] does, but as far as they could be read: it skips what cannot be
// part of a manifest because of errors, such as the URLs of another version, and keeps values that findings reject.
// Unknown features are ignored.
func (f *File) Readable(features []string) []signpost.Version {
	if features == nil {
		features = f.enable
	}
	enabled := f.named(features)
	declared := make(map[string]bool)
	for _, name := range f.Versions() {
		declared[name] = true
	}
	var versions []signpost.Version
	for _, v := range f.versions {
		m := v.manifest.WithFeatures(enabled...)
		m.Endpoints = slices.DeleteFunc(m.Endpoints, func(e signpost.Endpoint) bool {
			return routes.OtherVersion(signpost.CutURL(e.URL), v.name, declared) != ""
		})
		versions = append(versions, signpost.Version{Name: v.name, Manifest: m})
	}
	return versions
}
