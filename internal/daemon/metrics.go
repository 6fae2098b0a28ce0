package daemon

import (
	"crypto/x509"
	"maps"
	"runtime"
	"strconv"
	"sync"
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
	cache    *prometheus.CounterVec
	refused  *prometheus.CounterVec
	reloads  *prometheus.CounterVec
	loadedAt prometheus.Gauge
	loadedOK prometheus.Gauge
	findings *prometheus.GaugeVec
	revision *prometheus.GaugeVec
	expiry   *prometheus.GaugeVec
	failed   prometheus.Counter // certificates

	routes map[route]bool // routes that have metrics

	// kinds caches the metrics of each kind of response, because looking them up by label would take longer than the
	// response itself. The map is copied on write, under mu.
	kinds atomic.Pointer[map[answerKind]answerMetrics]
	mu    sync.Mutex
}

// answerKind holds the parts of an event that are labels: the versions of the definitions, times a handful of outcomes.
type answerKind struct {
	basePath, version string
	status            int
	cache             string
	refused           string
}

// route identifies a manifest in labels. Requests for no manifest have the zero value.
type route struct{ basePath, version string }

// routeStatuses are the statuses of responses that alerts and dashboards ask for. Others are rare, or have counters of
// their own.
var routeStatuses = []string{"200", "304", "500", "503"}

type answerMetrics struct {
	requests, bytes prometheus.Counter
	duration        prometheus.Observer
	more            []prometheus.Counter // for the cache and rejected hosts, if applicable
}

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
		cache: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "signpost_cache_requests_total", Help: "Lookups in the cache of rendered manifests, by result: hit or miss.",
		}, []string{"result"}),
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
	for vec, values := range map[*prometheus.CounterVec][]string{
		m.cache:   {server.CacheHit, server.CacheMiss},
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
	m.kinds.Store(&map[answerKind]answerMetrics{})
	m.setRoutes(map[route]bool{{}: true})
	m.registry.MustRegister(routeCounters{m}, m.duration, m.cache, m.refused, m.reloads, m.loadedAt, m.loadedOK, m.findings, m.revision, m.expiry, m.failed,
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

// observe counts a request.
func (m *metrics) observe(e server.Event) {
	a := m.of(answerKind{e.BasePath, e.Version, e.Status, e.Cache, e.Refused})
	a.requests.Inc()
	a.bytes.Add(float64(e.Bytes))
	a.duration.Observe(e.Duration.Seconds())
	for _, counter := range a.more {
		counter.Inc()
	}
}

// of returns the metrics of a kind of response, creating them on first use.
func (m *metrics) of(kind answerKind) answerMetrics {
	if known, ok := (*m.kinds.Load())[kind]; ok {
		return known
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	a := answerMetrics{
		requests: m.requests.WithLabelValues(kind.basePath, kind.version, strconv.Itoa(kind.status)),
		bytes:    m.bytes.WithLabelValues(kind.basePath, kind.version),
		duration: m.duration.WithLabelValues(kind.basePath, kind.version),
	}
	if kind.cache != "" {
		a.more = append(a.more, m.cache.WithLabelValues(kind.cache))
	}
	if kind.refused != "" {
		a.more = append(a.more, m.refused.WithLabelValues(kind.refused))
	}
	kinds := maps.Clone(*m.kinds.Load())
	kinds[kind] = a
	m.kinds.Store(&kinds)
	return a
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
	routes := map[route]bool{{}: true}
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
			routes[route{s.current.BasePath, version}] = true
		}
	}
	m.setRoutes(routes)
	for severity, n := range counts {
		m.findings.WithLabelValues(string(severity)).Set(float64(n))
	}
}

// setRoutes sets the routes that have counters and removes the metrics of those that are gone, so that their number
// follows the definitions.
func (m *metrics) setRoutes(routes map[route]bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	gone := false
	for r := range m.routes {
		if routes[r] {
			continue
		}
		gone = true
		labels := prometheus.Labels{"base_path": r.basePath, "version": r.version}
		m.requests.DeletePartialMatch(labels)
		m.bytes.Delete(labels)
		m.duration.Delete(labels)
	}
	m.routes = routes
	if gone {
		kinds := maps.Clone(*m.kinds.Load())
		maps.DeleteFunc(kinds, func(k answerKind, _ answerMetrics) bool { return !routes[route{k.basePath, k.version}] })
		m.kinds.Store(&kinds)
	}
}

// routeCounters collects the counters of requests and bytes, with 0 for those of a route that nobody has requested: a
// rate over a counter that comes later misses the first event. They are made for each scrape, because thousands of
// counters that mostly stay 0 would take more memory than the manifests.
type routeCounters struct{ *metrics }

func (c routeCounters) Describe(descs chan<- *prometheus.Desc) {
	c.requests.Describe(descs)
	c.bytes.Describe(descs)
}

func (c routeCounters) Collect(all chan<- prometheus.Metric) {
	c.mu.Lock() // so that no counter is added meanwhile
	defer c.mu.Unlock()
	c.requests.Collect(all)
	c.bytes.Collect(all)
	type counter struct {
		route
		status string
	}
	const anyStatus = ""
	known := make(map[counter]bool)
	for kind := range *c.kinds.Load() {
		r := route{kind.basePath, kind.version}
		known[counter{r, strconv.Itoa(kind.status)}], known[counter{r, anyStatus}] = true, true
	}
	requests, bytes := descOf(c.requests), descOf(c.bytes)
	for r := range c.routes {
		for _, status := range routeStatuses {
			if !known[counter{r, status}] {
				all <- prometheus.MustNewConstMetric(requests, prometheus.CounterValue, 0, r.basePath, r.version, status)
			}
		}
		if !known[counter{r, anyStatus}] {
			all <- prometheus.MustNewConstMetric(bytes, prometheus.CounterValue, 0, r.basePath, r.version)
		}
	}
	if !known[counter{route{}, "404"}] {
		all <- prometheus.MustNewConstMetric(requests, prometheus.CounterValue, 0, "", "", "404")
	}
}

func descOf(c prometheus.Collector) *prometheus.Desc {
	descs := make(chan *prometheus.Desc, 1)
	c.Describe(descs)
	return <-descs
}
