// Command measure prints the figures that docs/operate.md gives for sizing, as they are on this machine:
//
//	make measure
//
// All of it is on loopback. The server is bound to one core and the load to another; requests are counted against the
// processor time that the server used for them, so that it matters little what else the machine does. It needs Linux,
// taskset and, for the load, wrk.
package main

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"log"
	"math/big"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"
)

const (
	manifestPath = "/v1/endpoints-manifest"
	services     = 1000
	endpoints    = 100 // of each service
	connections  = 2000
	loadTime     = 3 * time.Second
	loads        = 3 // of which the median counts
	restTime     = 20 * time.Second
	starts       = 5 // of which the quickest counts: what else the machine does only adds
)

func main() {
	log.SetFlags(0)
	log.SetPrefix("measure: ")
	dir, err := os.MkdirTemp("", "signpost-measure")
	check(err)
	defer os.RemoveAll(dir)
	m := measure{dir: dir, binary: filepath.Join(dir, "signpost")}

	build := exec.Command("go", "build", "-trimpath", "-o", m.binary, "./cmd/signpost")
	build.Dir, build.Env, build.Stderr = "../..", append(os.Environ(), "CGO_ENABLED=0"), os.Stderr
	check(build.Run())
	large := filepath.Join(dir, "large")
	check(os.Mkdir(large, 0o755))
	for i := range services {
		check(os.WriteFile(filepath.Join(large, fmt.Sprintf("s%04d.yaml", i)), definition(i, "Feed"), 0o644))
	}

	fmt.Printf("%s, %d cores, %s\n\n", processor(), runtime.NumCPU(), runtime.Version())
	m.example()
	m.large(large)
	m.load(filepath.Join(large, "s0000.yaml"))
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}

// definition is one of the many services: endpoints of a usual size, each with a modifier.
func definition(service int, name string) []byte {
	var b strings.Builder
	fmt.Fprintf(&b, "base_path: /s%04d\nmodifiers:\n  limit: {kind: number, id: limit, name: Page size, key: limit, label: Limit, defaultValue: 20}\n", service)
	b.WriteString("versions:\n  v1:\n    endpoints:\n")
	for i := range endpoints {
		fmt.Fprintf(&b, "      https://{{host}}/s%04d/v1/feeds/%d: {name: %s %d, method: get, mime_type: application/json, modifiers: [limit]}\n", service, i, name, i)
	}
	return []byte(b.String())
}

type measure struct{ dir, binary string }

func row(what, format string, args ...any) {
	fmt.Printf("| %s | %s |\n", what, fmt.Sprintf(format, args...))
}

// example is a server with the built-in example: what it takes at least.
func (m measure) example() {
	fmt.Print("| one small definition | |\n|---|---|\n")
	info, err := os.Stat(m.binary)
	check(err)
	row("the binary", "%d MB", info.Size()/1e6)
	row("from start to first answer", "%v", m.startTime(manifestPath))
	s := m.serve("")
	defer s.stop()
	s.get(manifestPath)
	row("memory at rest", "%d MB", s.memory())
	_, size := s.get(manifestPath)
	row("the manifest", "%d bytes", size)
	before := s.memory()
	open := make([]net.Conn, connections)
	for i := range open {
		conn, err := net.Dial("tcp", s.address)
		check(err)
		fmt.Fprintf(conn, "GET %s HTTP/1.1\r\nHost: feeds.example.com\r\n\r\n", manifestPath)
		_, err = io.ReadAtLeast(conn, make([]byte, 8<<10), 512)
		check(err)
		open[i] = conn
	}
	row(fmt.Sprintf("memory more for each of %d idle connections", connections), "%d KB", (s.memory()-before)*1000/connections)
	for _, conn := range open {
		conn.Close()
	}
}

// large is a server with many services.
func (m measure) large(folder string) {
	fmt.Printf("\n| %d services with %d endpoints each | |\n|---|---|\n", services, endpoints)
	row("from start to first answer", "%v", m.startTime("/s0999"+manifestPath, folder))
	s := m.serve("", folder)
	defer s.stop()
	row("memory at rest", "%d MB, %d MB at the most", s.memory(), s.peak())
	for i := range services {
		s.get(fmt.Sprintf("/s%04d%s", i, manifestPath))
	}
	row("memory after a request for each", "%d MB", s.memory())
	_, size := s.get("/s0000" + manifestPath)
	row("a manifest", "%d bytes", size)
	used := s.processorTime()
	time.Sleep(restTime)
	row("processor time at rest, for looking at the files", "%.1f %% of a core", 100*(s.processorTime()-used).Seconds()/restTime.Seconds())

	before, _ := s.get("/s0500" + manifestPath)
	began := time.Now()
	check(os.WriteFile(filepath.Join(folder, "s0500.yaml"), definition(500, "Changed"), 0o644))
	for {
		if now, _ := s.get("/s0500" + manifestPath); now != before {
			break
		}
		time.Sleep(5 * time.Millisecond)
	}
	row("from a changed file to its manifest", "%v", time.Since(began).Round(10*time.Millisecond))
	row("memory at the most, with that reload", "%d MB", s.peak())
}

// load is how many requests a core answers in a second that it works on nothing else.
func (m measure) load(large string) {
	if _, err := exec.LookPath("wrk"); err != nil {
		fmt.Print("\nRequests per second are not measured: wrk is not installed.\n")
		return
	}
	if runtime.NumCPU() < 2 {
		fmt.Print("\nRequests per second are not measured: the load needs a core of its own.\n")
		return
	}
	cert, key := m.certificate()
	script := filepath.Join(m.dir, "hosts.lua")
	check(os.WriteFile(script, []byte(`local n = 0
request = function()
  n = n + 1
  wrk.headers["Host"] = "h" .. n .. ".example.com"
  return wrk.format()
end
`), 0o644))
	fmt.Print("\n| load | requests per second of one core | memory at the most |\n|---|---|---|\n")
	gzip, hosts := []string{"-H", "Accept-Encoding: gzip"}, []string{"-s", script}
	for _, c := range []struct {
		what, path string
		serve      []string
		wrk        []string
	}{
		{"the example", manifestPath, nil, nil},
		{"the example, gzip", manifestPath, nil, gzip},
		{"the example, 304", manifestPath, nil, []string{"-H", "If-None-Match: *"}},
		{"the example, https", manifestPath, []string{"--tls-cert", cert, "--tls-key", key}, nil},
		{"100 endpoints", "/s0000" + manifestPath, []string{large}, nil},
		{"100 endpoints, gzip", "/s0000" + manifestPath, []string{large}, gzip},
		{"100 endpoints, another host each time", "/s0000" + manifestPath, []string{large}, hosts},
		{"the same, gzip", "/s0000" + manifestPath, []string{large}, slices.Concat(hosts, gzip)},
		{"the same, refused by --allowed-host", "/s0000" + manifestPath, []string{large, "--allowed-host", "feeds.example.com"}, hosts},
	} {
		s := m.serve("0", c.serve...)
		address := "http://" + s.address + c.path
		if slices.Contains(c.serve, "--tls-cert") {
			address = strings.Replace(address, "http:", "https:", 1)
		}
		var rates []float64
		for range loads {
			used := s.processorTime()
			requests := runLoad(address, c.wrk)
			rates = append(rates, requests/(s.processorTime()-used).Seconds())
		}
		slices.Sort(rates)
		fmt.Printf("| %s | %.0f 000 | %d MB |\n", c.what, rates[loads/2]/1000, s.peak())
		s.stop()
	}
}

// runLoad returns how many requests wrk made.
func runLoad(address string, args []string) float64 {
	args = append([]string{"-c", "1", "wrk", "-t1", "-c32", "-d", loadTime.String()}, args...)
	out, err := exec.Command("taskset", append(args, address)...).CombinedOutput()
	match := regexp.MustCompile(`(\d+) requests in`).FindSubmatch(out)
	if err != nil || match == nil {
		log.Fatalf("wrk: %v\n%s", err, out)
	}
	requests, err := strconv.ParseFloat(string(match[1]), 64)
	check(err)
	return requests
}

// startTime returns how long it takes from the start of the program to its first answer.
func (m measure) startTime(path string, args ...string) time.Duration {
	var times []time.Duration
	for range starts {
		began := time.Now()
		s := m.serve("", args...)
		s.get(path)
		times = append(times, time.Since(began))
		s.stop()
	}
	return slices.Min(times).Round(time.Millisecond)
}

// server is a Signpost that is measured.
type server struct {
	cmd     *exec.Cmd
	address string
}

// serve starts one, on one core if it is given, and waits until it listens.
func (m measure) serve(core string, args ...string) *server {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	check(err)
	address := l.Addr().String()
	check(l.Close())
	command := append([]string{m.binary, "serve", "--listen", address, "--admin-listen", "127.0.0.1:0"}, args...)
	if core != "" {
		command = append([]string{"taskset", "-c", core}, command...)
	}
	s := &server{cmd: exec.Command(command[0], command[1:]...), address: address}
	s.cmd.Stderr = new(strings.Builder)
	check(s.cmd.Start())
	for range 60_000 {
		conn, err := net.Dial("tcp", address)
		if err == nil {
			check(conn.Close())
			return s
		}
		time.Sleep(time.Millisecond)
	}
	log.Fatalf("signpost %q does not come up:\n%s", args, s.cmd.Stderr)
	return nil
}

func (s *server) stop() {
	check(s.cmd.Process.Signal(syscall.SIGTERM))
	check(s.cmd.Wait())
}

// get returns the revision and the size of a manifest.
func (s *server) get(path string) (revision string, size int) {
	res, err := http.Get("http://" + s.address + path)
	check(err)
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	check(err)
	if res.StatusCode != http.StatusOK {
		check(errors.New(res.Status))
	}
	return res.Header.Get("Signpost-Revision"), len(body)
}

// memory is the resident memory in MB, peak the most that there was.
func (s *server) memory() int { return s.status("VmRSS") }
func (s *server) peak() int   { return s.status("VmHWM") }

func (s *server) status(name string) int {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", s.cmd.Process.Pid))
	check(err)
	match := regexp.MustCompile(name + `:\s+(\d+) kB`).FindSubmatch(text)
	kb, err := strconv.Atoi(string(match[1]))
	check(err)
	return kb * 1024 / 1e6
}

// processorTime is what the server has used so far.
func (s *server) processorTime() time.Duration {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", s.cmd.Process.Pid))
	check(err)
	fields := strings.Fields(string(text[strings.LastIndexByte(string(text), ')')+2:]))
	user, err := strconv.Atoi(fields[11])
	check(err)
	system, err := strconv.Atoi(fields[12])
	check(err)
	const tick = 10 * time.Millisecond // of all Linux systems that Go runs on
	return time.Duration(user+system) * tick
}

func processor() string {
	text, err := os.ReadFile("/proc/cpuinfo")
	check(err)
	if match := regexp.MustCompile(`model name\s*: (.*)`).FindSubmatch(text); match != nil {
		return string(match[1])
	}
	return runtime.GOARCH
}

// certificate writes one that signs itself.
func (m measure) certificate() (certFile, keyFile string) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	check(err)
	template := &x509.Certificate{SerialNumber: big.NewInt(1), NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour)}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	check(err)
	keyDER, err := x509.MarshalPKCS8PrivateKey(key)
	check(err)
	certFile, keyFile = filepath.Join(m.dir, "cert.pem"), filepath.Join(m.dir, "key.pem")
	check(os.WriteFile(certFile, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), 0o600))
	check(os.WriteFile(keyFile, pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: keyDER}), 0o600))
	return certFile, keyFile
}
