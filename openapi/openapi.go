// Package openapi turns an OpenAPI 3.0 or 3.1 document into a definition.
//
// [Import] takes a document as it finds it. What it cannot use is left out, and a [Note] says so: a sloppy
// document still gives a definition that lint accepts, and nothing is lost silently.
package openapi

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"signpost"
	"signpost/internal/routes"
)

// Options say what to import. The zero value imports all GET operations that are not deprecated.
type Options struct {
	Files fs.FS  // the directory of the document, for references to other files; nil rejects them
	Path  string // of the document in Files; empty means that it is at the top, under the name it is given

	ThirdParty bool              // keep the URLs of the servers, in place of {{host}}
	Post       bool              // POST operations too
	Deprecated bool              // deprecated operations and parameters too
	Tags       []string          // only operations with one of these tags
	Paths      []string          // only these paths; * stands for any text
	Version    string            // the API version of every endpoint; empty takes it from the URLs
	MIMEType   string            // of endpoints whose responses declare none; empty means application/json, with a note
	Context    map[string]string // security schemes that become context keys
}

// Validate returns what is wrong with the options.
func (o Options) Validate() error {
	if o.Version != "" && !routes.ValidVersion(o.Version) {
		return fmt.Errorf("%q is not a version, such as v1", o.Version)
	}
	if o.MIMEType != "" {
		e := signpost.Endpoint{URL: "https://" + signpost.HostPlaceholder + "/", Name: "any", Method: signpost.MethodGet, MIMEType: o.MIMEType}
		if len(signpost.NewManifest(e).Validate()) > 0 {
			return fmt.Errorf("%q is not a media type, such as %s", o.MIMEType, signpost.MIMEJSON)
		}
	}
	for scheme, key := range o.Context {
		if scheme == "" || key == "" {
			return fmt.Errorf("%q is not a security scheme and its context key, such as bearerAuth=access_token", scheme+"="+key)
		}
	}
	return nil
}

// Result is a definition, and what to know about it.
type Result struct {
	Definition []byte // YAML, with the notes as comments
	Notes      []Note // about the document first, then about its operations in order
	Endpoints  int    // in the definition
	Operations int    // in the document, of those that were chosen
}

// defaultVersion is the version of endpoints whose URLs name none.
const defaultVersion = "v1"

// maxWork bounds the parameters of all operations with their values, content types, servers and security. Large
// services have some ten thousand; a document that refers to one long list again and again could ask for any number.
const maxWork = 500_000

// bytesPerWork is how much text counts as one parameter or value.
const bytesPerWork = 100

// importer is one document on its way to a definition.
type importer struct {
	loader
	opts       Options
	root       *node
	notes      []Note // about the document as a whole
	operations []*operation
	urls       map[string]*operation
	versions   map[string]bool
	work       int    // of maxWork
	ownHost    string // that {{host}} stands for; empty if the document does not say

	paths       []*regexp.Regexp // of Options.Paths
	chosen      map[string]bool  // of Options.Tags and Options.Paths, those that chose something
	schemes     []string         // of Options.Context, sorted
	asked       map[string]bool  // of the schemes, those that an operation asks for
	credentials map[string]bool  // query parameters that security schemes declare

	shapes      map[*node]*shapeResult
	nesting     int // of the schema that is being read
	headlines   map[headlineKey]string
	controls    map[controlKey]*control
	options     map[*choice]optionResult // by the first value
	optionTexts map[string]*optionSet
	typos       map[*node][]typo // misspelt fields
	securities  map[*node]security
	media       map[*node]mediaTypes
	successes   map[*node]*node // of responses, the one when all is well
}

type headlineKey struct {
	description *node
	limit       int
}

// Import returns the definition for a document. The name is for the notes; nothing is opened but what
// opts.Files holds. The error says why there is no definition: the text cannot be read, or is not OpenAPI 3.
func Import(name string, content []byte, opts Options) (*Result, error) {
	if err := opts.Validate(); err != nil {
		return nil, err
	}
	doc := &file{path: cmp.Or(opts.Path, path.Base(filepath.ToSlash(name))), name: name}
	im := &importer{
		loader:   loader{files: opts.Files, folder: topOf(name, doc.path), loaded: map[string]*file{doc.path: doc}, targets: make(map[*node]target)},
		opts:     opts,
		urls:     make(map[string]*operation),
		versions: make(map[string]bool),

		chosen:      make(map[string]bool),
		schemes:     slices.Sorted(maps.Keys(opts.Context)),
		asked:       make(map[string]bool),
		credentials: make(map[string]bool),
		shapes:      make(map[*node]*shapeResult),
		headlines:   make(map[headlineKey]string),
		controls:    make(map[controlKey]*control),
		options:     make(map[*choice]optionResult),
		optionTexts: make(map[string]*optionSet),
		typos:       make(map[*node][]typo),
		securities:  make(map[*node]security),
		successes:   make(map[*node]*node),
		media:       make(map[*node]mediaTypes),
	}
	for _, choice := range opts.Paths {
		im.paths = append(im.paths, pathPattern(choice))
	}
	var err error
	if doc.root, err = im.parse(doc, content); err != nil {
		return nil, err
	}
	im.root = doc.root
	if err := im.checkDocument(); err != nil {
		return nil, err
	}
	if err := im.endpoints(); err != nil {
		return nil, err
	}
	for _, choice := range slices.Concat(opts.Tags, opts.Paths) {
		if !im.chosen[choice] {
			im.note(im.root, "no operation has the tag or the path %q", choice)
		}
	}
	im.noteUnknownSchemes()
	for _, key := range im.repeats {
		im.note(key, "%q is duplicated; using the first", key.text)
	}
	return im.result()
}

// topOf returns the directory in which a file with the name has the path.
func topOf(name, path string) string {
	top := filepath.Dir(name)
	for range strings.Count(path, "/") {
		top = filepath.Join(top, "..")
	}
	return top
}

// endpoints turns the operations that are asked for into endpoints.
func (im *importer) endpoints() error {
	paths := im.follow(im.root.get("paths"))
	for _, key := range paths.names() {
		if !strings.HasPrefix(key, "x-") {
			im.collect(key, paths.get(key))
		}
	}
	im.findCredentials()
	im.findOwnHost()
	for _, op := range im.operations {
		if err := im.endpoint(op); err != nil {
			op.leaveOut(err)
			continue
		}
		im.work += len(op.notes)
		if im.work > maxWork {
			return fmt.Errorf("the operations have more than %d parameters and values", maxWork)
		}
		im.urls[op.url] = op
		if op.version != "" {
			im.versions[op.version] = true
		}
	}
	return nil
}

// checkDocument rejects what is not OpenAPI 3, and notes what is said for all operations.
func (im *importer) checkDocument() error {
	version := im.root.get("openapi").string()
	switch {
	case im.root.get("swagger") != nil:
		return errors.New("this is Swagger 2, not OpenAPI 3: convert it first")
	case version == "":
		return errors.New(`this is not an OpenAPI document: it has no "openapi" field, such as openapi: 3.1.0`)
	case !strings.HasPrefix(version+".", "3."):
		return fmt.Errorf("OpenAPI %s is not supported, only 3.0, 3.1 and 3.2", version)
	}
	im.misspelt(im.note, im.root, "document")
	if paths := im.follow(im.root.get("paths")); paths != nil && !paths.is(object) {
		im.note(paths, "paths is %s, not an object", paths.kind)
	}
	if hooks := im.root.get("webhooks"); hooks != nil {
		im.note(hooks, "webhooks are left out: clients do not call them")
	}
	im.noteServers(im.note, im.list(im.root.get("servers")))
	im.noteSecurity(im.note, im.root)
	return nil
}

// note adds a note about the document as a whole.
func (im *importer) note(at *node, format string, args ...any) {
	im.notes = append(im.notes, newNote(at, "", format, args...))
}

// follow returns what a reference points to, or the node itself if it is none. A reference that leads nowhere
// is like a field that is not there.
func (im *importer) follow(n *node) *node {
	target, err := im.deref(n)
	if err != nil {
		return nil
	}
	return target
}

// list returns the items of a list, which can be a reference to one.
func (im *importer) list(n *node) []*node { return im.follow(n).list() }

// headline returns the name that a description gives, and keeps it for the next time.
func (im *importer) headline(description *node, limit int) string {
	key := headlineKey{description, limit}
	name, known := im.headlines[key]
	if !known {
		name = headline(description, limit)
		im.headlines[key] = name
	}
	return name
}

// result sorts the endpoints into versions and writes the definition. An endpoint whose URL names no version
// belongs to the one that the others name, if that is one.
func (im *importer) result() (*Result, error) {
	fallback := cmp.Or(im.opts.Version, defaultVersion)
	if len(im.versions) == 1 {
		for fallback = range im.versions {
		}
	}
	var unversioned []*operation // on the document's own server
	mixed := len(im.versions) > 0 && im.opts.Version == ""
	for _, op := range im.operations {
		if op.url == "" || op.version != "" {
			continue
		}
		op.version, im.versions[fallback] = fallback, true
		if strings.Contains(op.url, signpost.HostPlaceholder) {
			unversioned = append(unversioned, op)
		}
	}
	if mixed && len(unversioned) > 0 {
		im.note(unversioned[0].node, "endpoints without a version in their URLs (%d) go into %s; --api-version puts all into one", len(unversioned), fallback)
	}
	var used []*operation
	for _, op := range im.operations {
		if other := routes.OtherVersion(signpost.CutURL(op.url), op.version, im.versions); other != "" {
			op.leaveOut(fmt.Errorf("its URL names two versions, %s and %s", op.version, other))
		}
		if op.url != "" {
			op.allowWhatIsMeant()
			used = append(used, op)
		}
	}
	setNames(used)
	versions := slices.SortedFunc(maps.Keys(im.versions), func(a, b string) int {
		return cmp.Or(len(a)-len(b), strings.Compare(a, b)) // v2 before v10
	})
	if len(versions) == 0 {
		versions = []string{fallback}
	}
	slices.SortStableFunc(im.notes, func(a, b Note) int { return a.Line - b.Line })
	operationNotes := groupNotes(im.operations)
	r := &Result{Notes: slices.Concat(im.notes, operationNotes), Endpoints: len(used), Operations: len(im.operations)}
	var err error
	r.Definition, err = im.write(versions, operationNotes)
	if err != nil {
		return nil, err
	}
	return r, nil
}
