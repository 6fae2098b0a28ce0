package openapi

import (
	"cmp"
	"errors"
	"fmt"
	"mime"
	"path"
	"regexp"
	"slices"
	"strings"

	"signpost"
	"signpost/internal/routes"
	"signpost/internal/spell"
)

// methods are the operations that a path can have. Of two with the same URL the first becomes the endpoint,
// so GET comes first.
var methods = []string{"get", "post", "put", "patch", "delete", "head", "options", "trace"}

// operation is an operation of the document, and the endpoint that it becomes.
type operation struct {
	label, method, path string // GET /shows, get, /shows
	item, node          *node  // the path item, and the operation itself
	notes               []Note

	url, name, mimeType string // without a URL, the operation is left out
	version             string // empty if the URL names none
	modifiers           []modifier
}

func (op *operation) note(at *node, format string, args ...any) {
	op.notes = append(op.notes, newNote(at, op.label, format, args...))
}

// leaveOut makes the reason the one thing to say about the operation.
func (op *operation) leaveOut(reason error) {
	op.url, op.notes = "", nil
	op.note(op.node, "left out: %v", reason)
}

func (im *importer) pathItem(key string, n *node) {
	item, err := im.deref(n)
	switch {
	case err != nil:
		im.note(n, "path %q is left out: %v", key, err)
		return
	case !item.is(object):
		im.note(n, "path %q is left out: it is %s, not an object", key, item.kind)
		return
	case item != n && len(n.keys) > 1:
		im.note(n, "path %q: what stands beside $ref is left out", key)
	}
	misspelt(im.note, item, "path")
	for _, method := range methods {
		op := &operation{label: oneLine(strings.ToUpper(method) + " " + key), method: method, path: key, item: item, node: item.get(method)}
		if op.node == nil || !im.isChosen(op) {
			continue
		}
		im.operations = append(im.operations, op)
		if err := im.endpoint(op); err != nil {
			op.leaveOut(err)
			continue
		}
		im.urls[op.url] = op
		if op.version != "" {
			im.versions[op.version] = true
		}
	}
}

// endpoint fills in the endpoint of an operation. The error says why it cannot become one.
func (im *importer) endpoint(op *operation) (err error) {
	switch {
	case !op.node.is(object):
		return fmt.Errorf("it is %s, not an object", op.node.kind)
	case op.method != signpost.MethodGet && op.method != signpost.MethodPost:
		return errors.New("clients call an endpoint with GET or POST")
	case op.method == signpost.MethodPost && !im.opts.Post:
		return errors.New("POST operations are imported on request only")
	case op.node.get("deprecated").isTrue() && !im.opts.Deprecated:
		return errors.New("deprecated operations are imported on request only")
	}
	if op.url, err = im.url(op); err != nil {
		return err
	}
	if other := im.urls[op.url]; other != nil {
		return fmt.Errorf("%s has the same URL, and a manifest has a URL once", other.label)
	}
	if len(urlKey(op.url)) > maxKey {
		return fmt.Errorf("its URL is longer than %d characters", maxKey)
	}
	op.version = im.opts.Version
	if op.version == "" && !im.opts.ThirdParty { // the versions of others are none of ours
		segments := strings.Split(op.url, "/")
		if i := slices.IndexFunc(segments, routes.ValidVersion); i >= 0 {
			op.version = segments[i]
		}
	}
	misspelt(op.note, op.node, "operation")
	noteSecurity(op.note, op.node)
	op.name = cmp.Or(op.node.get("summary").string(), op.item.get("summary").string(),
		humanise(op.node.get("operationId").string()), op.label)
	op.mimeType = im.mimeType(op)
	im.addModifiers(op)

	e := signpost.Endpoint{URL: op.url, Name: op.name, Method: op.method, MIMEType: op.mimeType}
	for _, m := range op.modifiers {
		e.Modifiers = append(e.Modifiers, m.build())
	}
	if findings := signpost.NewManifest(e).Validate(); len(findings) > 0 {
		return errors.New(findings[0].Message)
	}
	return nil
}

var (
	parameterName   = regexp.MustCompile(`^[\w.-]+$`)
	parameterInPath = regexp.MustCompile(`\{\{([\w.-]+)\}\}|\{([\w.-]+)\}`) // the contract refuses any other brace
	serverVariable  = regexp.MustCompile(`\{([^{}]*)\}`)
)

// url returns the URL of an operation: its server, then its path with {id} and :id as {{id}}.
func (im *importer) url(op *operation) (string, error) {
	base, err := im.server(op)
	if err != nil {
		return "", err
	}
	if !strings.HasPrefix(op.path, "/") {
		op.note(op.node, "the path does not start with a slash: it is taken as %q", "/"+op.path)
	}
	segments := strings.Split(strings.TrimPrefix(op.path, "/"), "/")
	for i, s := range segments {
		name, colon := strings.CutPrefix(s, ":")
		switch {
		case colon && parameterName.MatchString(name):
			segments[i] = "{{" + name + "}}"
		case colon:
			return "", fmt.Errorf("path segment %q is not a parameter, such as {id}", s)
		default:
			segments[i] = parameterInPath.ReplaceAllString(s, "{{$1$2}}")
		}
	}
	return base + "/" + strings.Join(segments, "/"), nil
}

// server returns the beginning of an operation's URL, without a slash at its end. The first of the
// innermost servers counts.
func (im *importer) server(op *operation) (string, error) {
	var owner, server *node
	for _, owner = range []*node{op.node, op.item, im.root} {
		if servers := owner.get("servers").list(); len(servers) > 0 {
			server = servers[0]
			break
		}
	}
	raw := serverVariable.ReplaceAllStringFunc(server.get("url").string(), func(braces string) string {
		d := server.get("variables").get(strings.Trim(braces, "{}")).get("default")
		if !d.isScalar() {
			return braces
		}
		return d.string()
	})
	scheme, rest, absolute := strings.Cut(raw, "://")
	if !absolute {
		scheme = "https"
		rest, absolute = strings.CutPrefix(raw, "//")
	}
	rest, _, _ = strings.Cut(rest, "#")
	rest, _, _ = strings.Cut(rest, "?")
	authority := ""
	if absolute {
		authority, rest, _ = strings.Cut(rest, "/")
	}
	rest = strings.TrimSuffix(path.Join("/", rest), "/")
	im.noteServers(op, owner, scheme+"://"+authority)
	if !im.opts.ThirdParty {
		scheme, authority = "https", ""
	} else if authority == "" {
		return "", fmt.Errorf("its server %q is not an absolute URL, as one of a third party has to be", cmp.Or(raw, "/"))
	}
	if open := serverVariable.FindString(authority + rest); open != "" {
		return "", fmt.Errorf("server variable %s has no default", open)
	}
	return scheme + "://" + cmp.Or(authority, signpost.HostPlaceholder) + rest, nil
}

// noteServers notes what is not taken over from a list of servers: once, if it is that of the document.
func (im *importer) noteServers(op *operation, owner *node, origin string) {
	note := op.note
	if owner == im.root {
		if im.serverSeen {
			return
		}
		note, im.serverSeen = im.note, true
	}
	for i, server := range owner.get("servers").list() {
		switch {
		case i > 0:
			note(server, "server %q is left out: the first one counts", server.get("url").string())
		case !im.opts.ThirdParty && !strings.HasSuffix(origin, "://"):
			note(server, "https://%s stands for %s", signpost.HostPlaceholder, origin)
		}
	}
}

// mimeType returns the content type of what an operation returns or, for a form, of what it takes.
func (im *importer) mimeType(op *operation) string {
	if body := op.node.get("requestBody"); body != nil {
		op.note(body, "the request body is left out: modifiers are query parameters")
		if op.method == signpost.MethodPost && slices.Contains(im.mediaTypes(op, body), signpost.MIMEForm) {
			return signpost.MIMEForm
		}
	}
	responses := op.node.get("responses")
	types := im.mediaTypes(op, responses.get(successCode(responses.names())))
	switch {
	case slices.Contains(types, signpost.MIMEJSON):
		return signpost.MIMEJSON
	case len(types) > 0:
		return types[0]
	}
	op.note(op.node, "no content type is declared for what it returns: it is taken as %s", signpost.MIMEJSON)
	return signpost.MIMEJSON
}

// successCode returns the status code of the response that an operation gives when all is well: 200, or
// another of its kind, or 2XX, or default.
func successCode(codes []string) string {
	codes = slices.DeleteFunc(slices.Sorted(slices.Values(codes)), func(code string) bool { return code == "default" })
	for _, prefix := range []string{"200", "20", "2"} { // digits sort before XX
		if i := slices.IndexFunc(codes, func(code string) bool { return strings.HasPrefix(code, prefix) }); i >= 0 {
			return codes[i]
		}
	}
	return "default"
}

// mediaTypes returns the content types of a response or a request body, sorted, without their parameters.
func (im *importer) mediaTypes(op *operation, n *node) []string {
	target, err := im.deref(n)
	if err != nil {
		op.note(n, "%v", err)
	}
	var types []string
	for _, name := range target.get("content").names() {
		if t, _, err := mime.ParseMediaType(name); err == nil && strings.Contains(t, "/") && !strings.Contains(t, "*") {
			types = append(types, t)
		}
	}
	slices.Sort(types)
	return types
}

// noteSecurity notes the security schemes that are asked for. Which context key carries a token is for the
// deployment to say.
func noteSecurity(note func(*node, string, ...any), owner *node) {
	var names []string
	for _, alternative := range owner.get("security").list() {
		names = append(names, alternative.names()...)
	}
	if slices.Sort(names); len(names) > 0 {
		note(owner.get("security"), "security (%s) is left out: enable a feature, or declare the context key in context_obj",
			strings.Join(slices.Compact(names), ", "))
	}
}

// fieldsOf are the fields of the objects in which a misspelt one would be missed.
var fieldsOf = map[string][]string{
	"document":  strings.Fields("openapi info jsonSchemaDialect servers paths webhooks components security tags externalDocs"),
	"path":      append(strings.Fields("$ref summary description servers parameters"), methods...),
	"operation": strings.Fields("tags summary description externalDocs operationId parameters requestBody responses callbacks deprecated security servers"),
	"parameter": strings.Fields("name in description required deprecated allowEmptyValue style explode allowReserved schema example examples content type enum default format items minimum maximum"),
	"schema": strings.Fields("$ref type enum const default description example examples nullable anyOf oneOf allOf not items properties " +
		"format title minimum maximum pattern deprecated required minLength maxLength minItems maxItems readOnly writeOnly"),
}

// maxField is how long a key can be to be compared with the fields of an object.
const maxField = 30

// misspelt notes the keys of an object that look like a field that it could have.
func misspelt(note func(*node, string, ...any), n *node, what string) {
	for _, key := range n.names() {
		if slices.Contains(fieldsOf[what], key) || strings.HasPrefix(key, "x-") || len(key) > maxField {
			continue
		}
		near := cmp.Or(spell.Nearest(key, fieldsOf[what]), spell.Nearest(strings.ToLower(key), fieldsOf[what]))
		if near != "" {
			note(n.get(key), "field %q is left out: did you mean %q?", key, near)
		}
	}
}
