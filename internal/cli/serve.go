package cli

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"os/signal"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"signpost"
	"signpost/definition"
	"signpost/server"
)

//go:embed example.yaml
var example []byte

// exampleName stands for the built-in example in messages.
const exampleName = "example.yaml"

// The limits of the HTTP server. A manifest request is a few hundred bytes in and some kilobytes out, so
// these leave room for a slow network and none for a client that holds connections on purpose.
const (
	readHeaderTimeout = 5 * time.Second
	readTimeout       = 10 * time.Second
	writeTimeout      = 30 * time.Second
	idleTimeout       = 2 * time.Minute
	maxHeaderBytes    = 16 << 10

	// defaultShutdownTimeout is shorter than the 30 seconds that Kubernetes waits before it kills.
	defaultShutdownTimeout = 10 * time.Second
)

// serveFlags are the flags of serve.
type serveFlags struct {
	listen          string
	basePath        string
	features        []string
	publicHost      string
	allowedHosts    []string
	trustedProxies  []string
	corsOrigin      string
	cacheControl    string
	logFormat       enum
	logLevel        enum
	shutdownTimeout time.Duration
}

func (c *CLI) serveCommand() *cobra.Command {
	f := serveFlags{
		logFormat: enum{value: "text", allowed: []string{"text", "json"}},
		logLevel:  enum{value: "info", allowed: []string{"debug", "info", "warn", "error"}},
	}
	cmd := &cobra.Command{
		Use:   "serve [FILE|DIR ...]",
		Short: "Publish manifests over HTTP",
		Long: `Serve publishes the manifest of every version of every definition, at {base_path}/v1/endpoints-manifest and
so on. A folder stands for the .yaml, .yml and .json files in it. Without an argument it publishes a
built-in example.

The studio takes manifests over https only: put a server in front that ends TLS, and name its address
with --trusted-proxy if it does not pass the Host header on.`,
		Example: `  signpost serve
  signpost serve feeds.yaml --feature authentication --allowed-host feeds.example.com
  signpost serve services/ --listen 127.0.0.1:8080 --trusted-proxy 127.0.0.1/32`,
		RunE: run(func(cmd *cobra.Command, args []string) error {
			if !cmd.Flags().Changed("feature") {
				f.features = nil
			}
			return c.serve(cmd.Context(), args, f)
		}),
	}
	flags := cmd.Flags()
	flags.StringVar(&f.listen, "listen", ":8080", "address to listen on")
	flags.StringVar(&f.basePath, "base-path", "", "publish under this path, in place of the definition's own")
	addFeatureFlag(cmd, &f.features)
	flags.StringVar(&f.publicHost, "public-host", "", "the host for {{host}}, whatever the request says")
	flags.StringSliceVar(&f.allowedHosts, "allowed-host", nil, "answer for this host only, or for *.suffix (repeatable)")
	flags.StringSliceVar(&f.trustedProxies, "trusted-proxy", nil, "believe Forwarded and X-Forwarded-Host from this address range (repeatable CIDR)")
	flags.StringVar(&f.corsOrigin, "cors-origin", "*", "the origin whose pages may read manifests; none for no CORS headers")
	flags.StringVar(&f.cacheControl, "cache-control", "no-cache", "the Cache-Control of manifests")
	f.logFormat.addTo(cmd, "log-format", "how to log")
	f.logLevel.addTo(cmd, "log-level", "the least of what to log")
	flags.DurationVar(&f.shutdownTimeout, "shutdown-timeout", defaultShutdownTimeout, "how long to wait for open requests after SIGTERM")
	return cmd
}

func (c *CLI) serve(ctx context.Context, args []string, f serveFlags) error {
	log := newLogger(c.Stderr, f.logFormat.value, f.logLevel.value)
	services, err := c.services(args, f)
	if err != nil {
		return err
	}
	opts, err := f.options()
	if err != nil {
		return err
	}
	handler, err := server.New(opts, services...)
	if err != nil {
		return usageErrorf("%w", err)
	}
	listener, err := net.Listen("tcp", f.listen)
	if err != nil {
		return fmt.Errorf("listen on %q: %w", f.listen, errors.Unwrap(err))
	}
	srv := &http.Server{
		Handler:           handler,
		ReadHeaderTimeout: readHeaderTimeout,
		ReadTimeout:       readTimeout,
		WriteTimeout:      writeTimeout,
		IdleTimeout:       idleTimeout,
		MaxHeaderBytes:    maxHeaderBytes,
		ErrorLog:          slog.NewLogLogger(log.Handler(), slog.LevelWarn),
	}
	ctx, stop := signal.NotifyContext(ctx, syscall.SIGTERM, syscall.SIGINT)
	defer stop()
	failed := make(chan error, 1)
	go func() { failed <- srv.Serve(listener) }()

	c.printAddresses(listener.Addr(), handler.Routes(), len(args) == 0)
	log.Info("serving", "listen", listener.Addr().String(), "manifests", len(handler.Routes()))
	select {
	case err := <-failed:
		return fmt.Errorf("serve: %w", err)
	case <-ctx.Done():
	}
	stop() // a second signal ends the program at once
	log.Info("shutting down", "timeout", f.shutdownTimeout)
	drain, cancel := context.WithTimeout(context.WithoutCancel(ctx), f.shutdownTimeout)
	defer cancel()
	if err := srv.Shutdown(drain); err != nil {
		srv.Close()
		return fmt.Errorf("shut down: open requests were cut off after %v", f.shutdownTimeout)
	}
	log.Info("stopped")
	return nil
}

// services loads the definitions and compiles them. Their findings go to standard error; an error among
// them keeps all from being served.
func (c *CLI) services(args []string, f serveFlags) ([]server.Service, error) {
	files := []*definition.File{definition.Parse(exampleName, example)}
	if len(args) > 0 {
		var err error
		if files, err = c.load(args); err != nil {
			return nil, err
		}
	}
	if f.basePath != "" {
		if len(files) > 1 {
			return nil, usageErrorf("--base-path is for one definition, not for %d: set base_path in each", len(files))
		}
		path, err := signpost.CleanBasePath(f.basePath)
		if err != nil {
			return nil, usageErrorf("--base-path: %w", err)
		}
		files[0].BasePath = path
	}
	findings := definition.Lint(files...)
	printFindings(c.Stderr, c.palette(c.Stderr), files, findings)
	if hasErrors(findings) {
		return nil, foundSomething
	}
	templates, err := compile(files, f.features)
	if err != nil {
		return nil, err
	}
	services := make([]server.Service, len(files))
	for i, file := range files {
		services[i] = server.Service{BasePath: file.BasePath, Versions: templates[i]}
	}
	return services, nil
}

func (f serveFlags) options() (server.Options, error) {
	opts := server.Options{
		PublicHost:   f.publicHost,
		AllowedHosts: f.allowedHosts,
		CORSOrigin:   f.corsOrigin,
		CacheControl: f.cacheControl,
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
func (c *CLI) printAddresses(addr net.Addr, routes []string, isExample bool) {
	host, port, _ := net.SplitHostPort(addr.String()) // a TCP listener always has both
	if ip, err := netip.ParseAddr(host); err == nil && ip.IsUnspecified() {
		host = "localhost"
	}
	base := "http://" + net.JoinHostPort(host, port)
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
	if isExample {
		fmt.Fprintf(c.Stdout, `
Try next:

  curl %s%s
  signpost init feeds.yaml      write a definition of your own
  signpost lint feeds.yaml      see what is wrong with it
  signpost serve feeds.yaml     publish it
`, base, routes[0])
	}
}
