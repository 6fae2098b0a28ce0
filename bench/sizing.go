package main

import (
	"bytes"
	"cmp"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"io"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

const (
	manyServices    = 1000
	idleConnections = 2000
	restTime        = 20 * time.Second
	loadTime        = 3 * time.Second
	loads           = 3 // the median counts
)

// runSizing measures what operators need to size a machine: requests relative to the CPU time that the server used for
// them.
func (b *bench) runSizing() (string, error) {
	var out bytes.Buffer
	fmt.Fprintf(&out, "On %s:\n\n", machine())
	services := manyServices
	if b.quick {
		services = 10
	}
	folder := filepath.Join(b.dir, "many")
	if err := os.Mkdir(folder, 0o755); err != nil {
		return "", err
	}
	for i := range services {
		if err := os.WriteFile(filepath.Join(folder, fmt.Sprintf("s%d.yaml", i+1)), service(i+1, perGroup), 0o644); err != nil {
			return "", err
		}
	}
	for _, step := range []func(io.Writer, string, int) error{b.sizeExample, b.sizeMany, b.sizeLoad} {
		if err := step(&out, folder, services); err != nil {
			return "", err
		}
	}
	return out.String(), nil
}

func row(out io.Writer, what, format string, args ...any) {
	fmt.Fprintf(out, "| %s | %s |\n", what, fmt.Sprintf(format, args...))
}

// sizeExample measures the minimum: a server with the built-in example.
func (b *bench) sizeExample(out io.Writer, _ string, _ int) error {
	b.progress("sizing: the example")
	e, err := b.example()
	if err != nil {
		return err
	}
	p, err := b.serve(anyCore, manifestPath)
	if err != nil {
		return err
	}
	defer p.stop()
	before := p.memory()
	address := strings.TrimSuffix(strings.TrimPrefix(p.url, "http://"), manifestPath)
	for range idleConnections {
		conn, err := net.Dial("tcp", address)
		if err != nil {
			return err
		}
		defer conn.Close()
		fmt.Fprintf(conn, "GET %s HTTP/1.1\r\nHost: %s\r\n\r\n", manifestPath, loadHost)
		if _, err := io.ReadAtLeast(conn, make([]byte, 8<<10), 512); err != nil {
			return err
		}
	}
	fmt.Fprint(out, "| one small definition | |\n|---|---|\n")
	row(out, "the binary", "%s", megabytes(float64(e.binary)))
	row(out, "start to first response", "%s", seconds(e.startUp.Seconds()))
	row(out, "idle memory", "%s", megabytes(float64(e.memory)))
	row(out, "memory per idle connection", "%s", memory(float64(p.memory()-before)/idleConnections))
	return nil
}

// sizeMany measures a server with many services.
func (b *bench) sizeMany(out io.Writer, folder string, services int) error {
	b.progress("sizing: %d services", services)
	p, err := b.serve(anyCore, fmt.Sprintf("/s%d%s", services, manifestPath), folder)
	if err != nil {
		return err
	}
	defer p.stop()
	half := strings.Replace(p.url, fmt.Sprintf("/s%d/", services), fmt.Sprintf("/s%d/", services/2), 1)
	a, err := get(half, loadHost, "")
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "\n| %d services with %d endpoints each, %s per manifest | |\n|---|---|\n", services, perGroup, kilobytes(len(a.body)))
	row(out, "start to first response", "%s", seconds(p.startUp.Seconds()))
	used := p.processorTime()
	time.Sleep(restTime)
	resting := (p.processorTime() - used).Seconds() / restTime.Seconds()
	row(out, "idle memory", "%s", megabytes(float64(p.memory()))) // by now, what reading took has been released

	changed := bytes.ReplaceAll(service(services/2, perGroup), []byte("name: Feed"), []byte("name: Changed"))
	began := time.Now()
	if err := os.WriteFile(filepath.Join(folder, fmt.Sprintf("s%d.yaml", services/2)), changed, 0o644); err != nil {
		return err
	}
	revision := a.header.Get("Signpost-Revision")
	for a.header.Get("Signpost-Revision") == revision {
		time.Sleep(5 * time.Millisecond)
		if a, err = get(half, loadHost, ""); err != nil {
			return err
		}
		if time.Since(began) > time.Minute {
			return fmt.Errorf("a change is not served at %s", half)
		}
	}
	took := time.Since(began)
	row(out, "peak memory while one of them reloads", "%s", megabytes(float64(p.peak())))
	row(out, "idle CPU time, for watching the files", "%.1f %% of a core", 100*resting)
	row(out, "from saving a file to serving its manifest", "%s", seconds(took.Seconds()))
	return nil
}

// sizeLoad measures how many requests one core handles per second.
func (b *bench) sizeLoad(out io.Writer, folder string, _ int) error {
	cert, key, err := b.certificate()
	if err != nil {
		return err
	}
	script := filepath.Join(b.dir, "hosts.lua")
	if err := os.WriteFile(script, []byte(`local n = 0
request = function()
  n = n + 1
  wrk.headers["Host"] = "h" .. n .. ".example.com"
  return wrk.format()
end
`), 0o644); err != nil {
		return err
	}
	one := filepath.Join(folder, "s1.yaml")
	path := "/s1" + manifestPath
	host, hosts := []string{"-H", "Host: " + loadHost}, []string{"-s", script}
	fmt.Fprint(out, "\nRequests per second of CPU time, with 32 keep-alive connections:\n\n"+
		"| load | requests per second of one core | peak memory |\n|---|---|---|\n")
	for _, c := range []struct {
		what, path string
		serve      []string
		wrk        []string
	}{
		{"the example", manifestPath, nil, host},
		{"the example, gzip", manifestPath, nil, slices.Concat(host, gzipAsked)},
		{"the example, 304", manifestPath, nil, slices.Concat(host, knownAsked)},
		{"the example, https terminated by Signpost", manifestPath, []string{"--tls-cert", cert, "--tls-key", key}, host},
		{"100 endpoints", path, []string{one}, host},
		{"100 endpoints, gzip", path, []string{one}, slices.Concat(host, gzipAsked)},
		{"100 endpoints, a different host each time", path, []string{one}, hosts},
		{"the same, gzip", path, []string{one}, slices.Concat(hosts, gzipAsked)},
		{"the same, rejected by `--allowed-host`", path, []string{one, "--allowed-host", loadHost}, hosts},
	} {
		b.progress("sizing: %s", c.what)
		if err := b.sizeOne(out, c.what, c.path, c.serve, c.wrk); err != nil {
			return fmt.Errorf("%s: %w", c.what, err)
		}
	}
	b.progress("")
	return nil
}

func (b *bench) sizeOne(out io.Writer, what, path string, serve, wrk []string) error {
	p, err := b.serve(serverCore, path, serve...)
	if err != nil {
		return err
	}
	defer p.stop()
	var rates []float64
	for range loads {
		s, err := runSlice(p, loadTime, wrk...)
		if err != nil {
			return err
		}
		if refused := slices.Contains(serve, "--allowed-host"); refused != (s.failed != "") {
			return fmt.Errorf("of %.0f requests: %s", s.requests, cmp.Or(s.failed, "none is refused"))
		}
		rates = append(rates, s.requests/s.used.Seconds())
	}
	fmt.Fprintf(out, "| %s | %s 000 | %s |\n", what, thousands(estimateOf(rates).median/1000), megabytes(float64(p.peak())))
	return nil
}

// certificate writes a self-signed certificate.
func (b *bench) certificate() (certFile, keyFile string, err error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return "", "", err
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(1), NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour)}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		return "", "", err
	}
	keyDER, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return "", "", err
	}
	certFile, keyFile = filepath.Join(b.dir, "cert.pem"), filepath.Join(b.dir, "key.pem")
	if err := os.WriteFile(certFile, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), 0o600); err != nil {
		return "", "", err
	}
	return certFile, keyFile, os.WriteFile(keyFile, pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: keyDER}), 0o600)
}
