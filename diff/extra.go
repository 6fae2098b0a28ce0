package diff

import (
	"maps"

	"signpost"
)

// extra compares the fields of an object that the specification does not name.
func (d *differ) extra(at subject, old, new signpost.Extra) {
	if old == new {
		return
	}
	was, is := maps.Collect(old.All()), maps.Collect(new.All())
	for name, value := range old.All() {
		in := at.sub("extra", name)
		if now, found := is[name]; !found {
			d.add(ChangeExtra, in, value, nil, "field %q removed", name)
		} else if jsonText(value) != jsonText(now) {
			d.add(ChangeExtra, in, value, now, "field %q changed from %s to %s", name, value, now)
		}
	}
	if d.Export { // which does not say everything
		return
	}
	for name, value := range new.All() {
		if _, found := was[name]; !found {
			d.add(ChangeExtra, at.sub("extra", name), nil, value, "field %q added: %s", name, value)
		}
	}
}
