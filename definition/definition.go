// Package definition reads the definition file of a service: the endpoints of each API version, shared
// modifiers, and features, in YAML or JSON.
//
// [Parse] a file, look at what [Lint] finds, and [File.Compile] it into a template per version.
package definition

import (
	"fmt"
	"slices"
	"strings"

	"signpost"
	"signpost/internal/tree"
)

// File is a definition file that was read, with everything that is wrong with it.
type File struct {
	Name     string // as given to Parse
	Service  string // the title; may be empty
	BasePath string // starts with a slash and, but for "/", does not end in one

	basePathAt *tree.Node // for a clash between files
	enable     []string
	features   []signpost.Feature // the built-in ones and the declared ones, in the order of application
	versions   []version
	declared   []string     // the features that the file declares and does not enable
	served     bool         // a manifest
	allowances []*allowance // of rules that Lint judges
	parser     *parser

	contextKeys  map[string]string // that the file declares, with their descriptions
	deprecations map[deprecationKey]*Deprecation
}

// Parse reads the text of a definition file. The extension of name decides whether it is read as YAML or JSON; a
// name without one, such as <stdin>, leaves that to the text. Findings carry the name; the file is not
// opened. Parse does not fail: it applies every rule that concerns a single file, and [Lint] returns what it found.
func Parse(name string, text []byte) *File { return Options{}.Parse(name, text) }

// Parse is like [Parse], with options.
func (o Options) Parse(name string, text []byte) *File {
	f := &File{Name: name, BasePath: "/", parser: newParser(name, text, false)}
	if root := f.parser.doc.Root; root != nil {
		d := decoder{parser: f.parser, file: f, opts: o}
		d.definition(root)
		d.lint()
	}
	f.parser.finish()
	return f
}

// ParseManifest reads a manifest as a service sends it, or as it was saved: JSON whose one field is endpoints.
// The file that it returns has one version, without a name. The rules are those of a definition. If name is the address
// that the manifest was fetched from, URLs on its host are the service's own; otherwise those on the host that most
// URLs have.
func ParseManifest(name string, text []byte) *File {
	f := &File{Name: name, BasePath: "/", served: true, parser: newParser(name, text, true)}
	if root := f.parser.doc.Root; root != nil {
		d := decoder{parser: f.parser, file: f, served: true}
		d.manifest(tree.Field{Key: root, Value: root}, version{})
		d.lint()
	}
	f.parser.finish()
	return f
}

// Lint returns the findings of files that are registered together: what is wrong with each by itself, and what is wrong
// with them together, such as two services with one base path, or endpoints that take feeds from each other. Findings
// come file by file, sorted by place, and are never nil. A file that has an error does not compile.
func Lint(files ...*File) []signpost.Finding { return LintTogether(files, nil) }

// Errors returns those findings of [Lint] that are errors. It takes less time: which endpoint takes feeds from which is
// never an error.
func Errors(files ...*File) []signpost.Finding {
	findings := []signpost.Finding{}
	owners := make(map[string]*File)
	for _, f := range files {
		p := parser{name: f.Name, doc: f.parser.doc}
		for _, own := range f.parser.findings {
			if own.Severity == signpost.SeverityError {
				p.findings = append(p.findings, own)
			}
		}
		if f.basePathAt == nil { // not even an object
		} else if other := owners[f.BasePath]; other != nil {
			p.add(RuleBasePath, "give each service a base_path of its own", f.basePathAt,
				"base_path %q is taken by %s", f.BasePath, other.Name)
			p.sortFindings()
		} else {
			owners[f.BasePath] = f
		}
		findings = append(findings, p.findings...)
	}
	return findings
}

// Served reports whether the file is a manifest, which [ParseManifest] read.
func (f *File) Served() bool { return f.served }

// Line returns a line of the file, counted from 1, to show with a finding.
func (f *File) Line(number int) string { return string(f.parser.doc.Line(number)) }

// Snippet returns at most width characters of a line around a column, and the column of the first of them. It
// takes the same time for a line of any length.
func (f *File) Snippet(line, column, width int) (text string, first int) {
	return f.parser.doc.Snippet(line, column, width)
}

// Features returns the names of the features that can be enabled.
func (f *File) Features() []string {
	var names []string
	for _, feature := range f.features {
		names = append(names, feature.Name)
	}
	return names
}

// Enabled returns the names of the features that the file enables itself.
func (f *File) Enabled() []string { return slices.Clone(f.enable) }

// named returns the features with the given names.
func (f *File) named(names []string) []signpost.Feature {
	return slices.DeleteFunc(slices.Clone(f.features), func(feature signpost.Feature) bool {
		return !slices.Contains(names, feature.Name)
	})
}

// Versions returns the names of the API versions, in the order of the file.
func (f *File) Versions() []string {
	var names []string
	for _, v := range f.versions {
		names = append(names, v.name)
	}
	return names
}

// Manifests returns the manifest of each version, in the order of the file, with the given features applied
// and {{host}} still in it. Nil features means the ones that the file enables itself. If the file has errors,
// they are returned as a [*signpost.InvalidError].
func (f *File) Manifests(features []string) ([]signpost.Version, error) {
	var errors []signpost.Finding
	for _, finding := range f.parser.findings {
		if finding.Severity == signpost.SeverityError {
			errors = append(errors, finding)
		}
	}
	if len(errors) > 0 {
		return nil, &signpost.InvalidError{Findings: errors}
	}
	if features == nil {
		features = f.enable
	}
	for _, name := range features {
		if !slices.Contains(f.Features(), name) {
			return nil, fmt.Errorf("feature %q is not one of %s", name, strings.Join(f.Features(), ", "))
		}
	}
	var versions []signpost.Version
	for _, v := range f.versions {
		versions = append(versions, signpost.Version{Name: v.name, Manifest: v.manifest.WithFeatures(f.named(features)...)})
	}
	return versions, nil
}

// Compile returns a template for each version: what [File.Manifests] returns, ready to be served.
func (f *File) Compile(features []string) (map[string]*signpost.Template, error) {
	versions, err := f.Manifests(features)
	if err != nil {
		return nil, err
	}
	templates := make(map[string]*signpost.Template, len(versions))
	for _, v := range versions {
		t, err := signpost.Compile(v.Manifest)
		if err != nil {
			return nil, fmt.Errorf("version %s: %w", v.Name, err)
		}
		templates[v.Name] = t
	}
	return templates, nil
}
