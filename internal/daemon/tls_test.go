package daemon_test

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"signpost/internal/daemon"
	"signpost/internal/source"
	"signpost/internal/testkit"
)

// certificateFiles returns the flags for https, the files that they name, and the certificate in them.
func certificateFiles(t *testing.T, serial int64) (flags []string, files daemon.CertificateFiles, cert string) {
	t.Helper()
	dir := t.TempDir()
	files = daemon.CertificateFiles{Cert: filepath.Join(dir, "tls.crt"), Key: filepath.Join(dir, "tls.key")}
	return []string{"--tls-cert", files.Cert, "--tls-key", files.Key}, files, install(t, files, serial)
}

// install writes a new certificate and its key.
func install(t *testing.T, files daemon.CertificateFiles, serial int64) (cert string) {
	t.Helper()
	cert, key := testkit.Certificate(t, serial, "feeds.example.com")
	testkit.Write(t, files.Cert, cert)
	testkit.Write(t, files.Key, key)
	return cert
}

// httpsClient trusts only these roots, and opens a new connection for every request.
func httpsClient(serverName string, roots ...string) *http.Client {
	pool := x509.NewCertPool()
	for _, root := range roots {
		pool.AppendCertsFromPEM([]byte(root))
	}
	return &http.Client{Transport: &http.Transport{
		TLSClientConfig:   &tls.Config{RootCAs: pool, ServerName: serverName},
		ForceAttemptHTTP2: true, DisableKeepAlives: true,
	}}
}

// serial returns the serial number of the certificate that a server presents.
func serial(t *testing.T, address string) int64 {
	t.Helper()
	conn := testkit.Must(tls.Dial("tcp", strings.TrimPrefix(address, "https://"), anyServer))(t)
	defer conn.Close()
	return conn.ConnectionState().PeerCertificates[0].SerialNumber.Int64()
}

func TestHTTPS(t *testing.T) {
	t.Parallel()
	flags, _, cert := certificateFiles(t, 101)
	p := startServe(t, append(flags, "--allowed-host", "feeds.example.com")...)
	if !strings.HasPrefix(p.url, "https://") {
		t.Fatalf("the address is %s", p.url)
	}
	client := httpsClient("feeds.example.com", cert)
	r, err := fetch(client, p.url+manifestV1, "feeds.example.com")
	if err != nil || r.StatusCode != http.StatusOK || r.ProtoMajor != 2 || !strings.Contains(r.body, `"https://feeds.example.com/`) {
		t.Fatalf("over https: %v %v, %s", r.Response, err, r.body)
	}

	// TLS 1.2 or newer, with HTTP/1.1 for clients that do not support HTTP/2.
	limited := func(version uint16) *http.Client {
		client := httpsClient("feeds.example.com", cert)
		transport := client.Transport.(*http.Transport)
		transport.TLSClientConfig.MinVersion, transport.TLSClientConfig.MaxVersion = version, version
		transport.ForceAttemptHTTP2 = false
		return client
	}
	if _, err := fetch(limited(tls.VersionTLS11), p.url+manifestV1, "feeds.example.com"); err == nil {
		t.Error("the server accepts TLS 1.1")
	}
	if r, err := fetch(limited(tls.VersionTLS12), p.url+manifestV1, "feeds.example.com"); err != nil || r.ProtoMajor != 1 || r.StatusCode != http.StatusOK {
		t.Errorf("over TLS 1.2 and HTTP/1.1: %v %v", r.Response, err)
	}

	// With many open connections, new ones fall back to HTTP/1.1.
	waitFor(t, "HTTP/1.1", func() bool {
		for range 130 {
			dial(t, p)
		}
		r, err := fetch(client, p.url+manifestV1, "feeds.example.com")
		return err == nil && r.StatusCode == http.StatusOK && r.ProtoMajor == 1
	})

	if r, err := fetch(http.DefaultClient, strings.Replace(p.url, "https", "http", 1), "feeds.example.com"); err == nil && r.StatusCode < 400 {
		t.Errorf("plain http to the https listener: %v", r.Response)
	}
}

// TestCertificateReload replaces the certificate: one file after the other, both at once, and with mistakes.
func TestCertificateReload(t *testing.T) {
	t.Parallel()
	flags, files, _ := certificateFiles(t, 100)
	dir := filepath.Dir(files.Cert)
	// As in a mounted secret, the links of both files go through a link that is swapped.
	mount := func(serial int64, matching bool) {
		t.Helper()
		generation := fmt.Sprintf("...%d", serial)
		mounted := daemon.CertificateFiles{Cert: filepath.Join(dir, generation, "tls.crt"), Key: filepath.Join(dir, generation, "tls.key")}
		if cert := install(t, mounted, serial); !matching {
			install(t, mounted, serial)
			testkit.Write(t, mounted.Cert, cert)
		}
		swapLink(t, filepath.Join(dir, "..data"), generation)
	}
	mount(101, true)
	swapLink(t, files.Cert, "..data/tls.crt")
	swapLink(t, files.Key, "..data/tls.key")
	p := startServe(t, flags...)
	shows := func(want int64) {
		t.Helper()
		waitFor(t, "another certificate", func() bool { return serial(t, p.url) == want })
	}
	shows(101)
	mount(102, true)
	shows(102)
	expiry := p.metric(t, `signpost_certificate_expiry_timestamp_seconds{name="feeds.example.com"}`)
	if left := time.Until(time.Unix(int64(expiry), 0)); left <= 0 || left > time.Hour {
		t.Errorf("the metric for the expiry of the certificate is %v", expiry)
	}
	if n := p.metric(t, "signpost_certificate_failures_total"); n != 0 {
		t.Errorf("%v failures are counted", n)
	}

	// A mismatched pair, and a missing file: the old certificate stays, and each problem is logged once.
	failures := func(about string) (n int) {
		for _, line := range p.logged("certificate not replaced: still using the old one") {
			if strings.Contains(line["error"].(string), about) {
				n++
			}
		}
		return n
	}
	mount(103, false)
	waitFor(t, "the mismatch in the log", func() bool { return failures("private key does not match public key") == 1 })
	shows(102)
	p.signal(t, syscall.SIGHUP) // on demand, it is logged again
	waitFor(t, "the mismatch in the log again", func() bool { return failures("private key does not match public key") == 2 })
	testkit.OK(t, os.Remove(files.Key))
	waitFor(t, "the missing key in the log", func() bool { return failures("no such file or directory") == 1 })
	shows(102)
	testkit.Mkfifo(t, files.Key)
	waitFor(t, "the pipe in the log", func() bool { return failures(files.Key+": not a regular file") == 1 })
	testkit.OK(t, os.Remove(files.Key))

	// In place, one file after the other.
	testkit.OK(t, os.Remove(files.Cert))
	install(t, files, 104)
	shows(104)
	waitFor(t, "the certificate in the log", func() bool { return len(p.logged("certificate replaced")) >= 2 })
	p.signal(t, syscall.SIGHUP)
	waitFor(t, "the unchanged certificate in the log", func() bool { return len(p.logged("certificate unchanged")) == 1 })
}

// hanging is a source whose definitions cannot be read for a long time.
type hanging struct {
	source.Fixed
	reads atomic.Int32
	end   chan struct{}
}

func (h *hanging) Read() ([]source.Document, error) {
	if h.reads.Add(1) > 1 {
		<-h.end
	}
	return h.Fixed.Read()
}

// TestCertificateReloadDoesNotWait replaces a certificate while definitions are being read.
func TestCertificateReloadDoesNotWait(t *testing.T) {
	t.Parallel()
	_, files, _ := certificateFiles(t, 101)
	h := &hanging{Fixed: source.Fixed{Documents: []source.Document{{Name: "feeds.json", Text: []byte(feeds("one", 1))}}}, end: make(chan struct{})}
	d := testkit.Must(daemon.New(daemon.Config{Sources: []source.Source{h}, Listen: "127.0.0.1:0", Certificate: files}))(t)
	d.Load(t.Context())
	testkit.OK(t, d.Start())
	ctx, stop := context.WithCancel(t.Context())
	reload, ended := make(chan os.Signal, 1), make(chan error)
	go func() { ended <- d.Run(ctx, reload) }()
	reload <- syscall.SIGHUP
	waitFor(t, "a read that hangs", func() bool { return h.reads.Load() > 1 })
	install(t, files, 102)
	_, addr := d.Address()
	waitFor(t, "the new certificate", func() bool { return serial(t, addr.String()) == 102 })
	close(h.end)
	stop()
	testkit.OK(t, <-ended)
}
