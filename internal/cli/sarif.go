package cli

import (
	"net/url"
	"path/filepath"
	"slices"

	"signpost"
	"signpost/definition"
)

// sarif is a log of findings in the format that code-scanning services take: SARIF 2.1.0.
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
	Configuration sarifConfig `json:"defaultConfiguration"`
}

type sarifConfig struct {
	Level signpost.Severity `json:"level"`
}

type sarifText struct {
	Text string `json:"text"`
}

type sarifResult struct {
	RuleID    string            `json:"ruleId"`
	RuleIndex int               `json:"ruleIndex"`
	Level     signpost.Severity `json:"level"` // SARIF calls them error and warning too
	Message   sarifText         `json:"message"`
	Locations []sarifLocation   `json:"locations"`
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
		run.Tool.Driver.Rules = append(run.Tool.Driver.Rules, sarifRule{r.Name, sarifText{r.Summary}, sarifConfig{r.Severity}})
	}
	for _, f := range findings {
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
		})
	}
	return sarif{Schema: "https://json.schemastore.org/sarif-2.1.0.json", Version: "2.1.0", Runs: []sarifRun{run}}
}

// fileURI returns a path as SARIF wants it: relative to where it is run, or a file URL.
func fileURI(path string) string {
	u := url.URL{Path: filepath.ToSlash(path)}
	if filepath.IsAbs(path) {
		u.Scheme = "file"
	}
	return u.String()
}
