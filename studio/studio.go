// Package studio implements the local studio page. It shows what a configuration studio makes of manifests: the control
// for every modifier, the request that an app would send, the response, and how the endpoints of all manifests overlap.
//
// [New] returns the handler for a listener on loopback. [Studio.Show] sets the files to show, and is called again
// whenever one changes; [Studio.Register] adds the addresses of manifests. Further addresses can be registered on
// the page.
package studio

import (
	"context"
	"crypto/rand"
	"fmt"
	"net/http"
	"net/netip"
	"slices"
	"sync"

	"signpost/client"
	"signpost/diff"
	"signpost/host"
)

// DefaultHost replaces {{host}} if no other host is given, and the definition declares none.
const DefaultHost = "localhost"

// Options configure a studio. Listen and ReadRevision are required; the zero value of the others is usable.
type Options struct {
	// Listen is the address that the handler is reached at. Requests for another host are rejected.
	Listen netip.AddrPort

	// Token is what a browser must have to use the page: it is in the address that the user opens, and in a cookie from
	// then on. Empty lets every program on this machine in.
	Token string

	// Once is a token that lets one browser in and is then worth nothing. A browser that is opened with an address has it
	// on its command line, which other users can read. Empty means none.
	Once string

	// Host replaces {{host}} in the manifests of files unless a tab asks for another. Empty means the first exact host
	// that the file declares, else DefaultHost.
	Host string

	// Features, if not nil, are enabled instead of those that a file enables, unless a tab asks for others. Unknown names
	// are ignored.
	Features []string

	// SendTo is the origin, such as http://localhost:3000, that the page offers to send requests to instead of the
	// service's own host. Empty means that the page asks for one.
	SendTo string

	// Client configures how manifests and feeds are fetched.
	Client client.Options

	// Usage, if not nil, is the usage file of which the page shows counts beside controls and changes.
	Usage Usage

	// Example is the name of the built-in example, if it is shown.
	Example string

	// Starter is what the page offers to write into an empty file.
	Starter []byte

	// ReadRevision returns the text of a file at a git revision.
	ReadRevision func(ctx context.Context, revision, path string) ([]byte, error)
}

// Usage has counts of what requests use. It marshals to the JSON of a usage file.
type Usage interface {
	// Join fills in how many requests each change concerns.
	Join(changes []diff.Change)

	// Period returns the days that the counts are from, as people write them.
	Period() string
}

// Studio is the page and the state behind it. Create one with [New].
type Studio struct {
	opts     Options
	host     string          // default value of {{host}}; empty means that of each file
	origins  map[string]bool // allowed values of Origin, such as http://localhost:8079
	assets   *assets
	instance string // changes with every start
	cookie   string // the name of the one with the token: browsers send it to all ports of a host
	handler  http.Handler

	mu      sync.Mutex
	once    string        // of the options, until it is used
	rev     int           // of the state
	records []*record     // everything that is shown, files first
	views   []*view       // the last ones that pages asked for, of any revision
	changed chan struct{} // closed and replaced on every change
}

// New returns a studio that shows nothing yet.
func New(opts Options) (*Studio, error) {
	if !opts.Listen.IsValid() || !opts.Listen.Addr().IsLoopback() {
		return nil, fmt.Errorf("listen address %q is not on loopback", opts.Listen)
	}
	s := &Studio{
		opts: opts, once: opts.Once, origins: ownOrigins(opts.Listen), instance: rand.Text(), rev: 1, assets: loadAssets(),
		cookie: fmt.Sprintf("signpost-studio-%d", opts.Listen.Port()), changed: make(chan struct{}),
	}
	if opts.Host != "" {
		name, err := host.ParseName(opts.Host)
		if err != nil {
			return nil, err
		}
		s.host = name
	}
	if _, err := parseOrigin(opts.SendTo); err != nil {
		return nil, err
	}
	s.handler = s.guard(s.routes())
	return s, nil
}

// ServeHTTP serves the page, its API, and the manifests of the files.
func (s *Studio) ServeHTTP(w http.ResponseWriter, r *http.Request) { s.handler.ServeHTTP(w, r) }

func (s *Studio) routes() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /api/events", s.serveEvents)
	mux.HandleFunc("GET /api/state", api(s, s.state))
	mux.HandleFunc("GET /api/picture", api(s, s.picture))
	mux.HandleFunc("POST /api/register", api(s, s.register))
	mux.HandleFunc("POST /api/match", api(s, s.match))
	mux.HandleFunc("POST /api/update", api(s, s.update))
	mux.HandleFunc("POST /api/remove", api(s, s.remove))
	mux.HandleFunc("POST /api/compose", api(s, s.compose))
	mux.HandleFunc("POST /api/send", api(s, s.send))
	mux.HandleFunc("POST /api/difference", api(s, s.difference))
	mux.HandleFunc("POST /api/changes", api(s, s.changes))
	mux.HandleFunc("POST /api/accept", api(s, s.accept))
	mux.HandleFunc("POST /api/text", api(s, s.text))
	mux.HandleFunc("POST /api/fix", api(s, s.fix))
	mux.HandleFunc("POST /api/start", api(s, s.start))
	mux.HandleFunc("POST /api/check", api(s, s.check))
	mux.HandleFunc("GET /{$}", s.servePage)
	mux.HandleFunc("GET /", s.serveAsset)
	return mux
}

// bump starts a new revision of the state, after records have changed, and wakes up all waiters. The caller holds the
// lock.
func (s *Studio) bump() {
	s.lint()
	s.rev++
	close(s.changed)
	s.changed = make(chan struct{})
}

// record returns the record with an id, or nil. The caller holds the lock.
func (s *Studio) record(id string) *record {
	return find(s.records, func(r *record) bool { return r.ID == id })
}

// find returns the first element that fits, or nil.
func find[T any](all []*T, fits func(*T) bool) *T {
	if i := slices.IndexFunc(all, fits); i >= 0 {
		return all[i]
	}
	return nil
}
