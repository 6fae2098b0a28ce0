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

// reading is what the arguments of a command name, by the role in which it takes part. Of what is beside and registered,
// another state of something that the command is about is left out.
type reading struct {
	*workspace.Snapshot
	judged, beside, registered []*source.Service
}

// read reads what the arguments of a command name. Definitions are read with what the project says about them. A
// command may be about something that was read before, too.
func (c *CLI) read(
	ctx context.Context, reader *source.Reader, opts workspace.Options, args workspace.Arguments, about ...*source.Service,
) (*reading, error) {
	opts.Definition = c.project.Options(opts.Definition)
	s, err := workspace.Read(ctx, reader, opts, args)
	if err != nil {
		return nil, err
	}
	r := &reading{Snapshot: s, judged: servicesOf(s, workspace.Judged)}
	about = append(about, r.judged...)
	r.beside = without(about, servicesOf(s, workspace.Beside))
	r.registered = without(about, servicesOf(s, workspace.Registered))
	return r, nil
}

// servicesOf returns the services of a snapshot that have a role.
func servicesOf(s *workspace.Snapshot, role workspace.Role) (services []*source.Service) {
	for _, f := range s.Files {
		if f.Role == role && f.Definition != nil {
			services = append(services, f.Service())
		}
	}
	return services
}

// without leaves out what is one of some services, by another name or in another state.
func without(about, services []*source.Service) (left []*source.Service) {
	isAbout := make(map[string]bool)
	for _, s := range about {
		isAbout[s.FileID] = true
	}
	for i, file := range definition.WithoutPublished(filesOf(about), filesOf(services)) {
		if !isAbout[services[i].FileID] {
			services[i].File = file
			left = append(left, services[i])
		}
	}
	return left
}

// readRegistered reads only what is registered in the studio, by --registered or the project, besides what a command is
// about: a directory may contain it.
func (c *CLI) readRegistered(
	ctx context.Context, sources []string, about ...*source.Service,
) ([]*source.Service, error) {
	others := workspace.Project{Path: c.project.Path, Registered: c.project.Registered}
	args := workspace.Arguments{Registered: sources, Project: others, Others: true}
	r, err := c.read(ctx, c.reader(), workspace.Options{}, args, about...)
	if err != nil {
		return nil, err
	}
	return r.registered, c.loadRegistered(r)
}

// loadRegistered loads what is only registered with the features that each service enables. One of which something
// cannot be read is an error.
func (c *CLI) loadRegistered(r *reading) error {
	for _, s := range r.registered {
		s.Load(nil)
	}
	where := "--registered"
	if len(c.project.Registered) > 0 && !c.given("registered") {
		where = "registered in " + c.project.Path
	}
	return c.requireWhole(where, r.registered)
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

// isOpen reports whether the URLs of a service contain {{host}}.
func isOpen(s *source.Service) bool { return s.Host == signpost.HostPlaceholder }

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

// checkFeaturesOf reports features in the value of a flag that no service has, and a flag that means nothing for them.
func (c *CLI) checkFeaturesOf(services []*source.Service, flag string, features []string) error {
	hasDefinition := slices.ContainsFunc(services, func(s *source.Service) bool { return !s.Served })
	switch {
	case features == nil || len(services) == 0:
	case hasDefinition:
		return checkFeatures("--"+flag, filesOf(services), features)
	case c.given(flag):
		return usageErrorf("--%s: %s is a manifest, which already contains its features", flag, services[0].Name)
	}
	return nil
}

// loadServices fills in the versions of services with the features that a flag enables; nil means those that each
// definition enables itself.
func (c *CLI) loadServices(flag string, services []*source.Service, features []string) error {
	if err := c.checkFeaturesOf(services, flag, features); err != nil {
		return err
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
