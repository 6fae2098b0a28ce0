package adopt

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"signpost"
	"signpost/internal/draft"
	"signpost/internal/fields"
	"signpost/internal/tree"
)

// keeper removes from a manifest what a definition cannot hold.
type keeper struct {
	name    string
	bad     map[*tree.Node]string // values that cannot be written, with the reason
	inside  string                // the endpoint that is being read, as the beginning of notes about it
	leftOut []string
	count   *counter
}

// keep returns the JSON of a manifest without what a definition cannot hold, and lists that. It counts what is as good
// as absent.
func keep(s Source, count *counter) (text string, leftOut []string, err error) {
	k := &keeper{name: s.Name, bad: make(map[*tree.Node]string), count: count}
	doc := tree.Parse(s.Text, true)
	for _, p := range doc.Problems {
		switch p.Kind {
		case tree.Syntax, tree.TooLarge:
			return "", nil, fmt.Errorf("line %d: %s", p.At.Line(), p.Message)
		case tree.DuplicateKey:
			k.say(p.At, p.Message)
		default:
			k.bad[p.At] = p.Message
		}
	}
	root := doc.Root
	if root == nil || root.Kind != tree.Object || root.Get("endpoints").Kind != tree.Object {
		return "", nil, errors.New(`this is not a manifest: it has no "endpoints" object`)
	}
	k.object("", root, fields.Manifest)
	text, _ = root.JSON(math.MaxInt) // it is not longer than the manifest
	return text, k.leftOut, nil
}

// say lists something that is not written.
func (k *keeper) say(at *tree.Node, message string) {
	k.leftOut = append(k.leftOut, draft.Note("%s:%d: %s%s", k.name, at.Line(), k.inside, message))
}

func (k *keeper) leaveOut(at *tree.Node, what, reason string) {
	k.say(at, what+" is left out: "+reason)
}

// value removes from a value what cannot be written, and lists it. It returns the reason why all of it cannot be written,
// or "". The value is one of the specification unless v is nil.
func (k *keeper) value(name string, n *tree.Node, v *fields.Value) (reason string) {
	switch {
	case v == nil:
		return k.badInside(n)
	case !slices.Contains(kindsOf[v.Type], n.Kind):
		return "it must not be " + n.Kind.String()
	case v.Values != nil && strings.HasPrefix(n.Text, signpost.Beyond):
		return "in a definition, a plus marks a value that the specification does not know"
	case n.Kind == tree.Object && v.Each != nil:
		k.endpoints(n, v.Each)
	case n.Kind == tree.Object:
		k.object(name, n, v)
	case n.Kind == tree.List:
		k.list(name, n, v.Each)
	}
	return k.bad[n]
}

// kindsOf lists the kinds of nodes that a value of the specification can have.
var kindsOf = map[fields.Type][]tree.Kind{
	fields.Text:   {tree.String},
	fields.Bool:   {tree.Bool},
	fields.Scalar: {tree.String, tree.Number, tree.Bool},
	fields.List:   {tree.List},
	fields.Object: {tree.Object},
}

// endpoints reads the endpoints of a manifest.
func (k *keeper) endpoints(n *tree.Node, v *fields.Value) {
	var kept []tree.Field
	for _, f := range n.Fields {
		what := fmt.Sprintf("endpoint %q", f.Key.Text)
		if strings.HasPrefix(f.Key.Text, "x-") {
			k.leaveOut(f.Key, what, "it would be an extension field")
			continue
		}
		k.inside = what + ": "
		reason := k.value(f.Key.Text, f.Value, v)
		k.inside = ""
		if reason != "" {
			k.leaveOut(f.Key, what, reason)
			continue
		}
		kept = append(kept, f)
	}
	n.Fields = kept
}

// optional are fields that a manifest of Signpost has only with a value. Empty ones say nothing to a studio.
var optional = map[string]bool{"mapper": true, "placeholder": true, "options": true, "enum": true}

// object reads an object with the fields of v, and others. The field that it is the value of names it in notes, unless v
// does.
func (k *keeper) object(field string, n *tree.Node, v *fields.Value) {
	kind := field
	switch {
	case v == fields.Manifest:
		kind = v.What
	case v.What != "":
		kind = v.What + "s"
	}
	var kept []tree.Field
	for _, f := range n.Fields {
		name := f.Key.Text
		var known *fields.Value
		if field := v.Field(name); field != nil {
			known = field.Value
		}
		if known != nil && known.OrNull && f.Value.Kind == tree.Null { // the same as without it
			continue
		}
		reason := k.value(name, f.Value, known)
		isEmpty := f.Value.Text == "" && len(f.Value.Items) == 0
		if known != nil && reason == "" && optional[name] && isEmpty {
			k.count.add("an empty %q means nothing and is left out", name)
			continue
		}
		if name == "" {
			reason = "its name is empty"
		}
		if reason != "" {
			k.leaveOut(f.Key, fmt.Sprintf("%q", name), reason)
			continue
		}
		if known == nil {
			k.count.add("field %q of %s %s", name, kind, carried)
		}
		kept = append(kept, f)
	}
	n.Fields = kept
}

func (k *keeper) list(name string, n *tree.Node, v *fields.Value) {
	var kept []*tree.Node
	for _, item := range n.Items {
		if reason := k.value(name, item, v); reason != "" {
			k.leaveOut(item, fmt.Sprintf("an item of %q", name), reason)
			continue
		}
		kept = append(kept, item)
	}
	n.Items = kept
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
