package cli

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"hash/maphash"
	"io"
	"log/slog"
	"net"
	"net/netip"
	"os"
	"os/signal"
	"slices"
	"sync"
	"syscall"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/crypto/acme/autocert"

	"signpost"
	"signpost/server"
)

//go:embed example.yaml
var example []byte

// exampleName stands for the built-in example in messages.
const exampleName = "example.yaml"

// The defaults of the limits. A manifest request is a few hundred bytes in and some kilobytes out, so these
// leave room for a slow network and none for a client that holds connections on purpose.
const (
	defaultReadHeaderTimeout = 5 * time.Second
	defaultReadTimeout       = 10 * time.Second
	defaultWriteTimeout      = 30 * time.Second
	defaultIdleTimeout       = 2 * time.Minute
	defaultMaxHeaderBytes    = 16 << 10
	defaultMaxConnections    = 10_000 // some 200 MB of buffers, if all are busy

	// defaultShutdownTimeout is shorter than the 30 seconds that Kubernetes waits before it kills.
	defaultShutdownTimeout = 10 * time.Second

	// defaultPollInterval is a compromise between a new manifest soon and few requests to its source.
	defaultPollInterval = 30 * time.Second
)

// serveFlags are the flags of serve.
type serveFlags struct {
	listen, redirectListen, adminListen string

	basePath       string
	features       []string
	publicHost     string
	allowedHosts   []string
	trustedProxies []string
	corsOrigin     string
	cacheControl   string

	tlsCert, tlsKey                string
	acmeDomains                    []string
	acmeCache, acmeDirectory       string
	watch                          bool
	pollInterval                   time.Duration
	definitionCache                string
	logFormat, logLevel            enum
	readHeaderTimeout, readTimeout time.Duration
	writeTimeout, idleTimeout      time.Duration
	maxHeaderBytes, maxConnections int
	maxBodyBytes                   int64
	shutdownDelay, shutdownTimeout time.Duration
}

func (c *CLI) serveCommand() *cobra.Command {
	f := serveFlags{
		logFormat: enum{value: "text", allowed: []string{"text", "json"}},
		logLevel:  enum{value: "info", allowed: []string{"debug", "info", "warn", "error"}},
	}
	cmd := &cobra.Command{
		Use:   "serve [FILE|DIR|ADDRESS ...]",
		Short: "Publish manifests over HTTP",
		Long: `Serve publishes the manifest of every version of every definition, at {base_path}/v1/endpoints-manifest and
so on. A folder stands for the .yaml, .yml and .json files in it; an http or https address is asked for
again and again. Without an argument it publishes a built-in example.

When definitions change they are taken over in one step; one with an error is logged, and the last good one
stays. SIGHUP looks at once, SIGTERM finishes open requests and ends.

The studio takes manifests over https only. Give a certificate with --tls-cert and --tls-key, or let
--acme-domain get one; or put a server in front that ends TLS, and name its address with --trusted-proxy
if it does not pass the Host header on.`,
		Example: `  signpost serve
  signpost serve feeds.yaml --feature authentication --allowed-host feeds.example.com
  signpost serve services/ --listen 127.0.0.1:8080 --trusted-proxy 127.0.0.1/32
  signpost serve feeds.yaml --listen :443 --acme-domain feeds.example.com --acme-cache /var/lib/signpost`,
		RunE: run(func(cmd *cobra.Command, args []string) error {
			if !cmd.Flags().Changed("feature") {
				f.features = nil
			}
			return c.serve(cmd.Context(), args, f)
		}),
	}
	flags := cmd.Flags()
	flags.StringVar(&f.listen, "listen", ":8080", "address to listen on")
	flags.StringVar(&f.redirectListen, "redirect-listen", "", "address to listen on for plain http, which is redirected to https")
	flags.StringVar(&f.adminListen, "admin-listen", "", "address for /healthz, /readyz and /metrics")
	flags.StringVar(&f.basePath, "base-path", "", "publish under this path, in place of the definition's own")
	addFeatureFlag(cmd, &f.features)
	flags.StringVar(&f.publicHost, "public-host", "", "the host for {{host}}, whatever the request says")
	flags.StringSliceVar(&f.allowedHosts, "allowed-host", nil, "answer for this host only, or for *.suffix (repeatable)")
	flags.StringSliceVar(&f.trustedProxies, "trusted-proxy", nil, "believe Forwarded and X-Forwarded-Host from this address range (repeatable CIDR)")
	flags.StringVar(&f.corsOrigin, "cors-origin", "*", "the origin whose pages may read manifests; none for no CORS headers")
	flags.StringVar(&f.cacheControl, "cache-control", "no-cache", "the Cache-Control of manifests")
	flags.StringVar(&f.tlsCert, "tls-cert", "", "serve https with this certificate; read again when it changes")
	flags.StringVar(&f.tlsKey, "tls-key", "", "the key of the certificate")
	flags.StringSliceVar(&f.acmeDomains, "acme-domain", nil, "serve https with a certificate for this domain from an ACME directory (repeatable)")
	flags.StringVar(&f.acmeCache, "acme-cache", "", "folder to keep ACME certificates in")
	flags.StringVar(&f.acmeDirectory, "acme-directory", autocert.DefaultACMEDirectory, "the ACME directory")
	flags.BoolVar(&f.watch, "watch", true, "take over definitions and certificates when they change")
	flags.DurationVar(&f.pollInterval, "poll-interval", defaultPollInterval, "how often to ask for a definition at an address")
	flags.StringVar(&f.definitionCache, "definition-cache", "", "folder to keep definitions from addresses in, for a start without their source")
	f.logFormat.addTo(cmd, "log-format", "how to log")
	f.logLevel.addTo(cmd, "log-level", "the least of what to log; debug has a line for each request")
	flags.DurationVar(&f.readHeaderTimeout, "read-header-timeout", defaultReadHeaderTimeout, "how long a client may take to send the headers")
	flags.DurationVar(&f.readTimeout, "read-timeout", defaultReadTimeout, "how long it may take to send the whole request")
	flags.DurationVar(&f.writeTimeout, "write-timeout", defaultWriteTimeout, "how long it may take to receive the answer")
	flags.DurationVar(&f.idleTimeout, "idle-timeout", defaultIdleTimeout, "how long a connection may be idle")
	flags.IntVar(&f.maxHeaderBytes, "max-header-bytes", defaultMaxHeaderBytes, "how large the headers of a request may be")
	flags.Int64Var(&f.maxBodyBytes, "max-body-bytes", 0, "how large the body of a request may be")
	flags.IntVar(&f.maxConnections, "max-connections", defaultMaxConnections, "how many connections may be open; others wait")
	flags.DurationVar(&f.shutdownDelay, "shutdown-delay", 0, "how long to go on after SIGTERM, not ready, so that load balancers turn away")
	flags.DurationVar(&f.shutdownTimeout, "shutdown-timeout", defaultShutdownTimeout, "how long to wait for open requests after that")
	return cmd
}

func (c *CLI) serve(ctx context.Context, args []string, f serveFlags) error {
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, syscall.SIGHUP) // from the start: it would end the program
	defer signal.Stop(signals)

	log := newLogger(c.Stderr, f.logFormat.value, f.logLevel.value)
	metrics := newMetrics()
	opts, err := f.options()
	if err != nil {
		return err
	}
	opts.Observe = newObserver(log, metrics)
	handler, err := server.New(opts)
	if err != nil {
		return usageErrorf("%w", err)
	}
	metrics.watchCache(handler)
	origins, err := newOrigins(args, f.pollInterval, f.definitionCache)
	if err != nil {
		return err
	}
	p := &publisher{handler: handler, log: log, metrics: metrics, origins: origins, features: f.features, seed: maphash.MakeSeed()}
	p.revision.Store("")
	first, err := c.publishFirst(ctx, p, f.basePath)
	if err != nil {
		return err
	}

	ctx, stop := signal.NotifyContext(ctx, syscall.SIGTERM, syscall.SIGINT)
	defer stop()
	s := servers{flags: f, log: log, failed: make(chan error, 3)}
	if err := s.start(handler, metrics); err != nil {
		s.close()
		return err
	}
	scheme := "http"
	if s.tls {
		scheme = "https"
	}
	c.printAddresses(scheme, s.addr, handler.Routes(), len(args) == 0)
	log.Info("serving", "listen", s.addr.String(), "scheme", scheme, "manifests", len(handler.Routes()),
		"revision", p.revision.Load(), "version", buildVersion())
	p.logOutcome(first)

	arrivals := make(chan struct{}, 1)
	for _, remote := range p.remotes() {
		go remote.poll(ctx, f.watch, arrivals)
	}
	go watch(ctx, f.watch, f.watchedPaths(args), signals, arrivals, func(force bool) {
		if s.certificate != nil {
			s.certificate.reload()
		}
		if force {
			for _, remote := range p.remotes() {
				remote.askNow()
			}
		}
		p.reload(ctx)
	})
	select {
	case err := <-s.failed:
		s.close()
		return fmt.Errorf("serve: %w", err)
	case <-ctx.Done():
	}
	stop() // a second signal ends the program at once
	return s.shutDown(context.WithoutCancel(ctx), p.revision.Load())
}

// watchedPaths returns the files and folders whose changes matter.
func (f serveFlags) watchedPaths(args []string) []string {
	paths := slices.DeleteFunc(slices.Clone(args), isAddress)
	if f.tlsCert != "" {
		paths = append(paths, f.tlsCert, f.tlsKey)
	}
	return paths
}

// publishFirst loads the definitions for the first time. Their findings go to standard error; an error in
// a file keeps all from being served. A source at an address may come later.
func (c *CLI) publishFirst(ctx context.Context, p *publisher, basePath string) (outcome, error) {
	if basePath != "" {
		path, err := signpost.CleanBasePath(basePath)
		if err != nil {
			return outcome{}, usageErrorf("--base-path: %w", err)
		}
		p.basePath = path
	}
	var wg sync.WaitGroup
	for _, remote := range p.remotes() {
		wg.Go(func() { remote.fetch(ctx) })
	}
	wg.Wait()
	out := p.update()
	if n := len(p.served); basePath != "" && n > 1 {
		return out, usageErrorf("--base-path is for one definition, not for %d: set base_path in each", n)
	}
	for _, err := range out.errs {
		if remote := (remoteError{}); !errors.As(err, &remote) {
			return out, err
		}
	}
	if err := c.printFirst(p, out); err != nil {
		return out, err
	}
	if p.restore() {
		restored := p.update()
		if err := c.printFirst(p, restored); err != nil {
			return out, err
		}
		out.changed = append(out.changed, restored.changed...)
	}
	if len(out.errs) > 0 {
		return out, nil // the features may be those of a definition that is to come
	}
	return out, checkFeatures(p.files(), p.features)
}

// printFirst prints the findings of definitions that are loaded for the first time, and ends with an error if
// one in a file is an error.
func (c *CLI) printFirst(p *publisher, out outcome) error {
	printFindings(c.Stderr, c.palette(c.Stderr), p.files(), out.findings)
	for _, f := range out.findings {
		if f.Severity == signpost.SeverityError && !isAddress(f.File) {
			return foundSomething
		}
	}
	return nil
}

func (f serveFlags) options() (server.Options, error) {
	opts := server.Options{
		PublicHost:   f.publicHost,
		AllowedHosts: f.allowedHosts,
		CORSOrigin:   f.corsOrigin,
		CacheControl: f.cacheControl,
		MaxBodyBytes: f.maxBodyBytes,
	}
	for _, s := range f.trustedProxies {
		prefix, err := netip.ParsePrefix(s)
		if addr, addrErr := netip.ParseAddr(s); addrErr == nil {
			prefix, err = netip.PrefixFrom(addr, addr.BitLen()), nil
		}
		if err != nil {
			return opts, usageErrorf("--trusted-proxy: %q is not an address range, such as 10.0.0.0/8", s)
		}
		opts.TrustedProxies = append(opts.TrustedProxies, prefix)
	}
	return opts, nil
}

func newLogger(w io.Writer, format, level string) *slog.Logger {
	var l slog.Level
	if err := l.UnmarshalText([]byte(level)); err != nil {
		panic(err) // the flag lets only known levels through
	}
	opts := &slog.HandlerOptions{Level: l}
	if format == "json" {
		return slog.New(slog.NewJSONHandler(w, opts))
	}
	return slog.New(slog.NewTextHandler(w, opts))
}

// maxAddresses is how many manifest addresses are printed at the start. A folder may hold thousands.
const maxAddresses = 20

// printAddresses says where the manifests are and, for the example, what to try next.
func (c *CLI) printAddresses(scheme string, addr net.Addr, routes []string, isExample bool) {
	host, port, _ := net.SplitHostPort(addr.String()) // a TCP listener always has both
	if ip, err := netip.ParseAddr(host); err == nil && ip.IsUnspecified() {
		host = "localhost"
	}
	base := scheme + "://" + net.JoinHostPort(host, port)
	if isExample {
		fmt.Fprint(c.Stdout, "The built-in example is published. ")
	}
	fmt.Fprint(c.Stdout, "Manifests:\n\n")
	for i, route := range routes {
		if i == maxAddresses {
			fmt.Fprintf(c.Stdout, "  and %d more\n", len(routes)-i)
			break
		}
		fmt.Fprintf(c.Stdout, "  %s%s\n", base, route)
	}
	if len(routes) == 0 {
		fmt.Fprintln(c.Stdout, "  none yet: the source of the definition cannot be read")
	}
	if isExample {
		fmt.Fprintf(c.Stdout, `
Try next:

  curl %s%s
  signpost studio               see what editors will see
  signpost init feeds.yaml      write a definition of your own
  signpost lint feeds.yaml      see what is wrong with it
  signpost serve feeds.yaml     publish it
`, base, routes[0])
	}
}
