// Package adopt makes a definition from the manifests that a service already serves.
//
// [Import] renders its result and compares it with the manifests: whatever it returns gives what they are, except for
// what the result lists as left out.
package adopt

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"signpost"
	"signpost/definition"
	"signpost/internal/draft"
	"signpost/internal/routes"
	"signpost/internal/spell"
)

// Source is a manifest.
type Source struct {
	Name    string // in notes
	Text    []byte
	Version string // API version; empty takes it from the URLs
}

// Options say what the manifests do not.
type Options struct {
	Host     string // the service's own host, normalized; empty leaves every URL as it is
	BasePath string // empty if it is not known
}

// Result is the imported definition.
type Result struct {
	Definition []byte   // YAML, with the notes as comments
	Notes      []string // what needs attention
	LeftOut    []string // what a definition cannot hold
	Endpoints  int
}

// VersionError reports that two manifests are for the same version.
type VersionError struct{ Version, First, Second string }

func (e *VersionError) Error() string {
	return fmt.Sprintf("%s and %s are both the manifest of %s: say which version each is for, such as v2=%s",
		e.First, e.Second, e.Version, e.Second)
}

// manifest is one of the manifests that are imported.
type manifest struct {
	Source
	kept  signpost.Manifest // without what is left out
	draft draft.Version
}

// Import returns the definition whose manifests are those of the sources. It returns an error if a source is not a
// manifest, or if the definition would give anything else.
func Import(sources []Source, opts Options) (*Result, error) {
	result := &Result{}
	count := &counter{uses: make(map[string]int)}
	var manifests []*manifest
	for _, s := range sources {
		m, err := result.read(s, opts.Host, count)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", s.Name, err)
		}
		for _, other := range manifests {
			if other.Version == m.Version {
				return nil, &VersionError{m.Version, other.Name, m.Name}
			}
		}
		manifests = append(manifests, m)
	}
	out := draft.Definition{Host: opts.Host, LeftOut: result.LeftOut}
	if opts.BasePath != "/" {
		out.BasePath = opts.BasePath
	}
	isOwn := func(e draft.Endpoint) bool { return strings.Contains(e.URL, signpost.HostPlaceholder) }
	hasOwn := false
	for _, m := range manifests {
		out.Comments = append(out.Comments, fmt.Sprintf("Imported from %s by signpost import.", draft.OneLine(m.Name)))
		out.Versions = append(out.Versions, m.draft)
		result.Endpoints += len(m.draft.Endpoints)
		hasOwn = hasOwn || slices.ContainsFunc(m.draft.Endpoints, isOwn)
	}
	if opts.Host != "" && !hasOwn {
		result.note("no URL is on %s: all stay as they are; save the manifest as a file, and --host names the own host",
			opts.Host)
	}
	result.Notes = append(result.Notes, count.notes()...)
	if features := suggested(out.Versions); len(features) > 0 {
		result.note("the keys of %s are where the built-in features would put them: enable: [%s] gives the same without them",
			strings.Join(features, " and "), strings.Join(features, ", "))
	}
	out.Comments = append(out.Comments, result.Notes...)
	result.Definition = out.Write()
	file := definition.Parse("definition", result.Definition)
	if err := prove(file, manifests, opts.Host); err != nil {
		return nil, err
	}
	result.noteFindings(file)
	return result, nil
}

func (r *Result) note(format string, args ...any) {
	r.Notes = append(r.Notes, draft.Note(format, args...))
}

// read reads a manifest. What cannot be written is left out.
func (r *Result) read(s Source, host string, count *counter) (*manifest, error) {
	text, leftOut, err := keep(s, count)
	if err != nil {
		return nil, err
	}
	var kept signpost.Manifest
	if err := json.Unmarshal([]byte(text), &kept); err != nil {
		return nil, err
	}
	r.LeftOut = append(r.LeftOut, leftOut...)
	m := &manifest{Source: s, kept: kept, draft: draft.Version{Extra: kept.Extra}}
	for _, e := range kept.Clone().Endpoints {
		e.URL = templateURL(e.URL, host)
		e.Method = count.value("method", e.Method, signpost.MethodGet, signpost.MethodPost)
		for i, c := range e.ContextObj {
			e.ContextObj[i].Type = count.value("context type", c.Type, signpost.ContextTypes()...)
		}
		m.draft.Endpoints = append(m.draft.Endpoints, draft.Endpoint{Endpoint: e})
	}
	if m.Version == "" {
		m.Version = r.versionOf(m, host != "")
	}
	m.draft.Name = m.Version
	return m, nil
}

// templateURL puts {{host}} into a URL on the own host, if filling it in gives the same text.
func templateURL(url, host string) string {
	scheme, rest, ok := strings.Cut(url, "://")
	after, isOwn := strings.CutPrefix(rest, host)
	if !ok || host == "" || !isOwn || after != "" && !strings.ContainsRune("/?#:", rune(after[0])) {
		return url
	}
	return scheme + "://" + signpost.HostPlaceholder + after
}

// versionOf returns the version that the URLs of a manifest name: the own ones, if the host is known.
func (r *Result) versionOf(m *manifest, known bool) string {
	named := make(map[string]bool)
	for _, e := range m.draft.Endpoints {
		if known && !strings.Contains(e.URL, signpost.HostPlaceholder) {
			continue
		}
		if version := routes.VersionIn(signpost.CutURL(e.URL)); version != "" {
			named[version] = true
		}
	}
	versions := slices.Sorted(maps.Keys(named))
	switch len(versions) {
	case 0:
		return "v1"
	case 1:
		return versions[0]
	}
	r.note("%s: its URLs name %s; it is imported as v1 (v2=FILE says otherwise)", m.Name, strings.Join(versions, ", "))
	return "v1"
}

// maxFindings limits how many findings are notes. Lint has them all.
const maxFindings = 20

// noteFindings adds what lint will say about the definition.
func (r *Result) noteFindings(file *definition.File) {
	errors, warnings := 0, 0
	for _, f := range definition.Lint(file) {
		if f.Severity != signpost.SeverityError {
			warnings++
			continue
		}
		errors++
		if errors <= maxFindings {
			r.note("lint will say, in line %d: %s [%s]", f.Line, f.Message, f.Rule)
		}
	}
	if errors > maxFindings {
		r.note("lint will report %s in all", spell.Count(errors, "error"))
	}
	if warnings > 0 {
		r.note("lint will report %s", spell.Count(warnings, "warning"))
	}
}
