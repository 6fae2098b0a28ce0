package cli

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/txtar"

	"signpost/internal/testkit"
)

// Bounds of a command on hostile input of a megabyte, for make soak. They are those of docs/hardening.md.
const (
	maxInputMemory = 512              // MB
	maxInputCPU    = 10 * time.Second // with slack for a busy machine
)

// expand returns a text of testdata/hostile.txtar with the parts in «» repeated n times.
func expand(text string, n int) string {
	var out strings.Builder
	for {
		before, rest, found := strings.Cut(text, "«")
		out.WriteString(before)
		if !found {
			return strings.ReplaceAll(out.String(), "~/", "#/")
		}
		part, after, _ := strings.Cut(rest, "»")
		for i := range n {
			out.WriteString(strings.NewReplacer("#", strconv.Itoa(i), "@", strconv.Itoa(i+1)).Replace(part))
		}
		text = after
	}
}

// maxInputGrowth is how many times longer a command may take on four times the input. Comparing everything with everything
// else takes sixteen times as long.
const maxInputGrowth = 8

// TestHostileInput runs the commands on the documents of testdata/hostile.txtar: all of them end. In make soak, the inputs
// have a megabyte, CPU time and memory are bounded, and neither grows much faster than the input.
func TestHostileInput(t *testing.T) {
	t.Parallel()
	soak := os.Getenv("SIGNPOST_SOAK_INPUTS") != ""
	size := 2 << 10
	if soak {
		size = 1 << 20
	}
	other := filepath.Join(t.TempDir(), "other.yaml")
	testkit.Write(t, other, oneEndpoint)
	for _, hostile := range testkit.Must(txtar.ParseFile("testdata/hostile.txtar"))(t).Files {
		commands := []string{"lint FILE", "lint FILE --fix --dry-run", "diff OTHER FILE", "diff FILE OTHER",
			"match FILE https://localhost/v1/f", "render FILE --host localhost"}
		if strings.HasPrefix(hostile.Name, "import ") {
			commands = []string{"import FILE"}
		}
		t.Run(hostile.Name, func(t *testing.T) {
			if !soak {
				t.Parallel()
			}
			file, text := filepath.Join(t.TempDir(), "feeds.yaml"), string(hostile.Data)
			per := (len(expand(text, 200)) - len(expand(text, 100))) / 100
			testkit.Write(t, file, expand(text, max(2, size/per)))
			quarter := file + ".quarter.yaml"
			testkit.Write(t, quarter, expand(text, max(2, size/4/per)))
			memory, cpu := 0, time.Duration(0)
			for _, line := range commands {
				args := strings.Fields(strings.NewReplacer("FILE", file, "OTHER", other).Replace(line))
				if soak {
					_, less := cost(t, strings.Fields(strings.NewReplacer("FILE", quarter, "OTHER", other).Replace(line))...)
					within := func(c time.Duration) bool { return c <= maxInputCPU && c <= max(time.Second, maxInputGrowth*less) }
					m, c := cost(t, args...)
					for tries := 0; tries < 2 && !within(c); tries++ { // another program may have slowed it down
						_, again := cost(t, args...)
						c = min(c, again)
					}
					memory, cpu = max(memory, m), max(cpu, c)
					if m > maxInputMemory || !within(c) {
						t.Errorf("%s takes %d MB and %v, and %v on a quarter of it", args, m, c, less)
					}
				} else if _, _, code := runCLI(args...); code > exitFailure {
					t.Errorf("%s exits with %d", args, code)
				}
			}
			if soak {
				t.Logf("soak: %-24s %4d MB %6.2f s", hostile.Name, memory, cpu.Seconds())
			}
		})
	}
}

// TestLongMessages lints and compares definitions with texts of 10 kB in many places: every line of the output stays short.
func TestLongMessages(t *testing.T) {
	t.Parallel()
	run := func(wantCode int, args ...string) {
		out, errs, code := runCLI(args...)
		for line := range strings.Lines(out + errs) {
			if len(line) > 1000 && !strings.HasPrefix(strings.TrimSpace(line), `"text": "`) {
				t.Errorf("%s has a line of %d bytes: %.300s", args, len(line), line)
			}
		}
		if code != wantCode {
			t.Errorf("%s: exit status %d", args, code)
		}
	}
	one := filepath.Join(t.TempDir(), "one.yaml")
	testkit.Write(t, one, oneEndpoint)
	long := strings.Repeat("long", 2_500)
	endpoint := func(url, more string) string {
		return fmt.Sprintf("\n      %q:\n        name: F\n        method: get\n        mime_type: application/json\n        %s", url, more)
	}
	own := "https://{{host}}/v1/" + long
	for _, endpoints := range []string{
		endpoint(own+"/{{x", ""),
		endpoint(own, "") + endpoint(own, ""),
		endpoint(own, "context_obj: [{key: k, type: ctx}]") + endpoint(own+"/{{id}}", "context_obj: []"),
		endpoint("http://a.example/"+long+"?x=1", "method: "+strings.ToUpper(long)),
		endpoint("https://"+long+"/v1/f", long+": 1"),
		endpoint("https://a.example/v2/"+long+"/:id/", "context_obj: [{key: "+long+", type: "+long+"}, {key: "+long+", type: ctx}]"),
		endpoint(own, fmt.Sprintf("modifiers: [{kind: select, id: %[1]s, name: '%[1]s ', key: '%[1]s &', label: L, defaultValue: %[1]s, options: [{value: x%[1]s, label: O}]}]", long)),
		endpoint(own, "modifiers: ["+long+"]") + "\nenable: [" + long + "]\nhosts: [" + long + "]\nbase_path: /a" + long + "/v1",
		endpoint(own, "allow: {"+long+": "+long+"}") + "\nfeatures: {" + long + ": {urls: ['/" + long + "'], context_obj: []}}",
		endpoint(own, "mime_type: ["+long),
	} {
		file := filepath.Join(t.TempDir(), "feeds.yaml")
		testkit.Write(t, file, "versions:\n  v1:\n    endpoints:"+endpoints+"\n")
		for _, format := range []string{"text", "json", "github", "gitlab"} {
			run(exitFindings, "lint", "--strict", "--format", format, file)
		}
		for _, format := range []string{"text", "markdown"} {
			run(exitFindings, "diff", "--ignore", "host-changed", "--fail-on", "compatible", "--format", format, file, one)
		}
	}
	manifest := filepath.Join(t.TempDir(), "manifest.json")
	testkit.Write(t, manifest, `{"endpoints": {"https://feeds.example.com/f": {"name": "F", "method": "get", "mime_type": "x/`+long+`", "`+long+`": 1}}}`)
	_, errs, _ := runCLI("import", manifest)
	for line := range strings.Lines(errs) {
		if len(line) > 1000 {
			t.Errorf("import has a line of %d bytes: %.300s", len(line), line)
		}
	}
}

// cost runs the program and returns its peak of resident memory in MB and its CPU time.
func cost(t *testing.T, args ...string) (memory int, cpu time.Duration) {
	t.Helper()
	cmd := exec.Command(testkit.Program(t, "signpost"), args...)
	testkit.OK(t, cmd.Start())
	ended := make(chan struct{})
	go func() {
		cmd.Wait()
		close(ended)
	}()
	for running := true; running; { // what the system reports afterwards includes the test, from which it was forked
		status, _ := os.ReadFile(fmt.Sprintf("/proc/%d/status", cmd.Process.Pid))
		if _, after, ok := strings.Cut(string(status), "VmHWM:"); ok {
			kilobytes, _ := strconv.Atoi(strings.Fields(after)[0])
			memory = kilobytes >> 10
		}
		select {
		case <-ended:
			running = false
		case <-time.After(2 * time.Millisecond):
		}
	}
	return memory, cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
}
