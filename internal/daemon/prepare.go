package daemon

import (
	"fmt"
	"runtime"
	"runtime/debug"
	"slices"

	"golang.org/x/sync/errgroup"

	"signpost"
	"signpost/definition"
	"signpost/internal/source"
	"signpost/server"
)

// prepare lints and compiles documents on all cores, and returns their files. The results go into the second list.
func (p *publisher) prepare(documents []source.Document, into []*served) []*definition.File {
	files := make([]*definition.File, len(documents))
	trial, _ := server.New(server.Options{}) // the zero value is valid
	var group errgroup.Group
	group.SetLimit(runtime.GOMAXPROCS(0))
	for i, d := range documents {
		group.Go(func() error {
			files[i] = p.prepareOne(d, into[i], trial)
			return nil
		})
	}
	group.Wait()
	return slices.DeleteFunc(files, func(f *definition.File) bool { return f == nil })
}

// prepareOne prepares a document, and publishes it on trial. All problems become findings, so that one definition never
// keeps others from being published.
func (p *publisher) prepareOne(d source.Document, s *served, trial *server.Handler) (file *definition.File) {
	s.next, s.findings = nil, nil
	defect := func(format string, args ...any) {
		s.findings = append(s.findings, signpost.Finding{
			Rule: "defect", Severity: signpost.SeverityError, Message: fmt.Sprintf(format, args...), File: d.Name, Line: 1, Column: 1,
			Hint: "this is a bug in Signpost: please report it with the definition",
		})
	}
	defer func() {
		if cause := recover(); cause != nil {
			defect("the definition cannot be read: %v\n%s", cause, debug.Stack())
		}
	}()
	file = definition.Options{Features: p.Features}.Parse(d.Name, d.Text)
	if p.BasePath != "" {
		file.BasePath = p.BasePath
	}
	if s.findings = definition.Lint(file); s.rejected() {
		return file
	}
	service := server.Service{BasePath: file.BasePath, Deprecated: make(map[string]signpost.Deprecation)}
	for _, version := range file.Versions() {
		if deprecation := file.Deprecation(version, "", ""); deprecation != nil {
			service.Deprecated[version] = *deprecation
		}
	}
	var err error
	if service.Versions, err = file.Compile(nil); err == nil {
		err = trial.Publish(service)
	}
	if err != nil {
		defect("lint accepts the definition, but it cannot be published: %v", err)
		return file
	}
	s.next = &service
	return file
}
