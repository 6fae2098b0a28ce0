package cli

import (
	"net/url"
	"path/filepath"
	"slices"
	"strings"

	"signpost"
	"signpost/definition"
)

// sarif is a log of findings in SARIF 2.1.0, the format of code-scanning services.
type sarif struct {
	Schema  string     `json:"$schema"`
	Version string     `json:"version"`
	Runs    []sarifRun `json:"runs"`
}

type sarifRun struct {
	Tool       sarifTool     `json:"tool"`
	ColumnKind string        `json:"columnKind"`
	Results    []sarifResult `json:"results"`
}

type sarifTool struct {
	Driver sarifDriver `json:"driver"`
}

type sarifDriver struct {
	Name    string      `json:"name"`
	Version string      `json:"version"`
	Rules   []sarifRule `json:"rules"`
}

type sarifRule struct {
	ID            string      `json:"id"`
	Short         sarifText   `json:"shortDescription"`
	Full          sarifText   `json:"fullDescription"`
	Help          sarifHelp   `json:"help"`
	HelpURI       string      `json:"helpUri"`
	Configuration sarifConfig `json:"defaultConfiguration"`
}

type sarifConfig struct {
	Level signpost.Severity `json:"level"`
}

type sarifText struct {
	Text string `json:"text"`
}

type sarifHelp struct {
	Text     string `json:"text"`
	Markdown string `json:"markdown"`
}

// docsURL is the URL of the published docs directory, for links to rules: SARIF requires absolute URLs. The release sets
// it with -ldflags "-X signpost/internal/cli.docsURL=…". The default is a reserved name, so that it never leads to
// somebody else's pages; the help of each rule contains the whole text of docs/rules.md anyway.
var docsURL = "https://signpost.example/docs"

// sarifFix is a change that resolves a result.
type sarifFix struct {
	Description sarifText       `json:"description"`
	Changes     []sarifArtifact `json:"artifactChanges"`
}

type sarifArtifact struct {
	Location     sarifURI           `json:"artifactLocation"`
	Replacements []sarifReplacement `json:"replacements"`
}

type sarifURI struct {
	URI string `json:"uri"`
}

type sarifReplacement struct {
	Deleted  sarifRegion `json:"deletedRegion"`
	Inserted sarifText   `json:"insertedContent"`
}

type sarifRegion struct {
	StartLine   int `json:"startLine"`
	StartColumn int `json:"startColumn"`
	EndLine     int `json:"endLine"`
	EndColumn   int `json:"endColumn"`
}

// sarifFixes returns the fix of a finding, if any.
func sarifFixes(f signpost.Finding) []sarifFix {
	if f.Fix == nil {
		return nil
	}
	change := sarifArtifact{Location: sarifURI{fileURI(f.File)}}
	for _, e := range f.Fix.Edits {
		change.Replacements = append(change.Replacements, sarifReplacement{sarifRegion{e.Line, e.Column, e.EndLine, e.EndColumn}, sarifText{e.Text}})
	}
	return []sarifFix{{sarifText{f.Fix.Message}, []sarifArtifact{change}}}
}

type sarifResult struct {
	RuleID    string            `json:"ruleId"`
	RuleIndex int               `json:"ruleIndex"`
	Level     signpost.Severity `json:"level"` // SARIF has the same names
	Message   sarifText         `json:"message"`
	Locations []sarifLocation   `json:"locations"`
	Prints    map[string]string `json:"partialFingerprints"`
	Fixes     []sarifFix        `json:"fixes,omitempty"`
}

type sarifLocation struct {
	Physical struct {
		Artifact struct {
			URI string `json:"uri"`
		} `json:"artifactLocation"`
		Region struct {
			StartLine   int `json:"startLine"`
			StartColumn int `json:"startColumn"`
			EndColumn   int `json:"endColumn"`
		} `json:"region"`
	} `json:"physicalLocation"`
}

func newSARIF(findings []signpost.Finding) sarif {
	run := sarifRun{ColumnKind: "unicodeCodePoints", Results: []sarifResult{}}
	run.Tool.Driver = sarifDriver{Name: "signpost", Version: buildVersion()}
	var names []string
	for _, r := range definition.Rules() {
		names = append(names, r.Name)
		run.Tool.Driver.Rules = append(run.Tool.Driver.Rules, sarifRule{
			ID: r.Name, Short: sarifText{r.Summary}, Full: sarifText{firstParagraph(ruleText(r.Name))},
			Help: sarifHelp{forTerminal(ruleText(r.Name)), ruleText(r.Name)}, HelpURI: docsURL + "/rules.md#" + r.Name,
			Configuration: sarifConfig{r.Severity},
		})
	}
	prints := fingerprints(findings, ".")
	for i, f := range findings {
		message := f.Message
		if f.Hint != "" {
			message += ": " + f.Hint
		}
		var place sarifLocation
		place.Physical.Artifact.URI = fileURI(f.File)
		region := &place.Physical.Region
		region.StartLine, region.StartColumn, region.EndColumn = f.Line, f.Column, f.Column+f.Width
		run.Results = append(run.Results, sarifResult{
			RuleID: f.Rule, RuleIndex: slices.Index(names, f.Rule), Level: f.Severity,
			Message: sarifText{message}, Locations: []sarifLocation{place},
			Prints: map[string]string{"signpost/v1": prints[i]}, Fixes: sarifFixes(f),
		})
	}
	return sarif{Schema: "https://json.schemastore.org/sarif-2.1.0.json", Version: "2.1.0", Runs: []sarifRun{run}}
}

// firstParagraph returns the first paragraph of a Markdown text as plain text on one line.
func firstParagraph(markdown string) string {
	first, _, _ := strings.Cut(markdown, "\n\n")
	return strings.Join(strings.Fields(plain(first)), " ")
}

// fileURI returns a path as SARIF expects it: relative to the working directory, or a file URL.
func fileURI(path string) string {
	u := url.URL{Path: filepath.ToSlash(path)}
	if filepath.IsAbs(path) {
		u.Scheme = "file"
	}
	return u.String()
}
