// Package openapi converts OpenAPI 3 documents to definitions.
//
// [Import] is lenient. It leaves out what it cannot use and reports it in a [Note], so even a sloppy document gives a
// definition that passes lint.
package openapi

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"signpost"
	"signpost/internal/routes"
	"signpost/internal/tree"
)

// Options select what to import. The zero value imports all GET operations that are not deprecated.
type Options struct {
	Files fs.FS  // directory of the document, for references to other files; nil rejects them
	Path  string // of the document in Files; empty means the name passed to Import

	ThirdParty bool              // keep the server URLs instead of using {{host}}
	Post       bool              // include POST operations
	Deprecated bool              // include deprecated operations and parameters
	Tags       []string          // only operations with one of these tags
	Paths      []string          // only these paths; * matches any text
	Version    string            // API version of every endpoint; empty takes it from the URLs
	MIMEType   string            // for endpoints whose responses declare none; empty means application/json, with a note
	Context    map[string]string // context keys by security scheme
}

// Validate returns an error if the options are invalid.
func (o Options) Validate() error {
	if o.Version != "" && !routes.ValidVersion(o.Version) {
		return fmt.Errorf("%q is not a version, such as v1", o.Version)
	}
	if o.MIMEType != "" && !validMIMEType(o.MIMEType) {
		return fmt.Errorf("%q is not a media type, such as %s", o.MIMEType, signpost.MIMEJSON)
	}
	for scheme, key := range o.Context {
		if scheme == "" || key == "" {
			return fmt.Errorf("%q is not a security scheme and its context key, such as bearerAuth=access_token",
				scheme+"="+key)
		}
	}
	return nil
}

// Result is the imported definition.
type Result struct {
	Definition []byte // YAML, with the notes as comments
	Notes      []Note // about the document first, then about its operations in order
	Endpoints  int    // number of endpoints in the definition
	Operations int    // number of selected operations in the document
}

// importer holds the state of one import.
type importer struct {
	opts     Options
	root     *tree.Node
	folder   string           // of the document; other files are named relative to it
	loaded   map[string]*file // by path
	owners   map[*tree.Document]*file
	size     int          // bytes read
	resolved int          // bytes that references stand for
	repeats  []*tree.Node // duplicate keys

	notes       []Note // about the document as a whole
	operations  []*operation
	ownHost     string          // the host that {{host}} stands for; empty if unknown
	matched     map[string]bool // the tags, paths and security schemes of Options that an operation has
	credentials map[string]bool // query parameters declared by security schemes

	shapes    map[*tree.Node]*shape
	nesting   int // depth of the schema being read
	converted map[shared]conversion
}

// list returns the items of a list, which may be a reference.
func (im *importer) list(n *tree.Node) []*tree.Node {
	target, _ := im.deref(n)
	return items(target)
}

// fields returns the fields of an object, which may be a reference.
func (im *importer) fields(n *tree.Node) []tree.Field {
	target, _ := im.deref(n)
	if target == nil {
		return nil
	}
	return target.Fields
}

// Import converts a document. The name is used in notes; only files in opts.Files are opened. It returns an error if
// the text cannot be parsed or is not OpenAPI 3.
func Import(name string, content []byte, opts Options) (*Result, error) {
	if err := opts.Validate(); err != nil {
		return nil, err
	}
	doc := &file{path: cmp.Or(opts.Path, path.Base(filepath.ToSlash(name))), name: name}
	im := &importer{
		opts:        opts,
		folder:      filepath.Join(filepath.Dir(name), strings.Repeat("../", strings.Count(doc.path, "/"))),
		loaded:      map[string]*file{doc.path: doc},
		owners:      make(map[*tree.Document]*file),
		matched:     make(map[string]bool),
		credentials: make(map[string]bool),
		shapes:      make(map[*tree.Node]*shape),
		converted:   make(map[shared]conversion),
	}
	if err := im.parse(doc, content); err != nil {
		return nil, err
	}
	im.root = doc.root
	if err := im.checkDocument(); err != nil {
		return nil, err
	}
	used, err := im.endpoints()
	if err != nil {
		return nil, err
	}
	for _, choice := range slices.Concat(opts.Tags, opts.Paths) {
		if !im.matched[choice] {
			im.note(im.root, "no operation has the tag or the path %q", choice)
		}
	}
	for _, scheme := range slices.Sorted(maps.Keys(opts.Context)) {
		if !im.matched[scheme] {
			im.note(im.root, "no endpoint asks for the security scheme %q", scheme)
		}
	}
	for _, key := range im.repeats {
		im.note(key, "%q is duplicated; using the first", key.Text)
	}
	slices.SortStableFunc(im.notes, func(a, b Note) int { return a.Line - b.Line })
	notes := groupNotes(im.operations)
	return &Result{
		Definition: im.write(used, notes), Notes: slices.Concat(im.notes, notes),
		Endpoints: len(used), Operations: len(im.operations),
	}, nil
}

// ErrOther is returned by [Import] for a document that is something else.
var ErrOther = errors.New(`this is not an OpenAPI document: it has no "openapi" field, such as openapi: 3.1.0`)

// Is reports whether a text is an OpenAPI document, of whatever version.
func Is(content []byte) bool {
	root := tree.Parse(content, json.Valid(content)).Root
	return get(root, "openapi") != nil || get(root, "swagger") != nil
}

// endpoints converts the selected operations, and returns those that become endpoints.
func (im *importer) endpoints() ([]*operation, error) {
	for _, f := range im.fields(get(im.root, "paths")) {
		if !strings.HasPrefix(f.Key.Text, "x-") {
			im.collect(f)
		}
	}
	im.findCredentials()
	im.findOwnHost()
	var used []*operation
	urls := make(map[string]*operation)
	for _, op := range im.operations {
		err := im.endpoint(op)
		if other := urls[op.url.String()]; err == nil && other != nil {
			err = fmt.Errorf("it has the same URL as %s, and a manifest lists a URL once", other.label)
		}
		if im.resolved > maxResolved {
			return nil, fmt.Errorf("the document is more than %d MiB larger with its references resolved",
				maxResolved>>20)
		}
		if err != nil {
			op.leaveOut(err)
			continue
		}
		urls[op.url.String()] = op
		used = append(used, op)
	}
	used = im.setVersions(used)
	setNames(used)
	return used, nil
}

// checkDocument rejects anything but OpenAPI 3, and notes what applies to all operations.
func (im *importer) checkDocument() error {
	version := str(get(im.root, "openapi"))
	switch {
	case get(im.root, "swagger") != nil:
		return errors.New("this is Swagger 2, not OpenAPI 3: convert it first")
	case version == "":
		return ErrOther
	case !strings.HasPrefix(version+".", "3."):
		return fmt.Errorf("OpenAPI %s is not supported, only 3.0, 3.1 and 3.2", version)
	}
	if hooks, _ := im.root.Field("webhooks"); hooks != nil {
		im.note(hooks, "webhooks are left out: clients do not call them")
	}
	im.noteSecurity(im.note, im.root)
	return nil
}

// setVersions sets the versions of endpoints whose URLs name none: the version that the others name, if there is
// exactly one. It returns the endpoints that can be listed in their version.
func (im *importer) setVersions(used []*operation) []*operation {
	versions := make(map[string]bool)
	for _, op := range used {
		if op.version != "" {
			versions[op.version] = true
		}
	}
	fallback := "v1"
	if named := slices.Collect(maps.Keys(versions)); len(named) == 1 {
		fallback = named[0]
	}
	for _, op := range used {
		if op.version == "" {
			op.version = fallback
			versions[fallback] = true
		}
	}
	return slices.DeleteFunc(used, func(op *operation) bool {
		other := routes.OtherVersion(op.url, op.version, versions)
		if other != "" {
			op.leaveOut(fmt.Errorf("its URL names two versions, %s and %s", op.version, other))
		}
		return other != ""
	})
}
