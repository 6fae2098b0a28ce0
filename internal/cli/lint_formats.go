package cli

import (
	"cmp"
	"io"
	"net/url"
	"path/filepath"
	"slices"
	"strings"

	"signpost"
	"signpost/definition"
	"signpost/internal/workspace"
)

// docsURL is the URL of the published docs directory, for links to rules: SARIF requires absolute URLs. The release
// sets it with -ldflags "-X signpost/internal/cli.docsURL=…". The default is a reserved name, so that it never leads to
// somebody else's pages; the help of each rule contains the whole text of docs/rules.md anyway.
var docsURL = "https://signpost.example/docs"

// object is a JSON object of a report.
type object map[string]any

// newSARIF converts findings to a log in SARIF 2.1.0, the format of code-scanning services.
func newSARIF(findings []signpost.Finding) object {
	var names []string
	var rules []object
	for _, r := range definition.Rules() {
		names = append(names, r.Name)
		text := ruleText(r.Name)
		rules = append(rules, object{
			"id":                   r.Name,
			"shortDescription":     object{"text": r.Summary},
			"help":                 object{"text": forTerminal(text), "markdown": text},
			"helpUri":              docsURL + "/rules.md#" + r.Name,
			"defaultConfiguration": object{"level": r.Severity}, // SARIF has the same names
		})
	}
	results := []object{}
	for i, print := range fingerprints(findings, ".") {
		f := findings[i]
		artifact := object{"uri": fileURI(f.File)}
		result := object{
			"ruleId": f.Rule, "ruleIndex": slices.Index(names, f.Rule), "level": f.Severity,
			"message": object{"text": withHint(f)},
			"locations": []object{{"physicalLocation": object{
				"artifactLocation": artifact,
				"region":           object{"startLine": f.Line, "startColumn": f.Column, "endColumn": f.Column + f.Width},
			}}},
			"partialFingerprints": object{"signpost/v1": print},
		}
		if f.Fix != nil {
			var replacements []object
			for _, e := range f.Fix.Edits {
				deleted := object{"startLine": e.Line, "startColumn": e.Column, "endLine": e.EndLine, "endColumn": e.EndColumn}
				replacements = append(replacements, object{
					"deletedRegion":   deleted,
					"insertedContent": object{"text": e.Text},
				})
			}
			result["fixes"] = []object{{
				"description":     object{"text": f.Fix.Message},
				"artifactChanges": []object{{"artifactLocation": artifact, "replacements": replacements}},
			}}
		}
		results = append(results, result)
	}
	return object{"$schema": "https://json.schemastore.org/sarif-2.1.0.json", "version": "2.1.0", "runs": []object{{
		"tool":       object{"driver": object{"name": "signpost", "version": buildVersion(), "rules": rules}},
		"columnKind": "unicodeCodePoints",
		"results":    results,
	}}}
}

// withHint returns the message of a finding and its hint as one text.
func withHint(f signpost.Finding) string {
	if f.Hint == "" {
		return f.Message
	}
	return f.Message + ": " + f.Hint
}

// fileURI returns a path as SARIF expects it: relative to the working directory, or a file URL.
func fileURI(path string) string {
	u := url.URL{Path: filepath.ToSlash(path)}
	if filepath.IsAbs(path) {
		u.Scheme = "file"
	}
	return u.String()
}

// newGitLab converts findings to a Code Quality report, which GitLab shows in merge requests. GitLab only finds paths
// that are relative to the root of the repository.
func newGitLab(findings []signpost.Finding) []object {
	issues := []object{}
	root := cmp.Or(workspace.RepositoryRoot("."), ".")
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

// printGitHub writes findings as workflow commands, which GitHub shows next to the lines of a pull request.
func printGitHub(w io.Writer, findings []signpost.Finding) {
	data := strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A") // GitHub decodes them again
	property := strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A", ":", "%3A", ",", "%2C")
	for _, f := range findings {
		message := strings.TrimSuffix(f.Message+"\n"+f.Hint, "\n")
		printf(w, "::%s file=%s,line=%d,col=%d,endColumn=%d,title=%s::%s\n",
			f.Severity, property.Replace(f.File), f.Line, f.Column, f.Column+f.Width, f.Rule, data.Replace(message))
	}
}
