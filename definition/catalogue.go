package definition

import (
	"fmt"
	"maps"
	"slices"

	"signpost"
	"signpost/internal/fields"
	"signpost/internal/tree"
)

// contextKeys reads a catalogue: the context keys that apps have, with descriptions.
func contextKeys(n *tree.Node) map[string]string {
	keys := make(map[string]string, len(n.Fields))
	for _, f := range n.Fields {
		keys[f.Key.Text] = f.Value.Text // the key is known, whatever describes it
	}
	return keys
}

// ParseContextKeys reads a catalogue of context keys that several services share: a YAML or JSON object that maps keys
// to descriptions. Pass the result in [Options.ContextKeys]; it is nil if there are findings.
func ParseContextKeys(name string, text []byte) (map[string]string, []signpost.Finding) {
	d := newDecoder(&File{Name: name}, text, Options{})
	root := d.doc.Root
	if root != nil {
		d.check(root, fields.Catalogue, "context_keys")
	}
	d.finish()
	if len(d.findings) > 0 {
		return nil, d.findings
	}
	return contextKeys(root), nil
}

// ContextKeys returns the context keys that the file declares and those of the built-in features, with their
// descriptions. The latter have none unless the file describes them.
func (f *File) ContextKeys() map[string]string {
	all := make(map[string]string)
	for _, feature := range signpost.BuiltIn() {
		for _, item := range feature.ContextObj {
			all[item.Key] = ""
		}
	}
	maps.Copy(all, f.contextKeys)
	return all
}

// checkContextKeys reports keys that are in no catalogue, if there is one.
func (d *decoder) checkContextKeys() {
	if d.contextKeys == nil && d.opts.ContextKeys == nil {
		return
	}
	known := d.ContextKeys()
	maps.Copy(known, d.opts.ContextKeys)
	names := slices.Sorted(maps.Keys(known))
	for _, key := range d.keys {
		if _, ok := known[key.Text]; ok {
			continue
		}
		hint := "add it to context_keys, if your apps have it"
		if near, _ := d.nearest(key.Text, names); near != "" { // no fix: it would change what apps send
			hint = fmt.Sprintf("did you mean %q?", near)
		}
		d.add(RuleUnknownContextKey, hint, key, "unknown context key %q", key.Text)
	}
}
