package definition

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"unicode"

	"signpost"
	"signpost/internal/spell"
	"signpost/internal/tree"
)

// decoder converts the tree to the values of a [File]. It reports unknown fields and values of the wrong type; lint
// checks the values themselves. A value that it cannot use stays zero and is never skipped, so that the n-th item of a
// list stays the n-th.
type decoder struct {
	*parser
	opts   Options
	file   *File
	served bool // a manifest, which has nothing shared or in short form

	modifiers       []*sharedModifier
	shared          map[string]*sharedModifier // the same by name
	sharedNames     []string
	unreadModifiers bool // the shared modifiers cannot be read, so names cannot be checked
	sharedSize      int  // bytes that shared modifiers add to the manifests

	features []declaredFeature
	enable   []*tree.Node

	contextKeys    []keyUse
	hasContextKeys bool // the file declares its context keys
	deprecated     []deprecatedNode

	allowances []*allowance
	allowed    map[allowKey][]*allowance

	current    *tree.Node                           // the endpoint being read
	meant      map[*tree.Node]map[string]tree.Field // misspelt fields of an object, by intended name
	incomplete bool                                 // something was not read, so what seems unused may be used
	compared   int                                  // pairs of letters compared to find the nearest names
	judged     int                                  // endpoints linted again with a declared feature
	pairs      int                                  // number of endpoints checked for clashes with features
}

// reader reads one field of an object.
type reader struct {
	name string
	read func(*tree.Node)
}

// object reads the fields of an object, which messages call what.
func (d *decoder) object(n *tree.Node, what string, readers ...reader) bool {
	if !d.is(n, what, tree.Object) {
		return false
	}
	for _, f := range n.Fields {
		i := slices.IndexFunc(readers, func(r reader) bool { return r.name == f.Key.Text })
		switch {
		case i >= 0:
			readers[i].read(f.Value)
		case d.isExtension(f.Key.Text):
		default:
			d.unknownField(n, f, what, readers)
		}
	}
	return true
}

// isExtension reports whether a field is the author's own, for example to hold YAML anchors.
func (d *decoder) isExtension(name string) bool { return !d.served && strings.HasPrefix(name, "x-") }

// synonyms maps field names that people use instead of ours. They are not misspellings.
var synonyms = map[string]string{
	"default":      "defaultValue",
	"content_type": "mime_type",
	"contentType":  "mime_type",
	"context":      "context_obj",
}

// unknownField reports an unknown field. If it is clear which one was meant, it is read as that one, so that
// consequences of the misspelling are not reported.
func (d *decoder) unknownField(n *tree.Node, f tree.Field, what string, readers []reader) {
	names := make([]string, len(readers))
	for i, r := range readers {
		names[i] = r.name
	}
	message := fmt.Sprintf("unknown field %q in %s", f.Key.Text, what)
	for _, missing := range []struct{ after, what string }{{" ", "a colon is missing"}, {":", "a space is missing after the colon"}} {
		word, rest, _ := strings.Cut(f.Key.Text, missing.after)
		if f.Value.Kind == tree.Null && rest != "" && slices.Contains(names, word) {
			d.add(RuleUnknownField, fmt.Sprintf("%s: %s: %s", missing.what, word, rest), f.Key, "%s", message)
			d.broken[f.Value] = true
			d.mean(n, word, f)
			return
		}
	}
	if synonym := synonyms[f.Key.Text]; slices.Contains(names, synonym) {
		names = []string{synonym}
	}
	meant := d.unknown(RuleUnknownField, f.Key, names, message)
	if key, _ := d.field(n, meant); key != nil || meant == "" {
		if meant == "" {
			d.incomplete = true
		} else { // both are present, so renaming one is not the solution
			d.findings[len(d.findings)-1].Fix = nil
		}
		return
	}
	d.mean(n, meant, f)
	readers[slices.IndexFunc(readers, func(r reader) bool { return r.name == meant })].read(f.Value)
}

// mean records that a field of an object was meant to have another name.
func (d *decoder) mean(n *tree.Node, name string, f tree.Field) {
	if d.meant == nil {
		d.meant = make(map[*tree.Node]map[string]tree.Field)
	}
	if d.meant[n] == nil {
		d.meant[n] = make(map[string]tree.Field)
	}
	d.meant[n][name] = f
}

// field returns the key and the value of a field, misspelt or not, or nil.
func (d *decoder) field(n *tree.Node, name string) (key, value *tree.Node) {
	if key, value = n.Field(name); key == nil {
		f := d.meant[n][name]
		key, value = f.Key, f.Value
	}
	return key, value
}

// unknown reports an unknown name. It returns the one that was probably meant, or "".
func (d *decoder) unknown(rule string, at *tree.Node, known []string, message string) (meant string) {
	f := signpost.Finding{Rule: rule, Severity: signpost.SeverityError, Message: message}
	meant = d.nearest(at.Text, known)
	if only := len(known) == 1 && synonyms[at.Text] == known[0]; only {
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
	d.broken[at] = true
	d.report(f, at)
	return meant
}

// maxListed is the maximum number of known names in a hint. No object has more fields, and a longer list of shared
// modifiers or features would hide the rest of the finding.
const maxListed = 12

// maxCompared limits how many pairs of letters are compared to find the nearest names, because the work is the product of
// the number of misspelt and known names. It takes about a tenth of a second, and is enough for a hundred misspelt names
// among a thousand.
const maxCompared = 10_000_000

// mayCompare reports whether two names may still be compared, and counts them.
func (d *decoder) mayCompare(a, b string) bool {
	d.compared += (len(a) + 1) * (len(b) + 1)
	return d.compared <= maxCompared
}

// nearest returns the known name that is most similar, or "".
func (d *decoder) nearest(name string, known []string) string {
	for _, k := range known {
		if !d.mayCompare(name, k) {
			return ""
		}
	}
	return spell.Nearest(name, known)
}

// is checks the kind of a value, and reports a finding if it is wrong.
func (d *decoder) is(n *tree.Node, what string, want tree.Kind) bool {
	if d.broken[n] {
		return false
	}
	if n.Kind == want && !n.Date {
		return true
	}
	d.broken[n] = true
	f := signpost.Finding{
		Rule: signpost.RuleWrongType, Severity: signpost.SeverityError, Message: fmt.Sprintf("%s must be %s, not %s", what, want, n.Kind),
	}
	switch {
	case n.Date:
		f.Message, f.Hint = fmt.Sprintf("YAML reads %s as a date, not %s", n.Text, want), "put it in quotes"
		if want == tree.String {
			f.Fix = d.replacement(n, n.Text)
		}
	case want == tree.String && (n.Kind == tree.Number || n.Kind == tree.Bool):
		f.Hint, f.Fix = fmt.Sprintf("put it in quotes: %q", n.Text), d.replacement(n, n.Text)
	case want == tree.Bool && n.Kind == tree.String:
		f.Hint = "write true or false, without quotes"
		if lower := strings.ToLower(n.Text); lower == "true" || lower == "false" {
			f.Fix = d.replacement(n, lower == "true")
		}
	case n.Kind == tree.Null && slices.Contains(requiredFields, what):
		f.Hint = "give it a value"
	case n.Kind == tree.Null:
		f.Hint = "give it a value, or remove the field"
	case want == tree.Bool:
		f.Hint = "write true or false"
	default:
		what, _, _ = strings.Cut(what, " v") // such as version v1
		f.Hint = forms[form{what, want}]
	}
	d.report(f, n)
	return false
}

// requiredFields lists fields that are always required where they occur.
var requiredFields = []string{"id", "key", "kind", "label", "method", "mime_type", "name", "type", "value", "versions", "endpoints"}

// form identifies what a hint shows.
type form struct {
	what string
	kind tree.Kind
}

// forms shows what to write in place of a value of the wrong kind.
var forms = map[form]string{
	{"the definition", tree.Object}: "versions: {v1: {endpoints: {…}}}",
	{"versions", tree.Object}:       "such as versions: {v1: {endpoints: {…}}}",
	{"version", tree.Object}:        "such as v1: {endpoints: {…}}",
	{"endpoints", tree.Object}:      "the URL is the key: https://{{host}}/v1/feeds: {name: Feeds, method: get, mime_type: application/json}",
	{"endpoint", tree.Object}:       "such as {name: Feeds, method: get, mime_type: application/json}",
	{"modifiers", tree.Object}:      "give each one a name: modifiers: {limit: {kind: number, …}}",
	{"modifiers", tree.List}:        "such as [limit], with the names of shared modifiers",
	{"modifier", tree.Object}:       "such as {kind: text, id: …, name: …, key: …, label: …}",
	{"params", tree.List}:           "such as [{key: …, ui: {label: …}, schema: {type: string}}]",
	{"options", tree.List}:          "such as [{value: newest, label: Newest first}]",
	{"option", tree.Object}:         "such as {value: newest, label: Newest first}",
	{"context_obj", tree.List}:      "such as [{key: user_account.profile, type: ctx}]",
	{"context item", tree.Object}:   "such as {key: user_account.profile, type: ctx}",
	{"context_keys", tree.Object}:   "such as {user_account.profile: The profile that the viewer chose}",
	{"features", tree.Object}:       "such as {parental-control: {url_suffix: /kids, context_obj: […]}}",
	{"feature", tree.Object}:        "such as {url_suffix: /kids, context_obj: […]}",
	{"enable", tree.List}:           "such as [authentication]",
	{"allow", tree.Object}:          "such as {plain-http: the partner has no TLS}",
}

func (d *decoder) list(n *tree.Node, what string) []*tree.Node {
	if !d.is(n, what, tree.List) {
		return nil
	}
	return n.Items
}

// names reads a list of names. If it finds text instead, it reports the list that was probably meant and returns its
// names anyway. known has some of the names.
func (d *decoder) names(n *tree.Node, what string, known []string) []*tree.Node {
	if n.Kind != tree.String || n.Text == "" || d.broken[n] || n.Date {
		d.incomplete = d.incomplete || n.Kind != tree.List
		return d.list(n, what)
	}
	var items []*tree.Node
	var names []string
	certain := true
	for name := range strings.SplitSeq(n.Text, ",") {
		name = strings.TrimSpace(name)
		certain = certain && !slices.Contains(names, name)
		names = append(names, name)
		item := d.doc.NodeAt(n.Start(), n.End())
		item.Text = name
		items = append(items, item)
		certain = certain && slices.Contains(known, name)
	}
	f := signpost.Finding{
		Rule: signpost.RuleWrongType, Severity: signpost.SeverityError, Message: fmt.Sprintf("%s must be a list, not text", what),
		Hint: fmt.Sprintf("write [%s]", strings.Join(names, ", ")),
	}
	if certain {
		f.Fix = d.listOf(n, names)
	}
	d.broken[n] = true
	d.report(f, n)
	if !certain {
		d.incomplete = true
		return nil
	}
	return items
}

// text returns a reader of a text field. Empty text counts as a missing field.
func (d *decoder) text(name string, to *string) reader {
	return reader{name, func(n *tree.Node) {
		d.is(n, name, tree.String)
		*to = n.Text // also for 20 instead of "20", so that the other checks can continue
	}}
}

func (d *decoder) truth(name string, to *bool) reader {
	return reader{name, func(n *tree.Node) {
		if d.is(n, name, tree.Bool) {
			*to = n.Text == "true"
		}
	}}
}

// scalar returns a reader of a default value: text, number or Boolean.
func (d *decoder) scalar(name string, to *any) reader {
	return reader{name, func(n *tree.Node) {
		switch {
		case d.broken[n]:
		case n.Kind == tree.String && !n.Date:
			*to = n.Text
		case n.Kind == tree.Number:
			*to = json.Number(n.Text)
		case n.Kind == tree.Bool:
			*to = n.Text == "true"
		case n.Date:
			d.is(n, name, tree.String)
		default:
			d.broken[n] = true
			hint := ""
			if n.Kind == tree.Null {
				hint = "give it a value, or remove the field"
			}
			d.add(signpost.RuleWrongType, hint, n, "%s must be text, a number, true or false, not %s", name, n.Kind)
		}
	}}
}

// labelFor turns a name into a label: most_recent becomes "Most recent".
func labelFor(name string) string {
	label := []rune(strings.Join(strings.FieldsFunc(name, func(r rune) bool { return r == '_' || r == '-' || unicode.IsSpace(r) }), " "))
	if len(label) == 0 {
		return name
	}
	label[0] = unicode.ToUpper(label[0])
	return string(label)
}
