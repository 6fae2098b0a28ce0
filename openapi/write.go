package openapi

import (
	"cmp"
	"fmt"
	"path"
	"slices"
	"strings"

	"signpost"
	"signpost/internal/draft"
)

// write returns the definition as YAML. Comments are next to what they are about; those about several endpoints come
// first, and those about what was left out altogether come last.
func (im *importer) write(used []*operation, notes []Note) []byte {
	name := path.Base(im.owners[im.root.Document()].path)
	definition := draft.Definition{
		Comments: []string{fmt.Sprintf("Imported from %s by signpost import.", draft.OneLine(name))},
		Service:  str(get(get(im.root, "info"), "title")),
	}
	for _, n := range im.notes {
		definition.Comments = append(definition.Comments, n.Message)
	}
	own := make(map[string][]string) // notes about a single endpoint, by operation
	for _, n := range notes {
		switch {
		case n.LeftOut:
			definition.LeftOut = append(definition.LeftOut,
				n.subject()+": "+strings.TrimPrefix(n.Message, leftOutPrefix))
		case n.More > 0:
			definition.Comments = append(definition.Comments, n.subject()+": "+n.Message)
		default:
			own[n.Operation] = append(own[n.Operation], n.Message)
		}
	}
	used = slices.SortedStableFunc(slices.Values(used), func(a, b *operation) int {
		return cmp.Or(len(a.version)-len(b.version), strings.Compare(a.version, b.version)) // v2 before v10
	})
	versions := []draft.Version{{Name: cmp.Or(im.opts.Version, "v1")}}
	if len(used) > 0 {
		versions[0].Name = used[0].version
	}
	for _, op := range used {
		if op.version != versions[len(versions)-1].Name {
			versions = append(versions, draft.Version{Name: op.version})
		}
		last := &versions[len(versions)-1]
		last.Endpoints = append(last.Endpoints, op.draft(own[op.label]))
	}
	definition.Versions = versions
	return definition.Write()
}

func (op *operation) draft(notes []string) draft.Endpoint {
	return draft.Endpoint{Comments: notes, Endpoint: signpost.Endpoint{
		URL: op.url.String(), Name: op.name, Method: op.method, MIMEType: op.mimeType,
		ContextObj: op.context, Modifiers: op.modifiers,
	}}
}
