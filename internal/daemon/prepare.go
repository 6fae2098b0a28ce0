package daemon

import (
	"cmp"

	"signpost"
	"signpost/definition"
	"signpost/internal/workspace"
	"signpost/server"
)

// prepare compiles a new file. After that, less of it is enough to judge it together with others: of thousands of
// files, only a few are in memory as a whole.
func (p *publisher) prepare(f *workspace.File) {
	if f.Role != workspace.Judged {
		return
	}
	s := &followed{File: f}
	s.prepare(p.trial, p.BasePath)
	if f.Definition != nil {
		f.Definition = f.Definition.ForLint()
	}
	p.prepared.Store(f, s)
}

// prepare compiles the definition, for a base path of its own if that is empty, and publishes it on trial. All problems
// become findings, so that one definition never keeps others from being published.
func (s *followed) prepare(trial *server.Handler, basePath string) {
	if s.Definition == nil || len(definition.Errors(s.Definition)) > 0 {
		s.findings = s.Findings()
		return
	}
	service := server.Service{
		BasePath: cmp.Or(basePath, s.Definition.BasePath), Hosts: s.Definition.Hosts,
		Deprecated: make(map[string]signpost.Deprecation),
	}
	for _, version := range s.Definition.Versions() {
		if deprecation := s.Definition.Deprecation(version, "", ""); deprecation != nil {
			service.Deprecated[version] = *deprecation
		}
	}
	var err error
	if service.Versions, err = s.Definition.Compile(nil); err == nil {
		err = trial.Publish(service)
	}
	if err != nil {
		s.findings = []signpost.Finding{workspace.Defect(s.Name, "lint accepts the definition, but it cannot be published: %v", err)}
		return
	}
	s.next = &service
}

// accepted returns the hosts that valid options name. Every manifest must exist for them.
func accepted(opts server.Options) signpost.Hosts {
	if opts.PublicHost != "" {
		public, _ := server.ParseHost(opts.PublicHost)
		return signpost.Hosts{public}
	}
	allowed, _ := signpost.ParseHosts(opts.AllowedHosts...)
	return allowed
}
