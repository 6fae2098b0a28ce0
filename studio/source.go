package studio

import (
	"bytes"
	"cmp"
	"reflect"
	"slices"
	"time"

	"signpost"
	"signpost/client"
	"signpost/definition"
	"signpost/diff"
	"signpost/internal/routes"
)

// source is a file or an address that the page shows. It is immutable.
type source struct {
	ID       string `json:"id"`   // the name, so that it survives a restart
	Kind     string `json:"kind"` // one of the kinds below
	Rev      int    `json:"rev"`  // revision of the state in which it last changed
	Name     string `json:"name"` // the file or the address
	Path     string `json:"path"` // of a file on this machine, absolute
	Title    string `json:"title"`
	Host     string `json:"host"`      // value of {{host}}
	HostOpen bool   `json:"host_open"` // whether any URL contains {{host}}
	Read     string `json:"read"`      // when it was read

	// Judged is false for --registered sources: they take part in overlap, but have no findings or changes of their
	// own.
	Judged bool `json:"judged"`

	Features   []feature        `json:"features"`
	Versions   []version        `json:"versions"` // of the last text without errors
	Findings   []finding        `json:"findings"`
	Notes      []string         `json:"notes"`
	Failure    *problem         `json:"failure"` // why nothing, or nothing new, could be read
	Stale      bool             `json:"stale"`   // the versions are not those of the current text
	Changes    []change         `json:"changes"` // since it was registered or accepted
	since      time.Time        // time of the base of the changes
	Since      string           `json:"since"`
	address    string           // with its query, which the page does not get; empty for a file
	file       *compiled        // nil for an address
	definition *definition.File // of an address; nil for a file
	text       []byte           // as it was read
	base       pastState
	previous   pastState // of the previous text or fetch
}

// Kinds of sources.
const (
	KindFile    = "file"
	KindExample = "example"
	KindAddress = "address"
)

// feature is a switch in the deployment bar.
type feature struct {
	Name    string `json:"name"`
	Enabled bool   `json:"enabled"`
}

// version is one API version, with the host resolved.
type version struct {
	Name      string     `json:"name"` // empty if unknown
	Revision  string     `json:"revision"`
	Route     string     `json:"route"` // path on this server; empty for an address
	Endpoints []endpoint `json:"endpoints"`

	manifest signpost.Manifest
	body     []byte
}

// change is a change with the key of its endpoint.
type change struct {
	diff.Change
	Key string `json:"key"`
}

// pastState is what the current state of a source is compared with.
type pastState struct {
	signpost.Service
	file *definition.File // nil if there is none, or if it is no longer known
}

// state returns the source as it is compared.
func (src *source) state() pastState {
	var state pastState
	if src.file != nil {
		state.setFile(src.file.file)
	}
	for _, v := range src.Versions {
		state.Versions = append(state.Versions, signpost.Version{Name: v.Name, Manifest: v.manifest})
	}
	return state
}

func (p *pastState) setFile(f *definition.File) {
	p.file, p.BasePath = f, f.KnownBasePath()
}

// setChanges compares the versions with the base.
func (src *source) setChanges() {
	src.Changes = src.compare(src.base)
	if !src.since.IsZero() {
		src.Since = src.since.Format(time.RFC3339)
	}
}

// compare returns the changes since a state of the source, with the verdicts of signpost diff.
func (src *source) compare(base pastState) []change {
	changes := []change{}
	if base.Versions == nil {
		return changes
	}
	now := src.state().Service
	if base.file != nil && len(definition.Errors(base.file)) > 0 {
		base.Versions = diff.Repaired(base.Versions, now.Versions)
	}
	found := diff.Diff(base.Service, now)
	if base.file != nil {
		base.file.LowerDeprecated(found, src.Host, time.Now())
	}
	for _, c := range found {
		changes = append(changes, change{c, src.keyOf(c.Version, c.Endpoint)})
	}
	return changes
}

// keyOf returns the key of the endpoint with a URL, or "".
func (src *source) keyOf(versionName, url string) string {
	for _, v := range src.Versions {
		for _, e := range v.Endpoints {
			if (versionName == "" || v.Name == versionName) && e.URL == url {
				return e.Key
			}
		}
	}
	return ""
}

// File is a definition or a saved manifest to show.
type File struct {
	Definition *definition.File
	Text       []byte // text of the definition
	Path       string // absolute, for editors; empty if there is no file
	Kind       string // KindFile, or KindExample for the built-in example; empty means KindFile

	// Registered files take part in overlap only.
	Registered bool

	// Err is the reason why the file could not be read again. Then Definition is nil, and the file keeps its old state.
	Err  error
	Name string
}

// fileState is a file as last read and as last good, with its deployment settings.
type fileState struct {
	given    File
	name     string
	read     time.Time
	failure  error
	features []string // enabled on the page; nil means the default

	good, base, previous *compiled
	restored             *pastState // base from before a restart, which replaces base
	since                time.Time
	stale                bool

	source *source
}

// compiled is a text without errors.
type compiled struct {
	file      *definition.File
	text      []byte
	written   []signpost.Version            // with features applied and {{host}} unresolved
	templates map[string]*signpost.Template // nil for a manifest with extensions
	origins   map[string]map[string]string  // feature that adds a context key, by version and URL, then by key
}

// compile compiles a file with features; nil means those that the file enables. Other people's manifests are read
// leniently.
func compile(f *definition.File, text []byte, features []string) (*compiled, error) {
	c := &compiled{file: f, text: text, origins: featureKeys(f, features)}
	var err error
	if c.templates, err = f.Compile(features); err != nil && !onlyForeign(f) {
		return nil, err // reported as a finding
	}
	c.written = f.Readable(features)
	return c, nil
}

// onlyForeign reports whether a file is a manifest whose only errors are extensions of the specification.
func onlyForeign(f *definition.File) bool {
	return f.Served() && !slices.ContainsFunc(definition.Errors(f), func(found signpost.Finding) bool {
		return client.Lenient(found).Severity == signpost.SeverityError
	})
}

// SetFiles replaces the definitions. If one has errors, its last good text stays, as in a service, with the errors next
// to it.
func (s *Studio) SetFiles(files ...File) {
	s.mu.Lock()
	defer s.mu.Unlock()
	var next []*fileState
	changed := make(map[*fileState]bool)
	for _, f := range files {
		name := f.Name
		if f.Definition != nil {
			name = f.Definition.Name
		}
		i := slices.IndexFunc(s.files, func(known *fileState) bool { return known.name == name })
		var state *fileState
		if i >= 0 {
			state = s.files[i]
		} else {
			state = &fileState{name: name}
		}
		changed[state] = s.set(state, f)
		next = append(next, state)
	}
	s.files = next
	rev := s.bump()
	relinted := s.relint(rev)
	for _, state := range s.files {
		if changed[state] || relinted[state.name] || state.source == nil {
			state.build(s, rev)
		}
	}
}

// relint lints everything registered together, and returns the sources whose findings have changed. It replaces those
// at addresses; the caller builds the files, and holds the lock.
func (s *Studio) relint(rev int) map[string]bool {
	var judged, besides []*definition.File
	for _, f := range s.files {
		switch {
		case f.given.Definition == nil:
		case f.given.Registered:
			besides = append(besides, f.given.Definition)
		default:
			judged = append(judged, f.given.Definition)
		}
	}
	for _, r := range s.remote {
		if r.source.definition != nil {
			judged = append(judged, r.source.definition)
		}
	}
	found := make(map[string][]signpost.Finding)
	served := make(map[string]bool)
	for _, f := range judged {
		served[f.Name] = f.Served()
	}
	for _, f := range definition.LintTogether(judged, besides) {
		if served[f.File] {
			f = client.Lenient(f)
		}
		found[f.File] = append(found[f.File], f)
	}
	changed := make(map[string]bool)
	for _, f := range judged {
		changed[f.Name] = !reflect.DeepEqual(found[f.Name], s.found[f.Name])
	}
	s.found = found
	for _, r := range s.remote {
		if r.source.definition != nil && (changed[r.source.Name] || r.source.Rev == rev) {
			again := *r.source
			again.Findings, again.Rev = findings(again.definition, found[again.Name], &again), rev
			r.source = &again
		}
	}
	return changed
}

// set reads a file into its state, and reports whether anything has changed.
func (s *Studio) set(state *fileState, f File) bool {
	if f.Err != nil {
		same := state.failure != nil && state.failure.Error() == f.Err.Error()
		state.failure = f.Err
		return !same
	}
	if state.given.Definition == f.Definition && state.failure == nil {
		return false
	}
	state.given, state.read, state.failure = f, time.Now(), nil
	state.compile(s.opts.Features)
	return true
}

// enabled returns the features that are on, or nil for those that the file enables.
func (state *fileState) enabled(given []string) []string {
	names := given
	if state.features != nil {
		names = state.features
	}
	if names == nil {
		return nil
	}
	known := state.given.Definition.Features()
	return slices.DeleteFunc(slices.Clone(names), func(name string) bool { return !slices.Contains(known, name) })
}

// compile makes the current text the last good one, unless it has errors.
func (state *fileState) compile(features []string) {
	good, err := compile(state.given.Definition, state.given.Text, state.enabled(features))
	if state.stale = err != nil; state.stale {
		return
	}
	state.previous, state.good = state.good, good
	if state.base == nil {
		state.base, state.since = state.good, state.read
	}
}

// featureKeys determines which feature adds which context key.
func featureKeys(f *definition.File, enabled []string) map[string]map[string]string {
	origins := make(map[string]map[string]string)
	plain, err := f.Manifests([]string{})
	if err != nil {
		return origins
	}
	names := enabled
	if names == nil {
		names = f.Enabled()
	}
	for _, name := range f.Features() {
		with, err := f.Manifests([]string{name})
		if err != nil || !slices.Contains(names, name) {
			continue
		}
		for i, v := range with {
			for j, e := range v.Manifest.Endpoints {
				for _, item := range e.ContextObj[len(plain[i].Manifest.Endpoints[j].ContextObj):] {
					at := v.Name + " " + e.URL
					if origins[at] == nil {
						origins[at] = make(map[string]string)
					}
					if origins[at][item.Key] == "" {
						origins[at][item.Key] = name
					}
				}
			}
		}
	}
	return origins
}

// build makes the source of the file. The caller holds the lock.
func (state *fileState) build(s *Studio, rev int) {
	src := &source{
		ID: state.name, Kind: KindFile, Rev: rev, Name: state.name, Path: state.given.Path, Host: s.host, Read: state.read.Format(time.RFC3339),
		Judged: !state.given.Registered, Features: []feature{}, Versions: []version{}, Findings: []finding{}, Stale: state.stale,
		Changes: []change{}, Notes: []string{}, since: state.since, file: state.good, text: state.given.Text,
	}
	state.source = src
	if state.failure != nil {
		src.Failure = &problem{Detail: sentence("the file cannot be read: " + state.failure.Error()), Hint: "The page keeps showing the last version that it read."}
	}
	f := state.given.Definition
	if f == nil {
		return
	}
	src.Title = f.Service
	if state.given.Kind != "" {
		src.Kind = state.given.Kind
	}
	enabled := state.enabled(s.opts.Features)
	if enabled == nil {
		enabled = f.Enabled()
	}
	for _, name := range f.Features() {
		src.Features = append(src.Features, feature{name, slices.Contains(enabled, name)})
	}
	if state.good == nil {
		src.Findings = findings(f, s.found[f.Name], nil)
		return
	}
	var err error
	if src.Versions, src.HostOpen, err = state.good.resolve(s.host); err != nil {
		src.Notes = append(src.Notes, sentence(err.Error())+" Enter another host.")
	}
	if src.Findings = findings(f, s.found[f.Name], src); !src.Judged {
		src.Findings = []finding{}
		return
	}
	resolve := func(c *compiled) pastState {
		if c == nil {
			return pastState{}
		}
		versions, _, err := c.resolve(s.host)
		if err != nil {
			return pastState{}
		}
		return (&source{Versions: versions, file: c}).state()
	}
	src.previous = resolve(state.previous)
	if state.restored != nil {
		src.base = *state.restored
	} else {
		src.base = resolve(state.base)
	}
	if (state.restored != nil || state.base != state.good) && err == nil {
		src.setChanges()
	}
	src.Since = state.since.Format(time.RFC3339)
}

// resolve returns the versions for a host, and whether any of their URLs contains {{host}}.
func (c *compiled) resolve(host string) (versions []version, open bool, err error) {
	versions = []version{}
	for _, w := range c.written {
		v := version{Name: w.Name}
		if v.Name != "" {
			v.Route = routes.Path(c.file.BasePath, v.Name)
		}
		if t := c.templates[v.Name]; t != nil {
			v.Revision = t.Revision()
			if v.body, err = t.Render(host); err != nil {
				return []version{}, true, err
			}
		} else {
			v.body = bytes.ReplaceAll(c.text, []byte(signpost.HostPlaceholder), []byte(host))
		}
		if v.manifest, err = w.Manifest.ForHost(host); err != nil {
			return []version{}, true, err
		}
		versions = append(versions, v)
	}
	for i, v := range versions {
		written := make(map[string]string) // by resolved URL
		for _, e := range c.written[i].Manifest.Endpoints {
			u := signpost.CutURL(e.URL)
			written[u.Resolve(host).String()] = e.URL
			open = open || u.HasHostPlaceholder()
		}
		keys := make([]string, len(v.manifest.Endpoints)) // fewer than written if two have become the same
		for j, e := range v.manifest.Endpoints {
			keys[j] = written[e.URL]
		}
		versions[i].Endpoints = endpoints(v.manifest, keys, func(at int, key string) string { return c.origins[v.Name+" "+keys[at]][key] })
	}
	about := c.file.ContextKeys()
	for i := range versions {
		for j := range versions[i].Endpoints {
			e := &versions[i].Endpoints[j]
			for k := range e.Context {
				e.Context[k].About = about[e.Context[k].Key]
			}
			e.Deprecated = deprecation(cmp.Or(c.file.Deprecation(versions[i].Name, e.Key, ""), c.file.Deprecation(versions[i].Name, "", "")))
			for k := range e.Modifiers {
				e.Modifiers[k].Deprecated = deprecation(c.file.Deprecation(versions[i].Name, e.Key, e.Modifiers[k].ID))
			}
			e.Foreign = open && !signpost.CutURL(e.Key).HasHostPlaceholder()
		}
	}
	return versions, open, nil
}
