package studio

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"signpost"
	"signpost/definition"
	"signpost/diff"
)

// Bases for comparison.
const (
	baseRegistered = "registered" // when it was registered, opened or last accepted
	basePrevious   = "previous"   // the previous fetch, or the previous text of the file
	baseVersion    = "version"    // another API version of the same source
	baseGit        = "git"        // the file at a git revision
)

// serveChanges compares a source with a base.
func (s *Studio) serveChanges(w http.ResponseWriter, r *http.Request) {
	var in struct {
		Source  string `json:"source"`
		Version string `json:"version"` // for baseVersion: the current version
		Base    string `json:"base"`
		Of      string `json:"of"` // the other version for baseVersion, the revision for baseGit
	}
	if !read(w, r, &in) {
		return
	}
	src := s.source(in.Source)
	if src == nil {
		refuse(w, noSource)
		return
	}
	var changes []change
	var failed *problem
	switch in.Base {
	case baseRegistered:
		changes = src.compare(src.base)
	case basePrevious:
		changes = src.compare(src.previous)
	case baseVersion:
		changes, failed = src.compareVersions(in.Of, in.Version)
	case baseGit:
		changes, failed = s.compareRevision(r, src, in.Of)
	default:
		failed = &problem{Status: http.StatusUnprocessableEntity, Detail: fmt.Sprintf("There is no base %q.", in.Base)}
	}
	if failed != nil {
		refuse(w, *failed)
		return
	}
	reply(w, struct {
		Changes []change `json:"changes"`
	}{changes})
}

// compareVersions shows what changes for clients that move from one version to another. URLs that differ only in the
// version count as the same.
func (src *source) compareVersions(from, to string) ([]change, *problem) {
	find := func(name string) *version {
		i := slices.IndexFunc(src.Versions, func(v version) bool { return v.Name == name })
		if i < 0 {
			return nil
		}
		return &src.Versions[i]
	}
	old, now := find(from), find(to)
	if old == nil || now == nil || old == now {
		return nil, &problem{Status: http.StatusUnprocessableEntity, Detail: fmt.Sprintf("There is no other version %q.", from)}
	}
	base := signpost.Version{Name: to}
	for _, e := range old.manifest.Endpoints {
		segments := strings.Split(e.URL, "/")
		for i := range segments {
			if segments[i] == from {
				segments[i] = to
			}
		}
		e.URL = strings.Join(segments, "/")
		base.Manifest.Endpoints = append(base.Manifest.Endpoints, e)
	}
	changes := []change{}
	for _, c := range diff.Diff(signpost.Service{Versions: []signpost.Version{base}}, signpost.Service{Versions: []signpost.Version{{Name: to, Manifest: now.manifest}}}) {
		changes = append(changes, change{c, src.keyOf(to, c.Endpoint)})
	}
	return changes, nil
}

// compareRevision compares a file with its state at a git revision.
func (s *Studio) compareRevision(r *http.Request, src *source, revision string) ([]change, *problem) {
	invalid := func(detail, hint string) *problem {
		return &problem{Status: http.StatusUnprocessableEntity, Detail: detail, Hint: hint}
	}
	switch {
	case src.file == nil || src.Path == "" || s.opts.ReadRevision == nil:
		return nil, invalid("Only a file without errors can be compared with a git revision.", "")
	case strings.TrimSpace(revision) == "" || strings.HasPrefix(revision, "-") || strings.Contains(revision, ":"):
		return nil, invalid("Enter a git revision.", "Such as main, HEAD~1, v1.2.0 or a commit.")
	}
	text, err := s.opts.ReadRevision(r.Context(), strings.TrimSpace(revision), src.Path)
	if err != nil {
		return nil, invalid(sentence(err.Error()), "")
	}
	s.mu.Lock()
	host := s.host
	var enabled []string
	for _, f := range s.files {
		if f.name == src.ID {
			enabled = f.enabled(s.opts.Features)
		}
	}
	s.mu.Unlock()
	parse := definition.Parse
	if src.file.file.Served() {
		parse = definition.ParseManifest
	}
	old := parse(src.Name, text)
	if enabled != nil {
		enabled = slices.DeleteFunc(enabled, func(name string) bool { return !slices.Contains(old.Features(), name) })
	}
	if len(old.Versions()) == 0 {
		return nil, &problem{Status: http.StatusUnprocessableEntity, Detail: fmt.Sprintf("The file has no versions at %s.", revision), Findings: findings(old, definition.Lint(old), nil)}
	}
	var base pastState
	base.setFile(old)
	base.Versions = old.Readable(enabled) // a revision may have errors, which a later one repairs
	for i, v := range base.Versions {
		if base.Versions[i].Manifest, err = v.Manifest.ForHost(host); err != nil {
			return nil, invalid(sentence(err.Error()), "")
		}
	}
	return src.compare(base), nil
}

// serveAccept makes the current state of a source the base of its changes.
func (s *Studio) serveAccept(w http.ResponseWriter, r *http.Request) {
	src, ok := s.readSource(w, r)
	if !ok {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	rev := s.bump()
	for _, f := range s.files {
		if f.name == src.ID && f.good != nil {
			f.base, f.restored, f.since = f.good, nil, time.Now()
			f.build(s, rev)
		}
	}
	for _, remote := range s.remote {
		if remote.source.ID == src.ID {
			accepted := *remote.source
			accepted.base, accepted.since, accepted.Rev = accepted.state(), time.Now(), rev
			accepted.setChanges()
			remote.source = &accepted
		}
	}
	reply(w, struct{}{})
}

// keptBase is the base of comparison. The page stores it, and restores it after a restart of the studio.
type keptBase struct {
	Source   string        `json:"source"`
	Since    string        `json:"since"`
	BasePath string        `json:"base_path"` // empty if unknown
	Versions []keptVersion `json:"versions"`
}

type keptVersion struct {
	Name     string            `json:"name"`
	Manifest signpost.Manifest `json:"manifest"`
}

func (s *Studio) serveBase(w http.ResponseWriter, r *http.Request) {
	src := s.source(r.URL.Query().Get("source"))
	if src == nil {
		refuse(w, noSource)
		return
	}
	out := keptBase{Source: src.ID, Since: src.Since, BasePath: src.base.BasePath, Versions: []keptVersion{}}
	for _, v := range src.base.Versions {
		out.Versions = append(out.Versions, keptVersion{v.Name, v.Manifest})
	}
	reply(w, out)
}

// serveRestoreBase restores the base of a source from a page that was open before a restart.
func (s *Studio) serveRestoreBase(w http.ResponseWriter, r *http.Request) {
	var in keptBase
	if !read(w, r, &in) {
		return
	}
	since, err := time.Parse(time.RFC3339, in.Since)
	if err != nil {
		refuse(w, problem{Status: http.StatusUnprocessableEntity, Detail: "This is not a time."})
		return
	}
	base := pastState{Service: signpost.Service{BasePath: in.BasePath, Versions: []signpost.Version{}}}
	for _, v := range in.Versions {
		base.Versions = append(base.Versions, signpost.Version{Name: v.Name, Manifest: v.Manifest})
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	rev := s.bump()
	for _, f := range s.files {
		if f.name == in.Source {
			f.restored, f.since = &base, since
			f.build(s, rev)
		}
	}
	for _, remote := range s.remote {
		if remote.source.ID == in.Source {
			restored := *remote.source
			restored.base, restored.since, restored.Rev = base, since, rev
			restored.setChanges()
			remote.source = &restored
		}
	}
	reply(w, struct{}{})
}

// maxText limits the text of a source that is sent to the page.
const maxText = 2 << 20

// serveText returns the text of a source, to show findings in it.
func (s *Studio) serveText(w http.ResponseWriter, r *http.Request) {
	src := s.source(r.URL.Query().Get("source"))
	if src == nil {
		refuse(w, noSource)
		return
	}
	text := src.text
	if len(text) > maxText {
		text = text[:maxText]
	}
	reply(w, struct {
		Text      string `json:"text"`
		Truncated bool   `json:"truncated"`
	}{strings.ToValidUTF8(string(text), "\ufffd"), len(text) < len(src.text)})
}
