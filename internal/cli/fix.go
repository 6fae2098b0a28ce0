package cli

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"signpost/definition"
	"signpost/internal/source"
)

// fix applies fixes to the files of definitions, and returns them with the remaining findings. With dryRun it writes
// nothing, and prints the changes as a unified diff.
func (c *CLI) fix(documents []source.Document, opts definition.Options, f lintFlags) ([]*definition.File, error) {
	var files []*definition.File
	for _, d := range documents {
		if info, err := os.Stat(d.Name); err != nil || !info.Mode().IsRegular() {
			return nil, usageErrorf("--fix: %s is not a file that can be written", d.Name)
		}
	}
	for _, d := range documents {
		fixed := opts.Fix(d.Name, d.Text)
		switch {
		case f.dryRun:
			diff := unifiedDiff(d.Name, d.Text, fixed.Text)
			out := c.raw // patch may read it
			if isTerminal(c.Stdout) {
				out = c.Stdout
			}
			if _, err := out.Write(diff); err != nil {
				return nil, err
			}
			files = append(files, opts.Parse(d.Name, d.Text))
			continue
		case len(fixed.Applied) > 0:
			if err := replaceFile(d.Name, d.Text, fixed.Text); err != nil {
				return nil, fmt.Errorf("write %q: %w", d.Name, err)
			}
		}
		out := c.Stderr // keep the output for programs clean
		if f.format.value == "text" {
			out = c.Stdout
		}
		for _, a := range fixed.Applied {
			fmt.Fprintf(out, "%s:%d:%d: fixed: %s [%s]\n", printable(a.File), a.Line, a.Column, printable(a.Fix.Message), a.Rule)
		}
		files = append(files, fixed.File)
	}
	return files, nil
}

// replaceFile replaces a file atomically, keeping its mode, unless its contents have changed since they were read. For
// a symbolic link, the target is replaced.
func replaceFile(path string, old, text []byte) error {
	path, err := filepath.EvalSymlinks(path)
	if err != nil {
		return err
	}
	info, err := os.Stat(path)
	if err != nil {
		return err
	}
	now, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	if !bytes.Equal(now, old) {
		return errors.New("the file has changed in the meantime: run the command again")
	}
	return source.WriteFile(path, text, info.Mode().Perm())
}
