package cli

import (
	"bytes"
	"fmt"
	"os"

	"github.com/rogpeppe/go-internal/diff"

	"signpost/definition"
	"signpost/internal/source"
	"signpost/internal/workspace"
)

// fix applies fixes to the files of definitions. With dryRun it writes nothing, and prints the changes as a unified
// diff.
func (c *CLI) fix(s *workspace.Snapshot, opts definition.Options, f lintFlags) error {
	documents := judgedDocuments(s)
	for _, d := range documents {
		if info, err := os.Stat(d.Name); err != nil || !info.Mode().IsRegular() {
			return usageErrorf("--fix: %s is not a file that can be written", d.Name)
		}
	}
	out := c.Stderr // keep the output for programs clean
	if f.format.value == "text" {
		out = c.Stdout
	}
	for _, d := range documents {
		fixed := opts.Fix(d.Name, d.Text)
		if f.dryRun {
			if err := c.printDiff(d, fixed.Text); err != nil {
				return err
			}
			continue
		}
		if len(fixed.Applied) > 0 {
			if err := source.ReplaceFile(d.Name, d.Text, fixed.Text); err != nil {
				return fmt.Errorf("write %q: %w", d.Name, err)
			}
		}
		for _, a := range fixed.Applied {
			printf(out, "%s:%d:%d: fixed: %s [%s]\n", a.File, a.Line, a.Column, a.Fix.Message, a.Rule)
		}
	}
	return nil
}

// printDiff prints a unified diff of a file and what its text would become. The lines are not escaped unless they go
// to a terminal, because patch may read them.
func (c *CLI) printDiff(d source.Document, text []byte) error {
	name := printable(d.Name)
	_, changes, _ := bytes.Cut(diff.Diff(name, d.Text, name, text), []byte("\n")) // without the line "diff a b"
	out := c.raw
	if isTerminal(c.Stdout) {
		out = c.Stdout
	}
	_, err := out.Write(changes)
	return err
}
