// Package server publishes endpoints manifests over HTTP.
//
// Give [New] the compiled templates of one service or of many and mount the [Handler] that it returns;
// [Handler.Publish] replaces them while it serves.
package server

import (
	"cmp"
	"errors"
	"fmt"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"sync"
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

	// TrustedProxies are the peers whose Forwarded and X-Forwarded-Host headers are believed. Where the two name
	// different hosts, the request is rejected: proxies must replace or remove both headers where a client sent them.
	TrustedProxies []netip.Prefix

	// CORSOrigin is the one origin whose pages may read manifests, such as https://studio.example.com.
	// Empty means "*", every origin; CORSNone leaves the CORS headers to whatever stands around the handler.
	CORSOrigin string

	// CacheControl is the header of that name. Empty means "no-cache": keep it, and ask whether it changed.
	CacheControl string

	// CacheBytes bounds the memory for manifests kept with their host in them. 0 means DefaultCacheBytes.
	// A manifest that does not fit is served all the same.
	CacheBytes int64

	// InFlightBytes bounds the memory for manifests that are being rendered, or being sent while they are not in the
	// cache. It is at least four times the largest manifest. 0 means DefaultInFlightBytes. A request for which there is
	// no room waits before anything is rendered.
	InFlightBytes int64

	// InFlightWait is how long such a request waits before it is answered with 503. 0 means DefaultInFlightWait.
	InFlightWait time.Duration

	// MaxBodyBytes is how large the body of a request may be. 0 means none: a manifest is asked for without.
	MaxBodyBytes int64

	// Observe, if set, is called once for every request, when its response was written to the connection or could
	// not be. That may be after the handler has returned. It must be fast, and safe for use by many goroutines at once.
	Observe func(*http.Request, Event)
}

// Event says how a request was answered. All of it but Host and Err is bounded by what is published, and can be the
// label of a metric.
type Event struct {
	BasePath string // of the service that was asked for, or "" where there is no manifest
	Version  string // that was asked for, or "" where there is no manifest
	Host     string // that went into the manifest, or "" where none did
	Status   int
	Bytes    int    // of the body, as far as they were written
	Cache    string // CacheHit or CacheMiss for a manifest, else ""
	Refused  string // why the host was refused: one of the Refused constants, or ""

	// Err is the cause of status 500 or, with another status, why the response could not be written, such as a
	// client that is gone.
	Err error

	// Duration is the time from the call of the handler until the response was written to the connection.
	Duration time.Duration
}

// What an Event says about the cache, and about a host that was refused.
const (
	CacheHit  = "hit"
	CacheMiss = "miss"

	RefusedMalformed  = "malformed"   // not a host
	RefusedForwarded  = "forwarded"   // forwarded headers that are malformed or disagree
	RefusedNotAllowed = "not-allowed" // none of the allowed hosts

	// RefusedDoesNotFit: {{host}} is only a part of a URL's host, where an IP address cannot stand.
	RefusedDoesNotFit = "does-not-fit"
)

const (
	// CORSNone as Options.CORSOrigin switches CORS headers off.
	CORSNone = "none"

	// DefaultCacheBytes is room for some thousand hosts of a usual manifest, plain and compressed. Requests with
	// made-up hosts fill it, whatever its size, so it is no larger than honest hosts need.
	DefaultCacheBytes = 16 << 20

	defaultCORSOrigin   = "*"        // a manifest is public, and studios run in browsers
	defaultCacheControl = "no-cache" // a 304 is cheap, and a studio should never see an old manifest
)

// Service is one service's manifests, a template for each API version. The manifest of v1 is at
// {BasePath}/v1/endpoints-manifest. An empty BasePath is the root. Mount the handler at BasePath rather
// than with http.StripPrefix: the 404 that lists the manifests then shows their whole paths.
type Service struct {
	BasePath string
	Versions map[string]*signpost.Template

	// Deprecated has the versions that are going to be removed. Their responses carry the header Deprecation and,
	// where the end is known, Sunset.
	Deprecated map[string]Deprecation
}

// Deprecation says since when a version is deprecated, and when it ends.
type Deprecation struct {
	Since  time.Time
	Sunset time.Time // zero if that is not decided
}

// fields returns the headers of a deprecation: RFC 9745 and RFC 8594.
func (d Deprecation) fields() []field {
	var fields []field
	if !d.Since.IsZero() {
		fields = append(fields, newField("Deprecation", fmt.Sprintf("@%d", d.Since.Unix())))
	}
	if !d.Sunset.IsZero() {
		fields = append(fields, newField("Sunset", d.Sunset.UTC().Format(http.TimeFormat)))
	}
	return fields
}

// Handler serves the manifests of its services. Make one with [New].
type Handler struct {
	hosts    hostPolicy
	maxBody  int64
	inFlight int64        // bytes, but for large manifests
	streams  atomic.Int64 // HTTP/2 requests that are being answered
	observe  func(*http.Request, Event)
	conn     func(http.ResponseWriter, *http.Request) announcer // connOf, but for tests
	table    atomic.Pointer[table]
	cache    *cache

	publishing sync.Mutex

	common    head // of every response
	preflight *response
	problems  map[*problem]*response
}

var (
	allow           = newField("Allow", "GET, HEAD, OPTIONS")
	closeConnection = newField("Connection", "close")
	gzipCoding      = newField("Content-Encoding", "gzip")
	jsonType        = newField("Content-Type", "application/json")
	noStore         = newField("Cache-Control", "no-store")
	problemType     = newField("Content-Type", "application/problem+json")

	preflight = []field{
		newField("Access-Control-Allow-Methods", allow.values[0]),
		newField("Access-Control-Allow-Headers", "If-None-Match"),
		newField("Access-Control-Max-Age", "86400"), // seconds; browsers cap it lower
	}
)

// New returns a handler for the services. Without any it answers 503 until something is published.
func New(opts Options, services ...Service) (*Handler, error) {
	if err := opts.check(); err != nil {
		return nil, err
	}
	hosts, err := newHostPolicy(opts)
	if err != nil {
		return nil, err
	}
	h := &Handler{
		hosts:    hosts,
		maxBody:  opts.MaxBodyBytes,
		inFlight: cmp.Or(opts.InFlightBytes, DefaultInFlightBytes),
		observe:  opts.Observe,
		conn:     connOf,
		common:   head{}.with(newField("X-Content-Type-Options", "nosniff")),
		problems: make(map[*problem]*response),
	}
	cors := opts.CORSOrigin != CORSNone
	if cors {
		h.common = h.common.with(
			newField("Access-Control-Allow-Origin", cmp.Or(opts.CORSOrigin, defaultCORSOrigin)),
			newField("Access-Control-Expose-Headers", "ETag, Signpost-Revision"))
	}
	for _, p := range problems {
		h.problems[p] = p.response(h.common)
	}
	h.preflight = &response{status: http.StatusNoContent, head: h.common.with(allow)}
	if cors {
		h.preflight.head = h.preflight.head.with(preflight...)
	}
	vary := "Accept-Encoding"
	if hosts.public == "" && len(hosts.trusted) > 0 {
		vary += ", Forwarded, X-Forwarded-Host"
	}
	manifest := h.common.with(newField("Cache-Control", cmp.Or(opts.CacheControl, defaultCacheControl)), newField("Vary", vary))
	h.cache = newCache(cmp.Or(opts.CacheBytes, DefaultCacheBytes), h.inFlight,
		cmp.Or(opts.InFlightWait, DefaultInFlightWait), newRenderer(manifest))
	h.table.Store(new(table))
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
	case o.InFlightBytes < 0:
		return fmt.Errorf("%d bytes in flight: give a size, or 0 for the default", o.InFlightBytes)
	case o.InFlightWait < 0:
		return fmt.Errorf("wait of %v for room: give a duration, or 0 for the default", o.InFlightWait)
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
// answered are answered from the old ones. A manifest that has not changed stays in the cache.
func (h *Handler) Publish(services ...Service) error {
	h.publishing.Lock()
	defer h.publishing.Unlock()
	before := h.table.Load()
	t, err := newTable(services, before, h.common)
	if err != nil {
		return err
	}
	h.cache.room.resize(max(h.inFlight, inFlightManifests*t.largest))
	h.table.Store(t)
	h.cache.drop(before.routesWithout(t))
	return nil
}

// Routes returns the paths of the manifests: services as given, versions by number.
func (h *Handler) Routes() []string {
	return slices.Clone(h.table.Load().paths)
}

// CacheSize returns how many manifests are kept with their host in them, and the bytes that they take.
func (h *Handler) CacheSize() (entries int, bytes int64) { return h.cache.size() }

// InFlight returns the bytes of manifests that are being rendered, or sent while they are not in the cache.
func (h *Handler) InFlight() int64 { return h.cache.room.inUse() }

// ServeHTTP answers for a manifest at its path, and with 404 at every other one. Headers that a handler around it has
// set are kept, apart from those that describe the body; Vary, Cache-Control and Access-Control-Expose-Headers are
// extended.
func (h *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	d := deliveries.Get().(*delivery)
	*d = delivery{handler: h, request: r}
	if h.observe != nil {
		d.start = time.Now()
	}
	if r.ProtoMajor == 2 {
		defer h.streams.Add(-1)
		switch n := h.streams.Add(1); {
		case n > 2*maxStreams:
			panic(http.ErrAbortHandler) // resets the stream: a response could wait for the client, too
		case n > maxStreams:
			h.send(w, r, h.problems[busy], d)
			return
		}
	}
	h.send(w, r, h.answer(w, r, d), d)
}

// answer returns the response to a request, and notes in the delivery how it came about.
func (h *Handler) answer(w http.ResponseWriter, r *http.Request, d *delivery) *response {
	t := h.table.Load() // once, so that the response is all of one table
	route := t.routes[r.URL.Path]
	tooLarge := r.ContentLength > h.maxBody || r.ContentLength < 0
	reads := r.Method == http.MethodGet || r.Method == http.MethodHead
	if tooLarge {
		closeConnection.set(w.Header()) // what else it sends is not worth reading
	}
	if route == nil {
		return t.notFound
	}
	d.event.BasePath, d.event.Version = route.basePath, route.version
	switch {
	case reads && !tooLarge:
		return h.manifest(r, route, d)
	case reads:
		return h.problems[bodyTooLarge]
	case r.Method == http.MethodOptions:
		return h.preflight
	default:
		return h.problems[methodNotAllowed]
	}
}

// manifest returns the response to a request for a manifest.
func (h *Handler) manifest(r *http.Request, route *route, d *delivery) *response {
	host, refused := h.hosts.host(r)
	if refused != nil {
		d.event.Refused = refused.refused
		return h.problems[refused]
	}
	e, hit, err := h.cache.get(r.Context(), key{route, host, acceptsGzip(r.Header["Accept-Encoding"])})
	if err != nil {
		return h.failed(err, d)
	}
	d.entry = e
	d.event.Host = e.host
	d.event.Cache = CacheMiss
	if hit {
		d.event.Cache = CacheHit
	}
	if matchesTag(r.Header["If-None-Match"], e.rep.hash) {
		return &e.rep.notModified
	}
	return &e.rep.full
}

// failed returns the response for a manifest that could not be rendered.
func (h *Handler) failed(err error, d *delivery) *response {
	var misfit *signpost.HostError
	switch {
	case errors.Is(err, errBusy):
		return h.problems[busy]
	case errors.As(err, &misfit):
		d.event.Refused = RefusedDoesNotFit
		return h.problems[hostDoesNotFit]
	}
	d.event.Err = err
	return h.problems[internalError]
}
