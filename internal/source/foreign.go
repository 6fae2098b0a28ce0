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
	readable := make(map[string]bool) // manifests, by name
	for _, s := range services {
		files = append(files, s.File)
		if s.Served {
			versions := s.File.Readable(nil)
			readable[s.File.Name] = len(versions) > 0 && len(versions[0].Manifest.Endpoints) > 0
		}
	}
	found := definition.Errors(files...)
	for _, f := range found {
		if f.Rule == definition.RuleSyntax || f.Rule == definition.RuleTooLarge {
			readable[f.File] = false
		}
	}
	for _, f := range found {
		if readable[f.File] {
			warnings = append(warnings, foreign.Finding(f))
		} else {
			errors = append(errors, f)
		}
	}
	return errors, warnings
}
