package cli

import (
	"os"
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

// newGitLab converts findings to a Code Quality report, which GitLab shows in merge requests. GitLab only finds paths
// that are relative to the root of the repository.
func newGitLab(findings []signpost.Finding) []gitlabIssue {
	issues := []gitlabIssue{}
	root := repositoryRoot()
	prints := fingerprints(findings, root)
	for i, f := range findings {
		description, severity := f.Message, "minor"
		if f.Hint != "" {
			description += ": " + f.Hint
		}
		if f.Severity == signpost.SeverityError {
			severity = "major"
		}
		issues = append(issues, gitlabIssue{description, f.Rule, prints[i], severity,
			gitlabLocation{seenFrom(f.File, root), gitlabLines{f.Line}}})
	}
	return issues
}

// repositoryRoot returns the root of the git repository that the working directory is in or, without one, the working
// directory itself.
func repositoryRoot() string {
	here, err := os.Getwd()
	if err != nil {
		return "."
	}
	for dir := here; ; dir = filepath.Dir(dir) {
		if _, err := os.Stat(filepath.Join(dir, ".git")); err == nil { // a directory, or a file in a worktree
			return dir
		}
		if dir == filepath.Dir(dir) {
			return here
		}
	}
}
