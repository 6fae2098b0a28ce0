// Package server publishes endpoints manifests over HTTP.
//
// Give [New] the compiled templates of one service or of many and mount the [Handler] that it returns;
// [Handler.Publish] replaces them while it serves.
package server

import (
	"cmp"
	"fmt"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"sync/atomic"
	"time"
	"unicode"

	"signpost"
)

// Options say how manifests are served. The zero value is the default: the host is the one that the
// request was sent to, whichever it is, and every studio may read the answer.
type Options struct {
	// PublicHost, if set, goes into every manifest, whatever host the request names.
	PublicHost string

	// AllowedHosts are the hosts that are answered for: exact, or "*.example.com" for every name below
	// example.com but not for itself. None means all.
	AllowedHosts []string

	// TrustedProxies are the peers whose Forwarded and X-Forwarded-Host headers are believed, in this
	// order. They must replace or remove both headers where a client sent them.
	TrustedProxies []netip.Prefix

	// CORSOrigin is the one origin whose pages may read manifests, such as https://studio.example.com.
	// Empty means "*", every origin; CORSNone leaves the CORS headers to whatever stands around the handler.
	CORSOrigin string

	// CacheControl is the header of that name. Empty means "no-cache": keep it, and ask whether it changed.
	CacheControl string

	// CacheBytes bounds the memory for manifests kept with their host in them. 0 means DefaultCacheBytes.
	// A manifest that does not fit is served all the same.
	CacheBytes int64

	// MaxBodyBytes is how large the body of a request may be. 0 means none: a manifest is asked for without.
	MaxBodyBytes int64

	// Observe, if set, is called for every request when it has been answered. It must be fast, and safe
	// for use by many goroutines at once.
	Observe func(*http.Request, Event)
}

// Event says how a request was answered. Nothing in it comes from the request, so that all of it can be
// the label of a metric.
type Event struct {
	Version  string // the version that was asked for, or "" where there is no manifest
	Status   int
	Bytes    int    // of the body
	Cache    string // CacheHit or CacheMiss for a manifest, else ""
	Refused  string // why the host was refused: one of the Refused constants, or ""
	Duration time.Duration
}

// What an Event says about the cache, and about a host that was refused.
const (
	CacheHit  = "hit"
	CacheMiss = "miss"

	RefusedMalformed  = "malformed"   // not a host
	RefusedForwarded  = "forwarded"   // forwarded headers that are malformed or disagree
	RefusedNotAllowed = "not-allowed" // none of the allowed hosts
)

const (
	// CORSNone as Options.CORSOrigin switches CORS headers off.
	CORSNone = "none"

	// DefaultCacheBytes is room for some thousand hosts of a usual manifest, plain and compressed.
	DefaultCacheBytes = 32 << 20

	defaultCORSOrigin   = "*"        // a manifest is public, and studios run in browsers
	defaultCacheControl = "no-cache" // a 304 is cheap, and a studio should never see an old manifest
)

// Service is one service's manifests, a template for each API version. The manifest of v1 is at
// {BasePath}/v1/endpoints-manifest. An empty BasePath is the root. Mount the handler at BasePath rather
// than with http.StripPrefix: the 404 that lists the manifests then shows their whole paths.
type Service struct {
	BasePath string
	Versions map[string]*signpost.Template
}

// Handler serves the manifests of its services. Make one with [New].
type Handler struct {
	hosts      hostPolicy
	cacheBytes int64
	zip        compressor
	maxBody    int64
	observe    func(*http.Request, Event)
	cors       bool
	table      atomic.Pointer[table]

	common   head // of every answer
	manifest head // of every manifest
}

var (
	allow           = newField("Allow", "GET, HEAD, OPTIONS")
	closeConnection = newField("Connection", "close")
	gzipCoding      = newField("Content-Encoding", "gzip")
	jsonType        = newField("Content-Type", "application/json")

	preflight = []field{
		newField("Access-Control-Allow-Methods", allow.values[0]),
		newField("Access-Control-Allow-Headers", "If-None-Match"),
		newField("Access-Control-Max-Age", "86400"), // seconds; browsers cap it lower
	}
)

// New returns a handler for the services. Without any it answers 404 until something is published.
func New(opts Options, services ...Service) (*Handler, error) {
	if err := opts.check(); err != nil {
		return nil, err
	}
	hosts, err := newHostPolicy(opts)
	if err != nil {
		return nil, err
	}
	h := &Handler{
		hosts:      hosts,
		cacheBytes: cmp.Or(opts.CacheBytes, DefaultCacheBytes),
		maxBody:    opts.MaxBodyBytes,
		observe:    opts.Observe,
		zip:        newCompressor(),
		common:     head{}.with(newField("X-Content-Type-Options", "nosniff")),
	}
	if opts.CORSOrigin != CORSNone {
		h.cors = true
		h.common = h.common.with(
			newField("Access-Control-Allow-Origin", cmp.Or(opts.CORSOrigin, defaultCORSOrigin)),
			newField("Access-Control-Expose-Headers", "ETag, Signpost-Revision"))
	}
	vary := "Accept-Encoding"
	if hosts.public == "" && len(hosts.trusted) > 0 {
		vary += ", Forwarded, X-Forwarded-Host"
	}
	h.manifest = h.common.with(newField("Cache-Control", cmp.Or(opts.CacheControl, defaultCacheControl)), newField("Vary", vary))
	if err := h.Publish(services...); err != nil {
		return nil, err
	}
	return h, nil
}

// check looks at everything but the hosts, which newHostPolicy reads.
func (o Options) check() error {
	switch {
	case o.MaxBodyBytes < 0:
		return fmt.Errorf("a body of %d bytes: give a size, or 0 for none", o.MaxBodyBytes)
	case o.CacheBytes < 0:
		return fmt.Errorf("cache of %d bytes: give a size, or 0 for the default", o.CacheBytes)
	case strings.ContainsFunc(o.CacheControl, unicode.IsControl):
		return fmt.Errorf("cache control %q has control characters: leave them out", o.CacheControl)
	case !slices.Contains([]string{"", defaultCORSOrigin, CORSNone}, o.CORSOrigin) && !validOrigin(o.CORSOrigin):
		return fmt.Errorf("CORS origin %q is not an origin as browsers send it: use %q, %q or one like https://studio.example.com",
			o.CORSOrigin, defaultCORSOrigin, CORSNone)
	}
	return nil
}

// validOrigin reports whether a browser may send s as its Origin, which has no path, no capitals and no
// usual port. Anything else would never be equal to one.
func validOrigin(s string) bool {
	u, err := url.Parse(s)
	if err != nil {
		return false
	}
	usualPort, web := map[string]string{"https": "443", "http": "80"}[u.Scheme]
	host, err := ParseHost(u.Host)
	if port := u.Port(); port != "" && port != usualPort {
		host += ":" + port
	}
	return web && err == nil && s == u.Scheme+"://"+host
}

// Publish replaces all services. If it returns an error, the ones before stay. Requests that are being
// answered are answered from the old ones.
func (h *Handler) Publish(services ...Service) error {
	t, err := newTable(services, newCache(h.cacheBytes, h.zip, h.manifest))
	if err != nil {
		return err
	}
	h.table.Store(t)
	return nil
}

// Routes returns the paths of the manifests: services as given, versions by number.
func (h *Handler) Routes() []string {
	return slices.Clone(h.table.Load().paths)
}

// CacheSize returns how many manifests are kept with their host in them, and the bytes that they take.
func (h *Handler) CacheSize() (entries int, bytes int64) { return h.table.Load().cache.size() }

// ServeHTTP answers for a manifest at its path, and with 404 at every other one.
func (h *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if h.observe == nil {
		h.answer(w, r)
		return
	}
	start := time.Now()
	event := h.answer(w, r)
	event.Duration = time.Since(start)
	h.observe(r, event)
}

// answer answers a request and says how. The duration is left to the caller.
func (h *Handler) answer(w http.ResponseWriter, r *http.Request) Event {
	t := h.table.Load() // once, so that the response is all of one table
	route := t.routes[r.URL.Path]
	tooLarge := r.ContentLength > h.maxBody || r.ContentLength < 0
	reads := r.Method == http.MethodGet || r.Method == http.MethodHead
	if route != nil && reads && !tooLarge {
		return h.serveManifest(w, r, t, route)
	}

	header := w.Header()
	if tooLarge {
		closeConnection.set(header) // what else it sends is not worth reading
	}
	if route == nil {
		return h.refuse(w, r, t.notFound, Event{})
	}
	event := Event{Version: route.version}
	switch {
	case reads:
		return h.refuse(w, r, bodyTooLarge, event)
	case r.Method == http.MethodOptions:
		h.setCommon(header)
		allow.set(header)
		if h.cors {
			for _, f := range preflight {
				f.set(header)
			}
		}
		w.WriteHeader(http.StatusNoContent)
		event.Status = http.StatusNoContent
		return event
	default:
		allow.set(header)
		return h.refuse(w, r, methodNotAllowed, event)
	}
}

// setCommon sets what every answer has.
func (h *Handler) setCommon(header http.Header) {
	for _, f := range h.common.fields {
		f.set(header)
	}
}

// refuse answers with a problem.
func (h *Handler) refuse(w http.ResponseWriter, r *http.Request, p *problem, event Event) Event {
	h.setCommon(w.Header())
	return p.write(w, r, event)
}

func (h *Handler) serveManifest(w http.ResponseWriter, r *http.Request, t *table, route *route) Event {
	event := Event{Version: route.version, Status: http.StatusOK, Cache: CacheMiss}
	host, refused := h.hosts.host(r)
	if refused != nil {
		return h.refuse(w, r, refused, Event{Version: route.version})
	}
	rep, hit, err := t.cache.get(key{route, host, acceptsGzip(r.Header["Accept-Encoding"])})
	if err != nil {
		return h.refuse(w, r, internalError, Event{Version: route.version})
	}
	if hit {
		event.Cache = CacheHit
	}
	switch {
	case matchesTag(r.Header["If-None-Match"], rep.hash):
		event.Status = http.StatusNotModified
		rep.notModified.write(w, r, event.Status, nil)
	case r.Method == http.MethodHead:
		rep.full.write(w, r, event.Status, nil)
	default:
		event.Bytes = len(rep.body)
		rep.full.write(w, r, event.Status, rep.body)
	}
	return event
}
