package cli

import (
	"bytes"
	"context"
	"crypto/tls"
	"fmt"
	"log/slog"
	"net"
	"net/netip"
	"os"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/crypto/acme"
	"golang.org/x/crypto/acme/autocert"

	"signpost/server"
)

// certificate is a certificate and its key, read again when the files change.
type certificate struct {
	certFile, keyFile string
	log               *slog.Logger
	current           atomic.Pointer[tls.Certificate]
	files             [2][]byte // as last looked at
	failure           string    // what was said to be wrong with them
}

func newCertificate(certFile, keyFile string, log *slog.Logger) (*certificate, error) {
	c := &certificate{certFile: certFile, keyFile: keyFile, log: log}
	if err := c.load(); err != nil {
		return nil, err
	}
	return c, nil
}

// load takes the pair that is in the files. If the two do not belong together, the old pair stays.
func (c *certificate) load() error {
	cert, err := os.ReadFile(c.certFile)
	if err != nil {
		return fmt.Errorf("read certificate: %w", err)
	}
	key, err := os.ReadFile(c.keyFile)
	if err != nil {
		return fmt.Errorf("read key: %w", err)
	}
	if bytes.Equal(cert, c.files[0]) && bytes.Equal(key, c.files[1]) {
		return nil
	}
	c.files = [2][]byte{cert, key}
	pair, err := tls.X509KeyPair(cert, key)
	if err != nil {
		return fmt.Errorf("certificate %q and key %q: %w", c.certFile, c.keyFile, err)
	}
	c.current.Store(&pair)
	return nil
}

// reload is load for a server that is running: what goes wrong is logged, once.
func (c *certificate) reload() {
	before, failure := c.current.Load(), ""
	if err := c.load(); err != nil {
		failure = err.Error()
	}
	switch now := c.current.Load(); {
	case failure != "" && failure != c.failure:
		c.log.Error("certificate not replaced: the old one stays", "error", failure)
	case now != before:
		c.log.Info("certificate replaced", "not_after", now.Leaf.NotAfter)
	}
	c.failure = failure
}

func (c *certificate) config() *tls.Config {
	return &tls.Config{
		MinVersion:     tls.VersionTLS12,
		GetCertificate: func(*tls.ClientHelloInfo) (*tls.Certificate, error) { return c.current.Load(), nil },
	}
}

// acmeManager gets certificates for its domains from an ACME directory.
type acmeManager struct {
	autocert.Manager
	domains []string
	log     *slog.Logger

	mu   sync.Mutex
	said map[string]time.Time // when it was last logged that a domain has no certificate
}

// acmeSilence is how long a failure is not logged again. For as long autocert does not try again either, and
// says no more than that there is no certificate.
const acmeSilence = time.Minute

func newACME(domains []string, cacheDir, directory string, log *slog.Logger) (*acmeManager, error) {
	m := &acmeManager{log: log, said: make(map[string]time.Time)}
	for _, domain := range domains {
		host, err := server.ParseHost(domain)
		if err != nil {
			return nil, usageErrorf("--acme-domain: %w", err)
		}
		if _, err := netip.ParseAddr(strings.Trim(host, "[]")); err == nil || !strings.Contains(host, ".") {
			return nil, usageErrorf("--acme-domain: %q is not a domain that a certificate can be for: give one such as feeds.example.com", domain)
		}
		m.domains = append(m.domains, host)
	}
	if cacheDir == "" {
		return nil, usageErrorf("--acme-domain needs --acme-cache, a folder for the certificates: directories limit how many they issue")
	}
	if err := os.MkdirAll(cacheDir, 0o700); err != nil {
		return nil, fmt.Errorf("make folder for certificates: %w", err)
	}
	ours := autocert.HostWhitelist(m.domains...)
	m.Manager = autocert.Manager{
		Prompt: autocert.AcceptTOS,
		HostPolicy: func(ctx context.Context, host string) error {
			if name, _, err := net.SplitHostPort(host); err == nil { // a challenge at a port other than 80
				host = name
			}
			return ours(ctx, host)
		},
		Cache:  autocert.DirCache(cacheDir),
		Client: &acme.Client{DirectoryURL: directory, UserAgent: "signpost/" + buildVersion()},
	}
	return m, nil
}

func (m *acmeManager) config() *tls.Config {
	config := m.TLSConfig()
	config.MinVersion = tls.VersionTLS12
	config.GetCertificate = m.GetCertificate
	return config
}

// obtain gets the certificates now, so that what is in the way shows at the start and not when the studio comes.
func (m *acmeManager) obtain() {
	for _, domain := range m.domains {
		cert, err := m.GetCertificate(&tls.ClientHelloInfo{
			ServerName:       domain,
			SignatureSchemes: []tls.SignatureScheme{tls.ECDSAWithP256AndSHA256}, // what all clients of today take
			SupportedCurves:  []tls.CurveID{tls.CurveP256},
			CipherSuites:     []uint16{tls.TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256},
		})
		if err == nil {
			m.log.Info("certificate ready", "domain", domain, "not_after", cert.Leaf.NotAfter)
		}
	}
}

// GetCertificate is the manager's, and logs what keeps a domain of ours from its certificate.
func (m *acmeManager) GetCertificate(hello *tls.ClientHelloInfo) (*tls.Certificate, error) {
	cert, err := m.Manager.GetCertificate(hello)
	if err == nil || !slices.Contains(m.domains, hello.ServerName) || slices.Contains(hello.SupportedProtos, acme.ALPNProto) {
		return cert, err // or else the mistake of a client, or a challenge
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if time.Since(m.said[hello.ServerName]) > acmeSilence {
		m.said[hello.ServerName] = time.Now()
		m.log.Error("no certificate", "domain", hello.ServerName, "error", err)
	}
	return nil, err
}
