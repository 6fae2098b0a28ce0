package studio

import (
	"fmt"
	"net/http"
	"strings"
	"time"

	"signpost"
	"signpost/diff"
)

// change is a change with the key of its endpoint.
type change struct {
	diff.Change
	Key string `json:"key"`
}

// compare returns the changes since a text of the source, for the same deployment and with the verdicts of signpost diff.
// Flipping a switch is not a change of the definition.
func (src *source) compare(base *text) ([]change, error) {
	if base == nil || src.record.good == nil {
		return []change{}, nil
	}
	before, err := src.service(base)
	if err != nil {
		return []change{}, err
	}
	after, err := src.service(src.record.good)
	if err != nil {
		return []change{}, err
	}
	return src.withKeys(diff.Diff(before, after)), nil
}

// service returns a text as signpost diff compares it. It may have errors, which a later one repaired.
func (src *source) service(t *text) (signpost.Service, error) {
	state := t.file.State(nil)
	state.Host = src.Host
	for _, v := range t.manifests(src.record.version, src.enabled) {
		var err error
		if v.Manifest, err = src.forHost(v.Manifest); err != nil {
			return state, err
		}
		state.Versions = append(state.Versions, v)
	}
	return state, nil
}

// withKeys adds the keys of the endpoints to changes.
func (src *source) withKeys(found []diff.Change) []change {
	keys := make(map[[2]string]string)
	for _, v := range src.Versions {
		for _, e := range v.Endpoints {
			keys[[2]string{v.Name, e.URL}], keys[[2]string{"", e.URL}] = e.Key, e.Key
		}
	}
	changes := []change{}
	for _, c := range found {
		changes = append(changes, change{c, keys[[2]string{c.Version, c.Endpoint}]})
	}
	return changes
}

// Bases for comparison.
const (
	baseRegistered = "registered" // when it was registered, opened or last accepted
	basePrevious   = "previous"   // the previous fetch, or the previous text of the file
	baseVersion    = "version"    // another API version of the same source
	baseGit        = "git"        // the file at a git revision
)

// comparison asks for the changes of a source since a base.
type comparison struct {
	Source  string `json:"source"`
	Version string `json:"version"` // for baseVersion: the current version
	Base    string `json:"base"`
	Of      string `json:"of"` // the other version for baseVersion, the revision for baseGit
}

// changes compares a source with a base.
func (s *Studio) changes(r *http.Request, in comparison) (any, *problem) {
	_, src, why := s.find(r, in.Source)
	if why != nil {
		return nil, why
	}
	var found []change
	var err error
	switch in.Base {
	case baseRegistered:
		found, err = src.compare(src.record.base)
	case basePrevious:
		found, err = src.compare(src.record.previous)
	case baseVersion:
		found, err = src.compareVersions(in.Of, in.Version)
	case baseGit:
		found, err = s.compareRevision(r, src, strings.TrimSpace(in.Of))
	default:
		err = fmt.Errorf("there is no base %q", in.Base)
	}
	if err != nil {
		return nil, invalid(err, "")
	}
	return struct {
		Changes []change `json:"changes"`
	}{found}, nil
}

// compareVersions shows what changes for clients that move from one version to another. URLs that differ only in the
// version count as the same.
func (src *source) compareVersions(from, to string) ([]change, error) {
	old, now := src.version(from), src.version(to)
	if old == nil || now == nil || old == now {
		return nil, fmt.Errorf("there is no other version %q", from)
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
	moved := signpost.Service{Versions: []signpost.Version{{Name: to, Manifest: now.manifest}}}
	return src.withKeys(diff.Diff(signpost.Service{Versions: []signpost.Version{base}}, moved)), nil
}

// compareRevision compares a file with its state at a git revision.
func (s *Studio) compareRevision(r *http.Request, src *source, revision string) ([]change, error) {
	switch {
	case src.record.good == nil || src.Path == "" || s.opts.ReadRevision == nil:
		return nil, fmt.Errorf("only a file without errors can be compared with a git revision")
	case revision == "" || strings.HasPrefix(revision, "-") || strings.Contains(revision, ":"):
		return nil, fmt.Errorf("%q is not a git revision, such as main, HEAD~1, v1.2.0 or a commit", revision)
	}
	body, err := s.opts.ReadRevision(r.Context(), revision, src.Path)
	if err != nil {
		return nil, err
	}
	old := parse(src.ID, body, src.record.good.file.Served())
	if len(old.file.Versions()) == 0 {
		return nil, fmt.Errorf("the file has no versions at %s", revision)
	}
	return src.compare(old)
}

// accept makes the current state of a source the base of its changes.
func (s *Studio) accept(r *http.Request, in sourceOnly) (any, *problem) {
	_, src, why := s.find(r, in.Source)
	if why == nil {
		s.rebase(src.ID, src.record.good, time.Now())
	}
	return done{}, why
}

func (s *Studio) rebase(id string, base *text, since time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if r := s.record(id); r != nil && base != nil {
		r.base, r.since, r.rev = base, since, s.bump()
	}
}

// keptBase is the base of comparison. The page stores it, and restores it after a restart of the studio.
type keptBase struct {
	Source string `json:"source"`
	Since  string `json:"since"`
	Text   string `json:"text"`
}

func (s *Studio) base(r *http.Request) (any, *problem) {
	_, src, why := s.find(r, r.URL.Query().Get("source"))
	if why != nil {
		return nil, why
	}
	out := keptBase{Source: src.ID, Since: src.Since}
	if src.record.base != nil {
		out.Text = string(src.record.base.body)
	}
	return out, nil
}

// maxBase limits a base that is restored: a definition or manifest, in which every character may be escaped.
const maxBase = 2 * maxManifest

// restoreBase restores the base of a source from a page that was open before a restart.
func (s *Studio) restoreBase(r *http.Request, in keptBase) (any, *problem) {
	_, src, why := s.find(r, in.Source)
	if why != nil {
		return nil, why
	}
	since, err := time.Parse(time.RFC3339, in.Since)
	if err != nil {
		return nil, invalid(err, "")
	}
	served := src.Kind == KindAddress || src.record.now != nil && src.record.now.file.Served()
	s.rebase(src.ID, parse(src.ID, []byte(in.Text), served), since)
	return done{}, nil
}

// maxText limits the text of a source that is sent to the page.
const maxText = 2 << 20

// text returns the text of a source, to show findings in it.
func (s *Studio) text(r *http.Request) (any, *problem) {
	_, src, why := s.find(r, r.URL.Query().Get("source"))
	if why != nil {
		return nil, why
	}
	var body []byte
	if src.record.now != nil {
		body = src.record.now.body
	}
	shown := body[:min(len(body), maxText)]
	return struct {
		Text      string `json:"text"`
		Truncated bool   `json:"truncated"`
	}{strings.ToValidUTF8(string(shown), "\ufffd"), len(shown) < len(body)}, nil
}
