package daemon

import (
	"context"
	"regexp"
	"runtime/debug"

	"signpost"
	"signpost/internal/workspace"
)

// judge judges together what was published, after it was published, because that can take seconds. It runs until ctx is
// canceled.
func (p *publisher) judge(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case files := <-p.unjudged:
			added, gone := p.judgeTogether(files)
			LogFindings(p.Log, added)
			for i, f := range gone {
				if i == MaxFindings {
					p.Log.Info("more findings are gone", "findings", len(gone)-i)
					break
				}
				p.Log.Info("finding is gone", "definition", f.File, "rule", f.Rule, "finding", f.Message)
			}
			debug.FreeOSMemory() // judging 2,000 services takes twice what serving them does, and the system has use for it
		}
	}
}

// identity is what a finding is recognised by after other lines of the files have changed.
type identity struct{ file, rule, path, message string }

// lineNumber matches the line of another file in a message.
var lineNumber = regexp.MustCompile(`:\d+\b`)

func identify(f signpost.Finding) identity {
	return identity{f.File, f.Rule, f.Path.String(), lineNumber.ReplaceAllString(f.Message, "")}
}

// judgeTogether returns the findings that files have only together and did not have before, and those that are gone.
// Two services with one base path are not among them: the one that is not served has an error of its own.
func (p *publisher) judgeTogether(files []*workspace.File) (added, gone []signpost.Finding) {
	defer func() {
		if cause := recover(); cause != nil {
			p.Log.Error("definitions cannot be judged together: this is a bug in Signpost", "cause", cause, "stack", string(debug.Stack()))
		}
	}()
	alone, before, now := make(map[identity]bool), make(map[identity]bool), make(map[identity]bool)
	for _, file := range files {
		if file.Role != workspace.Judged {
			continue
		}
		for _, f := range file.Findings() {
			alone[identify(f)] = true
		}
	}
	for _, f := range p.together {
		before[identify(f)] = true
	}
	var together []signpost.Finding
	for _, f := range workspace.FindingsTogether(files) {
		id := identify(f)
		if isError(f) || alone[id] {
			continue
		}
		together = append(together, f)
		now[id] = true
		if !before[id] {
			added = append(added, f)
		}
	}
	for _, f := range p.together {
		if !now[identify(f)] {
			gone = append(gone, f)
		}
	}
	p.together = together
	p.metrics.warnTogether(len(together))
	return added, gone
}
