package diff

import (
	"slices"

	"signpost"
)

// repaired returns old without the parts that [signpost.Manifest.Validate] rejects, if it has errors. Nobody could register
// such a part, so fixing it breaks nothing. A rejected part is replaced by the one with the same identity in new, or
// dropped if new has none.
func repaired(old, new signpost.Service) signpost.Service {
	if !old.Invalid {
		return old
	}
	now := make(map[string]signpost.Manifest)
	for _, v := range new.Versions {
		now[v.Name] = v.Manifest
	}
	old.Versions = slices.Clone(old.Versions)
	for i, v := range old.Versions {
		if findings := v.Manifest.Validate(); len(findings) > 0 {
			old.Versions[i].Manifest = repair(v.Manifest, now[v.Name], findings)
		}
	}
	return old
}

func repair(old, new signpost.Manifest, findings []signpost.Finding) signpost.Manifest {
	wrong := make(map[string][]signpost.Path) // by URL
	for _, f := range findings {
		wrong[f.Path.Endpoint()] = append(wrong[f.Path.Endpoint()], f.Path[1:])
	}
	current := make(map[string]*signpost.Endpoint, len(new.Endpoints))
	for i := range new.Endpoints {
		current[new.Endpoints[i].URL] = &new.Endpoints[i]
	}
	var repaired signpost.Manifest
	seen := make(map[string]bool)
	for _, e := range old.Endpoints {
		if _, err := signpost.ParseURL(e.URL); err != nil || seen[e.URL] {
			continue
		}
		seen[e.URL] = true
		if len(wrong[e.URL]) > 0 {
			e = e.Clone()
			repairEndpoint(&e, wrong[e.URL], current[e.URL])
		}
		repaired.Endpoints = append(repaired.Endpoints, e)
	}
	return repaired
}

// repairEndpoint replaces the values at the given paths with those of now. A nil now means that the endpoint is gone.
func repairEndpoint(e *signpost.Endpoint, wrong []signpost.Path, now *signpost.Endpoint) {
	if now == nil {
		now = &signpost.Endpoint{Name: e.Name, Method: e.Method, MIMEType: e.MIMEType}
	}
	items, modifiers := make(map[any]bool), make(map[any]bool) // by step
	for _, path := range wrong {
		if len(path) == 0 { // it is in the manifest twice
			continue
		}
		switch path[0] {
		case signpost.Field("name"):
			e.Name = now.Name
		case signpost.Field("method"):
			e.Method = now.Method
		case signpost.Field("mime_type"):
			e.MIMEType = now.MIMEType
		case signpost.Field("context_obj"):
			items[path[1]] = true
		case signpost.Field("modifiers"):
			modifiers[path[1]] = true
		}
	}
	e.ContextObj = replaceItems(e.ContextObj, now.ContextObj, items, func(c *signpost.ContextItem) string { return c.Key })
	e.Modifiers = replaceItems(e.Modifiers, now.Modifiers, modifiers, func(m *signpost.Modifier) string { return m.ID })
}

// replaceItems replaces the wrong items with those of now that have the same key, or drops them. Keys in the result are
// unique.
func replaceItems[T any](old, now []T, wrong map[any]bool, key func(*T) string) []T {
	current := make(map[string]*T, len(now))
	for i := range now {
		current[key(&now[i])] = &now[i]
	}
	var items []T
	seen := make(map[string]bool)
	for i := range old {
		item := &old[i]
		if wrong[signpost.Item(i)] {
			item = current[key(item)]
		}
		if item != nil && !seen[key(item)] {
			seen[key(item)] = true
			items = append(items, *item)
		}
	}
	return items
}
