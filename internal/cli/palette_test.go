package cli

import (
	"io"
	"path/filepath"
	"strings"
	"testing"

	"signpost/internal/testkit"
)

func TestColourOnlyOnATerminal(t *testing.T) {
	lint := []string{"lint", filepath.Join(repo, "testdata", "err", "method.yaml")}
	for _, env := range []map[string]string{nil, {"NO_COLOR": "1"}, {"NO_COLOR": ""}} {
		control, tty := openTerminal(t)
		c := CLI{Stdout: tty, Stderr: io.Discard, LookupEnv: func(name string) (string, bool) { value, ok := env[name]; return value, ok }}
		c.Main(lint)
		out := make([]byte, 4096)
		n := testkit.Must(control.Read(out))(t)
		if got := strings.Contains(string(out[:n]), "\x1b[31merror:\x1b[0m"); got != (env["NO_COLOR"] == "") {
			t.Errorf("%v: colour %v\n%q", env, got, out[:n])
		}
	}
	if out, _, _ := runCLI(lint...); strings.Contains(out, "\x1b") {
		t.Errorf("colour without a terminal: %q", out)
	}
}
