// Package registrytest runs Debian's docker-registry, a real OCI registry, on loopback for tests.
//
// [Start] starts one with TLS and basic authentication. Run make programs to unpack the registry.
package registrytest

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"io"
	"log"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/crypto/bcrypt"
)

// Credentials that every registry accepts.
const (
	User     = "publisher"
	Password = "correct horse"
)

// Registry is a registry that runs until the test ends, behind a proxy that can inject faults.
type Registry struct {
	Host      string // 127.0.0.1:port, over https
	PlainHost string // the same registry over plain http
	CAFile    string // trusts its certificate
	Config    string // directory for DOCKER_CONFIG, with the credentials

	test    testing.TB
	tls     *tls.Config
	proxy   http.Handler
	program string
	dir     string
	address string // of the registry itself, behind the proxy
	cmd     *exec.Cmd

	mu    sync.Mutex
	fault func(http.ResponseWriter, *http.Request) bool
}

// Start starts a registry. It skips the test if the program is not installed.
func Start(t testing.TB) *Registry {
	t.Helper()
	r := &Registry{test: t, program: find(t), dir: t.TempDir()}
	hash, err := bcrypt.GenerateFromPassword([]byte(Password), bcrypt.MinCost)
	r.must(err)
	r.write("htpasswd", User+":"+string(hash)+"\n")
	certificate, key := selfSigned(t)
	r.CAFile = r.write("ca.pem", certificate)
	r.write("key.pem", key)
	r.Start()

	pair, err := tls.X509KeyPair([]byte(certificate), []byte(key))
	r.must(err)
	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM([]byte(certificate))
	r.tls = &tls.Config{Certificates: []tls.Certificate{pair}}
	r.proxy = &httputil.ReverseProxy{
		Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: pool}},
		Rewrite: func(p *httputil.ProxyRequest) {
			p.SetURL(&url.URL{Scheme: "https", Host: r.currentAddress()})
			p.SetXForwarded() // for upload URLs
			p.Out.Host = p.In.Host
		},
		ErrorHandler: func(w http.ResponseWriter, _ *http.Request, _ error) { panic(http.ErrAbortHandler) }, // drop the connection, as if the registry were gone
	}
	front := http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		r.mu.Lock()
		fault := r.fault
		r.mu.Unlock()
		if fault == nil || !fault(w, req) {
			r.proxy.ServeHTTP(w, req)
		}
	})
	r.Host = r.Serve(front).Listener.Addr().String()
	plain := httptest.NewServer(front)
	t.Cleanup(plain.Close)
	r.PlainHost = plain.Listener.Addr().String()

	auth := map[string]string{"auth": base64.StdEncoding.EncodeToString([]byte(User + ":" + Password))}
	config, err := json.Marshal(map[string]any{"auths": map[string]any{r.Host: auth, r.PlainHost: auth}})
	r.must(err)
	r.Config = filepath.Dir(r.write("docker/config.json", string(config)))
	return r
}

// Serve starts another https server with the registry's certificate.
func (r *Registry) Serve(handler http.Handler) *httptest.Server {
	s := httptest.NewUnstartedServer(handler)
	s.TLS = r.tls.Clone()
	s.Config.ErrorLog = log.New(io.Discard, "", 0)
	s.StartTLS()
	r.test.Cleanup(s.Close)
	return s
}

// RedirectBlobs makes the registry redirect requests for blobs to another host, as large registries do. That host passes
// each request to seen first, and needs no credentials.
func (r *Registry) RedirectBlobs(seen func(*http.Request)) {
	storage := r.Serve(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		seen(req)
		req.SetBasicAuth(User, Password)
		r.proxy.ServeHTTP(w, req)
	})).URL
	r.Fail(func(w http.ResponseWriter, req *http.Request) bool {
		if req.Method != http.MethodGet || !strings.Contains(req.URL.Path, "/blobs/sha256:") {
			return false
		}
		http.Redirect(w, req, storage+req.URL.Path+"?signature=x", http.StatusTemporaryRedirect)
		return true
	})
}

// currentAddress returns the address of the registry, which changes when it restarts.
func (r *Registry) currentAddress() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.address
}

// Start restarts the registry after Stop. It keeps its contents.
func (r *Registry) Start() {
	r.test.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	r.must(err)
	address := listener.Addr().String()
	listener.Close()
	r.mu.Lock()
	r.address = address
	r.mu.Unlock()
	config := r.write("config.yml", fmt.Sprintf(`{"version": "0.1", "log": {"level": "error", "accesslog": {"disabled": true}},
"storage": {"filesystem": {"rootdirectory": %q}}, "http": {"addr": %q, "relativeurls": true, "tls": {"certificate": %q, "key": %q}},
"auth": {"htpasswd": {"realm": "test", "path": %q}}}`, filepath.Join(r.dir, "data"), r.address, r.CAFile, filepath.Join(r.dir, "key.pem"), filepath.Join(r.dir, "htpasswd")))
	r.cmd = exec.Command(r.program, "serve", config)
	r.must(r.cmd.Start())
	cmd := r.cmd
	r.test.Cleanup(func() { cmd.Process.Kill(); cmd.Wait() })
	for range 1000 {
		if conn, err := net.Dial("tcp", r.address); err == nil {
			conn.Close()
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	r.test.Fatal("docker-registry did not start")
}

// Stop stops the registry and breaks connections to it.
func (r *Registry) Stop() {
	r.cmd.Process.Kill()
	r.cmd.Wait()
}

// Fail passes every request to fault first, which reports whether it has responded. Nil turns this off.
func (r *Registry) Fail(fault func(http.ResponseWriter, *http.Request) bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.fault = fault
}

func (r *Registry) must(err error) {
	r.test.Helper()
	if err != nil {
		r.test.Fatal(err)
	}
}

func (r *Registry) write(name, text string) (path string) {
	r.test.Helper()
	path = filepath.Join(r.dir, name)
	r.must(os.MkdirAll(filepath.Dir(path), 0o700))
	r.must(os.WriteFile(path, []byte(text), 0o600))
	return path
}

// find returns the path of the program, on PATH or where make programs unpacked it.
func find(t testing.TB) string {
	t.Helper()
	if path, err := exec.LookPath("docker-registry"); err == nil {
		return path
	}
	// A test runs in the directory of its package, somewhere below the root of the module.
	dir, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for parent := filepath.Dir(dir); parent != dir; dir, parent = parent, filepath.Dir(parent) {
		path := filepath.Join(dir, "bin", "programs", "usr", "bin", "docker-registry")
		if _, err := os.Stat(path); err == nil {
			return path
		}
	}
	t.Skip("NOT TESTED HERE: there is no docker-registry; make programs unpacks it")
	return ""
}

// selfSigned returns a PEM-encoded certificate for 127.0.0.1 and its key.
func selfSigned(t testing.TB) (certificate, key string) {
	t.Helper()
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "registry"}, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour), IsCA: true, BasicConstraintsValid: true,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &private.PublicKey, private)
	if err != nil {
		t.Fatal(err)
	}
	keyDER, err := x509.MarshalECPrivateKey(private)
	if err != nil {
		t.Fatal(err)
	}
	var cert, pemKey strings.Builder
	pem.Encode(&cert, &pem.Block{Type: "CERTIFICATE", Bytes: der})
	pem.Encode(&pemKey, &pem.Block{Type: "EC PRIVATE KEY", Bytes: keyDER})
	return cert.String(), pemKey.String()
}
