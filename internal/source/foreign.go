package source

import (
	"signpost"
	"signpost/definition"
	"signpost/internal/foreign"
)

// Errors returns the errors of services that are used together. Definitions are strict. A manifest is read as far as it
// can be, whatever else is wrong in it: those are the warnings. It only has errors if it is not JSON or
// has no endpoint that can be read.
func Errors(services ...*Service) (errors, warnings []signpost.Finding) {
	var files []*definition.File
	readable := make(map[string]bool)
	for _, s := range services {
		files = append(files, s.File)
		readable[s.File.Name] = s.Served && s.readable()
	}
	for _, f := range definition.Errors(files...) {
		if readable[f.File] {
			warnings = append(warnings, foreign.Finding(f))
		} else {
			errors = append(errors, f)
		}
	}
	return errors, warnings
}

// readable reports whether a manifest can be used, in spite of what is wrong in it.
func (s *Service) readable() bool {
	errors := definition.Errors(s.File)
	for _, f := range errors {
		if f.Rule == definition.RuleSyntax || f.Rule == definition.RuleTooLarge {
			return false
		}
	}
	versions := s.File.Readable(nil)
	return len(errors) == 0 || len(versions) > 0 && len(versions[0].Manifest.Endpoints) > 0
}
