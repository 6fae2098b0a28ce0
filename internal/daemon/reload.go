package daemon

import (
	"fmt"
	"slices"

	"signpost"
	"signpost/internal/source"
	"signpost/internal/workspace"
	"signpost/server"
)

// followed is a definition, as last read and as last good. One that is bad or cannot be read leaves the last good one
// in place.
type followed struct {
	*workspace.File // as last read

	changed  bool               // read or published by the last update
	findings []signpost.Finding // of a bad definition: those of the file, and what else keeps it from being published
	next     *service           // good, but not published: another service has its base path; usually nil
	current  *service           // published; nil if it was never good
}

// bad reports whether the definition as last read is not the published one.
func (s *followed) bad() bool { return len(s.findings) > 0 }

// Loaded is the result of reading all definitions.
type Loaded struct {
	Snapshot *workspace.Snapshot
	Findings []signpost.Finding // of bad definitions that are new or changed; at the start, all, by file and position
	Pending  bool               // a remote source has not answered yet, or is down

	changed   []*followed // those that were read, and those that can now be published
	withdrawn []*followed
}

// update reads the definitions that have changed and publishes all services in one step. Whoever gets a new manifest
// finds it in the metrics, and what was rejected with it at /readyz.
func (d *Daemon) update() Loaded {
	out := Loaded{Snapshot: d.workspace.Look()}
	changed := len(out.Snapshot.Changed)+len(out.Snapshot.Removed) > 0
	if changed {
		d.take(&out)
	}
	unhealthy := d.unhealthy(out.Snapshot.Failures)
	d.rejected.Store(&unhealthy)
	d.metrics.healthy(len(unhealthy) == 0)
	if changed {
		d.publish(out.Snapshot)
	}
	return out
}

func (d *Daemon) take(out *Loaded) {
	known := make(map[string]*followed, len(d.followed))
	for _, s := range d.followed {
		known[s.ID()] = s
	}
	var all []*followed
	for _, f := range out.Snapshot.Files {
		if f.Role != workspace.Judged {
			continue
		}
		s := known[f.ID()]
		if s == nil {
			s = new(followed)
		}
		delete(known, f.ID())
		s.changed = s.File != f
		if s.changed {
			read := f.Prepared.(prepared)
			s.File, s.findings, s.next = f, read.findings, read.service
		}
		all = append(all, s)
	}
	accept(all)
	for _, s := range all {
		if s.changed {
			out.changed = append(out.changed, s)
			out.Findings = append(out.Findings, s.findings...)
		}
	}
	for _, s := range d.followed {
		if known[s.ID()] != nil {
			out.withdrawn = append(out.withdrawn, s)
		}
	}
	d.followed = all
	d.metrics.definitions(all)
}

// unhealthy returns the names of sources and definitions that cannot be read, or are bad.
func (d *Daemon) unhealthy(failures []workspace.Failure) []string {
	var names []string
	for _, failed := range failures {
		if failed.Role == workspace.Judged {
			names = append(names, failed.From.Name())
		}
	}
	for _, remote := range d.unanswered() {
		if !slices.Contains(names, remote.Name()) {
			names = append(names, remote.Name())
		}
	}
	for _, s := range d.followed {
		if s.bad() {
			names = append(names, s.Name)
		}
	}
	return names
}

// publish publishes what is good, and leaves it to be judged together with what else is registered. A definition that
// has become bad is judged as it is still served.
func (d *Daemon) publish(s *workspace.Snapshot) {
	var services []server.Service
	var files []*workspace.File
	for _, s := range d.followed {
		if s.current != nil {
			services = append(services, s.current.Service)
			files = append(files, s.current.file)
		}
	}
	// An error would be a bug, since each was published on trial. Nothing changes then.
	if err := d.handler.Publish(services...); err != nil {
		d.Log.Error("publish", "error", err)
	}
	for _, f := range s.Files {
		if f.Role == workspace.Registered {
			files = append(files, f)
		}
	}
	select {
	case <-d.unjudged: // out of date
	default:
	}
	d.unjudged <- files
}

// accept accepts good definitions. Of several that want a base path, the one that is served there keeps it unless it
// gets another one, even if its definition has become bad since; otherwise it goes to the first. The others get a
// finding, and are tried again at every change.
func accept(all []*followed) {
	var owners map[string]*followed
	refused := make(map[*followed]bool)
	// All move at once, so that two can swap. One that is refused may be in the way of another.
	for settled := false; !settled; {
		settled = true
		owners = make(map[string]*followed, len(all))
		for _, s := range all {
			isStaying := s.next == nil || refused[s] || s.current != nil && s.next.BasePath == s.current.BasePath
			if s.current != nil && isStaying {
				owners[s.current.BasePath] = s
			}
		}
		for _, s := range all {
			if s.next == nil || refused[s] {
				continue
			}
			owner := owners[s.next.BasePath]
			if owner == nil {
				owners[s.next.BasePath] = s
			} else if owner != s {
				refused[s], settled = true, false
			}
		}
	}
	for _, s := range all {
		switch {
		case s.next == nil:
		case refused[s]:
			s.findings = []signpost.Finding{{
				Rule: "base-path", Severity: signpost.SeverityError, File: s.Name, Line: 1, Column: 1,
				Message: fmt.Sprintf("base_path %q is already used by %s", s.next.BasePath, owners[s.next.BasePath].Name),
				Hint:    "give each service a base_path of its own",
			}}
		default:
			s.current, s.next, s.findings, s.changed = s.next, nil, nil, true
		}
	}
}

// unanswered returns the remote sources of definitions that have not answered yet, or are down.
func (d *Daemon) unanswered() []*source.Remote {
	return slices.DeleteFunc(slices.Clone(d.remotes), func(r *source.Remote) bool {
		return r.Status().Answered || !slices.Contains(d.Sources, source.Source(r))
	})
}

func (d *Daemon) serves(from source.Source) bool {
	return slices.ContainsFunc(d.followed, func(s *followed) bool { return s.From == from && s.current != nil })
}

// cacheDefinitions caches the definitions of remote sources for the next start, if one has changed and all are good. A
// failure is logged once, and retried whenever the sources are looked at.
func (d *Daemon) cacheDefinitions(changed []*followed) {
	for _, remote := range d.remotes {
		of := func(s *followed) bool { return s.From == remote }
		failed := d.uncached[remote]
		due := slices.ContainsFunc(changed, of) || failed != ""
		if !due || slices.ContainsFunc(d.followed, func(s *followed) bool { return of(s) && s.bad() }) {
			continue
		}
		err := remote.Keep()
		delete(d.uncached, remote)
		switch {
		case err != nil:
			d.uncached[remote] = err.Error()
			if err.Error() != failed {
				d.Log.Error("definitions are not cached for the next start", "source", remote.Name(), "error", err)
			}
		case failed != "":
			d.Log.Info("definitions are cached again", "source", remote.Name())
		}
	}
}

// reload is update for a running server: the result is logged. If the reload was demanded, it is logged even if nothing
// has changed; remote sources get a line of their own when they have responded.
func (d *Daemon) reload(demanded bool) {
	out := d.update()
	if len(out.changed) > 0 {
		paceServer()
	}
	LogFindings(d.Log, out.Findings)
	d.logResult(out)
	if !demanded {
		return
	}
	rejected := 0
	for _, s := range d.followed {
		if s.bad() {
			rejected++
		}
	}
	d.Log.Info("reloaded on demand",
		"definitions", len(d.followed), "changed", len(out.changed), "removed", len(out.withdrawn),
		"rejected", rejected, "unreadable_sources", len(out.Snapshot.Failures))
}
