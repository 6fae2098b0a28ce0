package daemon_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"signpost/internal/testkit"
)

// TestACME gets certificates from Pebble, the test server of Let's Encrypt, which connects to Signpost like any
// certificate authority: to the https listener (tls-alpn-01).
func TestACME(t *testing.T) {
	t.Parallel()
	pebble := startPebble(t)
	serve := func(domain, cache string, args ...string) *process {
		t.Helper()
		args = append([]string{"serve", "--log-format", "json", "--admin-listen", "127.0.0.1:0", "--acme-domain", domain, "--acme-cache", cache,
			"--acme-directory", pebble.directory, "--ca-file", pebble.apiRoot}, args...)
		return startCommand(t, exec.Command("signpost", args...))
	}
	ready := func(p *process) {
		t.Helper()
		waitFor(t, "a certificate", func() bool { return len(p.logged("certificate ready")) > 0 })
	}
	const domain = "feeds.example.com"
	cache := filepath.Join(t.TempDir(), "acme")

	p := serve(domain, cache, "--listen", pebble.tlsAddr)
	ready(p)
	client := httpsClient(domain, pebble.root(t))
	r, err := fetch(client, p.url+manifestV1, domain)
	if err != nil || r.StatusCode != http.StatusOK || r.ProtoMajor != 2 {
		t.Fatalf("with a certificate of Pebble's: %v %v", r.Response, err)
	}
	first := r.TLS.PeerCertificates[0].SerialNumber
	if terms := p.logged("agreeing to the terms of service of the ACME CA"); len(terms) != 1 || terms[0]["terms"] == "" {
		t.Errorf("the log says of the terms of service: %v", terms)
	}
	if n := p.metric(t, "signpost_certificate_failures_total"); n != 0 {
		t.Errorf("%v failures are counted although only nonces were rejected", n)
	}
	if _, err := fetch(httpsClient("other.example.com", pebble.root(t)), p.url+manifestV1, domain); err == nil {
		t.Error("it got a certificate for a domain that is not its own")
	}
	if n := len(p.logged("no certificate")); n > 0 {
		t.Errorf("%d failures are logged", n)
	}
	if code := p.stop(t); code != 0 {
		t.Errorf("serve exited with %d", code)
	}

	// Without the ACME server, certificates come from the cache, and missing ones are reported.
	root := pebble.root(t)
	pebble.program.Process.Kill()
	<-pebble.program.Done
	p = serve(domain, cache, "--listen", "127.0.0.1:0", "--acme-domain", "new.example.com")
	ready(p)
	r, err = fetch(httpsClient(domain, root), p.url+manifestV1, domain)
	if err != nil || r.TLS.PeerCertificates[0].SerialNumber.Cmp(first) != 0 {
		t.Errorf("the certificate is not the one from the cache: %v", err)
	}
	waitFor(t, "an error in the log", func() bool { return len(p.logged("no certificate")) > 0 })
	if p.metric(t, "signpost_certificate_failures_total") == 0 || p.metric(t, `signpost_certificate_expiry_timestamp_seconds{name="`+domain+`"}`) == 0 {
		t.Error("the metrics show neither the failure nor the certificate")
	}
	if _, err := fetch(httpsClient("new.example.com", root), p.url+manifestV1, ""); err == nil {
		t.Error("a certificate was issued without a directory")
	}
	if line := p.logged("no certificate")[0]; line["level"] != "ERROR" || line["domain"] != "new.example.com" {
		t.Errorf("the log has %v", line)
	}
}

// pebbleServer is Pebble, with a name server that resolves every name to 127.0.0.1.
type pebbleServer struct {
	directory  string // its URL
	apiRoot    string // file with the certificate of its API
	tlsAddr    string // where it looks for challenges
	management string
	client     *http.Client
	program    *testkit.Process
}

func startPebble(t *testing.T) *pebbleServer {
	t.Helper()
	dir := t.TempDir()
	cert, key := testkit.Certificate(t, 2, "localhost")
	s := &pebbleServer{apiRoot: filepath.Join(dir, "cert.pem"), tlsAddr: testkit.FreeAddress(t), client: httpsClient("localhost", cert)}
	testkit.Write(t, s.apiRoot, cert)
	testkit.Write(t, filepath.Join(dir, "key.pem"), key)
	api, management, dns := testkit.FreeAddress(t), testkit.FreeAddress(t), testkit.FreeAddress(t)
	s.directory = fmt.Sprintf("https://localhost:%d/dir", port(api))
	s.management = "https://" + management
	config := testkit.Must(json.Marshal(map[string]any{"pebble": map[string]any{
		"listenAddress": api, "managementListenAddress": management,
		"certificate": s.apiRoot, "privateKey": filepath.Join(dir, "key.pem"),
		"tlsPort": port(s.tlsAddr), "httpPort": port(testkit.FreeAddress(t)),
		"keyAlgorithm": "ecdsa", "retryAfter": map[string]int{"authz": 1, "order": 1},
	}}))(t)
	testkit.Write(t, filepath.Join(dir, "config.json"), string(config))

	challenges := testkit.FreeAddress(t)
	testkit.Start(t, challenges, exec.Command(testkit.Program(t, "pebble-challtestsrv"),
		"-dnsserver", dns, "-management", challenges, "-defaultIPv6", "", "-http01", "", "-https01", "", "-tlsalpn01", "", "-doh", ""))
	cmd := exec.Command(testkit.Program(t, "pebble"), "-config", filepath.Join(dir, "config.json"), "-dnsserver", dns, "-strict")
	cmd.Env = append(os.Environ(), "PEBBLE_VA_NOSLEEP=1", "PEBBLE_WFE_NONCEREJECT=15") // per cent, which clients must cope with
	s.program = testkit.Start(t, api, cmd)
	waitFor(t, "Pebble", func() bool { _, err := fetch(s.client, s.directory, ""); return err == nil })
	return s
}

// root returns Pebble's root certificate, which changes at every start.
func (s *pebbleServer) root(t *testing.T) string {
	t.Helper()
	r, err := fetch(s.client, s.management+"/roots/0", "")
	if err != nil || r.StatusCode != http.StatusOK {
		t.Fatalf("get Pebble's root certificate: %v", err)
	}
	return r.body
}

func port(address string) int { return int(netip.MustParseAddrPort(address).Port()) }
