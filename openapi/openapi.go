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
	Files fs.FS // the folder of the document, for references to other files; nil refuses them

	ThirdParty bool     // keep the URLs of the servers, in place of {{host}}
	Post       bool     // POST operations too
	Deprecated bool     // deprecated operations and parameters too
	Tags       []string // only operations with one of these tags
	Paths      []string // only these paths; * stands for any text
	Version    string   // the API version of every endpoint; empty takes it from the URLs
}

// Result is a definition, and what to know about it.
type Result struct {
	Definition []byte // YAML, with the notes as comments
	Notes      []Note // about the document first, then about its operations in order
	Endpoints  int    // in the definition
	Operations int    // in the document, of those that were chosen
}

// Note says what was left out of a definition, or what to look at, and why.
type Note struct {
	File      string // the document, or a file that it refers to
	Line      int
	Operation string // such as GET /shows; empty for the document as a whole
	Message   string
}

// String returns the note as one line.
func (n Note) String() string {
	operation := n.Operation
	if operation != "" {
		operation += ": "
	}
	return fmt.Sprintf("%s:%d: %s%s", n.File, n.Line, operation, n.Message)
}

// defaultVersion is the version of endpoints whose URLs name none.
const defaultVersion = "v1"

// maxExpanded bounds the parameters of all operations and their values together. Large services have some
// ten thousand; a document that refers to one long list again and again could ask for any number.
const maxExpanded = 500_000

// importer is one document on its way to a definition.
type importer struct {
	loader
	opts       Options
	root       *node
	notes      []Note // about the document as a whole
	operations []*operation
	urls       map[string]*operation
	versions   map[string]bool
	chosen     map[string]bool // of Options.Tags and Options.Paths, those that chose something
	expanded   int             // parameters and values so far
	serverSeen bool            // the servers of the document have their notes
}

// Import returns the definition for a document. The name is for the notes; nothing is opened but what
// opts.Files holds. The error says why there is no definition: the text cannot be read, or is not OpenAPI 3.
func Import(name string, content []byte, opts Options) (*Result, error) {
	if opts.Version != "" && !routes.ValidVersion(opts.Version) {
		return nil, fmt.Errorf("%q is not a version, such as v1", opts.Version)
	}
	doc := &file{path: path.Base(filepath.ToSlash(name)), name: name}
	im := &importer{
		loader:   loader{files: opts.Files, folder: filepath.Dir(name), loaded: map[string]*file{doc.path: doc}},
		opts:     opts,
		urls:     make(map[string]*operation),
		versions: make(map[string]bool),
		chosen:   make(map[string]bool),
	}
	var err error
	if doc.root, err = im.parse(doc, content); err != nil {
		return nil, err
	}
	im.root = doc.root
	if err := im.checkDocument(); err != nil {
		return nil, err
	}
	paths := im.root.get("paths")
	for _, key := range paths.names() {
		if !strings.HasPrefix(key, "x-") {
			im.pathItem(key, paths.get(key))
		}
		if im.expanded > maxExpanded {
			return nil, fmt.Errorf("the operations have more than %d parameters and values", maxExpanded)
		}
	}
	for _, choice := range slices.Concat(opts.Tags, opts.Paths) {
		if !im.chosen[choice] {
			im.note(im.root, "no operation has the tag or the path %q", choice)
		}
	}
	for _, key := range im.repeats {
		im.note(key, "%q is there twice: the first counts", key.text)
	}
	return im.result()
}

// checkDocument refuses what is not OpenAPI 3, and notes what is said for all operations.
func (im *importer) checkDocument() error {
	version := im.root.get("openapi").string()
	switch {
	case im.root.get("swagger") != nil:
		return errors.New("this is Swagger 2, not OpenAPI 3: convert it first")
	case version == "":
		return errors.New(`this is not an OpenAPI document: it has no "openapi" field, such as openapi: 3.1.0`)
	case !strings.HasPrefix(version+".", "3."):
		return fmt.Errorf("OpenAPI %s is not supported, only 3.0 and 3.1", version)
	}
	misspelt(im.note, im.root, "document")
	if paths := im.root.get("paths"); paths != nil && !paths.is(object) {
		im.note(paths, "paths is %s, not an object", paths.kind)
	}
	if hooks := im.root.get("webhooks"); hooks != nil {
		im.note(hooks, "webhooks are left out: a manifest has what clients call")
	}
	noteSecurity(im.note, im.root)
	return nil
}

// note adds a note about the document as a whole.
func (im *importer) note(at *node, format string, args ...any) {
	im.notes = append(im.notes, newNote(at, "", format, args...))
}

func newNote(at *node, operation, format string, args ...any) Note {
	return Note{at.file.name, at.line, operation, oneLine(fmt.Sprintf(format, args...))}
}

// isChosen reports whether an operation is among those asked for.
func (im *importer) isChosen(op *operation) bool {
	match := func(choices []string, is func(choice string) bool) bool {
		found := len(choices) == 0
		for _, choice := range choices {
			if is(choice) {
				found, im.chosen[choice] = true, true
			}
		}
		return found
	}
	byPath := match(im.opts.Paths, func(choice string) bool {
		pattern := strings.ReplaceAll(regexp.QuoteMeta(choice), `\*`, ".*")
		return regexp.MustCompile("(?s)^" + pattern + "$").MatchString(op.path)
	})
	byTag := match(im.opts.Tags, func(choice string) bool {
		return slices.ContainsFunc(op.node.get("tags").list(), func(tag *node) bool { return strings.EqualFold(tag.string(), choice) })
	})
	return byPath && byTag
}

// result sorts the endpoints into versions and writes the definition. An endpoint whose URL names no version
// belongs to the one that the others name, if that is one.
func (im *importer) result() (*Result, error) {
	fallback := cmp.Or(im.opts.Version, defaultVersion)
	if len(im.versions) == 1 {
		for fallback = range im.versions {
		}
	}
	for _, op := range im.operations {
		if op.url != "" && op.version == "" {
			op.version, im.versions[fallback] = fallback, true
		}
	}
	versions := slices.SortedFunc(maps.Keys(im.versions), func(a, b string) int {
		return cmp.Or(len(a)-len(b), strings.Compare(a, b)) // v2 before v10
	})
	r := &Result{Notes: im.notes, Operations: len(im.operations)}
	for _, op := range im.operations {
		if other := routes.OtherVersion(signpost.CutURL(op.url), op.version, im.versions); other != "" {
			op.leaveOut(fmt.Errorf("its URL names two versions, %s and %s", op.version, other))
		}
		if op.url != "" {
			r.Endpoints++
		}
		r.Notes = append(r.Notes, op.notes...)
	}
	if len(versions) == 0 {
		versions = []string{fallback}
	}
	if r.Definition = im.write(versions); len(r.Definition) > MaxSize {
		return nil, fmt.Errorf("the definition would be larger than %d MiB", MaxSize>>20)
	}
	return r, nil
}
