package source

import (
	"bytes"
	"strings"

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

// LintServed returns a function that judges the manifest at an address, which has that host in its URLs, together with
// what is registered besides. It also returns the manifest, as far as it can be read.
func LintServed(
	address, host string, registered []*definition.File,
) func(body []byte) (signpost.Manifest, []signpost.Finding) {
	return func(body []byte) (m signpost.Manifest, findings []signpost.Finding) {
		file := definition.ParseManifest(address, body)
		for _, v := range file.Readable(nil) {
			m = v.Manifest
		}
		findings = definition.LintTogether([]*definition.File{file}, registered)
		if !bytes.Contains(body, []byte(signpost.HostPlaceholder)) {
			for i, f := range findings { // compared with definitions, which have {{host}} instead of the host
				findings[i].Message = strings.ReplaceAll(f.Message, signpost.HostPlaceholder, host)
			}
		}
		return m, findings
	}
}
