package cli

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"signpost"
	"signpost/definition"
)

var update = flag.Bool("update", false, "rewrite the expected outputs under testdata")

// corpus returns the inputs of a folder of the golden corpus.
func corpus(t *testing.T, folder string) []string {
	t.Helper()
	all, err := filepath.Glob(filepath.Join("..", "..", "testdata", folder, "*"))
	if err != nil {
		t.Fatal(err)
	}
	var inputs []string
	for _, path := range all {
		if filepath.Ext(path) != ".golden" {
			inputs = append(inputs, path)
		}
	}
	if len(inputs) == 0 {
		t.Fatalf("testdata/%s holds no input", folder)
	}
	return inputs
}

// golden compares an output with the file beside its input, or rewrites that with -update.
func golden(t *testing.T, input, got string) {
	t.Helper()
	path := input + ".golden"
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatalf("%v; run go test -update to make it", err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("output changed (-want +got); if that is right, run go test -update:\n%s", diff)
	}
}

// runCLI runs one command line and returns what it printed and its exit code.
func runCLI(stdin string, args ...string) (stdout, stderr string, code int) {
	var out, err bytes.Buffer
	c := CLI{Stdin: strings.NewReader(stdin), Stdout: &out, Stderr: &err,
		LookupEnv: func(string) (string, bool) { return "", false }}
	code = c.Main(args)
	return out.String(), err.String(), code
}

func TestGoldenOK(t *testing.T) {
	for _, input := range corpus(t, "ok") {
		t.Run(filepath.Base(input), func(t *testing.T) {
			if out, errOut, code := runCLI("", "lint", "--strict", input); code != exitFine {
				t.Fatalf("lint exited with %d:\n%s%s", code, out, errOut)
			}
			text, err := os.ReadFile(input)
			if err != nil {
				t.Fatal(err)
			}
			var all strings.Builder
			for _, version := range definition.Parse(input, text).Versions() {
				for _, host := range []string{"feeds.example.org", "api.example.com"} {
					out, errOut, code := runCLI("", "render", input, "--api-version", version, "--host", host)
					if code != exitFine {
						t.Fatalf("render exited with %d:\n%s", code, errOut)
					}
					all.WriteString("# " + version + " for " + host + "\n" + out)
				}
			}
			golden(t, input, all.String())
		})
	}
}

func TestGoldenErr(t *testing.T) {
	for _, input := range corpus(t, "err") {
		t.Run(filepath.Base(input), func(t *testing.T) {
			goldenFindings(t, input, exitFindings)

			// A definition that lint refuses is refused everywhere, and nothing is printed for it.
			if out, _, code := runCLI("", "render", input); code != exitFindings || out != "" {
				t.Errorf("render exited with %d and printed %q", code, out)
			}
		})
	}
}

func TestGoldenWarn(t *testing.T) {
	for _, input := range corpus(t, "warn") {
		t.Run(filepath.Base(input), func(t *testing.T) {
			goldenFindings(t, input, exitFine)
			if _, _, code := runCLI("", "lint", "--strict", input); code != exitFindings {
				t.Errorf("with --strict lint exited with %d", code)
			}
			if _, errOut, code := runCLI("", "render", input); code != exitFine {
				t.Errorf("render exited with %d: %s", code, errOut)
			}
		})
	}
}

// goldenFindings lints an input, which must have a finding of the rule that it is named after.
func goldenFindings(t *testing.T, input string, wantCode int) {
	t.Helper()
	out, errOut, code := runCLI("", "lint", input)
	if code != wantCode {
		t.Errorf("lint exited with %d, not %d:\n%s%s", code, wantCode, out, errOut)
	}
	rule, _, _ := strings.Cut(filepath.Base(input), ".")
	for !strings.Contains(out, "["+rule+"]") { // duplicate-key-2.yaml is about duplicate-key
		i := strings.LastIndex(rule, "-")
		if i < 0 {
			t.Fatalf("no finding of the rule that the file is named after:\n%s", out)
		}
		rule = rule[:i]
	}
	golden(t, input, strings.ReplaceAll(out, filepath.Dir(input)+"/", ""))
}

// TestEveryRuleHasAFile holds the corpus against the list of rules.
func TestEveryRuleHasAFile(t *testing.T) {
	for _, rule := range definition.Rules() {
		folder := map[signpost.Severity]string{signpost.SeverityError: "err", signpost.SeverityWarning: "warn"}[rule.Severity]
		if matches, _ := filepath.Glob(filepath.Join(repo, "testdata", folder, rule.Name+".*")); len(matches) == 0 {
			t.Errorf("testdata/%s has no file for %s", folder, rule.Name)
		}
	}
}
