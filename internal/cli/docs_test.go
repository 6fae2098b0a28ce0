package cli

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// repo is the root of the repository, seen from this package.
const repo = "../.."

// TestDocs runs what README and docs show. A fenced block is
//
//	console             commands after "$ " and what they print; "…" stands for any text, a line of it for any lines
//	yaml feeds.yaml     a file, for the commands that follow; json and other formats likewise
//	go examples/x.go    the contents of that file of the repository
//
// and of blocks without a file name, only yaml and text need no more than to be there. The commands of a
// page run one after the other in one folder, with localhost:8080 at a port that is free.
func TestDocs(t *testing.T) {
	pages, err := filepath.Glob(filepath.Join(repo, "docs", "*.md"))
	if err != nil || len(pages) == 0 {
		t.Fatalf("no pages in docs: %v", err)
	}
	for _, page := range append(pages, filepath.Join(repo, "README.md"), filepath.Join(repo, "CONTRIBUTING.md")) {
		t.Run(filepath.Base(page), func(t *testing.T) {
			t.Parallel()
			text, err := os.ReadFile(page)
			if err != nil {
				t.Fatal(err)
			}
			runPage(t, string(text))
		})
	}
}

var fence = regexp.MustCompile("(?ms)^```([^\n]*)\n(.*?)^```$")

func runPage(t *testing.T, text string) {
	terminal := newTerminal(t)
	for _, block := range fence.FindAllStringSubmatch(text, -1) {
		language, file, _ := strings.Cut(block[1], " ")
		switch {
		case language == "console":
			for _, step := range strings.Split("\n"+block[2], "\n$ ")[1:] {
				command, want, _ := strings.Cut(step, "\n")
				terminal.run(t, command, strings.TrimSuffix(want, "\n"))
			}
		case language == "go":
			source, err := os.ReadFile(filepath.Join(repo, file))
			if err != nil {
				t.Errorf("a Go block names no file of the repository: %v", err)
			}
			if diff := cmp.Diff(string(source), block[2]); diff != "" {
				t.Errorf("%s is not what the page shows (-file +page):\n%s", file, diff)
			}
		case file != "":
			if err := os.WriteFile(filepath.Join(terminal.dir, file), []byte(block[2]), 0o644); err != nil {
				t.Fatal(err)
			}
		case language != "text" && language != "yaml":
			t.Errorf("a block of %q is not tested: name its file, or make it console", block[1])
		}
	}
}

// terminal runs the commands of a page with this test's binary as signpost.
type terminal struct {
	repo, dir, addr string
	env             []string
}

func newTerminal(t *testing.T) *terminal {
	t.Helper()
	addr, err := freeAddress()
	if err != nil {
		t.Fatal(err)
	}
	root, err := filepath.Abs(repo)
	if err != nil {
		t.Fatal(err)
	}
	// testscript.Main put a signpost command on the path.
	return &terminal{repo: root, dir: t.TempDir(), addr: addr, env: append(os.Environ(), "SIGNPOST_LISTEN="+addr)}
}

// run runs a command and compares what it prints. A command that ends in & stays until the test ends.
func (term *terminal) run(t *testing.T, command, want string) {
	t.Helper()
	shell, background := strings.CutSuffix(command, " &")
	shell = strings.ReplaceAll(shell, "localhost:8080", term.addr)
	shell = strings.ReplaceAll(shell, "go run ./cmd/signpost", "signpost")
	shell = strings.ReplaceAll(shell, "go build -o ", "go -C "+term.repo+" build -o "+term.dir+"/")
	if background {
		shell = "exec " + shell // so that the shell does not stand between it and the signal that ends it
	}
	cmd := exec.CommandContext(t.Context(), "bash", "-c", "exec 2>&1; "+shell)
	cmd.Dir, cmd.Env = term.dir, term.env
	var out output
	cmd.Stdout = &out
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	printed := func() string {
		text := strings.ReplaceAll(out.String(), "\r", "")
		return strings.ReplaceAll(strings.TrimSuffix(text, "\n"), term.addr, "localhost:8080")
	}
	if background {
		t.Cleanup(func() { cmd.Process.Signal(os.Interrupt); cmd.Wait() })
		for range 200 { // five seconds for a server to come up
			if matches(want, printed()) {
				return
			}
			time.Sleep(25 * time.Millisecond)
		}
	} else {
		cmd.Wait() // a finding has an exit code of its own: what is printed tells
	}
	if got := printed(); !matches(want, got) {
		t.Errorf("$ %s\nprints\n%s\nbut the page shows\n%s", command, got, want)
	}
}

// output is a buffer that can be read while a program writes to it.
type output struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (o *output) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.buf.Write(p)
}

func (o *output) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.buf.String()
}

// matches compares an output with what a page shows of it.
func matches(want, got string) bool {
	pattern := regexp.QuoteMeta(want)
	pattern = regexp.MustCompile(`(?m)^…$`).ReplaceAllString(pattern, `(?s:.*)`)
	pattern = strings.ReplaceAll(pattern, "…", ".*")
	return regexp.MustCompile(`\A` + pattern + `\z`).MatchString(got)
}

// TestCommandsPage keeps docs/commands.md, the help of every command, in step with the program.
func TestCommandsPage(t *testing.T) {
	var page strings.Builder
	page.WriteString("# Commands\n\nThis page is what `signpost help COMMAND` prints, for each command.\n")
	root := (&CLI{LookupEnv: os.LookupEnv}).rootCommand()
	root.InitDefaultHelpFlag()
	for _, cmd := range append([]*cobra.Command{root}, root.Commands()...) {
		out, _, code := runCLI("", append([]string{"help"}, strings.Fields(strings.TrimPrefix(cmd.CommandPath(), "signpost"))...)...)
		if code != exitFine {
			t.Fatalf("help for %s exits with %d", cmd.CommandPath(), code)
		}
		fmt.Fprintf(&page, "\n## %s\n\n```text\n%s```\n", cmd.CommandPath(), out)
	}
	path := filepath.Join(repo, "docs", "commands.md")
	if *update {
		if err := os.WriteFile(path, []byte(page.String()), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	have, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(have), page.String()); diff != "" {
		t.Errorf("docs/commands.md is not what the commands say; run go test -update ./internal/cli (-page +help):\n%s", diff)
	}
}

// TestDocsNameOnlyFlagsThatExist reads every --flag and SIGNPOST_ variable in README and docs.
func TestDocsNameOnlyFlagsThatExist(t *testing.T) {
	known := map[string]bool{"--help": true}
	for _, cmd := range (&CLI{}).rootCommand().Commands() {
		cmd.Flags().VisitAll(func(f *pflag.Flag) {
			known["--"+f.Name] = true
			known[envName(f.Name)] = true
		})
	}
	pages, _ := filepath.Glob(filepath.Join(repo, "docs", "*.md"))
	for _, page := range append(pages, filepath.Join(repo, "README.md")) {
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range regexp.MustCompile(`--[a-z][a-z-]+|SIGNPOST_[A-Z_]+[A-Z]`).FindAllString(string(text), -1) {
			if !known[name] {
				t.Errorf("%s names %s, which no command has", filepath.Base(page), name)
			}
		}
	}
}

// TestDocsLinks follows every relative link of README and docs, to a file and, in a page, to its heading.
func TestDocsLinks(t *testing.T) {
	pages, _ := filepath.Glob(filepath.Join(repo, "docs", "*.md"))
	for _, page := range append(pages, filepath.Join(repo, "README.md"), filepath.Join(repo, "CONTRIBUTING.md")) {
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		for _, link := range regexp.MustCompile(`\]\(([^)\s]+)\)`).FindAllStringSubmatch(fence.ReplaceAllString(string(text), ""), -1) {
			target, heading, _ := strings.Cut(link[1], "#")
			if strings.Contains(target, "://") {
				continue
			}
			path := filepath.Join(filepath.Dir(page), target)
			if target == "" {
				path = page
			}
			linked, err := os.ReadFile(path)
			if info, statErr := os.Stat(path); err != nil && (statErr != nil || !info.IsDir()) {
				t.Errorf("%s links to %s: %v", filepath.Base(page), link[1], err)
			}
			if heading != "" && !strings.Contains(headings(string(linked)), "\n"+heading+"\n") {
				t.Errorf("%s links to %s, and there is no such heading", filepath.Base(page), link[1])
			}
		}
	}
}

// headings returns the headings of a page as links name them, each on a line.
func headings(page string) string {
	names := "\n"
	for _, h := range regexp.MustCompile(`(?m)^#+ (.*)$`).FindAllStringSubmatch(fence.ReplaceAllString(page, ""), -1) {
		name := strings.ToLower(strings.ReplaceAll(h[1], " ", "-"))
		names += regexp.MustCompile(`[^a-z0-9_-]`).ReplaceAllString(name, "") + "\n"
	}
	return names
}
