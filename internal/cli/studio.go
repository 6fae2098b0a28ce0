package cli

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"os/signal"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"signpost/definition"
	"signpost/internal/daemon"
	"signpost/internal/httpurl"
	"signpost/internal/readfile"
	"signpost/internal/source"
	"signpost/internal/usage"
	"signpost/internal/workspace"
	"signpost/studio"
)

// defaultStudioListen differs from the port of serve, so that both can run.
const defaultStudioListen = "127.0.0.1:8079"

// Limits of the studio's server. Only local browsers use it; a slow feed may take most of the write timeout.
const (
	studioIdleTimeout     = 2 * time.Minute // also of a connection that a browser has opened to have one
	studioWriteTimeout    = time.Minute
	studioMaxHeaderBytes  = 16 << 10
	studioShutdownTimeout = 3 * time.Second
)

// studioFlags holds the flags of studio.
type studioFlags struct {
	listen               loopbackAddress
	host, sendTo, usage  string
	browser              bool // open the page in it
	features, registered []string
}

func (c *CLI) studioCommand() *cobra.Command {
	var f studioFlags
	cmd := &cobra.Command{
		Use:   "studio [SOURCE ...]",
		Short: "Preview in the browser what a studio shows for a manifest",
		Long: `Studio opens a local page that shows what a configuration studio makes of manifests: each endpoint with the
controls of its modifiers, the request that an app sends, and the response; how the registered endpoints overlap;
findings, changes and checks.

SOURCE is a definition, a manifest JSON file, a directory of them, - for standard input, REV:path for a file at a git
revision, oci://HOST/REPOSITORY:TAG for pushed definitions, or the http(s) address of a manifest. The page reloads
files when you save them, and you can register more addresses in it. Without an argument, it shows the definitions of
the project, or else the built-in example with sample responses.

The page is only available on this machine, and only to you: the studio listens on loopback, rejects requests for
other hosts and from other sites, and lets only browsers in that have opened the address with the token.`,
		Example: `  signpost studio
  signpost studio feeds.yaml --host feeds.example.com
  signpost studio feeds.yaml --send-to http://localhost:3000
  signpost studio services/ https://feeds.example.com/v1/endpoints-manifest`,
		RunE: func(cmd *cobra.Command, args []string) error {
			return c.studio(cmd.Context(), args, f)
		},
	}
	flags := cmd.Flags()
	f.listen = defaultStudioListen
	flags.Var(&f.listen, "listen", "loopback address to listen on")
	flags.Var((*hostname)(&f.host), "host",
		"hostname for {{host}}; default the first of hosts, else localhost; you can change it in the page")
	addFeatureFlag(cmd, &f.features)
	flags.StringVar(&f.sendTo, "send-to", "",
		"send requests for the service's own host to this origin, such as http://localhost:3000")
	addRegisteredFlag(cmd, &f.registered)
	flags.StringVar(&f.usage, "usage", "",
		"usage file, from signpost usage --format json: show its counts beside controls and changes")
	c.addNetworkFlags(cmd)
	flags.BoolVar(&f.browser, "open", true, "open the page in the browser if standard output is a terminal")
	return cmd
}

func (c *CLI) studio(ctx context.Context, args []string, f studioFlags) error {
	opts := studio.Options{
		Host: f.host, Features: f.features, SendTo: f.sendTo,
		Example: exampleName, Starter: starter, ReadRevision: c.readRevision,
	}
	opts.Client.Transport = c.transport
	var paths []string
	var addresses []*url.URL
	for _, arg := range args {
		if !source.IsAddress(arg) {
			paths = append(paths, arg)
			continue
		}
		address, err := httpurl.ParseAddress(arg)
		if err != nil {
			return usageErrorf("%w", err)
		}
		addresses = append(addresses, address)
	}
	if f.usage != "" {
		counts, err := readUsageFile(f.usage)
		if err != nil {
			return err
		}
		if counts.Answered() {
			opts.Usage = counts
		} else {
			printf(c.Stderr, "No request in %q was for an endpoint, so the page shows no counts.\n", f.usage)
		}
	}
	files, err := c.studioWorkspace(ctx, args, paths, f)
	if err != nil {
		return err
	}
	shown := files.Look()
	if len(shown.Failures) > 0 {
		return shown.Failures[0].Err
	}
	if err := c.checkFeaturesOf(servicesOf(shown, workspace.Judged), "feature", f.features); err != nil {
		return err
	}

	listener, err := daemon.Listen(f.listen.String(), 0)
	if errors.Is(err, syscall.EADDRINUSE) {
		return fmt.Errorf("%w; is another studio running? --listen 127.0.0.1:0 uses a free port", err)
	}
	if err != nil {
		return err
	}
	defer listener.Close()
	opts.Listen = listener.Addr().(*net.TCPAddr).AddrPort()
	opts.Token, err = studioToken()
	if err != nil {
		opts.Token = rand.Text()
		printf(c.Stderr, "The token in the address cannot be kept, so open pages end with the studio: %v\n", err)
	}
	opts.Once = rand.Text()
	page, err := studio.New(opts)
	if err != nil {
		return usageErrorf("--send-to: %w", err)
	}
	page.Show(shown)
	ctx, stop := signal.NotifyContext(ctx, syscall.SIGTERM, syscall.SIGINT)
	defer stop()
	go files.Follow(ctx, page.Show)
	page.Register(ctx, addresses...)

	address := "http://" + listener.Addr().String() + "/?token="
	printf(c.Stdout, "Studio: %s\n", address+opts.Token)
	printf(c.Stderr, "%s\nPress Ctrl-C to stop.\n", studioHint(args, c.project, shown))
	if f.browser && isTerminal(c.Stdout) {
		openBrowser(address + opts.Once)
	}
	return c.serveStudio(ctx, listener, page)
}

// readUsageFile reads what signpost usage --format json wrote.
func readUsageFile(path string) (*usage.Usage, error) {
	text, err := readfile.Limit(path, maxFile)
	if err != nil {
		return nil, fmt.Errorf("read --usage: %w", err)
	}
	var counts usage.Usage
	if err := json.Unmarshal(text, &counts); err != nil || counts.Format != usage.FileFormat {
		return nil, fmt.Errorf("%q is not a usage file; "+
			"make one with signpost usage SOURCE... --log FILE --format json", path)
	}
	return &counts, nil
}

// readRevision returns the text of a file at a git revision.
func (c *CLI) readRevision(ctx context.Context, revision, path string) ([]byte, error) {
	d, err := c.reader().ReadOne(ctx, revision+":./"+seenFrom(path, "."))
	return d.Text, err
}

// studioWorkspace returns what the page shows: the arguments that are not addresses, or else the definitions of the
// project, or else the built-in example.
func (c *CLI) studioWorkspace(ctx context.Context, args, paths []string, f studioFlags) (*workspace.Workspace, error) {
	if err := c.openProject(); err != nil {
		return nil, err
	}
	var shown []workspace.Source
	if len(args)+len(c.project.Definitions) == 0 {
		documents := []source.Document{{Name: exampleName, Text: example}}
		shown = append(shown, workspace.Source{Source: &source.Fixed{Label: exampleName, Documents: documents}})
	}
	opts := workspace.Options{
		Manifests: true, Hasty: true, Definition: c.project.Options(definition.Options{Features: f.features}),
	}
	names := workspace.Arguments{Judged: paths, Registered: f.registered, Project: c.project, Others: len(args) > 0}
	return workspace.Follow(ctx, c.reader(), opts, names, shown...)
}

// studioHint says what the page shows.
func studioHint(args []string, project workspace.Project, s *workspace.Snapshot) string {
	shown := each(args, source.Shown)
	switch {
	case len(args)+len(project.Definitions) == 0:
		return "This is the built-in example. To see a definition of yours: signpost studio feeds.yaml"
	case len(args) == 0:
		shown = []string{"the definitions of " + project.Path}
	}
	hint := "Showing " + strings.Join(shown, ", ") + "."
	followed := func(f *workspace.File) bool { _, fixed := f.From.(*source.Fixed); return !fixed }
	if slices.ContainsFunc(s.Files, followed) {
		hint += " The page reloads when you save a file."
	}
	return hint
}

// serveStudio serves until the context is canceled, which also ends the streams to open pages.
func (c *CLI) serveStudio(ctx context.Context, listener net.Listener, page http.Handler) error {
	srv := &http.Server{
		Handler:           page,
		BaseContext:       func(net.Listener) context.Context { return ctx },
		ReadHeaderTimeout: studioIdleTimeout, // handlers limit bodies themselves
		WriteTimeout:      studioWriteTimeout,
		IdleTimeout:       studioIdleTimeout,
		MaxHeaderBytes:    studioMaxHeaderBytes,
		ErrorLog:          daemon.ErrorLog(newLogger(c.Stderr, "text", "info")), // of panics, not of aborted requests
	}
	failed := make(chan error, 1)
	go func() { failed <- srv.Serve(listener) }()
	select {
	case err := <-failed:
		return fmt.Errorf("serve: %w", err)
	case <-ctx.Done():
	}
	shutdown, cancel := context.WithTimeout(context.WithoutCancel(ctx), studioShutdownTimeout)
	defer cancel()
	if err := srv.Shutdown(shutdown); err != nil {
		srv.Close()
	}
	return nil
}

// openBrowser opens an address in the default browser. If there is no desktop, the address is on the terminal.
func openBrowser(address string) {
	var cmd *exec.Cmd
	switch runtime.GOOS {
	case "darwin":
		cmd = exec.Command("open", address)
	case "windows":
		cmd = exec.Command("rundll32", "url.dll,FileProtocolHandler", address)
	default:
		if os.Getenv("DISPLAY") == "" && os.Getenv("WAYLAND_DISPLAY") == "" {
			return // xdg-open would start a browser in this terminal
		}
		cmd = exec.Command("xdg-open", address)
	}
	if cmd.Start() == nil {
		go cmd.Wait()
	}
}
