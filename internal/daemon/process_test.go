package daemon_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"signpost/internal/cli"
	"signpost/internal/testkit"
)

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){
		"signpost": func() {
			c := cli.CLI{Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr, LookupEnv: os.LookupEnv, Environ: os.Environ}
			os.Exit(c.Main(os.Args[1:]))
		},
	})
}

// Log messages about rejected definitions and unreadable sources.
var (
	rejected   = []string{"definition rejected: still serving the last good one", "definition rejected: there is none to serve in its place"}
	unreadable = []string{"source cannot be read: still serving what was read before", "source cannot be read: nothing is served from it yet"}
)

var waitFor = testkit.Eventually

// process is a running signpost serve: this test binary, which testscript.Main put on the PATH. If the race detector is
// on, it is on there as well.
type process struct {
	cmd    *exec.Cmd
	log    testkit.Buffer // all that it prints: JSON, one entry per line
	ended  chan struct{}
	url    string // of the manifests
	admin  string
	manual bool // the test itself stops it
}

// startServe starts signpost serve and waits until it serves. If it is still running when the test ends, it must exit
// cleanly on SIGTERM.
func startServe(t *testing.T, args ...string) *process {
	t.Helper()
	return startCommand(t, exec.Command("signpost", serveArgs(args)...))
}

// startPlain is startServe without the race detector, if the tests run with it: it takes time and memory of its own.
func startPlain(t *testing.T, args ...string) *process {
	t.Helper()
	return startCommand(t, exec.Command(testkit.Program(t, "signpost"), serveArgs(args)...))
}

func serveArgs(args []string) []string {
	return append([]string{"serve", "--listen", "127.0.0.1:0", "--admin-listen", "127.0.0.1:0", "--log-format", "json"}, args...)
}

func startCommand(t *testing.T, cmd *exec.Cmd) *process {
	t.Helper()
	p := &process{cmd: cmd, ended: make(chan struct{})}
	cmd.Dir, cmd.Stdout, cmd.Stderr = t.TempDir(), &p.log, &p.log
	testkit.OK(t, cmd.Start())
	go func() {
		cmd.Wait()
		close(p.ended)
	}()
	t.Cleanup(func() {
		if !p.manual {
			if code := p.stop(t); code != 0 {
				t.Errorf("serve exited with %d", code)
			}
		}
		if t.Failed() || strings.Contains(p.log.String(), "DATA RACE") || strings.Contains(p.log.String(), "panic") {
			t.Errorf("log of %s:\n%s", cmd, p.log.String()[max(0, len(p.log.String())-8000):])
		}
	})
	waitFor(t, "serving", func() bool {
		select {
		case <-p.ended:
			t.Fatalf("%s ended:\n%s", cmd, p.log.String())
		default:
		}
		return len(p.logged("serving")) > 0
	})
	line := p.logged("serving")[0]
	p.url = line["scheme"].(string) + "://" + line["listen"].(string)
	if lines := p.logged("serving health and metrics"); len(lines) > 0 {
		p.admin = "http://" + lines[0]["listen"].(string)
	}
	return p
}

// logged returns the log entries with one of these messages.
func (p *process) logged(msgs ...string) []map[string]any {
	var found []map[string]any
	for line := range strings.Lines(p.log.String()) {
		for _, msg := range msgs {
			var entry map[string]any
			// check for the message first, to avoid parsing most lines
			if strings.Contains(line, fmt.Sprintf(`"msg":%q`, msg)) && json.Unmarshal([]byte(line), &entry) == nil {
				found = append(found, entry)
			}
		}
	}
	return found
}

func (p *process) signal(t *testing.T, s os.Signal) {
	t.Helper()
	testkit.OK(t, p.cmd.Process.Signal(s))
}

// stop stops the process and returns its exit code.
func (p *process) stop(t *testing.T) int {
	t.Helper()
	p.manual = true
	p.cmd.Process.Signal(syscall.SIGTERM)
	select {
	case <-p.ended:
	case <-time.After(testkit.Patience):
		p.cmd.Process.Kill()
		t.Error("serve did not exit after SIGTERM")
	}
	return p.cmd.ProcessState.ExitCode()
}

// kill ends the process abruptly, like an OOM kill or a power failure.
func (p *process) kill() {
	p.manual = true
	p.cmd.Process.Kill()
	<-p.ended
}

// reply is the response to a request.
type reply struct {
	*http.Response
	body string
}

// fetch sends a GET request for a host, or for that of the address.
func fetch(client *http.Client, address, host string) (reply, error) {
	req, err := http.NewRequest(http.MethodGet, address, nil)
	if err != nil {
		return reply{}, err
	}
	req.Host = host
	return do(client, req)
}

// do sends a request and reads the whole response.
func do(client *http.Client, req *http.Request) (reply, error) {
	res, err := client.Do(req)
	if err != nil {
		return reply{}, err
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	return reply{res, string(body)}, err
}

// get returns the response at a path of the manifest listener.
func (p *process) get(t *testing.T, path string) reply {
	t.Helper()
	return mustFetch(t, p.url+path)
}

func mustFetch(t *testing.T, address string) reply {
	t.Helper()
	return testkit.Must(fetch(http.DefaultClient, address, ""))(t)
}

// dial connects to the manifest listener.
func dial(t *testing.T, p *process) net.Conn {
	t.Helper()
	_, address, _ := strings.Cut(p.url, "://")
	conn := testkit.Must(net.Dial("tcp", address))(t)
	t.Cleanup(func() { conn.Close() })
	conn.SetDeadline(time.Now().Add(testkit.Patience))
	return conn
}

// send writes raw bytes, and returns everything until the server closes the connection.
func send(t *testing.T, p *process, request string) string {
	t.Helper()
	conn := dial(t, p)
	defer conn.Close()
	testkit.Must(io.WriteString(conn, request))(t)
	answer, err := io.ReadAll(conn)
	if err != nil && !strings.Contains(err.Error(), "connection reset") { // the server does not read what it rejects
		t.Fatal(err)
	}
	return string(answer)
}

// metric returns the value of a metric. Labels are written as in the text format.
func (p *process) metric(t *testing.T, name string) float64 {
	t.Helper()
	text := mustFetch(t, p.admin+"/metrics").body
	match := regexp.MustCompile(`(?m)^` + regexp.QuoteMeta(name) + ` (\S+)$`).FindStringSubmatch(text)
	if match == nil {
		return 0
	}
	var value float64
	testkit.Must(fmt.Sscan(match[1], &value))(t)
	return value
}

// feeds returns a definition whose endpoints all have its name and a number, so that mixtures are detected. It is JSON,
// so that a truncated file is always malformed.
func feeds(name string, endpoints int) string {
	return service("/", name, endpoints)
}

func service(basePath, name string, endpoints int) string {
	var all []string
	for i := range endpoints {
		all = append(all, fmt.Sprintf(`"https://{{host}}/v1/feeds/%[1]d/list": {"name": "%[2]s #%[1]d", "method": "get", "mime_type": "application/json"}`, i, name))
	}
	return fmt.Sprintf(`{"base_path": %q, "versions": {"v1": {"endpoints": {%s}}}}`, basePath, strings.Join(all, ",\n"))
}

// names returns the names of the definitions that a manifest comes from, and the number of its endpoints.
func names(manifest string) (distinct []string, endpoints int, err error) {
	var m struct {
		Endpoints map[string]struct{ Name string }
	}
	if err := json.Unmarshal([]byte(manifest), &m); err != nil {
		return nil, 0, err
	}
	for _, e := range m.Endpoints {
		if name, _, _ := strings.Cut(e.Name, " #"); !slices.Contains(distinct, name) {
			distinct = append(distinct, name)
		}
	}
	return distinct, len(m.Endpoints), nil
}

// serves reports whether a path serves the manifest of the definition with this name.
func (p *process) serves(t *testing.T, path, name string) bool {
	t.Helper()
	r := p.get(t, path)
	got, _, err := names(r.body)
	return r.StatusCode == http.StatusOK && err == nil && len(got) == 1 && got[0] == name
}

// replace is an atomic write.
func replace(t *testing.T, path, text string) {
	t.Helper()
	testkit.Write(t, path+".new", text)
	testkit.OK(t, os.Rename(path+".new", path))
}

// swapLink makes a symbolic link, or replaces it in one step.
func swapLink(t *testing.T, link, target string) {
	t.Helper()
	testkit.OK(t, errors.Join(os.Symlink(target, link+"_tmp"), os.Rename(link+"_tmp", link)))
}
