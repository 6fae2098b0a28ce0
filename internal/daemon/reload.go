package daemon

import (
	"fmt"
	"slices"

	"signpost"
	"signpost/definition"
	"signpost/internal/source"
	"signpost/server"
)

// publisher keeps a handler in sync with the definitions. A definition that is bad or cannot be read leaves the last
// good one of its service in place.
type publisher struct {
	Config
	handler *server.Handler
	metrics *metrics

	served   []*served
	failures map[string]bool           // failures that were already logged
	uncached map[*source.Remote]string // sources whose definitions are not in the cache, and why
}

// served is a definition, as last read and as last good. It keeps neither the text nor the parse tree.
type served struct {
	id     string // of the document
	name   string
	source source.Source
	sum    source.Sum

	changed  bool               // read or published by the update that made this
	findings []signpost.Finding // about the definition as last read
	next     *server.Service    // good, but not published: another service has its base path; usually nil
	current  *server.Service    // published; nil if it was never good
}

// rejected reports whether the definition as last read is not the published one.
func (s *served) rejected() bool { return slices.ContainsFunc(s.findings, isError) }

// Loaded is the result of reading all definitions.
type Loaded struct {
	Files    []*definition.File // new or changed
	Findings []signpost.Finding // of these, by file and position
	Broken   bool               // one of these is local and has an error
	Failures []Failure

	changed   []*served // those in Files, and those that can now be published
	withdrawn []*served
}

// Failure is that of a source that cannot be read. A remote source may recover.
type Failure struct {
	Err    error
	Remote bool

	source source.Source
}

// update reads the definitions that have changed and publishes all services in one step.
func (p *publisher) update() Loaded {
	var out Loaded
	documents, changed := make([][]source.Document, len(p.Sources)), false
	for i, s := range p.Sources {
		found, news, err := s.Read()
		documents[i], changed = found, changed || news
		if err != nil {
			out.Failures = append(out.Failures, Failure{err, isRemote(s), s})
		}
	}
	if changed {
		p.publish(documents, &out)
	}
	p.metrics.healthy(len(out.Failures) == 0 && !slices.ContainsFunc(p.served, (*served).rejected))
	return out
}

func isRemote(s source.Source) bool {
	_, remote := s.(*source.Remote)
	return remote
}

// publish prepares the documents of each source that have changed, decides which of them are good, and publishes.
func (p *publisher) publish(documents [][]source.Document, out *Loaded) {
	known := make(map[string]served, len(p.served)) // copies, since results of earlier updates refer to the originals
	for _, s := range p.served {
		known[s.id] = *s
	}
	var all, read []*served
	var work []source.Document // that read is about
	seen := make(map[string]bool)
	for i, from := range p.Sources {
		for _, d := range documents[i] {
			id := d.ID()
			if seen[id] {
				continue // a file can be named by itself and by its directory
			}
			seen[id] = true
			s, found := known[id]
			s.changed = !found || s.sum != d.Sum
			s.id, s.name, s.source, s.sum = id, d.Name, from, d.Sum
			if s.changed {
				work, read = append(work, d), append(read, &s)
			}
			all = append(all, &s)
		}
	}
	out.withdrawn = slices.DeleteFunc(slices.Clone(p.served), func(s *served) bool { return seen[s.id] })
	out.Files = p.prepare(work, read)
	if len(known) == 0 && len(out.Files) > 1 {
		lintTogether(read, out.Files)
	}
	if err := p.handler.Publish(accept(all)...); err != nil { // a bug, since each was published on trial: nothing changes for anybody
		out.Failures = append(out.Failures, Failure{Err: fmt.Errorf("publish: %w", err)})
	}
	p.served = all
	p.metrics.definitions(all)
	for _, s := range all {
		if s.changed {
			out.Broken = out.Broken || s.rejected() && !isRemote(s.source)
			out.changed = append(out.changed, s)
			out.Findings = append(out.Findings, s.findings...)
		}
	}
}

// lintTogether replaces the findings of good definitions that are read for the first time with those that they have
// together. Later, when one of many changes, only its own findings are reported; use signpost lint for the others.
func lintTogether(read []*served, files []*definition.File) {
	together := make(map[string][]signpost.Finding)
	for _, f := range definition.Lint(files...) {
		together[f.File] = append(together[f.File], f)
	}
	for _, s := range read {
		if s.next != nil {
			s.findings = together[s.name]
		}
	}
}

// accept accepts good definitions and returns all services to publish. Of several that want a base path, the one that is
// served there keeps it, even if its definition has become bad since; otherwise it goes to the first. The others get a
// finding, unless they have it from lintTogether, and are tried again at every change.
func accept(all []*served) (services []server.Service) {
	owners := make(map[string]*served)
	for _, s := range all {
		if s.current != nil {
			owners[s.current.BasePath] = s
		}
	}
	for moved := true; moved; { // one that moves away makes room for another
		moved = false
		for _, s := range all {
			if s.next == nil || owners[s.next.BasePath] != nil && owners[s.next.BasePath] != s {
				continue
			}
			if s.current != nil {
				delete(owners, s.current.BasePath)
			}
			s.current, s.next = s.next, nil
			s.findings = slices.DeleteFunc(slices.Clone(s.findings), isError) // of a clash that is over
			owners[s.current.BasePath] = s
			s.changed, moved = true, true
		}
	}
	for _, s := range all {
		if s.next != nil && !s.rejected() {
			s.findings = append([]signpost.Finding{{
				Rule: "base-path", Severity: signpost.SeverityError, File: s.name, Line: 1, Column: 1,
				Message: fmt.Sprintf("base_path %q is already used by %s", s.next.BasePath, owners[s.next.BasePath].name),
				Hint:    "give each service a base_path of its own",
			}}, s.findings...)
		}
		if s.current != nil {
			services = append(services, *s.current)
		}
	}
	return services
}

// restore loads definitions of remote sources from the cache if there are none, or one of them is bad. It reports whether
// there were any.
func (p *publisher) restore() bool {
	restored := false
	for _, remote := range p.remotes() {
		bad := func(s *served) bool { return s.source == remote && s.current == nil && s.next == nil }
		if p.serves(remote) && !slices.ContainsFunc(p.served, bad) {
			continue
		}
		found, err := remote.Restore()
		if err != nil {
			p.Log.Error("cached definitions cannot be read", "source", remote.Name(), "error", err)
		}
		if found {
			p.Log.Warn("source is down or bad: using its cached definitions", "source", remote.Name())
			restored = true
		}
	}
	return restored
}

// serves reports whether anything from a source is published.
func (p *publisher) serves(from source.Source) bool {
	return slices.ContainsFunc(p.served, func(s *served) bool { return s.source == from && s.current != nil })
}

// remotes returns the remote sources.
func (p *publisher) remotes() []*source.Remote {
	var all []*source.Remote
	for _, s := range p.Sources {
		if remote, ok := s.(*source.Remote); ok {
			all = append(all, remote)
		}
	}
	return all
}

// cacheDefinitions caches the definitions of remote sources for the next start, if one has changed and all are good. A
// failure is logged once, and retried whenever the sources are looked at.
func (p *publisher) cacheDefinitions(changed []*served) {
	for _, remote := range p.remotes() {
		of := func(s *served) bool { return s.source == remote }
		failed := p.uncached[remote]
		due := slices.ContainsFunc(changed, of) || failed != ""
		if !due || slices.ContainsFunc(p.served, func(s *served) bool { return of(s) && s.rejected() }) {
			continue
		}
		err := remote.Keep()
		delete(p.uncached, remote)
		switch {
		case err != nil:
			p.uncached[remote] = err.Error()
			if err.Error() != failed {
				p.Log.Error("definitions are not cached for the next start", "source", remote.Name(), "error", err)
			}
		case failed != "":
			p.Log.Info("definitions are cached again", "source", remote.Name())
		}
	}
}

// reload is update for a running server: the result is logged. If the reload was demanded, it is logged even if nothing
// has changed; remote sources get a line of their own when they have responded.
func (p *publisher) reload(demanded bool) {
	out := p.update()
	if len(out.changed) > 0 {
		paceServer()
	}
	LogFindings(p.Log, out.Findings)
	p.logResult(out)
	if !demanded {
		return
	}
	rejected := 0
	for _, s := range p.served {
		if s.rejected() {
			rejected++
		}
	}
	p.Log.Info("reloaded on demand", "definitions", len(p.served), "changed", len(out.changed), "removed", len(out.withdrawn),
		"rejected", rejected, "unreadable_sources", len(out.Failures))
}
