package testkit

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/pem"
	"math/big"
	"testing"
	"time"
)

// Certificate returns a self-signed certificate for a host, and its key, in PEM form.
func Certificate(t testing.TB, serial int64, host string) (cert, key string) {
	t.Helper()
	private := Must(ecdsa.GenerateKey(elliptic.P256(), rand.Reader))(t)
	template := &x509.Certificate{
		DNSNames: []string{host}, IsCA: true, BasicConstraintsValid: true, SerialNumber: big.NewInt(serial),
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
	}
	der := Must(x509.CreateCertificate(rand.Reader, template, template, &private.PublicKey, private))(t)
	keyDER := Must(x509.MarshalPKCS8PrivateKey(private))(t)
	encode := func(kind string, der []byte) string {
		return string(pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der}))
	}
	return encode("CERTIFICATE", der), encode("PRIVATE KEY", keyDER)
}
