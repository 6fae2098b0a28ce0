package definition

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"signpost"
	"signpost/internal/fields"
	"signpost/internal/spell"
	"signpost/internal/tree"
)

// This file knows the mistakes that people make. It reports them in the words of what was meant, and lets the decoder
// read that, so that consequences are not reported.

// synonyms maps what people write to the names of fields and kinds. They are not misspellings.
var synonyms = map[string]string{
	"default": "defaultValue", "content_type": "mime_type", "contentType": "mime_type", "context": "context_obj",
	"val": "value", "dropdown": "select", "enum": "select", "list": "select", "string": "text", "input": "text",
	"integer": "number", "int": "number", "float": "number", "bool": "boolean", "toggle": "boolean",
	"checkbox": "boolean", "switch": "boolean",
}

// unknownField reports an unknown field. If it is clear which one was meant, it gets that name.
func (d *decoder) unknownField(n *tree.Node, f tree.Field, v *fields.Value, what string) {
	var names []string
	for _, field := range v.Fields {
		names = append(names, field.Name)
	}
	message := fmt.Sprintf("unknown field %q in %s", f.Key.Text, what)
	word, rest, isPair := strings.Cut(strings.ReplaceAll(f.Key.Text, ":", " "), " ")
	if isPair && f.Value.Kind == tree.Null && v.Field(word) != nil { // in braces, YAML takes {label Limit} for a key
		d.add(RuleUnknownField, fmt.Sprintf("write %s: %s", word, strings.TrimSpace(rest)), f.Key, "%s", message)
		d.broken[f.Value] = true
		n.Rename(f.Key, word)
		return
	}
	if v == fields.Definition && f.Key.Text == "endpoints" {
		d.add(RuleUnknownField, "endpoints belong to a version: versions: {v1: {endpoints: {…}}}", f.Key, "%s", message)
		d.unread = true
		return
	}
	meant, found := d.unknown(RuleUnknownField, f.Key, names, message)
	switch {
	case meant == "":
		d.unread = true
		return
	case n.Has(meant): // both are present, so renaming one is not the solution
		found.Fix = nil
	default:
		n.Rename(f.Key, meant)
	}
	delete(d.broken, f.Key)
}

// isLacking reports whether a field of an object is unknown: it may be meant as one that the object does not have.
func (d *decoder) isLacking(n *tree.Node) bool {
	return slices.ContainsFunc(n.Fields, func(f tree.Field) bool { return d.broken[f.Key] })
}

const (
	// maxListed is the maximum number of known names in a hint. No object has more fields, and a longer list of shared
	// modifiers or features would hide the rest of the finding.
	maxListed = 12

	// maxNames is the number of names up to which the nearest one is looked for.
	maxNames = 1000
)

// nearest returns the known name that is most similar, or "", and whether no other is similar.
func (d *decoder) nearest(name string, known []string) (near string, certain bool) {
	if meant, ok := synonyms[name]; ok && slices.Contains(known, meant) {
		return meant, true
	}
	if len(known) > maxNames || d.reported >= maxFindings {
		return "", false
	}
	if i := slices.IndexFunc(known, func(k string) bool { return strings.EqualFold(k, name) }); i >= 0 {
		return known[i], true
	}
	return spell.Only(name, known)
}

// unknown reports an unknown name. It returns the one that was probably meant, or "", and the finding.
func (d *decoder) unknown(rule string, at *tree.Node, known []string, message string) (string, *signpost.Finding) {
	d.broken[at] = true
	meant, certain := d.nearest(at.Text, known)
	f := d.add(rule, "", at, "%s", message)
	switch {
	case meant != "":
		f.Hint = fmt.Sprintf("did you mean %q?", meant)
		if certain {
			f.Fix = d.replacement(at, meant)
		}
	case len(known) == 0: // shared modifiers
		f.Hint = "declare it under modifiers, or write the modifier here"
	default:
		f.Hint = "known: " + spell.First(known, maxListed)
	}
	return meant, f
}

// dedented moves fields into the one before them if they belong there: they are indented too little.
func (d *decoder) dedented(n *tree.Node, v *fields.Value) {
	isUnknown := func(f tree.Field) bool { return v.Of(f.Key.Text) == nil }
	if !slices.ContainsFunc(n.Fields, isUnknown) {
		return
	}
	moved := make([]tree.Field, 0, len(n.Fields))
	var reported *tree.Node // the key of the last field that got others
	for _, f := range n.Fields {
		last := len(moved) - 1
		if !isUnknown(f) || last < 0 || !belongs(f, moved[last], v) || d.broken[moved[last].Value] {
			moved = append(moved, f)
			continue
		}
		owner := &moved[last]
		if reported != owner.Key {
			reported = owner.Key
			what, where, under := f.Key.Text, owner.Key.Text, owner.Key.Text
			if isURL(f) {
				what = fmt.Sprintf("URL %q", what)
			}
			if isURL(*owner) {
				where, under = fmt.Sprintf("the URL %q", where), "the URL"
			}
			d.add(RuleUnknownField, "it belongs under "+under+": indent it, and everything in it, by one more level",
				f.Key, "%s is next to %s, not in it", what, where)
		}
		// What follows is indented like its fields, so YAML puts it into the field.
		var fields, siblings []tree.Field
		for _, inner := range f.Value.Fields {
			if isURL(f) && isURL(inner) {
				siblings = append(siblings, inner)
			} else {
				fields = append(fields, inner)
			}
		}
		if len(siblings) > 0 {
			f.Value = f.Value.With(fields...)
		}
		owner.Value = owner.Value.With(slices.Concat(owner.Value.Fields, []tree.Field{f}, siblings)...)
	}
	if reported != nil {
		*n = *n.With(moved...)
	}
}

func isURL(f tree.Field) bool { return strings.Contains(f.Key.Text, "://") }

// belongs reports whether a field that its object does not have is one of another field of that object.
func belongs(f, owner tree.Field, object *fields.Value) bool {
	v := object.Of(owner.Key.Text)
	return v != nil && (v.Fields != nil || v.Keys != nil) && v.Of(f.Key.Text) != nil &&
		(owner.Value.Kind == tree.Object || owner.Value.Kind == tree.Null)
}

// operation reports an endpoint whose fields are below a method, as in OpenAPI. Nothing else is reported about it.
func (d *decoder) operation(n *tree.Node) {
	for _, f := range n.Fields {
		if slices.Contains(operations, f.Key.Text) && f.Value.Kind == tree.Object {
			d.add(RuleUnknownField, "write method: "+f.Key.Text+" beside them", f.Key,
				"the fields of an endpoint stand directly below its URL, not below %q", f.Key.Text)
			d.broken[n], d.unread = true, true
			return
		}
	}
}

// operations are the methods that an OpenAPI document has below a path.
var operations = []string{"get", "post", "put", "patch", "delete", "head", "options"}

// listOfTexts reports options that are all texts, once.
func (d *decoder) listOfTexts(n *tree.Node) {
	fix := &signpost.Fix{Message: "write options with value and label"}
	for _, item := range n.Items {
		if item.Kind < tree.Bool || item.Kind > tree.String {
			return
		}
		one := d.optionFix(item)
		if one == nil {
			return
		}
		fix.Edits = append(fix.Edits, one.Edits...)
	}
	if len(n.Items) < 2 { // a single one is reported as such
		return
	}
	found := d.add(signpost.RuleWrongType, "such as "+fix.Edits[0].Text, n,
		"options must be objects with value and label, not texts")
	found.Fix = fix
	d.broken[n], d.unread = true, true
}

// bareURLs moves the URLs of a version that has no endpoints into that field.
func (d *decoder) bareURLs(n *tree.Node, v *fields.Value, what string) {
	endpoints := v.Field("endpoints")
	if endpoints == nil || n.Has("endpoints") {
		return
	}
	var urls, others []tree.Field
	for _, f := range n.Fields {
		if endpoints.Value.Of(f.Key.Text) != nil {
			urls = append(urls, f)
		} else {
			others = append(others, f)
		}
	}
	if len(urls) > 0 {
		key := *urls[0].Key
		d.add(RuleUnknownField, "put the URLs under endpoints:", &key, "unknown field %q in %s", key.Text, what)
		key.Text = "endpoints"
		*n = *n.With(append(others, tree.Field{Key: &key, Value: n.With(urls...)})...)
	}
}

// nearlyVersion matches what people write for v1.
var nearlyVersion = regexp.MustCompile(`^[vV]?0*([0-9]*)(\.0)*$`)

// wrongVersion reports a version name that is none. If it is clear which one was meant, it gets that name; otherwise,
// it is not read.
func (d *decoder) wrongVersion(versions *tree.Node, v tree.Field) {
	f := d.add(RuleUnknownField, "such as v1", v.Key, "%q is not a version: a version is v and a number", v.Key.Text)
	match := nearlyVersion.FindStringSubmatch(v.Key.Text)
	meant := ""
	switch {
	case isURL(v):
		f.Message = fmt.Sprintf("URL %q is next to the versions, not in one", v.Key.Text)
		f.Hint = "it belongs under endpoints: indent it, and everything in it"
	case match == nil || v.Key.Text == "":
	case match[1] == "":
		f.Message = fmt.Sprintf("%q is not a version: versions begin at v1", v.Key.Text)
		f.Hint = "write v1, in the URLs too"
	default:
		meant = "v" + match[1]
		f.Hint = fmt.Sprintf("did you mean %q?", meant)
	}
	if meant == "" || versions.Has(meant) {
		d.broken[v.Value], d.unread = true, true
	} else {
		f.Fix = d.replacement(v.Key, meant)
		versions.Rename(v.Key, meant)
	}
}
