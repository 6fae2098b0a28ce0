package cli

import (
	"context"
	_ "embed"
	"io"
	stdlog "log"
	"log/slog"
	"net"
	"net/netip"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"signpost"
	"signpost/definition"
	"signpost/host"
	"signpost/internal/daemon"
	"signpost/internal/routes"
	"signpost/internal/source"
	"signpost/internal/workspace"
)

//go:embed example.yaml
var example []byte

// exampleName is the name of the built-in example in messages.
const exampleName = "example.yaml"

// serveFlags holds the flags of serve. Most of them are fields of the config.
type serveFlags struct {
	config              daemon.Config
	trustedProxies      []string
	definitionCache     string
	project             string
	isExample           bool // there is no source; set by completeServe
	logFormat, logLevel enum
}

func (c *CLI) serveCommand() *cobra.Command {
	f := serveFlags{
		logFormat: enum{value: "text", allowed: []string{"text", "json"}},
		logLevel:  enum{value: "info", allowed: []string{"debug", "info", "warn", "error"}},
	}
	cmd := &cobra.Command{
		Use:   "serve [SOURCE ...]",
		Short: "Publish manifests over HTTP",
		Long: `Serve publishes the manifest of every version of every definition, at {base_path}/{version}/endpoints-manifest.
SOURCE is a file, a directory, an http(s) URL, or oci://HOST/REPOSITORY:TAG for definitions that signpost push has
stored in a registry. Directories are searched recursively; URLs and registries are polled. - for standard input and
REV:path for a git revision are read once. Without an argument, serve publishes a built-in example.

When definitions change, serve reloads them atomically. If one has an error, serve logs it, keeps serving its last
good version, and serves all others. SIGHUP reloads immediately; SIGTERM finishes in-flight requests and exits.

Studios only accept manifests over https. Pass a certificate with --tls-cert and --tls-key, obtain one with
--acme-domain, or put a reverse proxy in front that terminates TLS. If the proxy does not preserve the Host
header, set --trusted-proxy to its address range.`,
		Example: `  signpost serve
  signpost serve feeds.yaml --feature authentication --allowed-host feeds.example.com
  signpost serve services/ --listen 127.0.0.1:8080 --trusted-proxy 127.0.0.1/32
  signpost serve oci://oci.example.com/feeds:prod --definition-cache /var/cache/signpost
  signpost serve feeds.yaml --listen :443 --acme-domain feeds.example.com --acme-cache /var/lib/signpost`,
		RunE: func(cmd *cobra.Command, args []string) error {
			return c.serve(cmd.Context(), args, f)
		},
	}
	flags := cmd.Flags()
	f.config.Listen = daemon.DefaultListen
	flags.Var((*listenAddress)(&f.config.Listen), "listen", "address to listen on")
	flags.Var((*listenAddress)(&f.config.AdminListen), "admin-listen",
		"address of the listener for /healthz, /readyz and /metrics")
	flags.StringVar(&f.config.BasePath, "base-path", "", "publish under this path, instead of the definition's own")
	addFeatureFlag(cmd, &f.config.Definition.Features)
	flags.StringVar(&f.config.Handler.PublicHost, "public-host", "", "host for {{host}}, regardless of the request")
	flags.StringSliceVar(&f.config.Handler.AllowedHosts, "allowed-host", nil,
		"only accept requests for this host, or for *.suffix, instead of the hosts of the definitions (repeatable)")
	flags.StringSliceVar(&f.trustedProxies, "trusted-proxy", nil,
		"trust Forwarded and X-Forwarded-Host from this CIDR range (repeatable)")
	flags.StringVar(&f.config.Handler.CORSOrigin, "cors-origin", "*",
		"origin whose pages may read manifests; none for no CORS headers")
	flags.StringVar(&f.config.Handler.CacheControl, "cache-control", "no-cache", "Cache-Control header of manifests")
	flags.StringVar(&f.config.Certificate.Cert, "tls-cert", "",
		"certificate file to serve https with; reloaded when it changes")
	flags.StringVar(&f.config.Certificate.Key, "tls-key", "", "private key file of the certificate")
	flags.StringSliceVar(&f.config.ACME.Domains, "acme-domain", nil,
		"serve https with a certificate for this domain, obtained by ACME; you agree to the CA's terms of service (repeatable)")
	flags.StringVar(&f.config.ACME.CacheDir, "acme-cache", "", "directory to store ACME certificates in")
	flags.StringVar(&f.config.ACME.Directory, "acme-directory", daemon.DefaultACMEDirectory,
		"URL of the ACME directory")
	flags.DurationVar(&f.config.PollInterval, "poll-interval", daemon.DefaultPollInterval,
		"how often to poll definitions at URLs and in registries")
	flags.StringVar(&f.definitionCache, "definition-cache", "",
		"directory to store definitions from URLs and registries in, to start while these are unreachable")
	addProjectFlag(cmd, &f.project)
	f.logFormat.addTo(cmd, "log-format", "log format")
	f.logLevel.addTo(cmd, "log-level", "minimum log level; debug logs every request")
	flags.BoolVar(&f.config.AccessLog, "access-log", false, "log every request, with the host in the manifest")
	flags.DurationVar(&f.config.IdleTimeout, "idle-timeout", daemon.DefaultIdleTimeout,
		"maximum time a keep-alive connection may be idle; 0 for no limit")
	flags.IntVar(&f.config.MaxConnections, "max-connections", daemon.DefaultMaxConnections,
		"maximum number of open connections; 0 for no limit")
	flags.DurationVar(&f.config.ShutdownDelay, "shutdown-delay", 0,
		"how long to keep serving after SIGTERM, not ready, so that load balancers can drain")
	flags.DurationVar(&f.config.ShutdownTimeout, "shutdown-timeout", daemon.DefaultShutdownTimeout,
		"how long to wait for in-flight requests after that; 0 does not wait")
	c.addNetworkFlags(cmd)
	c.require(cmd, "tls-cert", "tls-key", "--tls-cert and --tls-key must be used together")
	c.require(cmd, "tls-key", "tls-cert", "--tls-cert and --tls-key must be used together")
	c.exclude(cmd, "tls-cert", "acme-domain",
		"--tls-cert and --acme-domain cannot be combined: choose one way to get a certificate")
	c.require(cmd, "acme-domain", "acme-cache",
		"--acme-domain needs --acme-cache, a directory for the certificates: ACME servers limit how many they issue")
	return cmd
}

func (c *CLI) serve(ctx context.Context, args []string, f serveFlags) error {
	reload := make(chan os.Signal, 1)
	signal.Notify(reload, syscall.SIGHUP) // from the start, because SIGHUP would end the program
	defer signal.Stop(reload)

	// When the reader of a pipe goes away, writing fails instead of ending the program.
	signal.Ignore(syscall.SIGPIPE)
	defer signal.Reset(syscall.SIGPIPE)
	daemon.LimitMemory()
	f.config.LogWriter = c.unblock()
	log := newLogger(c.Stderr, f.logFormat.value, f.logLevel.value)
	defer stdlog.SetOutput(stdlog.Writer())
	defer stdlog.SetFlags(stdlog.Flags())
	stdlog.SetOutput(daemon.ErrorLog(log).Writer()) // what libraries write
	stdlog.SetFlags(0)
	for _, warning := range c.warnings {
		log.Warn(warning)
	}
	for _, flag := range []string{"acme-cache", "acme-directory"} {
		if c.given(flag) && len(f.config.ACME.Domains) == 0 {
			return usageErrorf("--%s goes with --acme-domain", flag)
		}
	}
	if err := c.completeServe(&f, args, log); err != nil {
		return err
	}
	f.config.NotifySocket, _ = c.LookupEnv("NOTIFY_SOCKET")
	d, err := daemon.New(f.config)
	if err != nil {
		return usageErrorf("%w", err)
	}
	ctx, stop := signal.NotifyContext(ctx, syscall.SIGTERM, syscall.SIGINT)
	defer stop()
	context.AfterFunc(ctx, stop) // a second signal ends the program at once
	if err := d.Start(); err != nil {
		return err
	}
	if err := c.loadFirst(ctx, d, f, log); err != nil {
		d.Close()
		return err
	}
	scheme, addr := d.Address()
	if f.logFormat.value != "json" { // the JSON log says it, too
		c.flush() // on a terminal, findings come first, then the addresses, and the log follows
		c.printAddresses(scheme, addr, d.Routes(), args, f.isExample)
		c.flush()
	}
	if d.AcceptsAnyHost() {
		log.Warn("requests for any host are accepted, and manifests contain it: " +
			"declare hosts, or set --allowed-host or --public-host to your own hosts")
	}
	return d.Run(ctx, reload)
}

// unblock makes everything that is printed from now on wait for nobody: a reader that does not read holds up neither
// the start nor a signal. It returns the writer of standard error.
func (c *CLI) unblock() *daemon.LogWriter {
	stdout, stderr := c.Stdout.(*stream), c.Stderr.(*stream)
	results, others := daemon.NewLogWriter(stdout.Writer.(*results).Writer), daemon.NewLogWriter(stderr.Writer)
	stdout.Writer, stderr.Writer = results, others
	c.flush = func() {
		others.Flush()
		results.Flush()
	}
	return others
}

// loadFirst loads the definitions for the first time. Findings go to standard error. A definition with errors does not
// keep others from being served; only if every source was read and nothing can be served, that is the end.
func (c *CLI) loadFirst(ctx context.Context, d *daemon.Daemon, f serveFlags, log *slog.Logger) error {
	loaded := d.Load(ctx)
	files := loaded.Snapshot.Definitions(workspace.Judged)
	if f.config.BasePath != "" && len(files) > 1 {
		return usageErrorf("--base-path is for one definition, not for %d: set base_path in each", len(files))
	}
	if f.logFormat.value == "json" {
		daemon.LogFindings(log, loaded.Findings)
	} else {
		shown, others := daemon.FirstFindings(loaded.Findings)
		var quoted []*definition.File // read again, because those of a server have no text
		for _, f := range loaded.Snapshot.Files {
			isQuoted := func(found signpost.Finding) bool { return found.File == f.Name }
			if f.Definition != nil && slices.ContainsFunc(shown, isQuoted) {
				quoted = append(quoted, definition.Parse(f.Name, f.Text))
			}
		}
		printFindings(c.Stderr, quoted, shown)
		if others > 0 {
			printf(c.Stderr, "%d more findings are not shown: signpost lint lists them\n", others)
		}
	}
	var failures []error
	for _, failed := range loaded.Snapshot.Failures {
		if failed.Role == workspace.Judged {
			failures = append(failures, failed.Err)
		}
	}
	switch {
	case ctx.Err() != nil || loaded.Pending:
		return nil // the features may be those of a definition that is not available yet
	case len(d.Routes()) == 0 && len(failures) > 0:
		return failures[0]
	case len(d.Routes()) == 0:
		return errFindings
	case len(failures) > 0:
		return nil
	}
	return checkFeatures("--feature", files, f.config.Definition.Features)
}

// completeServe checks the flags, and fills in the rest of the config.
func (c *CLI) completeServe(f *serveFlags, args []string, log *slog.Logger) (err error) {
	config := &f.config
	config.Log, config.Version, config.ACME.Transport = log, buildVersion(), c.transport
	for _, name := range []string{"idle-timeout", "max-connections", "shutdown-delay", "shutdown-timeout"} {
		if strings.HasPrefix(c.flags.Lookup(name).Value.String(), "-") {
			return usageErrorf("--%s must not be negative", name)
		}
	}
	config.Handler.TrustedProxies, err = parseProxies(f.trustedProxies)
	if err != nil {
		return err
	}
	config.ACME.Domains, err = parseDomains(config.ACME.Domains)
	if err != nil {
		return err
	}
	if config.BasePath != "" {
		config.BasePath, err = routes.CleanBasePath(config.BasePath)
		if err != nil {
			return usageErrorf("--base-path: %w", err)
		}
	}
	project, err := readProject(f.project)
	if err != nil {
		return err
	}
	config.Definition = project.Options(config.Definition)
	reader := c.reader()
	reader.CacheDir = f.definitionCache
	reader.Note = func(message string) { log.Info(message) }
	if len(args) == 0 {
		args, reader.Patterns = project.Definitions, true
	}
	if len(args) == 0 {
		f.isExample = true
		shown := source.Document{Name: exampleName, Text: example}
		config.Sources = []source.Source{&source.Fixed{Label: "the built-in example", Documents: []source.Document{shown}}}
		return nil
	}
	if config.PollInterval <= 0 {
		return usageErrorf("--poll-interval: %v is not a positive duration, such as %v",
			config.PollInterval, daemon.DefaultPollInterval)
	}
	config.Sources, err = reader.Follow(args...)
	if err != nil {
		return err
	}
	reader.Patterns, reader.Manifests = true, true
	config.Registered, err = reader.Follow(project.Registered...)
	return err
}

func parseProxies(ranges []string) ([]netip.Prefix, error) {
	var all []netip.Prefix
	for _, s := range ranges {
		prefix, err := netip.ParsePrefix(s)
		if addr, addrErr := netip.ParseAddr(s); addrErr == nil {
			prefix, err = netip.PrefixFrom(addr, addr.BitLen()), nil
		}
		if err != nil {
			return nil, usageErrorf("--trusted-proxy: %q is not an address range, such as 10.0.0.0/8", s)
		}
		all = append(all, prefix)
	}
	return all, nil
}

// parseDomains checks that the domains are valid for certificates.
func parseDomains(domains []string) ([]string, error) {
	var all []string
	for _, domain := range domains {
		name, err := host.Parse(domain)
		if err != nil {
			return nil, usageErrorf("--acme-domain: %w", err)
		}
		if host.IsIP(name) || !strings.Contains(name, ".") {
			return nil, usageErrorf("--acme-domain: %q is not a valid domain, such as feeds.example.com", domain)
		}
		all = append(all, name)
	}
	return all, nil
}

// logsJSON reports whether standard error must be entirely JSON. The command may have failed before its flags were
// parsed.
func (c *CLI) logsJSON(cmd *cobra.Command, args []string) bool {
	if cmd.Name() != "serve" {
		return false
	}
	flag := cmd.Flags().Lookup("log-format")
	variable, _ := c.LookupEnv(envName(flag.Name))
	inTwo := strings.Contains(strings.Join(args, " ")+" ", " --log-format json ")
	given := inTwo || slices.Contains(args, "--log-format=json")
	return flag.Value.String() == "json" || given || !flag.Changed && variable == "json"
}

func newLogger(w io.Writer, format, level string) *slog.Logger {
	var l slog.Level
	if err := l.UnmarshalText([]byte(level)); err != nil {
		panic(err) // cannot happen: the flag accepts only known levels
	}
	opts := &slog.HandlerOptions{Level: l}
	if format == "json" {
		return slog.New(slog.NewJSONHandler(w, opts))
	}
	return slog.New(slog.NewTextHandler(w, opts))
}

// maxAddresses is the maximum number of manifest addresses printed at the start. A directory may hold thousands.
const maxAddresses = 20

// printAddresses prints the addresses of the manifests, how to preview them and, for the example, what to try next.
func (c *CLI) printAddresses(scheme string, addr net.Addr, routes, args []string, isExample bool) {
	host, port, _ := net.SplitHostPort(addr.String()) // a TCP address always has both
	if ip, err := netip.ParseAddr(host); err == nil && ip.IsUnspecified() {
		host = "localhost"
	}
	base := scheme + "://" + net.JoinHostPort(host, port)
	if isExample {
		printf(c.Stdout, "The built-in example is published. ")
	}
	printf(c.Stdout, "Manifests:\n\n")
	for i, route := range routes {
		if i == maxAddresses {
			printf(c.Stdout, "  and %d more\n", len(routes)-i)
			break
		}
		printf(c.Stdout, "  %s%s\n", base, route)
	}
	if len(routes) == 0 {
		printf(c.Stdout, "  none yet: no definition could be read so far; listening on %s\n", base)
	}
	if len(args) == 1 && len(routes) > 0 && args[0] != source.Stdin {
		printf(c.Stdout, "\nTo see what editors will see: %s studio %s\n", programName(), source.Shown(args[0]))
	}
	if isExample {
		printf(c.Stdout, `
Try next:

  curl %s%s
  %[3]s studio               see what editors will see
  %[3]s init feeds.yaml      write a definition of your own
  %[3]s lint feeds.yaml      see what is wrong with it
  %[3]s serve feeds.yaml     publish it
`, base, routes[0], programName())
	}
}
