package studio

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"signpost/client"
	"signpost/definition"
	"signpost/internal/httpurl"
	sources "signpost/internal/source"
	"signpost/internal/workspace"
)

const (
	// maxManifest is the maximum size of a manifest shown on the page. A browser has to lay it out.
	maxManifest = 16 << 20

	// fetchTimeout limits a fetch: somebody is waiting for it.
	fetchTimeout = 15 * time.Second
)

// Register shows addresses immediately and fetches their manifests in the background. If one cannot be fetched, the
// page says why.
func (s *Studio) Register(ctx context.Context, addresses ...*url.URL) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, address := range addresses {
		s.records = append(s.records, newAddress(address))
		go s.fetch(ctx, address)
	}
	s.bump()
}

func newAddress(address *url.URL) *record {
	// The page is shown to others, and keeps what it has: it does not get the query.
	return &record{ID: httpurl.Redacted(address.String()), Kind: KindAddress, Judged: true, address: address}
}

// fetch fetches the manifest of a registered address.
func (s *Studio) fetch(ctx context.Context, address *url.URL) error {
	now, why := s.fetchText(ctx, address)
	s.mu.Lock()
	defer s.mu.Unlock()
	r := s.registered(address)
	if r == nil { // it was removed in the meantime
		return noSource
	}
	return s.take(r, now, why)
}

// registered returns the record of an address, or nil. The caller holds the lock.
func (s *Studio) registered(address *url.URL) *record {
	return find(s.records, func(r *record) bool { return r.address != nil && *r.address == *address })
}

// take makes what was fetched the text of a record, or else the reason why nothing was. The caller holds the lock.
func (s *Studio) take(r *record, now *workspace.File, why *problem) error {
	defer s.bump()
	if why != nil {
		r.Failure = why
		return why
	}
	r.set(now)
	return nil
}

// fetchText fetches a manifest. It may have mistakes, which are reported as findings; whatever can be read is shown.
func (s *Studio) fetchText(ctx context.Context, address *url.URL) (*workspace.File, *problem) {
	if strings.HasPrefix(address.RawQuery, "…") {
		return nil, failed(http.StatusUnprocessableEntity,
			"The studio was restarted, and this page does not keep the query of an address, which may have an access "+
				"token in it.",
			"Register the address again.")
	}
	fetched, err := client.Fetch(ctx, address.String(), s.clientOptions())
	if err != nil {
		return nil, explain(err)
	}
	if len(fetched.Body) > maxManifest {
		detail := fmt.Sprintf("The manifest is larger than %d MiB, the most that this page shows.", maxManifest>>20)
		return nil, failed(http.StatusBadGateway, detail, "")
	}
	document := sources.Document{Name: httpurl.Redacted(address.String()), Text: fetched.Body, Address: address}
	now := &workspace.File{Document: document, Definition: document.Parse()}
	if err := unusable(now); err != nil {
		why := failed(http.StatusBadGateway, sentence(err.Error()),
			"The address should end in a version and endpoints-manifest, such as "+
				"https://feeds.example.com/v1/endpoints-manifest.")
		why.Findings = findings(now.Definition, definition.Lint(now.Definition))
		return nil, why
	}
	return now, nil
}

func (s *Studio) clientOptions() client.Options {
	opts := s.opts.Client
	opts.Timeout = cmp.Or(opts.Timeout, fetchTimeout)
	return opts
}

type registerBody struct {
	Address string `json:"address"`
	Keep    bool   `json:"keep"` // even if it fails: the page had it before the studio was restarted
}

func (s *Studio) register(c call, in registerBody) (any, error) {
	address, err := httpurl.ParseAddress(strings.TrimSpace(in.Address))
	if err != nil {
		return nil, err
	}
	now, why := s.fetchText(c.r.Context(), address)
	s.mu.Lock()
	defer s.mu.Unlock()
	r := s.registered(address)
	if r == nil && why != nil && !in.Keep {
		return nil, why
	}
	if r == nil {
		r = newAddress(address)
		s.records = append(s.records, r)
	}
	return object{"source": r.ID}, s.take(r, now, why)
}

func (s *Studio) update(c call, _ sourceBody) (any, error) {
	if c.src.Kind != KindAddress {
		return nil, conflict("Files are reloaded automatically when they are saved.", "")
	}
	return object{}, s.fetch(c.r.Context(), c.src.address)
}

func (s *Studio) remove(c call, _ sourceBody) (any, error) {
	if c.src.Kind != KindAddress {
		return nil, conflict("This file was given on the command line. To remove it, start the studio without it.", "")
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.records = slices.DeleteFunc(s.records, func(other *record) bool { return other.ID == c.src.ID })
	s.bump()
	return object{}, nil
}
