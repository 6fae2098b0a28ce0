package cli

import (
	"fmt"
	"io"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"signpost/internal/testkit"
)

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){
		"signpost": func() {
			c := CLI{Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr, LookupEnv: os.LookupEnv, Environ: os.Environ}
			os.Exit(c.Main(os.Args[1:]))
		},
	})
}

// TestScript runs the scripts in testdata/script, which read like a terminal session. Servers run with the race
// detector, if the test does; other commands are the plain program, which starts faster.
func TestScript(t *testing.T) {
	t.Parallel()
	plain := filepath.Dir(testkit.Program(t, "signpost"))
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata/script",
		UpdateScripts:       testkit.Update(),
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		Setup: func(env *testscript.Env) error {
			address := testkit.FreeAddress(t)
			env.Setenv("ADDR", address)
			env.Setenv("PORT", strings.TrimPrefix(address, "127.0.0.1:"))
			env.Setenv("XDG_CONFIG_HOME", filepath.Join(env.WorkDir, "config"))
			env.Setenv("SIGNPOST_TIMEOUT", testkit.Patience.String())
			if name := filepath.Base(env.WorkDir); !strings.Contains(name, "serve") && !strings.Contains(name, "studio") {
				env.Setenv("PATH", plain+string(os.PathListSeparator)+env.Getenv("PATH"))
			}
			return nil
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"http":      httpCommand,
			"exit":      exitCommand,
			"terminate": terminateCommand,
		},
	})
}

// exitCommand implements "exit CODE COMMAND...": the command must exit with exactly that code.
func exitCommand(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: exit CODE COMMAND...")
	}
	err := ts.Exec(args[1], args[2:]...)
	code := "0"
	if err != nil {
		code = strings.TrimPrefix(err.Error(), "exit status ")
	}
	if code != args[0] {
		ts.Fatalf("exit code %s, not %s", code, args[0])
	}
}

// terminateCommand sends SIGTERM to the programs in the background.
func terminateCommand(ts *testscript.TestScript, _ bool, _ []string) {
	for _, cmd := range ts.BackgroundCmds() {
		ts.Check(cmd.Process.Signal(syscall.SIGTERM))
	}
}

// httpCommand implements "http METHOD URL [Header: value ...]". It waits until the server has started and published, as
// a load balancer does, and prints status, sorted headers and body.
func httpCommand(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: http METHOD URL [Header: value ...]")
	}
	req, err := http.NewRequest(args[0], args[1], nil)
	ts.Check(err)
	for _, h := range args[2:] {
		name, value, _ := strings.Cut(h, ": ")
		if name == "Host" {
			req.Host = value
		}
		req.Header.Set(name, value)
	}
	var res *http.Response
	for deadline := time.Now().Add(testkit.Patience); ; time.Sleep(10 * time.Millisecond) {
		res, err = http.DefaultTransport.RoundTrip(req)
		if err == nil && res.StatusCode != http.StatusServiceUnavailable || time.Now().After(deadline) {
			break
		}
		if err == nil {
			res.Body.Close()
		}
	}
	ts.Check(err)
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	ts.Check(err)
	out := ts.Stdout()
	fmt.Fprintln(out, res.StatusCode)
	for _, name := range slices.Sorted(maps.Keys(res.Header)) {
		fmt.Fprintf(out, "%s: %s\n", name, strings.Join(res.Header[name], ", "))
	}
	fmt.Fprintf(out, "\n%s", body)
}
