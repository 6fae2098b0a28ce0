package source

import (
	"errors"
	"fmt"
	"net/url"
	"slices"

	"signpost"
	"signpost/definition"
	"signpost/host"
	"signpost/internal/foreign"
	"signpost/internal/routes"
	"signpost/match"
)

// Service is the content of a document in the form that signpost/diff and signpost/match take. Its fields are
// empty until Load has applied the features.
type Service struct {
	Name    string
	FileID  string // of its document
	File    *definition.File
	Served  bool     // a manifest: a single version with features applied and, usually, the host filled in
	Address *url.URL // where a manifest was fetched; nil if it was not fetched

	Versions []signpost.Version
	Host     string // value of {{host}} in Versions; signpost.HostPlaceholder if unresolved, empty if not known

	features []string // as given to Load
}

// ServiceOf returns the content of a document that has been parsed.
func ServiceOf(d Document, file *definition.File) *Service {
	return &Service{Name: d.Name, FileID: d.FileID(), File: file, Served: file.Served(), Address: d.Address}
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
	misfit, err := s.serveWhatFits(host)
	if misfit != nil {
		err = fmt.Errorf("render %q: %w", s.Name, misfit)
	}
	return err
}

// serveWhatFits resolves the versions for host. Of a version that has no manifest for it, the URLs that are written out
// stay: whoever registered it did so on another host, and has them. The last such error is misfit.
func (s *Service) serveWhatFits(host string) (misfit *signpost.HostError, err error) {
	for i, v := range s.Versions {
		manifest, err := v.Manifest.ForHost(host)
		if errors.As(err, &misfit) {
			manifest = signpost.Manifest{}
			for u, e := range v.Manifest.All() {
				if !u.HasHostPlaceholder() {
					manifest.Endpoints = append(manifest.Endpoints, *e)
				}
			}
		} else if err != nil {
			return nil, fmt.Errorf("render %q: %w", s.Name, err)
		}
		s.Versions[i].Manifest = manifest
	}
	s.Host = host
	return misfit, nil
}

// HostFor returns the host that a service is rendered for, given the one that somebody asks for and, if it is about one,
// the feed. That is the one asked for, unless the definition declares hosts and does not have it, or unless another one
// lets a URL answer for the feed, such as example.com for https://cdn.{{host}}/ and a feed on cdn.example.com.
func (s *Service) HostFor(asked string, feed signpost.URL) string {
	isOn := func(name string) bool { return len(s.File.Hosts) == 0 || s.File.Hosts.Has(name) }
	var whole, part []signpost.Version // each with a URL that is on the host of the feed, and {{host}} as its source
	for _, v := range s.Versions {
		for u := range v.Manifest.All() {
			if !u.HasHostPlaceholder() {
				continue
			}
			name := u.HostFor(feed)
			endpoint := signpost.Endpoint{URL: u.Resolve(name).String()}
			there := signpost.Version{Source: name, Manifest: signpost.NewManifest(endpoint)}
			switch {
			case name == "" || !isOn(name):
			case name == asked:
				whole = append(whole, there)
			default:
				part = append(part, there)
			}
		}
	}
	for _, versions := range [][]signpost.Version{whole, part} {
		if m, ok := match.NewIndex(versions...).Match(feed.String()); ok {
			return m.Source
		}
	}
	if isOn(asked) {
		return asked
	}
	for _, name := range s.File.Hosts.Exact() {
		return name
	}
	return signpost.HostPlaceholder // a suffix names none
}

// hasEndpoints reports whether a version has any.
func hasEndpoints(v signpost.Version) bool { return len(v.Manifest.Endpoints) > 0 }

// ServeAll resolves services for host or, if that is none of their hosts, for one of those: see [Service.HostFor]. It
// leaves out what has no manifest for the host, as a server would, and returns a note about each such service.
func ServeAll(services []*Service, host string, feed signpost.URL) (left []*Service, notes []string, err error) {
	for _, s := range services {
		if name := s.HostFor(host, feed); s.Host == signpost.HostPlaceholder && name != s.Host {
			misfit, err := s.serveWhatFits(name)
			switch {
			case err != nil:
				return nil, nil, err
			case misfit != nil && !slices.ContainsFunc(s.Versions, hasEndpoints):
				notes = append(notes, fmt.Sprintf("%s is left out: %v", s.Name, misfit))
				continue
			case misfit != nil:
				notes = append(notes, fmt.Sprintf("%s takes part with what fits: %v", s.Name, misfit))
			}
		}
		left = append(left, s)
	}
	return left, notes, nil
}
