package daemon

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"os"
	"slices"
	"time"

	"golang.org/x/crypto/acme"
	"golang.org/x/crypto/acme/autocert"

	"signpost/host"
)

// DefaultACMEDirectory is that of Let's Encrypt.
const DefaultACMEDirectory = autocert.DefaultACMEDirectory

// ACME configures certificates from an ACME server.
type ACME struct {
	Domains   []string          // normalized by host.Parse; none means no ACME
	CacheDir  string            // stores certificates, because ACME servers limit how many they issue
	Directory string            // URL of the ACME directory
	Transport http.RoundTripper // for requests to the ACME server; nil means http.DefaultTransport
}

type acmeManager struct {
	autocert.Manager
	log     *slog.Logger
	metrics *metrics
	issued  map[string]chan struct{} // by domain; closed when it has a certificate
}

const (
	// acmeRetry is how long to wait after a failed attempt. autocert does not retry earlier either.
	acmeRetry = time.Minute

	// handshakeWait is how long a handshake waits for the first certificate of a domain. After that the client has to
	// retry: autocert alone would keep a goroutine for each of them for minutes, and nothing bounds how many.
	handshakeWait = 5 * time.Second

	acmeTimeout = 30 * time.Second

	// maxACMEResponse is many times the largest response, a certificate chain.
	maxACMEResponse = 1 << 20
)

func newACME(config ACME, version string, log *slog.Logger, m *metrics) (*acmeManager, error) {
	if err := os.MkdirAll(config.CacheDir, 0o700); err != nil {
		return nil, fmt.Errorf("create directory for certificates: %w", err)
	}
	manager := &acmeManager{log: log, metrics: m, issued: make(map[string]chan struct{})}
	for _, domain := range config.Domains {
		manager.issued[domain] = make(chan struct{})
	}
	transport := acmeTransport{cmp.Or(config.Transport, http.DefaultTransport), m}
	sender := &http.Client{Transport: transport, Timeout: acmeTimeout}
	manager.Manager = autocert.Manager{
		Prompt: func(terms string) bool {
			log.Info("agreeing to the terms of service of the ACME CA", "terms", bounded(terms))
			return true
		},
		HostPolicy: autocert.HostWhitelist(config.Domains...),
		Cache:      autocert.DirCache(config.CacheDir),
		Client:     &acme.Client{DirectoryURL: config.Directory, UserAgent: "signpost/" + version, HTTPClient: sender},
	}
	return manager, nil
}

// obtain gets the certificates now, so that problems show up at the start and not when the first studio connects.
func (m *acmeManager) obtain(ctx context.Context) {
	for domain := range m.issued {
		go func() {
			for !m.obtainOne(domain) {
				select {
				case <-ctx.Done():
					return
				case <-time.After(acmeRetry):
				}
			}
		}()
	}
}

func (m *acmeManager) obtainOne(domain string) bool {
	cert, err := m.Manager.GetCertificate(&tls.ClientHelloInfo{
		ServerName:       domain,
		SignatureSchemes: []tls.SignatureScheme{tls.ECDSAWithP256AndSHA256}, // supported by all current clients
		SupportedCurves:  []tls.CurveID{tls.CurveP256},
		CipherSuites:     []uint16{tls.TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256},
	})
	if err != nil {
		m.log.Error("no certificate", "domain", domain, "error", bounded(err.Error()))
		return false
	}
	m.log.Info("certificate ready", "domain", domain, "not_after", cert.Leaf.NotAfter)
	m.metrics.certificate(cert.Leaf)
	close(m.issued[domain])
	return true
}

// GetCertificate returns the certificate for a handshake. While a domain has none, it waits for obtain, but not long.
func (m *acmeManager) GetCertificate(hello *tls.ClientHelloInfo) (*tls.Certificate, error) {
	name, _ := host.Parse(hello.ServerName) // as autocert does
	issued := m.issued[name]
	if issued == nil || slices.Contains(hello.SupportedProtos, acme.ALPNProto) {
		return m.Manager.GetCertificate(hello) // the mistake of a client, or a challenge
	}
	select {
	case <-issued:
	case <-time.After(handshakeWait):
		return nil, errors.New("the certificate has not been issued yet")
	}
	cert, err := m.Manager.GetCertificate(hello)
	if err == nil {
		m.metrics.certificate(cert.Leaf) // autocert renews it without a word
	}
	return cert, err
}

// acmeTransport limits the size of responses and counts failed requests. autocert renews in the background while the
// old certificate is still valid, so its failures show up nowhere else. Status 400 is not counted: it is how an ACME
// server asks for a fresh nonce.
type acmeTransport struct {
	http.RoundTripper
	metrics *metrics
}

func (t acmeTransport) RoundTrip(r *http.Request) (*http.Response, error) {
	res, err := t.RoundTripper.RoundTrip(r)
	if err != nil || res.StatusCode > http.StatusBadRequest {
		t.metrics.failed.Inc()
	}
	if err != nil {
		return nil, err
	}
	res.Body = http.MaxBytesReader(nil, res.Body, maxACMEResponse)
	return res, nil
}
