package cli

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"signpost"
	"signpost/definition"
	"signpost/internal/source"
	"signpost/internal/spell"
	"signpost/internal/workspace"
)

// read reads what the arguments of a command name. Definitions are read with what the project says about them.
func (c *CLI) read(
	ctx context.Context, reader *source.Reader, opts workspace.Options, args workspace.Arguments,
) (*workspace.Snapshot, error) {
	opts.Definition = c.project.Options(opts.Definition)
	return workspace.Read(ctx, reader, opts, args)
}

// readAlone reads definitions or manifests without anything else that the project has.
func (c *CLI) readAlone(ctx context.Context, reader *source.Reader, args ...string) ([]*source.Service, error) {
	s, err := c.read(ctx, reader, workspace.Options{Manifests: true}, workspace.Arguments{Judged: args})
	if err != nil {
		return nil, err
	}
	return servicesOf(s, workspace.Judged), nil
}

// readTogether reads what a command is about, the sources or else the definitions of the project, and whatever else is
// registered in the studio: the other definitions of the project, and what --registered and the project name, which it
// also returns.
func (c *CLI) readTogether(
	ctx context.Context, reader *source.Reader, opts workspace.Options, sources, registered []string,
) (s *workspace.Snapshot, others []*source.Service, err error) {
	s, err = c.read(ctx, reader, opts, workspace.Arguments{Judged: sources, Registered: registered, Project: c.project})
	if err != nil {
		return nil, nil, err
	}
	others, err = c.registeredIn(s, servicesOf(s, workspace.Judged))
	return s, others, err
}

// readRegistered reads whatever else is registered in the studio, by --registered or the project, except for what the
// command is already about: a directory may contain it.
func (c *CLI) readRegistered(
	ctx context.Context, reader *source.Reader, sources []string, about []*source.Service,
) ([]*source.Service, error) {
	others := workspace.Project{Path: c.project.Path, Registered: c.project.Registered}
	args := workspace.Arguments{Registered: sources, Project: others, Others: true}
	s, err := c.read(ctx, reader, workspace.Options{}, args)
	if err != nil {
		return nil, err
	}
	return c.registeredIn(s, about)
}

// registeredIn returns the services of a snapshot that are only registered, with the features that each enables, except
// for what the command is about. One of which something cannot be read is an error.
func (c *CLI) registeredIn(s *workspace.Snapshot, about []*source.Service) ([]*source.Service, error) {
	services := slices.DeleteFunc(othersIn(s, workspace.Registered, about), func(service *source.Service) bool {
		return slices.ContainsFunc(about, func(a *source.Service) bool { return a.FileID == service.FileID })
	})
	for _, service := range services {
		service.Load(nil)
	}
	where := "--registered"
	if len(c.project.Registered) > 0 && !c.given("registered") {
		where = "registered in " + c.project.Path
	}
	return services, c.requireWhole(where, services)
}

// requireWhole says what is wrong in services that are not judged and take part as they read. If something of one
// cannot be read, that is an error: it may decide.
func (c *CLI) requireWhole(where string, services []*source.Service) (err error) {
	for _, s := range services {
		n := len(c.reportErrors(s))
		errors := spell.Count(n, "error")
		switch {
		case n == 0:
		case s.File.Partial() || s.File.Unreadable():
			err = cmp.Or(err, fmt.Errorf("%s: %s has %s", where, s.Name, errors))
		default:
			printf(c.Stderr, "%s has %s: it takes part as it reads\n", s.Name, errors)
		}
	}
	return err
}

// servicesOf returns the services of a snapshot that have a role.
func servicesOf(s *workspace.Snapshot, role workspace.Role) []*source.Service {
	var services []*source.Service
	for _, f := range s.Files {
		if f.Role == role && f.Definition != nil {
			services = append(services, f.Service())
		}
	}
	return services
}

// othersIn returns the services of a snapshot that have a role, without what is another state of something that the
// command is about.
func othersIn(s *workspace.Snapshot, role workspace.Role, about []*source.Service) []*source.Service {
	services := servicesOf(s, role)
	for i, file := range definition.WithoutPublished(filesOf(about), filesOf(services)) {
		services[i].File = file
	}
	return services
}

// judgedDocuments returns the texts that a snapshot is about.
func judgedDocuments(s *workspace.Snapshot) []source.Document {
	var documents []source.Document
	for _, f := range s.Files {
		if f.Role == workspace.Judged {
			documents = append(documents, f.Document)
		}
	}
	return documents
}

// isSound reports whether a service has no errors.
func isSound(s *source.Service) bool {
	errors, _ := source.Errors(s)
	return len(errors) == 0
}

// reportBroken says what is wrong in services, some of which may have errors, and how they take part.
func (c *CLI) reportBroken(services []*source.Service) {
	for _, s := range services {
		n := len(c.reportErrors(s))
		switch {
		case n == 0:
		case len(s.File.Versions()) == 0:
			printf(c.Stderr, "%s cannot be read: %s; without it, the answer may be wrong\n", s.Name, spell.Count(n, "error"))
		default:
			printf(c.Stderr, "%s has %s: it takes part as it reads\n", s.Name, spell.Count(n, "error"))
		}
	}
}

// loadServices fills in the versions of services with the features that a flag enables; nil means those that each
// definition enables itself.
func (c *CLI) loadServices(flag string, services []*source.Service, features []string) error {
	hasDefinition := slices.ContainsFunc(services, func(s *source.Service) bool { return !s.Served })
	switch {
	case features == nil || len(services) == 0:
	case hasDefinition:
		if err := checkFeatures("--"+flag, filesOf(services), features); err != nil {
			return err
		}
	case c.given(flag):
		return usageErrorf("--%s: %s is a manifest, which already contains its features", flag, services[0].Name)
	}
	for _, s := range services {
		s.Load(features)
	}
	return nil
}

// each returns what f returns for each of a list.
func each[T, R any](list []T, f func(T) R) []R {
	var all []R
	for _, item := range list {
		all = append(all, f(item))
	}
	return all
}

// filesOf returns the definitions and manifests of services.
func filesOf(services []*source.Service) []*definition.File {
	return each(services, func(s *source.Service) *definition.File { return s.File })
}

// reportErrors prints what is wrong in services that are used together, and returns the errors among that.
func (c *CLI) reportErrors(services ...*source.Service) []signpost.Finding {
	errors, foreign := source.Errors(services...)
	printFindings(c.Stderr, filesOf(services), errors)
	printBriefly(c.Stderr, foreign)
	return errors
}

// serveAll resolves services for a host, or for that of a feed, and says which ones have no manifest for it.
func (c *CLI) serveAll(services []*source.Service, host string, feed signpost.URL) ([]*source.Service, error) {
	left, notes, err := source.ServeAll(services, host, feed)
	c.reportLines(notes)
	return left, err
}
