package cli

import (
	"bytes"
	"context"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"os/signal"
	"runtime"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"signpost/client"
	"signpost/definition"
	"signpost/host"
	"signpost/internal/daemon"
	"signpost/internal/source"
	"signpost/studio"
)

// defaultStudioListen is beside the port of serve, so that both can run.
const defaultStudioListen = "127.0.0.1:8079"

// The limits of the studio's server. Only browsers of this machine talk to it; a feed that is slow to answer may
// take most of the write timeout.
const (
	studioReadHeaderTimeout = 5 * time.Second
	studioWriteTimeout      = time.Minute
	studioIdleTimeout       = 2 * time.Minute
	studioMaxHeaderBytes    = 16 << 10
	studioShutdownTimeout   = 3 * time.Second
)

// studioFlags are the flags of studio.
type studioFlags struct {
	listen       loopback
	host, caFile string
	open         bool
	features     []string
}

func (c *CLI) studioCommand() *cobra.Command {
	var f studioFlags
	cmd := &cobra.Command{
		Use:   "studio [FILE|ADDRESS]",
		Short: "Show in the browser what a studio makes of a manifest",
		Long: `Studio opens a page on this machine that shows what a configuration studio makes of a manifest: each endpoint
with the controls of its modifiers, the feed URL as editors change it, the context keys as they travel, and
what the service answers.

FILE is a definition, or a manifest in JSON. It is shown with its findings, and again whenever it is saved.
ADDRESS is the http(s) address of a manifest, whoever serves it; others can be registered in the page. Without
an argument it is the built-in example.

The page is for this machine alone: the studio listens on loopback, and answers neither for other hosts nor to
other sites.`,
		Example: `  signpost studio
  signpost studio feeds.yaml --host feeds.example.com
  signpost studio https://feeds.example.com/v1/endpoints-manifest`,
		Args: usageArgs(cobra.MaximumNArgs(1)),
		RunE: run(func(cmd *cobra.Command, args []string) error {
			argument := ""
			if len(args) > 0 {
				argument = args[0]
			}
			return c.studio(cmd.Context(), argument, f)
		}),
	}
	flags := cmd.Flags()
	f.listen.value = defaultStudioListen
	flags.Var(&f.listen, "listen", "address to listen on, on loopback")
	flags.StringVar(&f.host, "host", studio.DefaultHost, "the hostname for {{host}}, until the page changes it")
	addFeatureFlag(cmd, &f.features)
	flags.StringVar(&f.caFile, "ca-file", "", "trust the authorities in this PEM file too")
	flags.BoolVar(&f.open, "open", true, "open the page in the browser, if this is a terminal")
	return cmd
}

func (c *CLI) studio(ctx context.Context, argument string, f studioFlags) error {
	opts := studio.Options{Host: f.host, Features: f.features, Example: argument == ""}
	if _, err := host.ParseName(f.host); err != nil {
		return usageErrorf("--host: %w", err)
	}
	var err error
	if opts.Client.Transport, err = checkTransport(f.caFile); err != nil {
		return err
	}
	var file *definition.File
	var document source.Document
	watched := argument != "" && argument != source.Stdin && !source.IsAddress(argument)
	hint := "This is the built-in example. To see a definition of yours: signpost studio feeds.yaml"
	switch {
	case source.IsAddress(argument):
		address, err := client.ParseAddress(argument)
		if err != nil {
			return usageErrorf("%w", err)
		}
		opts.Address = address.String()
		hint = fmt.Sprintf("The page registers %s.", opts.Address)
	case argument == "":
		file = definition.Parse(exampleName, example)
	default:
		if info, err := os.Stat(argument); err == nil && info.IsDir() {
			return usageErrorf("%q is a folder: the studio shows one file of it at a time", argument)
		}
		if document, err = c.reader().ReadOne(ctx, argument); err != nil {
			return err
		}
		file = document.Parse()
		if hint = "Showing " + file.Name; watched {
			hint += ", and again whenever it is saved"
		}
		hint += "."
	}
	if file != nil {
		if err := checkFeatures([]*definition.File{file}, f.features); err != nil {
			return err
		}
	}

	listener, err := f.listen.open()
	if err != nil {
		return err
	}
	defer listener.Close()
	opts.Listen = listener.Addr().(*net.TCPAddr).AddrPort()
	page, err := studio.New(opts)
	if err != nil {
		return err
	}
	if file != nil {
		page.SetFile(file)
	}
	ctx, stop := signal.NotifyContext(ctx, syscall.SIGTERM, syscall.SIGINT)
	defer stop()
	if watched {
		go c.watchStudioFile(ctx, page, document)
	}

	address := "http://" + listener.Addr().String() + "/"
	fmt.Fprintf(c.Stdout, "Studio: %s\n", address)
	fmt.Fprintf(c.Stderr, "%s\nCtrl-C ends it.\n", hint)
	if f.open && isTerminal(c.Stdout) {
		openBrowser(address)
	}
	return c.serveStudio(ctx, listener, page)
}

// watchStudioFile shows the file again whenever its text has changed.
func (c *CLI) watchStudioFile(ctx context.Context, page *studio.Studio, shown source.Document) {
	failure := ""
	watcher := source.Watcher{Paths: []string{shown.Name}}
	watcher.Run(ctx, func(bool) {
		now, err := c.reader().ReadOne(ctx, shown.Name)
		switch {
		case err != nil && err.Error() != failure:
			failure = err.Error()
			page.SetFileError(err)
		case err == nil && (failure != "" || !bytes.Equal(now.Text, shown.Text)):
			failure, shown = "", now
			page.SetFile(now.Parse())
		}
	})
}

// serveStudio serves until the context ends, which also ends the streams to open pages.
func (c *CLI) serveStudio(ctx context.Context, listener net.Listener, page http.Handler) error {
	srv := &http.Server{
		Handler:           page,
		BaseContext:       func(net.Listener) context.Context { return ctx },
		ReadHeaderTimeout: studioReadHeaderTimeout, // bodies have a limit of their own
		WriteTimeout:      studioWriteTimeout,
		IdleTimeout:       studioIdleTimeout,
		MaxHeaderBytes:    studioMaxHeaderBytes,
		ErrorLog:          daemon.ErrorLog(newLogger(c.Stderr, "text", "info")), // a panic; what a browser breaks off is no news
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

// openBrowser opens an address as the desktop does. Where there is no desktop, the address is on the terminal.
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
