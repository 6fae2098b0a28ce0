// Package deploy tests the files in deploy, as far as that is possible without a container engine, a cluster, or
// systemd as init. It is a separate module, to keep the Kubernetes types out of the main one.
package deploy

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

const (
	deployDir = ".."
	repoDir   = "../.."
)

// signpostBinary is the path of the Signpost binary, built for this run as it is deployed.
var signpostBinary string

// notRun lists what could not be tested here. It is printed at the end even if everything else passes.
var notRun struct {
	sync.Mutex
	lines []string
}

func TestMain(m *testing.M) {
	os.Exit(func() int {
		dir, err := os.MkdirTemp("", "signpost-deploy")
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
		defer os.RemoveAll(dir)
		signpostBinary = filepath.Join(dir, "signpost")
		build := exec.Command("go", "build", "-trimpath", "-o", signpostBinary, "./cmd/signpost")
		build.Dir, build.Env = repoDir, append(os.Environ(), "CGO_ENABLED=0")
		if out, err := build.CombinedOutput(); err != nil {
			fmt.Fprintf(os.Stderr, "build signpost: %v\n%s", err, out)
			return 1
		}
		code := m.Run()
		if len(notRun.lines) > 0 {
			fmt.Fprintf(os.Stderr, "\n*** NOT TESTED HERE ***\n%s\n\n", strings.Join(notRun.lines, "\n"))
		}
		return code
	}())
}

// skipLoudly skips a test that cannot run here, and reports that at the end.
func skipLoudly(t *testing.T, why string) {
	t.Helper()
	notRun.Lock()
	notRun.lines = append(notRun.lines, "  "+t.Name()+": "+why)
	notRun.Unlock()
	t.Skip(why)
}

// program returns the path of a program, on PATH or where make programs unpacked it.
func program(t *testing.T, name string) string {
	t.Helper()
	unpacked, err := filepath.Abs(filepath.Join(repoDir, "bin", "programs", "usr"))
	if err != nil {
		t.Fatal(err)
	}
	for _, dir := range append(filepath.SplitList(os.Getenv("PATH")), "/usr/sbin", filepath.Join(unpacked, "bin"), filepath.Join(unpacked, "sbin")) {
		if path, err := exec.LookPath(filepath.Join(dir, name)); err == nil {
			return path
		}
	}
	skipLoudly(t, name+" is not installed")
	return ""
}

func readFile(t *testing.T, elem ...string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(elem...))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func writeFile(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

// replace replaces a text in a file of deploy, which must contain it.
func replace(t *testing.T, text, old, new string) string {
	t.Helper()
	if !strings.Contains(text, old) {
		t.Fatalf("no %q to replace in:\n%s", old, text)
	}
	return strings.ReplaceAll(text, old, new)
}

// freeAddress returns an unused loopback address.
func freeAddress(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}

// feeds is a definition with one endpoint of the given name.
func feeds(name string) string {
	return "versions:\n  v1:\n    endpoints:\n      https://{{host}}/v1/feeds: {name: " + name + ", method: get, mime_type: application/json}\n"
}

// manifest returns the manifest of feeds.
func manifest(host, name string) string {
	return `{"endpoints":{"https://` + host + `/v1/feeds":{"name":"` + name + `","method":"get","mime_type":"application/json","context_obj":[]}}}`
}

const manifestPath = "/v1/endpoints-manifest"

// process is a program that runs until the test ends.
type process struct {
	*exec.Cmd
	done chan struct{} // closed when it has ended
	log  *buffer
}

// start starts a program that is stopped at the end of the test.
func start(t *testing.T, cmd *exec.Cmd) *process {
	t.Helper()
	p := &process{Cmd: cmd, done: make(chan struct{}), log: new(buffer)}
	cmd.Stdout, cmd.Stderr = p.log, p.log
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() { cmd.Wait(); close(p.done) }()
	t.Cleanup(func() {
		cmd.Process.Signal(syscall.SIGTERM)
		select {
		case <-p.done:
		case <-time.After(20 * time.Second):
			cmd.Process.Kill()
			<-p.done
		}
		if t.Failed() {
			t.Logf("%s said:\n%s", filepath.Base(cmd.Path), p.log)
		}
	})
	return p
}

// startSignpost starts signpost serve and waits until it responds.
func startSignpost(t *testing.T, env []string, args ...string) (listen, admin string, p *process) {
	t.Helper()
	listen, admin = freeAddress(t), freeAddress(t)
	cmd := exec.Command(signpostBinary, append([]string{"serve"}, args...)...)
	cmd.Env = append(cleanEnv(), append(env, "SIGNPOST_LISTEN="+listen, "SIGNPOST_ADMIN_LISTEN="+admin)...)
	p = start(t, cmd)
	waitFor(t, admin, p)
	return listen, admin, p
}

// cleanEnv returns the environment without Signpost's variables.
func cleanEnv() []string {
	return slices.DeleteFunc(os.Environ(), func(v string) bool { return strings.HasPrefix(v, "SIGNPOST_") })
}

// waitFor waits until something listens on the address.
func waitFor(t *testing.T, address string, p *process) {
	t.Helper()
	for range 400 {
		conn, err := net.Dial("tcp", address)
		if err == nil {
			conn.Close()
			return
		}
		select {
		case <-p.done:
			t.Fatalf("%s ended:\n%s", filepath.Base(p.Path), p.log)
		case <-time.After(25 * time.Millisecond):
		}
	}
	t.Fatalf("%s does not listen on %s:\n%s", filepath.Base(p.Path), address, p.log)
}

// eventually retries until the condition holds.
func eventually(t *testing.T, what string, holds func() bool) {
	t.Helper()
	for range 400 {
		if holds() {
			return
		}
		time.Sleep(25 * time.Millisecond)
	}
	t.Fatalf("it never happened: %s", what)
}

// get sends a request and returns the status and body of the response.
func get(t *testing.T, url string, header ...string) (status int, body string) {
	t.Helper()
	return getWith(t, &http.Client{Timeout: 10 * time.Second}, url, header...)
}

func getWith(t *testing.T, client *http.Client, url string, header ...string) (status int, body string) {
	t.Helper()
	req, err := http.NewRequestWithContext(context.Background(), http.MethodGet, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	for i := 0; i+1 < len(header); i += 2 {
		if header[i] == "Host" {
			req.Host = header[i+1]
		}
		req.Header.Set(header[i], header[i+1])
	}
	res, err := client.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return res.StatusCode, strings.TrimSuffix(string(text), "\n")
}

// serveFlags returns the flags of signpost serve with their help text.
func serveFlags(t *testing.T) map[string]string {
	t.Helper()
	out, err := exec.Command(signpostBinary, "help", "serve").Output()
	if err != nil {
		t.Fatal(err)
	}
	flags := make(map[string]string)
	for _, line := range regexp.MustCompile(`(?m)^ +(--[a-z][a-z-]*) (.*)$`).FindAllStringSubmatch(string(out), -1) {
		flags[line[1]] = line[2]
	}
	if len(flags) < 10 {
		t.Fatalf("the help of serve has %d flags:\n%s", len(flags), out)
	}
	return flags
}

// checkServeArguments reports unknown arguments of signpost serve.
func checkServeArguments(t *testing.T, args []string) {
	t.Helper()
	known := serveFlags(t)
	if len(args) == 0 || args[0] != "serve" {
		t.Fatalf("the arguments do not begin with serve: %q", args)
	}
	for _, arg := range args[1:] {
		name, _, _ := strings.Cut(arg, "=")
		if strings.HasPrefix(arg, "-") && known[name] == "" {
			t.Errorf("serve has no flag %s", name)
		}
	}
}

// checkServeVariable reports a variable that does not belong to a flag of signpost serve.
func checkServeVariable(t *testing.T, name string) {
	t.Helper()
	flag, ok := strings.CutPrefix(name, "SIGNPOST_")
	flag = "--" + strings.ToLower(strings.ReplaceAll(flag, "_", "-"))
	if !ok || serveFlags(t)[flag] == "" {
		t.Errorf("%s is no flag of serve", name)
	}
}

// flagValue returns the value of a flag written as --name=value.
func flagValue(t *testing.T, args []string, name string) string {
	t.Helper()
	for _, arg := range args {
		if value, ok := strings.CutPrefix(arg, name+"="); ok {
			return value
		}
	}
	t.Fatalf("%q have no %s", args, name)
	return ""
}

// flagDuration is flagValue for a duration. If the flag is not given, it returns the default.
func flagDuration(t *testing.T, args []string, name string) time.Duration {
	t.Helper()
	text := "0s"
	if m := regexp.MustCompile(`\(default ([^)]+)\)`).FindStringSubmatch(serveFlags(t)[name]); m != nil {
		text = m[1]
	}
	for _, arg := range args {
		if value, ok := strings.CutPrefix(arg, name+"="); ok {
			text = value
		}
	}
	d, err := time.ParseDuration(text)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// buffer is a buffer that can be read while a program writes to it.
type buffer struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (b *buffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.Write(p)
}

func (b *buffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.String()
}
