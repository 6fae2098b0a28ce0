package signpost_test

import (
	"fmt"
	"maps"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"signpost/internal/testkit"
)

// layers lists the packages from top to bottom. Each imports only those of the layers below its own. Packages that are not
// listed are helpers, and import none of these but the contract and what is below it.
var layers = []string{
	"signpost/cmd/signpost", "signpost/internal/cli",
	"signpost/internal/daemon signpost/internal/lsp signpost/studio signpost/openapi signpost/internal/adopt",
	"signpost/internal/usage", "signpost/internal/workspace", "signpost/internal/source",
	"signpost/definition signpost/server signpost/client", "signpost/diff", "signpost/match",
	"signpost/contextkeys", "signpost", "signpost/host signpost/internal/tree",
}

// outside lists what packages import from other modules, by the beginnings of import paths. All others import none.
var outside = map[string]string{
	"client":                "golang.org/x/sync/",
	"host":                  "golang.org/x/net/idna",
	"internal/cli":          "github.com/rogpeppe/go-internal/diff github.com/santhosh-tekuri/jsonschema/ github.com/spf13/ golang.org/x/sys/ golang.org/x/term",
	"internal/daemon":       "github.com/prometheus/client_golang/ golang.org/x/crypto/acme golang.org/x/sync/ golang.org/x/sys/",
	"internal/lsp":          "github.com/sourcegraph/jsonrpc2",
	"internal/registrytest": "golang.org/x/crypto/bcrypt",
	"internal/source":       "github.com/fsnotify/fsnotify github.com/opencontainers/ golang.org/x/sync/ oras.land/oras-go/v2/",
	"internal/testkit":      "github.com/google/go-cmp/cmp github.com/rogpeppe/go-internal/txtar",
	"internal/workspace":    "golang.org/x/sync/",
	"internal/tree":         "go.yaml.in/yaml/v4",
	"server":                "github.com/maypok86/otter/v2 golang.org/x/sync/",
	"studio":                "github.com/rogpeppe/go-internal/diff",
}

// goList returns what each package of go list imports.
func goList(t *testing.T, args ...string) map[string][]string {
	t.Helper()
	out := testkit.Must(exec.Command("go", append([]string{"list", "-f", `{{.ImportPath}}:{{range .Imports}} {{.}}{{end}}`}, args...)...).Output())(t)
	all := make(map[string][]string)
	for line := range strings.Lines(string(out)) {
		name, imports, _ := strings.Cut(strings.TrimSpace(line), ":")
		all[name] = strings.Fields(imports)
	}
	return all
}

// TestImportRule enforces the layers: see CONTRIBUTING.md.
func TestImportRule(t *testing.T) {
	layer := func(name string) int {
		return slices.IndexFunc(layers, func(names string) bool { return slices.Contains(strings.Fields(names), name) })
	}
	contract := layer("signpost")
	for name, imports := range goList(t, "./...") {
		above := layer(name)
		if above < 0 && strings.HasPrefix(name, "signpost/internal/") {
			above = contract - 1
		}
		for _, path := range imports {
			first, _, _ := strings.Cut(path, "/")
			begins := func(allowed string) bool { return strings.HasPrefix(path, allowed) }
			switch below := layer(path); {
			case below >= 0 && below <= above:
				t.Errorf("%s imports %s, which is not below it", name, path)
			case strings.Contains(first, ".") && !slices.ContainsFunc(strings.Fields(outside[strings.TrimPrefix(name, "signpost/")]), begins):
				t.Errorf("%s imports %s", name, path)
			}
		}
	}

	// The contract is pure, and embedding the server pulls in nothing unexpected.
	for name, forbidden := range map[string][]string{
		"signpost":        {"os/exec", "net/http", "go.yaml.in/yaml/v4"},
		"signpost/server": {"go.yaml.in/yaml/v4", "github.com/spf13/cobra", "github.com/prometheus/client_golang/prometheus"},
	} {
		deps := goList(t, "-deps", name)
		for _, dep := range forbidden {
			if deps[dep] != nil {
				t.Errorf("%s depends on %s", name, dep)
			}
		}
	}
}

// TestAlone checks that the packages that make test runs without the race detector start no goroutine, nor do their tests.
func TestAlone(t *testing.T) {
	_, after, found := strings.Cut(testkit.Read(t, "Makefile"), "\nALONE = ")
	names, _, _ := strings.Cut(after, "\n\n")
	if !found {
		t.Fatal("the Makefile names no packages")
	}
	starts := regexp.MustCompile(`(?m)^\s*go \w|\.Parallel\(|\berrgroup\.|\.NewServer\(|\.NewTLSServer\(`)
	for _, dir := range strings.Fields(strings.ReplaceAll(names, "\\\n", " ")) {
		files := testkit.Must(filepath.Glob(filepath.Join(dir, "*.go")))(t)
		if len(files) == 0 {
			t.Errorf("there is no package %s", dir)
		}
		for _, file := range files {
			if found := starts.FindString(testkit.Read(t, file)); found != "" {
				t.Errorf("%s has %q: take its package out of ALONE in the Makefile, so that the race detector sees it", file, strings.TrimSpace(found))
			}
		}
	}
}

// TestPackageMap keeps the map and the table in CONTRIBUTING.md in sync with go list. An arrow points from a package to one
// that it imports; arrows implied by others are left out.
func TestPackageMap(t *testing.T) {
	imports := goList(t, "-deps", "./cmd/signpost")
	maps.DeleteFunc(imports, func(name string, _ []string) bool { return name != "signpost" && !strings.HasPrefix(name, "signpost/") })
	var reaches func(from, to string) bool // directly or through others
	reaches = func(from, to string) bool {
		return slices.ContainsFunc(imports[from], func(next string) bool { return next == to || reaches(next, to) })
	}
	node := func(name string) string { return strings.ReplaceAll(strings.TrimPrefix(name, "signpost/"), "/", "_") }
	page := testkit.Read(t, "CONTRIBUTING.md")
	var picture strings.Builder
	picture.WriteString("```mermaid\ngraph TD\n")
	for _, name := range slices.Sorted(maps.Keys(imports)) {
		var arrows []string
		for _, path := range imports[name] {
			implied := slices.ContainsFunc(imports[name], func(other string) bool { return reaches(other, path) })
			if imports[path] != nil && !implied {
				arrows = append(arrows, node(path))
			}
		}
		dir := strings.TrimPrefix(name, "signpost/")
		fmt.Fprintf(&picture, "  %s[%q]", node(name), dir)
		if len(arrows) > 0 {
			fmt.Fprintf(&picture, " --> %s", strings.Join(arrows, " & "))
		}
		picture.WriteString("\n")
		if name != "signpost" && !strings.Contains(page, "| `"+dir+"/` |") {
			t.Errorf("CONTRIBUTING.md does not say what is in %s", dir)
		}
	}
	picture.WriteString("```\n")
	if !strings.Contains(page, picture.String()) {
		t.Errorf("the map in CONTRIBUTING.md is not this:\n%s", picture.String())
	}
}
