package lsp

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"signpost"
	"signpost/definition"
	"signpost/internal/fields"
	"signpost/internal/tree"
)

func (s *server) completion(doc *document, in placeParams) (any, error) {
	items := []completionItem{}
	offset := doc.offset(in.Position)
	if c, ok := doc.cursor(offset); ok {
		items = append(items, c.items(doc.names())...)
		for i := range items {
			items[i].SortText = fmt.Sprintf("%04d", i) // keep this order
			items[i].TextEdit.Range = doc.span(c.start, offset)
		}
	}
	return completionList{Items: items}, nil
}

// items returns the completions at a cursor, without their ranges. The first word of a list item may be a value, or the
// first key of an object.
func (c cursor) items(known names) []completionItem {
	path := c.path
	if c.isKey {
		path = path[:len(path)-1]
	}
	here := c.fields.At(path...)
	inList := len(path) > 0 && path[len(path)-1] == ""
	var items []completionItem
	if !c.isKey || inList && len(c.owner.Fields) == 1 {
		items = append(items, c.valueItems(here, known)...)
	}
	if c.isKey || inList {
		items = append(items, c.fieldItems(here, known)...)
	}
	if c.isKey && len(path) == 3 && path[0] == "versions" && path[2] == "endpoints" {
		opening, _ := c.keyQuotes()
		url := "https://" + signpost.HostPlaceholder + "/" + path[1] + "/"
		items = append(items, newItem(itemField, name{url, "an endpoint of this service", ""}, opening+url))
	}
	offered := make(map[string]bool)
	return slices.DeleteFunc(items, func(i completionItem) bool {
		exists, _ := c.owner.Field(i.Label)
		isDouble := offered[i.Label] || c.isKey && exists != nil
		offered[i.Label] = true
		return isDouble
	})
}

func (c cursor) valueItems(here []*fields.Value, known names) (items []completionItem) {
	for _, v := range here {
		for _, n := range valuesOf(v, known) {
			items = append(items, newItem(itemValue, n, c.write(n.name)))
		}
		if v.Type == fields.List { // a list that is not begun
			for _, n := range valuesOf(v.Each, known) {
				items = append(items, newItem(itemValue, n, "["+c.write(n.name)+"]"))
			}
		}
	}
	return items
}

// fieldItems returns the fields that the objects at the cursor can have, the required ones first.
func (c cursor) fieldItems(here []*fields.Value, known names) (items []completionItem) {
	add := func(n name, isCollection bool) {
		items = append(items, newItem(itemField, n, c.writeKey(n.name, isCollection)))
	}
	for _, v := range here {
		for _, detail := range []string{"required", ""} { // in this order
			for _, f := range v.Fields {
				if f.Required == (detail != "") {
					add(name{f.Name, detail, f.Doc}, f.Value.Type >= fields.Object)
				}
			}
		}
		if v.Type == fields.Object && v.Each != nil {
			for _, n := range known[v.Names] {
				add(n, v.Each.Type >= fields.Object)
			}
		}
		if v.Plus {
			for _, n := range known[fields.Extras] {
				add(n, false)
			}
		}
	}
	return items
}

func newItem(kind int, n name, text string) completionItem {
	item := completionItem{Label: n.name, Kind: kind, Detail: n.detail, TextEdit: textEdit{NewText: text}}
	if n.description != "" {
		item.Documentation = &markup{"markdown", n.description}
	}
	return item
}

func valuesOf(v *fields.Value, known names) []name {
	var values []name
	for _, text := range slices.Concat(v.Values, v.Examples) {
		values = append(values, name{name: text})
	}
	if v.Type == fields.Bool {
		values = append(values, name{name: "true"}, name{name: "false"})
	}
	if v.Type == fields.Text {
		values = append(values, known[v.Names]...)
	}
	return append(values, known[v.OrName]...)
}

// write returns a value as it must be inserted at the cursor, with quotes if needed.
func (c cursor) write(text string) string {
	switch {
	case c.quote != "" || text == "true" || text == "false":
		return text
	case c.json || strings.ContainsAny(text, "{}[],#&*!|>'\"%@`") || strings.Contains(text, ": "):
		return tree.Quote(text)
	}
	return text
}

// keyQuotes returns the quotation marks to insert around a key at the cursor. One before the cursor is there already.
func (c cursor) keyQuotes() (opening, closing string) {
	if c.json && c.quote == "" {
		return `"`, `"`
	}
	return "", c.quote
}

// writeKey returns the text to insert for a key, up to the start of its value. The colon of a key that exists, and the
// quotation mark that editors put behind an opening one, are there already.
func (c cursor) writeKey(name string, collection bool) string {
	opening, closing := c.keyQuotes()
	if opening == "" && strings.HasPrefix(c.after, cmp.Or(closing, ":")) {
		return name
	}
	if collection && c.owner.Style != tree.Flow && closing == "" {
		return name + ":" // the value starts on the next line
	}
	return opening + name + closing + ": "
}

type names map[fields.Names][]name

// name is a name with what editors show about it.
type name struct{ name, detail, description string }

// names returns the names in the last version of the document that parsed, those that are built in, and the rules.
func (d *document) names() names {
	known := make(names)
	add := func(to fields.Names, text, description string) {
		i := slices.IndexFunc(known[to], func(n name) bool { return n.name == text })
		if i >= 0 {
			known[to][i].description = description
		} else {
			known[to] = append(known[to], name{text, kindOf[to], description})
		}
	}
	for _, f := range signpost.BuiltIn() {
		add(fields.Features, f.Name, "Built in.")
		for _, item := range f.ContextObj {
			add(fields.ContextKeys, item.Key, "From the built-in feature "+f.Name+".")
		}
	}
	for _, r := range definition.Rules() {
		if r.Severity == signpost.SeverityWarning && r.Name != definition.RuleUnusedAllow { // which cannot be allowed
			add(fields.Warnings, r.Name, r.Summary)
		}
	}
	if last := d.parsed(); last != nil {
		for _, s := range symbols(last.root()) {
			if s.decl != nil {
				add(s.kind, s.name, cmp.Or(s.value.Text, s.value.Get("name").Text))
			} else if s.kind == fields.ContextKeys {
				add(s.kind, s.name, "")
			}
		}
		for _, name := range extras(last.root()) {
			add(fields.Extras, name, explainExtra(name))
		}
	}
	return known
}

// extras returns the names of fields beyond the specification in a definition.
func extras(n *tree.Node) []string {
	names := make(map[string]bool)
	var visit func(*tree.Node)
	visit = func(n *tree.Node) {
		for _, f := range n.Fields {
			if strings.HasPrefix(f.Key.Text, signpost.Beyond) {
				names[f.Key.Text] = true
			} else {
				visit(f.Value)
			}
		}
		for _, item := range n.Items {
			visit(item)
		}
	}
	visit(n)
	return slices.Sorted(maps.Keys(names))
}

func explainExtra(name string) string {
	return fmt.Sprintf("Beyond the specification. It is carried into the manifest as `%s`, with its value untouched.",
		strings.TrimPrefix(name, signpost.Beyond))
}
