package daemon

import (
	"crypto/x509"
	"net/http"
	"runtime"
	"strconv"
	"sync/atomic"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"

	"signpost"
	"signpost/server"
)

// metrics holds the metrics of the admin listener. No label comes from a request.
type metrics struct {
	registry *prometheus.Registry

	requests *prometheus.CounterVec
	duration *prometheus.HistogramVec
	bytes    *prometheus.CounterVec
	hits     prometheus.Counter // in the cache
	misses   prometheus.Counter
	refused  *prometheus.CounterVec
	reloads  *prometheus.CounterVec
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
	requests map[int]prometheus.Counter // by status, of those in routeStatuses
	bytes    prometheus.Counter
	duration prometheus.Observer
}

// routeStatuses are the statuses of responses that alerts and dashboards ask for. Counters of others are looked up.
var routeStatuses = []int{http.StatusOK, http.StatusNotModified, http.StatusNotFound, http.StatusInternalServerError, http.StatusServiceUnavailable}

func newMetrics(version string) *metrics {
	m := &metrics{
		registry: prometheus.NewRegistry(),
		requests: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "signpost_requests_total", Help: "Requests answered, by base path, API version and status. Base path and version are empty if there is no such manifest.",
		}, []string{"base_path", "version", "status"}),
		duration: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "signpost_request_duration_seconds", Help: "Time from a request until its response was written to the connection.",
			Buckets: []float64{.00001, .0001, .001, .01, .1, 1, 10}, // a lookup takes microseconds; the rest is the network
		}, []string{"base_path", "version"}),
		bytes: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "signpost_response_bytes_total", Help: "Bytes of response bodies.",
		}, []string{"base_path", "version"}),
		refused: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "signpost_refused_hosts_total", Help: "Requests whose host was rejected, by reason: malformed, forwarded, not-allowed or does-not-fit.",
		}, []string{"reason"}),
		reloads: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "signpost_reloads_total", Help: "Reloads of changed definitions, by result: success or failure.",
		}, []string{"result"}),
		loadedAt: prometheus.NewGauge(prometheus.GaugeOpts{
			Name: "signpost_last_reload_success_timestamp_seconds", Help: "Time of the last successful reload of definitions.",
		}),
		loadedOK: prometheus.NewGauge(prometheus.GaugeOpts{
			Name: "signpost_last_reload_successful", Help: "Whether all definitions could be read and had no errors at the last check.",
		}),
		findings: prometheus.NewGaugeVec(prometheus.GaugeOpts{
			Name: "signpost_definition_findings", Help: "Findings in the definitions as they were last read, by severity.",
		}, []string{"severity"}),
		revision: prometheus.NewGaugeVec(prometheus.GaugeOpts{
			Name: "signpost_manifest_info", Help: "1 for each published manifest, with its revision.",
		}, []string{"base_path", "version", "revision"}),
		expiry: prometheus.NewGaugeVec(prometheus.GaugeOpts{
			Name: "signpost_certificate_expiry_timestamp_seconds", Help: "Expiry time of the certificate in use, by its first name.",
		}, []string{"name"}),
		failed: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "signpost_certificate_failures_total", Help: "Certificates that could not be loaded from files, and failed requests to the ACME server.",
		}),
	}
	cache := prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "signpost_cache_requests_total", Help: "Lookups in the cache of rendered manifests, by result: hit or miss.",
	}, []string{"result"})
	m.hits, m.misses = cache.WithLabelValues(server.CacheHit), cache.WithLabelValues(server.CacheMiss)
	for vec, values := range map[*prometheus.CounterVec][]string{
		m.refused: {server.RefusedMalformed, server.RefusedForwarded, server.RefusedNotAllowed, server.RefusedDoesNotFit},
		m.reloads: {"success", "failure"},
	} {
		for _, value := range values {
			vec.WithLabelValues(value)
		}
	}
	build := prometheus.NewGauge(prometheus.GaugeOpts{
		Name: "signpost_build_info", Help: "1, with the version of Signpost and of Go.",
		ConstLabels: prometheus.Labels{"version": version, "go_version": runtime.Version()},
	})
	build.Set(1)
	m.routes.Store(&map[route]*routeMetrics{})
	m.setRoutes(nil)
	m.registry.MustRegister(m.requests, m.bytes, m.duration, cache, m.refused, m.reloads, m.loadedAt, m.loadedOK, m.findings, m.revision, m.expiry, m.failed,
		build, collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	return m
}

// watchCache adds metrics for the size of a handler's cache, and for manifests in flight.
func (m *metrics) watchCache(h *server.Handler) {
	m.registry.MustRegister(
		prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: "signpost_cache_entries", Help: "Rendered manifests in the cache."},
			func() float64 { n, _ := h.CacheSize(); return float64(n) }),
		prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: "signpost_cache_bytes", Help: "Size of the rendered manifests in the cache."},
			func() float64 { _, n := h.CacheSize(); return float64(n) }),
		prometheus.NewGaugeFunc(prometheus.GaugeOpts{
			Name: "signpost_in_flight_bytes", Help: "Bytes of manifests that are being rendered, or being sent and not in the cache.",
		}, func() float64 { return float64(h.InFlight()) }),
	)
}

// watchLog adds a metric for log lines that were dropped.
func (m *metrics) watchLog(dropped func() int64) {
	m.registry.MustRegister(prometheus.NewCounterFunc(prometheus.CounterOpts{
		Name: "signpost_log_lines_dropped_total", Help: "Log lines that could not be written, for example because nothing reads the pipe.",
	}, func() float64 { return float64(dropped()) }))
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
	switch {
	case e.Cache == server.CacheHit:
		m.hits.Inc()
	case e.Cache != "":
		m.misses.Inc()
	}
	if e.Refused != "" {
		m.refused.WithLabelValues(e.Refused).Inc()
	}
}

// reloaded counts a reload.
func (m *metrics) reloaded(ok bool) {
	if ok {
		m.reloads.WithLabelValues("success").Inc()
		m.loadedAt.SetToCurrentTime()
	} else {
		m.reloads.WithLabelValues("failure").Inc()
	}
}

// certificate records the certificate in use.
func (m *metrics) certificate(leaf *x509.Certificate) {
	name := leaf.Subject.CommonName
	if len(leaf.DNSNames) > 0 {
		name = leaf.DNSNames[0]
	}
	m.expiry.WithLabelValues(name).Set(float64(leaf.NotAfter.Unix()))
}

// healthy records whether everything could be read and was good at the last check.
func (m *metrics) healthy(ok bool) {
	m.loadedOK.Set(0)
	if ok {
		m.loadedOK.Set(1)
	}
}

// definitions records what is published.
func (m *metrics) definitions(all []*served) {
	counts := map[signpost.Severity]int{signpost.SeverityError: 0, signpost.SeverityWarning: 0}
	var routes []route
	m.revision.Reset()
	for _, s := range all {
		for _, f := range s.all() {
			counts[f.Severity]++
		}
		if s.current == nil {
			continue
		}
		for version, template := range s.current.Versions {
			m.revision.WithLabelValues(s.current.BasePath, version, template.Revision()).Set(1)
			routes = append(routes, route{s.current.BasePath, version})
		}
	}
	m.setRoutes(routes)
	for severity, n := range counts {
		m.findings.WithLabelValues(string(severity)).Set(float64(n))
	}
}

// setRoutes makes the metrics of published routes, and removes those of routes that are gone.
func (m *metrics) setRoutes(published []route) {
	before, routes := *m.routes.Load(), make(map[route]*routeMetrics, len(published)+1)
	for _, r := range append(published, route{}) {
		if routes[r] = before[r]; routes[r] != nil {
			continue
		}
		made := &routeMetrics{
			requests: make(map[int]prometheus.Counter, len(routeStatuses)),
			bytes:    m.bytes.WithLabelValues(r.basePath, r.version),
			duration: m.duration.WithLabelValues(r.basePath, r.version),
		}
		for _, status := range routeStatuses {
			if (status == http.StatusNotFound) == (r == route{}) || status == http.StatusServiceUnavailable { // the only ones without a manifest
				made.requests[status] = m.requests.WithLabelValues(r.basePath, r.version, strconv.Itoa(status))
			}
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
		}
	}
}
