package cli

import (
	"context"
	"fmt"
	"slices"

	"signpost"
	"signpost/definition"
	"signpost/internal/source"
	"signpost/internal/spell"
	"signpost/internal/workspace"
)

// openServices reads the definitions or served manifests that the arguments name, except for those that the command is
// already about: a directory may contain them.
func (c *CLI) openServices(ctx context.Context, reader *source.Reader, args []string, about ...*definition.File) ([]*source.Service, error) {
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
		switch {
		case skip[d.ID()]:
		case d.Manifest():
			services = append(services, source.NewService(d))
		default:
			file := c.project.Options(definition.Options{}).Parse(d.Name, d.Text)
			services = append(services, source.ServiceOf(d, file))
		}
	}
	return services, nil
}

// readTogether reads what a command is about, the sources or else the definitions of the project, and whatever else is
// registered in the studio: the other definitions of the project, as far as they can be read, and what --registered and the
// project name.
func (c *CLI) readTogether(ctx context.Context, reader *source.Reader, opts workspace.Options, sources, registered []string) (s *workspace.Snapshot, besides []*source.Service, err error) {
	opts.Definition = c.project.Options(opts.Definition)
	s, err = workspace.Read(ctx, reader, opts, workspace.Arguments{Judged: sources, Registered: registered, Project: c.project})
	if err != nil {
		return nil, nil, err
	}
	for _, f := range s.Files {
		if f.Role == workspace.Judged || f.Definition == nil {
			continue
		}
		service := f.Service()
		if f.Role == workspace.Registered {
			if err := c.checkRegistered(service); err != nil {
				return nil, nil, err
			}
		}
		service.Load(nil)
		besides = append(besides, service)
	}
	return s, besides, nil
}

// checkRegistered prints what is wrong in a service that is registered besides. Errors in it are an error here, because such
// a service cannot take part.
func (c *CLI) checkRegistered(s *source.Service) error {
	if n := len(c.reportErrors(s)); n > 0 {
		return fmt.Errorf("--registered: %s has %s", s.Name, spell.Count(n, "error"))
	}
	return nil
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

// readRegistered reads the sources of --registered and of the project: whatever else is registered in the studio. The
// services are loaded with the features that they enable.
func (c *CLI) readRegistered(ctx context.Context, reader *source.Reader, sources []string, about ...*definition.File) ([]*source.Service, error) {
	reader.Manifests, reader.Patterns = true, true
	services, err := c.openServices(ctx, reader, slices.Concat(c.project.Registered, sources), about...)
	if err != nil {
		return nil, fmt.Errorf("--registered: %w", err)
	}
	for _, s := range services {
		if err := c.checkRegistered(s); err != nil {
			return nil, err
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
