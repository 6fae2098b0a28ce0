package studio

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"signpost"
	"signpost/definition"
	"signpost/diff"
	sources "signpost/internal/source"
	"signpost/internal/workspace"
)

// compare returns the changes since a state of a source, for the same deployment and with the verdicts of signpost
// diff: beside everything else on the page and, unless the deployment names a host, on every host of a definition.
// Flipping a switch is not a change of the definition.
func (v *view) compare(src *source, base *workspace.File) ([]diff.Change, error) {
	if base == nil || src.good == nil {
		return nil, nil
	}
	options := diff.Options{Host: src.Host}
	for _, other := range v.besides(src, src.good) {
		options.Registered = append(options.Registered, other.State().Versions...)
	}
	if v.asked == "" && !base.Definition.Served() && !src.good.Definition.Served() {
		options.Host = ""
	}
	return options.Diff(src.service(base).State(), src.service(src.good).State())
}

// resolveChanges gives changes the URLs that endpoints have on the page.
func (src *source) resolveChanges(changes []diff.Change) {
	for i := range changes {
		changes[i].Endpoint = signpost.CutURL(changes[i].Endpoint).Resolve(src.Host).String()
	}
}

// besides returns what is registered besides a state of a source, except for other states of it.
func (v *view) besides(src *source, state *workspace.File) []*sources.Service {
	var files []*definition.File
	var services []*sources.Service
	for _, other := range v.sources {
		if other != src && other.shown != nil {
			files = append(files, other.shown.Definition)
			services = append(services, other.service(other.shown))
		}
	}
	for i, f := range definition.WithoutPublished([]*definition.File{state.Definition}, files) {
		services[i].File = f
	}
	return services
}

func (v *view) findChanges(src *source) {
	if src.Judged && src.base != src.good {
		changes, _ := v.compare(src, src.base)
		src.resolveChanges(changes)
		src.Changes = append(src.Changes, changes...)
	}
}

type changesBody struct {
	sourceBody
	Base string `json:"base"` // see changes
	Of   string `json:"of"`   // the other version, or the git revision
}

// changes compares a source with a base.
func (s *Studio) changes(c call, in changesBody) (any, error) {
	switch in.Base {
	case "registered": // or opened, or accepted
		return s.since(c, c.src.base)
	case "previous": // the fetch before, or the text of the file before
		return s.since(c, c.src.previous)
	case "version":
		return c.src.compareVersions(in.Of, in.Version)
	case "git":
		old, err := s.readRevision(c, in.Of)
		if err != nil {
			return nil, err
		}
		return s.since(c, old)
	}
	return nil, fmt.Errorf("there is no base %q", in.Base)
}

// compared is the result of changes: what has changed, and the endpoints as they were, by their URLs of today.
type compared struct {
	Changes []change              `json:"changes"`
	Before  map[string][]endpoint `json:"before"` // by version
}

// change is a change with what the page needs to show it at its control.
type change struct {
	diff.Change
	Subject []string `json:"subject"`
	Doing   string   `json:"doing"` // what the requests that it concerns do
}

// since compares with a state of a source, and counts the requests that each change concerns.
func (s *Studio) since(c call, base *workspace.File) (any, error) {
	src := c.src
	changes, err := c.view.compare(src, base)
	if err != nil || base == nil {
		return compared{Changes: []change{}}, err
	}
	if s.opts.Usage != nil {
		for i := range changes {
			changes[i].Service = base.Definition.BasePath // the counts may be those of several services
		}
		s.opts.Usage.Join(changes)
	}
	src.resolveChanges(changes)
	old := &source{record: src.record, Host: src.Host, Features: src.Features, enabled: src.enabled}
	if err := old.resolve(base); err != nil {
		return nil, err
	}
	return newCompared(changes, old.Versions), nil
}

// newCompared leaves out the endpoints that are as they were.
func newCompared(changes []diff.Change, before []*version) compared {
	changed := make(map[string]bool)
	out := compared{[]change{}, make(map[string][]endpoint)}
	for _, c := range changes {
		changed[c.Endpoint] = true
		shown := change{Change: c, Subject: c.Subject}
		if c.Requests != nil {
			shown.Doing = c.Requests.Doing
		}
		out.Changes = append(out.Changes, shown)
	}
	for _, v := range before {
		out.Before[v.Name] = slices.DeleteFunc(v.Endpoints, func(e endpoint) bool { return !changed[e.URL] })
	}
	return out
}

// compareVersions shows what changes for clients that move from one version to another. URLs that differ only in the
// version count as the same.
func (src *source) compareVersions(from, to string) (any, error) {
	old, now := src.version(from), src.version(to)
	if old == nil || now == nil || old == now {
		return nil, fmt.Errorf("there is no other version %q", from)
	}
	moved := func(url string) string {
		return strings.TrimSuffix(strings.ReplaceAll(url+"/", "/"+from+"/", "/"+to+"/"), "/")
	}
	base := signpost.Version{Name: to}
	before := &version{Name: to, Endpoints: slices.Clone(old.Endpoints)}
	for i, e := range old.manifest.Endpoints {
		e.URL = moved(e.URL)
		base.Manifest.Endpoints = append(base.Manifest.Endpoints, e)
		before.Endpoints[i].URL = e.URL
	}
	after := signpost.Service{Versions: []signpost.Version{{Name: to, Manifest: now.manifest}}}
	changes, err := diff.Diff(signpost.Service{Versions: []signpost.Version{base}}, after)
	if err != nil {
		return nil, err
	}
	return newCompared(changes, []*version{before}), nil
}

func (s *Studio) readRevision(c call, of string) (*workspace.File, error) {
	revision, src := strings.TrimSpace(of), c.src
	switch {
	case src.good == nil || src.Path == "":
		return nil, fmt.Errorf("only a file without errors can be compared with a git revision")
	case revision == "" || strings.HasPrefix(revision, "-") || strings.Contains(revision, ":"):
		return nil, fmt.Errorf("%q is not a git revision, such as main, HEAD~1, v1.2.0 or a commit", revision)
	}
	body, err := s.opts.ReadRevision(c.r.Context(), revision, src.Path)
	if err != nil {
		return nil, err
	}
	document := sources.Document{Name: src.ID, Text: body}
	old := &workspace.File{Document: document, Definition: document.Parse()}
	if len(old.Definition.Versions()) == 0 {
		return nil, fmt.Errorf("the file has no versions at %s", revision)
	}
	return old, nil
}

// accept makes the current state of a source the base of its changes.
func (s *Studio) accept(c call, _ sourceBody) (any, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if r := s.record(c.src.ID); r != nil && c.src.good != nil {
		r.base, r.Since = c.src.good, time.Now()
		s.bump()
	}
	return object{}, nil
}

func (s *Studio) text(c call, _ sourceBody) (any, error) {
	if c.src.now == nil {
		return object{"text": ""}, nil
	}
	return object{"text": strings.ToValidUTF8(string(c.src.now.Text), "\ufffd")}, nil
}
