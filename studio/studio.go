// Package studio implements the local studio page. It shows what a configuration studio makes of manifests: the control
// for every modifier, the request that an app would send, the response, and how the endpoints of all manifests overlap.
//
// [New] returns the handler for a listener on loopback. [Studio.SetFiles] sets the definitions to show, and is called
// again whenever one changes; [Studio.Register] adds the addresses of manifests. Further addresses can be registered on
// the page.
package studio

import (
	"cmp"
	"context"
	"crypto/rand"
	"fmt"
	"net/http"
	"net/netip"
	"slices"
	"sync"

	"signpost"
	"signpost/client"
	"signpost/host"
)

// DefaultHost replaces {{host}} if no other host is given.
const DefaultHost = "localhost"

// Options configure a studio. The zero value of every field but Listen is usable.
type Options struct {
	// Listen is the address that the handler is reached at. Requests for another host are rejected.
	Listen netip.AddrPort

	// Host replaces {{host}} in the manifests of files until the page changes it. Empty means DefaultHost.
	Host string

	// Features, if not nil, are enabled instead of those that a file enables, until the page changes that. Unknown
	// names are ignored.
	Features []string

	// SendTo is the origin, such as http://localhost:3000, that the page offers to send requests to instead of the
	// service's own host. Empty means that the page asks for one.
	SendTo string

	// Client configures how manifests and feeds are fetched.
	Client client.Options

	// WriteFile, if set, replaces the old text of a file with a fixed version. Without it, the page applies no fixes.
	WriteFile func(path string, old, text []byte) error

	// FeedSchema, if set, compiles a JSON Schema with a file name to a function that validates feeds. See
	// [client.CheckOptions]. Without it, the page validates no feeds.
	FeedSchema func(name string, text []byte) (func(feed any) []client.Violation, error)

	// ReadRevision, if set, returns the text of a file at a git revision.
	ReadRevision func(ctx context.Context, revision, path string) ([]byte, error)
}

// Studio is the page and the state behind it. Create one with [New].
type Studio struct {
	opts     Options
	origins  map[string]bool // allowed values of Origin, such as http://localhost:8079
	assets   map[string]asset
	build    string // changes when an asset does
	instance string // changes with every start
	handler  http.Handler
	pictures pictureGate

	mu      sync.Mutex
	rev     int // of the state; each source has the revision that it changed at
	host    string
	sendTo  string
	files   []*fileState
	found   map[string][]signpost.Finding // lint findings of everything together, by source name
	remote  []*remoteState
	overlap *overlap      // computed on first use after a change
	changed chan struct{} // closed and replaced on every change
}

// New returns a studio that shows nothing yet.
func New(opts Options) (*Studio, error) {
	opts.Host = cmp.Or(opts.Host, DefaultHost)
	if !opts.Listen.IsValid() || !opts.Listen.Addr().IsLoopback() {
		return nil, fmt.Errorf("listen address %q is not on loopback", opts.Listen)
	}
	s := &Studio{
		opts: opts, origins: ownOrigins(opts.Listen), instance: rand.Text(), rev: 1, changed: make(chan struct{}),
	}
	var err error
	if s.host, err = host.ParseName(opts.Host); err != nil {
		return nil, err
	}
	if s.sendTo, err = parseOrigin(opts.SendTo); err != nil {
		return nil, err
	}
	if s.assets, s.build, err = loadAssets(); err != nil {
		return nil, err
	}
	s.handler = s.guard(s.routes())
	return s, nil
}

// ServeHTTP serves the page, its API, and the manifests of the files.
func (s *Studio) ServeHTTP(w http.ResponseWriter, r *http.Request) { s.handler.ServeHTTP(w, r) }

func (s *Studio) routes() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /api/state", s.serveState)
	mux.HandleFunc("GET /api/events", s.serveEvents)
	mux.HandleFunc("POST /api/register", s.serveRegister)
	mux.HandleFunc("POST /api/update", s.serveUpdate)
	mux.HandleFunc("POST /api/remove", s.serveRemove)
	mux.HandleFunc("POST /api/deployment", s.serveDeployment)
	mux.HandleFunc("POST /api/compose", s.serveCompose)
	mux.HandleFunc("POST /api/send", s.serveSend)
	mux.HandleFunc("GET /api/picture", s.servePicture)
	mux.HandleFunc("POST /api/match", s.serveMatch)
	mux.HandleFunc("POST /api/changes", s.serveChanges)
	mux.HandleFunc("POST /api/accept", s.serveAccept)
	mux.HandleFunc("GET /api/base", s.serveBase)
	mux.HandleFunc("POST /api/base", s.serveRestoreBase)
	mux.HandleFunc("GET /api/text", s.serveText)
	mux.HandleFunc("POST /api/fix", s.serveFix)
	mux.HandleFunc("POST /api/check", s.serveCheck)
	mux.HandleFunc("GET /", s.serveAsset)
	mux.HandleFunc("/", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Allow", "GET, HEAD")
		refuse(w, problem{Status: http.StatusMethodNotAllowed, Detail: "This address accepts GET only."})
	})
	return mux
}

// bump starts a new revision of the state and wakes up all waiters. The caller holds the lock, and sets the revision of
// the changed sources.
func (s *Studio) bump() int {
	s.rev++
	s.overlap = nil
	close(s.changed)
	s.changed = make(chan struct{})
	return s.rev
}

// sources returns everything that is shown, files first. A source is immutable: a change replaces it.
func (s *Studio) sources() []*source {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.all()
}

// all is sources for callers that hold the lock.
func (s *Studio) all() []*source {
	all := make([]*source, 0, len(s.files)+len(s.remote))
	for _, f := range s.files {
		all = append(all, f.source)
	}
	for _, r := range s.remote {
		all = append(all, r.source)
	}
	return all
}

// source returns the source with an id, or nil.
func (s *Studio) source(id string) *source {
	all := s.sources()
	if i := slices.IndexFunc(all, func(src *source) bool { return src.ID == id }); i >= 0 {
		return all[i]
	}
	return nil
}
