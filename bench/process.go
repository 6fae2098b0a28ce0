package main

import (
	"bytes"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// The server and the load each have a core of their own.
const (
	serverCore = 0
	loadCore   = 1
	anyCore    = -1
)

const manifestPath = "/v1/endpoints-manifest"

// process is a server under measurement.
type process struct {
	cmd     *exec.Cmd
	url     string        // of the manifest
	startUp time.Duration // time to the first response
	output  bytes.Buffer  // complete after it has exited
	ended   chan struct{}
}

// start runs a server with the command for an unused address, and waits for the first response at a path.
func start(core int, path string, command func(address string) ([]string, error)) (*process, error) {
	free, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	address := free.Addr().String()
	free.Close()
	args, err := command(address)
	if err != nil {
		return nil, err
	}
	if core != anyCore {
		args = append([]string{"taskset", "-c", strconv.Itoa(core)}, args...)
	}
	p := &process{cmd: exec.Command(args[0], args[1:]...), url: "http://" + address + path, ended: make(chan struct{})}
	p.cmd.Stdout, p.cmd.Stderr = &p.output, &p.output
	p.cmd.Env = append(os.Environ(), "NODE_ENV=production")
	began := time.Now()
	if err := p.cmd.Start(); err != nil {
		return nil, err
	}
	go func() {
		p.cmd.Wait()
		close(p.ended)
	}()
	for time.Since(began) < 3*time.Minute {
		if _, _, err := get(once, http.StatusOK, p.url, loadHost, http.Header{}); err == nil {
			p.startUp = time.Since(began)
			return p, nil
		}
		select {
		case <-p.ended:
			return nil, fmt.Errorf("%s: %v\n%s", strings.Join(args, " "), p.cmd.ProcessState, p.output.Bytes())
		case <-time.After(500 * time.Microsecond):
		}
	}
	p.stop()
	return nil, fmt.Errorf("%s: no response\n%s", strings.Join(args, " "), p.output.Bytes())
}

// stop stops a server and waits for it to exit.
func (p *process) stop() {
	p.cmd.Process.Signal(syscall.SIGTERM)
	late := time.AfterFunc(10*time.Second, func() { p.cmd.Process.Kill() })
	defer late.Stop()
	<-p.ended
}

var (
	// once does not keep connections to servers that are about to stop.
	once = &http.Client{Timeout: time.Minute, Transport: &http.Transport{DisableCompression: true, DisableKeepAlives: true}}

	// onceGzip also asks for gzip, and decompresses the response.
	onceGzip = &http.Client{Timeout: time.Minute, Transport: &http.Transport{DisableKeepAlives: true}}

	// keepAlive keeps its connection, so that only the response is measured.
	keepAlive = &http.Client{Timeout: time.Minute, Transport: &http.Transport{DisableCompression: true}}
)

// get returns a complete response, which must have the status.
func get(client *http.Client, status int, url, host string, header http.Header) (http.Header, []byte, error) {
	req, err := http.NewRequest("GET", url, nil)
	if err != nil {
		return nil, nil, err
	}
	req.Host, req.Header = host, header
	res, err := client.Do(req)
	if err != nil {
		return nil, nil, err
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	if err == nil && res.StatusCode != status {
		err = fmt.Errorf("%s: %s", url, res.Status)
	}
	return res.Header, body, err
}

// pids returns the process and its children: nginx has a worker.
func (p *process) pids() []string {
	pid := strconv.Itoa(p.cmd.Process.Pid)
	children, _ := os.ReadFile(filepath.Join("/proc", pid, "task", pid, "children"))
	return append([]string{pid}, strings.Fields(string(children))...)
}

// tick is the unit of CPU time on all Linux systems that Go supports.
const tick = 10 * time.Millisecond

// processorTime returns the CPU time of the server so far.
func (p *process) processorTime() (sum time.Duration) {
	for _, pid := range p.pids() {
		text, _ := os.ReadFile(filepath.Join("/proc", pid, "stat"))                                      // empty if it has exited
		if fields := strings.Fields(string(text[bytes.LastIndexByte(text, ')')+1:])); len(fields) > 12 { // after the name
			user, _ := strconv.Atoi(fields[11])
			system, _ := strconv.Atoi(fields[12])
			sum += time.Duration(user+system) * tick
		}
	}
	return sum
}

// memory returns the resident memory in bytes; peak returns its maximum so far.
func (p *process) memory() int { return p.status("VmRSS") }
func (p *process) peak() int   { return p.status("VmHWM") }

func (p *process) status(name string) (sum int) {
	for _, pid := range p.pids() {
		text, _ := os.ReadFile(filepath.Join("/proc", pid, "status"))
		if match := regexp.MustCompile(name + `:\s+(\d+) kB`).FindSubmatch(text); match != nil {
			kb, _ := strconv.Atoi(string(match[1]))
			sum += kb << 10
		}
	}
	return sum
}

// machine describes the hardware and the kernel.
func machine() string {
	model := runtime.GOARCH
	if text, err := os.ReadFile("/proc/cpuinfo"); err == nil {
		if match := regexp.MustCompile(`model name\s*: (.*)`).FindSubmatch(text); match != nil {
			model = string(match[1])
		}
	}
	release, _ := os.ReadFile("/proc/sys/kernel/osrelease")
	kernel, _, _ := strings.Cut(strings.TrimSpace(string(release)), "-")
	return fmt.Sprintf("%d cores of %s, Linux %s", runtime.NumCPU(), model, kernel)
}
