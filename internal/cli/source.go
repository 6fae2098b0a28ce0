package cli

import (
	"context"
	"fmt"

	"signpost"
	"signpost/definition"
	"signpost/internal/source"
	"signpost/internal/spell"
)

// stdinName is the argument for standard input, or for standard output where a file is written.
const stdinName = source.Stdin

// completable returns the definitions that an argument names, if they are on this machine.
func completable(ctx context.Context, arg string) ([]*definition.File, error) {
	if source.IsAddress(arg) || source.IsRegistry(arg) || arg == source.Stdin {
		return nil, nil
	}
	documents, err := (&source.Reader{}).Read(ctx, arg)
	return source.ParseDefinitions(documents, definition.Options{}), err
}

// load parses the definitions that the arguments name.
func (c *CLI) load(ctx context.Context, args ...string) ([]*definition.File, error) {
	documents, err := c.reader().Read(ctx, args...)
	if err != nil {
		return nil, err
	}
	return source.ParseDefinitions(documents, definition.Options{}), nil
}

// openServices reads the definitions or served manifests that the arguments name. All findings go to standard error.
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
		return nil, fmt.Errorf("%s cannot be read: %s", findings[0].File, spell.Count(len(findings), "error"))
	}
	return services, nil
}

// readRegistered reads the sources of --registered: whatever else is registered in the studio. The services are loaded
// with the features that they enable. Errors in them are an error here, because such a service cannot take part.
// Documents that the command is about, by name, are skipped, because a directory may contain them.
func (c *CLI) readRegistered(ctx context.Context, reader *source.Reader, sources []string, about ...string) ([]*source.Service, error) {
	reader.Manifests = true
	documents, err := reader.Read(ctx, sources...)
	if err != nil {
		return nil, fmt.Errorf("--registered: %w", err)
	}
	skip := make(map[string]bool)
	for _, name := range about {
		skip[source.Document{Name: name}.ID()] = true
	}
	var services []*source.Service
	for _, d := range documents {
		if skip[d.ID()] {
			continue
		}
		s := source.NewService(d)
		errors, foreign := source.Errors(s)
		printFindings(c.Stderr, c.palette(c.Stderr), []*definition.File{s.File}, append(errors, foreign...))
		if n := len(errors); n > 0 {
			return nil, fmt.Errorf("--registered: %s has %s", s.Name, spell.Count(n, "error"))
		}
		if err := s.Load(nil); err != nil {
			return nil, fmt.Errorf("--registered: %w", err)
		}
		services = append(services, s)
	}
	return services, nil
}

// serveAll resolves services for a host, and says which ones have no manifest for it.
func (c *CLI) serveAll(services []*source.Service, host string) ([]*source.Service, error) {
	left, notes, err := source.ServeAll(services, host)
	for _, note := range notes {
		printf(c.Stderr, "%s\n", note)
	}
	return left, err
}
