// Package definition reads the definition file of a service: the endpoints of each API version, shared modifiers, and
// features, in YAML or JSON.
//
// [Parse] a file, check the findings of [Lint], and [File.Compile] it into a template per version.
package definition

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"time"

	"signpost"
	"signpost/diff"
	"signpost/internal/fields"
	"signpost/internal/routes"
	"signpost/internal/tree"
)

// File is a parsed definition file, with its findings.
type File struct {
	Name     string // as given to Parse
	Service  string // title; may be empty
	BasePath string // with a leading and, except for "/", without a trailing slash

	// Hosts are those that the service is published on. Empty means that the file does not declare them.
	Hosts signpost.Hosts

	doc          *tree.Document
	findings     []signpost.Finding
	located      map[int]signpost.Path // of errors without a path, by their offset
	served       bool                  // a manifest
	basePathAt   place                 // for clashes between files; zero if the base path could not be read
	hostsFail    bool                  // Hosts lacks some that could not be read
	partial      bool                  // something that could not be read may decide about other files
	enable       []string
	features     []signpost.Feature // built-in and declared features, in application order
	versions     []version
	allowances   []*allowance      // for rules checked by Lint
	contextKeys  map[string]string // declared by the file, with descriptions
	deprecations map[signpost.Part]*signpost.Deprecation
}

// Options control how definitions are parsed. The zero value is the default, which [Parse] uses.
type Options struct {
	// ContextKeys are the context keys that apps have, with descriptions, in addition to those that a file declares. If
	// it is nil and the file declares none, every key is accepted.
	ContextKeys map[string]string

	// Hosts are those of a file that declares none.
	Hosts signpost.Hosts

	// Features are the enabled features, instead of those that a file enables. Those that a file does not have are
	// ignored. Nil means those of the file.
	Features []string

	// Accepted are hosts that the deployment accepts besides those of the file. Two URLs must not become the same on one
	// of them.
	Accepted signpost.Hosts

	// KeepTree makes [File.Tree] return the tree of the text, which is several times as large as the text.
	KeepTree bool

	// Today is the date for checking deprecations. Zero means the current date.
	Today time.Time
}

// Parse parses the text of a definition file. The extension of name determines whether it is YAML or JSON; without one,
// as in <stdin>, the text does. Findings carry the name; the file is not opened. Parse never fails: it applies every
// rule that concerns a single file, and [Lint] returns the findings.
func Parse(name string, text []byte) *File { return Options{}.Parse(name, text) }

// Parse is like the function [Parse], with options.
func (o Options) Parse(name string, text []byte) *File {
	d := newDecoder(&File{Name: name}, text, o)
	if other := unlike(name, d.doc); other != nil {
		d.notADefinition(other)
	} else if d.doc.Root != nil {
		d.definition(d.doc.Root)
		d.lint()
	}
	return d.finish()
}

// ParseManifest parses a served or saved manifest: JSON with the single field endpoints. The result has one version,
// without a name. The rules are those of a definition. If name is the address that the manifest was fetched from, URLs
// on its host and subdomains of it are the service's own; otherwise, it is unknown which are.
func ParseManifest(name string, text []byte) *File {
	d := newDecoder(&File{Name: name, served: true}, text, Options{})
	if root := d.doc.Root; root != nil {
		d.check(root, fields.Manifest, fields.Manifest.What)
		if root.Kind == tree.Object {
			d.versions = []version{d.manifest(tree.Field{Key: root, Value: root}, version{}, fields.Manifest.What)}
			d.lint()
		}
	}
	return d.finish()
}

// Lint returns the findings for files that are registered together: those of each file, and those about several, such
// as two services with the same base path, or endpoints that take feeds from each other. Findings are grouped by file
// and sorted by position. The result is never nil. A file with an error does not compile.
func Lint(files ...*File) []signpost.Finding { return LintTogether(files, nil) }

// Errors returns the findings of [Lint] that are errors. It is faster, because overlaps are never errors.
func Errors(files ...*File) []signpost.Finding {
	findings := []signpost.Finding{}
	owners := make(map[string]*File)
	for _, f := range files {
		own := f.only(isError)
		other := owners[f.BasePath]
		switch {
		case f.basePathAt == place{}: // a clash would only follow from the error
		case other == nil:
			owners[f.BasePath] = f
		default:
			own = append(own, f.finding(signpost.Finding{
				Rule: RuleBasePath, Severity: signpost.SeverityError, Hint: "give each service a base_path of its own",
				Message: fmt.Sprintf("base_path %q is already used by %s", f.BasePath, other.Name),
			}, f.basePathAt))
			sortFindings(own)
		}
		findings = append(findings, own...)
	}
	return findings
}

func isError(f signpost.Finding) bool { return f.Severity == signpost.SeverityError }

// only returns the findings of this file for which keep returns true.
func (f *File) only(keep func(signpost.Finding) bool) []signpost.Finding {
	return slices.DeleteFunc(slices.Clone(f.findings), func(f signpost.Finding) bool { return !keep(f) })
}

// Owns reports whether a URL is the service's own: it contains {{host}}, or is on a host that the file declares. Of a
// manifest that was fetched, it is on the host of the address or on a subdomain of it.
func (f *File) Owns(u signpost.URL) bool { return f.own().Owns(u) }

func (f *File) own() signpost.Hosts {
	if f.served {
		return signpost.FetchedFrom(addressHost(f.Name))
	}
	return f.Hosts
}

// Served reports whether the file is a manifest read by [ParseManifest].
func (f *File) Served() bool { return f.served }

// Lenient reports whether the file is a manifest that can be read, whatever is wrong in its endpoints or unknown beside
// them.
func (f *File) Lenient() bool {
	if !f.served || len(f.versions) == 0 {
		return false
	}
	endpoints := f.versions[0].manifest.Endpoints // nil if there is no such field
	isFatal := func(f signpost.Finding) bool {
		isBlank := len(endpoints) == 0 && isError(f) && f.Rule != RuleUnknownField // the error is not about an endpoint
		return f.Rule == RuleTooLarge || isBlank
	}
	return endpoints != nil && !slices.ContainsFunc(f.findings, isFatal)
}

// Unreadable reports whether the file tells nothing about a service: it is blank, not a definition, or a manifest that
// cannot be read.
func (f *File) Unreadable() bool {
	errors := f.only(isError)
	isNothing := f.served || len(bytes.TrimSpace(f.doc.Text)) == 0
	return len(errors) > 0 && !f.Lenient() && (isNothing || errors[0].Rule == RuleNotADefinition)
}

// Partial reports whether an error hides endpoints, hosts or keys, which may decide about other files.
func (f *File) Partial() bool {
	hiding := []string{RuleSyntax, RuleTooLarge, RuleNotADefinition, signpost.RuleURL}
	isHiding := func(f signpost.Finding) bool { return isError(f) && slices.Contains(hiding, f.Rule) }
	return f.partial || slices.ContainsFunc(f.findings, isHiding)
}

// State returns the service that signpost/diff compares, with the given versions: those of [File.Manifests], or of
// [File.Readable] if the file has errors. If the name of a manifest is the address that it was fetched from, that tells
// its host, base path and version.
func (f *File) State(versions []signpost.Version) signpost.Service {
	state := signpost.Service{
		Versions: slices.Clone(versions), Hosts: f.Hosts, Deprecations: f.deprecations, Served: f.served,
	}
	if f.served {
		state.Host = addressHost(f.Name)
		base, version, ok := routes.Parse(signpost.CutURL(f.Name).Path())
		if ok && state.Host != "" && len(versions) == 1 {
			state.BasePath, state.Versions[0].Name = base, version
		}
		return state
	}
	if f.basePathAt != (place{}) && len(f.versions) > 0 { // otherwise the file does not tell it
		state.BasePath = f.BasePath
	}
	if slices.ContainsFunc(f.findings, isError) {
		f.addErrors(state.Versions)
	}
	return state
}

// addErrors sets the paths of the errors in each version.
func (f *File) addErrors(versions []signpost.Version) {
	known := make(map[string][]signpost.Path) // those that the manifest does not show, by version
	for _, own := range f.versions {
		known[own.name] = append(known[own.name], own.errors...)
	}
	for i := range versions {
		v := &versions[i]
		v.Errors = nil
		for _, finding := range v.Manifest.Validate() {
			v.Errors = append(v.Errors, finding.Path)
		}
		v.Errors = append(v.Errors, known[v.Name]...)
	}
}

// Snippet returns at most width characters of a line around a column, and the column of the first of them. The time it
// takes does not depend on the length of the line.
func (f *File) Snippet(line, column, width int) (text string, first int) {
	if f == nil || f.doc == nil {
		return "", 1 // of a file for Lint alone
	}
	return f.doc.Snippet(line, column, width)
}

// Tree returns the text with its tree, as far as it could be read and [Options.KeepTree] was set. What is in the wrong
// place in the text, such as endpoints that are not indented, is where it belongs.
func (f *File) Tree() *tree.Document { return f.doc }

// Features returns the names of the features that can be enabled.
func (f *File) Features() []string {
	var names []string
	for _, feature := range f.features {
		names = append(names, feature.Name)
	}
	return names
}

// Enabled returns the names of the features that the file enables.
func (f *File) Enabled() []string { return slices.Clone(f.enable) }

// named returns the features with the given names.
func (f *File) named(names []string) []signpost.Feature {
	wanted := setOf(names)
	return slices.DeleteFunc(slices.Clone(f.features), func(feature signpost.Feature) bool {
		return !wanted[feature.Name]
	})
}

func setOf(names []string) map[string]bool {
	set := make(map[string]bool, len(names))
	for _, name := range names {
		set[name] = true
	}
	return set
}

// Versions returns the names of the API versions, in file order.
func (f *File) Versions() []string {
	var names []string
	for _, v := range f.versions {
		names = append(names, v.name)
	}
	return names
}

// Deprecation returns the deprecation of a version, an endpoint or a modifier, or nil. The modifier is identified by
// its id. Leave endpoint or modifier empty to ask about the version or the endpoint itself.
func (f *File) Deprecation(version, endpoint, modifier string) *signpost.Deprecation {
	return f.deprecations[signpost.Part{Version: version, Endpoint: endpoint, Modifier: modifier}]
}

// Manifests returns the manifest of each version, in file order, with the given features applied and {{host}}
// unresolved. Nil features means those that the file enables. If the file has errors, they are returned as a
// [*signpost.InvalidError].
func (f *File) Manifests(features []string) ([]signpost.Version, error) {
	if errors := f.only(isError); len(errors) > 0 {
		return nil, &signpost.InvalidError{Findings: errors}
	}
	for _, name := range features {
		if !slices.Contains(f.Features(), name) {
			return nil, fmt.Errorf("feature %q is not one of %s", name, strings.Join(f.Features(), ", "))
		}
	}
	return f.Readable(features), nil
}

// Readable returns the manifests as [File.Manifests] does, but as they read: with values that findings reject, and
// without what could not be read. Unknown features are ignored.
func (f *File) Readable(features []string) []signpost.Version {
	if features == nil {
		features = f.enable
	}
	var versions []signpost.Version
	for _, v := range f.versions {
		manifest := v.manifest.WithFeatures(f.named(features)...)
		versions = append(versions, signpost.Version{Name: v.name, Manifest: manifest, Source: f.Name, Hosts: f.Hosts})
	}
	return versions
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

// Diff returns what changed for studios that registered old and, besides, the given files, as signpost diff does, with
// the features that each file enables. It returns an error if new or a registered definition has errors, or if the
// files do not tell which host or version of a definition to compare with a manifest. What old has errors in is
// compared as it reads, unless it cannot be read at all.
func Diff(old, new *File, registered ...*File) ([]diff.Change, error) {
	return Options{}.Diff(old, new, registered...)
}

// Diff is like the function [Diff], for the date and the features of the options.
func (o Options) Diff(old, new *File, registered ...*File) ([]diff.Change, error) {
	options := diff.Options{Today: o.Today}
	if old.Unreadable() {
		return nil, fmt.Errorf("%q: %w", old.Name, &signpost.InvalidError{Findings: old.only(isError)})
	}
	for i, f := range append([]*File{new}, registered...) {
		if errors := f.only(isError); len(errors) > 0 && !f.Lenient() {
			return nil, fmt.Errorf("definition %q: %w", f.Name, &signpost.InvalidError{Findings: errors})
		}
		if i > 0 {
			options.Registered = append(options.Registered, f.State(f.Readable(nil)).Versions...)
		}
	}
	return options.Diff(old.State(old.Readable(o.Features)), new.State(new.Readable(o.Features)))
}
