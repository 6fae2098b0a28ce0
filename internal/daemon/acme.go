package daemon

import (
	"bytes"
	"cmp"
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"slices"
	"sync"
	"time"

	"golang.org/x/crypto/acme"
	"golang.org/x/crypto/acme/autocert"
)

// DefaultACMEDirectory is that of Let's Encrypt.
const DefaultACMEDirectory = autocert.DefaultACMEDirectory

// ACME configures certificates from an ACME server.
type ACME struct {
	Domains   []string          // normalized by host.Parse; none means no ACME
	CacheDir  string            // stores certificates, because ACME servers limit how many they issue
	Directory string            // DefaultACMEDirectory if empty
	Email     string            // contact of the account, for warnings from the CA; empty for none
	Transport http.RoundTripper // for requests to the ACME server; nil means http.DefaultTransport
}

// acmeManager obtains certificates for its domains from an ACME server.
type acmeManager struct {
	autocert.Manager
	domains []string
	log     *slog.Logger
	metrics *metrics

	mu      sync.Mutex
	said    map[string]time.Time // when a missing certificate was last logged, by domain
	ready   map[string]bool      // domains that have a certificate
	fetches map[string]*fetch    // of the first certificates of domains
}

// acmeSilence is how long the same failure is not logged again. autocert does not retry during that time either, and only
// reports that there is no certificate.
const acmeSilence = time.Minute

func newACME(config ACME, version string, log *slog.Logger, m *metrics) (*acmeManager, error) {
	manager := &acmeManager{domains: config.Domains, log: log, metrics: m, said: make(map[string]time.Time), ready: make(map[string]bool), fetches: make(map[string]*fetch)}
	if err := os.MkdirAll(config.CacheDir, 0o700); err != nil {
		return nil, fmt.Errorf("create directory for certificates: %w", err)
	}
	ours := autocert.HostWhitelist(manager.domains...)
	manager.Manager = autocert.Manager{
		Prompt: func(terms string) bool {
			log.Info("agreeing to the terms of service of the ACME CA", "terms", bounded(terms), "contact", cmp.Or(config.Email, "none"))
			return true
		},
		Email: config.Email,
		HostPolicy: func(ctx context.Context, host string) error {
			if name, _, err := net.SplitHostPort(host); err == nil { // a challenge on a port other than 80
				host = name
			}
			return ours(ctx, host)
		},
		Cache:  autocert.DirCache(config.CacheDir),
		Client: &acme.Client{DirectoryURL: cmp.Or(config.Directory, DefaultACMEDirectory), UserAgent: "signpost/" + version, HTTPClient: &http.Client{Transport: countFailures{boundedTransport{cmp.Or(config.Transport, http.DefaultTransport)}, m}}},
	}
	return manager, nil
}

func (m *acmeManager) config() *tls.Config {
	config := m.TLSConfig()
	config.MinVersion = tls.VersionTLS12
	config.GetCertificate = m.GetCertificate
	return config
}

// obtain gets the certificates now, so that problems show up at the start and not when the first studio connects.
func (m *acmeManager) obtain() {
	for _, domain := range m.domains {
		cert, err := m.certificate(&tls.ClientHelloInfo{
			ServerName:       domain,
			SignatureSchemes: []tls.SignatureScheme{tls.ECDSAWithP256AndSHA256}, // supported by all current clients
			SupportedCurves:  []tls.CurveID{tls.CurveP256},
			CipherSuites:     []uint16{tls.TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256},
		}, startWait)
		if err == nil {
			m.log.Info("certificate ready", "domain", domain, "not_after", cert.Leaf.NotAfter)
		}
	}
}

// GetCertificate returns the certificate for a handshake. While a domain has none, it waits for the directory, but not
// longer than handshakeWait.
func (m *acmeManager) GetCertificate(hello *tls.ClientHelloInfo) (*tls.Certificate, error) {
	return m.certificate(hello, handshakeWait)
}

// certificate is the manager's GetCertificate with a limited wait. All handshakes that need the first certificate of a
// domain wait for the same request, so giving up leaves nothing behind.
func (m *acmeManager) certificate(hello *tls.ClientHelloInfo, wait time.Duration) (*tls.Certificate, error) {
	domain := hello.ServerName
	if !slices.Contains(m.domains, domain) || slices.Contains(hello.SupportedProtos, acme.ALPNProto) {
		return m.Manager.GetCertificate(hello) // the mistake of a client, or a challenge
	}
	m.mu.Lock()
	if m.ready[domain] {
		m.mu.Unlock()
		return m.get(hello)
	}
	f := m.fetches[domain]
	if f == nil {
		f = &fetch{done: make(chan struct{})}
		m.fetches[domain] = f
		// Without its connection, which may be closed before the certificate arrives.
		own := &tls.ClientHelloInfo{ServerName: domain, SignatureSchemes: hello.SignatureSchemes, SupportedCurves: hello.SupportedCurves, CipherSuites: hello.CipherSuites}
		go func() {
			defer close(f.done)
			f.cert, f.err = m.get(own)
			m.mu.Lock()
			m.ready[domain] = f.err == nil
			delete(m.fetches, domain)
			m.mu.Unlock()
		}()
	}
	m.mu.Unlock()
	select {
	case <-f.done:
		return f.cert, f.err
	case <-time.After(wait):
		return nil, errNoCertificateYet
	}
}

// fetch is a request for the first certificate of a domain. Its results are valid once it is done.
type fetch struct {
	done chan struct{}
	cert *tls.Certificate
	err  error
}

// get is the manager's GetCertificate, and logs why one of our domains has no certificate.
func (m *acmeManager) get(hello *tls.ClientHelloInfo) (*tls.Certificate, error) {
	cert, err := m.Manager.GetCertificate(hello)
	if err == nil {
		if cert.Leaf != nil {
			m.metrics.certificate(cert.Leaf) // autocert renews it without a word
		}
		return cert, nil
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if time.Since(m.said[hello.ServerName]) > acmeSilence {
		m.said[hello.ServerName] = time.Now()
		m.log.Error("no certificate", "domain", hello.ServerName, "error", bounded(err.Error()))
	}
	return nil, err
}

// countFailures counts failed requests to the ACME server. autocert renews in the background while the old certificate
// is still valid, so its failures show up nowhere else.
type countFailures struct {
	http.RoundTripper
	metrics *metrics
}

func (c countFailures) RoundTrip(r *http.Request) (*http.Response, error) {
	res, err := c.RoundTripper.RoundTrip(r)
	if err != nil || res.StatusCode >= http.StatusBadRequest && !isBadNonce(res) {
		c.metrics.failed.Inc()
	}
	return res, err
}

// maxProblem limits how much of an error response is searched for its type.
const maxProblem = 4 << 10

// isBadNonce reports whether a request failed because its nonce had expired. That is part of the protocol: the client
// retries with a new one.
func isBadNonce(res *http.Response) bool {
	if res.StatusCode != http.StatusBadRequest {
		return false
	}
	start, _ := io.ReadAll(io.LimitReader(res.Body, maxProblem)) // the next reader gets the same error
	res.Body = struct {
		io.Reader
		io.Closer
	}{io.MultiReader(bytes.NewReader(start), res.Body), res.Body}
	return bytes.Contains(start, []byte("urn:ietf:params:acme:error:badNonce"))
}
