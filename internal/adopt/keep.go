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

// keeper reads a manifest and leaves out what a definition cannot hold.
type keeper struct {
	name    string
	doc     *tree.Document
	bad     map[*tree.Node]string // values that cannot be written, with the reason
	subject string                // the endpoint that is being read
	leftOut []string
}

// keep returns the JSON of a manifest without what a definition cannot hold, and lists that.
func keep(s Source) (text string, leftOut []string, err error) {
	k := &keeper{name: s.Name, doc: tree.Parse(s.Text, true), bad: make(map[*tree.Node]string)}
	for _, p := range k.doc.Problems {
		switch p.Kind {
		case tree.Syntax, tree.TooLarge:
			return "", nil, fmt.Errorf("line %d: %s", p.At.Line(), p.Message)
		case tree.DuplicateKey:
			k.leaveOut(p.At, "%s", p.Message)
		default:
			k.bad[p.At] = p.Message
		}
	}
	root := k.doc.Root
	if root == nil || root.Kind != tree.Object || root.Get("endpoints").Kind != tree.Object {
		return "", nil, errors.New(`this is not a manifest: it has no "endpoints" object`)
	}
	text, _ = k.object(root, fields.Manifest)
	return text, k.leftOut, nil
}

// leaveOut lists something that is not written.
func (k *keeper) leaveOut(at *tree.Node, format string, args ...any) {
	message := fmt.Sprintf(format, args...)
	if k.subject != "" {
		message = k.subject + ": " + message
	}
	k.leftOut = append(k.leftOut, draft.OneLine(fmt.Sprintf("%s:%d: %s", k.name, at.Line(), message)))
}

// value returns a value as JSON, or false if it cannot be written, and lists what is left out of it. The value is one
// of the specification unless v is nil.
func (k *keeper) value(key, n *tree.Node, v *fields.Value) (string, bool) {
	if v == nil {
		if reason := k.badInside(n); reason != "" {
			k.leaveOut(key, "%q is left out: %s", key.Text, reason)
			return "", false
		}
		return jsonText(n), true
	}
	switch reason := k.bad[n]; {
	case v.OrNull && n.Kind == tree.Null: // the same as without it
		return "", false
	case !slices.Contains(kindsOf[v.Type], n.Kind):
		k.leaveOut(key, "%q is left out: it must not be %s", key.Text, n.Kind)
		return "", false
	case reason != "":
		k.leaveOut(key, "%q is left out: %s", key.Text, reason)
		return "", false
	case n.Kind == tree.Object:
		return k.object(n, v)
	case n.Kind == tree.List:
		return k.list(key, n, v), true
	}
	return jsonText(n), true
}

// kindsOf lists the kinds of nodes that a value of the specification can have.
var kindsOf = map[fields.Type][]tree.Kind{
	fields.Text:   {tree.String},
	fields.Bool:   {tree.Bool},
	fields.Scalar: {tree.String, tree.Number, tree.Bool},
	fields.List:   {tree.List},
	fields.Object: {tree.Object},
}

// optional are fields that a manifest of Signpost has only with a value.
var optional = map[string]bool{"mapper": true, "placeholder": true, "options": true, "enum": true}

func (k *keeper) object(n *tree.Node, v *fields.Value) (string, bool) {
	var members []string
	for _, f := range n.Fields {
		name, of := f.Key.Text, (*fields.Value)(nil)
		if field := v.Field(name); field != nil {
			of = field.Value
		}
		if v.Each != nil { // of the endpoints
			of = v.Each
			k.subject = fmt.Sprintf("endpoint %q", name)
		}
		if reason := k.unwritable(name, f.Value, of, v.Each != nil); reason != "" {
			k.leaveOut(f.Key, "%q is left out: %s", name, reason)
			continue
		}
		if text, ok := k.value(f.Key, f.Value, of); ok {
			members = append(members, tree.Quote(name)+":"+text)
		}
	}
	if v.Each != nil {
		k.subject = ""
	}
	return "{" + strings.Join(members, ",") + "}", true
}

// unwritable says why a field cannot be in a definition, whatever its type is.
func (k *keeper) unwritable(name string, n *tree.Node, of *fields.Value, isEndpoint bool) string {
	empty := n.Kind == tree.String && n.Text == "" || n.Kind == tree.List && len(n.Items) == 0
	switch {
	case isEndpoint && strings.HasPrefix(name, "x-"):
		return "it would be an extension field"
	case of == nil && name == "":
		return "its name is empty"
	case of != nil && of.Values != nil && strings.HasPrefix(n.Text, signpost.Beyond):
		return "in a definition, a plus marks a value that the specification does not know"
	case of != nil && !isEndpoint && optional[name] && empty:
		return "it is empty"
	}
	return ""
}

func (k *keeper) list(key, n *tree.Node, v *fields.Value) string {
	var items []string
	for _, item := range n.Items {
		if text, ok := k.value(key, item, v.Each); ok {
			items = append(items, text)
		}
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
