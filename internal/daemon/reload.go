package daemon

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"log/slog"
	"maps"
	"runtime/debug"
	"slices"
	"sync/atomic"
	"time"

	"signpost"
	"signpost/definition"
	"signpost/internal/source"
	"signpost/server"
)

// publisher keeps what a handler serves in step with the definitions that it comes from. A definition that
// is bad, or cannot be read, leaves the last good one of its service in place.
type publisher struct {
	handler *server.Handler
	log     *slog.Logger
	metrics *metrics
	memory  *memory // told when something was loaded; may be nil
	sources []source.Source
	preparer

	read     [][]source.Document // what each source had
	served   []*served
	failures map[string]bool // what went wrong and was logged already
	unkept   map[source.Remote]unkept
	parsed   int          // bytes, since memory was last given back
	revision atomic.Value // the revision of all that is published, a string
}

// served is a definition, as it was last read and as it was last good. It keeps neither the text nor what was parsed.
type served struct {
	id     string // of the document
	name   string
	source source.Source
	sum    source.Sum

	findings []signpost.Finding // about the definition as it was last read
	clash    *signpost.Finding  // with another service, if that is what keeps it from being published
	next     *server.Service    // what it says while that is not published; nil if it has an error
	current  *server.Service    // what is published; nil if it never was good
	rejected bool               // the definition, as it was last read, is not what is published
}

// all returns everything that is wrong with the definition.
func (s *served) all() []signpost.Finding {
	if s.clash == nil {
		return s.findings
	}
	return append(slices.Clone(s.findings), *s.clash)
}

// Loaded is the result of reading all definitions.
type Loaded struct {
	Files    []*definition.File // those that were read for the first time, or have changed
	Findings []signpost.Finding // of these, by file and place
	Broken   bool               // one of these is on this machine and has an error
	Errors   []error            // of sources that cannot be read, mostly a SourceError

	changed   []*served // what Files are about, and what became free to be published
	withdrawn []*served
}

// document is a document with the source that it comes from.
type document struct {
	source.Document
	source source.Source
}

// update reads the definitions that have changed and publishes all services anew in one step.
func (p *publisher) update() Loaded {
	var out Loaded
	changed := false
	if p.read == nil {
		p.read = make([][]source.Document, len(p.sources))
	}
	for i, s := range p.sources {
		found, news, err := s.Read()
		if p.read[i], changed = slices.Clone(found), changed || news; err != nil {
			_, remote := s.(source.Remote)
			out.Errors = append(out.Errors, SourceError{err, remote, s})
		}
	}
	if changed {
		if err := p.publishChanges(&out); err != nil {
			out.Errors = append(out.Errors, err) // a defect: nothing has changed for anybody
		}
	}
	p.metrics.healthy(len(out.Errors) == 0 && !slices.ContainsFunc(p.served, func(s *served) bool { return s.rejected }))
	return out
}

// publishChanges prepares the definitions that are not as they were, decides which of them are good, and publishes.
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
	defer collectOften()()
	files := make(map[string]*definition.File, len(work))
	bytes := 0
	for i, r := range p.preparer.all(work) {
		s := read[i]
		s.findings, s.next, s.clash, s.rejected = r.findings, r.service, nil, true
		files[s.name] = r.file
		bytes += len(work[i].Text)
	}
	if len(before) == 0 {
		lintTogether(read, files)
	}
	settleBasePaths(next, files)
	services, accepted := accept(next)
	if err := p.handler.Publish(services...); err != nil {
		return fmt.Errorf("publish: %w", err)
	}
	p.revision.Store(revisionOf(services))
	p.served = next
	for i := range p.read { // what is parsed needs no text
		for j := range p.read[i] {
			p.read[i][j].Text = nil
		}
	}
	out.compare(before, next, files, accepted)
	p.metrics.definitions(next)
	p.parsed += bytes
	p.memory.changed()
	return nil
}

// loadGCPercent is how far the heap may grow between collections while definitions are parsed. What is kept lies between
// what is thrown away; collecting more often than usual leaves fewer holes, at no cost in time that shows.
const loadGCPercent = 40

// collectOften makes the collector run more often until the function that it returns is called.
func collectOften() (usual func()) {
	percent := debug.SetGCPercent(loadGCPercent)
	if percent >= 0 && percent < loadGCPercent {
		debug.SetGCPercent(percent)
	}
	return func() { debug.SetGCPercent(percent) }
}

// release gives the memory that parsing took back to the system, if that was much. The files that were parsed must be
// out of use by then.
func (p *publisher) release() {
	if p.parsed >= releaseBytes {
		debug.FreeOSMemory()
	}
	p.parsed = 0
}

// releaseBytes is how much text must have been parsed for its memory to be given back to the system at once, rather
// than when the collector gets to it. Doing so takes about as long as parsing a megabyte.
const releaseBytes = 1 << 20

// lintTogether replaces the findings of definitions that are read for the first time by those that they have together.
// Later, when one of many has changed, only its own are looked for: signpost lint is the place for the others.
func lintTogether(read []*served, files map[string]*definition.File) {
	var all []*definition.File
	byName := make(map[string]*served, len(read))
	for _, s := range read {
		if files[s.name] != nil {
			all = append(all, files[s.name])
		}
		byName[s.name] = s
	}
	own := make(map[*served]bool)
	for _, f := range definition.Lint(all...) {
		s := byName[f.File]
		if s == nil || f.Severity == signpost.SeverityError { // those it has by itself, or settleBasePaths reports them
			continue
		}
		if !own[s] {
			own[s] = true
			s.findings = slices.DeleteFunc(slices.Clone(s.findings), func(f signpost.Finding) bool { return f.Severity != signpost.SeverityError })
		}
		s.findings = append(s.findings, f)
	}
}

// settleBasePaths decides who gets a base path that several definitions want: the one that is served there already,
// even if its definition has become bad since, and otherwise the first.
func settleBasePaths(next []*served, files map[string]*definition.File) {
	clashes := make(map[*served]*served)
	for range next { // a round that finds none is the last
		owners := make(map[string]*served)
		var staying, moving []*served
		for _, s := range next {
			wants := s.next != nil && clashes[s] == nil
			switch {
			case !wants && s.current != nil:
				owners[s.current.BasePath] = s
			case wants && s.current != nil && s.current.BasePath == s.next.BasePath:
				staying = append(staying, s)
			case wants:
				moving = append(moving, s)
			}
		}
		found := false
		for _, s := range append(staying, moving...) {
			if owner := owners[s.next.BasePath]; owner != nil {
				clashes[s], found = owner, true
			} else {
				owners[s.next.BasePath] = s
			}
		}
		if !found {
			break
		}
	}
	for _, s := range next {
		switch owner := clashes[s]; {
		case owner == nil:
			s.clash = nil
		case s.clash == nil:
			s.clash = clashFinding(s, owner, files[s.name])
		}
	}
}

// clashFinding is the finding of lint about two services with one base path, at its place in the file. The file of a
// definition that has not changed is not kept: then it is about the whole of it.
func clashFinding(s, owner *served, file *definition.File) *signpost.Finding {
	if file != nil {
		stand := definition.Parse(owner.name, fmt.Appendf(nil, "base_path: %q\n", s.next.BasePath))
		for _, f := range definition.Errors(stand, file) {
			if f.File == s.name && f.Rule == "base-path" {
				return &f
			}
		}
	}
	return &signpost.Finding{
		Rule: "base-path", Severity: signpost.SeverityError, File: s.name, Line: 1, Column: 1,
		Message: fmt.Sprintf("base_path %q is already used by %s", s.next.BasePath, owner.name), Hint: "give each service a base_path of its own",
	}
}

// accept takes over what is good, and returns all that is to be published, with those that are new.
func accept(next []*served) (services []server.Service, accepted map[*served]bool) {
	accepted = make(map[*served]bool)
	for _, s := range next {
		if s.next != nil && s.clash == nil {
			s.current, s.next, s.rejected = s.next, nil, false
			accepted[s] = true
		}
		if s.current != nil {
			services = append(services, *s.current)
		}
	}
	return services, accepted
}

// revisionOf identifies everything that is published: the revision of the manifest or, of several, a hash of
// theirs. It is the same on every replica.
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

// compare fills in what is different from before.
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
		_, remote := s.source.(source.Remote)
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

// restore takes the definitions of remote sources, where there is no good one, from what an earlier run has kept.
// It reports whether there were any.
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

// serves reports whether something of a source is published.
func (p *publisher) serves(from source.Source) bool {
	return slices.ContainsFunc(p.served, func(s *served) bool { return s.source == from && s.current != nil })
}

// remotes returns the sources that are on other machines.
func (p *publisher) remotes() []source.Remote {
	var all []source.Remote
	for _, s := range p.sources {
		if remote, ok := s.(source.Remote); ok {
			all = append(all, remote)
		}
	}
	return all
}

// keepRetry is how long a cache that could not be written is left alone. Encoding a large artifact takes a while, and a
// disk that is full stays full for longer.
const keepRetry = 10 * time.Second

// unkept is why the definitions of a source are not in the cache, and when that was last tried.
type unkept struct {
	message string
	tried   time.Time
}

// keep caches the definitions of remote sources for the next start, where one has changed and all are good. If that
// fails, it is logged once and tried again by later calls.
func (p *publisher) keep(changed []*served) {
	for _, remote := range p.remotes() {
		of := func(s *served) bool { return s.source == remote }
		failed := p.unkept[remote]
		due := slices.ContainsFunc(changed, of) || failed.message != "" && time.Since(failed.tried) >= keepRetry
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
		delete(p.unkept, remote)
		if err != nil {
			p.unkept[remote] = unkept{err.Error(), time.Now()}
		}
	}
}

// reload is update for a server that is running: the result is logged. If somebody demanded it, that is so even if
// nothing has changed.
func (p *publisher) reload(ctx context.Context, demanded bool) {
	defer p.release()
	out := p.update()
	LogFindings(ctx, p.log, out.Findings)
	p.logResult(out)
	if demanded {
		rejected := 0
		for _, s := range p.served {
			if s.rejected {
				rejected++
			}
		}
		p.log.Info("reloaded on demand", "definitions", len(p.served), "changed", len(out.changed), "withdrawn", len(out.withdrawn),
			"rejected", rejected, "unreadable_sources", len(out.Errors), "revision", p.revision.Load())
	}
}
