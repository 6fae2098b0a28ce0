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
}

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
	table      atomic.Pointer[table]

	// Header values, as below.
	origin       []string // nil: no CORS
	cacheControl []string
	vary         []string
}

// Header values are made once, put into every response as they are, and never written to.
var (
	nosniff       = []string{"nosniff"}
	exposed       = []string{"ETag, Signpost-Revision"}
	allow         = []string{"GET, HEAD, OPTIONS"}
	allowedFields = []string{"If-None-Match"}
	preflightAge  = []string{"86400"} // seconds; browsers cap it lower
	jsonType      = []string{"application/json"}
	gzipCoding    = []string{"gzip"}
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
		hosts:        hosts,
		cacheBytes:   cmp.Or(opts.CacheBytes, DefaultCacheBytes),
		zip:          newCompressor(),
		origin:       []string{cmp.Or(opts.CORSOrigin, defaultCORSOrigin)},
		cacheControl: []string{cmp.Or(opts.CacheControl, defaultCacheControl)},
		vary:         []string{"Accept-Encoding"},
	}
	if opts.CORSOrigin == CORSNone {
		h.origin = nil
	}
	if hosts.public == "" && len(hosts.trusted) > 0 {
		h.vary = []string{"Accept-Encoding, Forwarded, X-Forwarded-Host"}
	}
	if err := h.Publish(services...); err != nil {
		return nil, err
	}
	return h, nil
}

// check looks at everything but the hosts, which newHostPolicy reads.
func (o Options) check() error {
	switch {
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
	t, err := newTable(services, newCache(h.cacheBytes, h.zip))
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

// ServeHTTP answers for a manifest at its path, and with 404 at every other one.
func (h *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	header := w.Header()
	header["X-Content-Type-Options"] = nosniff
	if h.origin != nil {
		header["Access-Control-Allow-Origin"] = h.origin
		header["Access-Control-Expose-Headers"] = exposed
	}
	t := h.table.Load() // once, so that the response is all of one table
	route := t.routes[r.URL.Path]
	if route == nil {
		t.notFound.write(w, r)
		return
	}
	switch r.Method {
	case http.MethodGet, http.MethodHead:
		h.serveManifest(w, r, t, route)
	case http.MethodOptions:
		header["Allow"] = allow
		if h.origin != nil {
			header["Access-Control-Allow-Methods"] = allow
			header["Access-Control-Allow-Headers"] = allowedFields
			header["Access-Control-Max-Age"] = preflightAge
		}
		w.WriteHeader(http.StatusNoContent)
	default:
		header["Allow"] = allow
		methodNotAllowed.write(w, r)
	}
}

func (h *Handler) serveManifest(w http.ResponseWriter, r *http.Request, t *table, route *route) {
	host, refused := h.hosts.host(r)
	if refused != nil {
		refused.write(w, r)
		return
	}
	rep, err := t.cache.get(key{route, host, acceptsGzip(r.Header["Accept-Encoding"])})
	if err != nil {
		internalError.write(w, r)
		return
	}
	header := w.Header()
	header["Cache-Control"] = h.cacheControl
	header["Etag"] = rep.etag
	header["Signpost-Revision"] = route.revision
	header["Vary"] = h.vary
	if matchesTag(r.Header["If-None-Match"], rep.hash) {
		w.WriteHeader(http.StatusNotModified)
		return
	}
	if rep.gzip {
		header["Content-Encoding"] = gzipCoding
	}
	header["Content-Type"] = jsonType
	header["Content-Length"] = rep.length
	if r.Method == http.MethodGet {
		w.Write(rep.body)
	}
}
