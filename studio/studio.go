// Package studio is the local studio page: it shows what a configuration studio makes of a manifest, with the
// control of every modifier, the request that an app would send, and the answer to it.
//
// [New] returns the handler for a listener on loopback, and [Studio.SetFile] gives it a definition to show, again
// whenever that has changed. Manifests at addresses are registered in the page.
package studio

import (
	"cmp"
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"hash/fnv"
	"io/fs"
	"mime"
	"net/http"
	"net/netip"
	"path"
	"strconv"
	"sync"
	"time"

	"signpost/client"
	"signpost/definition"
	"signpost/host"
)

// DefaultHost is what {{host}} becomes where nothing else is said.
const DefaultHost = "localhost"

// Options say what a studio shows, and for whom.
type Options struct {
	// Listen is the address that the handler is reached at. Requests for another host are refused.
	Listen netip.AddrPort

	// Host is what {{host}} becomes in the manifests of the file, until the page is told otherwise. Empty means
	// DefaultHost.
	Host string

	// Features, if not nil, are enabled in place of those that the file enables itself. What it does not know
	// is passed over.
	Features []string

	// Address is registered when the page is opened.
	Address string

	// Example says that the file is the built-in example. Nobody serves its feeds, so the studio answers for them.
	Example bool

	// Client says how manifests and feeds are fetched.
	Client client.Options
}

// Studio is the page and what is behind it. Make one with [New].
type Studio struct {
	opts    Options
	origins map[string]bool // that requests may come from, such as http://localhost:8079
	assets  map[string]asset
	handler http.Handler

	mu         sync.Mutex
	file       fileState
	registered []*source
	lastID     int
	changed    chan struct{} // closed, and made anew, whenever something has changed
}

// New returns a studio that shows nothing yet.
func New(opts Options) (*Studio, error) {
	opts.Host = cmp.Or(opts.Host, DefaultHost)
	if !opts.Listen.IsValid() || !opts.Listen.Addr().IsLoopback() {
		return nil, fmt.Errorf("listen address %q is not on loopback", opts.Listen)
	}
	s := &Studio{opts: opts, origins: ownOrigins(opts.Listen), changed: make(chan struct{})}
	var err error
	if s.file.host, err = host.ParseName(opts.Host); err != nil {
		return nil, err
	}
	if s.assets, err = loadAssets(); err != nil {
		return nil, err
	}
	s.handler = s.guard(s.routes())
	return s, nil
}

// ServeHTTP serves the page, its interface, and the manifests of the file.
func (s *Studio) ServeHTTP(w http.ResponseWriter, r *http.Request) { s.handler.ServeHTTP(w, r) }

func (s *Studio) routes() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /api/state", s.serveState)
	mux.HandleFunc("GET /api/events", s.serveEvents)
	mux.HandleFunc("POST /api/register", s.serveRegister)
	mux.HandleFunc("POST /api/update", s.serveUpdate)
	mux.HandleFunc("POST /api/remove", s.serveRemove)
	mux.HandleFunc("POST /api/host", s.serveHost)
	mux.HandleFunc("POST /api/compose", s.serveCompose)
	mux.HandleFunc("POST /api/send", s.serveSend)
	mux.HandleFunc("POST /api/match", s.serveMatch)
	mux.HandleFunc("GET /", s.serveAsset)
	mux.HandleFunc("/", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Allow", "GET, HEAD")
		refuse(w, problem{Status: http.StatusMethodNotAllowed, Detail: "This address is only read, with GET."})
	})
	return mux
}

// SetFile shows a definition, or a manifest that was saved, in place of the one before. Where it has errors the
// last good one stays, as it does in a service, and the errors are shown beside it.
func (s *Studio) SetFile(f *definition.File) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.file.set(f, s.opts)
	s.notify()
}

// SetFileError says that the file cannot be read. What was read before stays.
func (s *Studio) SetFileError(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.file.unreadable = err.Error(); s.file.source != nil {
		s.file.build(s.opts)
	}
	s.notify()
}

// notify wakes everyone who waits for a change. The caller holds the lock.
func (s *Studio) notify() {
	close(s.changed)
	s.changed = make(chan struct{})
}

// sources returns everything that is shown, the file first. A source never changes: another takes its place.
func (s *Studio) sources() []*source {
	s.mu.Lock()
	defer s.mu.Unlock()
	all := []*source{}
	if s.file.source != nil {
		all = append(all, s.file.source)
	}
	return append(all, s.registered...)
}

// source returns the source with an id, or nil.
func (s *Studio) source(id string) *source {
	for _, src := range s.sources() {
		if src.ID == id {
			return src
		}
	}
	return nil
}

//go:embed assets
var assetFiles embed.FS

// asset is a file of the page, with all that does not depend on the request.
type asset struct {
	body        []byte
	contentType string
	etag        string
}

func loadAssets() (map[string]asset, error) {
	assets := make(map[string]asset)
	err := fs.WalkDir(assetFiles, "assets", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		body, err := assetFiles.ReadFile(name)
		if err != nil {
			return err
		}
		hash := fnv.New64a()
		hash.Write(body)
		a := asset{body: body, contentType: contentTypes[path.Ext(name)], etag: fmt.Sprintf(`"%x"`, hash.Sum64())}
		route := "/" + path.Base(name)
		if route == "/index.html" {
			route = "/"
		}
		assets[route] = a
		return nil
	})
	return assets, err
}

// contentTypes are fixed, since a system's own table may call a module anything.
var contentTypes = map[string]string{
	".html": "text/html; charset=utf-8",
	".css":  "text/css; charset=utf-8",
	".js":   "text/javascript; charset=utf-8",
	".svg":  "image/svg+xml",
}

// serveAsset serves the page and, at the paths where the service would publish them, the manifests of the file.
func (s *Studio) serveAsset(w http.ResponseWriter, r *http.Request) {
	if a, ok := s.assets[r.URL.Path]; ok {
		w.Header().Set("Content-Type", a.contentType)
		w.Header().Set("ETag", a.etag)
		w.Header().Set("Cache-Control", "no-cache")
		if r.Header.Get("If-None-Match") == a.etag {
			w.WriteHeader(http.StatusNotModified)
			return
		}
		w.Header().Set("Content-Length", strconv.Itoa(len(a.body)))
		w.Write(a.body)
		return
	}
	if src := s.source(fileID); src != nil {
		for _, v := range src.Versions {
			if v.Route == r.URL.Path {
				w.Header().Set("Content-Type", "application/json")
				w.Write(v.body)
				return
			}
		}
	}
	refuse(w, problem{Status: http.StatusNotFound, Detail: "There is nothing here. The page is at /."})
}

// maxRequest bounds what the page may send. Context values are the most of it, and ctx may have 32 KiB.
const maxRequest = 256 << 10

// readTimeout bounds how long a request may take to arrive. It comes from the same machine.
const readTimeout = 10 * time.Second

// read reads the JSON body of a request, or refuses it.
func read(w http.ResponseWriter, r *http.Request, into any) bool {
	if media, _, err := mime.ParseMediaType(r.Header.Get("Content-Type")); err != nil || media != "application/json" {
		// A form on another site can post no JSON without asking first.
		refuse(w, problem{Status: http.StatusUnsupportedMediaType, Detail: "Send application/json."})
		return false
	}
	control := http.NewResponseController(w)
	control.SetReadDeadline(time.Now().Add(readTimeout)) // an error means that there are no deadlines here, as in a test
	defer control.SetReadDeadline(time.Time{})
	dec := json.NewDecoder(http.MaxBytesReader(w, r.Body, maxRequest))
	dec.DisallowUnknownFields()
	if err := dec.Decode(into); err != nil {
		p := problem{Status: http.StatusBadRequest, Detail: "This is not the JSON that the page sends."}
		if tooLarge := new(http.MaxBytesError); errors.As(err, &tooLarge) {
			p = problem{Status: http.StatusRequestEntityTooLarge, Detail: fmt.Sprintf("More than %d KiB is not read: shorten the values.", maxRequest>>10)}
		}
		refuse(w, p)
		return false
	}
	return true
}

// answer writes a result for the page.
func answer(w http.ResponseWriter, status int, contentType string, result any) {
	body, err := json.Marshal(result)
	if err != nil { // a defect: all results are plain values
		http.Error(w, "internal error", http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", contentType)
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	w.Write(body)
}

func reply(w http.ResponseWriter, result any) { answer(w, http.StatusOK, "application/json", result) }

// problem is an RFC 9457 body, with what the page shows below it.
type problem struct {
	Title    string    `json:"title"`
	Status   int       `json:"status"`
	Detail   string    `json:"detail"`
	Hint     string    `json:"hint,omitempty"`
	Findings []finding `json:"findings,omitempty"`
}

func refuse(w http.ResponseWriter, p problem) {
	p.Title = http.StatusText(p.Status)
	answer(w, p.Status, "application/problem+json", p)
}
