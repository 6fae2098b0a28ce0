package diff

import (
	"strings"

	"signpost"
)

// faultsOf returns the parts of endpoints in which a definition had errors, by URL as written and by the path of a
// subject.
func faultsOf(v *signpost.Version) map[string]map[string]bool {
	all := make(map[string]map[string]bool)
	for _, path := range v.Errors {
		url := path.Endpoint()
		if all[url] == nil {
			all[url] = make(map[string]bool)
		}
		all[url][fault(v, path)] = true
	}
	return all
}

// Faults that cover more than one part.
const (
	faultEverything = ""  // of an endpoint
	faultAdded      = "+" // a field that does not exist: it was meant for something that the old state lacks
)

// fault names the part of an endpoint that an error is in, as the path of a subject does.
func fault(v *signpost.Version, path signpost.Path) string {
	if len(path) < 2 {
		return faultEverything
	}
	e := endpointAt(v, path.Endpoint())
	switch field := path[1]; field {
	case signpost.Field("name"), signpost.Field("method"), signpost.Field("mime_type"):
		return string(field.(signpost.Field))
	case signpost.Field("context_obj"):
		if i, ok := itemOf(path); ok && i < len(e.ContextObj) && e.ContextObj[i].Key != "" {
			return subjectContext + "\x00" + e.ContextObj[i].Key
		}
		return subjectContext
	case signpost.Field("modifiers"):
		if i, ok := itemOf(path); ok && i < len(e.Modifiers) && e.Modifiers[i].ID != "" {
			return subjectModifier + "\x00" + e.Modifiers[i].ID
		}
		return subjectModifier
	}
	return faultAdded
}

// itemOf returns the item of a list that the path of an error leads to.
func itemOf(path signpost.Path) (int, bool) {
	if len(path) < 3 {
		return 0, false
	}
	i, ok := path[2].(signpost.Item)
	return int(i), ok
}

func endpointAt(v *signpost.Version, url string) *signpost.Endpoint {
	for i := range v.Manifest.Endpoints {
		if e := &v.Manifest.Endpoints[i]; e.URL == url {
			return e
		}
	}
	return &signpost.Endpoint{}
}

// faulty reports whether the definition of the old state had an error in what a change concerns.
func (d *differ) faulty(at subject, old any) bool {
	if d.faults[faultEverything] || old == nil && d.faults[faultAdded] {
		return true
	}
	for i := range at.path {
		if i < 2 && d.faults[strings.Join(at.path[:i+1], "\x00")] {
			return true
		}
	}
	return false
}
