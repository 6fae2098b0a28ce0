package cli

import (
	"os"
	"path/filepath"

	"signpost"
)

// newGitLab converts findings to a Code Quality report, which GitLab shows in merge requests. GitLab only finds paths
// that are relative to the root of the repository.
func newGitLab(findings []signpost.Finding) []object {
	issues := []object{}
	root := repositoryRoot()
	for i, print := range fingerprints(findings, root) {
		f, severity := findings[i], "minor"
		if f.Severity == signpost.SeverityError {
			severity = "major"
		}
		issues = append(issues, object{
			"description": withHint(f), "check_name": f.Rule, "fingerprint": print, "severity": severity,
			"location": object{"path": seenFrom(f.File, root), "lines": object{"begin": f.Line}},
		})
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
