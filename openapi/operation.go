package openapi

import (
	"cmp"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"signpost"
	"signpost/internal/routes"
	"signpost/internal/spell"
	"signpost/internal/tree"
	"signpost/internal/warnings"
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

	url, mimeType string   // an operation without a URL is left out
	names         []string // the name, and others in case that it is not unique
	version       string   // empty if the URL names none
	context       []signpost.ContextItem
	allow         string // an allowed warning with its reason, as YAML
	modifiers     []modifier
}

func (op *operation) note(at *tree.Node, format string, args ...any) {
	op.notes = append(op.notes, op.im.newNote(at, op.label, format, args...))
}

// leftOutPrefix starts the note about an operation that is not imported.
const leftOutPrefix = "left out: "

// leaveOut replaces all notes about the operation with the reason.
func (op *operation) leaveOut(reason error) {
	op.url, op.notes = "", nil
	op.note(op.key, leftOutPrefix+"%v", reason)
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
	im.misspelt(im.note, item, "path")
	add := func(method string, f tree.Field) {
		target, err := im.deref(f.Value)
		if err != nil {
			target = f.Value
		}
		op := &operation{im: im, label: oneLine(strings.ToUpper(method) + " " + key), method: method, path: key, item: item, key: f.Key, node: target, err: err}
		if im.isChosen(op) {
			im.operations = append(im.operations, op)
		}
	}
	for _, method := range methods {
		if key, value := item.Field(method); key != nil {
			add(method, tree.Field{Key: key, Value: value})
		}
	}
	for _, f := range im.fields(get(item, "additionalOperations")) { // of OpenAPI 3.2
		add(f.Key.Text, f)
	}
}

// isChosen reports whether an operation is selected.
func (im *importer) isChosen(op *operation) bool {
	byPath := len(im.opts.Paths) == 0
	for _, choice := range im.opts.Paths {
		pattern := "(?s)^" + strings.ReplaceAll(regexp.QuoteMeta(choice), `\*`, ".*") + "$"
		if regexp.MustCompile(pattern).MatchString(op.path) {
			byPath, im.chosen[choice] = true, true
		}
	}
	byTag := len(im.opts.Tags) == 0
	for _, choice := range im.opts.Tags {
		if slices.ContainsFunc(im.list(get(op.node, "tags")), func(tag *tree.Node) bool { return strings.EqualFold(str(tag), choice) }) {
			byTag, im.chosen[choice] = true, true
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
	if op.url, err = im.url(op); err != nil {
		return err
	}
	if other := im.urls[op.url]; other != nil {
		return fmt.Errorf("it has the same URL as %s, and a manifest lists a URL once", other.label)
	}
	if len(urlKey(op.url)) > maxKey {
		return fmt.Errorf("its URL is longer than %d characters", maxKey)
	}
	op.version = im.opts.Version
	if op.version == "" && strings.Contains(op.url, signpost.HostPlaceholder) { // third parties have their own versions
		op.version = versionIn(op.url)
	}
	im.misspelt(op.note, op.node, "operation")
	op.setCandidates()
	op.mimeType = im.mimeType(op)
	im.addContext(op)
	im.addModifiers(op)

	// modifiers are valid by construction, so they are left out here
	e := signpost.Endpoint{URL: op.url, Name: op.names[0], Method: op.method, MIMEType: op.mimeType, ContextObj: op.context}
	if findings := signpost.NewManifest(e).Validate(); len(findings) > 0 {
		return errors.New(findings[0].Message)
	}
	// A trailing slash is what the document says. That of /media/ may be a mistake: a feature for /media misses it.
	if path := signpost.CutURL(op.url).Path(); path != "/" && strings.HasSuffix(path, "/") && !strings.HasSuffix(path, "/media/") {
		op.allow = warnings.TrailingSlash + ": the OpenAPI document has it"
	}
	return nil
}

// versionIn returns the first path segment that names a version, or "".
func versionIn(url string) string {
	segments := strings.Split(url, "/")
	if i := slices.IndexFunc(segments, isVersion); i >= 0 {
		return segments[i]
	}
	return ""
}

// isVersion reports whether a definition can have a version of this name: they begin at v1.
func isVersion(name string) bool { return routes.ValidVersion(name) && name != "v0" }

// setCandidates fills in the possible names of an operation: its summary or that of the path, its id, the summary with
// the path, and last method and path, which no other operation has.
func (op *operation) setCandidates() {
	id := title(get(op.node, "operationId"))
	names := []string{cmp.Or(title(get(op.node, "summary")), title(get(op.item, "summary"))), humanise(id)}
	names = slices.DeleteFunc(names, func(name string) bool { return name == "" })
	if len(names) > 0 && len(names[0]+op.path) <= maxSummary {
		names = append(names, oneLine(names[0]+" ("+op.path+")"))
	}
	op.names = append(names, op.label)
}

// setNames gives each endpoint of a version a unique name. Operations that would share a name all get their next best
// one, so that none of them seems to be the only one.
func setNames(operations []*operation) {
	type key struct{ version, name string }
	for rest := operations; len(rest) > 0; {
		count := make(map[key]int)
		for _, op := range operations {
			count[key{op.version, op.names[0]}]++
			if op.names[0] != op.label { // the last resort stays free
				count[key{op.version, op.label}]++
			}
		}
		rest = slices.DeleteFunc(slices.Clone(rest), func(op *operation) bool {
			return count[key{op.version, op.names[0]}] == 1 || len(op.names) == 1
		})
		for _, op := range rest {
			op.names = op.names[1:]
		}
	}
}

// fieldsOf lists the fields of objects in which a misspelt field would go unnoticed.
var fieldsOf = map[string][]string{
	"document":  strings.Fields("openapi $self info jsonSchemaDialect servers paths webhooks components security tags externalDocs"),
	"path":      append(strings.Fields("$ref summary description servers parameters additionalOperations"), methods...),
	"operation": strings.Fields("tags summary description externalDocs operationId parameters requestBody responses callbacks deprecated security servers"),
	"parameter": strings.Fields("name in description required deprecated allowEmptyValue style explode allowReserved schema example examples content " +
		"type enum default format items minimum maximum"),
	"schema": strings.Fields("$ref type enum const default description example examples nullable anyOf oneOf allOf not items properties " +
		"format title minimum maximum pattern deprecated required minLength maxLength minItems maxItems readOnly writeOnly"),
}

// misspelt notes the keys of an object that look like misspelt fields.
func (im *importer) misspelt(note notef, n *tree.Node, what string) {
	if n == nil {
		return
	}
	im.spent += bytesPerItem * len(n.Fields)
	known := fieldsOf[what]
	for _, f := range n.Fields {
		name := f.Key.Text
		if slices.Contains(known, name) || strings.HasPrefix(name, "x-") {
			continue
		}
		if near := cmp.Or(spell.Nearest(name, known), spell.Nearest(strings.ToLower(name), known)); near != "" {
			note(f.Key, "unknown field %q is ignored: did you mean %q?", name, near)
		}
	}
}
