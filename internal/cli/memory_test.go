package cli

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

// maxInputMemory is how much memory a command may take for an input of a megabyte, in MB: see docs/operate.md.
const maxInputMemory = 256

// worstKinds are those of hostileDefinitions and hostileDocuments that take most memory. make soak tries all of them.
var worstKinds = []string{"an enum", "one long line"}

// TestMemory runs the program on hostile input of a megabyte.
func TestMemory(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	program := filepath.Join(dir, "signpost") // without the race detector, which has memory of its own
	if out, err := exec.Command("go", "build", "-o", program, "signpost/cmd/signpost").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	file, other := filepath.Join(dir, "feeds.yaml"), filepath.Join(dir, "other.yaml")
	if err := os.WriteFile(other, []byte(versionsHead+lines(1, endpointLine)), 0o600); err != nil {
		t.Fatal(err)
	}
	check := func(t *testing.T, input string, args ...string) {
		t.Helper()
		cmd := exec.Command(program, args...)
		cmd.Stdin = strings.NewReader(input)
		n := peak(t, cmd)
		if n == 0 {
			t.Skip("this system does not report the memory of a process")
		}
		t.Logf("%d MB, %v: %s", n, cmd.ProcessState.UserTime()+cmd.ProcessState.SystemTime(), args)
		if n > maxInputMemory {
			t.Errorf("%s takes %d MB, more than %d MB", args, n, maxInputMemory)
		}
	}
	wanted := func(name string) bool {
		return os.Getenv("SIGNPOST_SOAK_INPUTS") != "" || slices.Contains(worstKinds, name)
	}
	for _, name := range slices.Sorted(maps.Keys(hostileDefinitions)) {
		if !wanted(name) {
			continue
		}
		t.Run(name, func(t *testing.T) {
			text := megabyte(hostileDefinitions[name])
			if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
			check(t, "", "lint", file)
			check(t, "", "lint", file, "--fix", "--dry-run")
			check(t, "", "diff", other, file)
			check(t, "", "diff", file, other)
			check(t, "", "match", file, "https://localhost/v1/f")
			check(t, "", "render", file, "--host", "localhost")
			check(t, edits(t, text, 6), "lsp")
		})
	}
	for _, name := range slices.Sorted(maps.Keys(hostileDocuments)) {
		if !wanted("import " + name) {
			continue
		}
		t.Run("import "+name, func(t *testing.T) {
			if err := os.WriteFile(file, []byte(megabyte(hostileDocuments[name])), 0o600); err != nil {
				t.Fatal(err)
			}
			check(t, "", "import", file)
		})
	}
}

// peak runs a command and returns its peak resident memory in MB.
func peak(t *testing.T, cmd *exec.Cmd) (most int) {
	t.Helper()
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan struct{})
	go func() {
		cmd.Wait()
		close(ended)
	}()
	for { // what the system reports afterwards includes the memory of the test, from which the process was forked
		status, _ := os.ReadFile(fmt.Sprintf("/proc/%d/status", cmd.Process.Pid))
		if _, after, ok := strings.Cut(string(status), "VmHWM:"); ok {
			kilobytes, _ := strconv.Atoi(strings.Fields(after)[0])
			most = kilobytes >> 10
		}
		select {
		case <-ended:
			return most
		case <-time.After(2 * time.Millisecond):
		}
	}
}

// megabyte returns an input of about a megabyte, if it can be made that large.
func megabyte(build func(n int) string) string {
	const size = 1 << 20
	per := (len(build(200)) - len(build(100))) / 100
	if per <= 0 {
		return build(200)
	}
	return build(max(200, (size-len(build(0)))/per*9/10))
}

// edits returns what an editor sends that opens a file, changes it until it has had so many versions, and asks for the
// outline of each.
func edits(t *testing.T, text string, versions int) string {
	var out bytes.Buffer
	send := func(message map[string]any) {
		message["jsonrpc"] = "2.0"
		body, err := json.Marshal(message)
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(&out, "Content-Length: %d\r\n\r\n%s", len(body), body)
	}
	const uri = "file:///feeds.yaml"
	send(map[string]any{"id": 1, "method": "initialize", "params": map[string]any{"capabilities": map[string]any{}}})
	send(map[string]any{"method": "initialized", "params": map[string]any{}})
	send(map[string]any{"method": "textDocument/didOpen", "params": map[string]any{"textDocument": map[string]any{"uri": uri, "languageId": "yaml", "version": 1, "text": text}}})
	for version := range versions {
		if version > 0 {
			send(map[string]any{"method": "textDocument/didChange", "params": map[string]any{
				"textDocument": map[string]any{"uri": uri, "version": 1 + version}, "contentChanges": []any{map[string]any{"text": text + strings.Repeat(" ", version)}},
			}})
		}
		send(map[string]any{"id": 2 + version, "method": "textDocument/documentSymbol", "params": map[string]any{"textDocument": map[string]any{"uri": uri}}})
	}
	send(map[string]any{"id": 2 + versions, "method": "shutdown"})
	send(map[string]any{"method": "exit"})
	return out.String()
}
