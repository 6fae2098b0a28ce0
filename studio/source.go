package studio

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"net/url"
	"slices"
	"time"

	"signpost"
	"signpost/client"
	"signpost/definition"
	"signpost/diff"
	"signpost/internal/foreign"
	"signpost/internal/routes"
	sources "signpost/internal/source"
)

// Kinds of sources.
const (
	KindFile    = "file"
	KindExample = "example"
	KindAddress = "address"
)

// record is what the studio knows about a file or an address, whatever the deployment. The lock of the studio guards
// it.
type record struct {
	ID      string   `json:"id"`      // the file or the address, so that it survives a restart
	Kind    string   `json:"kind"`    // one of the kinds above
	Path    string   `json:"path"`    // of a file on this machine, absolute
	Judged  bool     `json:"judged"`  // false for --registered sources, which only take part in overlap
	Failure *problem `json:"failure"` // why nothing, or nothing new, could be read

	Read  time.Time `json:"read,omitzero"`
	Since time.Time `json:"since,omitzero"` // of the base

	Formatted bool `json:"formatted"` // the text is shown in lines, and its lines are not those of the file

	address  *url.URL // with its query, which the page does not get; nil for a file
	findings []signpost.Finding

	now      *text // as last read; nil if it never was
	good     *text // the last one without errors
	previous *text // the one before good
	base     *text // what changes are compared with: good when it was registered or accepted
}

// text is one state of a source.
type text struct {
	file     *definition.File
	body     []byte
	read     []byte             // as it was read, if body is that in lines
	findings []signpost.Finding // of the text alone; nil if unknown
}

func parse(name string, body []byte, served bool) *text {
	if served {
		return inLines(&text{file: definition.ParseManifest(name, body), body: body})
	}
	return &text{file: definition.Parse(name, body), body: body}
}

// inLines formats a manifest on one line, in which nobody finds anything.
func inLines(t *text) *text {
	var out bytes.Buffer
	if bytes.ContainsRune(bytes.TrimSpace(t.body), '\n') || json.Indent(&out, bytes.TrimSpace(t.body), "", "  ") != nil {
		return t
	}
	return &text{file: definition.ParseManifest(t.file.Name, out.Bytes()), body: out.Bytes(), read: t.body}
}

// asRead returns the text as it was read.
func (t *text) asRead() []byte {
	if t.read != nil {
		return t.read
	}
	return t.body
}

// source is a file or an address as the page shows it for a deployment. It is immutable.
type source struct {
	record              // as it was when the source was built
	Title    string     `json:"title"`
	Host     string     `json:"host"`      // value of {{host}}
	HostOpen bool       `json:"host_open"` // whether any URL contains {{host}}
	BasePath string     `json:"base_path"`
	Features []feature  `json:"features"`
	Versions []*version `json:"versions"` // of shown
	Empty    bool       `json:"empty"`    // there is nothing in the file yet
	Notes    []string   `json:"notes"`

	Findings []finding     `json:"-"` // sent in the lists of the view, as the changes and the endpoints are
	Changes  []diff.Change `json:"-"` // since it was registered or accepted

	shown   *text // the current text if endpoints can be read of it, else the last good one
	enabled []string
}

// feature is a switch of the deployment.
type feature struct {
	Name    string `json:"name"`
	Enabled bool   `json:"enabled"`
}

// version is one API version, with the host resolved.
type version struct {
	Name      string     `json:"name"`  // empty if unknown
	Route     string     `json:"route"` // path on this server; empty for other people's manifests
	Endpoints []endpoint `json:"-"`

	manifest signpost.Manifest
}

// version returns the version with a name, or nil.
func (src *source) version(name string) *version {
	return find(src.Versions, func(v *version) bool { return v.Name == name })
}

// File is a definition or a saved manifest to show.
type File struct {
	Definition *definition.File
	Text       []byte // text of the definition
	Path       string // absolute, for editors; empty if there is no file
	Kind       string // KindFile, or KindExample for the built-in example; empty means KindFile

	// Registered files take part in overlap only.
	Registered bool

	// Findings are those of the file alone, which are all if nothing else is registered.
	Findings []signpost.Finding

	// Err is the reason why the file could not be read again. It keeps the state that it had.
	Err error
}

// SetFiles replaces the definitions. If one has errors, the page shows what can be read of it, or else its last good
// text. A file whose text is as before does not change.
func (s *Studio) SetFiles(files ...File) {
	s.mu.Lock()
	defer s.mu.Unlock()
	changed := false
	var next []*record
	for _, f := range files {
		r := s.record(f.Definition.Name)
		if r == nil || r.address != nil {
			r = &record{ID: f.Definition.Name, Kind: cmp.Or(f.Kind, KindFile), Path: f.Path, Judged: !f.Registered}
		}
		switch {
		case f.Err != nil:
			why := sentence("the file cannot be read: " + f.Err.Error())
			changed = changed || r.Failure == nil || r.Failure.Detail != why
			r.Failure = &problem{Detail: why, Hint: "The page keeps showing the last version that it read."}
		case r.now == nil || !bytes.Equal(r.now.asRead(), f.Text) || r.Failure != nil:
			changed = true
			now := &text{file: f.Definition, body: f.Text, findings: f.Findings}
			if f.Definition.Served() {
				now = inLines(now)
			}
			r.set(now)
		}
		next = append(next, r)
	}
	next = append(next, slices.DeleteFunc(slices.Clone(s.records), func(r *record) bool { return r.address == nil })...)
	if changed || !slices.Equal(next, s.records) {
		s.records = next
		s.bump()
	}
}

// set makes a text the current one, and the last good one unless it has errors.
func (r *record) set(t *text) {
	r.now, r.Read, r.Failure, r.Formatted = t, time.Now(), nil, t.read != nil
	if t.unusable() != nil {
		return
	}
	r.previous, r.good = r.good, t
	if r.base == nil {
		r.base, r.Since = t, r.Read
	}
}

// lint lints everything registered together. The caller holds the lock.
func (s *Studio) lint() {
	var judged, besides []*definition.File
	for _, r := range s.records {
		switch {
		case r.now == nil:
		case r.Judged:
			judged = append(judged, r.now.file)
		default:
			besides = append(besides, r.now.file)
		}
		r.findings = nil
	}
	found := s.onlyFindings()
	if found == nil {
		found = definition.LintTogether(judged, besides)
	}
	for _, f := range found {
		if r := s.record(f.File); r != nil {
			if r.now.file.Served() {
				f = foreign.Finding(f)
			}
			r.findings = append(r.findings, f)
		}
	}
}

// onlyFindings returns the findings of the only record, if they are known: linting takes as long as showing a text.
func (s *Studio) onlyFindings() []signpost.Finding {
	if len(s.records) != 1 || s.records[0].now == nil {
		return nil
	}
	return s.records[0].now.findings
}

// build returns a record as a deployment has it. Nil features means those that the file enables.
func (r *record) build(host string, features []string) *source {
	src := &source{
		record: *r, Host: host, Features: []feature{}, Versions: []*version{}, Findings: []finding{}, Notes: []string{},
		Changes: []diff.Change{}, enabled: features,
	}
	if r.address != nil {
		src.Host = r.address.Hostname()
		if r.address.Scheme == "http" {
			src.Notes = append(src.Notes, "Plain http is fine for trying things out. A studio registers https addresses only.")
		}
	}
	if r.now == nil {
		if r.Failure == nil {
			src.Notes = append(src.Notes, "Fetching the manifest…")
		}
		return src
	}
	src.Findings = findings(r.now.file, r.findings)
	src.Empty = len(bytes.TrimSpace(r.now.body)) == 0
	src.shown = r.now
	if r.good != nil && !r.now.readable() {
		src.shown = r.good // a syntax error takes neither title nor features away
	}
	shown := src.shown.file
	if exact := shown.Hosts.Exact(); host == "" && r.address == nil && len(exact) > 0 {
		src.Host = exact[0]
	}
	src.Host = cmp.Or(src.Host, DefaultHost)
	src.Title = cmp.Or(r.now.file.Service, shown.Service)
	src.BasePath = shown.BasePath
	if features == nil {
		features = shown.Enabled()
	}
	for _, name := range shown.Features() {
		src.Features = append(src.Features, feature{name, slices.Contains(features, name)})
	}
	err := src.resolve(src.shown)
	switch {
	case src.served() && err != nil:
		src.Notes = append(src.Notes, sentence(err.Error())+" Enter another host.")
	case r.good == r.now || r.Failure != nil:
	case src.shown == r.good:
		src.Notes = append(src.Notes, "The file has errors. Like a running service, this page keeps the last valid version.")
	case len(src.Versions) > 0:
		src.Notes = append(src.Notes, "The file has errors, so it would not be served. This is what can be read of it.")
	}
	return src
}

// served reports whether a service would serve what is shown.
func (src *source) served() bool { return src.shown != nil && src.shown == src.good }

// readable reports whether endpoints can be read of a text, whatever errors it has.
func (t *text) readable() bool {
	return slices.ContainsFunc(t.file.Readable(nil), func(v signpost.Version) bool { return len(v.Manifest.Endpoints) > 0 })
}

// unusable returns why a text cannot be served: a definition has errors, or nothing of a manifest can be read.
func (t *text) unusable() error {
	if !t.file.Served() {
		_, err := t.file.Manifests(nil)
		return err
	}
	if t.readable() {
		return nil
	}
	_, err := client.ReadManifest(t.body)
	return err
}

// service returns a text with the features of the deployment, as far as it can be read: it may have errors, which a
// later one repaired. {{host}} is unresolved.
func (src *source) service(t *text) *sources.Service {
	s := &sources.Service{Name: src.ID, File: t.file, Served: t.file.Served(), Address: src.address}
	s.Load(src.enabled)
	return s
}

// resolve sets the versions to those of a text, for the deployment of the source.
func (src *source) resolve(t *text) error {
	service := src.service(t)
	keys := make(map[string]string) // URLs as written, by resolved URL
	for _, w := range service.Versions {
		for _, e := range w.Manifest.Endpoints {
			u := signpost.CutURL(e.URL)
			keys[e.URL], keys[u.Resolve(src.Host).String()] = e.URL, e.URL
			src.HostOpen = src.HostOpen || u.HasHostPlaceholder()
		}
	}
	if src.Kind != KindAddress && service.Host == signpost.HostPlaceholder {
		if err := service.ServeFor(src.Host); err != nil {
			return errors.Unwrap(err) // without the name of the file, which is beside it
		}
	}
	// Without {{host}} and hosts, nothing tells which URLs are the service's own.
	ownKnown := src.Kind == KindAddress || src.HostOpen || len(t.file.Hosts) > 0
	origins, about := src.featureKeys(t.file), t.file.ContextKeys()
	for _, w := range service.Versions {
		v := &version{Name: w.Name, Endpoints: []endpoint{}, manifest: w.Manifest}
		if !service.Served && src.served() {
			v.Route = routes.Path(t.file.BasePath, v.Name)
		}
		for _, e := range v.manifest.Endpoints {
			shown := newEndpoint(e, keys[e.URL])
			shown.Foreign = ownKnown && !t.file.Owns(signpost.CutURL(shown.Key))
			for i := range shown.Context {
				item := &shown.Context[i]
				item.Feature, item.About = origins[[3]string{v.Name, shown.Key, item.Key}], about[item.Key]
			}
			shown.Deprecated = deprecation(cmp.Or(t.file.Deprecation(v.Name, shown.Key, ""), t.file.Deprecation(v.Name, "", "")))
			for i, m := range shown.Modifiers {
				shown.Modifiers[i].Deprecated = deprecation(t.file.Deprecation(v.Name, shown.Key, m.ID))
			}
			v.Endpoints = append(v.Endpoints, shown)
		}
		src.Versions = append(src.Versions, v)
	}
	return nil
}

// featureKeys determines which feature adds which context key, by version, URL and key.
func (src *source) featureKeys(f *definition.File) map[[3]string]string {
	origins, plain := make(map[[3]string]string), f.Readable([]string{})
	for _, feature := range src.Features {
		if !feature.Enabled {
			continue
		}
		for i, v := range f.Readable([]string{feature.Name}) {
			for j, e := range v.Manifest.Endpoints {
				for _, item := range e.ContextObj[len(plain[i].Manifest.Endpoints[j].ContextObj):] {
					at := [3]string{v.Name, e.URL, item.Key}
					origins[at] = cmp.Or(origins[at], feature.Name)
				}
			}
		}
	}
	return origins
}

// body returns the manifest of a version as the service sends it.
func (src *source) body(v *version) []byte {
	if src.shown.file.Served() {
		return bytes.ReplaceAll(src.shown.body, []byte(signpost.HostPlaceholder), []byte(src.Host))
	}
	text, _ := v.manifest.MarshalJSON() // its text has no errors, and resolving it leaves each URL once
	return append(text, '\n')
}
