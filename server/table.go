package server

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"

	"signpost"
	"signpost/internal/routes"
)

// table is everything that one Publish puts in place. It is immutable.
type table struct {
	routes   map[string]*route // by path
	paths    []string
	notFound *problem
	largest  int64 // approximate size of the largest manifest in bytes
}

type route struct {
	basePath, version string
	template          *signpost.Template
	hosts             signpost.Hosts // of its service
	fields            []field        // additional header fields of its responses
	content           string         // equal if template and fields are
}

func newTable(services []Service) (*table, error) {
	t := &table{routes: make(map[string]*route, len(services))}
	taken := make(map[string]bool, len(services))
	for _, s := range services {
		base, err := routes.CleanBasePath(s.BasePath)
		if err != nil {
			return nil, err
		}
		if taken[base] {
			return nil, fmt.Errorf("base path %q is used by two services: give each its own", base)
		}
		taken[base] = true
		if err := t.add(base, s); err != nil {
			return nil, fmt.Errorf("service at %q: %w", base, err)
		}
	}
	t.notFound = notFound(t.paths)
	return t, nil
}

func (t *table) add(base string, service Service) error {
	if len(service.Versions) == 0 {
		return errors.New("it has no versions: add at least v1")
	}
	hosts, err := signpost.ParseHosts(service.Hosts...)
	if err != nil {
		return err
	}
	for _, name := range slices.SortedFunc(maps.Keys(service.Versions), compareVersions) {
		template := service.Versions[name]
		if !routes.ValidVersion(name) {
			return fmt.Errorf("%q is not a version: use v and a number, such as v1", name)
		}
		if template == nil || template.Revision() == "" {
			return fmt.Errorf("version %s has no template: use one returned by signpost.Compile", name)
		}
		if err := checkVersion(name, service.Versions); err != nil {
			return err
		}
		path := routes.Path(base, name)
		fields := []field{newField("Signpost-Revision", template.Revision())}
		deprecated := service.Deprecated[name]
		if !deprecated.Since.IsZero() { // RFC 9745
			fields = append(fields, newField("Deprecation", fmt.Sprintf("@%d", deprecated.Since.Unix())))
		}
		if !deprecated.Until.IsZero() { // RFC 8594; the last day is included
			fields = append(fields, newField("Sunset", deprecated.Until.AddDate(0, 0, 1).UTC().Format(http.TimeFormat)))
		}
		t.routes[path] = &route{base, name, template, hosts, fields, string(head{}.with(fields...).lines)}
		t.largest = max(t.largest, int64(template.Size("")))
		t.paths = append(t.paths, path)
	}
	return nil
}

func checkVersion(name string, versions map[string]*signpost.Template) error {
	if len(versions) == 1 {
		return nil
	}
	for _, url := range versions[name].URLs() {
		if other := routes.OtherVersion(signpost.CutURL(url), name, versions); other != "" {
			return fmt.Errorf("version %s lists %q: move it to %s, or remove it", name, url, other)
		}
	}
	return nil
}

// compareVersions sorts v2 before v10. Versions have no leading zeros, so the shorter number is smaller.
func compareVersions(a, b string) int {
	return cmp.Or(cmp.Compare(len(a), len(b)), cmp.Compare(a, b))
}
