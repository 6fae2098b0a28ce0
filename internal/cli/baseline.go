package cli

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"regexp"
	"strings"

	"signpost"
	"signpost/definition"
	"signpost/internal/readfile"
	"signpost/internal/source"
)

// baseline is a file of known findings, so that only new ones count.
type baseline struct {
	Version  int            `json:"version"`
	Findings []knownFinding `json:"findings"`
}

type knownFinding struct {
	Fingerprint string `json:"fingerprint"`
	Rule        string `json:"rule"`
	File        string `json:"file"`
	Message     string `json:"message"`
}

const baselineVersion = 1

// withoutBaseline returns the findings that are not in a baseline, and the number of its entries that match nothing.
func withoutBaseline(path string, findings []signpost.Finding) (left []signpost.Finding, gone int, err error) {
	text, err := readfile.Limit(path, maxFile)
	if err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			return nil, 0, fmt.Errorf("read baseline %q: no such file; --update-baseline writes it", path)
		}
		return nil, 0, fmt.Errorf("read baseline: %w", err)
	}
	var b baseline
	if err := json.Unmarshal(text, &b); err != nil || b.Version != baselineVersion {
		return nil, 0, fmt.Errorf("read baseline %q: it is not a baseline of signpost lint", path)
	}
	known := make(map[string]bool, len(b.Findings))
	for _, f := range b.Findings {
		known[f.Fingerprint] = true
	}
	left, gone = []signpost.Finding{}, len(known)
	for i, print := range fingerprints(findings, filepath.Dir(path)) { // no two are equal
		if known[print] {
			gone--
		} else {
			left = append(left, findings[i])
		}
	}
	return left, gone, nil
}

// writeBaseline writes the findings to a baseline. It returns those that say that a limit kept lint from looking
// further: as known findings, they would hide whatever is there.
func writeBaseline(path string, findings []signpost.Finding) (left []signpost.Finding, err error) {
	left = []signpost.Finding{}
	b := baseline{Version: baselineVersion, Findings: []knownFinding{}}
	prints := fingerprints(findings, filepath.Dir(path))
	for i, f := range findings {
		if f.Rule == definition.RuleTooLarge {
			left = append(left, f)
			continue
		}
		b.Findings = append(b.Findings, knownFinding{prints[i], f.Rule, seenFrom(f.File, filepath.Dir(path)), f.Message})
	}
	text, err := json.MarshalIndent(b, "", "  ")
	if err == nil {
		err = source.WriteFile(path, append(text, '\n'), 0o644)
	}
	if err != nil {
		return nil, fmt.Errorf("write baseline %q: %w", path, err)
	}
	return left, nil
}

// lineNumbers matches line and column numbers in messages, which change when lines move.
var lineNumbers = regexp.MustCompile(`(line|column) \d+|:\d+\b`)

// fingerprints returns a fingerprint for each finding: a hash of its file, relative to a directory, its rule, its
// message and its path in the manifest. Line numbers are left out, so that unrelated edits do not change it. Identical
// findings are numbered.
func fingerprints(findings []signpost.Finding, dir string) []string {
	prints := make([]string, len(findings))
	count := make(map[string]int)
	for i, f := range findings {
		message := lineNumbers.ReplaceAllString(f.Message, "")
		key := strings.Join([]string{seenFrom(f.File, dir), f.Rule, message, f.Path.String()}, "\x00")
		count[key]++
		sum := sha256.Sum256(fmt.Appendf(nil, "%s\x00%d", key, count[key]))
		prints[i] = hex.EncodeToString(sum[:16])
	}
	return prints
}

// seenFrom returns the path of a file relative to a directory, with slashes.
func seenFrom(file, dir string) string {
	full, err := filepath.Abs(file)
	if base, baseErr := filepath.Abs(dir); err == nil && baseErr == nil {
		if short, err := filepath.Rel(base, full); err == nil {
			return filepath.ToSlash(short)
		}
	}
	return filepath.ToSlash(file)
}
