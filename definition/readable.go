package definition

import (
	"signpost"
)

// Readable returns the manifests as [File.Manifests] does, but as far as they could be read: it skips what cannot be
// part of a manifest because of errors, and keeps values that findings reject. Unknown features are ignored.
func (f *File) Readable(features []string) []signpost.Version {
	if features == nil {
		features = f.enable
	}
	enabled := f.named(features)
	var versions []signpost.Version
	for _, v := range f.versions {
		versions = append(versions, signpost.Version{Name: v.name, Manifest: v.manifest.WithFeatures(enabled...)})
	}
	return versions
}
