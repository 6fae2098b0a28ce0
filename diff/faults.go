package diff

import (
	"cmp"
	"slices"

	"signpost"
)

// A fault is where a definition had an error in an endpoint: the first steps to a subject, or none for all of the
// endpoint.
type fault []string

// faultAdded is the last step of a fault about something that the old state lacks: a field that does not exist was
// meant for it, or a feature that does not exist would have added it.
const faultAdded = "+"

// faultsOf returns the faults of the endpoints of a definition, by URL as written.
func faultsOf(v *signpost.Version) map[string][]fault {
	if len(v.Errors) == 0 {
		return nil
	}
	endpoints := make(map[string]*signpost.Endpoint, len(v.Manifest.Endpoints))
	for i, e := range slices.Backward(v.Manifest.Endpoints) { // the first one with a URL counts
		endpoints[e.URL] = &v.Manifest.Endpoints[i]
	}
	all := make(map[string][]fault)
	for _, path := range v.Errors {
		url := path.Endpoint()
		e := cmp.Or(endpoints[url], &signpost.Endpoint{})
		all[url] = append(all[url], faultAt(e, path))
	}
	return all
}

// faultAt returns the fault for the path of an error in an endpoint.
func faultAt(e *signpost.Endpoint, path signpost.Path) fault {
	if len(path) < 2 {
		return nil
	}
	item := -1
	if len(path) > 2 {
		if i, ok := path[2].(signpost.Item); ok {
			item = int(i)
		}
	}
	f := fault{faultAdded}
	field, _ := path[1].(signpost.Field)
	switch field {
	case "name", "method", "mime_type":
		f = fault{string(field)}
	case "enable":
		f = fault{subjectContext, faultAdded}
	case "context_obj":
		f = fault{subjectContext}
		if item >= 0 && item < len(e.ContextObj) && e.ContextObj[item].Key != "" {
			f = append(f, e.ContextObj[item].Key)
		}
	case "modifiers":
		f = fault{subjectModifier}
		if item >= 0 && item < len(e.Modifiers) && e.Modifiers[item].ID != "" {
			f = append(f, e.Modifiers[item].ID)
		}
	}
	return f
}

// isFaulty reports whether the definition of the old state had an error in what a change concerns.
func (d *differ) isFaulty(at subject, old any) bool {
	return slices.ContainsFunc(d.faults, func(f fault) bool {
		if last := len(f) - 1; last >= 0 && f[last] == faultAdded {
			if old != nil {
				return false
			}
			f = f[:last]
		}
		return len(f) <= len(at.path) && slices.Equal(f, at.path[:len(f)])
	})
}
