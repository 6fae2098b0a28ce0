package cli

import (
	"context"
	"fmt"
	"slices"

	"signpost"
	"signpost/definition"
	"signpost/internal/source"
	"signpost/internal/spell"
)

// openServices reads the definitions or served manifests that the arguments name, except for those that the command is
// already about: a directory may contain them.
func openServices(ctx context.Context, reader *source.Reader, args []string, about ...*definition.File) ([]*source.Service, error) {
	documents, err := reader.Read(ctx, args...)
	if err != nil {
		return nil, err
	}
	skip := make(map[string]bool)
	for _, f := range about {
		skip[source.Document{Name: f.Name}.ID()] = true
	}
	var services []*source.Service
	for _, d := range documents {
		if !skip[d.ID()] {
			services = append(services, source.NewService(d))
		}
	}
	return services, nil
}

// loadServices fills in the versions of services with the features that a flag enables; nil means those that each definition
// enables itself.
func loadServices(flag string, services []*source.Service, features []string) error {
	if features != nil && len(services) > 0 {
		if !slices.ContainsFunc(services, func(s *source.Service) bool { return !s.Served }) {
			return usageErrorf("%s: %s is a manifest, which already contains its features", flag, services[0].Name)
		}
		if err := checkFeatures(flag, filesOf(services), features); err != nil {
			return err
		}
	}
	for _, s := range services {
		s.Load(features)
	}
	return nil
}

// filesOf returns the definitions and manifests of services.
func filesOf(services []*source.Service) []*definition.File {
	var files []*definition.File
	for _, s := range services {
		files = append(files, s.File)
	}
	return files
}

// reportErrors prints what is wrong in services that are used together, and returns the errors among that.
func (c *CLI) reportErrors(services ...*source.Service) []signpost.Finding {
	errors, foreign := source.Errors(services...)
	printFindings(c.Stderr, filesOf(services), slices.Concat(errors, foreign))
	return errors
}

// readRegistered reads the sources of --registered: whatever else is registered in the studio. The services are loaded
// with the features that they enable. Errors in them are an error here, because such a service cannot take part.
func (c *CLI) readRegistered(ctx context.Context, reader *source.Reader, sources []string, about ...*definition.File) ([]*source.Service, error) {
	reader.Manifests = true
	services, err := openServices(ctx, reader, sources, about...)
	if err != nil {
		return nil, fmt.Errorf("--registered: %w", err)
	}
	for _, s := range services {
		if n := len(c.reportErrors(s)); n > 0 {
			return nil, fmt.Errorf("--registered: %s has %s", s.Name, spell.Count(n, "error"))
		}
		s.Load(nil)
	}
	return services, nil
}

// serveAll resolves services for a host, and says which ones have no manifest for it.
func (c *CLI) serveAll(services []*source.Service, host string) ([]*source.Service, error) {
	left, notes, err := source.ServeAll(services, host)
	c.reportLines(notes)
	return left, err
}
