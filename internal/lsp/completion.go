package lsp

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"signpost"
	"signpost/definition"
	"signpost/internal/tree"
)

// completion offers fields, and the values that a field accepts.
func (s *server) completion(_ context.Context, _ *view, doc *document, offset int, _ placeParams) (any, error) {
	c := at(doc.text, offset, doc.isJSON())
	items := s.items(doc, c)
	for i := range items {
		items[i].SortText = fmt.Sprintf("%04d", i) // keep this order
		items[i].FilterText = items[i].Label
		items[i].TextEdit.Range = doc.span(c.start, offset)
	}
	return completionList{Items: items}, nil
}

// items returns the completions at a cursor. The caller fills in the ranges.
func (s *server) items(doc *document, c cursor) []completionItem {
	items := []completionItem{}
	value := func(kind int, label, detail, doc string) {
		item := completionItem{Label: label, Kind: kind, Detail: detail, TextEdit: textEdit{NewText: c.write(label)}}
		if doc != "" {
			item.Documentation = markdown(doc)
		}
		items = append(items, item)
	}
	if c.allows {
		for _, r := range definition.Rules() {
			if r.Severity == signpost.SeverityWarning {
				items = append(items, completionItem{Label: r.Name, Kind: itemValue, Detail: r.Summary, TextEdit: textEdit{NewText: r.Name}})
			}
		}
		return items
	}
	path := c.path
	if c.value {
		path = append(slices.Clone(path), c.key)
	}
	names := doc.names()
	switch place := placeOf(path); {
	case place == placeEnable && (c.item || c.value):
		for _, n := range names.features {
			value(itemReference, n.name, "feature", n.description)
		}
	case place == placeModifiers && c.item:
		for _, n := range names.modifiers {
			value(itemReference, n.name, "shared modifier", n.description)
		}
	case place == placeContextKey && c.value:
		for _, n := range names.contextKeys {
			value(itemReference, n.name, "context key", n.description)
		}
	}
	if c.value || c.item {
		for _, v := range s.schema.values(path) {
			if !slices.ContainsFunc(items, func(i completionItem) bool { return i.Label == v }) {
				value(itemValue, v, "", "")
			}
		}
	}
	if !c.value {
		items = append(items, s.fieldItems(c, path)...)
	}
	return items
}

// fieldItems returns the fields that can still be added to the object at a cursor.
func (s *server) fieldItems(c cursor, path []string) []completionItem {
	items := []completionItem{}
	add := func(f field, text string) {
		if slices.Contains(c.keys, f.name) {
			return
		}
		item := completionItem{Label: f.name, Kind: itemField, TextEdit: textEdit{NewText: text}}
		if f.required {
			item.Detail = "required"
		}
		if f.description != "" {
			item.Documentation = markdown(f.description)
		}
		items = append(items, item)
	}
	switch placeOf(path) {
	case placeVersions:
		add(field{name: nextVersion(c.keys), object: true}, c.writeKey(nextVersion(c.keys), true))
	case placeEndpoints:
		url := "https://" + signpost.HostPlaceholder + "/" + path[1] + "/"
		items = append(items, completionItem{Label: url, Kind: itemField, Detail: "an endpoint of this service", TextEdit: textEdit{NewText: c.open() + url}})
	case placeAllow:
		for _, r := range definition.Rules() {
			if r.Severity == signpost.SeverityWarning {
				add(field{name: r.Name, description: r.Summary}, c.writeKey(r.Name, false))
			}
		}
		return items
	}
	for _, f := range s.schema.fields(path) {
		add(f, c.writeKey(f.name, f.object))
	}
	return items
}

// nextVersion returns the version after the last existing one.
func nextVersion(versions []string) string {
	for n := 1; ; n++ {
		if name := fmt.Sprintf("v%d", n); !slices.Contains(versions, name) {
			return name
		}
	}
}

// write returns text as it must be inserted at the cursor, with quotes if needed.
func (c cursor) write(text string) string {
	switch {
	case c.quote != 0:
		return text // already in quotes
	case text == "true" || text == "false":
		return text
	case c.json:
		return scalar(tree.DoubleQuoted, text)
	}
	if strings.ContainsAny(text, "{}[],#&*!|>'\"%@`") || strings.Contains(text, ": ") {
		return scalar(tree.DoubleQuoted, text)
	}
	return text
}

// open returns the quotation mark to start a key with at the cursor.
func (c cursor) open() string {
	if c.json && c.quote == 0 {
		return `"`
	}
	return ""
}

// writeKey returns the text to insert for a key, up to the start of its value.
func (c cursor) writeKey(name string, object bool) string {
	switch {
	case c.json:
		return c.open() + name + `": `
	case c.quote != 0:
		return name + string(c.quote) + ": "
	case object && !c.flow:
		return name + ":"
	}
	return name + ": "
}

// knownPlace is a place where names declared in the file are offered.
type knownPlace int

const (
	placeOther knownPlace = iota
	placeEnable
	placeModifiers
	placeContextKey
	placeVersions
	placeEndpoints
	placeAllow
)

func placeOf(path []string) knownPlace {
	n := len(path)
	last := func(steps ...string) bool { return n >= len(steps) && slices.Equal(path[n-len(steps):], steps) }
	switch {
	case n > 0 && path[0] == "enable":
		return placeEnable
	case n == 6 && last("modifiers", ""):
		return placeModifiers
	case last("context_obj", "", "key"):
		return placeContextKey
	case n == 1 && path[0] == "versions":
		return placeVersions
	case n == 3 && path[0] == "versions" && path[2] == "endpoints":
		return placeEndpoints
	case last("allow") && (n == 1 || n == 5):
		return placeAllow
	}
	return placeOther
}

// names holds the names that a file declares, by kind.
type names struct{ modifiers, features, contextKeys []name }

type name struct{ name, description string }

// names returns the names in the last version of the document that could be parsed.
func (d *document) names() names {
	var out names
	add := func(to *[]name, text, description string) {
		for i := range *to {
			if (*to)[i].name == text {
				if (*to)[i].description == "" {
					(*to)[i].description = description
				}
				return
			}
		}
		*to = append(*to, name{text, description})
	}
	for _, f := range []signpost.Feature{signpost.Authentication(), signpost.GeoRestriction()} {
		add(&out.features, f.Name, "Built in.")
		for _, item := range f.ContextObj {
			add(&out.contextKeys, item.Key, "From the built-in feature "+f.Name+".")
		}
	}
	for _, s := range symbols(d.lastRoot()) {
		switch {
		case s.kind == sharedModifier && s.decl != nil:
			add(&out.modifiers, s.name, field1(s.value, "name").Text)
		case s.kind == feature && s.decl != nil:
			add(&out.features, s.name, "")
		case s.kind == contextKey && s.value != nil:
			add(&out.contextKeys, s.name, s.value.Text)
		case s.kind == contextKey:
			add(&out.contextKeys, s.name, "")
		}
	}
	return out
}
