package openapi

import (
	"cmp"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"signpost"
	"signpost/internal/draft"
	"signpost/internal/routes"
	"signpost/internal/tree"
)

// methods lists the operations that a path can have. If two have the same URL, the first becomes the endpoint, so GET
// comes first. QUERY is new in OpenAPI 3.2.
var methods = []string{"get", "post", "put", "patch", "delete", "head", "options", "trace", "query"}

// operation is an operation of the document and the endpoint that it becomes.
type operation struct {
	im                  *importer
	label, method, path string     // GET /shows, get, /shows
	item, key, node     *tree.Node // the path item, the method in it, and the operation itself
	err                 error      // why the operation cannot be read
	notes               []Note

	url            signpost.URL
	name, mimeType string
	version        string // empty if the URL names none
	context        []signpost.ContextItem
	modifiers      []signpost.Modifier
}

func (op *operation) note(at *tree.Node, format string, args ...any) {
	op.notes = append(op.notes, op.im.newNote(at, op.label, format, args...))
}

// leftOutPrefix starts the note about an operation that is not imported.
const leftOutPrefix = "left out: "

// leaveOut replaces all notes about the operation with the reason.
func (op *operation) leaveOut(reason error) {
	note := op.im.newNote(op.key, op.label, leftOutPrefix+"%v", reason)
	note.LeftOut = true
	op.notes = []Note{note}
}

// collect adds the selected operations of a path.
func (im *importer) collect(path tree.Field) {
	key := path.Key.Text
	item, err := im.deref(path.Value)
	switch {
	case err != nil:
		im.note(path.Key, "path %q is left out: %v", key, err)
		return
	case !is(item, tree.Object):
		im.note(path.Key, "path %q is left out: it is %s, not an object", key, item.Kind)
		return
	case item != path.Value && len(path.Value.Fields) > 1:
		im.note(path.Key, "path %q: fields next to $ref are ignored", key)
	}
	for _, method := range methods {
		methodKey, value := item.Field(method)
		if methodKey == nil {
			continue
		}
		node, err := im.deref(value)
		op := &operation{im: im, label: draft.OneLine(strings.ToUpper(method) + " " + key), method: method, path: key,
			item: item, key: methodKey, node: cmp.Or(node, value), err: err}
		if im.isChosen(op) {
			im.operations = append(im.operations, op)
		}
	}
}

// isChosen reports whether an operation is selected.
func (im *importer) isChosen(op *operation) bool {
	byPath := len(im.opts.Paths) == 0
	for _, choice := range im.opts.Paths {
		pattern := "(?s)^" + strings.ReplaceAll(regexp.QuoteMeta(choice), `\*`, ".*") + "$"
		if regexp.MustCompile(pattern).MatchString(op.path) {
			byPath, im.matched[choice] = true, true
		}
	}
	byTag := len(im.opts.Tags) == 0
	for _, choice := range im.opts.Tags {
		isChoice := func(tag *tree.Node) bool { return strings.EqualFold(str(tag), choice) }
		if slices.ContainsFunc(im.list(get(op.node, "tags")), isChoice) {
			byTag, im.matched[choice] = true, true
		}
	}
	return byPath && byTag
}

// endpoint fills in the endpoint of an operation. The error says why that is impossible.
func (im *importer) endpoint(op *operation) (err error) {
	switch {
	case op.err != nil:
		return op.err
	case !is(op.node, tree.Object):
		return fmt.Errorf("it is %s, not an object", op.node.Kind)
	case op.method != signpost.MethodGet && op.method != signpost.MethodPost:
		return errors.New("only GET and POST operations can be endpoints")
	case op.method == signpost.MethodPost && !im.opts.Post:
		return errors.New("POST operations are imported only with --post")
	case isTrue(get(op.node, "deprecated")) && !im.opts.Deprecated:
		return errors.New("deprecated operations are imported only with --deprecated")
	}
	text, err := im.url(op)
	if err != nil {
		return err
	}
	op.url = signpost.CutURL(text)
	op.version = im.opts.Version
	if op.version == "" && op.url.HasHostPlaceholder() { // third parties have their own versions
		op.version = routes.VersionIn(op.url)
	}
	op.mimeType = im.mimeType(op)
	im.addContext(op)
	im.addModifiers(op)

	// names and modifiers are valid by construction
	e := signpost.Endpoint{URL: op.url.String(), Name: op.label, Method: op.method, MIMEType: op.mimeType,
		ContextObj: op.context}
	if findings := signpost.NewManifest(e).Validate(); len(findings) > 0 {
		return errors.New(findings[0].Message)
	}
	return nil
}

// names returns the possible names of an endpoint, the best one first: the summary of the operation or its path, the
// operation id, and the label, which no other operation has.
func (op *operation) names() []string {
	summary := cmp.Or(title(get(op.node, "summary")), title(get(op.item, "summary")))
	names := []string{summary, humanise(title(get(op.node, "operationId"))), op.label}
	return slices.Compact(slices.DeleteFunc(names, func(name string) bool { return name == "" }))
}

// setNames gives each endpoint the first of its names that no other endpoint of the version could have.
func setNames(operations []*operation) {
	type key struct{ version, name string }
	wanted := make(map[key]int)
	for _, op := range operations {
		for _, name := range op.names() {
			wanted[key{op.version, name}]++
		}
	}
	for _, op := range operations {
		op.name = op.label
		for _, name := range op.names() {
			if wanted[key{op.version, name}] == 1 {
				op.name = name
				break
			}
		}
	}
}
