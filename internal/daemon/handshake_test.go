package daemon

import (
	"crypto/tls"
	"testing"
	"testing/synctest"
	"time"
)

// TestHandshakeWait checks that handshakes do not wait for long while a domain has no certificate, however they write it.
func TestHandshakeWait(t *testing.T) {
	for _, name := range []string{"feeds.example.com", "FEEDS.Example.com"} {
		synctest.Test(t, func(t *testing.T) {
			m := acmeManager{issued: map[string]chan struct{}{"feeds.example.com": make(chan struct{})}}
			start := time.Now()
			if _, err := m.GetCertificate(&tls.ClientHelloInfo{ServerName: name}); err == nil || time.Since(start) != handshakeWait {
				t.Errorf("%s: %v after %v", name, err, time.Since(start))
			}
		})
	}
}
