package daemon

import (
	"bytes"
	"crypto/tls"
	"fmt"
	"log/slog"
	"os"
	"sync/atomic"
)

// CertificateFiles name a certificate and its key in PEM form. Both are read again when they change.
type CertificateFiles struct{ Cert, Key string }

func (f CertificateFiles) paths() []string {
	if f.Cert == "" {
		return nil
	}
	return []string{f.Cert, f.Key}
}

// certificate is a certificate and its key, read again when the files change.
type certificate struct {
	CertificateFiles
	log     *slog.Logger
	current atomic.Pointer[tls.Certificate]
	files   [2][]byte // as last looked at
	failure string    // what was said to be wrong with them
}

func newCertificate(files CertificateFiles, log *slog.Logger) (*certificate, error) {
	c := &certificate{CertificateFiles: files, log: log}
	if err := c.load(); err != nil {
		return nil, err
	}
	return c, nil
}

// load takes the pair that is in the files. If the two do not belong together, the old pair stays.
func (c *certificate) load() error {
	cert, err := os.ReadFile(c.Cert)
	if err != nil {
		return fmt.Errorf("read certificate: %w", err)
	}
	key, err := os.ReadFile(c.Key)
	if err != nil {
		return fmt.Errorf("read key: %w", err)
	}
	if bytes.Equal(cert, c.files[0]) && bytes.Equal(key, c.files[1]) {
		return nil
	}
	c.files = [2][]byte{cert, key}
	pair, err := tls.X509KeyPair(cert, key)
	if err != nil {
		return fmt.Errorf("certificate %q and key %q: %w", c.Cert, c.Key, err)
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
