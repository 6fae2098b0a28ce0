// Package daemon runs a server of manifests: listeners, TLS, reload, metrics, health and shutdown.
//
// [New] checks a [Config], [Daemon.Load] reads the definitions, [Daemon.Start] opens the listeners, and
// [Daemon.Run] serves until its context ends.
package daemon

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"signpost/internal/source"
	"signpost/internal/wire"
	"signpost/server"
)

// The defaults. A manifest request is a few hundred bytes in and some kilobytes out, so these leave room for a slow
// network and none for a client that holds connections on purpose.
const (
	DefaultListen            = ":8080"
	DefaultReadHeaderTimeout = 5 * time.Second
	DefaultReadTimeout       = 10 * time.Second
	DefaultWriteTimeout      = 30 * time.Second
	DefaultIdleTimeout       = 2 * time.Minute
	DefaultMaxHeaderBytes    = 16 << 10

	// DefaultMaxConnections is many times what a reverse proxy opens. All of them busy take 32 MiB, or 100 MiB over https.
	DefaultMaxConnections = 2048

	// DefaultShutdownTimeout is shorter than the 30 seconds that Kubernetes waits before it kills.
	DefaultShutdownTimeout = 10 * time.Second

	// DefaultPollInterval is a compromise between a new manifest soon and few requests to its source.
	DefaultPollInterval = 30 * time.Second
)

// Config says what a daemon serves, and how. The zero value serves nothing, over plain http. Of the limits, zero means
// the default of that name, and less than zero means no limit.
type Config struct {
	Sources      []source.Source // of the definitions that are served, and followed for changes
	NoWatch      bool            // reload only on demand
	PollInterval time.Duration   // between two requests to a remote source; DefaultPollInterval if zero

	Features []string // enabled in place of those that each definition enables itself; nil leaves it to them
	BasePath string   // in place of the definition's own; empty leaves it to the definition

	Handler server.Options // how manifests are served; Observe is the daemon's own

	Listen         string // address of the manifests; DefaultListen if empty
	RedirectListen string // address of plain http that is redirected to https; empty for none
	AdminListen    string // address of health and metrics; empty for none

	Certificate CertificateFiles // serves https, unless it is empty
	ACME        ACME             // serves https, unless it has no domains

	ReadHeaderTimeout time.Duration
	ReadTimeout       time.Duration
	WriteTimeout      time.Duration
	IdleTimeout       time.Duration
	MaxHeaderBytes    int
	MaxConnections    int           // further connections wait in the kernel's accept queue
	ShutdownDelay     time.Duration // how long it keeps serving, not ready, after it was told to end
	ShutdownTimeout   time.Duration // how long it waits for open requests after that

	Log       *slog.Logger // nil logs nothing
	AccessLog bool         // log every request; at level debug they are logged in any case
	Version   string       // of the program, for logs, metrics and requests
	Notify    Notifier     // tells the service manager about readiness and reloads; the zero value tells nobody

	Ticks <-chan time.Time // replaces the ticker of source.LookInterval in tests
}

// withDefaults fills in what was left out.
func (c Config) withDefaults() Config {
	c.PollInterval = cmp.Or(c.PollInterval, DefaultPollInterval)
	c.Listen = cmp.Or(c.Listen, DefaultListen)
	c.ReadHeaderTimeout = cmp.Or(c.ReadHeaderTimeout, DefaultReadHeaderTimeout)
	c.ReadTimeout = cmp.Or(c.ReadTimeout, DefaultReadTimeout)
	c.WriteTimeout = cmp.Or(c.WriteTimeout, DefaultWriteTimeout)
	c.IdleTimeout = cmp.Or(c.IdleTimeout, DefaultIdleTimeout)
	c.MaxHeaderBytes = cmp.Or(c.MaxHeaderBytes, DefaultMaxHeaderBytes)
	c.MaxConnections = cmp.Or(c.MaxConnections, DefaultMaxConnections)
	c.ShutdownTimeout = cmp.Or(c.ShutdownTimeout, DefaultShutdownTimeout)
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	return c
}

// Daemon is a server of manifests. Make one with [New].
type Daemon struct {
	config    Config
	handler   *server.Handler
	metrics   *metrics
	publisher *publisher
	memory    *memory
	first     Loaded

	failed   chan error  // of a listener that ended by itself
	draining atomic.Bool // shutting down

	servers     []*http.Server   // the one with the manifests first
	listeners   []*wire.Listener // of the servers
	addr        net.Addr         // of the manifests
	certificate *certificate     // nil without one in files
	tls         bool
}

// New returns a daemon that does nothing yet. The error is about the config.
func New(config Config) (*Daemon, error) {
	d := &Daemon{config: config.withDefaults(), failed: make(chan error, 3)}
	d.metrics = newMetrics(d.config.Version)
	opts := d.config.Handler
	opts.Observe = newObserver(d.config.Log, d.config.AccessLog, d.metrics)
	var err error
	if d.handler, err = server.New(opts); err != nil {
		return nil, err
	}
	d.metrics.watchCache(d.handler)
	d.memory = newMemory(d.config, d.handler, d.connections)
	d.publisher = &publisher{
		handler: d.handler, log: d.config.Log, metrics: d.metrics, memory: d.memory, sources: d.config.Sources, unkept: make(map[source.Remote]unkept),
		preparer: preparer{features: d.config.Features, basePath: d.config.BasePath, host: plausibleHost(opts)},
	}
	d.publisher.revision.Store("")
	return d, nil
}

// Load reads the definitions and publishes those that are good. Where a remote source has nothing good now, and kept
// something at an earlier run, that is published too, and comes second in the result.
func (d *Daemon) Load(ctx context.Context) []Loaded {
	var wg sync.WaitGroup
	for _, remote := range d.publisher.remotes() {
		wg.Go(func() { remote.Fetch(ctx) })
	}
	wg.Wait()
	d.first = d.publisher.update()
	results := []Loaded{d.first}
	if d.publisher.restore() {
		restored := d.publisher.update()
		results = append(results, restored)
		d.first.changed = append(d.first.changed, restored.changed...)
	}
	return results
}

// Routes returns the paths of the manifests that are published.
func (d *Daemon) Routes() []string { return d.handler.Routes() }

// Address returns where the manifests are served, once Start has returned.
func (d *Daemon) Address() (scheme string, addr net.Addr) {
	if d.tls {
		return "https", d.addr
	}
	return "http", d.addr
}

// Run serves until ctx ends or a listener fails, and reloads what changes meanwhile. On a signal from reload it
// looks at once. When ctx has ended it finishes open requests.
func (d *Daemon) Run(ctx context.Context, reload <-chan os.Signal) error {
	d.logSettings()
	scheme, addr := d.Address()
	d.config.Log.Info("serving", "listen", addr.String(), "scheme", scheme, "manifests", len(d.Routes()),
		"revision", d.publisher.revision.Load(), "version", d.config.Version)
	d.publisher.logResult(d.first)
	d.first = Loaded{}
	d.publisher.release()
	d.notify("READY=1")

	work, stop := context.WithCancel(ctx)
	defer stop()
	go d.memory.run(work)
	d.follow(work, reload)
	select {
	case err := <-d.failed:
		d.Close()
		return fmt.Errorf("serve: %w", err)
	case <-ctx.Done():
	}
	stop()
	return d.shutDown(context.WithoutCancel(ctx))
}

// logSettings logs what decides who is answered, and with what.
func (d *Daemon) logSettings() {
	var sources []string
	for _, s := range d.config.Sources {
		sources = append(sources, s.Name())
	}
	list := func(values []string, none string) string {
		if len(values) == 0 {
			return none
		}
		return strings.Join(values, ", ")
	}
	features := "those that each definition enables"
	if d.config.Features != nil {
		features = list(d.config.Features, "none")
	}
	var proxies []string
	for _, prefix := range d.config.Handler.TrustedProxies {
		proxies = append(proxies, prefix.String())
	}
	d.config.Log.Info("settings", "sources", list(sources, "none"), "features", features,
		"public_host", cmp.Or(d.config.Handler.PublicHost, "that of the request"), "allowed_hosts", list(d.config.Handler.AllowedHosts, "all"),
		"trusted_proxies", list(proxies, "none"), "cors_origin", cmp.Or(d.config.Handler.CORSOrigin, "*"))
}

// follow reloads definitions and certificates when they change, each by itself so that neither waits for the other,
// until ctx ends.
func (d *Daemon) follow(ctx context.Context, reload <-chan os.Signal) {
	interval := d.config.PollInterval
	if d.config.NoWatch {
		interval = 0
	}
	arrivals := make(chan bool, 1)
	var pollers []*source.Poller
	for _, remote := range d.publisher.remotes() {
		poller := source.NewPoller(interval)
		pollers = append(pollers, poller)
		go poller.Run(ctx, remote, arrivals)
	}
	definitions, certificates := make(chan os.Signal, 1), make(chan os.Signal, 1)
	go func() {
		for {
			select {
			case <-ctx.Done():
				return
			case s := <-reload:
				for _, poller := range pollers {
					poller.Hurry()
				}
				for _, to := range []chan os.Signal{definitions, certificates} {
					select {
					case to <- s:
					default: // it is going to look
					}
				}
			}
		}
	}()
	watcher := source.Watcher{
		Directories: func() []string { return source.Directories(d.config.Sources) },
		Off:         d.config.NoWatch, Demands: definitions, Arrivals: arrivals, Ticks: d.config.Ticks,
	}
	go watcher.Run(ctx, func(demanded bool) {
		if demanded {
			d.notify("RELOADING=1\nMONOTONIC_USEC=" + monotonicMicroseconds())
		}
		d.publisher.reload(ctx, demanded)
		if demanded {
			d.notify("READY=1")
		}
	})
	if d.certificate != nil {
		watcher := source.Watcher{Directories: d.config.Certificate.directories, Off: d.config.NoWatch, Demands: certificates, Ticks: d.config.Ticks}
		go watcher.Run(ctx, func(bool) { d.certificate.reload() })
	}
}
