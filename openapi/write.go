package openapi

import (
	"bytes"
	"cmp"
	"fmt"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"signpost"
	"signpost/internal/warnings"
)

const (
	// maxKey is the maximum length of an endpoint URL: YAML allows at most 1024 characters before a colon.
	maxKey = 1000

	// maxSharedName is the maximum length of the name of a shared modifier, which precedes a colon as well.
	maxSharedName = 100
)

// write returns the definition as YAML. Comments are next to what they are about; those about several endpoints come
// first, and those about what was left out altogether come last.
func (im *importer) write(used []*operation, notes []Note) []byte {
	var out bytes.Buffer
	fmt.Fprintf(&out, "# Imported from %s by signpost import.\n", oneLine(path.Base(im.owners[im.root.Document()].path)))
	for _, n := range im.notes {
		fmt.Fprintf(&out, "# %s\n", n.Message)
	}
	var leftOut []Note
	own := make(map[string][]Note) // notes about a single endpoint, by operation
	for _, n := range notes {
		switch {
		case strings.HasPrefix(n.Message, leftOutPrefix):
			leftOut = append(leftOut, n)
		case n.More > 0:
			fmt.Fprintf(&out, "# %s: %s\n", n.subject(), n.Message)
		default:
			own[n.Operation] = append(own[n.Operation], n)
		}
	}
	if title := str(get(get(im.root, "info"), "title")); title != "" {
		fmt.Fprintf(&out, "\nservice: %s\n", scalar(title))
	}
	shared, order := sharedModifiers(used)
	if len(order) > 0 {
		out.WriteString("\nmodifiers:\n")
	}
	for _, m := range order {
		fmt.Fprintf(&out, "  %s: %s\n", scalar(m.id), m.yaml("      "))
	}
	out.WriteString("\nversions:\n")
	if len(used) == 0 {
		fmt.Fprintf(&out, "  %s:\n    endpoints: {}\n", cmp.Or(im.opts.Version, "v1"))
	}
	used = slices.SortedStableFunc(slices.Values(used), func(a, b *operation) int {
		return cmp.Or(len(a.version)-len(b.version), strings.Compare(a.version, b.version)) // v2 before v10
	})
	version := ""
	for _, op := range used {
		if op.version != version {
			version = op.version
			fmt.Fprintf(&out, "  %s:\n    endpoints:\n", version)
		}
		op.write(&out, own[op.label], shared)
	}
	for i, n := range leftOut {
		if i == 0 {
			out.WriteString("\n# Left out:\n")
		}
		fmt.Fprintf(&out, "# %s: %s\n", n.subject(), strings.TrimPrefix(n.Message, leftOutPrefix))
	}
	return out.Bytes()
}

func (op *operation) write(out *bytes.Buffer, notes []Note, shared map[string]modifier) {
	fmt.Fprintf(out, "      %s:\n", urlKey(op.url))
	for _, n := range notes {
		fmt.Fprintf(out, "        # %s\n", n.Message)
	}
	fmt.Fprintf(out, "        name: %s\n        method: %s\n        mime_type: %s\n", scalar(op.name), op.method, scalar(op.mimeType))
	if len(op.context) == 0 {
		out.WriteString("        context_obj: []\n")
	} else {
		out.WriteString("        context_obj:\n")
	}
	for _, c := range op.context {
		fmt.Fprintf(out, "          - {key: %s, type: %s, required: %t}\n", scalar(c.Key), c.Type, c.Required)
	}
	// A trailing slash is what the document says. That of /media/ may be a mistake: a feature for /media misses it.
	if path := signpost.CutURL(op.url).Path(); path != "/" && strings.HasSuffix(path, "/") && !strings.HasSuffix(path, "/media/") {
		fmt.Fprintf(out, "        allow: {%s: the OpenAPI document has it}\n", warnings.TrailingSlash)
	}
	if len(op.modifiers) > 0 {
		out.WriteString("        modifiers:\n")
	}
	for _, m := range op.modifiers {
		item := scalar(m.id)
		if shared[m.id] != m {
			item = m.yaml("              ")
		}
		fmt.Fprintf(out, "          - %s\n", item)
	}
}

// sharedModifiers returns the modifiers that several endpoints have in common: by id, which is the name of a shared
// modifier, and in order. If two have the same id, the first one is shared.
func sharedModifiers(used []*operation) (shared map[string]modifier, order []modifier) {
	shared = make(map[string]modifier)
	seen := make(map[modifier]bool)
	for _, op := range used {
		for _, m := range op.modifiers {
			if seen[m] && shared[m.id].id == "" && len(m.id) <= maxSharedName {
				shared[m.id] = m
				order = append(order, m)
			}
			seen[m] = true
		}
	}
	return shared, order
}

// yaml returns the modifier with its options indented.
func (m modifier) yaml(indent string) string { return strings.ReplaceAll(m.text, "\n", "\n"+indent) }

var (
	plainText = regexp.MustCompile(`^[A-Za-z][\w./+-]*( [\w./+-]+)*$`)
	plainURL  = regexp.MustCompile(`^https?://[\w{}/.~%?=&+-]+$`)
	reserved  = regexp.MustCompile(`(?i)^(true|false|null|yes|no|on|off|y|n)$`)
)

// scalar returns text as a YAML scalar, quoted if YAML might read it as something else.
func scalar(s string) string {
	if plainText.MatchString(s) && !reserved.MatchString(s) {
		return s
	}
	return strconv.Quote(s) // YAML has the same escapes
}

// urlKey returns the URL of an endpoint as a YAML key.
func urlKey(url string) string {
	if plainURL.MatchString(url) {
		return url
	}
	return strconv.Quote(url)
}
