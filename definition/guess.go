package definition

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"signpost"
	"signpost/internal/fields"
	"signpost/internal/routes"
	"signpost/internal/spell"
	"signpost/internal/tree"
)

// This file knows the mistakes that people make. It reports them in the words of what was meant, and lets the decoder
// read that, so that consequences are not reported.

// synonyms maps field names that people use instead of ours. They are not misspellings.
var synonyms = map[string]string{"default": "defaultValue", "content_type": "mime_type", "contentType": "mime_type", "context": "context_obj"}

// otherKinds maps words that people use for the kinds of modifiers.
var otherKinds = map[string]string{
	"string": signpost.KindText, "input": signpost.KindText, "integer": signpost.KindNumber, "int": signpost.KindNumber,
	"float": signpost.KindNumber, "bool": signpost.KindBoolean, "toggle": signpost.KindBoolean, "checkbox": signpost.KindBoolean,
	"switch": signpost.KindBoolean, "dropdown": signpost.KindSelect, "enum": signpost.KindSelect, "list": signpost.KindSelect,
}

// unknownField reports an unknown field. If it is clear which one was meant, it gets that name.
func (d *decoder) unknownField(n *tree.Node, f tree.Field, v *fields.Value, what string) {
	var names []string
	for _, field := range v.Fields {
		names = append(names, field.Name)
	}
	message := fmt.Sprintf("unknown field %q in %s", f.Key.Text, what)
	for _, missing := range []struct{ after, what string }{{" ", "a colon is missing"}, {":", "a space is missing after the colon"}} {
		word, rest, _ := strings.Cut(f.Key.Text, missing.after)
		if f.Value.Kind == tree.Null && rest != "" && slices.Contains(names, word) {
			d.add(RuleUnknownField, fmt.Sprintf("%s: %s: %s", missing.what, word, rest), f.Key, "%s", message)
			d.broken[f.Value] = true
			n.Rename(f.Key, word)
			return
		}
	}
	if synonym := synonyms[f.Key.Text]; slices.Contains(names, synonym) {
		names = []string{synonym}
	}
	meant := d.unknown(RuleUnknownField, f.Key, names, message)
	if key, _ := n.Field(meant); meant == "" {
		d.unread = true
	} else if key != nil { // both are present, so renaming one is not the solution
		d.findings[len(d.findings)-1].Fix = nil
	} else {
		n.Rename(f.Key, meant)
	}
}

const (
	// maxListed is the maximum number of known names in a hint. No object has more fields, and a longer list of shared
	// modifiers or features would hide the rest of the finding.
	maxListed = 12

	// maxNames is the number of names up to which the nearest one is looked for.
	maxNames = 1000
)

// nearest returns the known name that is most similar, or "".
func nearest(name string, known []string) string {
	if len(known) > maxNames {
		return ""
	}
	return spell.Nearest(name, known)
}

// unknown reports an unknown name. It returns the one that was probably meant, or "".
func (d *decoder) unknown(rule string, at *tree.Node, known []string, message string) (meant string) {
	d.broken[at] = true
	if len(d.findings) >= maxFindings {
		d.add(rule, "", at, "%s", message)
		return ""
	}
	f := signpost.Finding{Rule: rule, Severity: signpost.SeverityError, Message: message}
	meant = nearest(at.Text, known)
	if len(known) == 1 && synonyms[at.Text] == known[0] {
		meant = known[0]
	}
	switch {
	case meant != "":
		f.Hint = fmt.Sprintf("did you mean %q?", meant)
		if _, only := spell.Only(at.Text, known); only || len(known) == 1 {
			f.Fix = d.replacement(at, meant)
		}
	case len(known) > maxListed:
		f.Hint = fmt.Sprintf("known: %s and %d more", strings.Join(known[:maxListed], ", "), len(known)-maxListed)
	case len(known) > 0:
		f.Hint = "known: " + strings.Join(known, ", ")
	}
	d.report(f, at)
	return meant
}

// repair reports endpoints that are on the wrong level, and moves them to where they belong.
func (d *decoder) repair(root *tree.Node) {
	versions := root.Get("versions")
	var repaired []tree.Field
	for i, f := range versions.Fields {
		beside := i+1 < len(versions.Fields) && f.Value.Kind == tree.Null && versions.Fields[i+1].Key.Text == "endpoints"
		switch {
		case beside: // its endpoints are next to it
		case f.Key.Text == "endpoints" && f.Value.Kind == tree.Object:
			version, hint := *f.Key, "put endpoints under v1:"
			version.Text = "v1"
			if i > 0 && versions.Fields[i-1].Value.Kind == tree.Null && routes.ValidVersion(versions.Fields[i-1].Key.Text) {
				version.Text = versions.Fields[i-1].Key.Text
				hint = fmt.Sprintf("it belongs to %s: indent it and everything in it", version.Text)
			}
			d.add(RuleUnknownField, hint, f.Key, `"endpoints" is not a version`)
			repaired = append(repaired, tree.Field{Key: &version, Value: versions.With(f)})
		default:
			version := d.repairVersion(f)
			d.repairEndpoints(version.Get("endpoints"))
			repaired = append(repaired, tree.Field{Key: f.Key, Value: version})
		}
	}
	if versions.Kind == tree.Object && !d.broken[versions] {
		*versions = *versions.With(repaired...)
	}
}

// repairVersion moves URLs next to endpoints, or in place of them, into endpoints.
func (d *decoder) repairVersion(f tree.Field) *tree.Node {
	isURL := func(f tree.Field) bool { return strings.Contains(f.Key.Text, "://") }
	first := slices.IndexFunc(f.Value.Fields, isURL)
	if first < 0 || d.broken[f.Value] {
		return f.Value
	}
	key, endpoints := f.Value.Field("endpoints")
	url := f.Value.Fields[first].Key
	switch {
	case key == nil:
		d.add(RuleUnknownField, "put the URLs under endpoints:", url, "unknown field %q in version %s", url.Text, f.Key.Text)
		copied := *url
		key, endpoints = &copied, f.Value.With()
		key.Text = "endpoints"
	case endpoints.Kind == tree.Object || endpoints.Kind == tree.Null:
		d.add(RuleUnknownField, "it belongs under endpoints: indent it, and everything in it, by one more level", url,
			"URL %q is next to endpoints, not in it", url.Text)
	default:
		return f.Value
	}
	var urls, others []tree.Field
	for _, field := range f.Value.Fields {
		if isURL(field) {
			urls = append(urls, field)
		} else if field.Key != key {
			others = append(others, field)
		}
	}
	return f.Value.With(append(others, tree.Field{Key: key, Value: endpoints.With(append(slices.Clone(endpoints.Fields), urls...)...)})...)
}

// endpointFields is the object with the fields of an endpoint.
var endpointFields = fields.Definition.At("versions", "v1", "endpoints", "https://{{host}}/")[0]

// repairEndpoints moves fields that are next to the URL of their endpoint into the endpoint.
func (d *decoder) repairEndpoints(endpoints *tree.Node) {
	var repaired []tree.Field
	var reported *tree.Node // the URL of the last endpoint with such fields
	for _, f := range endpoints.Fields {
		last := len(repaired) - 1
		if last < 0 || endpointFields.Field(f.Key.Text) == nil || repaired[last].Value.Kind != tree.Object && repaired[last].Value.Kind != tree.Null {
			repaired = append(repaired, f)
			continue
		}
		endpoint := &repaired[last]
		if reported != endpoint.Key {
			d.add(RuleUnknownField, "it belongs under the URL: indent it, and everything in it, by one more level", f.Key,
				"%s is next to the URL %q, not in it", f.Key.Text, endpoint.Key.Text)
			reported = endpoint.Key
		}
		endpoint.Value = endpoint.Value.With(append(slices.Clone(endpoint.Value.Fields), f)...)
	}
	if reported != nil && !d.broken[endpoints] {
		*endpoints = *endpoints.With(repaired...)
	}
}

// nearlyVersion matches what people write for v1.
var nearlyVersion = regexp.MustCompile(`^[vV]?([0-9]+)(\.0)*$`)

// wrongVersion reports a version name that is none, and returns the one that was meant or, if none was, the name.
func (d *decoder) wrongVersion(versions, key *tree.Node) string {
	name := key.Text
	f := signpost.Finding{Rule: RuleUnknownField, Severity: signpost.SeverityError, Hint: "such as v1",
		Message: fmt.Sprintf("%q is not a version: a version is v and a number", name)}
	match := nearlyVersion.FindStringSubmatch(name)
	switch {
	case match != nil && strings.Trim(match[1], "0") == "":
		f.Message, f.Hint = fmt.Sprintf("%q is not a version: versions begin at v1", name), "write v1, in the URLs too"
	case match != nil && routes.ValidVersion("v"+match[1]):
		name = "v" + match[1]
		f.Hint = fmt.Sprintf("did you mean %q?", name)
		if other, _ := versions.Field(name); other == nil {
			f.Fix = d.replacement(key, name)
		}
	}
	d.report(f, key)
	return name
}

// guessType reports a value of another type if it is clear what was meant, and converts it.
func (d *decoder) guessType(n *tree.Node, v *fields.Value, what string) bool {
	switch {
	case d.served:
	case what == "option" && (n.Kind == tree.String || n.Kind == tree.Number || n.Kind == tree.Bool):
		d.bareOption(n)
		return true
	case v.Type == fields.List && n.Kind == tree.String && n.Text != "" && !n.Date && (v.Each.Names == fields.Features || v.Each.OrName != 0):
		d.namesAsText(n, v, what)
		return true
	}
	return false
}

// bareOption reports an option that is only a value. read makes up its label.
func (d *decoder) bareOption(n *tree.Node) {
	d.broken[n] = true
	f := signpost.Finding{
		Rule: signpost.RuleWrongType, Severity: signpost.SeverityError, Fix: d.optionFix(n, optionOf(n)),
		Message: fmt.Sprintf("option must be an object with value and label, not %s", n.Kind),
	}
	if f.Fix != nil {
		f.Hint = "write " + f.Fix.Edits[0].Text
	}
	d.report(f, n)
}

// optionOf returns an option for a bare value: most_recent is labelled "Most recent".
func optionOf(n *tree.Node) signpost.Option {
	words := strings.FieldsFunc(n.Text, func(r rune) bool { return r == '_' || r == '-' || unicode.IsSpace(r) })
	label := []rune(strings.Join(words, " "))
	if len(label) == 0 {
		return signpost.Option{Value: n.Text, Label: n.Text}
	}
	label[0] = unicode.ToUpper(label[0])
	return signpost.Option{Value: n.Text, Label: string(label)}
}

// namesAsText reports text in place of a list of names, and makes it the list that was meant if it has known names.
func (d *decoder) namesAsText(n *tree.Node, v *fields.Value, what string) {
	known := d.sharedNames
	if v.Each.Names == fields.Features {
		known = d.file.Features()
	}
	var items []*tree.Node
	var names []string
	certain := true
	for name := range strings.SplitSeq(n.Text, ",") {
		name = strings.TrimSpace(name)
		certain = certain && !slices.Contains(names, name) && slices.Contains(known, name)
		names = append(names, name)
		item := d.doc.NodeAt(n.Start(), n.End())
		item.Text = name
		items = append(items, item)
	}
	f := signpost.Finding{
		Rule: signpost.RuleWrongType, Severity: signpost.SeverityError, Message: fmt.Sprintf("%s must be a list, not text", what),
		Hint: fmt.Sprintf("write [%s]", strings.Join(names, ", ")),
	}
	if strings.HasPrefix(n.Text, "–") || strings.HasPrefix(n.Text, "—") { // what text processors make of a dash
		f.Hint = "begin a list item with -"
	}
	if certain {
		f.Fix = d.listOf(n, names)
		n.Items = items
	}
	d.unread = d.unread || !certain
	d.broken[n] = true
	d.report(f, n)
	n.Kind = tree.List
}

// enableForm returns the list of features to enable that somebody wrote under features.
func enableForm(n *tree.Node) string {
	var names []string
	for _, item := range n.Items {
		if item.Kind == tree.String && len(names) < maxListed {
			names = append(names, item.Text)
		}
	}
	return "enable: [" + strings.Join(names, ", ") + "]"
}

// oneItemPerField reports a list in which each field of its first item is an item of its own.
func (d *decoder) oneItemPerField(n *tree.Node, v *fields.Value) bool {
	if len(n.Items) < 2 || d.served || d.broken[n] || len(v.Fields) == 0 {
		return false
	}
	seen := make(map[string]bool)
	for _, item := range n.Items {
		if len(item.Fields) != 1 || v.Field(item.Fields[0].Key.Text) == nil || seen[item.Fields[0].Key.Text] {
			return false
		}
		seen[item.Fields[0].Key.Text] = true
	}
	d.broken[n] = true
	first, second := n.Items[0].Fields[0].Key, n.Items[1].Fields[0].Key
	d.add(signpost.RuleWrongType, "put the fields of an item together: only the first has a dash", second,
		"%s is an item of its own, next to %s", second.Text, first.Text)
	return true
}
