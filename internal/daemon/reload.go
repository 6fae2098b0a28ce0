package daemon

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"sync/atomic"

	"signpost"
	"signpost/definition"
	"signpost/internal/source"
	"signpost/server"
)

// publisher keeps a handler in sync with the definitions. A definition that is bad or cannot be read leaves the last
// good one of its service in place.
type publisher struct {
	handler *server.Handler
	log     *slog.Logger
	metrics *metrics
	sources []source.Source
	preparer

	served   []*served
	failures map[string]bool           // failures that were already logged
	uncached map[*source.Remote]string // sources whose definitions are not in the cache, and why
	revision atomic.Value              // a string: the revision of everything published
}

// served is a definition, as last read and as last good. It keeps neither the text nor the parse tree.
type served struct {
	id     string // of the document
	name   string
	source source.Source
	sum    source.Sum

	findings []signpost.Finding // about the definition as last read
	clash    []signpost.Finding // a clash with another service that keeps it from being published, or none
	next     *server.Service    // not yet published; nil if it has an error
	current  *server.Service    // published; nil if it was never good
	rejected bool               // the definition as last read is not the published one
}

// all returns all findings of the definition.
func (s *served) all() []signpost.Finding { return slices.Concat(s.findings, s.clash) }

// Loaded is the result of reading all definitions.
type Loaded struct {
	Files    []*definition.File // new or changed
	Findings []signpost.Finding // of these, by file and position
	Broken   bool               // one of these is local and has an error
	Errors   []error            // of sources that cannot be read; usually a SourceError

	changed   []*served // those in Files, and those that can now be published
	withdrawn []*served
}

// document is a document and its source.
type document struct {
	source.Document
	source source.Source
}

// update reads the definitions that have changed and publishes all services in one step.
func (p *publisher) update() Loaded {
	var out Loaded
	var documents []document
	changed := false
	for _, s := range p.sources {
		found, news, err := s.Read()
		changed = changed || news
		for _, d := range found {
			documents = append(documents, document{d, s})
		}
		if err != nil {
			_, remote := s.(*source.Remote)
			out.Errors = append(out.Errors, SourceError{err, remote, s})
		}
	}
	if changed {
		if err := p.publishChanges(documents, &out); err != nil {
			out.Errors = append(out.Errors, err) // a bug: nothing changes for anybody
		}
	}
	p.metrics.healthy(len(out.Errors) == 0 && !slices.ContainsFunc(p.served, func(s *served) bool { return s.rejected }))
	return out
}

// publishChanges prepares the changed definitions, decides which of them are good, and publishes.
func (p *publisher) publishChanges(documents []document, out *Loaded) error {
	before := make(map[string]*served, len(p.served))
	for _, s := range p.served {
		before[s.id] = s
	}
	var next, read []*served
	var work []source.Document // that read is about
	seen := make(map[string]bool)
	for _, d := range documents {
		id := d.ID()
		if seen[id] {
			continue // a file can be named by itself and by its directory
		}
		seen[id] = true
		s := &served{id: id}
		known := before[id]
		if known != nil {
			*s = *known
		}
		s.name, s.source, s.sum = d.Name, d.source, d.Sum
		if known == nil || known.sum != d.Sum {
			work, read = append(work, d.Document), append(read, s)
		}
		next = append(next, s)
	}
	changed := make(map[*served]bool)
	for i, r := range p.preparer.all(work) {
		s := read[i]
		s.findings, s.next, s.rejected = r.findings, r.service, true
		changed[s] = true
		if r.file != nil {
			out.Files = append(out.Files, r.file)
		}
	}
	var together map[string][]signpost.Finding
	if len(before) == 0 {
		together = lintTogether(read, out.Files)
	}
	services := accept(next, together, changed)
	if err := p.handler.Publish(services...); err != nil {
		return fmt.Errorf("publish: %w", err)
	}
	p.revision.Store(revisionOf(services))
	p.served = next
	p.metrics.definitions(next)
	for _, s := range next {
		delete(before, s.id)
		if changed[s] {
			_, remote := s.source.(*source.Remote)
			out.Broken = out.Broken || s.rejected && !remote
			out.changed = append(out.changed, s)
			out.Findings = append(out.Findings, s.all()...)
		}
	}
	for _, id := range slices.Sorted(maps.Keys(before)) {
		out.withdrawn = append(out.withdrawn, before[id])
	}
	slices.SortStableFunc(out.Findings, func(a, b signpost.Finding) int {
		return cmp.Or(cmp.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column))
	})
	return nil
}

// lintTogether replaces the warnings of definitions that are read for the first time with those that they have together,
// and returns all of their findings together, by file. Later, when one of many changes, only its own findings are
// reported; use signpost lint for the others.
func lintTogether(read []*served, files []*definition.File) map[string][]signpost.Finding {
	together := make(map[string][]signpost.Finding)
	for _, f := range definition.Lint(files...) {
		together[f.File] = append(together[f.File], f)
	}
	for _, s := range read {
		warnings := slices.DeleteFunc(slices.Clone(together[s.name]), isError)
		s.findings = append(slices.DeleteFunc(slices.Clone(s.findings), isWarning), warnings...)
	}
	return together
}

// accept accepts good definitions, adds them to changed, and returns all services to publish. Of several that want a base
// path, the one that is served there keeps it, even if its definition has become bad since; otherwise it goes to the
// first. The others get a finding, that of together if there is any, and are tried again at every change.
func accept(next []*served, together map[string][]signpost.Finding, changed map[*served]bool) (services []server.Service) {
	owners := make(map[string]*served)
	for _, s := range next {
		s.clash = nil
		if s.current != nil {
			owners[s.current.BasePath] = s
		}
	}
	for moved := true; moved; { // one that moves away makes room for another
		moved = false
		for _, s := range next {
			if s.next == nil || owners[s.next.BasePath] != nil && owners[s.next.BasePath] != s {
				continue
			}
			if s.current != nil {
				delete(owners, s.current.BasePath)
			}
			s.current, s.next, s.rejected = s.next, nil, false
			owners[s.current.BasePath] = s
			changed[s], moved = true, true
		}
	}
	for _, s := range next {
		if s.next != nil {
			s.clash = []signpost.Finding{{
				Rule: "base-path", Severity: signpost.SeverityError, File: s.name, Line: 1, Column: 1,
				Message: fmt.Sprintf("base_path %q is already used by %s", s.next.BasePath, owners[s.next.BasePath].name),
				Hint:    "give each service a base_path of its own",
			}}
			for _, f := range together[s.name] { // with the line
				if isError(f) && f.Rule == "base-path" {
					s.clash[0] = f
				}
			}
		}
		if s.current != nil {
			services = append(services, *s.current)
		}
	}
	return services
}

// revisionOf identifies everything that is published: the revision of the manifest or, if there are several, a hash of
// them. It is the same on every replica.
func revisionOf(services []server.Service) string {
	hash, manifests, last := sha256.New(), 0, ""
	for _, s := range services {
		for _, version := range slices.Sorted(maps.Keys(s.Versions)) {
			last = s.Versions[version].Revision()
			fmt.Fprintf(hash, "%s %s %s\n", s.BasePath, version, last)
			manifests++
		}
	}
	if manifests <= 1 {
		return last
	}
	return hex.EncodeToString(hash.Sum(nil))[:len(last)]
}

// restore loads definitions of remote sources from the cache if there is no good one. It reports whether there were
// any.
func (p *publisher) restore() bool {
	restored := false
	for _, remote := range p.remotes() {
		if p.serves(remote) {
			continue
		}
		found, err := remote.Restore()
		if err != nil {
			p.log.Error("cached definitions cannot be read", "source", remote.Name(), "error", err)
		}
		if found {
			p.log.Warn("source is down or bad: using its cached definitions", "source", remote.Name())
		}
		restored = restored || found
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
	for _, s := range p.sources {
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
		if !due || slices.ContainsFunc(p.served, func(s *served) bool { return of(s) && s.rejected }) {
			continue
		}
		err := remote.Keep()
		delete(p.uncached, remote)
		switch {
		case err != nil:
			p.uncached[remote] = err.Error()
			if err.Error() != failed {
				p.log.Error("definitions are not cached for the next start", "source", remote.Name(), "error", err)
			}
		case failed != "":
			p.log.Info("definitions are cached again", "source", remote.Name())
		}
	}
}

// reload is update for a running server: the result is logged. If the reload was demanded, it is logged even if nothing
// has changed; remote sources get a line of their own when they have responded.
func (p *publisher) reload(ctx context.Context, demanded bool) {
	p.discard = true
	out := p.update()
	LogFindings(ctx, p.log, out.Findings)
	p.logResult(out)
	if !demanded {
		return
	}
	rejected := 0
	for _, s := range p.served {
		if s.rejected {
			rejected++
		}
	}
	p.log.Info("reloaded on demand", "definitions", len(p.served), "changed", len(out.changed), "removed", len(out.withdrawn),
		"rejected", rejected, "unreadable_sources", len(out.Errors), "revision", p.revision.Load())
}
