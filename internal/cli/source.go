package cli

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"signpost"
	"signpost/definition"
	"signpost/internal/source"
	"signpost/internal/spell"
)

// stdinName is the argument for standard input, or for standard output where a file is written.
const stdinName = source.Stdin

// load parses the definitions that the arguments name.
func (c *CLI) load(ctx context.Context, args ...string) ([]*definition.File, error) {
	documents, err := c.reader().Read(ctx, args...)
	if err != nil {
		return nil, err
	}
	return source.ParseDefinitions(documents, definition.Options{}), nil
}

// openServices reads the definitions or served manifests that the arguments name. If any of them has errors, all
// findings go to standard error, and no services are returned.
func (c *CLI) openServices(ctx context.Context, reader *source.Reader, args ...string) ([]*source.Service, error) {
	documents, err := reader.Read(ctx, args...)
	if err != nil {
		return nil, err
	}
	var services []*source.Service
	var files []*definition.File
	var findings, foreign []signpost.Finding
	for _, d := range documents {
		s := source.NewService(d)
		services, files = append(services, s), append(files, s.File)
		errors, warnings := source.Errors(s)
		findings, foreign = append(findings, errors...), append(foreign, warnings...)
	}
	printFindings(c.Stderr, c.palette(c.Stderr), files, append(findings, foreign...))
	if len(findings) > 0 {
		return nil, errFindings
	}
	return services, nil
}

// checkNames reports a flag value that is not a known name.
func checkNames(flag, what string, names, known []string) error {
	for _, name := range names {
		if !slices.Contains(known, name) {
			hint := "known: " + strings.Join(known, ", ")
			if near := spell.Nearest(name, known); near != "" {
				hint = fmt.Sprintf("did you mean %q?", near)
			}
			return usageErrorf("%s: there is no %s %q; %s", flag, what, name, hint)
		}
	}
	return nil
}
