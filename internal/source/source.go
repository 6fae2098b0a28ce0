// Package source finds and reads definitions and manifests: in files, directories, standard input, git revisions
// and at http addresses.
//
// A [Reader] reads what the arguments of a command name, once. [Follow] returns sources that a server reads again
// whenever a [Watcher] says that they may have changed.
package source

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/url"
	"os"
	"path/filepath"
	"strings"

	"signpost/client"
	"signpost/definition"
)

// Stdin names standard input on the command line. Findings call it StdinName.
const (
	Stdin     = "-"
	StdinName = "<stdin>"
)

// Document is a definition or a manifest that was read and not parsed yet.
type Document struct {
	Name    string   // stands in findings: a path, an address, <stdin>
	Text    []byte   // at most one byte more than definition.MaxSize, which Parse reports
	Address *url.URL // where a manifest was fetched; nil if it comes from elsewhere
}

// Manifest reports whether the document is a manifest, rather than a definition: fetched from an address, or a
// JSON object with endpoints and without versions.
func (d Document) Manifest() bool {
	if d.Address != nil {
		return true
	}
	var top map[string]json.RawMessage
	if err := json.Unmarshal(bytes.TrimPrefix(d.Text, []byte("\ufeff")), &top); err != nil {
		return false
	}
	return top["endpoints"] != nil && top["versions"] == nil
}

// ID identifies the document among others, whatever name it was read by.
func (d Document) ID() string { return identity(d.Name) }

// Parse parses the document as what it is, a manifest or a definition.
func (d Document) Parse() *definition.File {
	if d.Manifest() {
		return definition.ParseManifest(d.Name, d.Text)
	}
	return definition.Parse(d.Name, d.Text)
}

// ArgumentError reports an argument that names no source, whatever there is on the disk and in the network.
type ArgumentError struct{ message string }

func (e *ArgumentError) Error() string { return e.message }

func argumentErrorf(format string, args ...any) error {
	return &ArgumentError{fmt.Sprintf(format, args...)}
}

// Reader reads sources once.
type Reader struct {
	Stdin  io.Reader      // what "-" stands for; it can be named once
	Client client.Options // how manifests are fetched; the zero value is right for a studio

	stdinRead bool
}

// Read returns the document that an argument names: a file, "-" for standard input, the http(s) address of a
// manifest, or REV:path for a file at a git revision.
func (r *Reader) Read(ctx context.Context, arg string) (Document, error) {
	d := Document{Name: arg}
	var err error
	switch _, missing := os.Stat(arg); {
	case arg == Stdin:
		d.Name = StdinName
		if r.stdinRead {
			return d, argumentErrorf("standard input can be read once: name a file in place of one of the -")
		}
		r.stdinRead = true
		d.Text, err = readLimited(r.Stdin)
	case IsAddress(arg):
		if d.Address, err = client.ParseAddress(arg); err != nil {
			return d, argumentErrorf("%v", err)
		}
		d.Text, err = client.Fetch(ctx, arg, r.Client)
	case missing != nil && strings.Contains(arg, ":"):
		d.Text, err = readRevision(ctx, arg)
	default:
		d.Text, err = readFile(arg)
	}
	return d, err
}

// ReadAll returns the documents that the arguments name. A directory stands for the definitions in it, by name. A file
// that is named twice, by itself and by its directory, is read once.
func (r *Reader) ReadAll(ctx context.Context, args ...string) ([]Document, error) {
	var all []Document
	seen := make(map[string]bool)
	for _, arg := range args {
		paths, err := definitionsIn(arg)
		if err != nil {
			return nil, err
		}
		for _, path := range paths {
			id := identity(path)
			if seen[id] && path != Stdin {
				continue
			}
			seen[id] = true
			d, err := r.Read(ctx, path)
			if err != nil {
				return nil, err
			}
			all = append(all, d)
		}
	}
	return all, nil
}

// identity returns the same text for all names of a file: its absolute path.
func identity(name string) string {
	if IsAddress(name) {
		return name
	}
	if full, err := filepath.Abs(name); err == nil {
		return full
	}
	return name
}

// IsAddress reports whether an argument is an http or https address.
func IsAddress(arg string) bool {
	scheme, _, ok := strings.Cut(arg, "://")
	return ok && (strings.EqualFold(scheme, "https") || strings.EqualFold(scheme, "http"))
}

// readLimited reads no more than one byte too many, which definition reports.
func readLimited(in io.Reader) ([]byte, error) {
	return io.ReadAll(io.LimitReader(in, definition.MaxSize+1))
}
