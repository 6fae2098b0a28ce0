package adopt

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"signpost"
	"signpost/internal/fields"
	"signpost/internal/tree"
)

// keeper reads a manifest and leaves out what a definition cannot hold.
type keeper struct {
	name    string
	doc     *tree.Document
	bad     map[*tree.Node]string // values that cannot be written, with the reason
	inside  string                // the endpoint that is being read, as the beginning of notes about it
	leftOut []string
	count   *counter
}

// keep returns the JSON of a manifest without what a definition cannot hold, and lists that. It counts what is as good
// as absent.
func keep(s Source, count *counter) (text string, leftOut []string, err error) {
	k := &keeper{name: s.Name, doc: tree.Parse(s.Text, true), bad: make(map[*tree.Node]string), count: count}
	for _, p := range k.doc.Problems {
		switch p.Kind {
		case tree.Syntax, tree.TooLarge:
			return "", nil, fmt.Errorf("line %d: %s", p.At.Line(), p.Message)
		case tree.DuplicateKey:
			k.say(p.At, p.Message)
		default:
			k.bad[p.At] = p.Message
		}
	}
	root := k.doc.Root
	if root == nil || root.Kind != tree.Object || root.Get("endpoints").Kind != tree.Object {
		return "", nil, errors.New(`this is not a manifest: it has no "endpoints" object`)
	}
	return k.object("", root, fields.Manifest), k.leftOut, nil
}

// say lists something that is not written.
func (k *keeper) say(at *tree.Node, message string) {
	k.leftOut = append(k.leftOut, line("%s:%d: %s%s", k.name, at.Line(), k.inside, message))
}

func (k *keeper) leaveOut(at *tree.Node, what, reason string) {
	k.say(at, what+" is left out: "+reason)
}

// value returns a value as JSON, or the reason why it cannot be written. It lists what is left out of it. The value is
// one of the specification unless v is nil.
func (k *keeper) value(name string, n *tree.Node, v *fields.Value) (text, reason string) {
	switch {
	case v == nil:
		return jsonText(n), k.badInside(n)
	case !slices.Contains(kindsOf[v.Type], n.Kind):
		return "", "it must not be " + n.Kind.String()
	case v.Values != nil && strings.HasPrefix(n.Text, signpost.Beyond):
		return "", "in a definition, a plus marks a value that the specification does not know"
	case k.bad[n] != "":
		return "", k.bad[n]
	case n.Kind == tree.Object && v.Each != nil:
		return k.endpoints(n, v.Each), ""
	case n.Kind == tree.Object:
		return k.object(name, n, v), ""
	case n.Kind == tree.List:
		return k.list(name, n, v.Each), ""
	}
	return jsonText(n), ""
}

// kindsOf lists the kinds of nodes that a value of the specification can have.
var kindsOf = map[fields.Type][]tree.Kind{
	fields.Text:   {tree.String},
	fields.Bool:   {tree.Bool},
	fields.Scalar: {tree.String, tree.Number, tree.Bool},
	fields.List:   {tree.List},
	fields.Object: {tree.Object},
}

// endpoints returns the endpoints of a manifest.
func (k *keeper) endpoints(n *tree.Node, v *fields.Value) string {
	var members []string
	for _, f := range n.Fields {
		url := f.Key.Text
		what := fmt.Sprintf("endpoint %q", url)
		if strings.HasPrefix(url, "x-") {
			k.leaveOut(f.Key, what, "it would be an extension field")
			continue
		}
		k.inside = what + ": "
		text, reason := k.value(url, f.Value, v)
		k.inside = ""
		if reason != "" {
			k.leaveOut(f.Key, what, reason)
			continue
		}
		members = append(members, tree.Quote(url)+":"+text)
	}
	return "{" + strings.Join(members, ",") + "}"
}

// optional are fields that a manifest of Signpost has only with a value. Empty ones say nothing to a studio.
var optional = map[string]bool{"mapper": true, "placeholder": true, "options": true, "enum": true}

// object returns an object with the fields of v, and others. The field that it is the value of names it in notes, unless
// v does.
func (k *keeper) object(field string, n *tree.Node, v *fields.Value) string {
	kind := field
	if v.What != "" {
		kind = v.What + "s"
	}
	var members []string
	for _, f := range n.Fields {
		name := f.Key.Text
		var of *fields.Value
		if field := v.Field(name); field != nil {
			of = field.Value
		}
		text, reason := k.value(name, f.Value, of)
		switch {
		case of != nil && of.OrNull && f.Value.Kind == tree.Null: // the same as without it
			continue
		case of != nil && optional[name] && (text == `""` || text == "[]"):
			k.count.add("an empty %q means nothing and is left out", name)
			continue
		case name == "":
			reason = "its name is empty"
		}
		if reason != "" {
			k.leaveOut(f.Key, fmt.Sprintf("%q", name), reason)
			continue
		}
		if of == nil {
			k.count.add("field %q of %s %s", name, kind, carried)
		}
		members = append(members, tree.Quote(name)+":"+text)
	}
	return "{" + strings.Join(members, ",") + "}"
}

func (k *keeper) list(name string, n *tree.Node, v *fields.Value) string {
	var items []string
	for _, item := range n.Items {
		text, reason := k.value(name, item, v)
		if reason != "" {
			k.leaveOut(item, fmt.Sprintf("an item of %q", name), reason)
			continue
		}
		items = append(items, text)
	}
	return "[" + strings.Join(items, ",") + "]"
}

// badInside returns what is wrong in a value of any kind, or "".
func (k *keeper) badInside(n *tree.Node) string {
	reason := k.bad[n]
	for _, item := range n.Items {
		reason = cmp.Or(reason, k.badInside(item))
	}
	for _, f := range n.Fields {
		reason = cmp.Or(reason, k.badInside(f.Value))
	}
	return reason
}

// jsonText returns a value as JSON. It is not longer than the manifest that it comes from.
func jsonText(n *tree.Node) string {
	text, _ := n.JSON(math.MaxInt)
	return text
}
