package cli

import (
	"path/filepath"
	"strings"
	"testing"

	"signpost/internal/testkit"
)

// corpus returns the inputs in a directory of the golden corpus.
func corpus(t *testing.T, folder string) []string {
	t.Helper()
	all := testkit.Must(filepath.Glob(filepath.Join("..", "..", "testdata", folder, "*")))(t)
	var inputs []string
	for _, path := range all {
		if filepath.Ext(path) != ".golden" {
			inputs = append(inputs, path)
		}
	}
	if len(inputs) == 0 {
		t.Fatalf("testdata/%s contains no input", folder)
	}
	return inputs
}

// oneEndpoint is a definition without findings.
const oneEndpoint = "versions:\n  v1:\n    endpoints:\n      https://{{host}}/v1/f: {name: F, method: get, mime_type: application/json}\n"

// patientEnv keeps check from giving up on a busy machine.
var patientEnv = map[string]string{"SIGNPOST_TIMEOUT": testkit.Patience.String()}

// runCLI runs a command line and returns its output and exit code.
func runCLI(args ...string) (stdout, stderr string, code int) {
	var out, err testkit.Buffer
	c := CLI{Stdin: strings.NewReader(""), Stdout: &out, Stderr: &err,
		LookupEnv: func(name string) (string, bool) { value, ok := patientEnv[name]; return value, ok }}
	code = c.Main(args)
	return out.String(), err.String(), code
}

// TestCorpus runs the commands on the corpus of package definition: what lint rejects is rejected everywhere, and
// nothing is printed for it.
func TestCorpus(t *testing.T) {
	t.Parallel()
	for dir, want := range map[string]struct{ lint, strict, render int }{
		"ok":   {exitFine, exitFine, exitFine},
		"warn": {exitFine, exitFindings, exitFine},
		"err":  {exitFindings, exitFindings, exitFindings},
	} {
		for _, input := range corpus(t, dir) {
			t.Run(dir+"/"+filepath.Base(input), func(t *testing.T) {
				t.Parallel()
				if out, errOut, code := runCLI("lint", input); code != want.lint || (out == "") != (dir == "ok") {
					t.Errorf("lint exited with %d:\n%s%s", code, out, errOut)
				}
				if _, _, code := runCLI("lint", "--strict", input); code != want.strict {
					t.Errorf("lint --strict exited with %d", code)
				}
				out, errOut, code := runCLI("render", input)
				if code != want.render && !strings.Contains(errOut, "--api-version") || (out == "") != (code != exitFine) {
					t.Errorf("render exited with %d:\n%s%s", code, out, errOut)
				}
			})
		}
	}
}
