package cli

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log"
	"log/slog"
	"net"
	"net/http"
	"sync/atomic"
	"time"

	"signpost/internal/wire"
	"signpost/server"
)

// servers are the listeners of serve: the manifests, plain http that is redirected, and the admin's.
type servers struct {
	flags    serveFlags
	log      *slog.Logger
	failed   chan error  // of a listener that ended by itself
	draining atomic.Bool // shutting down

	all         []*http.Server // the one with the manifests first
	addr        net.Addr       // of the manifests
	certificate *certificate   // nil without --tls-cert
	tls         bool
}

// start opens all listeners and serves on them. Either all of them are open afterwards, or there is an error.
func (s *servers) start(handler *server.Handler, m *metrics) error {
	config, manager, err := s.tlsConfig()
	if err != nil {
		return err
	}
	s.tls = config != nil
	if s.flags.redirectListen != "" && !s.tls {
		return usageErrorf("--redirect-listen redirects to https: give --tls-cert and --tls-key, or --acme-domain")
	}
	listener, err := listen(s.flags.listen, s.flags.maxConnections)
	if err != nil {
		return err
	}
	s.addr = listener.Addr()
	s.serve(listener, handler, config)

	if s.flags.redirectListen != "" {
		listener, err := listen(s.flags.redirectListen, s.flags.maxConnections)
		if err != nil {
			return err
		}
		_, port, _ := net.SplitHostPort(s.addr.String()) // a TCP listener always has both
		redirect := handler.Redirect(port)
		if manager != nil {
			redirect = manager.HTTPHandler(redirect) // which also answers the challenges of the directory
		}
		s.serve(listener, redirect, nil)
		s.log.Info("redirecting to https", "listen", listener.Addr().String())
	}
	if s.flags.adminListen != "" {
		listener, err := listen(s.flags.adminListen, 0)
		if err != nil {
			return err
		}
		ready := func() bool { return !s.draining.Load() && len(handler.Routes()) > 0 }
		s.serve(listener, adminHandler(m, ready), nil)
		s.log.Info("serving health and metrics", "listen", listener.Addr().String())
	}
	if manager != nil {
		go manager.obtain()
	}
	return nil
}

// listen opens a listener for up to max connections, or for any number if that is 0; others wait.
func listen(address string, max int) (net.Listener, error) {
	listener, err := net.Listen("tcp", address)
	if err != nil {
		return nil, fmt.Errorf("listen on %q: %w", address, errors.Unwrap(err))
	}
	return wire.NewListener(listener.(*net.TCPListener), max), nil
}

// tlsConfig returns what https is served with; nil means plain http.
func (s *servers) tlsConfig() (*tls.Config, *acmeManager, error) {
	f := s.flags
	switch {
	case len(f.acmeDomains) > 0 && f.tlsCert != "":
		return nil, nil, usageErrorf("--tls-cert and --acme-domain exclude each other: choose one way to get a certificate")
	case (f.tlsCert == "") != (f.tlsKey == ""):
		return nil, nil, usageErrorf("--tls-cert and --tls-key go together")
	case f.tlsCert != "":
		certificate, err := newCertificate(f.tlsCert, f.tlsKey, s.log)
		if err != nil {
			return nil, nil, err
		}
		s.certificate = certificate
		return certificate.config(), nil, nil
	case len(f.acmeDomains) > 0:
		manager, err := newACME(f.acmeDomains, f.acmeCache, f.acmeDirectory, s.log)
		if err != nil {
			return nil, nil, err
		}
		return manager.config(), manager, nil
	}
	return nil, nil, nil
}

func (s *servers) serve(listener net.Listener, handler http.Handler, config *tls.Config) {
	srv := &http.Server{
		Handler:           handler,
		ConnContext:       wire.Context,
		TLSConfig:         config,
		ReadHeaderTimeout: s.flags.readHeaderTimeout,
		ReadTimeout:       s.flags.readTimeout,
		WriteTimeout:      s.flags.writeTimeout,
		IdleTimeout:       s.flags.idleTimeout,
		MaxHeaderBytes:    s.flags.maxHeaderBytes,
		ErrorLog:          log.New(serverLog{s.log}, "", 0),
	}
	s.all = append(s.all, srv)
	go func() {
		serve := srv.Serve
		if config != nil {
			serve = func(l net.Listener) error { return srv.ServeTLS(l, "", "") }
		}
		if err := serve(listener); !errors.Is(err, http.ErrServerClosed) {
			s.failed <- err
		}
	}()
}

// shutDown says that it is not ready, goes on for the delay, and then finishes open requests. The admin
// listener goes last, so that whoever asks sees that it is shutting down.
func (s *servers) shutDown(ctx context.Context, revision any) error {
	s.draining.Store(true)
	s.log.Info("shutting down", "delay", s.flags.shutdownDelay, "timeout", s.flags.shutdownTimeout, "revision", revision)
	time.Sleep(s.flags.shutdownDelay)
	ctx, cancel := context.WithTimeout(ctx, s.flags.shutdownTimeout)
	defer cancel()
	for _, srv := range s.all {
		if err := srv.Shutdown(ctx); err != nil {
			s.close()
			return fmt.Errorf("shut down: open requests were cut off after %v", s.flags.shutdownTimeout)
		}
	}
	s.log.Info("stopped")
	return nil
}

// close ends everything at once.
func (s *servers) close() {
	for _, srv := range s.all {
		srv.Close()
	}
}
