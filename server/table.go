package server

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"sync/atomic"

	"signpost"
	"signpost/internal/routes"
)

// table is everything that one Publish puts in place. It is immutable.
type table struct {
	routes   map[string]*route // by path
	paths    []string
	notFound *response
	largest  int64 // approximate size of the largest manifest in bytes
}

// route is one manifest. Tables share it, and its cache entries, as long as the manifest stays the same.
type route struct {
	basePath, version string
	template          *signpost.Template
	deprecation       signpost.Deprecation
	fields            []field     // additional header fields of its responses
	retired           atomic.Bool // no longer published
}

// newTable returns the table for the services. It reuses unchanged routes of the previous table.
func newTable(services []Service, before *table, common head) (*table, error) {
	t := &table{routes: make(map[string]*route)}
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
		if err := t.add(base, s, before); err != nil {
			return nil, fmt.Errorf("service at %q: %w", base, err)
		}
	}
	t.notFound = notFound(t.paths).response(common)
	return t, nil
}

func (t *table) add(base string, service Service, before *table) error {
	versions := service.Versions
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
			return fmt.Errorf("%q is not a version: use v and a number, such as v1", name)
		}
		if template == nil || template.Revision() == "" {
			return fmt.Errorf("version %s has no template: use one returned by signpost.Compile", name)
		}
		if err := checkVersions(template, name, declared); err != nil {
			return err
		}
		path := routes.Path(base, name)
		r, deprecation := before.routes[path], service.Deprecated[name]
		if r == nil || r.template.Revision() != template.Revision() || r.deprecation != deprecation {
			fields := append([]field{newField("Signpost-Revision", template.Revision())}, deprecationFields(deprecation)...)
			r = &route{basePath: base, version: name, template: template, deprecation: deprecation, fields: fields}
		}
		t.routes[path] = r
		t.largest = max(t.largest, int64(template.Size("")))
		t.paths = append(t.paths, path)
	}
	return nil
}

// checkVersions reports a URL of a version that names another one of those declared.
func checkVersions(template *signpost.Template, name string, declared map[string]bool) error {
	if len(declared) == 1 {
		return nil // it is the only one, as in most services
	}
	for _, e := range template.Manifest().Endpoints {
		if other := routes.OtherVersion(signpost.CutURL(e.URL), name, declared); other != "" {
			return fmt.Errorf("version %s lists %q: move it to %s, or remove it", name, e.URL, other)
		}
	}
	return nil
}

// deprecationFields returns the headers of a deprecation (RFC 9745 and RFC 8594). The last day is included.
func deprecationFields(d signpost.Deprecation) []field {
	var fields []field
	if !d.Since.IsZero() {
		fields = append(fields, newField("Deprecation", fmt.Sprintf("@%d", d.Since.Unix())))
	}
	if !d.Until.IsZero() {
		fields = append(fields, newField("Sunset", d.Until.AddDate(0, 0, 1).UTC().Format(http.TimeFormat)))
	}
	return fields
}

// routesWithout returns the routes that other does not have.
func (t *table) routesWithout(other *table) []*route {
	var gone []*route
	for path, r := range t.routes {
		if other.routes[path] != r {
			gone = append(gone, r)
		}
	}
	return gone
}

// compareVersions sorts v2 before v10. Versions have no leading zeros, so the shorter number is smaller.
func compareVersions(a, b string) int {
	return cmp.Or(cmp.Compare(len(a), len(b)), cmp.Compare(a, b))
}
