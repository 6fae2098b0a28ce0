package diff

import (
	"encoding/json"

	"signpost"
)

// extra compares the fields of an object that the specification does not name.
func (d *differ) extra(at subject, old, new signpost.Extra) {
	if old == new {
		return
	}
	fields := func(x signpost.Extra) (all []extraField) {
		for name, value := range x.All() {
			all = append(all, extraField{name, value})
		}
		return all
	}
	pairs, _ := pairUp(fields(old), fields(new), func(f *extraField) string { return f.name })
	for _, p := range pairs {
		switch {
		case p.new == nil:
			d.add(ChangeExtra, at.sub("extra", p.old.name), p.old.value, nil, "field %q removed", p.old.name)
		case p.old == nil && d.Export: // which does not say everything
		case p.old == nil:
			d.add(ChangeExtra, at.sub("extra", p.new.name), nil, p.new.value, "field %q added: %s", p.new.name, p.new.value)
		case jsonText(p.old.value) != jsonText(p.new.value):
			d.add(ChangeExtra, at.sub("extra", p.old.name), p.old.value, p.new.value,
				"field %q changed from %s to %s", p.old.name, p.old.value, p.new.value)
		}
	}
}

// extraField is a field that the specification does not name.
type extraField struct {
	name  string
	value json.RawMessage
}
