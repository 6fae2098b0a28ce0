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
)

// methods lists the operations that a path can have. If two have the same URL, the first becomes the endpoint, so GET
// comes first. QUERY is new in OpenAPI 3.2.
var methods = []string{"get", "post", "put", "patch", "delete", "head", "options", "trace", "query"}

// operation is an operation of the document and the endpoint that it becomes.
type operation struct {
	label, method, path string // GET /shows, get, /shows
	item, node          *node  // the path item, and the operation itself
	err                 error  // why the operation cannot be read
	notes               []Note

	url, mimeType string   // an operation without a URL is left out
	names         []string // candidates
	name          int      // index into names
	version       string   // empty if the URL names none
	context       []signpost.ContextItem
	allow         []string // allowed warnings with reasons, as YAML
	modifiers     []modifier
}

func (op *operation) note(at *node, format string, args ...any) {
	op.notes = append(op.notes, newNote(at, op.label, format, args...))
}

// leftOutPrefix starts the note about an operation that is not imported.
const leftOutPrefix = "left out: "

// leaveOut replaces all notes about the operation with the reason.
func (op *operation) leaveOut(reason error) {
	op.url, op.notes = "", nil
	op.note(op.node, leftOutPrefix+"%v", reason)
}

// collect adds the selected operations of a path.
func (im *importer) collect(key string, n *node) {
	item, err := im.deref(n)
	switch {
	case err != nil:
		im.note(n, "path %q is left out: %v", key, err)
		return
	case !item.is(object):
		im.note(n, "path %q is left out: it is %s, not an object", key, item.kind)
		return
	case item != n && len(n.keys) > 1:
		im.note(n, "path %q: fields next to $ref are ignored", key)
	}
	im.misspelt(im.note, item, "path")
	add := func(method string, n *node) {
		target, err := im.deref(n)
		if err != nil {
			target = n
		}
		op := &operation{label: oneLine(strings.ToUpper(method) + " " + key), method: method, path: key, item: item, node: target, err: err}
		if im.isChosen(op) {
			im.operations = append(im.operations, op)
		}
	}
	for _, method := range methods {
		if n := item.get(method); n != nil {
			add(method, n)
		}
	}
	if additional := item.get("additionalOperations"); additional.is(object) { // of OpenAPI 3.2
		for _, method := range additional.names() {
			add(method, additional.get(method))
		}
	}
}

// isChosen reports whether an operation is selected.
func (im *importer) isChosen(op *operation) bool {
	byPath := len(im.opts.Paths) == 0
	for i, pattern := range im.paths {
		if pattern.MatchString(op.path) {
			byPath, im.chosen[im.opts.Paths[i]] = true, true
		}
	}
	byTag := len(im.opts.Tags) == 0
	tags := op.node.get("tags").list()
	if !byTag {
		im.work += len(tags)
	}
	for _, choice := range im.opts.Tags {
		if slices.ContainsFunc(tags, func(tag *node) bool { return strings.EqualFold(tag.string(), choice) }) {
			byTag, im.chosen[choice] = true, true
		}
	}
	return byPath && byTag
}

// pathPattern returns the regular expression for a path in which * matches any text.
func pathPattern(choice string) *regexp.Regexp {
	return regexp.MustCompile("(?s)^" + strings.ReplaceAll(regexp.QuoteMeta(choice), `\*`, ".*") + "$")
}

// endpoint fills in the endpoint of an operation. The error says why that is impossible.
func (im *importer) endpoint(op *operation) (err error) {
	switch {
	case op.err != nil:
		return op.err
	case !op.node.is(object):
		return fmt.Errorf("it is %s, not an object", op.node.kind)
	case op.method != signpost.MethodGet && op.method != signpost.MethodPost:
		return errors.New("only GET and POST operations can be endpoints")
	case op.method == signpost.MethodPost && !im.opts.Post:
		return errors.New("POST operations are imported only with --post")
	case op.node.get("deprecated").isTrue() && !im.opts.Deprecated:
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
	op.names = im.names(op)
	op.mimeType = im.mimeType(op)
	im.addContext(op)
	im.addModifiers(op)

	// modifiers are valid by construction, so they are left out here
	e := signpost.Endpoint{URL: op.url, Name: op.names[0], Method: op.method, MIMEType: op.mimeType, ContextObj: op.context}
	if findings := signpost.NewManifest(e).Validate(); len(findings) > 0 {
		return errors.New(findings[0].Message)
	}
	return nil
}

// allowWhatIsMeant allows the warnings about a URL that is exactly as the document says. It does not allow those that
// may hide a mistake: a feature for /media would miss /media/.
func (op *operation) allowWhatIsMeant() {
	u := signpost.CutURL(op.url)
	if path := u.Path(); path != "/" && strings.HasSuffix(path, "/") && !strings.HasSuffix(path, "/media/") {
		op.allow = append(op.allow, signpost.RuleTrailingSlash+": the OpenAPI document has it")
	}
}

// versionIn returns the first path segment that names a version, or "".
func versionIn(url string) string {
	segments := strings.Split(url, "/")
	if i := slices.IndexFunc(segments, routes.ValidVersion); i >= 0 {
		return segments[i]
	}
	return ""
}

// names returns possible names of an operation, best first. The last one, method and path, is unique.
func (im *importer) names(op *operation) []string {
	id := op.node.get("operationId").string()
	if len(id) > maxSummary {
		id = ""
	}
	names := []string{
		im.headline(op.node.get("summary"), maxSummary),
		im.headline(op.item.get("summary"), maxSummary),
		humanise(id),
		im.headline(op.node.get("description"), maxHeadline),
		im.headline(op.item.get("description"), maxHeadline),
	}
	names = slices.DeleteFunc(names, func(name string) bool { return name == "" })
	if len(names) > 0 && len(names[0]+op.path) <= maxSummary {
		names = append(names, oneLine(names[0]+" ("+op.path+")"))
	}
	return append(names, op.label)
}

// setNames gives each endpoint of a version a unique name. Operations that would share a name all fall back to their
// next best one, so that none of them seems to be the only one.
func setNames(operations []*operation) {
	type key struct{ version, name string }
	holder, shared := make(map[key]*operation), make(map[key]bool)
	pending := slices.Clone(operations)
	next := func(op *operation) {
		op.name++
		pending = append(pending, op)
	}
	for len(pending) > 0 {
		op := pending[0]
		pending = pending[1:]
		k := key{op.version, op.names[op.name]}
		other, last := holder[k], op.name == len(op.names)-1
		switch {
		case last || other == nil && !shared[k]:
			if holder[k] = op; other != nil && other.name < len(other.names)-1 {
				next(other)
			}
		case other != nil && other.name == op.name: // both have equal claim to the name
			delete(holder, k)
			shared[k] = true
			next(other)
			next(op)
		default:
			next(op)
		}
	}
}

// fieldsOf lists the fields of objects in which a misspelt field would go unnoticed.
var fieldsOf = map[string][]string{
	"document":  strings.Fields("openapi $self info jsonSchemaDialect servers paths webhooks components security tags externalDocs"),
	"path":      append(strings.Fields("$ref summary description servers parameters additionalOperations"), methods...),
	"operation": strings.Fields("tags summary description externalDocs operationId parameters requestBody responses callbacks deprecated security servers"),
	"parameter": strings.Fields("name in description required deprecated allowEmptyValue style explode allowReserved schema example examples content type enum default format items minimum maximum"),
	"schema": strings.Fields("$ref type enum const default description example examples nullable anyOf oneOf allOf not items properties " +
		"format title minimum maximum pattern deprecated required minLength maxLength minItems maxItems readOnly writeOnly"),
}

const (
	// maxField is the maximum length of a key that is compared with known fields.
	maxField = 30

	// maxUnknown is the maximum number of unknown keys of an object that are compared. If there are more, they are not
	// misspellings.
	maxUnknown = 20
)

// typo is a key that looks misspelt, and the note about it.
type typo struct {
	at      *node
	message string
}

// misspelt notes the keys of an object that look like misspelt fields. Each object is checked once.
func (im *importer) misspelt(note func(*node, string, ...any), n *node, what string) {
	notes, known := im.typos[n]
	if !known {
		unknown := 0
		for _, key := range n.names() {
			if slices.Contains(fieldsOf[what], key) || strings.HasPrefix(key, "x-") || len(key) > maxField {
				continue
			}
			if unknown++; unknown > maxUnknown {
				break
			}
			near := cmp.Or(spell.Nearest(key, fieldsOf[what]), spell.Nearest(strings.ToLower(key), fieldsOf[what]))
			if near != "" {
				notes = append(notes, typo{n.get(key), fmt.Sprintf("unknown field %q is ignored: did you mean %q?", key, near)})
			}
		}
		im.typos[n] = notes
	}
	for _, found := range notes {
		note(found.at, "%s", found.message)
	}
}
