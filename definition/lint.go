package definition

import (
	"fmt"
	"slices"

	"signpost"
)

// lint reports what is wrong with the values that were read. The rules about manifests, modifiers and
// features are the contract's own; here they get their place in the file.
func (d *decoder) lint() {
	d.lintFeatures()
	for _, shared := range d.modifiers {
		for _, f := range shared.modifier.Validate() {
			d.reportAt(f, shared.field, f.Path)
		}
	}
	enabled := d.file.named(d.file.enable)
	for _, v := range d.file.versions {
		for _, f := range v.manifest.WithFeatures(enabled...).Validate() {
			d.reportEndpoint(f, v.endpoints[f.Path[0].(string)])
		}
		for _, e := range v.manifest.Endpoints {
			if other := signpost.ForeignVersion(e.URL, v.name, d.file.Versions()); other != "" {
				d.add(ruleVersionMismatch, fmt.Sprintf("a manifest lists the URLs of its own version: move it to %s, or correct the URL", other),
					v.endpoints[e.URL].key, "URL %q of version %s names version %s", e.URL, v.name, other)
			}
		}
	}
}

func (d *decoder) lintFeatures() {
	for _, declared := range d.features {
		for _, f := range declared.feature.Validate() {
			d.reportAt(f, declared.field, f.Path)
		}
		if len(declared.feature.ContextObj) == 0 && !declared.value.broken {
			d.add(signpost.RuleRequiredField, "", declared.key, "feature %q has no context_obj", declared.key.text)
		}
	}
	known := d.file.Features()
	for i, n := range d.enable {
		switch {
		case !slices.Contains(known, n.text):
			d.unknown(ruleUnknownFeature, n, known, fmt.Sprintf("there is no feature %q", n.text))
		case slices.ContainsFunc(d.enable[:i], func(before *node) bool { return before.text == n.text }):
			d.add(signpost.RuleDuplicateKey, "name it once", n, "feature %q is enabled twice", n.text)
		default:
			d.file.enable = append(d.file.enable, n.text)
		}
	}
}

// reportEndpoint reports a finding about an endpoint. What is wrong with a shared modifier itself is said
// once, where it is declared; what is wrong with using it here is said here.
func (d *decoder) reportEndpoint(f signpost.Finding, at field) {
	path := f.Path[1:]
	if len(path) > 1 && path[0] == "modifiers" {
		_, modifiers := at.value.field("modifiers")
		if item := modifiers.items[path[1].(int)]; item.kind == kindString {
			for _, shared := range d.modifiers {
				alone := func(own signpost.Finding) bool { return own.Rule == f.Rule && own.Message == f.Message }
				if shared.key.text == item.text && slices.ContainsFunc(shared.modifier.Validate(), alone) {
					return
				}
			}
			path = path[:2]
		}
	}
	d.reportAt(f, at, path)
}

// reportAt reports a finding at the value that the path leads to from a field. Where the path leads
// nowhere, something is missing: then it is reported at the innermost value that is there. Nothing is
// reported inside a value that was found to be broken.
func (d *decoder) reportAt(f signpost.Finding, from field, path signpost.Path) {
	at, n := from.key, from.value
	for len(path) > 0 && !n.broken {
		var next *node
		switch step := path[0].(type) {
		case int:
			if step < len(n.items) {
				next = n.items[step]
			}
			path = path[1:]
		case string:
			step, path = shortForm(n, step, path)
			_, next = n.field(step)
		}
		if next == nil {
			break
		}
		at, n = next, next
	}
	if !n.broken {
		d.report(f, at)
	}
}

// shortForm translates a step into a modifier that is written with a kind: its fields are those of the
// builders, where a path speaks of the manifest.
func shortForm(n *node, step string, path signpost.Path) (string, signpost.Path) {
	if key, _ := n.field("kind"); key == nil || step != "params" || len(path) < 3 {
		return step, path[1:]
	}
	switch path[2:min(4, len(path))].String() {
	case "ui.label":
		return "label", path[4:]
	case "ui.placeholder":
		return "placeholder", path[4:]
	case "ui.options":
		return "options", path[4:]
	case "schema.type":
		return "kind", path[4:]
	case "schema.default":
		return "defaultValue", path[4:]
	case "schema.enum":
		return "options", nil
	}
	return path[2].(string), path[3:]
}
