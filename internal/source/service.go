package source

import (
	"fmt"
	"net/url"
	"slices"

	"signpost"
	"signpost/definition"
	"signpost/host"
	"signpost/internal/routes"
)

// Service is what a document says, in the form that [signpost.Diff] and [signpost.NewIndex] take. Its fields stay
// empty until [NewService] has parsed the document and Load has applied the features.
type Service struct {
	Name    string
	File    *definition.File
	Served  bool     // a manifest: one version, with its features in it already and, mostly, its host
	Address *url.URL // where a manifest was fetched; nil if it comes from elsewhere

	Versions []signpost.Version
	Host     string // what Versions have for {{host}}; signpost.HostPlaceholder while that is open
}

// NewService parses a document.
func NewService(d Document) *Service {
	return &Service{Name: d.Name, File: d.Parse(), Served: d.Manifest(), Address: d.Address}
}

// Load fills in the versions with features applied: nil means those that a definition enables itself. Features
// that the definition does not have are ignored, and a manifest that was served has its own already. The latter may
// have what [Errors] calls foreign.
func (s *Service) Load(features []string) error {
	if s.Served {
		features = nil
	}
	versions, err := s.File.Manifests(KnownFeatures(s.File, features))
	if errors, _ := Errors(s); s.Served && err != nil && len(errors) == 0 {
		versions, err = s.File.Readable(nil), nil
	}
	if err != nil {
		return fmt.Errorf("compile definition %q: %w", s.Name, err)
	}
	s.Versions, s.Host = versions, signpost.HostPlaceholder
	for i := range versions {
		versions[i].Source = s.Name
	}
	if s.Served {
		s.settleServed()
	}
	return nil
}

// settleServed gives a served manifest its version and its host, as far as they are known.
func (s *Service) settleServed() {
	if len(s.Versions) == 0 {
		return
	}
	own := ""
	if s.Address != nil {
		own, _ = host.Parse(s.Address.Host)
		_, s.Versions[0].Name, _ = routes.Parse(s.Address.Path)
	}
	s.Host = s.Versions[0].Manifest.ServedHost(own)
}

// State returns the versions with their base path, which a manifest by itself does not tell.
func (s *Service) State() signpost.Service {
	state := signpost.Service{Versions: s.Versions}
	if !s.Served {
		state.BasePath = s.File.BasePath
	}
	return state
}

// KnownFeatures keeps the features that a file has, of those that were asked for; nil stays nil.
func KnownFeatures(f *definition.File, features []string) []string {
	if features == nil {
		return nil
	}
	return slices.DeleteFunc(f.Features(), func(known string) bool { return !slices.Contains(features, known) })
}

// ServeFor makes the versions what the service sends to host. A manifest that was served for another host is
// taken as if it had been served for this one.
func (s *Service) ServeFor(host string) error {
	for i, v := range s.Versions {
		manifest, err := v.Manifest.Reopen(s.Host).ForHost(host)
		if err != nil {
			return fmt.Errorf("render %q: %w", s.Name, err)
		}
		s.Versions[i].Manifest = manifest
	}
	s.Host = host
	return nil
}
