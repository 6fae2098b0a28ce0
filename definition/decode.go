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

// decoder turns the tree into the values of a [File]. It reports fields that do not belong and values of
// the wrong type; what the values say is for lint to judge. A value that it cannot use is left at zero,
// never skipped, so that the n-th item of a list stays the n-th.
type decoder struct {
	*parser
	opts   Options
	file   *File
	served bool // it is a manifest: nothing is shared or short in it

	modifiers       []*sharedModifier
	shared          map[string]*sharedModifier // the same by name
	sharedNames     []string
	unreadModifiers bool // the shared modifiers cannot be read, so a name may be right or wrong
	sharedSize      int  // bytes of the manifests that shared modifiers make up

	features []declaredFeature
	enable   []*tree.Node

	contextKeys    []keyUse
	hasContextKeys bool // the file declares its context keys
	deprecated     []deprecatedNode

	allowances []*allowance
	allowed    map[allowKey][]*allowance

	current    *tree.Node                           // the endpoint that is being read
	meant      map[*tree.Node]map[string]tree.Field // misspelt fields of an object, by the names that were meant
	incomplete bool                                 // something was not read, so that what seems unused may be used
	compared   int                                  // pairs of letters that were compared to find the nearest names
	judged     int                                  // endpoints that were judged once more with a declared feature
	pairs      int                                  // how many endpoints were looked at for clashes with features
}

// reader says how one field of an object is read.
type reader struct {
	name string
	read func(*tree.Node)
}

// object reads the fields of an object, whose name in messages is what.
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

// isExtension reports whether a field is the author's own, such as a home for YAML anchors.
func (d *decoder) isExtension(name string) bool { return !d.served && strings.HasPrefix(name, "x-") }

// synonyms are fields that people write for others, without misspelling them.
var synonyms = map[string]string{
	"default":      "defaultValue",
	"content_type": "mime_type",
	"contentType":  "mime_type",
	"context":      "context_obj",
}

// unknownField reports a field that an object does not have. Where it is clear which one was meant, it is read as that
// one, so that nothing is reported that follows from the misspelling alone.
func (d *decoder) unknownField(n *tree.Node, f tree.Field, what string, readers []reader) {
	names := make([]string, len(readers))
	for i, r := range readers {
		names[i] = r.name
	}
	message := fmt.Sprintf("unknown field %q in %s", f.Key.Text, what)
	word, rest, _ := strings.Cut(f.Key.Text, " ")
	if f.Value.Kind == tree.Null && rest != "" && slices.Contains(names, word) {
		d.add(RuleUnknownField, fmt.Sprintf("a colon is missing: %s: %s", word, rest), f.Key, "%s", message)
		d.broken[f.Value] = true
		d.mean(n, word, f)
		return
	}
	if synonym := synonyms[f.Key.Text]; slices.Contains(names, synonym) {
		names = []string{synonym}
	}
	meant := d.unknown(RuleUnknownField, f.Key, names, message)
	if key, _ := d.field(n, meant); key != nil || meant == "" {
		if meant == "" {
			d.incomplete = true
		} else { // both are there, so renaming one is not the way to settle it
			d.findings[len(d.findings)-1].Fix = nil
		}
		return
	}
	d.mean(n, meant, f)
	readers[slices.IndexFunc(readers, func(r reader) bool { return r.name == meant })].read(f.Value)
}

// mean remembers that a field of an object was meant to have another name.
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

// unknown reports a name that is not one of the known ones. It returns the one that was probably meant, or "".
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

// maxListed is how many known names a hint lists. An object has no more fields than that, and more shared
// modifiers or features would hide the rest of the finding.
const maxListed = 12

// maxCompared bounds how many pairs of letters of a file are compared to find the names nearest to misspelt ones, so that
// thousands of misspelt names and thousands of known ones do not take the product of both. It takes about a tenth of a
// second, and is enough for a hundred misspelt names among a thousand.
const maxCompared = 10_000_000

// mayCompare counts the letters of two names that are about to be compared, and reports whether that is still allowed.
func (d *decoder) mayCompare(a, b string) bool {
	d.compared += (len(a) + 1) * (len(b) + 1)
	return d.compared <= maxCompared
}

// nearest returns the known name that is most like the given one, or "".
func (d *decoder) nearest(name string, known []string) string {
	for _, k := range known {
		if !d.mayCompare(name, k) {
			return ""
		}
	}
	return spell.Nearest(name, known)
}

// is reports whether the value is of a kind, and reports a finding if it is not.
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
		f.Message, f.Hint = fmt.Sprintf("%s is a date to YAML, not %s", n.Text, want), "put it in quotes"
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
	case n.Kind == tree.Null:
		f.Hint = "give it a value, or leave the field out"
	}
	d.report(f, n)
	return false
}

func (d *decoder) list(n *tree.Node, what string) []*tree.Node {
	if !d.is(n, what, tree.List) {
		return nil
	}
	return n.Items
}

// names reads a list of names. Text where a list belongs is reported with the list that was meant: its names, of which
// known has some, are returned all the same.
func (d *decoder) names(n *tree.Node, what string, known []string) []*tree.Node {
	if n.Kind != tree.String || n.Text == "" || d.broken[n] || n.Date {
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

// text returns a reader of a text field. Empty text is no text: it counts as a field that is missing.
func (d *decoder) text(name string, to *string) reader {
	return reader{name, func(n *tree.Node) {
		d.is(n, name, tree.String)
		*to = n.Text // of 20, where "20" was meant, too: the other checks can go on
	}}
}

func (d *decoder) truth(name string, to *bool) reader {
	return reader{name, func(n *tree.Node) {
		if d.is(n, name, tree.Bool) {
			*to = n.Text == "true"
		}
	}}
}

// scalar returns a reader of a default value: text, number or truth value.
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
				hint = "give it a value, or leave the field out"
			}
			d.add(signpost.RuleWrongType, hint, n, "%s must be text, a number, true or false, not %s", name, n.Kind)
		}
	}}
}

// labelFor returns a label that says what a name says: most_recent becomes "Most recent".
func labelFor(name string) string {
	label := []rune(strings.Join(strings.FieldsFunc(name, func(r rune) bool { return r == '_' || r == '-' || unicode.IsSpace(r) }), " "))
	if len(label) == 0 {
		return name
	}
	label[0] = unicode.ToUpper(label[0])
	return string(label)
}
