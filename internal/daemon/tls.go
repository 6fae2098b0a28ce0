package daemon

import (
	"bytes"
	"crypto/tls"
	"fmt"
	"log/slog"
	"slices"
	"sync/atomic"

	"signpost/internal/readfile"
)

// CertificateFiles names a PEM certificate and its key. Both are reloaded when they change.
type CertificateFiles struct{ Cert, Key string }

type certificate struct {
	CertificateFiles
	log     *slog.Logger
	metrics *metrics
	current atomic.Pointer[tls.Certificate]
	logged  string // last problem that was logged
}

// maxPEM limits the size of a certificate or key file. A chain takes some kilobytes.
const maxPEM = 1 << 20

func newCertificate(files CertificateFiles, log *slog.Logger, m *metrics) (*certificate, error) {
	c := &certificate{CertificateFiles: files, log: log, metrics: m}
	_, err := c.load()
	return c, err
}

// load loads the pair in the files, and reports whether it is another one. If the two do not match, the old pair stays
// in use.
func (c *certificate) load() (replaced bool, err error) {
	cert, err := readfile.Limit(c.Cert, maxPEM)
	if err != nil {
		return false, fmt.Errorf("read certificate: %w", err)
	}
	key, err := readfile.Limit(c.Key, maxPEM)
	if err != nil {
		return false, fmt.Errorf("read key: %w", err)
	}
	pair, err := tls.X509KeyPair(cert, key)
	if err != nil {
		return false, fmt.Errorf("certificate %q and key %q: %w", c.Cert, c.Key, err)
	}
	if old := c.current.Load(); old != nil && slices.EqualFunc(old.Certificate, pair.Certificate, bytes.Equal) {
		return false, nil
	}
	c.current.Store(&pair)
	c.metrics.expiry.Reset() // it may be for another name
	c.metrics.certificate(pair.Leaf)
	return true, nil
}

// reload is load for a running server. Problems are logged once, and on demand everything.
func (c *certificate) reload(demanded bool) {
	replaced, err := c.load()
	last := c.logged
	c.logged = fmt.Sprint(err)
	expiry := c.current.Load().Leaf.NotAfter
	switch {
	case err != nil && (c.logged != last || demanded):
		c.metrics.failed.Inc()
		c.log.Error("certificate not replaced: still using the old one", "error", err, "not_after", expiry)
	case replaced:
		c.log.Info("certificate replaced", "not_after", expiry)
	case demanded && err == nil:
		c.log.Info("certificate unchanged", "not_after", expiry)
	}
}

// get is for [tls.Config.GetCertificate].
func (c *certificate) get(*tls.ClientHelloInfo) (*tls.Certificate, error) {
	return c.current.Load(), nil
}
