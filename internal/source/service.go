package source

import (
	"errors"
	"fmt"
	"net/url"

	"signpost"
	"signpost/definition"
	"signpost/host"
	"signpost/internal/foreign"
	"signpost/internal/routes"
)

// Service is the content of a document in the form that signpost/diff and signpost/match take. Its fields are
// empty until Load has applied the features.
type Service struct {
	Name    string
	File    *definition.File
	Served  bool     // a manifest: a single version with features applied and, usually, the host filled in
	Address *url.URL // where a manifest was fetched; nil if it was not fetched

	Versions []signpost.Version
	Host     string // value of {{host}} in Versions; signpost.HostPlaceholder if unresolved, empty if not known

	features []string // as given to Load
}

// ServiceOf returns the content of a document that has been parsed.
func ServiceOf(d Document, file *definition.File) *Service {
	return &Service{Name: d.Name, File: file, Served: d.Manifest(), Address: d.Address}
}

// Load fills in the versions with features applied, as far as they could be read; nil means the features that the
// definition enables. Unknown ones are ignored. A served manifest already contains its features, and may have what
// [Errors] calls foreign; its version and host are set as far as they are known.
func (s *Service) Load(features []string) {
	s.Host, s.features = signpost.HostPlaceholder, features
	s.Versions = s.File.Readable(features)
	for i := range s.Versions {
		s.Versions[i].Source = s.Name
	}
	if !s.Served || len(s.Versions) == 0 {
		return
	}
	v := &s.Versions[0]
	foreign.Methods(v.Manifest.Endpoints)
	own := ""
	if s.Address != nil {
		own, _ = host.Parse(s.Address.Host)
		_, v.Name, _ = routes.Parse(s.Address.Path)
	}
	s.Host = own
	for u := range v.Manifest.All() {
		if u.HasHostPlaceholder() {
			s.Host = signpost.HostPlaceholder
		}
	}
}

// State returns the service as it reads, for signpost/diff.
func (s *Service) State() signpost.Service { return s.File.State(s.File.Readable(s.features)) }

// ServeFor resolves the versions for host, if they are unresolved.
func (s *Service) ServeFor(host string) error {
	for i, v := range s.Versions {
		manifest, err := v.Manifest.ForHost(host)
		if err != nil {
			return fmt.Errorf("render %q: %w", s.Name, err)
		}
		s.Versions[i].Manifest = manifest
	}
	s.Host = host
	return nil
}

// hostFor returns the host that a service is rendered for, given the one that somebody asks for: that one, unless the
// definition declares hosts and does not have it.
func (s *Service) hostFor(asked string) string {
	if len(s.File.Hosts) == 0 || s.File.Hosts.Has(asked) {
		return asked
	}
	for _, name := range s.File.Hosts.Exact() {
		return name
	}
	return signpost.HostPlaceholder // a suffix names none
}

// ServeAll resolves services for host or, if that is none of their hosts, for one of those. It leaves out those that
// have no manifest for the host, as a server would, and returns a note about each.
func ServeAll(services []*Service, host string) (left []*Service, notes []string, err error) {
	for _, s := range services {
		if name := s.hostFor(host); s.Host == signpost.HostPlaceholder && name != s.Host {
			var misfit *signpost.HostError
			if err := s.ServeFor(name); errors.As(err, &misfit) {
				notes = append(notes, fmt.Sprintf("%s is left out: %v", s.Name, misfit))
				continue
			} else if err != nil {
				return nil, nil, err
			}
		}
		left = append(left, s)
	}
	return left, notes, nil
}
