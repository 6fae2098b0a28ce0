package main

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// contender is a server that publishes a manifest.
type contender struct {
	name    string
	version []string
	// command returns the command line that serves a site. The error says why the contender cannot take part.
	command func(b *bench, s *site, address string) ([]string, error)
}

// site holds the files of one manifest.
type site struct {
	dir    string
	bodies map[string][]byte // expected bodies by host
}

func (s *site) path(name string) string { return filepath.Join(s.dir, name) }

// hosts are requested from all contenders first, to verify them.
var hosts = []string{loadHost, "b.example.org:8443", "192.0.2.7"}

// newSite writes the files of a manifest: its definition, the constant bytes, templates for the other servers, and its
// endpoints without host and features.
func newSite(b *bench, endpoints int) (*site, error) {
	s := &site{dir: filepath.Join(b.dir, fmt.Sprintf("site-%d", endpoints)), bodies: make(map[string][]byte)}
	if err := os.Mkdir(s.dir, 0o755); err != nil { // nginx reads it as another user
		return nil, err
	}
	if err := os.WriteFile(s.path("service.yaml"), service(0, endpoints), 0o644); err != nil {
		return nil, err
	}
	for _, host := range hosts {
		name, _, _ := strings.Cut(host, ":")
		body, err := exec.Command(b.signpost, "render", "--compact", "--host", name, s.path("service.yaml")).Output()
		if err != nil {
			return nil, fmt.Errorf("signpost render: %w", err)
		}
		s.bodies[host] = body
	}
	constant := s.bodies[loadHost]
	var zipped bytes.Buffer
	w := gzip.NewWriter(&zipped)
	w.Write(constant)
	w.Close()
	template := func(placeholder string) []byte {
		return bytes.ReplaceAll(constant, []byte(loadHost), []byte(placeholder))
	}
	without, err := exec.Command(b.signpost, "render", "--compact", "--host", loadHost, "--feature", "", s.path("service.yaml")).Output()
	if err != nil {
		return nil, fmt.Errorf("signpost render: %w", err)
	}
	for name, text := range map[string][]byte{
		"constant.json":    constant,
		"constant.json.gz": zipped.Bytes(),
		"template.json":    template("{{host}}"),
		"caddy.json":       template("<<.Host>>"),
		"endpoints.json":   bytes.ReplaceAll(without, []byte(loadHost), []byte("{{host}}")),
	} {
		if err := os.WriteFile(s.path(name), text, 0o644); err != nil {
			return nil, err
		}
	}
	return s, nil
}

const (
	bare         = "bare net/http"
	ours         = "Signpost"
	express      = "Express"
	fastify      = "Fastify"
	caddy        = "Caddy, templates"
	nginxDefault = "nginx, sub_filter"
	nginxTuned   = "nginx, sub_filter, tuned"
	oursBefore   = "Signpost, before" // another build, with -before
)

// contenders returns the servers to compare: the builds of Signpost, and others.
func (b *bench) contenders() []contender {
	all := slices.Clone(others)
	for _, build := range b.builds() {
		all = append(all, contender{name: build[0], command: func(_ *bench, s *site, address string) ([]string, error) {
			return []string{build[1], "serve", "--listen", address, s.path("service.yaml")}, nil
		}})
	}
	return all
}

var others = []contender{
	{name: bare, version: []string{"go", "version"}, command: func(b *bench, s *site, address string) ([]string, error) {
		return []string{b.bare, address, s.path("constant.json"), s.path("constant.json.gz")}, nil
	}},
	{name: express, version: []string{"node", "--version"}, command: nodeCommand("express.js")},
	{name: fastify, version: []string{"node", "--version"}, command: nodeCommand("fastify.js")},
	{name: caddy, version: []string{"caddy", "version"}, command: caddyCommand},
	{name: nginxDefault, version: []string{"nginx", "-v"}, command: nginxCommand("access_log access.log;")},
	{name: nginxTuned, version: []string{"nginx", "-v"}, command: nginxCommand("access_log off; output_buffers 1 4m; keepalive_requests 1000000;")},
}

func nodeCommand(script string) func(*bench, *site, string) ([]string, error) {
	return func(b *bench, s *site, address string) ([]string, error) {
		dir, err := b.nodeModules()
		if err != nil {
			return nil, err
		}
		_, port, _ := net.SplitHostPort(address)
		return []string{"node", filepath.Join(dir, script), port, s.path("endpoints.json")}, nil
	}
}

// nodeModules installs the packages of the two Node.js servers, once, and returns their directory.
func (b *bench) nodeModules() (string, error) {
	const installed = "node_modules/fastify/package.json"
	dir := filepath.Join("bin", "bench", "node")
	if err := os.CopyFS(dir, os.DirFS("bench/node")); err != nil && !errors.Is(err, os.ErrExist) {
		return "", err
	}
	if _, err := os.Stat(filepath.Join(dir, installed)); err == nil {
		return dir, nil
	}
	b.progress("installing Express and Fastify into %s", dir)
	cmd := exec.Command("npm", "install", "--no-audit", "--no-fund", "--no-package-lock")
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("npm install: %v %s", err, bytes.TrimSpace(out))
	}
	return dir, nil
}

// configure writes a file of bench/config for a server, with the values for its ${names}, and returns its path.
func (s *site) configure(file, address, setting string) (path string, err error) {
	_, port, _ := net.SplitHostPort(address)
	dir := s.path(file + "-" + port)
	text, err := os.ReadFile(filepath.Join("bench/config", file))
	if err != nil {
		return "", err
	}
	values := map[string]string{
		"dir": dir, "site": s.dir, "path": manifestPath, "address": address, "port": port, "setting": setting,
		"host": "$host", // nginx's own variable
	}
	if err := os.Mkdir(dir, 0o755); err != nil {
		return "", err
	}
	path = filepath.Join(dir, file)
	return path, os.WriteFile(path, []byte(os.Expand(string(text), func(name string) string { return values[name] })), 0o644)
}

func caddyCommand(b *bench, s *site, address string) ([]string, error) {
	program, err := findProgram("caddy")
	if err != nil {
		return nil, err
	}
	config, err := s.configure("Caddyfile", address, "")
	return []string{"env", "XDG_CONFIG_HOME=" + s.dir, "XDG_DATA_HOME=" + s.dir, program, "run", "--config", config, "--adapter", "caddyfile"}, err
}

func nginxCommand(setting string) func(*bench, *site, string) ([]string, error) {
	return func(b *bench, s *site, address string) ([]string, error) {
		program, err := findProgram("nginx")
		if err != nil {
			return nil, err
		}
		config, err := s.configure("nginx.conf", address, setting)
		return []string{program, "-c", config, "-p", filepath.Dir(config), "-e", "stderr"}, err
	}
}

// findProgram also looks where make programs unpacks what is not installed.
func findProgram(name string) (string, error) {
	for _, path := range []string{name, "/usr/sbin/" + name, "bin/programs/usr/sbin/" + name, "bin/programs/usr/bin/" + name} {
		if found, err := exec.LookPath(path); err == nil {
			return filepath.Abs(found)
		}
	}
	return "", fmt.Errorf("%s is not installed", name)
}

// checkBodies requests several hosts from a contender, plain and compressed: only servers that send the same can be
// compared.
func checkBodies(c contender, s *site, url string) error {
	for _, host := range hosts {
		if c.name == bare && host != loadHost {
			continue // it writes constant bytes
		}
		for _, client := range []*http.Client{once, onceGzip} {
			header, body, err := get(client, http.StatusOK, url, host, http.Header{})
			if err != nil {
				return err
			}
			if !bytes.Equal(body, s.bodies[host]) {
				return fmt.Errorf("for %s it answers with another body: %d bytes and not %d, starting %.100q", host, len(body), len(s.bodies[host]), body)
			}
			if kind := header.Get("Content-Type"); !strings.HasPrefix(kind, "application/json") {
				return fmt.Errorf("for %s its Content-Type is %q", host, kind)
			}
		}
	}
	return nil
}
