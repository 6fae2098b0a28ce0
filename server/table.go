package server

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"

	"signpost"
	"signpost/internal/routes"
)

// table is everything that one Publish puts in place. It does not change, but for its cache.
type table struct {
	routes   map[string]*route // by path
	paths    []string
	notFound *problem
	cache    *cache
}

// route is one manifest.
type route struct {
	version  string
	template *signpost.Template
	revision field
}

func newTable(services []Service, cache *cache) (*table, error) {
	t := &table{routes: make(map[string]*route), cache: cache}
	taken := make(map[string]bool)
	for _, s := range services {
		base, err := routes.CleanBasePath(s.BasePath)
		if err != nil {
			return nil, err
		}
		if taken[base] {
			return nil, fmt.Errorf("base path %q is used by two services: give each its own", base)
		}
		taken[base] = true
		if err := t.add(base, s.Versions); err != nil {
			return nil, fmt.Errorf("service at %q: %w", base, err)
		}
	}
	t.notFound = newNotFound(t.paths)
	return t, nil
}

func (t *table) add(base string, versions map[string]*signpost.Template) error {
	if len(versions) == 0 {
		return errors.New("it has no versions: add at least v1")
	}
	names := slices.SortedFunc(maps.Keys(versions), compareVersions)
	declared := make(map[string]bool, len(names))
	for _, name := range names {
		declared[name] = true
	}
	for _, name := range names {
		template := versions[name]
		if !routes.ValidVersion(name) {
			return fmt.Errorf("version %q is not a version: write v and a number, such as v1", name)
		}
		if template == nil || template.Revision() == "" {
			return fmt.Errorf("version %s has no template: use one that signpost.Compile returned", name)
		}
		for _, u := range template.URLs() {
			if other := routes.OtherVersion(u, name, declared); other != "" {
				return fmt.Errorf("version %s lists %q: move it to %s, or leave it out", name, u, other)
			}
		}
		path := routes.Path(base, name)
		t.routes[path] = &route{version: name, template: template, revision: newField("Signpost-Revision", template.Revision())}
		t.paths = append(t.paths, path)
	}
	return nil
}

// compareVersions puts v2 before v10. Versions have no leading zeros, so the shorter number is smaller.
func compareVersions(a, b string) int {
	return cmp.Or(cmp.Compare(len(a), len(b)), cmp.Compare(a, b))
}
