package definition

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"time"

	"signpost"
	"signpost/internal/fields"
	"signpost/internal/spell"
	"signpost/internal/tree"
)

// isExtension reports whether a field is the author's own, for example to hold YAML anchors.
func (d *decoder) isExtension(name string) bool { return !d.served && strings.HasPrefix(name, "x-") }

// check compares a value with the table of fields. Messages call it what.
func (d *decoder) check(n *tree.Node, v *fields.Value, what string) {
	switch {
	case d.broken[n], v.OrNull && n.Kind == tree.Null, v.OrName != 0 && n.Kind == tree.String && !n.Date:
		return
	case v == fields.Version && n.Kind == tree.Null && d.doc.Root.Has("endpoints"): // which are reported
		d.broken[n] = true
		return
	case v.OrList && n.Kind == tree.List:
		for _, item := range n.Items {
			d.check(item, &fields.Value{}, what)
		}
		return
	case v.OrObject != nil && n.Kind == tree.Object:
		d.check(n, v.OrObject, what)
		return
	case !d.hasType(n, v):
		d.wrongType(n, v, what)
		return
	}
	if n.Kind == tree.String && n.Style == tree.Plain && slices.Contains(quotable, what) && isQuoted(n.Text) {
		d.quoted = append(d.quoted, quotedText{what, n, d.within.Key})
	}
	if v.Short != nil {
		if last := v.Fields[len(v.Fields)-1]; !n.Has(last.Name) {
			v = v.Short
		}
	}
	if !d.served {
		d.dedented(n, v)
		d.bareURLs(n, v, what)
		switch {
		case v == fields.Endpoint:
			d.operation(n)
		case v.Each == fields.Option:
			d.listOfTexts(n)
		}
	}
	if d.broken[n] {
		return
	}
	for _, item := range n.Items {
		d.check(item, v.Each, v.Each.What)
	}
	for _, f := range n.Fields {
		d.checkField(n, f, v, what)
	}
	if v.Plus {
		if extra := d.extraOf(n, v); extra != "" {
			d.extras[n] = extra
		}
	}
}

// checkField compares a field of an object with the table of fields.
func (d *decoder) checkField(n *tree.Node, f tree.Field, v *fields.Value, what string) {
	known := v.Field(f.Key.Text)
	switch {
	case d.isExtension(f.Key.Text) && v.Of(f.Key.Text) == nil:
	case v.Each != nil:
		if v.Each == fields.Version && !v.Keys.MatchString(f.Key.Text) {
			d.wrongVersion(n, f)
		}
		outer := d.within
		if v.Each == fields.Endpoint || v.Each == fields.ServedEndpoint {
			d.within = f
		}
		d.check(f.Value, v.Each, strings.Replace(v.Each.What, fields.Key, f.Key.Text, 1))
		d.within = outer
	case known != nil:
		d.check(f.Value, known.Value, known.Name)
	default:
		if !d.beyond(n, f, v, what) {
			d.unknownField(n, f, v, what)
		}
		if renamed := v.Field(f.Key.Text); renamed != nil {
			d.check(f.Value, renamed.Value, renamed.Name)
		}
	}
}

// kindOf is the kind of node that a type of the table has. Scalars and dates have several.
var kindOf = map[fields.Type]tree.Kind{
	fields.Text: tree.String, fields.Date: tree.String, fields.Bool: tree.Bool,
	fields.Object: tree.Object, fields.List: tree.List,
}

func (d *decoder) hasType(n *tree.Node, v *fields.Value) bool {
	switch v.Type {
	case fields.Scalar:
		return (n.Kind == tree.String || n.Kind == tree.Number || n.Kind == tree.Bool) && !n.Date
	case fields.Date:
		_, err := time.Parse(time.DateOnly, n.Text)
		return n.Kind == tree.String && err == nil
	}
	return n.Kind == kindOf[v.Type] && !n.Date
}

// wrongType reports a value of the wrong type.
func (d *decoder) wrongType(n *tree.Node, v *fields.Value, what string) {
	d.broken[n] = true
	d.unread = d.unread || v.Type >= fields.Object
	if d.served {
		d.keepForeign(n, v)
	}
	want := kindOf[v.Type].String()
	if v.Type == fields.Scalar {
		want = "text, a number, true or false"
	}
	f := d.add(signpost.RuleWrongType, v.Form, n, "%s must be %s, not %s", what, want, n.Kind)
	isScalar := n.Kind == tree.String || n.Kind == tree.Number || n.Kind == tree.Bool
	switch isText := v.Type == fields.Text || v.Type == fields.Date; {
	case !d.served && v == fields.Option && isScalar:
		f.Message = fmt.Sprintf("option must be an object with value and label, not %s", n.Kind)
		if fix := d.optionFix(n); fix != nil {
			f.Hint, f.Fix = fix.Message, fix
		}
	case n.Date && (v.Type == fields.Text || v.Type == fields.Scalar):
		f.Message, f.Hint = fmt.Sprintf("YAML reads %s as a date, not text", n.Text), "put it in quotes"
		f.Fix = d.replacement(n, n.Text)
	case v.Type == fields.Date && n.Kind == tree.String:
		f.Message = fmt.Sprintf("%s must be a date, not %q", what, n.Text)
	case isText && (n.Kind == tree.Number || n.Kind == tree.Bool):
		f.Hint, f.Fix = fmt.Sprintf("put it in quotes: %q", n.Text), d.replacement(n, n.Text)
	case v.Type == fields.Bool && n.Kind == tree.String:
		if lower := strings.ToLower(n.Text); lower == "true" || lower == "false" {
			f.Fix = d.replacement(n, lower == "true")
		}
	case n.Kind == tree.Null:
		f.Hint = d.swallowed(n)
	case v.Fields != nil && n.Kind == tree.String && strings.Count(n.Text, ";") > 1:
		f.Hint = "this looks like a table: write one field per line, such as name: Feeds"
	case v.Type == fields.Object && v.Names == fields.Features && len(n.Items) > 0:
		var names []string
		for _, item := range n.Items {
			if item.Kind == tree.String {
				names = append(names, item.Text)
			}
		}
		f.Hint = "to turn features on: enable: [" + spell.First(names, maxListed) + "]"
	case !d.served && v.Type == fields.List && n.Text != "" && (v.Each.Type == fields.Text || v.Each.OrName != 0):
		f.Hint, f.Fix = d.listOf(n)
	}
}

// keepForeign keeps a value of the wrong type in a manifest of others, so that it is shown and compared: as text, as
// the only item of a list, or as a field beyond the specification.
func (d *decoder) keepForeign(n *tree.Node, v *fields.Value) {
	switch isCollection := n.Kind == tree.Object || n.Kind == tree.List; {
	case n.Kind == tree.Null:
	case (v.Type == fields.Text || v.Type == fields.Scalar) && isCollection:
		n.Text, _ = n.JSON(maxManifest)
	case v.Type == fields.List:
		item := *n
		n.Items = []*tree.Node{&item}
		if d.hasType(&item, v.Each) {
			d.check(&item, v.Each, v.Each.What)
		} else { // which the finding about the list says
			d.broken[&item] = true
			d.keepForeign(&item, v.Each)
		}
	case v.Type == fields.Object:
		if value, ok := n.JSON(maxManifest); ok {
			d.extras[n] = signpost.Extra(`"value":` + value)
		}
	}
}

// swallowed returns the hint about a value that is missing, for example because a comment or an anchor is in its place.
func (d *decoder) swallowed(n *tree.Node) string {
	rest, _, _ := bytes.Cut(d.doc.Text[n.Start():], []byte("\n"))
	text := strings.TrimSpace(string(rest))
	switch {
	case strings.HasPrefix(text, "#"):
		return "# begins a comment: put the text in quotes: " + tree.Quote(text)
	case strings.HasPrefix(text, "&"):
		return "& begins an anchor: put the text in quotes: " + tree.Quote(text)
	}
	return "give it a value"
}
