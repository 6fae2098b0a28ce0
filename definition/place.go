package definition

import (
	"slices"

	"signpost"
	"signpost/internal/tree"
	"signpost/internal/warnings"
)

// place is where a key or a value is: what a file keeps of it after its tree is released.
type place struct{ line, column, width int }

// placeOf returns where a node is. Nil is nowhere.
func placeOf(n *tree.Node) place {
	if n == nil {
		return place{}
	}
	line, column := n.Document().Position(n.Start())
	return place{line, column, n.Width()}
}

// usedRules are the rules about the use of a shared modifier in an endpoint. All others concern the modifier itself,
// and are reported once, at its declaration.
var usedRules = []string{signpost.RuleModifierIDDuplicate, signpost.RuleModifierKeyDuplicate, warnings.QueryInURL}

// reportEndpoint reports a finding about an endpoint, unless it concerns a shared modifier itself.
func (d *decoder) reportEndpoint(f signpost.Finding, at tree.Field) {
	path := f.Path[1:]
	if usesShared(f, at) {
		if !slices.Contains(usedRules, f.Rule) {
			return
		}
		f.Replacement, path = nil, f.Path[1:3] // it applies to the shared modifier, not to its name
	}
	d.reportAt(f, at, path, at.Key)
}

// usesShared reports whether a finding about an endpoint is about a modifier that it names.
func usesShared(f signpost.Finding, endpoint tree.Field) bool {
	if len(f.Path) < 3 || f.Path[1] != signpost.Field("modifiers") {
		return false
	}
	return endpoint.Value.Get("modifiers").Items[f.Path[2].(signpost.Item)].Kind == tree.String
}

// reportAt reports a finding at the value that the path leads to from a field or, if something is missing, at the
// innermost value that exists. It reports neither what is inside a broken value nor a warning that is allowed there. A
// replacement for the value becomes the fix of the finding. endpoint is the URL of the endpoint that it is about, or
// nil.
func (d *decoder) reportAt(f signpost.Finding, from tree.Field, path signpost.Path, endpoint *tree.Node) {
	at, n, found := from.Key, from.Value, true
	for len(path) > 0 && !d.broken[n] && found {
		var next *tree.Node
		switch step := path[0].(type) {
		case signpost.Item:
			if int(step) < len(n.Items) {
				next = n.Items[step]
			}
			path = path[1:]
		case signpost.Field:
			step, path = shortForm(n, step, path)
			_, next = n.Field(string(step))
		}
		found = next != nil
		if found {
			at, n = next, next
		}
	}
	allowed := f.Severity == signpost.SeverityWarning && d.allows(f.Rule, placeOf(endpoint), d.used)
	if allowed || d.broken[n] || !found && d.isLacking(n) {
		return
	}
	if f.Replacement != nil && found {
		f.Fix = d.replacement(at, f.Replacement)
	}
	d.report(f, at)
}

// shortForms has the fields of a modifier in short form by where they are in the manifest's form.
var shortForms = map[string]signpost.Field{
	"ui.label": "label", "ui.placeholder": "placeholder", "ui.options": "options",
	"schema.type": "kind", "schema.default": "defaultValue",
}

// shortForm translates a step into a modifier in short form: paths refer to the fields of the manifest, but the short
// form has those of the builders.
func shortForm(n *tree.Node, step signpost.Field, path signpost.Path) (signpost.Field, signpost.Path) {
	if !n.Has("kind") || step != "params" || len(path) < 3 {
		return step, path[1:]
	}
	within := path[2:min(4, len(path))].String()
	if within == "schema.enum" {
		return "options", nil
	}
	if field := shortForms[within]; field != "" {
		return field, path[4:]
	}
	return path[2].(signpost.Field), path[3:]
}
