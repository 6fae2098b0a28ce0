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
	"time"

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

	read     [][]source.Document // what each source had
	served   []*served
	failures map[string]bool // failures that were already logged
	uncached map[*source.Remote]uncached
	revision atomic.Value // a string: the revision of everything published
}

// served is a definition, as last read and as last good. It keeps neither the text nor the parse tree.
type served struct {
	id     string // of the document
	name   string
	source source.Source
	sum    source.Sum

	findings []signpost.Finding // about the definition as last read
	clash    *signpost.Finding  // a clash with another service that keeps it from being published
	next     *server.Service    // not yet published; nil if it has an error
	current  *server.Service    // published; nil if it was never good
	rejected bool               // the definition as last read is not the published one
}

// all returns all findings of the definition.
func (s *served) all() []signpost.Finding {
	if s.clash == nil {
		return s.findings
	}
	return append(slices.Clone(s.findings), *s.clash)
}

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
	changed := false
	if p.read == nil {
		p.read = make([][]source.Document, len(p.sources))
	}
	for i, s := range p.sources {
		found, news, err := s.Read()
		if p.read[i], changed = slices.Clone(found), changed || news; err != nil {
			_, remote := s.(*source.Remote)
			out.Errors = append(out.Errors, SourceError{err, remote, s})
		}
	}
	if changed {
		if err := p.publishChanges(&out); err != nil {
			out.Errors = append(out.Errors, err) // a bug: nothing changes for anybody
		}
	}
	p.metrics.healthy(len(out.Errors) == 0 && !slices.ContainsFunc(p.served, func(s *served) bool { return s.rejected }))
	return out
}

// publishChanges prepares the changed definitions, decides which of them are good, and publishes.
func (p *publisher) publishChanges(out *Loaded) error {
	before := make(map[string]*served, len(p.served))
	for _, s := range p.served {
		before[s.id] = s
	}
	var next []*served
	var work []document
	var read []*served // what work is about
	seen := make(map[string]bool)
	for i, documents := range p.read {
		for _, d := range documents {
			id := d.ID()
			if seen[id] {
				continue // a file can be named by itself and by its directory
			}
			seen[id] = true
			s := &served{id: id}
			if known := before[id]; known != nil {
				*s = *known
			}
			s.name, s.source = d.Name, p.sources[i]
			if before[id] == nil || d.Sum != s.sum {
				s.sum = d.Sum
				work, read = append(work, document{d, s.source}), append(read, s)
			}
			next = append(next, s)
		}
	}
	files := make(map[string]*definition.File, len(work))
	for i, r := range p.preparer.all(work) {
		s := read[i]
		s.findings, s.next, s.rejected = r.findings, r.service, true
		files[s.name] = r.file
	}
	var clashes map[string]signpost.Finding
	if len(before) == 0 {
		clashes = lintTogether(read, files)
	}
	services, accepted := accept(next, clashes)
	if err := p.handler.Publish(services...); err != nil {
		return fmt.Errorf("publish: %w", err)
	}
	p.revision.Store(revisionOf(services))
	p.served = next
	for i := range p.read { // the text is not needed after parsing
		for j := range p.read[i] {
			p.read[i][j].Text = nil
		}
	}
	out.compare(before, next, files, accepted)
	p.metrics.definitions(next)
	return nil
}

// lintTogether replaces the findings of definitions that are read for the first time with those that they have
// together. Later, when one of many changes, only its own findings are reported; use signpost lint for the others. It
// returns the errors about base paths that several want, by file.
func lintTogether(read []*served, files map[string]*definition.File) (clashes map[string]signpost.Finding) {
	var all []*definition.File
	byName := make(map[string]*served, len(read))
	for _, s := range read {
		if files[s.name] != nil {
			all = append(all, files[s.name])
		}
		byName[s.name] = s
	}
	own := make(map[*served]bool)
	clashes = make(map[string]signpost.Finding)
	for _, f := range definition.Lint(all...) {
		s := byName[f.File]
		if isError(f) && f.Rule == "base-path" {
			clashes[f.File] = f
		}
		if s == nil || isError(f) { // its own errors are kept, and accept reports the rest
			continue
		}
		if !own[s] {
			own[s] = true
			s.findings = slices.DeleteFunc(slices.Clone(s.findings), func(f signpost.Finding) bool { return !isError(f) })
		}
		s.findings = append(s.findings, f)
	}
	return clashes
}

// accept accepts good definitions, and returns all services to publish and the newly accepted ones. Of several that want
// a base path, the one that is served there keeps it, even if its definition has become bad since; otherwise it goes to
// the first. The others get a finding, one of clashes if there is any, and are tried again at every change.
func accept(next []*served, clashes map[string]signpost.Finding) (services []server.Service, accepted map[*served]bool) {
	accepted = make(map[*served]bool)
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
			accepted[s], moved = true, true
		}
	}
	for _, s := range next {
		if s.next != nil {
			finding, ok := clashes[s.name]
			if !ok {
				finding = signpost.Finding{
					Rule: "base-path", Severity: signpost.SeverityError, File: s.name, Line: 1, Column: 1,
					Message: fmt.Sprintf("base_path %q is already used by %s", s.next.BasePath, owners[s.next.BasePath].name),
					Hint:    "give each service a base_path of its own",
				}
			}
			s.clash = &finding
		}
		if s.current != nil {
			services = append(services, *s.current)
		}
	}
	return services, accepted
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

// compare fills in what has changed.
func (out *Loaded) compare(before map[string]*served, next []*served, files map[string]*definition.File, accepted map[*served]bool) {
	present := make(map[string]bool)
	for _, s := range next {
		present[s.id] = true
		file, read := files[s.name]
		if file != nil {
			out.Files = append(out.Files, file)
		}
		if !read && !accepted[s] {
			continue
		}
		out.changed = append(out.changed, s)
		out.Findings = append(out.Findings, s.all()...)
		_, remote := s.source.(*source.Remote)
		out.Broken = out.Broken || s.rejected && !remote
	}
	for _, id := range slices.Sorted(maps.Keys(before)) {
		if !present[id] {
			out.withdrawn = append(out.withdrawn, before[id])
		}
	}
	slices.SortStableFunc(out.Findings, func(a, b signpost.Finding) int {
		return cmp.Or(cmp.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column))
	})
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

// cacheRetry is how long to wait before writing to the cache again after a failure. Encoding a large artifact takes a
// while.
const cacheRetry = 2 * time.Second

// uncached records why the definitions of a source are not in the cache, and when that was last tried.
type uncached struct {
	message string
	tried   time.Time
}

// cacheDefinitions caches the definitions of remote sources for the next start, if one has changed and all are good. A
// failure is logged once and retried by later calls.
func (p *publisher) cacheDefinitions(changed []*served) {
	for _, remote := range p.remotes() {
		of := func(s *served) bool { return s.source == remote }
		failed := p.uncached[remote]
		due := slices.ContainsFunc(changed, of) || failed.message != "" && time.Since(failed.tried) >= cacheRetry
		if !due || slices.ContainsFunc(p.served, func(s *served) bool { return of(s) && s.rejected }) {
			continue
		}
		err := remote.Keep()
		switch {
		case err == nil && failed.message != "":
			p.log.Info("definitions are cached again", "source", remote.Name())
		case err != nil && err.Error() != failed.message:
			p.log.Error("definitions are not cached for the next start", "source", remote.Name(), "error", err)
		}
		delete(p.uncached, remote)
		if err != nil {
			p.uncached[remote] = uncached{err.Error(), time.Now()}
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
