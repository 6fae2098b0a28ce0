// Package server publishes endpoints manifests over HTTP.
//
// Pass the compiled templates of one or more services to [New] and mount the [Handler] that it returns;
// [Handler.Publish] replaces them while it serves.
package server

import (
	"cmp"
	"errors"
	"fmt"
	"io"
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

// Options configure a Handler. With the zero value, the host is the one that the request was sent to, each service
// allows its own hosts, and studios on any origin can read the response.
type Options struct {
	// PublicHost, if set, is the host in every manifest, whatever host the request names and whatever hosts are allowed.
	PublicHost string

	// AllowedHosts lists the allowed hosts: exact names, or "*.example.com" for all subdomains of example.com, but not
	// for itself. It replaces the Hosts of every service. If it is empty, those apply.
	AllowedHosts []string

	// TrustedProxies lists the peers whose Forwarded and X-Forwarded-Host headers are trusted. If the two name
	// different hosts, the request is rejected: proxies must replace or remove both headers if a client sent them.
	TrustedProxies []netip.Prefix

	// CORSOrigin is the only origin whose pages may read manifests, such as https://studio.example.com. Empty means
	// "*", any origin. CORSNone omits the CORS headers, so that an outer handler can set them.
	CORSOrigin string

	// CacheControl is the Cache-Control header. Empty means "no-cache": caches may store the manifest, but must
	// revalidate it.
	CacheControl string

	// CacheBytes limits the memory for cached manifests, one for each host. 0 means DefaultCacheBytes. A manifest that
	// does not fit is served nevertheless.
	CacheBytes int64

	// Observe, if set, is called once for every request, after its response has been written to the connection or could
	// not be written. It must be fast and safe for concurrent use.
	Observe func(*http.Request, Event)
}

// Event describes how a request was answered. All fields except Host and Err have a bounded number of values and can be
// metric labels.
type Event struct {
	BasePath string // of the requested service, or "" if there is no such manifest
	Version  string // requested, or "" if there is no such manifest
	Host     string // in the manifest, or ""
	Status   int
	Bytes    int    // number of body bytes written
	Cache    string // CacheHit or CacheMiss for a manifest, otherwise ""
	Refused  string // why the host was rejected: one of the Refused constants, or ""

	// Err is the cause of status 500 or, for any other status, the reason why the response could not be written, such
	// as a client that disconnected.
	Err error

	// Duration is the time from the start of the handler until the response was written to the connection.
	Duration time.Duration
}

// Values of Event.Cache and Event.Refused.
const (
	CacheHit  = "hit"
	CacheMiss = "miss"

	RefusedMalformed  = "malformed"   // not a host
	RefusedForwarded  = "forwarded"   // forwarded headers that are malformed or disagree
	RefusedNotAllowed = "not-allowed" // not one of the allowed hosts

	// RefusedDoesNotFit means that {{host}} is only a part of a URL's host, and the request's host is an IP address.
	RefusedDoesNotFit = "does-not-fit"

	// RefusedCollision means that two URLs of the manifest are the same for the request's host.
	RefusedCollision = "collision"
)

const (
	// CORSNone as Options.CORSOrigin disables CORS headers.
	CORSNone = "none"

	defaultCORSOrigin   = "*"        // a manifest is public, and studios run in browsers
	defaultCacheControl = "no-cache" // a 304 is cheap, and a studio should never see an outdated manifest
)

// Service holds the manifests of one service, a template for each API version. The manifest of v1 is at
// {BasePath}/v1/endpoints-manifest. An empty BasePath is the root. Mount the handler at BasePath rather than with
// http.StripPrefix, so that the 404 that lists the manifests shows their full paths.
type Service struct {
	BasePath string
	Versions map[string]*signpost.Template

	// Hosts lists the hosts that the service is published on. Requests for others get 421, except for names of this
	// machine that come from it without a proxy. If it is empty, all hosts are allowed.
	Hosts signpost.Hosts

	// Deprecated lists the versions that will be removed. Their responses carry the Deprecation header and, if the date
	// is known, Sunset.
	Deprecated map[string]signpost.Deprecation
}

// Handler serves the manifests of its services. Create one with [New].
type Handler struct {
	hosts     hostPolicy
	observe   func(*http.Request, Event)
	table     atomic.Pointer[table]
	manifests *manifests

	common    head // header of every response
	preflight *response
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

// New returns a handler for the services. Without services, it responds with 503 until something is published.
func New(opts Options, services ...Service) (*Handler, error) {
	if err := opts.check(); err != nil {
		return nil, err
	}
	hosts, err := newHostPolicy(opts)
	if err != nil {
		return nil, err
	}
	h := &Handler{
		hosts:   hosts,
		observe: opts.Observe,
		common:  head{}.with(newField("X-Content-Type-Options", "nosniff")),
	}
	answers := []field{allow} // to OPTIONS
	if opts.CORSOrigin != CORSNone {
		h.common = h.common.with(
			newField("Access-Control-Allow-Origin", cmp.Or(opts.CORSOrigin, defaultCORSOrigin)),
			newField("Access-Control-Expose-Headers", "ETag, Signpost-Revision"))
		answers = append(answers, preflight...)
	}
	h.preflight = &response{status: http.StatusNoContent, head: h.common.with(answers...)}
	vary := "Accept-Encoding"
	if hosts.public == "" && len(hosts.trusted) > 0 {
		vary += ", Forwarded, X-Forwarded-Host"
	}
	cacheControl := cmp.Or(opts.CacheControl, defaultCacheControl)
	manifest := h.common.with(newField("Cache-Control", cacheControl), newField("Vary", vary))
	h.manifests = newManifests(opts.CacheBytes, manifest)
	if err := h.Publish(services...); err != nil {
		return nil, err
	}
	return h, nil
}

// check validates all options except hosts, which newHostPolicy parses.
func (o Options) check() error {
	switch {
	case o.CacheBytes < 0:
		return fmt.Errorf("cache of %d bytes: use a positive size, or 0 for the default", o.CacheBytes)
	case strings.ContainsFunc(o.CacheControl, unicode.IsControl):
		return fmt.Errorf("cache control %q has control characters: remove them", o.CacheControl)
	case !slices.Contains([]string{"", defaultCORSOrigin, CORSNone}, o.CORSOrigin) && !validOrigin(o.CORSOrigin):
		return fmt.Errorf("CORS origin %q is not an origin as browsers send it: "+
			"use %q, %q or one like https://studio.example.com", o.CORSOrigin, defaultCORSOrigin, CORSNone)
	}
	return nil
}

// validOrigin reports whether a browser may send s as Origin: without a path, upper case or a default port. Anything
// else would never match.
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

// Publish replaces all services. If it returns an error, nothing changes. Requests in progress are completed with the
// old services. Unchanged manifests stay in the cache.
func (h *Handler) Publish(services ...Service) error {
	t, err := newTable(services)
	if err != nil {
		return err
	}
	h.manifests.reserve(t.largest)
	h.table.Store(t)
	return nil
}

// Routes returns the paths of the manifests: services in the given order, versions by number.
func (h *Handler) Routes() []string {
	return slices.Clone(h.table.Load().paths)
}

// AcceptsAnyHost reports whether some service answers requests for any host: it declares no hosts, and the options
// allow all.
func (h *Handler) AcceptsAnyHost() bool {
	if h.hosts.public != "" || len(h.hosts.allowed) > 0 {
		return false
	}
	for _, route := range h.table.Load().routes {
		if len(route.hosts) == 0 {
			return true
		}
	}
	return false
}

// CacheSize returns the number of cached manifests and their total size in bytes.
func (h *Handler) CacheSize() (entries int, bytes int64) {
	return h.manifests.cache.EstimatedSize(), int64(h.manifests.cache.WeightedSize())
}

// InFlight returns the bytes of manifests that are being rendered, or being sent and not in the cache.
func (h *Handler) InFlight() int64 {
	_, cached := h.CacheSize()
	return max(0, h.manifests.used.Load()-cached)
}

// ServeHTTP serves the manifests, and 404 for every other path. Headers set by outer handlers are kept, except those
// that describe the body; Vary, Cache-Control and Access-Control-Expose-Headers are extended.
func (h *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var start time.Time
	if h.observe != nil {
		start = time.Now()
	}
	var event Event
	res, rep := h.answer(w, r, &event)
	n, err := h.send(w, r, res)
	if rep != nil {
		h.manifests.release(rep)
	}
	if h.observe == nil {
		return
	}
	event.Status, event.Bytes, event.Duration = res.status, n, time.Since(start)
	if event.Err == nil {
		event.Err = err
	}
	h.observe(r, event)
}

// answer returns the response to a request, with the representation that it is sent from, or nil, and records how it
// came about.
func (h *Handler) answer(w http.ResponseWriter, r *http.Request, event *Event) (*response, *representation) {
	t := h.table.Load() // loaded once, so that the response comes from a single table
	hasBody := r.ContentLength != 0
	if hasBody {
		closeConnection.set(w.Header()) // do not read the rest
	}
	route := t.routes[r.URL.Path]
	if route == nil {
		return t.notFound.response(h.common, arrived{Path: shown(r.URL.Path)}), nil
	}
	event.BasePath, event.Version = route.basePath, route.version
	switch {
	case r.Method == http.MethodOptions:
		return h.preflight, nil
	case r.Method != http.MethodGet && r.Method != http.MethodHead:
		return methodNotAllowed.response(h.common, arrived{}), nil
	case hasBody && !emptyBody(r):
		return bodyTooLarge.response(h.common, arrived{}), nil
	}
	host, from, refused := h.hosts.host(r, route.hosts)
	if refused != nil {
		event.Refused = refused.refused
		return refused.refusal(h.common, from), nil
	}
	rep, hit, err := h.manifests.get(route, host, acceptsGzip(r.Header["Accept-Encoding"]))
	if err != nil {
		return h.failed(err, from, event), nil
	}
	event.Host, event.Cache = rep.host, CacheMiss
	if hit {
		event.Cache = CacheHit
	}
	if matchesTag(r.Header["If-None-Match"], rep.tag) {
		return rep.notModified, rep
	}
	return rep.full, rep
}

// emptyBody reports whether the body of a request turns out to be empty, as one of unknown length may, in chunks. It
// waits for the first of them, within the timeout of the server.
func emptyBody(r *http.Request) bool {
	if r.ContentLength > 0 {
		return false
	}
	_, err := io.ReadFull(r.Body, make([]byte, 1))
	return err == io.EOF
}

func (h *Handler) failed(err error, from taken, event *Event) *response {
	var misfit *signpost.HostError
	switch {
	case errors.Is(err, errBusy):
		return busy.response(h.common, arrived{})
	case errors.As(err, &misfit):
		refused := hostDoesNotFit
		if misfit.Same.String() != "" {
			refused = hostCollides
		}
		event.Refused = refused.refused
		return refused.refusal(h.common, from)
	}
	event.Err = err
	return internalError.response(h.common, arrived{})
}
