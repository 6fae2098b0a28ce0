package daemon

import (
	"bytes"
	"crypto/tls"
	"fmt"
	"log/slog"
	"path/filepath"
	"sync/atomic"

	"signpost/internal/readfile"
)

// CertificateFiles names a PEM certificate and its key. Both are reloaded when they change.
type CertificateFiles struct{ Cert, Key string }

func (f CertificateFiles) directories() []string {
	return []string{filepath.Dir(f.Cert), filepath.Dir(f.Key)}
}

// certificate is a certificate and its key, reloaded when the files change.
type certificate struct {
	CertificateFiles
	log     *slog.Logger
	metrics *metrics
	current atomic.Pointer[tls.Certificate]
	files   [2][]byte // as last read
	err     error     // of the pair in files
	logged  string    // last problem that was logged
}

// maxPEM limits the size of a certificate or key file. A chain takes some kilobytes.
const maxPEM = 1 << 20

func newCertificate(files CertificateFiles, log *slog.Logger, m *metrics) (*certificate, error) {
	c := &certificate{CertificateFiles: files, log: log, metrics: m}
	if err := c.load(); err != nil {
		return nil, err
	}
	return c, nil
}

// load loads the pair in the files. If the two do not match, the old pair stays in use.
func (c *certificate) load() error {
	cert, err := readfile.Limit(c.Cert, maxPEM)
	if err != nil {
		return fmt.Errorf("read certificate: %w", err)
	}
	key, err := readfile.Limit(c.Key, maxPEM)
	if err != nil {
		return fmt.Errorf("read key: %w", err)
	}
	if bytes.Equal(cert, c.files[0]) && bytes.Equal(key, c.files[1]) {
		return c.err
	}
	c.files, c.err = [2][]byte{cert, key}, nil
	pair, err := tls.X509KeyPair(cert, key)
	if err != nil {
		c.err = fmt.Errorf("certificate %q and key %q: %w", c.Cert, c.Key, err)
		return c.err
	}
	c.current.Store(&pair)
	c.metrics.expiry.Reset() // it may be for another name
	c.metrics.certificate(pair.Leaf)
	return nil
}

// reload is load for a running server. Problems are logged once, and on demand everything.
func (c *certificate) reload(demanded bool) {
	before, failure := c.current.Load(), ""
	if err := c.load(); err != nil {
		failure = err.Error()
	}
	now := c.current.Load()
	switch {
	case failure != "" && (failure != c.logged || demanded):
		c.metrics.failed.Inc()
		c.log.Error("certificate not replaced: still using the old one", "error", failure, "not_after", now.Leaf.NotAfter)
	case now != before:
		c.log.Info("certificate replaced", "not_after", now.Leaf.NotAfter)
	case demanded && failure == "":
		c.log.Info("certificate unchanged", "not_after", now.Leaf.NotAfter)
	}
	c.logged = failure
}

func (c *certificate) config() *tls.Config {
	return &tls.Config{
		MinVersion:     tls.VersionTLS12,
		GetCertificate: func(*tls.ClientHelloInfo) (*tls.Certificate, error) { return c.current.Load(), nil },
	}
}
