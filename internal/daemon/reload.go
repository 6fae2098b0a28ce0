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

// publisher keeps what a handler serves in step with the definitions that it comes from. A definition that
// is bad, or cannot be read, leaves the last good one of its service in place.
type publisher struct {
	handler  *server.Handler
	log      *slog.Logger
	metrics  *metrics
	sources  []source.Source
	features []string // nil: those that each definition enables
	basePath string   // in place of the definition's own, if it is set

	served   []*servedDefinition
	failures map[string]bool // what went wrong and was said already
	revision atomic.Value    // the revision of all that is published, a string
}

// servedDefinition is a definition, as it was last read and as it was last good.
type servedDefinition struct {
	name    string
	source  source.Source
	sum     source.Sum
	file    *definition.File // as it was last read
	good    *definition.File // as it was last good; nil if it never was
	service server.Service   // of the good one
}

// waiting reports whether the definition, as it is now, has not been accepted.
func (s *servedDefinition) waiting() bool { return s.file != s.good }

// Loaded is the result of reading all definitions.
type Loaded struct {
	Files    []*definition.File // all, as they are now
	Findings []signpost.Finding // of those that have changed
	Broken   bool               // one of those that have changed is on this machine and has an error
	Errors   []error            // of sources that cannot be read, mostly a SourceError

	changed   []*servedDefinition // read for the first time, or not as they were
	withdrawn []*servedDefinition
}

// document is a document with the source that it comes from.
type document struct {
	source.Document
	source source.Source
}

// update reads every definition and, if something has changed, publishes all services anew in one step.
func (p *publisher) update() Loaded {
	var out Loaded
	var documents []document
	seen := make(map[string]bool) // a file can be named by itself and by its directory
	for _, s := range p.sources {
		found, err := s.Read()
		for _, d := range found {
			if id := d.ID(); !seen[id] {
				seen[id] = true
				documents = append(documents, document{d, s})
			}
		}
		if _, remote := s.(source.Remote); err != nil {
			out.Errors = append(out.Errors, SourceError{err, remote})
		}
	}
	before := make(map[string]*servedDefinition, len(p.served))
	for _, s := range p.served {
		before[s.name] = s
	}
	next, news := p.parse(documents, before)
	if news || len(next) != len(before) {
		findings, refused := review(next)
		if err := p.publish(next, refused); err != nil {
			out.Errors = append(out.Errors, err) // a defect: nothing has changed for anybody
			return out
		}
		out.compare(before, next, findings)
		p.served = next
		p.metrics.definitions(next, findings)
	}
	p.metrics.healthy(len(out.Errors) == 0 && !slices.ContainsFunc(next, (*servedDefinition).waiting))
	return out
}

// parse returns the definitions of the documents, and whether one of them is not as it was before.
func (p *publisher) parse(documents []document, before map[string]*servedDefinition) (next []*servedDefinition, news bool) {
	for _, d := range documents {
		s := &servedDefinition{name: d.Name}
		if known := before[d.Name]; known != nil {
			*s = *known
		}
		s.source = d.source
		if s.file == nil || d.Sum != s.sum {
			news = true
			s.sum, s.file = d.Sum, definition.Parse(d.Name, d.Text)
			if p.basePath != "" {
				s.file.BasePath = p.basePath
			}
		}
		next = append(next, s)
	}
	return next, news
}

// review returns the findings of definitions that are to be served together, by file and place, and the names
// of those that are refused. Where two want the same base path, it is the one that is served there already that
// gets it, even if its definition has become bad since.
func review(next []*servedDefinition) (findings []signpost.Finding, refused map[string]bool) {
	refused = make(map[string]bool)
	for _, s := range next {
		own := definition.Lint(s.file)
		refused[s.name] = hasErrors(own)
		findings = append(findings, own...)
	}
	for range next { // a round that refuses none is the last
		var settled, wanted []*definition.File
		for _, s := range next {
			if s.waiting() && !refused[s.name] {
				wanted = append(wanted, s.file)
			} else if s.good != nil {
				settled = append(settled, s.good)
			}
		}
		clashes := definition.Errors(append(settled, wanted...)...)
		if len(clashes) == 0 {
			break
		}
		for _, f := range clashes {
			refused[f.File] = true
		}
		findings = append(findings, clashes...)
	}
	slices.SortStableFunc(findings, func(a, b signpost.Finding) int {
		return cmp.Or(cmp.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column))
	})
	return findings, refused
}

// publish compiles the definitions that are accepted and hands all services to the handler.
func (p *publisher) publish(next []*servedDefinition, refused map[string]bool) error {
	var services []server.Service
	for _, s := range next {
		if s.waiting() && !refused[s.name] {
			versions, err := s.file.Compile(source.KnownFeatures(s.file, p.features))
			if err != nil {
				return fmt.Errorf("compile definition %q: %w", s.name, err)
			}
			s.good, s.service = s.file, server.Service{BasePath: s.file.BasePath, Versions: versions}
		}
		if s.good != nil {
			services = append(services, s.service)
		}
	}
	if err := p.handler.Publish(services...); err != nil {
		return fmt.Errorf("publish: %w", err)
	}
	p.revision.Store(revisionOf(services))
	return nil
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
func (out *Loaded) compare(before map[string]*servedDefinition, next []*servedDefinition, findings []signpost.Finding) {
	changed, present := make(map[string]bool), make(map[string]bool)
	for _, s := range next {
		present[s.name] = true
		if known := before[s.name]; known == nil || known.file != s.file || known.good != s.good {
			changed[s.name] = true
			out.changed = append(out.changed, s)
			_, remote := s.source.(source.Remote)
			out.Broken = out.Broken || s.waiting() && !remote
		}
		out.Files = append(out.Files, s.file)
	}
	for _, name := range slices.Sorted(maps.Keys(before)) {
		if !present[name] {
			out.withdrawn = append(out.withdrawn, before[name])
		}
	}
	for _, f := range findings {
		if changed[f.File] {
			out.Findings = append(out.Findings, f)
		}
	}
}

// restore takes the definitions of remote sources, where there is no good one, from what an earlier run has kept.
// It reports whether there were any.
func (p *publisher) restore() bool {
	restored := false
	for _, remote := range p.remotes() {
		if slices.ContainsFunc(p.served, func(s *servedDefinition) bool { return s.source == remote && s.good != nil }) {
			continue
		}
		found, err := remote.Restore()
		if err != nil {
			p.log.Error("what was kept of a definition cannot be read", "error", err)
		}
		if found {
			p.log.Warn("the source of a definition is down or bad: taking what was kept of it", "definition", remote.Name())
		}
		restored = restored || found
	}
	return restored
}

// files returns the definitions as they were last read.
func (p *publisher) files() []*definition.File {
	files := make([]*definition.File, len(p.served))
	for i, s := range p.served {
		files[i] = s.file
	}
	return files
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

// reload is update for a server that is running: all that it comes to is logged.
func (p *publisher) reload(ctx context.Context) {
	out := p.update()
	for _, f := range out.Findings {
		level := slog.LevelWarn
		if f.Severity == signpost.SeverityError {
			level = slog.LevelError
		}
		p.log.Log(ctx, level, f.Message, "definition", f.File, "line", f.Line, "column", f.Column, "rule", f.Rule, "hint", f.Hint)
	}
	p.logOutcome(out)
}

// logOutcome logs and counts what an update came to, but for the findings. What is good of definitions from
// addresses is kept.
func (p *publisher) logOutcome(out Loaded) {
	ok := true
	failures := make(map[string]bool)
	for _, err := range out.Errors {
		failures[err.Error()] = true
		if !p.failures[err.Error()] { // else it was said
			ok = false
			p.log.Error("source cannot be read: what was read before stays", "error", err)
		}
	}
	if len(failures) == 0 && len(p.failures) > 0 {
		p.log.Info("all sources can be read again")
	}
	p.failures = failures
	for _, s := range out.withdrawn {
		p.log.Info("withdrawn", "definition", s.name)
	}
	for _, s := range out.changed {
		if s.waiting() {
			ok = false
			p.log.Error("definition refused: the last good one stays", "definition", s.name)
			continue
		}
		args := []any{"definition", s.name, "base_path", s.service.BasePath}
		for _, version := range slices.Sorted(maps.Keys(s.service.Versions)) {
			args = append(args, version, s.service.Versions[version].Revision())
		}
		p.log.Info("published", args...)
	}
	p.keep(append(out.changed, out.withdrawn...))
	if !ok || len(out.changed)+len(out.withdrawn) > 0 {
		p.metrics.reloaded(ok)
	}
}

// keep keeps the definitions of remote sources for the next start, where one has changed and all are good.
func (p *publisher) keep(changed []*servedDefinition) {
	for _, remote := range p.remotes() {
		of := func(s *servedDefinition) bool { return s.source == remote }
		if !slices.ContainsFunc(changed, of) || slices.ContainsFunc(p.served, func(s *servedDefinition) bool { return of(s) && s.waiting() }) {
			continue
		}
		if err := remote.Keep(); err != nil {
			p.log.Error("definition is not kept for the next start", "definition", remote.Name(), "error", err)
		}
	}
}

// SourceError is the failure of a source. A remote one may come back.
type SourceError struct {
	error
	Remote bool
}

// Unwrap returns the failure itself.
func (e SourceError) Unwrap() error { return e.error }

func hasErrors(findings []signpost.Finding) bool { return count(findings, signpost.SeverityError) > 0 }

func count(findings []signpost.Finding, severity signpost.Severity) int {
	n := 0
	for _, f := range findings {
		if f.Severity == severity {
			n++
		}
	}
	return n
}
