package daemon

import (
	"cmp"
	"runtime/debug"

	"signpost"
	"signpost/definition"
	"signpost/internal/workspace"
	"signpost/server"
)

// prepared is what a definition gives: a service, or the findings that keep it from being published.
type prepared struct {
	service  *service
	findings []signpost.Finding
}

type service struct {
	server.Service
	file *workspace.File // that it was made of
}

// prepare compiles a new file. After that, less of it is enough to judge it together with others: of thousands of
// files, only a few are in memory as a whole.
func (d *Daemon) prepare(f *workspace.File) any {
	if f.Role != workspace.Judged {
		return nil
	}
	made := d.compile(f)
	if f.Definition != nil {
		f.Definition = f.Definition.ForLint()
		if d.Handler.PublicHost != "" { // which is in all manifests, whatever the definition declares
			f.Definition.Hosts = d.Definition.Accepted
		}
	}
	return made
}

// compile compiles a definition and publishes it on trial. All problems become findings, a panic too, so that one
// definition never keeps others from being published.
func (d *Daemon) compile(f *workspace.File) (result prepared) {
	defer func() {
		if cause := recover(); cause != nil {
			defect := workspace.Defect(f.Name, "the definition cannot be compiled: %v\n%s", cause, debug.Stack())
			result = prepared{findings: []signpost.Finding{defect}}
		}
	}()
	if f.Definition == nil || len(definition.Errors(f.Definition)) > 0 {
		return prepared{findings: f.Findings()}
	}
	versions, err := f.Definition.Compile(nil)
	made := server.Service{
		BasePath: cmp.Or(d.BasePath, f.Definition.BasePath), Hosts: f.Definition.Hosts, Versions: versions,
		Deprecated: make(map[string]signpost.Deprecation),
	}
	for version := range versions {
		if deprecation := f.Definition.Deprecation(version, "", ""); deprecation != nil {
			made.Deprecated[version] = *deprecation
		}
	}
	if err == nil {
		err = d.trial.Publish(made)
	}
	if err != nil {
		defect := workspace.Defect(f.Name, "lint accepts the definition, but it cannot be published: %v", err)
		return prepared{findings: []signpost.Finding{defect}}
	}
	return prepared{service: &service{made, f}}
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
