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
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"
)

// publicHost is the host name in the snippets.
const publicHost = "feeds.example.com"

// proxy is a reverse proxy that terminates TLS: how to run it with the file in deploy, and how to change that file so
// that it passes on the Host header instead.
type proxy struct {
	name     string
	file     string
	passHost [2]string
	// start runs it in front of a backend, with a certificate. file is the text of the configuration; https and plain
	// are its ports.
	start func(t *testing.T, file, backend, https, plain string, cert certificate)
}

var proxies = []proxy{
	{"nginx", "nginx/signpost.conf", [2]string{"proxy_set_header X-Forwarded-Host $host;", "proxy_set_header Host $host;"}, startNginx},
	{"caddy", "caddy/Caddyfile", [2]string{"header_up Host {upstream_hostport}", ""}, startCaddy},
}

func startNginx(t *testing.T, file, backend, https, plain string, cert certificate) {
	nginx := program(t, "nginx")
	dir := t.TempDir()
	file = replace(t, file, "127.0.0.1:8080", backend)
	file = replace(t, file, "listen 443", "listen "+https)
	file = replace(t, file, "listen 80;", "listen "+plain+";")
	if _, port, _ := net.SplitHostPort(https); haveIPv6() {
		file = replace(t, file, "listen [::]:443", "listen [::1]:"+port)
		_, port, _ = net.SplitHostPort(plain)
		file = replace(t, file, "listen [::]:80;", "listen [::1]:"+port+";")
	} else {
		file = regexp.MustCompile(`(?m)^ *listen \[::\]:.*\n`).ReplaceAllString(file, "")
	}
	file = replace(t, file, "/etc/ssl/feeds.example.com/fullchain.pem", cert.certFile)
	file = replace(t, file, "/etc/ssl/feeds.example.com/key.pem", cert.keyFile)
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
	waitFor(t, https, start(t, exec.Command(nginx, "-e", "stderr", "-p", dir, "-c", filepath.Join(dir, "nginx.conf"))))
}

func haveIPv6() bool {
	l, err := net.Listen("tcp6", "[::1]:0")
	if err == nil {
		l.Close()
	}
	return err == nil
}

func startCaddy(t *testing.T, file, backend, https, plain string, cert certificate) {
	caddy := program(t, "caddy")
	dir := t.TempDir()
	file = replace(t, file, "127.0.0.1:8080", backend)
	file = replace(t, file, "# tls /etc/ssl/feeds.example.com/fullchain.pem /etc/ssl/feeds.example.com/key.pem",
		"tls "+cert.certFile+" "+cert.keyFile)
	_, httpsPort, _ := net.SplitHostPort(https)
	_, plainPort, _ := net.SplitHostPort(plain)
	options := fmt.Sprintf("{\n\tadmin off\n\tdefault_bind 127.0.0.1\n\thttps_port %s\n\thttp_port %s\n}\n\n", httpsPort, plainPort)
	writeFile(t, filepath.Join(dir, "Caddyfile"), options+file)
	cmd := exec.Command(caddy, "run", "--adapter", "caddyfile", "--config", filepath.Join(dir, "Caddyfile"))
	cmd.Env = append(os.Environ(), "HOME="+dir, "XDG_DATA_HOME="+dir, "XDG_CONFIG_HOME="+dir)
	waitFor(t, https, start(t, cmd))
}

// TestProxies runs the snippets with real proxies, and Signpost behind them.
func TestProxies(t *testing.T) {
	for _, p := range proxies {
		t.Run(p.name, func(t *testing.T) {
			t.Run("trusted", func(t *testing.T) { p.testTrusted(t) })
			t.Run("not trusted", func(t *testing.T) { p.testNotTrusted(t) })
			t.Run("passes the Host on", func(t *testing.T) { p.testPassesHost(t) })
		})
	}
}

// behind starts Signpost with the flags, and the proxy in front of it. The client sends https requests for any host
// through the proxy; https and plain are its addresses.
func (p proxy) behind(t *testing.T, file string, flags ...string) (client *http.Client, https, plain string) {
	t.Helper()
	program(t, p.name)
	dir := t.TempDir()
	writeFile(t, filepath.Join(dir, "feeds.yaml"), feeds("Feeds"))
	backend, _, _ := startSignpost(t, nil, append(flags, dir)...)
	cert := newCertificate(t, publicHost)
	https, plain = freeAddress(t), freeAddress(t)
	p.start(t, file, backend, https, plain, cert)
	transport := &http.Transport{
		DialContext: func(ctx context.Context, network, _ string) (net.Conn, error) {
			return new(net.Dialer).DialContext(ctx, network, https)
		},
		TLSClientConfig: &tls.Config{RootCAs: cert.pool},
	}
	t.Cleanup(transport.CloseIdleConnections)
	return &http.Client{Transport: transport, Timeout: 10 * time.Second}, https, plain
}

func (p proxy) snippet(t *testing.T) string { return readFile(t, deployDir, p.file) }

// testTrusted checks that with --trusted-proxy the manifest has the host that the client requested from the proxy, and
// that no header of the client changes that.
func (p proxy) testTrusted(t *testing.T) {
	client, https, plain := p.behind(t, p.snippet(t), "--trusted-proxy=127.0.0.1/32")
	_, port, _ := net.SplitHostPort(https)
	address := "https://" + publicHost + ":" + port + manifestPath
	want := manifest(publicHost, "Feeds")
	for name, header := range map[string][]string{
		"as it should be":            nil,
		"a made-up X-Forwarded-Host": {"X-Forwarded-Host", "evil.example"},
		"a made-up Forwarded":        {"Forwarded", `for=192.0.2.1;host=evil.example;proto=https`},
		"both": {
			"X-Forwarded-Host", "evil.example", "Forwarded", "host=evil.example",
		},
		"capitals in the Host": {"Host", "FEEDS.example.com"},
	} {
		if status, got := getWith(t, client, address, header...); status != 200 || got != want {
			t.Errorf("%s: %d\n%s\nnot\n%s", name, status, got, want)
		}
	}
	// nginx returns an error; Caddy an empty 200 response.
	if status, got := getWith(t, client, address, "Host", "evil.example"); strings.Contains(got, "endpoints") || p.name == "nginx" && status != 421 {
		t.Errorf("a made-up Host: %d\n%s", status, got)
	}
	unknown := &tls.Config{ServerName: "evil.example", InsecureSkipVerify: true}
	if conn, err := tls.Dial("tcp", https, unknown); err == nil {
		conn.Close()
		t.Error("there is a certificate for a name that is not served")
	}
	p.checkCaching(t, client, address)

	p.checkRedirect(t, plain)
}

// checkRedirect checks that plain http is redirected to the name of the proxy, never to one that the client chose.
func (p proxy) checkRedirect(t *testing.T, plain string) {
	t.Helper()
	ask := func(host string) *http.Response {
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
		return res
	}
	res := ask(publicHost)
	if to := res.Header.Get("Location"); res.StatusCode != 308 || !strings.HasPrefix(to, "https://"+publicHost) || !strings.HasSuffix(to, manifestPath) {
		t.Errorf("plain http: %d to %q", res.StatusCode, to)
	}
	res = ask("evil.example")
	if to := res.Header.Get("Location"); strings.Contains(to, "evil") || p.name == "nginx" && to != "https://"+publicHost+manifestPath {
		t.Errorf("plain http for a made-up host: %d to %q", res.StatusCode, to)
	}
}

// checkCaching checks that caching headers are passed through, and that 304 works.
func (p proxy) checkCaching(t *testing.T, client *http.Client, address string) {
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
			t.Errorf("%s: with its ETag the answer is %d, not 304", encoding, again.StatusCode)
		}
	}
}

// testNotTrusted checks that without --trusted-proxy the header is ignored, and the manifest has the host that the
// proxy uses.
func (p proxy) testNotTrusted(t *testing.T) {
	client, https, _ := p.behind(t, p.snippet(t))
	_, port, _ := net.SplitHostPort(https)
	status, got := getWith(t, client, "https://"+publicHost+":"+port+manifestPath)
	if status != 200 || strings.Contains(got, publicHost) {
		t.Errorf("%d\n%s", status, got)
	}
	host := map[string]string{"nginx": "signpost", "caddy": "127.0.0.1"}[p.name] // the name of the upstream
	if want := manifest(host, "Feeds"); got != want {
		t.Errorf("served:\n%s\nnot\n%s", got, want)
	}
}

// testPassesHost tests the alternative named in the comments of the snippets, which needs no --trusted-proxy.
func (p proxy) testPassesHost(t *testing.T) {
	file := replace(t, p.snippet(t), p.passHost[0], p.passHost[1])
	client, https, _ := p.behind(t, file)
	_, port, _ := net.SplitHostPort(https)
	address := "https://" + publicHost + ":" + port + manifestPath
	if _, got := getWith(t, client, address, "X-Forwarded-Host", "evil.example", "Forwarded", "host=evil.example"); got != manifest(publicHost, "Feeds") {
		t.Errorf("served:\n%s", got)
	}
}

// TestNginxCacheKey shows what docs/operate.md warns about: nginx's default cache key does not contain the host, so one
// host gets the manifest of another. The key on the page fixes that.
func TestNginxCacheKey(t *testing.T) {
	nginx := proxies[0]
	key := regexp.MustCompile("proxy_cache_key [^`\n]*;").FindString(readFile(t, repoDir, "docs", "operate.md"))
	if key == "" {
		t.Fatal("docs/operate.md gives no proxy_cache_key")
	}
	for name, test := range map[string]struct{ key, want string }{
		"its own":     {"", "one.example.com"}, // wrong: it is what the first client got
		"of the page": {key, "two.example.com"},
	} {
		t.Run(name, func(t *testing.T) {
			file := replace(t, nginx.snippet(t), "server_name feeds.example.com;", "server_name *.example.com;")
			file = replace(t, file, "proxy_pass http://signpost;", "proxy_pass http://signpost;\nproxy_cache manifests;\n"+test.key)
			file = "proxy_cache_path manifests keys_zone=manifests:1m;\n" + file // created by nginx, below its prefix
			client, https, _ := nginx.behind(t, file, "--trusted-proxy=127.0.0.1/32", "--cache-control=public, max-age=60")
			client.Transport.(*http.Transport).TLSClientConfig.InsecureSkipVerify = true // the certificate is for another name
			client.Transport.(*http.Transport).TLSClientConfig.ServerName = publicHost
			_, port, _ := net.SplitHostPort(https)
			address := "https://" + publicHost + ":" + port + manifestPath
			if _, got := getWith(t, client, address, "Host", "one.example.com"); got != manifest("one.example.com", "Feeds") {
				t.Fatalf("served:\n%s", got)
			}
			if _, got := getWith(t, client, address, "Host", "two.example.com"); got != manifest(test.want, "Feeds") {
				t.Errorf("served:\n%s\nnot %s", got, test.want)
			}
		})
	}
}

// certificate is a certificate for a host, signed by its own authority.
type certificate struct {
	certFile, keyFile string
	pool              *x509.CertPool
}

func newCertificate(t *testing.T, host string) certificate {
	t.Helper()
	authorityKey, authority := sign(t, &x509.Certificate{
		Subject: pkix.Name{CommonName: "Test authority"}, IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign,
	}, nil, nil)
	key, leaf := sign(t, &x509.Certificate{
		Subject: pkix.Name{CommonName: host}, DNSNames: []string{host}, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	}, authority, authorityKey)
	keyDER, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	c := certificate{certFile: filepath.Join(dir, "fullchain.pem"), keyFile: filepath.Join(dir, "key.pem"), pool: x509.NewCertPool()}
	c.pool.AddCert(authority)
	writeFile(t, c.certFile, string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: leaf.Raw})))
	writeFile(t, c.keyFile, string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: keyDER})))
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
	template.NotBefore, template.NotAfter = time.Now().Add(-time.Hour), time.Now().Add(time.Hour)
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
