package source

import (
	"signpost"
	"signpost/definition"
	"signpost/internal/foreign"
)

// Errors returns the errors of services that are used together. Definitions are strict. A manifest is read as far as it
// can be, whatever else is wrong in it: those are the warnings. It only has errors if it is not JSON or has no
// endpoints that can be read.
func Errors(services ...*Service) (errors, warnings []signpost.Finding) {
	var files []*definition.File
	lenient := make(map[string]bool) // by name
	for _, s := range services {
		files = append(files, s.File)
		lenient[s.File.Name] = s.File.Lenient()
	}
	for _, f := range definition.Errors(files...) {
		if lenient[f.File] {
			warnings = append(warnings, foreign.Finding(f))
		} else {
			errors = append(errors, f)
		}
	}
	return errors, warnings
}
