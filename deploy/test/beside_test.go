package deploy

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	networkingv1 "k8s.io/api/networking/v1"
	gatewayv1 "sigs.k8s.io/gateway-api/apis/v1"

	"signpost/internal/testkit"
)

// publicHost replaces feeds.example.com of the files, so that check can reach the front by its name.
const publicHost = "localhost"

// front runs what is in front of the feed service and Signpost, with a file of deploy. It returns its https address.
type front func(t *testing.T, site site) (https string)

// site is what is behind the front, and its certificate.
type site struct {
	signpost, feeds string // addresses
	plain           string // the address for plain http
	cert            certificate
	edit            func(file string) string // changes the file, if not nil
}

func (s site) file(t *testing.T, elem ...string) string {
	t.Helper()
	file := readFile(t, filepath.Join(deployDir, filepath.Join(elem...)))
	if s.edit != nil {
		file = s.edit(file)
	}
	file = replace(t, replace(t, file, "127.0.0.1:8080", s.signpost), "127.0.0.1:3000", s.feeds)
	return replace(t, file, "feeds.example.com", publicHost)
}

func nginx(t *testing.T, s site) string {
	program := testkit.Find(t, "nginx", "the nginx configuration in deploy")
	dir, https := t.TempDir(), freeAddress(t)
	file := s.file(t, "nginx", "signpost.conf")
	file = regexp.MustCompile(`(?m)^ *listen \[::\]:.*\n`).ReplaceAllString(file, "")
	file = replace(t, file, "listen 443", "listen "+https)
	file = replace(t, file, "listen 80;", "listen "+s.plain+";")
	file = replace(t, file, "/etc/ssl/localhost/fullchain.pem", s.cert.certFile)
	file = replace(t, file, "/etc/ssl/localhost/key.pem", s.cert.keyFile)
	writeFile(t, filepath.Join(dir, "signpost.conf"), file)
	user := ""
	if os.Getuid() == 0 {
		user = "user root;\n" // other users cannot read the directories of a test
	}
	writeFile(t, filepath.Join(dir, "nginx.conf"), user+`daemon off;
worker_processes 1;
pid nginx.pid;
error_log stderr;
events {}
http {
    access_log off;
    client_body_temp_path body;
    proxy_temp_path proxy;
    fastcgi_temp_path fastcgi;
    uwsgi_temp_path uwsgi;
    scgi_temp_path scgi;
    include signpost.conf;
}
`)
	start(t, https, exec.Command(program, "-e", "stderr", "-p", dir, "-c", filepath.Join(dir, "nginx.conf")))
	return https
}

func caddy(t *testing.T, s site) string {
	program := testkit.Find(t, "caddy", "the Caddyfile in deploy")
	dir, https := t.TempDir(), freeAddress(t)
	file := replace(t, s.file(t, "caddy", "Caddyfile"),
		"# tls /etc/ssl/localhost/fullchain.pem /etc/ssl/localhost/key.pem", "tls "+s.cert.certFile+" "+s.cert.keyFile)
	options := fmt.Sprintf("{\n\tadmin off\n\tdefault_bind 127.0.0.1\n\thttps_port %s\n\thttp_port %s\n}\n\n", port(https), port(s.plain))
	writeFile(t, filepath.Join(dir, "Caddyfile"), options+file)
	cmd := exec.Command(program, "run", "--adapter", "caddyfile", "--config", filepath.Join(dir, "Caddyfile"))
	cmd.Env = append(os.Environ(), "HOME="+dir, "XDG_DATA_HOME="+dir, "XDG_CONFIG_HOME="+dir)
	start(t, https, cmd)
	return https
}

// router does what an ingress controller or a gateway does with the rules of deploy: an exact path goes before a prefix.
// There is no cluster here to try them with a real one.
type router struct {
	host             string
	exact            map[string]string // path to the name of a Service
	rest             string            // the Service of the prefix /
	signpost, origin *httputil.ReverseProxy
}

func (r *router) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	if host, _, _ := strings.Cut(req.Host, ":"); host != r.host {
		http.Error(w, "no rule for this host", http.StatusNotFound)
		return
	}
	service, ok := r.exact[req.URL.Path]
	if !ok {
		service = r.rest
	}
	map[string]http.Handler{"signpost:http": r.signpost, "signpost:80": r.signpost, "feeds:3000": r.origin}[service].ServeHTTP(w, req)
}

func (r *router) start(t *testing.T, s site) string {
	to := func(address string) *httputil.ReverseProxy {
		return &httputil.ReverseProxy{Rewrite: func(p *httputil.ProxyRequest) {
			p.SetURL(&url.URL{Scheme: "http", Host: address})
			p.Out.Host = p.In.Host // as all of them do
		}}
	}
	r.signpost, r.origin = to(s.signpost), to(s.feeds)
	cert, err := tls.LoadX509KeyPair(s.cert.certFile, s.cert.keyFile)
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewUnstartedServer(r)
	server.TLS = &tls.Config{Certificates: []tls.Certificate{cert}}
	server.StartTLS()
	t.Cleanup(server.Close)
	return server.Listener.Addr().String()
}

func ingress(t *testing.T, s site) string {
	rule := one[*networkingv1.Ingress](t, buildKustomization(t, "base")).Spec.Rules[0]
	r := &router{host: strings.Replace(rule.Host, "feeds.example.com", publicHost, 1), exact: make(map[string]string)}
	for _, path := range rule.HTTP.Paths {
		backend := path.Backend.Service
		service := fmt.Sprintf("%s:%s", backend.Name, backend.Port.Name)
		if backend.Port.Name == "" {
			service = fmt.Sprintf("%s:%d", backend.Name, backend.Port.Number)
		}
		if *path.PathType == networkingv1.PathTypeExact {
			r.exact[path.Path] = service
		} else {
			r.rest = service
		}
	}
	return r.start(t, s)
}

func gateway(t *testing.T, s site) string {
	route := one[*gatewayv1.HTTPRoute](t, buildKustomization(t, "gateway"))
	r := &router{host: strings.Replace(string(route.Spec.Hostnames[0]), "feeds.example.com", publicHost, 1), exact: make(map[string]string)}
	for _, rule := range route.Spec.Rules {
		backend, path := rule.BackendRefs[0], rule.Matches[0].Path
		service := fmt.Sprintf("%s:%d", backend.Name, *backend.Port)
		if *path.Type == gatewayv1.PathMatchExact {
			r.exact[*path.Value] = service
		} else {
			r.rest = service
		}
	}
	return r.start(t, s)
}

var fronts = map[string]front{"nginx": nginx, "caddy": caddy, "ingress": ingress, "gateway": gateway}

// startFront starts the sports service of the tutorial, Signpost beside it, and a front. The client sends https requests
// for any host to the front.
func startFront(t *testing.T, run front, edit func(string) string, flags ...string) (client *http.Client, s site, https string) {
	t.Helper()
	s = site{feeds: freeAddress(t), plain: freeAddress(t), cert: newCertificate(t, publicHost), edit: edit}
	sports := filepath.Join(t.TempDir(), "sports")
	build := exec.Command("go", "build", "-o", sports, "./examples/sports")
	build.Dir = repoDir
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	start(t, s.feeds, exec.Command(sports, "-listen", s.feeds))
	s.signpost, _, _ = startSignpost(t, nil, append(flags, filepath.Join(repoDir, "examples/sports/feeds.yaml"))...)
	https = run(t, s)
	transport := &http.Transport{
		DialContext: func(ctx context.Context, network, _ string) (net.Conn, error) {
			return new(net.Dialer).DialContext(ctx, network, https)
		},
		TLSClientConfig: &tls.Config{RootCAs: s.cert.pool, ServerName: publicHost},
	}
	t.Cleanup(transport.CloseIdleConnections)
	return &http.Client{Transport: transport}, s, https
}

// TestBeside runs a feed service and Signpost on one host, behind each of the files: the manifest and the feeds answer,
// check is green, and no header of a client changes the host.
func TestBeside(t *testing.T) {
	for name, run := range fronts {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			client, s, https := startFront(t, run, nil, "--allowed-host="+publicHost)
			const address = "https://" + publicHost
			for what, header := range map[string][]string{
				"as it should be":            nil,
				"a made-up X-Forwarded-Host": {"X-Forwarded-Host", "evil.example"},
				"a made-up Forwarded":        {"Forwarded", `for=192.0.2.1;host=evil.example;proto=https`},
			} {
				if status, got := get(t, client, address+manifestPath, header...); status != 200 || !strings.Contains(got, `"https://localhost/v1/matches":`) || strings.Contains(got, "evil") {
					t.Errorf("%s: %d\n%s", what, status, got)
				}
			}
			for path, want := range map[string]string{
				"/v1/matches?limit=1":                 "https://localhost/v1/matches/7/events",
				"/v1/matches/endpoints-manifest/more": "404 page not found", // of the feed service
			} {
				if _, got := get(t, client, address+path); !strings.Contains(got, want) {
					t.Errorf("%s: no %q in\n%s", path, want, got)
				}
			}
			if status, got := get(t, client, address+manifestPath, "Host", "evil.example"); strings.Contains(got, "endpoints\":") {
				t.Errorf("a made-up Host: %d\n%s", status, got)
			}
			checkCaching(t, client, address+manifestPath)
			if name == "nginx" || name == "caddy" {
				checkOtherNames(t, https, s.plain)
			}

			// The front is not on port 443 here, so check is told where it is.
			front := "https://" + publicHost + ":" + port(https)
			check := exec.Command(testkit.Program(t, "signpost"), "check", front+manifestPath, "--ca-file", s.cert.authority,
				"--send-to", front, "--context", "plugin-login-flow.access_token=s3cr3t")
			if out, err := check.CombinedOutput(); err != nil || !strings.Contains(string(out), "3 followed") {
				t.Errorf("%s: %v\n%s", check, err, out)
			}
		})
	}
}

// checkCaching checks that caching headers are passed through, and that 304 works.
func checkCaching(t *testing.T, client *http.Client, address string) {
	t.Helper()
	ask := func(tag, encoding string) *http.Response {
		req, err := http.NewRequest(http.MethodGet, address, nil)
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Accept-Encoding", encoding)
		if tag != "" {
			req.Header.Set("If-None-Match", tag)
		}
		res, err := client.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		res.Body.Close()
		return res
	}
	for _, encoding := range []string{"identity", "gzip"} {
		res := ask("", encoding)
		for _, name := range []string{"Etag", "Signpost-Revision", "Vary", "Cache-Control", "Access-Control-Allow-Origin"} {
			if res.Header.Get(name) == "" {
				t.Errorf("%s: %s is lost on the way", encoding, name)
			}
		}
		if got := res.Header.Get("Content-Encoding"); (got == "gzip") != (encoding == "gzip") {
			t.Errorf("%s was asked for, and %q came", encoding, got)
		}
		if again := ask(res.Header.Get("Etag"), encoding); again.StatusCode != http.StatusNotModified {
			t.Errorf("%s: with its ETag the status is %d, not 304", encoding, again.StatusCode)
		}
	}
}

// checkOtherNames checks that there is no certificate for a name that is not served, and that plain http is never
// redirected to a name that the client chose.
func checkOtherNames(t *testing.T, https, plain string) {
	t.Helper()
	if conn, err := tls.Dial("tcp", https, &tls.Config{ServerName: "evil.example", InsecureSkipVerify: true}); err == nil {
		conn.Close()
		t.Error("there is a certificate for a name that is not served")
	}
	for _, host := range []string{publicHost, "evil.example"} {
		req, err := http.NewRequest(http.MethodGet, "http://"+plain+manifestPath, nil)
		if err != nil {
			t.Fatal(err)
		}
		req.Host = host
		res, err := http.DefaultTransport.RoundTrip(req)
		if err != nil {
			t.Fatal(err)
		}
		res.Body.Close()
		if to := res.Header.Get("Location"); res.StatusCode != 308 || !strings.HasPrefix(to, "https://"+publicHost) || !strings.HasSuffix(to, manifestPath) {
			t.Errorf("plain http for %s: %d to %q", host, res.StatusCode, to)
		}
	}
}

// TestNginxCacheKey shows what docs/operate.md warns about: a cache key without the host gives one host the manifest of
// another. The key on the page fixes that.
func TestNginxCacheKey(t *testing.T) {
	key := regexp.MustCompile("proxy_cache_key [^`\n]*;").FindString(readFile(t, repoDir, "docs", "operate.md"))
	if key == "" {
		t.Fatal("docs/operate.md gives no proxy_cache_key")
	}
	for name, test := range map[string]struct{ key, want string }{
		"nginx's own": {"", "one.example.com"}, // wrong: it is what the first client got
		"of the page": {key, "two.example.com"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			client, _, _ := startFront(t, nginx, func(file string) string {
				file = replace(t, file, "server_name feeds.example.com;", "server_name feeds.example.com *.example.com;")
				file = replace(t, file, "proxy_pass http://signpost;", "proxy_pass http://signpost;\nproxy_cache manifests;\n"+test.key)
				return "proxy_cache_path manifests keys_zone=manifests:1m;\n" + file // created by nginx, below its prefix
			}, "--cache-control=public, max-age=60")
			for _, host := range []string{"one.example.com", "two.example.com"} {
				want := "one.example.com"
				if host == "two.example.com" {
					want = test.want
				}
				if _, got := get(t, client, "https://"+publicHost+manifestPath, "Host", host); !strings.Contains(got, "https://"+want+"/v1/matches") {
					t.Errorf("for %s:\n%s\nnot that of %s", host, got, want)
				}
			}
		})
	}
}

// certificate is a certificate for a host, signed by its own authority.
type certificate struct {
	certFile, keyFile, authority string // paths
	pool                         *x509.CertPool
}

func newCertificate(t *testing.T, host string) certificate {
	t.Helper()
	authorityKey, authority := sign(t, &x509.Certificate{
		Subject: pkix.Name{CommonName: "Test authority"}, IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign,
	}, nil, nil)
	key, leaf := sign(t, &x509.Certificate{
		Subject: pkix.Name{CommonName: host}, DNSNames: []string{host}, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	}, authority, authorityKey)
	keyDER, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	write := func(name, kind string, der []byte) string {
		path := filepath.Join(dir, name)
		writeFile(t, path, string(pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der})))
		return path
	}
	c := certificate{pool: x509.NewCertPool()}
	c.pool.AddCert(authority)
	c.authority = write("authority.pem", "CERTIFICATE", authority.Raw)
	c.certFile = write("fullchain.pem", "CERTIFICATE", leaf.Raw)
	c.keyFile = write("key.pem", "PRIVATE KEY", keyDER)
	return c
}

// sign creates a key and a certificate for it. Without a parent it is self-signed.
func sign(t *testing.T, template, parent *x509.Certificate, parentKey *ecdsa.PrivateKey) (*ecdsa.PrivateKey, *x509.Certificate) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	if parent == nil {
		parent, parentKey = template, key
	}
	template.SerialNumber = big.NewInt(time.Now().UnixNano())
	template.NotBefore, template.NotAfter = time.Now().Add(-time.Hour), time.Now().Add(24*time.Hour)
	der, err := x509.CreateCertificate(rand.Reader, template, parent, &key.PublicKey, parentKey)
	if err != nil {
		t.Fatal(err)
	}
	cert, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	return key, cert
}
