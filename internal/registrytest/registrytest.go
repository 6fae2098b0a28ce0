// Package registrytest runs Debian's docker-registry, a real OCI registry, on loopback for tests.
//
// [Start] starts one with basic authentication, behind TLS. make test unpacks the registry.
package registrytest

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"

	"signpost/internal/testkit"

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
	program string
	dir     string // its files, and the socket on which it listens
	stop    func()

	mu    sync.Mutex
	fault func(http.ResponseWriter, *http.Request) bool
}

// Start starts a registry. It skips the test if the program is not installed.
func Start(t testing.TB) *Registry {
	t.Helper()
	r := &Registry{test: t, program: testkit.Find(t, "docker-registry", "OCI registries"), dir: t.TempDir()}
	hash := testkit.Must(bcrypt.GenerateFromPassword([]byte(Password), bcrypt.MinCost))(t)
	r.write("htpasswd", User+":"+string(hash)+"\n")
	r.Start()

	proxy := &httputil.ReverseProxy{
		Rewrite: func(p *httputil.ProxyRequest) {
			p.SetURL(&url.URL{Scheme: "http", Host: "registry"})
			p.SetXForwarded() // for upload URLs
			p.Out.Host = p.In.Host
		},
		Transport: &http.Transport{DialContext: func(context.Context, string, string) (net.Conn, error) {
			return net.Dial("unix", r.socket())
		}},
		ErrorHandler: func(w http.ResponseWriter, _ *http.Request, _ error) {
			panic(http.ErrAbortHandler) // drop the connection, as if the registry were gone
		},
	}
	front := http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		r.mu.Lock()
		fault := r.fault
		r.mu.Unlock()
		if fault == nil || !fault(w, req) {
			proxy.ServeHTTP(w, req)
		}
	})
	secure := r.Serve(front)
	r.Host = secure.Listener.Addr().String()
	certificate := pem.Block{Type: "CERTIFICATE", Bytes: secure.Certificate().Raw}
	r.CAFile = r.write("ca.pem", string(pem.EncodeToMemory(&certificate)))
	plain := httptest.NewServer(front)
	t.Cleanup(plain.Close)
	r.PlainHost = plain.Listener.Addr().String()

	auth := map[string]string{"auth": base64.StdEncoding.EncodeToString([]byte(User + ":" + Password))}
	config := testkit.Must(json.Marshal(map[string]any{"auths": map[string]any{r.Host: auth, r.PlainHost: auth}}))(t)
	r.Config = filepath.Dir(r.write("docker/config.json", string(config)))
	return r
}

// Serve starts another https server. Its certificate is that of every httptest.Server.
func (r *Registry) Serve(handler http.Handler) *httptest.Server {
	s := httptest.NewUnstartedServer(handler)
	s.Config.ErrorLog = log.New(io.Discard, "", 0)
	s.StartTLS()
	r.test.Cleanup(s.Close)
	return s
}

func (r *Registry) socket() string { return filepath.Join(r.dir, "socket") }

// Start restarts the registry after Stop. It keeps its contents.
func (r *Registry) Start() {
	r.test.Helper()
	os.Remove(r.socket())
	config := r.write("config.yml", fmt.Sprintf(`{"version": "0.1", "log": {"level": "error", "accesslog": {"disabled": true}},
"storage": {"filesystem": {"rootdirectory": %q}}, "http": {"net": "unix", "addr": %q, "relativeurls": true},
"auth": {"htpasswd": {"realm": "test", "path": %q}}}`, filepath.Join(r.dir, "data"), r.socket(), filepath.Join(r.dir, "htpasswd")))
	cmd := exec.Command(r.program, "serve", config)
	testkit.OK(r.test, cmd.Start())
	r.stop = sync.OnceFunc(func() {
		cmd.Process.Kill()
		cmd.Wait()
	})
	r.test.Cleanup(r.stop)
	testkit.Eventually(r.test, "docker-registry starts", func() bool {
		conn, err := net.Dial("unix", r.socket())
		if err == nil {
			conn.Close()
		}
		return err == nil
	})
}

// Stop stops the registry and breaks connections to it.
func (r *Registry) Stop() { r.stop() }

// Fail passes every request to fault first, which reports whether it has responded. Nil turns this off.
func (r *Registry) Fail(fault func(http.ResponseWriter, *http.Request) bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.fault = fault
}

func (r *Registry) write(name, text string) (path string) {
	r.test.Helper()
	path = filepath.Join(r.dir, name)
	testkit.Write(r.test, path, text)
	return path
}
