// Package source finds and reads definitions and manifests: in files, directories, standard input, git revisions, OCI
// registries and at URLs.
//
// A [Reader] reads what the arguments of a command name, once. [Reader.Follow] returns sources that a server reads
// again whenever a [Watcher] reports that they may have changed.
package source

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"strings"
	"time"

	"github.com/opencontainers/go-digest"

	"signpost/client"
	"signpost/definition"
	"signpost/internal/httpurl"
	"signpost/internal/readfile"
)

// Stdin is the argument for standard input. Findings call it StdinName.
const (
	Stdin     = "-"
	StdinName = "<stdin>"
)

// Document is an unparsed definition or manifest.
type Document struct {
	Name    string   // name in findings: a path, a URL, REV:path or <stdin>
	Path    string   // path within its source, with slashes: feeds.yaml for services/feeds.yaml of services/
	Text    []byte   // at most one byte more than definition.MaxSize, which Parse reports
	Address *url.URL // where a manifest was fetched; nil if it was not fetched
	Sum     Sum      // of the text, if the document is watched for changes

	real string // absolute path of a file when it was read, without symbolic links
}

// Sum is the digest of a text in the form that OCI registries use: sha256:….
type Sum = digest.Digest

// SumOf returns the digest of a text.
func SumOf(text []byte) Sum { return digest.FromBytes(text) }

// At returns the document of a file, without its text.
func At(name string) Document {
	d := Document{Name: name, Path: filepath.Base(name)}
	d.real, _ = realPath(name) // "" if it does not exist yet
	return d
}

// ID identifies the document, whatever name it was read by.
func (d Document) ID() string {
	if IsAddress(d.Name) || IsRegistry(d.Name) {
		return d.Name
	}
	if full, err := filepath.Abs(d.Name); err == nil {
		return full
	}
	return d.Name
}

// FileID is ID for a file that may be named through symbolic links.
func (d Document) FileID() string {
	if d.real != "" {
		return d.real
	}
	return d.ID()
}

// IsFile reports whether the document was read from a file on this machine, in its current state.
func (d Document) IsFile() bool { return d.real != "" }

// Manifest reports whether the document is a manifest rather than a definition: fetched from an address, or a JSON
// object with endpoints and without versions, unless it is a usage file.
func (d Document) Manifest() bool { return d.Address != nil || isManifest(d.Text) }

func isManifest(text []byte) bool {
	var top map[string]json.RawMessage
	if err := json.Unmarshal(bytes.TrimPrefix(text, []byte("\ufeff")), &top); err != nil {
		return false
	}
	return top["endpoints"] != nil && top["versions"] == nil && top["signpost_usage"] == nil
}

// Parse parses the document as a manifest or a definition.
func (d Document) Parse() *definition.File {
	if d.Manifest() {
		return definition.ParseManifest(d.Name, d.Text)
	}
	return definition.Parse(d.Name, d.Text)
}

// ArgumentError reports an argument that cannot name a source, regardless of what exists.
type ArgumentError struct{ message string }

func (e *ArgumentError) Error() string { return e.message }

func argumentErrorf(format string, args ...any) error {
	return &ArgumentError{fmt.Sprintf(format, args...)}
}

// limitRead limits how long reading one source may take.
func limitRead(ctx context.Context) (context.Context, context.CancelFunc) {
	const limit = 30 * time.Second
	return context.WithTimeoutCause(ctx, limit, fmt.Errorf("not read within %v", limit))
}

// Reader reads sources once, or follows them. The zero value reads everything except standard input.
type Reader struct {
	Stdin     io.Reader         // contents of "-", which can be named once; nil means empty
	Transport http.RoundTripper // for requests; nil means http.DefaultTransport
	UserAgent string            // for requests about definitions; empty means "signpost"

	// CacheDir caches the last good state of followed remote sources for the next start. Empty disables that.
	CacheDir string

	// Manifests makes a directory include the manifests in it, not only the definitions.
	Manifests bool

	// Patterns makes a path stand for everything that matches it, as [filepath.Glob] has it: those of a project file do.
	Patterns bool

	// Hasty makes followed files be read as soon as they change, and read again if they were incomplete: in an editor.
	Hasty bool

	// Note is called with a line about the files in a directory that are skipped because they are not definitions, of
	// followed ones once about each file. It may be nil.
	Note func(message string)

	stdinRead bool
}

// Read returns the documents that the arguments name, in order: a file, a directory, "-" for standard input, the
// http(s) URL of a manifest, REV:path for a file or directory at a git revision, or oci://host/repository:tag for an
// artifact in a registry. A directory or an artifact stands for the definitions in and below it, sorted by path. A file
// that is named twice, by itself and by its directory or through a symbolic link, is read once.
func (r *Reader) Read(ctx context.Context, args ...string) ([]Document, error) {
	var all []Document
	seen := make(map[string]bool)
	for _, arg := range args {
		documents, err := r.read(ctx, arg)
		if err != nil {
			return nil, err
		}
		for _, d := range documents {
			if id := d.FileID(); !seen[id] {
				seen[id] = true
				all = append(all, d)
			}
		}
	}
	return all, nil
}

// ReadOne returns the only document that an argument names.
func (r *Reader) ReadOne(ctx context.Context, arg string) (Document, error) {
	documents, err := r.read(ctx, arg)
	if err != nil {
		return Document{}, err
	}
	if n := len(documents); n > 1 {
		return Document{}, argumentErrorf("%q holds %d definitions: name one of them, such as %s",
			arg, n, documents[0].Name)
	}
	return documents[0], nil
}

func (r *Reader) read(ctx context.Context, arg string) ([]Document, error) {
	if arg == Stdin {
		return r.readStdin(ctx)
	}
	ctx, cancel := limitRead(ctx)
	defer cancel()
	if IsAddress(arg) {
		address, err := httpurl.ParseAddress(arg)
		if err != nil {
			return nil, argumentErrorf("%v", err)
		}
		answer, err := client.Fetch(ctx, arg, client.Options{Transport: r.Transport})
		if err != nil {
			return nil, err
		}
		name := httpurl.Redacted(arg)
		return []Document{{Name: name, Path: path.Base(address.Path), Text: answer.Body, Address: address}}, nil
	}
	if IsRegistry(arg) {
		return r.readRegistry(ctx, arg)
	}
	if isRevision(arg) {
		return r.readRevision(ctx, arg)
	}
	return r.readFiles(arg)
}

// IsLocal reports whether an argument is the path of a file or directory, which can change.
func IsLocal(arg string) bool {
	return arg != Stdin && !IsAddress(arg) && !IsRegistry(arg) && !isRevision(arg)
}

// isRevision reports whether an argument that is no address is REV:path, and not the name of a file.
func isRevision(arg string) bool {
	_, err := os.Stat(arg)
	return err != nil && strings.Contains(arg, ":")
}

// readStdin has no timeout: somebody may be typing.
func (r *Reader) readStdin(ctx context.Context) ([]Document, error) {
	if r.stdinRead {
		return nil, argumentErrorf("standard input can be read once: name a file in place of one of the -")
	}
	r.stdinRead = true
	in := r.Stdin
	if in == nil {
		in = strings.NewReader("")
	}
	var text []byte
	var err error
	done := make(chan struct{})
	go func() {
		defer close(done)
		text, err = readLimited(in)
	}()
	select {
	case <-done:
	case <-ctx.Done(): // abandoned: a read cannot be interrupted
		return nil, readError(StdinName, context.Cause(ctx))
	}
	if err != nil {
		return nil, readError(StdinName, err)
	}
	path := "stdin.yaml"
	if bytes.HasPrefix(bytes.TrimSpace(text), []byte("{")) {
		path = "stdin.json"
	}
	return []Document{{Name: StdinName, Path: path, Text: text}}, nil
}

// IsAddress reports whether an argument is an http or https URL.
func IsAddress(arg string) bool {
	scheme, _, ok := strings.Cut(arg, "://")
	return ok && (strings.EqualFold(scheme, "https") || strings.EqualFold(scheme, "http"))
}

// Shown returns an argument as it may be printed: a URL without its password and its query, and a name for standard
// input.
func Shown(arg string) string {
	switch {
	case IsAddress(arg) || IsRegistry(arg):
		return httpurl.Redacted(arg)
	case arg == Stdin:
		return StdinName
	}
	return arg
}

// readLimited reads a definition.
func readLimited(in io.Reader) ([]byte, error) {
	text, err := readfile.All(in, definition.MaxSize)
	return oversized(text, err)
}

// oversized returns the result of reading a definition. The text of one that is too large is one byte longer than
// allowed, which package definition reports.
func oversized(text []byte, err error) ([]byte, error) {
	if errors.Is(err, readfile.ErrTooLarge) {
		err = nil
	}
	return text, err
}
