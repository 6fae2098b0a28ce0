package cli

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"signpost/definition"
	"signpost/internal/source"
)

// addRegisteredFlag adds --registered, for commands that determine which endpoint answers for a feed.
func addRegisteredFlag(cmd *cobra.Command, sources *[]string) {
	cmd.Flags().StringSliceVar(sources, "registered", nil, "another source registered in the same studio, to detect overlap with it (repeatable)")
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
		if n := len(errors); n > 0 {
			return nil, fmt.Errorf("--registered: %s has %s: signpost lint shows them", s.Name, plural(n, "error"))
		}
		printFindings(c.Stderr, c.palette(c.Stderr), []*definition.File{s.File}, foreign)
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
