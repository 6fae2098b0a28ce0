package deploy

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"signpost/internal/testkit"
)

// publicHost replaces feeds.example.com of the files, so that check can reach the front by its name.
const publicHost = "localhost"

// site is what is behind a front, and its certificate.
type site struct {
	signpost, feeds string // addresses
	https           string // the address of the front, if it must be known beforehand
	plain           string // the address for plain http
	cert            certificate
	edit            func(file string) string // changes the file of deploy, if not nil
}

// file returns a file of deploy for the site.
func (s *site) file(t *testing.T, name string) string {
	t.Helper()
	file := readFile(t, deployDir, name)
	if s.edit != nil {
		file = s.edit(file)
	}
	file = replace(t, replace(t, file, "127.0.0.1:8080", s.signpost), "127.0.0.1:3000", s.feeds)
	return replace(t, file, "feeds.example.com", publicHost)
}

// address returns the https address of the front.
func (s *site) address(t *testing.T) string {
	if s.https == "" {
		s.https = testkit.FreeAddress(t)
	}
	return s.https
}

// fronts run what is in front of the feed service and Signpost, with a file of deploy. They return their https address.
var fronts = map[string]func(t *testing.T, s *site) (https string){
	"nginx": nginx,
	"caddy": func(t *testing.T, s *site) string {
		file := s.file(t, "caddy/Caddyfile")
		return caddy(t, s, t.TempDir(), replace(t, file, "# tls /etc/ssl/localhost/fullchain.pem /etc/ssl/localhost/key.pem", "tls "+s.cert.certFile+" "+s.cert.keyFile))
	},
	"caddy on your own machine": func(t *testing.T, s *site) string { // as docs/beside.md shows it, with a certificate that Caddy issues
		dir := t.TempDir()
		https := caddy(t, s, dir, s.file(t, "caddy/Caddyfile"))
		testkit.Eventually(t, "a certificate for localhost", func() bool {
			conn, err := tls.Dial("tcp", https, &tls.Config{ServerName: publicHost, InsecureSkipVerify: true})
			if err == nil {
				conn.Close()
			}
			return err == nil
		})
		s.cert.certFile = filepath.Join(dir, "caddy/pki/authorities/local/root.crt")
		s.cert.pool.AppendCertsFromPEM([]byte(readFile(t, s.cert.certFile)))
		return https
	},
}

func nginx(t *testing.T, s *site) string {
	program := testkit.Find(t, "nginx", "the nginx configuration in deploy")
	dir, https := t.TempDir(), s.address(t)
	file := s.file(t, "nginx/signpost.conf")
	file = regexp.MustCompile(`(?m)^ *listen \[::\]:.*\n`).ReplaceAllString(file, "")
	file = replace(t, file, "listen 443", "listen "+https)
	file = replace(t, file, "listen 80;", "listen "+s.plain+";")
	file = replace(t, file, "/etc/ssl/localhost/fullchain.pem", s.cert.certFile)
	file = replace(t, file, "/etc/ssl/localhost/key.pem", s.cert.keyFile)
	testkit.Write(t, filepath.Join(dir, "signpost.conf"), file)
	user := ""
	if os.Getuid() == 0 {
		user = "user root;\n" // other users cannot read the directories of a test
	}
	testkit.Write(t, filepath.Join(dir, "nginx.conf"), user+`daemon off;
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
	testkit.Start(t, https, exec.Command(program, "-e", "stderr", "-p", dir, "-c", filepath.Join(dir, "nginx.conf")))
	return https
}

func caddy(t *testing.T, s *site, dir, file string) string {
	program := testkit.Find(t, "caddy", "the Caddyfile in deploy")
	https := s.address(t)
	options := fmt.Sprintf("{\n\tadmin off\n\tskip_install_trust\n\tdefault_bind 127.0.0.1\n\thttps_port %s\n\thttp_port %s\n}\n\n", port(https), port(s.plain))
	testkit.Write(t, filepath.Join(dir, "Caddyfile"), options+file)
	cmd := exec.Command(program, "run", "--adapter", "caddyfile", "--config", filepath.Join(dir, "Caddyfile"))
	cmd.Env = append(os.Environ(), "HOME="+dir, "XDG_DATA_HOME="+dir, "XDG_CONFIG_HOME="+dir)
	testkit.Start(t, https, cmd)
	return https
}

// startFront starts the sports service of the tutorial, Signpost beside it, and a front. The client sends https requests
// for any host to the front.
func startFront(t *testing.T, name string, edit func(string) string, flags ...string) (client *http.Client, s *site, https string) {
	t.Helper()
	s = &site{feeds: testkit.FreeAddress(t), plain: testkit.FreeAddress(t), cert: newCertificate(t, publicHost), edit: edit}
	testkit.Start(t, s.feeds, exec.Command(testkit.Program(t, "sports"), "-listen", s.feeds))
	s.signpost, _ = startSignpost(t, nil, append(flags, filepath.Join(repoDir, "examples/sports/feeds.yaml"))...)
	client = s.start(t, name)
	return client, s, s.https
}

// start starts a front, and returns a client that sends https requests for any host to it.
func (s *site) start(t *testing.T, name string) *http.Client {
	t.Helper()
	https := fronts[name](t, s)
	transport := &http.Transport{
		DialContext: func(ctx context.Context, network, _ string) (net.Conn, error) {
			return new(net.Dialer).DialContext(ctx, network, https)
		},
		TLSClientConfig: &tls.Config{RootCAs: s.cert.pool, ServerName: publicHost},
	}
	t.Cleanup(transport.CloseIdleConnections)
	return &http.Client{Transport: transport}
}

// TestBeside runs a feed service and Signpost on one host, behind each of the files: the manifest and the feeds answer,
// check is green, and no header of a client changes the host. TestKubernetes has the routes in a cluster.
func TestBeside(t *testing.T) {
	for name := range fronts {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			client, s, https := startFront(t, name, nil, "--allowed-host="+publicHost)
			const address = "https://" + publicHost
			for what, header := range map[string][]string{
				"as it should be":            nil,
				"a made-up X-Forwarded-Host": {"X-Forwarded-Host", "evil.example"},
				"a made-up Forwarded":        {"Forwarded", `for=192.0.2.1;host=evil.example;proto=https`},
			} {
				if res, got := testkit.Get(t, client, address+manifestPath, header...); res.StatusCode != 200 || !strings.Contains(got, `"https://localhost/v1/matches":`) || strings.Contains(got, "evil") {
					t.Errorf("%s: %s\n%s", what, res.Status, got)
				}
			}
			for path, want := range map[string]string{
				"/v1/matches?limit=1":                 "https://localhost/v1/matches/7/events",
				"/v1/matches/endpoints-manifest/more": "404 page not found", // of the feed service
			} {
				if _, got := testkit.Get(t, client, address+path); !strings.Contains(got, want) {
					t.Errorf("%s: no %q in\n%s", path, want, got)
				}
			}
			if res, got := testkit.Get(t, client, address+manifestPath, "Host", "evil.example"); strings.Contains(got, "endpoints\":") {
				t.Errorf("a made-up Host: %s\n%s", res.Status, got)
			}
			checkCaching(t, client, address+manifestPath)
			checkOtherNames(t, https, s.plain)

			// The front is not on port 443 here, so check is told where it is.
			front := "https://" + publicHost + ":" + port(https)
			check := exec.Command(testkit.Program(t, "signpost"), "check", front+manifestPath, "--ca-file", s.cert.certFile,
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
	for _, encoding := range []string{"identity", "gzip"} {
		res, _ := testkit.Get(t, client, address, "Accept-Encoding", encoding)
		for _, name := range []string{"Etag", "Signpost-Revision", "Vary", "Cache-Control", "Access-Control-Allow-Origin"} {
			if res.Header.Get(name) == "" {
				t.Errorf("%s: %s is lost on the way", encoding, name)
			}
		}
		if got := res.Header.Get("Content-Encoding"); (got == "gzip") != (encoding == "gzip") {
			t.Errorf("%s was asked for, and %q came", encoding, got)
		}
		if again, _ := testkit.Get(t, client, address, "Accept-Encoding", encoding, "If-None-Match", res.Header.Get("Etag")); again.StatusCode != 304 {
			t.Errorf("%s: with its ETag the status is %s", encoding, again.Status)
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
		res, _ := testkit.Get(t, nil, "http://"+plain+manifestPath, "Host", host)
		if to := res.Header.Get("Location"); res.StatusCode != 308 || !strings.HasPrefix(to, "https://"+publicHost) || !strings.HasSuffix(to, manifestPath) {
			t.Errorf("plain http for %s: %s to %q", host, res.Status, to)
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
			client, _, _ := startFront(t, "nginx", func(file string) string {
				file = replace(t, file, "server_name feeds.example.com;", "server_name feeds.example.com *.example.com;")
				file = replace(t, file, "proxy_pass http://signpost;", "proxy_pass http://signpost;\nproxy_cache manifests;\n"+test.key)
				return "proxy_cache_path manifests keys_zone=manifests:1m;\n" + file // created by nginx, below its prefix
			}, "--cache-control=public, max-age=60")
			testkit.Get(t, client, "https://"+publicHost+manifestPath, "Host", "one.example.com")
			if _, got := testkit.Get(t, client, "https://"+publicHost+manifestPath, "Host", "two.example.com"); !strings.Contains(got, "https://"+test.want+"/v1/matches") {
				t.Errorf("for two.example.com:\n%s\nnot that of %s", got, test.want)
			}
		})
	}
}

// certificate is a self-signed certificate for a host.
type certificate struct {
	certFile, keyFile string
	pool              *x509.CertPool
}

func newCertificate(t *testing.T, host string) certificate {
	t.Helper()
	dir := t.TempDir()
	c := certificate{filepath.Join(dir, "fullchain.pem"), filepath.Join(dir, "key.pem"), x509.NewCertPool()}
	cert, key := testkit.Certificate(t, 1, host)
	c.pool.AppendCertsFromPEM([]byte(cert))
	testkit.Write(t, c.certFile, cert)
	testkit.Write(t, c.keyFile, key)
	return c
}
