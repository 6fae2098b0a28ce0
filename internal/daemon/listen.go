package daemon

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/http"
	"time"

	"signpost/internal/wire"
)

// maxStreams is how many requests a client may have open on one HTTP/2 connection. A studio has one for each manifest
// that an operator registers; the 250 that net/http allows only help those who want to take memory.
const maxStreams = 32

// Start opens all listeners and serves on them. If it returns an error, none of them is open.
func (d *Daemon) Start() (err error) {
	defer func() {
		if err != nil {
			d.Close()
		}
	}()
	config, manager, err := d.tlsConfig()
	if err != nil {
		return err
	}
	d.tls = config != nil
	listener, err := Listen(d.config.Listen, d.config.MaxConnections)
	if err != nil {
		return err
	}
	d.addr = listener.Addr()
	d.serve(listener, d.handler, config)

	if d.config.RedirectListen != "" {
		listener, err := Listen(d.config.RedirectListen, d.config.MaxConnections)
		if err != nil {
			return err
		}
		_, port, _ := net.SplitHostPort(d.addr.String()) // a TCP listener always has both
		redirect := d.handler.Redirect(port)
		if manager != nil {
			redirect = manager.HTTPHandler(redirect) // which also answers the challenges of the directory
		}
		d.serve(listener, redirect, nil)
		d.config.Log.Info("redirecting to https", "listen", listener.Addr().String())
	}
	if d.config.AdminListen != "" {
		listener, err := Listen(d.config.AdminListen, 0)
		if err != nil {
			return err
		}
		ready := func() bool { return !d.draining.Load() && len(d.handler.Routes()) > 0 }
		d.serve(listener, adminHandler(d.metrics, ready), nil)
		d.config.Log.Info("serving health and metrics", "listen", listener.Addr().String())
	}
	if manager != nil {
		go manager.obtain()
	}
	return nil
}

// Listen opens a listener for up to max connections, or for any number if that is 0 or less. See [wire.Listener] for
// those beyond.
func Listen(address string, max int) (*wire.Listener, error) {
	listener, err := net.Listen("tcp", address)
	if err != nil {
		return nil, fmt.Errorf("listen on %q: %w", address, errors.Unwrap(err))
	}
	return wire.NewListener(listener.(*net.TCPListener), max), nil
}

// tlsConfig returns what https is served with; nil means plain http.
func (d *Daemon) tlsConfig() (*tls.Config, *acmeManager, error) {
	switch {
	case d.config.Certificate.Cert != "":
		certificate, err := newCertificate(d.config.Certificate, d.config.Log, d.metrics)
		if err != nil {
			return nil, nil, err
		}
		d.certificate = certificate
		return certificate.config(), nil, nil
	case len(d.config.ACME.Domains) > 0:
		manager, err := newACME(d.config.ACME, d.config.Version, d.config.Log, d.metrics)
		if err != nil {
			return nil, nil, err
		}
		return manager.config(), manager, nil
	}
	return nil, nil, nil
}

func (d *Daemon) serve(listener *wire.Listener, handler http.Handler, config *tls.Config) {
	srv := &http.Server{
		Handler:           handler,
		ConnContext:       wire.Context,
		ConnState:         listener.ConnState,
		TLSConfig:         config,
		ReadHeaderTimeout: d.config.ReadHeaderTimeout,
		ReadTimeout:       d.config.ReadTimeout,
		WriteTimeout:      d.config.WriteTimeout,
		IdleTimeout:       d.config.IdleTimeout,
		MaxHeaderBytes:    d.config.MaxHeaderBytes,
		HTTP2:             &http.HTTP2Config{MaxConcurrentStreams: maxStreams},
		ErrorLog:          ErrorLog(d.config.Log),
	}
	d.servers, d.listeners = append(d.servers, srv), append(d.listeners, listener)
	go func() {
		serve := srv.Serve
		if config != nil {
			serve = func(l net.Listener) error { return srv.ServeTLS(l, "", "") }
		}
		if err := serve(listener); !errors.Is(err, http.ErrServerClosed) {
			d.failed <- err
		}
	}()
}

// connections returns how many connections are open.
func (d *Daemon) connections() int {
	n := 0
	for _, l := range d.listeners {
		n += l.Open()
	}
	return n
}

// shutDown says that it is not ready, goes on for the delay, and then finishes open requests. The admin
// listener goes last, so that whoever asks sees that it is shutting down.
func (d *Daemon) shutDown(ctx context.Context) error {
	d.draining.Store(true)
	for _, srv := range d.servers {
		srv.SetKeepAlivesEnabled(false) // responses say so from now on, and clients connect elsewhere
	}
	d.notify("STOPPING=1")
	d.config.Log.Info("shutting down", "delay_seconds", d.config.ShutdownDelay.Seconds(), "timeout_seconds", d.config.ShutdownTimeout.Seconds(),
		"revision", d.publisher.revision.Load())
	time.Sleep(d.config.ShutdownDelay)
	ctx, cancel := context.WithTimeout(ctx, d.config.ShutdownTimeout)
	defer cancel()
	for _, srv := range d.servers {
		if err := srv.Shutdown(ctx); err != nil {
			// Clients that do not read have had their time. That is no failure of this program.
			d.config.Log.Warn("open requests were cut off", "connections", d.connections(), "error", err)
			d.Close()
			break
		}
	}
	d.config.Log.Info("stopped")
	return nil
}

// Close ends everything at once.
func (d *Daemon) Close() {
	for _, srv := range d.servers {
		srv.Close()
	}
}
