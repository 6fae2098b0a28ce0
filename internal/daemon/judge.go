package daemon

import (
	"context"
	"regexp"
	"runtime/debug"
	"slices"

	"signpost"
	"signpost/internal/workspace"
)

// judge judges together what was published, after it was published, because that can take seconds. It runs until ctx is
// canceled.
func (d *Daemon) judge(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case files := <-d.unjudged:
			added, gone := d.judgeTogether(files)
			LogFindings(d.Log, added)
			for i, f := range gone {
				if i == MaxFindings {
					d.Log.Info("more findings are gone", "findings", len(gone)-i)
					break
				}
				d.Log.Info("finding is gone", "definition", f.File, "rule", f.Rule, "finding", f.Message)
			}
			debug.FreeOSMemory() // judging 2,000 services takes twice the memory of serving them
		}
	}
}

// identity is what a finding is recognised by after other lines of the files have changed.
type identity struct{ file, rule, path, message string }

var lineNumber = regexp.MustCompile(`:\d+\b`)

func identify(f signpost.Finding) identity {
	return identity{f.File, f.Rule, f.Path.String(), lineNumber.ReplaceAllString(f.Message, "")}
}

// judgeTogether returns the warnings that files did not have before, and those that are gone.
func (d *Daemon) judgeTogether(files []*workspace.File) (added, gone []signpost.Finding) {
	defer func() {
		if cause := recover(); cause != nil {
			d.Log.Error("definitions cannot be judged together: this is a bug in Signpost",
				"cause", cause, "stack", string(debug.Stack()))
		}
	}()
	var now []signpost.Finding
	for _, f := range workspace.FindingsTogether(files) {
		if !isError(f) { // two services with one base path: the one that is not served has an error of its own
			now = append(now, f)
		}
	}
	added, gone = without(now, d.warnings), without(d.warnings, now)
	d.warnings = now
	d.metrics.count(signpost.SeverityWarning, len(now))
	return added, gone
}

func without(findings, others []signpost.Finding) []signpost.Finding {
	skip := make(map[identity]bool, len(others))
	for _, f := range others {
		skip[identify(f)] = true
	}
	return slices.DeleteFunc(slices.Clone(findings), func(f signpost.Finding) bool { return skip[identify(f)] })
}
