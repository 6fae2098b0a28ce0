package definition

import (
	"cmp"
	"fmt"
	"slices"

	"signpost"
	"signpost/internal/tree"
)

// keyUse is an occurrence of a context key in an endpoint or a feature.
type keyUse struct {
	key      string
	at       *tree.Node
	endpoint *tree.Node // nil in a feature
}

// readContextKeys reads the catalogue of a file: the context keys that its apps have, with descriptions.
func (d *decoder) readContextKeys(n *tree.Node) {
	if !d.is(n, "context_keys", tree.Object) {
		return
	}
	d.hasContextKeys = true
	d.file.contextKeys = make(map[string]string, len(n.Fields))
	for _, f := range n.Fields {
		if f.Value.Kind != tree.Null {
			d.is(f.Value, "the description of a context key", tree.String)
		}
		d.file.contextKeys[f.Key.Text] = f.Value.Text // the key is known, whatever describes it
	}
}

// ParseContextKeys reads a catalogue of context keys that several services share: a YAML or JSON object that maps keys
// to descriptions. Pass the result in [Options.ContextKeys]; it is nil if there are findings.
func ParseContextKeys(name string, text []byte) (map[string]string, []signpost.Finding) {
	f := &File{Name: name, parser: newParser(name, text, false)}
	if root := f.parser.doc.Root; root != nil {
		d := decoder{parser: f.parser, file: f}
		d.readContextKeys(root)
	}
	f.parser.finish()
	if len(f.parser.findings) > 0 {
		return nil, f.parser.findings
	}
	return f.contextKeys, nil
}

// ContextKeys returns the context keys that the file declares and those of the built-in features, with their
// descriptions. The latter have none unless the file describes them.
func (f *File) ContextKeys() map[string]string {
	all := builtInKeys()
	for key, description := range f.contextKeys {
		all[key] = description
	}
	return all
}

func builtInKeys() map[string]string {
	keys := make(map[string]string)
	for _, feature := range []signpost.Feature{signpost.Authentication(), signpost.GeoRestriction()} {
		for _, item := range feature.ContextObj {
			keys[item.Key] = ""
		}
	}
	return keys
}

// lintContextKeys reports keys that are in no catalogue, if there is one, and keys that look like others.
func (d *decoder) lintContextKeys() {
	known := d.file.ContextKeys()
	for key, description := range d.opts.ContextKeys {
		known[key] = cmp.Or(description, known[key])
	}
	if d.hasContextKeys || d.opts.ContextKeys != nil {
		names := make([]string, 0, len(known))
		for key := range known {
			names = append(names, key)
		}
		slices.Sort(names)
		for _, use := range d.contextKeys {
			if _, ok := known[use.key]; ok {
				continue
			}
			f := signpost.Finding{Rule: RuleUnknownContextKey, Severity: signpost.SeverityError,
				Message: fmt.Sprintf("unknown context key %q", use.key), Hint: "add it to context_keys, if your apps have it"}
			if near := d.nearest(use.key, names); near != "" { // no fix: it would change what apps send
				f.Hint = fmt.Sprintf("did you mean %q?", near)
			}
			d.report(f, use.at)
		}
		return // cataloged keys are intended
	}
	d.lintLookalikes(known)
}

// lintLookalikes reports keys that differ from others by a letter or two: the rarer one is probably misspelt.
func (d *decoder) lintLookalikes(known map[string]string) {
	uses := make(map[string]int)
	var order []keyUse // each key at its first use
	for _, use := range d.contextKeys {
		if uses[use.key]++; uses[use.key] == 1 {
			order = append(order, use)
		}
	}
	for i, use := range order {
		d.file.keyUses = append(d.file.keyUses, keyAt{use.key, uses[use.key], d.placeOf(use.at, use.endpoint)})
		if _, ok := known[use.key]; ok {
			continue
		}
		other := ""
		for key := range known {
			if lookAlike(use.key, key) {
				other = key
			}
		}
		for j, candidate := range order {
			if other != "" || !d.mayCompare(use.key, candidate.key) {
				break
			}
			rarer := uses[use.key] < uses[candidate.key] || uses[use.key] == uses[candidate.key] && j < i
			if rarer && lookAlike(use.key, candidate.key) {
				other = candidate.key
			}
		}
		if other != "" {
			d.warn(signpost.Finding{
				Rule: RuleContextKeyLookalike, Severity: signpost.SeverityWarning,
				Message: fmt.Sprintf("context key %q looks like %q", use.key, other),
				Hint:    "correct it, or list both in context_keys",
			}, tree.Field{Key: use.at, Value: use.at}, nil, use.endpoint)
		}
	}
}

// builtIn returns the built-in features, in application order.
func builtIn() []signpost.Feature {
	return []signpost.Feature{signpost.Authentication(), signpost.GeoRestriction()}
}
