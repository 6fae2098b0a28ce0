package daemon

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/http"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"

	"signpost/internal/wire"
)

// timeouts bound how long a client may take. A manifest request is a few hundred bytes in and some kilobytes out, so
// these leave room for a slow network, but not for clients that hold connections on purpose.
type timeouts struct{ readHeader, read, write, writeByte time.Duration }

var usualTimeouts = timeouts{
	readHeader: 5 * time.Second,
	read:       10 * time.Second,
	write:      30 * time.Second, // a large manifest over a slow line
	writeByte:  5 * time.Second,  // without a byte that HTTP/2 could write
}

const (
	// maxHeader is the maximum size of the request line and headers; net/http adds 4 KiB.
	maxHeader = 16 << 10

	// maxRequestsPerConn is the maximum number of concurrent requests on one HTTP/2 connection. A studio has one or
	// two. Each takes some 16 kB as long as the client does not read; the 250 that net/http allows only help attackers.
	maxRequestsPerConn = 8

	// maxHTTP2 is the number of open connections up to which new ones may speak HTTP/2; then they fall back to
	// HTTP/1.1. A client that sends PING frames and reads nothing makes net/http queue up to a megabyte for each
	// connection.
	maxHTTP2 = 128

	// maxFrame is how large a frame of HTTP/2 may be, the least that the protocol allows. net/http keeps a buffer of
	// the largest frame of each connection: with its own limit of 1 MiB, a thousand connections take a gigabyte.
	maxFrame = 16 << 10
)

// Start opens all listeners and serves on them. After an error, Close ends those that are open.
func (d *Daemon) Start() error {
	config, err := d.tlsConfig()
	if err != nil {
		return err
	}
	addr, err := d.serve(d.Listen, d.MaxConnections, d.handler, config, d.loaded)
	if err != nil {
		return err
	}
	d.Log.Debug("listening", "listen", addr.String())
	if d.AdminListen != "" {
		addr, err := d.serve(d.AdminListen, 0, d.adminHandler(), nil, nil)
		if err != nil {
			return err
		}
		d.Log.Info("serving health and metrics", "listen", addr.String())
	}
	return nil
}

// Listen opens a listener for at most max connections; 0 or less means unlimited. See [wire.Listener] for what happens
// at the limit.
func Listen(address string, max int) (*wire.Listener, error) {
	config := net.ListenConfig{Control: deferAccept}
	listener, err := config.Listen(context.Background(), "tcp", address)
	if err != nil {
		return nil, fmt.Errorf("listen on %q: %w", address, errors.Unwrap(err))
	}
	return wire.NewListener(listener, max), nil
}

// tlsConfig returns the TLS configuration; nil means plain http.
func (d *Daemon) tlsConfig() (config *tls.Config, err error) {
	config = &tls.Config{MinVersion: tls.VersionTLS12}
	switch {
	case d.Certificate.Cert != "":
		d.certificate, err = newCertificate(d.Certificate, d.Log, d.metrics)
		config.GetCertificate = d.certificate.get
		return config, err
	case len(d.ACME.Domains) > 0:
		d.acme, err = newACME(d.ACME, d.Version, d.Log, d.metrics)
		if err != nil {
			return nil, err
		}
		config.GetCertificate = d.acme.GetCertificate
		config.NextProtos = d.acme.TLSConfig().NextProtos // with that of challenges
		return config, nil
	}
	return nil, nil
}

// firstRead is how long connections wait for the first read of files, which takes a moment, before they are answered
// with 503.
const firstRead = time.Second

// serve opens a listener for at most max connections and serves on it. A nil config means plain http. Connections are
// accepted at once if loaded is nil, and otherwise when it is closed, or after firstRead.
func (d *Daemon) serve(
	address string, max int, handler http.Handler, config *tls.Config, loaded <-chan struct{},
) (net.Addr, error) {
	listener, err := Listen(address, max)
	if err != nil {
		return nil, err
	}
	srv := &http.Server{
		Handler:           handler,
		ConnState:         listener.ConnState,
		TLSConfig:         config,
		ReadHeaderTimeout: d.timeouts.readHeader,
		ReadTimeout:       d.timeouts.read,
		WriteTimeout:      d.timeouts.write,
		IdleTimeout:       cmp.Or(d.IdleTimeout, -1), // zero would mean ReadTimeout
		MaxHeaderBytes:    maxHeader,
		HTTP2: &http.HTTP2Config{
			MaxConcurrentStreams: maxRequestsPerConn, MaxReadFrameSize: maxFrame,
			WriteByteTimeout: d.timeouts.writeByte,
		},
		ErrorLog: ErrorLog(d.Log),

		// net/http answers OPTIONS * itself, and keeps a connection on which it cannot tell where the request ends.
		DisableGeneralOptionsHandler: true,
	}
	serve := srv.Serve
	switch {
	case config != nil:
		serve = func(l net.Listener) error { return srv.ServeTLS(l, "", "") }
		fallback := config.Clone()
		isHTTP2 := func(protocol string) bool { return protocol == "h2" }
		fallback.NextProtos = slices.DeleteFunc(slices.Clone(config.NextProtos), isHTTP2)
		config.GetConfigForClient = func(*tls.ClientHelloInfo) (*tls.Config, error) {
			if listener.Len() > maxHTTP2 {
				return fallback, nil
			}
			return nil, nil
		}
	case loaded != nil: // the handler of manifests
		listener.Answer(srv)
	}
	d.servers, d.listeners = append(d.servers, srv), append(d.listeners, listener)
	go func() {
		if loaded != nil {
			select {
			case <-loaded:
			case <-time.After(firstRead):
			}
		}
		if err := serve(listener); !errors.Is(err, http.ErrServerClosed) {
			d.failed <- err
		}
	}()
	return listener.Addr(), nil
}

// shutDown reports that it is not ready, keeps serving for the delay, and then completes open requests. The admin
// listener is closed last, so that health checks see the shutdown.
func (d *Daemon) shutDown(ctx context.Context) error {
	d.draining.Store(true)
	for i, srv := range d.servers {
		srv.SetKeepAlivesEnabled(false) // responses now close the connection, so that clients connect elsewhere
		d.listeners[i].Drain()
	}
	d.notify("STOPPING=1")
	d.Log.Info("shutting down",
		"delay_seconds", d.ShutdownDelay.Seconds(), "timeout_seconds", d.ShutdownTimeout.Seconds())
	time.Sleep(d.ShutdownDelay)
	ctx, cancel := context.WithTimeout(ctx, d.ShutdownTimeout)
	defer cancel()
	for i, srv := range d.servers {
		var both errgroup.Group
		both.Go(func() error { return srv.Shutdown(ctx) })
		both.Go(func() error { return d.listeners[i].Shutdown(ctx) })
		if err := both.Wait(); err != nil {
			// Clients that do not read have had their time. That is not a failure of this program.
			d.Log.Warn("open requests were cut off", "connections", d.listeners[i].Len(), "error", err)
			d.Close()
			break
		}
	}
	d.Log.Info("stopped")
	return nil
}

// Close ends everything immediately.
func (d *Daemon) Close() {
	now, cancel := context.WithCancel(context.Background())
	cancel()
	for i, srv := range d.servers {
		srv.Close()
		d.listeners[i].Shutdown(now)
	}
}
