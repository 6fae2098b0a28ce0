// Package daemon runs a manifest server: listeners, TLS, reload, metrics, health and shutdown.
//
// [New] validates a [Config], [Daemon.Start] opens the listeners, [Daemon.Load] reads the definitions for the first
// time, and [Daemon.Run] serves until its context is canceled.
package daemon

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"runtime/debug"
	"sync/atomic"
	"time"

	"signpost"
	"signpost/definition"
	"signpost/internal/source"
	"signpost/internal/wire"
	"signpost/internal/workspace"
	"signpost/server"
)

// Defaults of the Config.
const (
	DefaultListen      = ":8080"
	DefaultIdleTimeout = 2 * time.Minute

	// DefaultMaxConnections is many times what a reverse proxy opens. Each takes some 20 kB.
	DefaultMaxConnections = 1024

	// DefaultShutdownTimeout is shorter than the 30 seconds after which Kubernetes kills a pod.
	DefaultShutdownTimeout = 10 * time.Second

	// DefaultPollInterval is a compromise between fast updates and few requests to the source.
	DefaultPollInterval = 30 * time.Second
)

// Config configures a Daemon. The zero value serves nothing, over plain http and without limits: the defaults are those
// of the flags.
type Config struct {
	Sources      []source.Source // definitions to serve, watched for changes
	PollInterval time.Duration   // for remote sources; zero for never

	Definition definition.Options // how definitions are parsed
	Registered []source.Source    // what else the studio has, for findings about overlap
	BasePath   string             // overrides that of the definition, unless empty

	Handler server.Options // how manifests are served; the daemon sets Observe

	Listen      string // address of the manifest listener
	AdminListen string // address of the listener for health and metrics; empty for none

	Certificate CertificateFiles // enables https, unless empty
	ACME        ACME             // enables https, unless it has no domains

	IdleTimeout     time.Duration // zero for no limit
	MaxConnections  int           // further ones wait in the kernel's accept queue; zero for no limit
	ShutdownDelay   time.Duration // how long to keep serving, not ready, after a shutdown was requested
	ShutdownTimeout time.Duration // how long to wait for open requests after that

	Log       *slog.Logger // nil disables logging
	LogWriter *LogWriter   // where Log writes; nil if that cannot drop lines
	AccessLog bool         // log every request; at debug level they are always logged
	Version   string       // of the program, for logs, metrics and requests

	// NotifySocket is that of systemd, which learns of readiness and reloads: a path, or @ and an abstract name. Empty
	// means none.
	NotifySocket string

	timeouts timeouts // the constants in listen.go, except in tests
}

// Daemon is a manifest server. Create one with [New].
type Daemon struct {
	Config
	handler *server.Handler
	metrics *metrics

	workspace *workspace.Workspace
	remotes   []*source.Remote // also those of what is only registered
	trial     *server.Handler  // on which a service is published first
	followed  []*followed
	rejected  atomic.Pointer[[]string]  // names of what /readyz mentions: rejected definitions, unreadable sources
	failures  map[string]bool           // failures that were already logged
	uncached  map[*source.Remote]string // sources whose definitions are not in the cache, and why

	// unjudged has what was published last, and what else is registered, if it was not judged together.
	unjudged chan []*workspace.File
	warnings []signpost.Finding // as last judged

	first    Loaded
	loaded   chan struct{} // closed when files have been read for the first time
	arrivals chan bool     // of news from remote sources; true if they were demanded

	failed   chan error  // receives the error of a listener that failed
	draining atomic.Bool // shutting down

	servers     []*http.Server   // the manifest server comes first
	listeners   []*wire.Listener // of the servers
	certificate *certificate     // nil unless it comes from files
	acme        *acmeManager     // nil unless it comes from an ACME server
}

// New returns a daemon that is not running yet. The error is about the config.
func New(config Config) (*Daemon, error) {
	config.Log = cmp.Or(config.Log, slog.New(slog.DiscardHandler))
	config.timeouts = cmp.Or(config.timeouts, usualTimeouts)
	m := newMetrics(config.Version)
	config.Handler.Observe = newObserver(config.Log, config.AccessLog, m)
	handler, err := server.New(config.Handler)
	if err != nil {
		return nil, err
	}
	m.watch(handler, config.LogWriter)
	config.Definition.Accepted = accepted(config.Handler)
	d := &Daemon{
		Config: config, handler: handler, metrics: m, uncached: make(map[*source.Remote]string),
		unjudged: make(chan []*workspace.File, 1),
		failed:   make(chan error, 3), loaded: make(chan struct{}), arrivals: make(chan bool, 1),
	}
	d.trial, _ = server.New(server.Options{}) // the zero value is valid
	var sources []workspace.Source
	add := func(role workspace.Role, added []source.Source) {
		for _, s := range added {
			sources = append(sources, workspace.Source{Source: s, Role: role})
			if remote, ok := s.(*source.Remote); ok {
				d.remotes = append(d.remotes, remote)
			}
		}
	}
	add(workspace.Judged, config.Sources)
	add(workspace.Registered, config.Registered)
	d.workspace = workspace.New(workspace.Options{Definition: config.Definition, Prepare: d.prepare}, sources...)
	d.rejected.Store(&[]string{})
	return d, nil
}

// firstAnswer is how long the start waits for remote sources until it reports what is served.
const firstAnswer = time.Second

// Load reads the definitions for the first time, and publishes the good ones as soon as they are read: cached ones
// first, then files, then those of remote sources, which are polled from now on until ctx is canceled. It returns when
// all sources have answered, or soon after files were read.
func (d *Daemon) Load(ctx context.Context) Loaded {
	answers := make(chan bool, len(d.remotes))
	for _, remote := range d.remotes {
		if _, err := remote.Restore(); err != nil {
			d.Log.Error("cached definitions cannot be read", "source", remote.Name(), "error", err)
		}
		go func() {
			if remote.Status().Restored {
				<-d.loaded // so that what was cached is published first, in case the source has become bad
			}
			remote.Fetch(ctx)
			answers <- true
			select {
			case d.arrivals <- false:
			case <-ctx.Done():
			}
			remote.Poll(ctx, time.Tick(d.PollInterval), d.arrivals) // an interval of zero never ticks
		}()
	}
	result := d.update()
	close(d.loaded)
	if len(d.remotes) > 0 {
		waiting, stop := context.WithTimeout(ctx, firstAnswer)
		defer stop()
		for range d.remotes {
			select {
			case <-answers:
			case <-waiting.Done():
			}
		}
		result = d.update()
	}
	result.changed, result.Findings = d.followed, nil
	for _, s := range d.followed {
		result.Findings = append(result.Findings, s.findings...)
	}
	select {
	case files := <-d.unjudged:
		together, _ := d.judgeTogether(files)
		result.Findings = append(result.Findings, together...)
	default:
	}
	workspace.Sort(result.Findings, result.Snapshot.Files)
	result.Pending = d.logUnanswered(result.Snapshot.Failures)
	d.first = result
	return result
}

// Routes returns the paths of the published manifests.
func (d *Daemon) Routes() []string { return d.handler.Routes() }

// AcceptsAnyHost reports whether some service answers requests for any host.
func (d *Daemon) AcceptsAnyHost() bool { return d.handler.AcceptsAnyHost() }

// Address returns where the manifests are served. Call it after Start.
func (d *Daemon) Address() (scheme string, addr net.Addr) {
	scheme = "http"
	if d.certificate != nil || d.acme != nil {
		scheme = "https"
	}
	return scheme, d.listeners[0].Addr()
}

// Run serves until ctx is canceled or a listener fails, and reloads what changes. A signal on reload triggers an
// immediate reload. After ctx is canceled, open requests are completed.
func (d *Daemon) Run(ctx context.Context, reload <-chan os.Signal) error {
	d.logSettings()
	d.logResult(d.first)
	d.first = Loaded{}
	d.workspace.Forget()
	scheme, addr := d.Address()
	d.Log.Info("serving", "listen", addr.String(), "scheme", scheme,
		"manifests", len(d.Routes()), "version", d.Version)
	go func() {
		debug.FreeOSMemory() // what parsing took: an idle server would keep it for minutes
		paceServer()
	}()
	d.notify("READY=1")

	work, stop := context.WithCancel(ctx)
	defer stop()
	d.follow(work, reload)
	select {
	case err := <-d.failed:
		d.Close()
		return fmt.Errorf("serve: %w", err)
	case <-ctx.Done():
	}
	return d.shutDown(context.WithoutCancel(ctx))
}

func (d *Daemon) logSettings() {
	var sources []string
	for _, s := range d.Sources {
		sources = append(sources, s.Name())
	}
	h := d.Config.Handler
	d.Log.Info("settings", "sources", sources, "features", d.Definition.Features,
		"public_host", h.PublicHost, "allowed_hosts", h.AllowedHosts,
		"trusted_proxies", h.TrustedProxies, "cors_origin", h.CORSOrigin)
}

// follow reloads definitions and certificates when they change, and obtains those of ACME, until ctx is canceled. They
// are independent, so that none waits for another.
func (d *Daemon) follow(ctx context.Context, reload <-chan os.Signal) {
	go d.judge(ctx)
	definitions, certificates := make(chan os.Signal, 1), make(chan os.Signal, 1)
	go func() {
		for {
			select {
			case <-ctx.Done():
				return
			case s := <-reload:
				for _, remote := range d.remotes {
					remote.Hurry()
				}
				for _, to := range []chan os.Signal{definitions, certificates} {
					select {
					case to <- s:
					default: // a reload is already pending
					}
				}
			}
		}
	}()
	directories := func() []string { return source.Directories(d.workspace.Sources()) }
	watcher := source.Watcher{Directories: directories, Demands: definitions, Arrivals: d.arrivals}
	go watcher.Run(ctx, func(demanded bool) {
		if demanded {
			d.notify("RELOADING=1")
		}
		before := len(d.Routes())
		d.reload(demanded)
		if demanded || len(d.Routes()) != before {
			d.notify("READY=1")
		}
	})
	if d.certificate != nil {
		directories := func() []string {
			return []string{filepath.Dir(d.certificate.Cert), filepath.Dir(d.certificate.Key)}
		}
		watcher := source.Watcher{Directories: directories, Demands: certificates}
		go watcher.Run(ctx, d.certificate.reload)
	}
	if d.acme != nil {
		d.acme.obtain(ctx)
	}
}
