package cli

import (
	"path/filepath"

	"signpost"
)

// gitlabIssue is a finding in GitLab's Code Quality format.
type gitlabIssue struct {
	Description string         `json:"description"`
	CheckName   string         `json:"check_name"`
	Fingerprint string         `json:"fingerprint"`
	Severity    string         `json:"severity"`
	Location    gitlabLocation `json:"location"`
}

type gitlabLocation struct {
	Path  string      `json:"path"`
	Lines gitlabLines `json:"lines"`
}

type gitlabLines struct {
	Begin int `json:"begin"`
}

// newGitLab converts findings to a Code Quality report, which GitLab shows in merge requests. Paths are relative to the
// working directory, which is the root of the repository in a job.
func newGitLab(findings []signpost.Finding) []gitlabIssue {
	issues := []gitlabIssue{}
	prints := fingerprints(findings, ".")
	for i, f := range findings {
		description, severity := f.Message, "minor"
		if f.Hint != "" {
			description += ": " + f.Hint
		}
		if f.Severity == signpost.SeverityError {
			severity = "major"
		}
		issues = append(issues, gitlabIssue{description, f.Rule, prints[i], severity,
			gitlabLocation{filepath.ToSlash(f.File), gitlabLines{f.Line}}})
	}
	return issues
}
