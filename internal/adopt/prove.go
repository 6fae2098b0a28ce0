package adopt

import (
	"fmt"

	"signpost"
	"signpost/definition"
	"signpost/diff"
)

// prove returns an error unless diff finds no changes from the manifests to those that the definition gives.
func prove(file *definition.File, manifests []*manifest, host string) error {
	versions := file.Readable(nil)
	if len(versions) != len(manifests) {
		return fmt.Errorf("the definition would have %d versions instead of %d", len(versions), len(manifests))
	}
	for i, m := range manifests {
		before, err := forHost(m.kept, host)
		if err != nil {
			return fmt.Errorf("%s: %w", m.Name, err)
		}
		after, err := forHost(versions[i].Manifest, host)
		if err != nil {
			return fmt.Errorf("the definition cannot be rendered for version %s: %w", m.Version, err)
		}
		changes, err := diff.Diff(before, after)
		if err != nil {
			return fmt.Errorf("%s: %w", m.Name, err)
		}
		if len(changes) > 0 {
			first := changes[0]
			return fmt.Errorf("%s: the definition would give another manifest: %s: %s", m.Name, first.Endpoint,
				first.Message)
		}
	}
	return nil
}

// forHost returns a service with the manifest of a host, if that is known.
func forHost(m signpost.Manifest, host string) (signpost.Service, error) {
	var err error
	if host != "" {
		m, err = m.ForHost(host)
	}
	return signpost.Service{Served: true, Versions: []signpost.Version{{Manifest: m}}}, err
}
