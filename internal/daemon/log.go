package daemon

import (
	"cmp"
	"log/slog"
	"maps"
	"slices"
	"strings"

	"signpost"
	"signpost/internal/routes"
	"signpost/internal/workspace"
)

// MaxFindings is the maximum number of findings that a server shows at a time. Two thousand services can have a hundred
// thousand warnings; use signpost lint for these.
const MaxFindings = 100

// FirstFindings returns the findings to show, and the number of the others. If there are any, errors come first.
func FirstFindings(findings []signpost.Finding) (shown []signpost.Finding, more int) {
	if len(findings) <= MaxFindings {
		return findings, 0
	}
	// "error" is less than "warning".
	bySeverity := func(a, b signpost.Finding) int { return cmp.Compare(a.Severity, b.Severity) }
	shown = slices.SortedStableFunc(slices.Values(findings), bySeverity)
	return shown[:MaxFindings], len(findings) - MaxFindings
}

func isError(f signpost.Finding) bool { return f.Severity == signpost.SeverityError }

// LogFindings logs each finding on a line.
func LogFindings(log *slog.Logger, findings []signpost.Finding) {
	shown, more := FirstFindings(findings)
	for _, f := range shown {
		write := log.Warn
		if isError(f) {
			write = log.Error
		}
		args := []any{"definition", f.File, "line", f.Line, "column", f.Column, "rule", f.Rule}
		if f.Hint != "" {
			args = append(args, "hint", f.Hint)
		}
		write(f.Message, args...)
	}
	if more > 0 {
		log.Warn("more findings are not shown: signpost lint lists them", "findings", more)
	}
}

// logResult logs and counts the result of an update, except for the findings, and caches good definitions of remote
// sources.
func (d *Daemon) logResult(out Loaded) {
	readable := d.logFailures(out.Snapshot.Failures)
	touched := slices.Concat(out.changed, out.withdrawn)
	for _, remote := range d.remotes {
		of := func(s *followed) bool { return s.From == remote }
		if version := remote.Status().Version; version != "" && slices.ContainsFunc(touched, of) {
			d.Log.Info("source read", "source", remote.Name(), "version", version)
		}
	}
	d.logWithdrawn(out.withdrawn)
	good := d.logChanged(out.changed)
	d.cacheDefinitions(touched)
	if !readable || len(touched) > 0 {
		d.metrics.reloaded(readable && good)
	}
}

// logFailures logs the sources that cannot be read, once each, and reports whether no new one is among those that are
// to be served.
func (d *Daemon) logFailures(failures []workspace.Failure) (ok bool) {
	ok = true
	known := d.failures
	d.failures = make(map[string]bool)
	for _, failed := range failures {
		text := failed.Err.Error()
		d.failures[text] = true
		switch {
		case known[text]:
			continue
		case failed.Role == workspace.Registered:
			d.Log.Warn("registered source cannot be read: overlap with it may be missed", "error", text)
			continue
		case d.serves(failed.From):
			d.Log.Error("source cannot be read: still serving what was read before", "error", text)
		default:
			d.Log.Error("source cannot be read: nothing is served from it yet", "error", text)
		}
		ok = false
	}
	if len(failures) == 0 && len(known) > 0 {
		d.Log.Info("all sources can be read again")
	}
	return ok
}

// logUnanswered logs the remote sources that are down at the start, except for failures, and what is served instead of
// those that are bad. It reports whether there are any that are down.
func (d *Daemon) logUnanswered(failures []workspace.Failure) (isAnyDown bool) {
	unanswered := d.unanswered()
	for _, remote := range d.remotes {
		isDown := slices.Contains(unanswered, remote)
		hasFailed := slices.ContainsFunc(failures, func(f workspace.Failure) bool { return f.From == remote })
		isBad := slices.ContainsFunc(d.followed, func(s *followed) bool { return s.From == remote && s.bad() })
		isCached := remote.Status().Restored && d.serves(remote)
		switch {
		case isCached && (isDown || isBad):
			d.Log.Warn("source is down or bad: using its cached definitions", "source", remote.Name())
		case isDown && !hasFailed:
			d.Log.Warn("source has not answered yet: nothing is served from it", "source", remote.Name())
		}
	}
	return len(unanswered) > 0
}

func (d *Daemon) logWithdrawn(withdrawn []*followed) {
	paths := d.Routes()
	for _, s := range withdrawn {
		if s.current == nil {
			continue
		}
		var gone []string
		for _, version := range slices.Sorted(maps.Keys(s.current.Versions)) {
			if path := routes.Path(s.current.BasePath, version); !slices.Contains(paths, path) {
				gone = append(gone, path)
			}
		}
		if len(gone) == 0 { // a file has another name now
			d.Log.Info("definition removed: another one is served in its place",
				"definition", s.Name, "base_path", s.current.BasePath)
			continue
		}
		d.Log.Warn("definition removed: its manifests are no longer served", "definition", s.Name,
			"base_path", s.current.BasePath, "manifests", strings.Join(gone, ", "))
	}
}

func (d *Daemon) logChanged(changed []*followed) (ok bool) {
	ok = true
	for _, s := range changed {
		ok = ok && !s.bad()
		switch {
		case !s.bad():
			args := []any{"definition", s.Name, "base_path", s.current.BasePath}
			for _, version := range slices.Sorted(maps.Keys(s.current.Versions)) {
				args = append(args, version, s.current.Versions[version].Revision())
			}
			d.Log.Info("published", args...)
		case s.current != nil:
			d.Log.Error("definition rejected: still serving the last good one", "definition", s.Name)
		default:
			d.Log.Error("definition rejected: there is none to serve in its place", "definition", s.Name)
		}
	}
	return ok
}
