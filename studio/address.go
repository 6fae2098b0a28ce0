package studio

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"signpost/client"
	"signpost/definition"
	"signpost/internal/routes"
)

const (
	// maxRegistered is the maximum number of registered addresses: more than anyone looks at in a day.
	maxRegistered = 50

	// maxManifest is the maximum size of a manifest shown on the page. A browser has to lay it out.
	maxManifest = 16 << 20

	// fetchTimeout limits a fetch: somebody is waiting for it.
	fetchTimeout = 15 * time.Second
)

// remoteState is the state of a registered address.
type remoteState struct {
	source *source
}

// Register shows addresses immediately and fetches their manifests in the background. If one cannot be fetched, the
// page says why.
func (s *Studio) Register(ctx context.Context, addresses ...string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, address := range addresses {
		src := newRemote(address, hostOf(address))
		src.Notes = []string{"Fetching the manifest…"}
		src.Rev = s.bump()
		s.remote = append(s.remote, &remoteState{src})
		go s.register(ctx, address, true)
	}
}

func hostOf(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return ""
	}
	return u.Hostname()
}

// fetch returns the source at an address, or a problem.
func (s *Studio) fetch(ctx context.Context, address string) (*source, *problem) {
	u, err := client.ParseAddress(address)
	if err == nil && strings.HasPrefix(u.RawQuery, "…") {
		return nil, &problem{Status: http.StatusUnprocessableEntity, Detail: "The studio was restarted, and this page does not keep the query of an address, which may have an access token in it.", Hint: "Register the address again."}
	}
	if err != nil {
		return nil, &problem{Status: http.StatusUnprocessableEntity, Detail: sentence(err.Error())}
	}
	answer, err := client.Fetch(ctx, address, s.clientOptions())
	if err != nil {
		return nil, explain(err)
	}
	text := answer.Body
	if len(text) > maxManifest {
		return nil, &problem{Status: http.StatusBadGateway, Detail: fmt.Sprintf("The manifest is larger than %d MiB, the most that this page shows.", maxManifest>>20)}
	}
	file := definition.ParseManifest(client.Redacted(address), text)
	src := newRemote(address, u.Hostname())
	src.text = text
	// The manifest may have mistakes, which are reported as findings. Whatever can be read is shown.
	_, name, _ := routes.Parse(u.Path)
	v := version{Name: name, Revision: answer.Header.Get("Signpost-Revision"), Endpoints: []endpoint{}, body: text}
	if v.manifest, err = client.ReadManifest(text); err != nil {
		return nil, &problem{
			Status: http.StatusBadGateway, Detail: sentence(err.Error()),
			Hint:     "The address should end in a version and endpoints-manifest, such as https://feeds.example.com/v1/endpoints-manifest.",
			Findings: findings(file, definition.Lint(file), nil),
		}
	}
	keys := make([]string, len(v.manifest.Endpoints))
	for i, e := range v.manifest.Endpoints {
		keys[i] = e.URL
	}
	v.Endpoints = endpoints(v.manifest, keys, nil)
	for i := range v.Endpoints {
		v.Endpoints[i].Foreign = !onHost(v.Endpoints[i].URL, u.Hostname())
	}
	src.Versions = []version{v}
	src.definition = file
	if u.Scheme != "https" {
		src.Notes = append(src.Notes, "Plain http is fine for trying things out. A studio registers https addresses only.")
	}
	return src, nil
}

// newRemote returns an empty source for an address.
func newRemote(address, host string) *source {
	name := client.Redacted(address) // the page is shown to others, and keeps what it has
	return &source{
		ID: name, Kind: KindAddress, Name: name, address: address, Host: host, Read: time.Now().Format(time.RFC3339), Judged: true,
		Features: []feature{}, Versions: []version{}, Findings: []finding{}, Changes: []change{}, Notes: []string{},
	}
}

func (s *Studio) clientOptions() client.Options {
	opts := s.opts.Client
	if opts.Timeout == 0 {
		opts.Timeout = fetchTimeout
	}
	return opts
}

// register fetches a manifest and stores it. If the address is already registered, it is updated. With keep set, an
// address that fails is stored with its failure.
func (s *Studio) register(ctx context.Context, address string, keep bool) (*source, *problem) {
	src, failed := s.fetch(ctx, address)
	s.mu.Lock()
	defer s.mu.Unlock()
	i := slices.IndexFunc(s.remote, func(r *remoteState) bool { return r.source.address == address })
	switch {
	case failed != nil && i >= 0: // keep what was fetched before
		kept := *s.remote[i].source
		kept.Failure, kept.Rev = failed, s.bump()
		if len(kept.Versions) == 0 {
			kept.Notes = []string{}
		}
		s.remote[i].source = &kept
		return nil, failed
	case failed != nil && !keep:
		return nil, failed
	case failed != nil:
		src = newRemote(address, hostOf(address))
		src.Failure = failed
	}
	switch {
	case i >= 0:
		before := s.remote[i].source
		src.base, src.since, src.previous = before.base, before.since, before.state()
		if len(before.Versions) == 0 {
			src.base, src.since = src.state(), time.Now()
		}
		src.setChanges()
	case len(s.remote) == maxRegistered:
		return nil, &problem{Status: http.StatusConflict, Detail: fmt.Sprintf("%d addresses are registered. Remove one of them first.", maxRegistered)}
	default:
		src.base, src.since = src.state(), time.Now()
		src.setChanges()
		s.remote = append(s.remote, &remoteState{})
		i = len(s.remote) - 1
	}
	src.Rev = s.bump()
	s.remote[i].source = src
	s.relintAll(src.Rev)
	return s.remote[i].source, failed
}

// relintAll lints everything again after an address has changed. The caller holds the lock.
func (s *Studio) relintAll(rev int) {
	relinted := s.relint(rev)
	for _, f := range s.files {
		if relinted[f.name] {
			f.build(s, rev)
		}
	}
}

func (s *Studio) serveRegister(w http.ResponseWriter, r *http.Request) {
	var in struct {
		Address string `json:"address"`
		Keep    bool   `json:"keep"` // even if it fails: the page had it before the studio was restarted
	}
	if !read(w, r, &in) {
		return
	}
	s.replyRegistered(w, r, strings.TrimSpace(in.Address), in.Keep)
}

func (s *Studio) replyRegistered(w http.ResponseWriter, r *http.Request, address string, keep bool) {
	src, failed := s.register(r.Context(), address, keep)
	if failed != nil {
		refuse(w, *failed)
		return
	}
	reply(w, struct {
		Source    string `json:"source"`
		Endpoints int    `json:"endpoints"`
		Changes   int    `json:"changes"`
	}{src.ID, len(src.Versions[0].Endpoints), len(src.Changes)})
}

func (s *Studio) serveUpdate(w http.ResponseWriter, r *http.Request) {
	src, ok := s.readSource(w, r)
	if !ok {
		return
	}
	if src.Kind != KindAddress {
		refuse(w, problem{Status: http.StatusConflict, Detail: "Files are reloaded automatically when they are saved."})
		return
	}
	s.replyRegistered(w, r, src.address, false)
}

func (s *Studio) serveRemove(w http.ResponseWriter, r *http.Request) {
	src, ok := s.readSource(w, r)
	if !ok {
		return
	}
	if src.Kind != KindAddress {
		refuse(w, problem{Status: http.StatusConflict, Detail: "This file was given on the command line. To remove it, start the studio without it."})
		return
	}
	s.mu.Lock()
	s.remote = slices.DeleteFunc(s.remote, func(other *remoteState) bool { return other.source.ID == src.ID })
	s.relintAll(s.bump())
	s.mu.Unlock()
	reply(w, struct{}{})
}
