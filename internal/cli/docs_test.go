package cli

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"signpost/internal/testkit"
)

// repo is the path to the root of the repository.
const repo = "../.."

// docsPages returns the pages of docs, and those at the root of the repository.
func docsPages(t *testing.T) []string {
	t.Helper()
	pages, err := filepath.Glob(filepath.Join(repo, "docs", "*.md"))
	if err != nil || len(pages) == 0 {
		t.Fatalf("no pages in docs: %v", err)
	}
	return append(pages, filepath.Join(repo, "README.md"), filepath.Join(repo, "CONTRIBUTING.md"), filepath.Join(repo, "SECURITY.md"))
}

// TestDocs runs what README and docs show, exactly as written. A fenced block is
//
//	console             commands after "$ " and their output; "…" stands for any text, on its own line for any lines
//	yaml feeds.yaml     a file for the following commands; likewise for json and other formats
//	go examples/x.go    the contents of that file in the repository
//
// and of blocks without a file name, only yaml and text are not checked any further. The commands of a page are typed
// into one shell: see terminal.
func TestDocs(t *testing.T) {
	if canIsolate() {
		t.Parallel() // every page has port 8080 to itself
	}
	for _, page := range docsPages(t) {
		t.Run(filepath.Base(page), func(t *testing.T) {
			text := testkit.Read(t, page)
			if canIsolate() {
				t.Parallel()
			}
			runPage(t, filepath.Base(page), text)
		})
	}
}

// buildsSomething finds pages whose commands need a clone of the repository.
var buildsSomething = regexp.MustCompile(`(?m)^\$ .*\b(go|make) `)

var fence = regexp.MustCompile("(?ms)^```([^\n]*)\n(.*?)^```$")

// buildPage is the page about building. On all others, go build and go run take what was built before the tests.
const buildPage = "README.md"

func runPage(t *testing.T, page, text string) {
	var term *terminal
	open := func() *terminal {
		if term == nil {
			if strings.Contains(text, "\n$ nginx ") {
				testkit.Find(t, "nginx", page)
			}
			term = newTerminal(t, buildsSomething.MatchString(text), page == buildPage)
		}
		return term
	}
	for _, block := range fence.FindAllStringSubmatch(text, -1) {
		language, file, _ := strings.Cut(block[1], " ")
		switch {
		case language == "console":
			for _, step := range strings.Split("\n"+block[2], "\n$ ")[1:] {
				command, want, _ := strings.Cut(step, "\n")
				open().run(t, command, strings.TrimSuffix(want, "\n"))
			}
		case language == "go":
			testkit.Equal(t, "page for "+file, block[2], testkit.Read(t, filepath.Join(repo, file)))
		case file != "":
			testkit.Write(t, filepath.Join(open().dir, file), block[2])
		case language != "text" && language != "yaml" && language != "mermaid": // the map of packages, which imports_test.go checks
			t.Errorf("a block of %q is not tested: name its file, or make it console", block[1])
		}
	}
}

// TestCommandsPage keeps docs/commands.md, the help of every command, in sync with the program.
func TestCommandsPage(t *testing.T) {
	t.Parallel()
	var page strings.Builder
	page.WriteString("# Commands\n\nThis page is what `signpost help COMMAND` prints, for each command.\n")
	root := (&CLI{LookupEnv: os.LookupEnv}).Command()
	root.InitDefaultHelpFlag()
	for _, cmd := range append([]*cobra.Command{root}, root.Commands()...) {
		out, _, code := runCLI(append([]string{"help"}, strings.Fields(strings.TrimPrefix(cmd.CommandPath(), "signpost"))...)...)
		testkit.Equal(t, cmd.CommandPath(), code, exitFine)
		fmt.Fprintf(&page, "\n## %s\n\n```text\n%s```\n", cmd.CommandPath(), out)
	}
	testkit.Golden(t, filepath.Join(repo, "docs", "commands.md"), page.String())
}

// TestDocsFlags checks every --flag and SIGNPOST_ variable in README and docs.
func TestDocsFlags(t *testing.T) {
	t.Parallel()
	known := map[string]bool{"--help": true, "--server-side": true, "--retry": true, "--retry-connrefused": true} // the latter is one of kubectl apply
	for _, cmd := range (&CLI{}).Command().Commands() {
		cmd.Flags().VisitAll(func(f *pflag.Flag) {
			known["--"+f.Name] = true
			if fromEnvironment(f) {
				known[envName(f.Name)] = true
			}
		})
	}
	for _, page := range docsPages(t) {
		text := testkit.Read(t, page)
		for _, name := range regexp.MustCompile(`--[a-z][a-z-]+|SIGNPOST_[A-Z_]+[A-Z]`).FindAllString(text, -1) {
			if !known[name] {
				t.Errorf("%s names %s, which no command has", filepath.Base(page), name)
			}
		}
	}
}

// TestDocsLinks checks every relative link in README and docs, including anchors, and that docs/README.md leads to every
// page.
func TestDocsLinks(t *testing.T) {
	t.Parallel()
	index := testkit.Read(t, filepath.Join(repo, "docs", "README.md"))
	for _, page := range docsPages(t) {
		text := testkit.Read(t, page)
		if name := filepath.Base(page); filepath.Base(filepath.Dir(page)) == "docs" && name != "README.md" && !strings.Contains(index, "]("+name+")") {
			t.Errorf("docs/README.md does not link to %s", name)
		}
		for _, link := range regexp.MustCompile(`\]\(([^)\s]+)\)`).FindAllStringSubmatch(fence.ReplaceAllString(text, ""), -1) {
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
				t.Errorf("%s links to %s, but there is no such heading", filepath.Base(page), link[1])
			}
		}
	}
}

// headings returns the anchors of a page, one per line.
func headings(page string) string {
	names := "\n"
	for _, h := range regexp.MustCompile(`(?m)^#+ (.*)$`).FindAllStringSubmatch(fence.ReplaceAllString(page, ""), -1) {
		name := strings.ToLower(strings.ReplaceAll(h[1], " ", "-"))
		names += regexp.MustCompile(`[^a-z0-9_-]`).ReplaceAllString(name, "") + "\n"
	}
	return names
}
