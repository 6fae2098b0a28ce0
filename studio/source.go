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
	"signpost/internal/workspace"
)

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

	now      *workspace.File // as last read; nil if it never was
	good     *workspace.File // the last one without errors
	previous *workspace.File // the one before good
	base     *workspace.File // what changes are compared with: good when it was registered or accepted
}

// inLines returns a file in lines if it is a manifest on one line, in which nobody finds anything.
func inLines(f *workspace.File) *workspace.File {
	var out bytes.Buffer
	text := bytes.TrimSpace(f.Text)
	if !f.Definition.Served() || bytes.ContainsRune(text, '\n') || json.Indent(&out, text, "", "  ") != nil {
		return f
	}
	formatted := *f
	formatted.Text, formatted.Definition = out.Bytes(), definition.ParseManifest(f.Name, out.Bytes())
	return &formatted
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
	Stale    bool       `json:"stale"`    // changes are those of an earlier text, because this one has errors
	Notes    []string   `json:"notes"`

	Findings []finding     `json:"-"` // sent in the lists of the view, as the changes and the endpoints are
	Changes  []diff.Change `json:"-"` // since it was registered or accepted

	shown   *workspace.File // the current text if endpoints can be read of it, else the last good one
	enabled []string
}

type feature struct {
	Name    string `json:"name"`
	Enabled bool   `json:"enabled"`
}

type version struct {
	Name      string     `json:"name"`  // empty if unknown
	Route     string     `json:"route"` // path on this server; empty for other people's manifests
	Endpoints []endpoint `json:"-"`

	manifest signpost.Manifest
	declared signpost.Version // with {{host}}
}

func (src *source) version(name string) *version {
	return find(src.Versions, func(v *version) bool { return v.Name == name })
}

// Show shows files, and the addresses that are registered besides. If a file has errors, the page shows what can be
// read of it, or else its last good text. A file whose text is as before does not change. Files that are not judged
// take part in overlap only.
func (s *Studio) Show(snapshot *workspace.Snapshot) {
	s.mu.Lock()
	defer s.mu.Unlock()
	failures := make(map[sources.Source]error)
	for _, failed := range snapshot.Failures {
		failures[failed.From] = failed.Err
	}
	var next []*record
	for _, f := range snapshot.Files {
		if f.Definition == nil { // because of a bug
			continue
		}
		r := s.record(f.Name)
		if r == nil || r.address != nil {
			r = s.newFile(f)
		}
		next = append(next, r)
		if err := failures[f.From]; err != nil {
			why := sentence("the file cannot be read: " + err.Error())
			r.Failure = &problem{Detail: why, Hint: "The page keeps showing the last version that it read."}
		} else if r.now == nil || r.now.Sum != f.Sum || r.Failure != nil {
			r.set(f)
		}
	}
	isFile := func(r *record) bool { return r.address == nil }
	s.records = append(next, slices.DeleteFunc(s.records, isFile)...)
	s.bump()
}

func (s *Studio) newFile(f *workspace.File) *record {
	r := &record{ID: f.Name, Kind: KindFile, Judged: f.Role == workspace.Judged}
	if _, fixed := f.From.(*sources.Fixed); !fixed {
		r.Path = f.ID()
	} else if f.Name == s.opts.Example {
		r.Kind = KindExample
	}
	return r
}

// set makes a text the current one, and the last good one unless it has errors.
func (r *record) set(f *workspace.File) {
	r.now, r.Read, r.Failure = inLines(f), time.Now(), nil
	r.Formatted = r.now != f
	if unusable(r.now) != nil {
		return
	}
	r.previous, r.good = r.good, r.now
	if r.base == nil {
		r.base, r.Since = r.now, r.Read
	}
}

// lint judges everything registered together. The caller holds the lock.
func (s *Studio) lint() {
	var files []*workspace.File
	for _, r := range s.records {
		r.findings = nil
		if r.now != nil {
			files = append(files, r.now)
		}
	}
	for _, f := range workspace.FindingsTogether(files) {
		if r := s.record(f.File); r != nil {
			if r.now.Definition.Served() {
				f = foreign.Finding(f)
			}
			r.findings = append(r.findings, f)
		}
	}
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
	src.Findings = findings(r.now.Definition, r.findings)
	src.Empty = len(bytes.TrimSpace(r.now.Text)) == 0
	src.Stale = r.good != r.now
	src.shown = r.now
	if r.good != nil && !readable(r.now) {
		src.shown = r.good // a syntax error takes neither title nor features away
	}
	shown := src.shown.Definition
	if exact := shown.Hosts.Exact(); host == "" && r.address == nil && len(exact) > 0 {
		src.Host = exact[0]
	}
	src.Host = cmp.Or(src.Host, DefaultHost)
	src.Title = cmp.Or(r.now.Definition.Service, shown.Service)
	src.BasePath = shown.BasePath
	if features == nil {
		features = shown.Enabled()
	}
	for _, name := range shown.Features() {
		src.Features = append(src.Features, feature{name, slices.Contains(features, name)})
	}
	err := src.resolve(src.shown)
	switch {
	case src.isValid() && err != nil:
		src.Notes = append(src.Notes, sentence(err.Error())+" Enter another host.")
	case r.good == r.now || r.Failure != nil:
	case src.shown == r.good:
		src.Notes = append(src.Notes, "The file has errors. Like a running service, this page keeps the last valid version.")
	case len(src.Versions) > 0:
		src.Notes = append(src.Notes, "The file has errors, so it would not be served. This is what can be read of it.")
	}
	return src
}

// isValid reports whether what is shown has no errors, so that a service would publish it.
func (src *source) isValid() bool { return src.shown != nil && src.shown == src.good }

// readable reports whether endpoints can be read of a file, whatever errors it has.
func readable(f *workspace.File) bool {
	hasEndpoints := func(v signpost.Version) bool { return len(v.Manifest.Endpoints) > 0 }
	return slices.ContainsFunc(f.Definition.Readable(nil), hasEndpoints)
}

// unusable returns why a file cannot be served: a definition has errors, or nothing of a manifest can be read.
func unusable(f *workspace.File) error {
	if !f.Definition.Served() {
		_, err := f.Definition.Manifests(nil)
		return err
	}
	if readable(f) {
		return nil
	}
	_, err := client.ReadManifest(f.Text)
	return err
}

// service returns a file with the features of the deployment, as far as it can be read: it may have errors, which a
// later one repaired. {{host}} is unresolved.
func (src *source) service(f *workspace.File) *sources.Service {
	s := &sources.Service{Name: src.ID, File: f.Definition, Served: f.Definition.Served(), Address: src.address}
	s.Load(src.enabled)
	return s
}

// resolve sets the versions to those of a file, for the deployment of the source.
func (src *source) resolve(f *workspace.File) error {
	service, definition := src.service(f), f.Definition
	for _, w := range service.Versions {
		for u := range w.Manifest.All() {
			src.HostOpen = src.HostOpen || u.HasHostPlaceholder()
		}
	}
	declared := slices.Clone(service.Versions)
	if src.Kind != KindAddress && service.Host == signpost.HostPlaceholder {
		if err := service.ServeFor(src.Host); err != nil {
			return errors.Unwrap(err) // without the name of the file, which is beside it
		}
	}
	// Without {{host}} and hosts, nothing tells which URLs are the service's own.
	ownKnown := src.Kind == KindAddress || src.HostOpen || len(definition.Hosts) > 0
	origins, about := src.featureKeys(definition), definition.ContextKeys()
	for i, w := range service.Versions {
		v := &version{Name: w.Name, Endpoints: []endpoint{}, manifest: w.Manifest, declared: declared[i]}
		if !service.Served && src.isValid() {
			v.Route = routes.Path(definition.BasePath, v.Name)
		}
		for u, e := range v.manifest.All() {
			written := signpost.CutURL(v.declared.Manifest.Endpoints[len(v.Endpoints)].URL)
			shown := newEndpoint(*e, u, written.String())
			shown.Foreign = ownKnown && !definition.Owns(written)
			for i := range shown.Context {
				item := &shown.Context[i]
				item.Feature, item.About = origins[[3]string{v.Name, shown.Key, item.Key}], about[item.Key]
			}
			ofVersion := definition.Deprecation(v.Name, "", "")
			shown.Deprecated = deprecation(cmp.Or(definition.Deprecation(v.Name, shown.Key, ""), ofVersion))
			for i, m := range shown.Modifiers {
				shown.Modifiers[i].Deprecated = deprecation(definition.Deprecation(v.Name, shown.Key, m.ID))
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
	if src.shown.Definition.Served() {
		return bytes.ReplaceAll(src.shown.Text, []byte(signpost.HostPlaceholder), []byte(src.Host))
	}
	text, _ := v.manifest.MarshalJSON() // its text has no errors, and resolving it leaves each URL once
	return append(text, '\n')
}
