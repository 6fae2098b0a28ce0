// Package draft writes definitions in YAML, for the importers: what they found, with their notes as comments.
//
// Fill in a [Definition] and [Definition.Write] it. Modifiers that several endpoints have in common are shared, and all
// are in short form where that gives the same.
package draft

import (
	"bytes"
	"fmt"
	"strings"
	"unicode"

	"signpost"
	"signpost/internal/spell"
	"signpost/internal/tree"
)

// Definition is a definition that is going to be written.
type Definition struct {
	Comments []string // about the whole definition
	Service  string
	BasePath string
	Host     string // the only one, if it is known
	Versions []Version
	LeftOut  []string // comments at the end, about what is not there
}

// Version is an API version.
type Version struct {
	Name      string
	Endpoints []Endpoint
	Extra     signpost.Extra
}

// Endpoint is an endpoint. Methods and context types beyond the specification have a plus.
type Endpoint struct {
	signpost.Endpoint
	Comments []string
}

// maxSharedName is the maximum length of the name of a shared modifier, in bytes.
const maxSharedName = 100

// Write returns the definition as YAML.
func (d Definition) Write() []byte {
	var out bytes.Buffer
	for _, comment := range d.Comments {
		fmt.Fprintf(&out, "# %s\n", comment)
	}
	out.WriteString("\n")
	head := out.Len()
	heading := func(text string) {
		if out.Len() > head {
			out.WriteString("\n")
		}
		out.WriteString(text)
	}
	if d.Service != "" {
		fmt.Fprintf(&out, "service: %s\n", tree.Scalar(d.Service))
	}
	if d.BasePath != "" {
		fmt.Fprintf(&out, "base_path: %s\n", tree.Scalar(d.BasePath))
	}
	if d.Host != "" {
		fmt.Fprintf(&out, "hosts: [%s]\n", tree.Scalar(d.Host))
	}
	shared, order := d.shared()
	if len(order) > 0 {
		heading("modifiers:\n")
	}
	for _, name := range order {
		fmt.Fprintf(&out, "  %s: %s\n", tree.Scalar(name), indent(shared[name], "      "))
	}
	heading("versions:\n")
	for _, v := range d.Versions {
		v.write(&out, shared)
	}
	for i, comment := range d.LeftOut {
		if i == 0 {
			out.WriteString("\n# Left out:\n")
		}
		fmt.Fprintf(&out, "# %s\n", comment)
	}
	return out.Bytes()
}

func (v Version) write(out *bytes.Buffer, shared map[string]string) {
	fmt.Fprintf(out, "  %s:\n", v.Name)
	for name, value := range v.Extra.All() {
		fmt.Fprintf(out, "    %s\n", extraField(name, value, "\n    "))
	}
	if len(v.Endpoints) == 0 {
		out.WriteString("    endpoints: {}\n")
		return
	}
	out.WriteString("    endpoints:\n")
	for _, e := range v.Endpoints {
		e.write(out, shared)
	}
}

func (e Endpoint) write(out *bytes.Buffer, shared map[string]string) {
	fmt.Fprintf(out, "      %s\n", tree.Pair(tree.Key(e.URL), "", "\n      "))
	for _, comment := range e.Comments {
		fmt.Fprintf(out, "        # %s\n", comment)
	}
	for _, f := range []struct{ name, value string }{{"name", e.Name}, {"method", e.Method}, {"mime_type", e.MIMEType}} {
		if f.value != "" {
			fmt.Fprintf(out, "        %s: %s\n", f.name, tree.Scalar(f.value))
		}
	}
	if len(e.ContextObj) == 0 {
		out.WriteString("        context_obj: []\n")
	} else {
		out.WriteString("        context_obj:\n")
	}
	for _, c := range e.ContextObj {
		fmt.Fprintf(out, "          - %s\n", contextItem(c))
	}
	if len(e.Modifiers) > 0 {
		out.WriteString("        modifiers:\n")
	}
	used := make(map[string]bool)
	for _, m := range e.Modifiers {
		item := modifier(m)
		if shared[m.ID] == item && !used[m.ID] { // a name can be listed once
			used[m.ID], item = true, tree.Scalar(m.ID)
		}
		fmt.Fprintf(out, "          - %s\n", indent(item, "              "))
	}
	for name, value := range e.Extra.All() {
		fmt.Fprintf(out, "        %s\n", extraField(name, value, "\n        "))
	}
}

// shared returns the modifiers that several endpoints have in common, as text: by id, which is the name of a shared
// modifier, and in order. If two have the same id, the first one is shared.
func (d Definition) shared() (shared map[string]string, order []string) {
	shared = make(map[string]string)
	seen := make(map[string]bool)
	for _, v := range d.Versions {
		for _, e := range v.Endpoints {
			for _, m := range e.Modifiers {
				text := modifier(m)
				if seen[text] && shared[m.ID] == "" && isSharedName(m.ID) {
					shared[m.ID] = text
					order = append(order, m.ID)
				}
				seen[text] = true
			}
		}
	}
	return shared, order
}

// isSharedName reports whether an id can be the name of a shared modifier, which must not look like an extension.
func isSharedName(id string) bool {
	return id != "" && len(id) <= maxSharedName &&
		!strings.HasPrefix(id, "x-") && !strings.HasPrefix(id, signpost.Beyond)
}

// indent indents all lines of a text but the first.
func indent(text, by string) string { return strings.ReplaceAll(text, "\n", "\n"+by) }

// Note returns a message on one line, however long the names and values are that it quotes.
func Note(format string, args ...any) string {
	return OneLine(spell.Shorten(fmt.Sprintf(format, args...)))
}

// OneLine returns text without line breaks and without characters that a terminal or a YAML comment cannot show.
func OneLine(s string) string {
	s = strings.Map(func(r rune) rune {
		if unicode.IsSpace(r) || unicode.IsPrint(r) {
			return r
		}
		return -1
	}, s)
	return strings.Join(strings.Fields(s), " ")
}
