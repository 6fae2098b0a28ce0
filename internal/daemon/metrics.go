package daemon

import (
	"crypto/x509"
	"net/http"
	"runtime"
	"strconv"
	"sync/atomic"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promauto"

	"signpost"
	"signpost/server"
)

// metrics holds the metrics of the admin listener. No label comes from a request.
type metrics struct {
	registry *prometheus.Registry

	requests *prometheus.CounterVec
	duration *prometheus.HistogramVec
	bytes    *prometheus.CounterVec
	cache    map[string]prometheus.Counter // by result
	refused  map[string]prometheus.Counter // by reason
	reloads  map[string]prometheus.Counter // by result
	loadedAt prometheus.Gauge
	loadedOK prometheus.Gauge
	findings *prometheus.GaugeVec
	revision *prometheus.GaugeVec
	expiry   *prometheus.GaugeVec
	failed   prometheus.Counter // certificates

	routes atomic.Pointer[map[route]*routeMetrics] // what is published, made at each publish
}

// route identifies a manifest in labels. Requests for no manifest have the zero value.
type route struct{ basePath, version string }

// routeMetrics are the metrics of a route. They exist from the start, because a rate over a counter that comes later
// misses the first event, and are not looked up by label for each request, because that takes longer than the response.
type routeMetrics struct {
	revision string                     // as last set, which only setRoutes knows
	requests map[int]prometheus.Counter // by status
	bytes    prometheus.Counter
	duration prometheus.Observer
}

// Statuses of responses that alerts and dashboards ask for, with and without a manifest. Counters of others are looked
// up.
var (
	routeStatuses = []int{
		http.StatusOK, http.StatusNotModified, http.StatusInternalServerError, http.StatusServiceUnavailable,
	}
	otherStatuses = []int{http.StatusNotFound, http.StatusServiceUnavailable}
)

func newMetrics(version string) *metrics {
	registry := prometheus.NewRegistry()
	auto := promauto.With(registry)
	counters := func(name, help string, labels ...string) *prometheus.CounterVec {
		return auto.NewCounterVec(prometheus.CounterOpts{Name: name, Help: help}, labels)
	}
	byValue := func(name, help, label string, values ...string) map[string]prometheus.Counter {
		all, vec := make(map[string]prometheus.Counter), counters(name, help, label)
		for _, value := range values {
			all[value] = vec.WithLabelValues(value)
		}
		return all
	}
	gauges := func(name, help string, labels ...string) *prometheus.GaugeVec {
		return auto.NewGaugeVec(prometheus.GaugeOpts{Name: name, Help: help}, labels)
	}
	m := &metrics{
		registry: registry,
		requests: counters("signpost_requests_total",
			"Requests answered, by base path, API version and status. "+
				"Base path and version are empty if there is no such manifest.",
			"base_path", "version", "status"),
		duration: auto.NewHistogramVec(prometheus.HistogramOpts{
			Name: "signpost_request_duration_seconds",
			Help: "Time from a request until its response was written to the connection.",
			// A lookup takes microseconds; the rest is the network.
			Buckets: []float64{.00001, .0001, .001, .01, .1, 1, 10},
		}, []string{"base_path", "version"}),
		bytes: counters("signpost_response_bytes_total", "Bytes of response bodies.", "base_path", "version"),
		cache: byValue("signpost_cache_requests_total",
			"Lookups in the cache of rendered manifests, by result: hit or miss.",
			"result", server.CacheHit, server.CacheMiss),
		refused: byValue("signpost_refused_hosts_total",
			"Requests whose host was rejected, by reason: malformed, forwarded, not-allowed, does-not-fit or collision.",
			"reason", server.RefusedMalformed, server.RefusedForwarded, server.RefusedNotAllowed,
			server.RefusedDoesNotFit, server.RefusedCollision),
		reloads: byValue("signpost_reloads_total",
			"Reloads of changed definitions, by result: success or failure.", "result", "success", "failure"),
		loadedAt: gauges("signpost_last_reload_success_timestamp_seconds",
			"Time of the last successful reload of definitions.").WithLabelValues(),
		loadedOK: gauges("signpost_last_reload_successful",
			"Whether all definitions could be read and had no errors at the last check.").WithLabelValues(),
		findings: gauges("signpost_definition_findings",
			"Errors of rejected definitions and warnings about what is published, by severity.", "severity"),
		revision: gauges("signpost_manifest_info",
			"1 for each published manifest, with its revision.", "base_path", "version", "revision"),
		expiry: gauges("signpost_certificate_expiry_timestamp_seconds",
			"Expiry time of the certificate in use, by its first name.", "name"),
		failed: counters("signpost_certificate_failures_total",
			"Certificates that could not be loaded from files, and failed requests to the ACME server.").WithLabelValues(),
	}
	build := gauges("signpost_build_info", "1, with the version of Signpost and of Go.", "version", "go_version")
	build.WithLabelValues(version, runtime.Version()).Set(1)
	m.routes.Store(&map[route]*routeMetrics{{}: m.of(route{}, otherStatuses)})
	m.count(signpost.SeverityError, 0)
	m.count(signpost.SeverityWarning, 0)
	registry.MustRegister(collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	return m
}

func (m *metrics) watch(h *server.Handler, log *LogWriter) {
	auto := promauto.With(m.registry)
	gauge := func(name, help string, value func() int64) {
		auto.NewGaugeFunc(prometheus.GaugeOpts{Name: name, Help: help}, func() float64 { return float64(value()) })
	}
	gauge("signpost_cache_entries", "Rendered manifests in the cache.", func() int64 {
		entries, _ := h.CacheSize()
		return int64(entries)
	})
	gauge("signpost_cache_bytes", "Size of the rendered manifests in the cache.", func() int64 {
		_, bytes := h.CacheSize()
		return bytes
	})
	gauge("signpost_in_flight_bytes",
		"Bytes of manifests that are being rendered, or being sent and not in the cache.", h.InFlight)
	if log != nil {
		auto.NewCounterFunc(prometheus.CounterOpts{
			Name: "signpost_log_lines_dropped_total",
			Help: "Log lines that could not be written, for example because nothing reads the pipe.",
		}, func() float64 { return float64(log.Dropped()) })
	}
}

// observe counts a request. One for a manifest that was withdrawn meanwhile counts as one for none.
func (m *metrics) observe(e server.Event) {
	routes := *m.routes.Load()
	at := route{e.BasePath, e.Version}
	r := routes[at]
	if r == nil {
		at = route{}
		r = routes[at]
	}
	if counter := r.requests[e.Status]; counter != nil {
		counter.Inc()
	} else {
		m.requests.WithLabelValues(at.basePath, at.version, strconv.Itoa(e.Status)).Inc()
	}
	r.bytes.Add(float64(e.Bytes))
	r.duration.Observe(e.Duration.Seconds())
	if e.Cache != "" {
		m.cache[e.Cache].Inc()
	}
	if e.Refused != "" {
		m.refused[e.Refused].Inc()
	}
}

func (m *metrics) reloaded(ok bool) {
	if !ok {
		m.reloads["failure"].Inc()
		return
	}
	m.reloads["success"].Inc()
	m.loadedAt.SetToCurrentTime()
}

func (m *metrics) certificate(leaf *x509.Certificate) {
	name := leaf.Subject.CommonName
	if len(leaf.DNSNames) > 0 {
		name = leaf.DNSNames[0]
	}
	m.expiry.WithLabelValues(name).Set(float64(leaf.NotAfter.Unix()))
}

func (m *metrics) healthy(ok bool) {
	value := 0.0
	if ok {
		value = 1
	}
	m.loadedOK.Set(value)
}

// definitions records what is published, and the errors of what is not.
func (m *metrics) definitions(all []*followed) {
	errors := 0
	published := make(map[route]string, len(all))
	for _, s := range all {
		for _, f := range s.findings {
			if isError(f) {
				errors++
			}
		}
		if s.current == nil {
			continue
		}
		for version, template := range s.current.Versions {
			published[route{s.current.BasePath, version}] = template.Revision()
		}
	}
	m.setRoutes(published)
	m.count(signpost.SeverityError, errors)
}

func (m *metrics) count(severity signpost.Severity, n int) {
	m.findings.WithLabelValues(string(severity)).Set(float64(n))
}

func (m *metrics) of(r route, statuses []int) *routeMetrics {
	made := &routeMetrics{
		requests: make(map[int]prometheus.Counter),
		bytes:    m.bytes.WithLabelValues(r.basePath, r.version),
		duration: m.duration.WithLabelValues(r.basePath, r.version),
	}
	for _, status := range statuses {
		made.requests[status] = m.requests.WithLabelValues(r.basePath, r.version, strconv.Itoa(status))
	}
	return made
}

// setRoutes makes the metrics of new routes, given the revisions of all, and removes those of routes that are gone. The
// others stay: a server can have thousands, of which one has changed.
func (m *metrics) setRoutes(published map[route]string) {
	before := *m.routes.Load()
	routes := map[route]*routeMetrics{{}: before[route{}]}
	for r, revision := range published {
		made := before[r]
		if made == nil {
			made = m.of(r, routeStatuses)
		}
		if made.revision != revision {
			m.revision.DeleteLabelValues(r.basePath, r.version, made.revision)
			m.revision.WithLabelValues(r.basePath, r.version, revision).Set(1)
			made.revision = revision
		}
		routes[r] = made
	}
	m.routes.Store(&routes)
	for r := range before {
		if routes[r] == nil {
			labels := prometheus.Labels{"base_path": r.basePath, "version": r.version}
			m.requests.DeletePartialMatch(labels)
			m.bytes.Delete(labels)
			m.duration.Delete(labels)
			m.revision.DeletePartialMatch(labels)
		}
	}
}
