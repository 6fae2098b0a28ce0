package signpost_test

import (
	"fmt"
	"maps"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

// mayImport lists the packages, one per line, and what each may import besides the standard library. A dot is this module.
const mayImport = `.: ./host ./internal/spell
./bench:
./bench/bare:
./client: golang.org/x/sync/errgroup . ./contextkeys ./host ./internal/foreign ./internal/httpurl ./internal/routes ./internal/spell ./internal/warnings ./match
./cmd/signpost: ./internal/cli
./contextkeys: .
./definition: . ./diff ./host ./internal/escape ./internal/fields ./internal/routes ./internal/served ./internal/spell ./internal/tree ./internal/warnings ./match
./diff: . ./internal/routes ./internal/served ./internal/spell ./internal/tree ./match
./docs:
./examples/diff: ./definition ./diff
./examples/embed: . ./server
./examples/express:
./examples/feedservice: . ./contextkeys ./server
./examples/lint: ./definition
./examples/sports:
./host: golang.org/x/net/idna
./internal/cli: github.com/santhosh-tekuri/jsonschema/v6 github.com/santhosh-tekuri/jsonschema/v6/kind github.com/spf13/cobra github.com/spf13/pflag golang.org/x/sys/unix . ./client ./definition ./diff ./docs ./host ./internal/daemon ./internal/escape ./internal/lsp ./internal/readfile ./internal/routes ./internal/foreign ./internal/httpurl ./internal/source ./internal/spell ./internal/tree ./match ./openapi ./server ./studio github.com/rogpeppe/go-internal/diff golang.org/x/term
./internal/daemon: github.com/prometheus/client_golang/prometheus github.com/prometheus/client_golang/prometheus/promauto github.com/prometheus/client_golang/prometheus/collectors github.com/prometheus/client_golang/prometheus/promhttp golang.org/x/crypto/acme golang.org/x/crypto/acme/autocert golang.org/x/sys/unix . ./definition ./host ./internal/readfile ./internal/routes ./internal/source ./internal/wire ./server
./internal/escape:
./internal/foreign: .
./internal/httpurl: ./host
./internal/fields: .
./internal/lsp: github.com/sourcegraph/jsonrpc2 . ./definition ./internal/fields ./internal/readfile ./internal/tree
./internal/readfile:
./internal/registrytest: golang.org/x/crypto/bcrypt ./internal/testkit
./internal/routes: .
./internal/source: golang.org/x/sync/errgroup github.com/fsnotify/fsnotify github.com/opencontainers/go-digest github.com/opencontainers/image-spec/specs-go github.com/opencontainers/image-spec/specs-go/v1 oras.land/oras-go/v2/content oras.land/oras-go/v2/errdef oras.land/oras-go/v2/registry oras.land/oras-go/v2/registry/remote oras.land/oras-go/v2/registry/remote/auth oras.land/oras-go/v2/registry/remote/credentials oras.land/oras-go/v2/registry/remote/errcode oras.land/oras-go/v2/registry/remote/retry . ./client ./definition ./diff ./host ./internal/foreign ./internal/httpurl ./internal/readfile ./internal/routes ./internal/served ./server
./internal/served: . ./host
./internal/spell:
./internal/testkit: github.com/google/go-cmp/cmp github.com/rogpeppe/go-internal/txtar
./internal/tree: go.yaml.in/yaml/v4 ./internal/spell
./internal/warnings: . ./host
./internal/wire:
./match: . ./internal/spell
./openapi: . ./internal/routes ./internal/spell ./internal/tree ./internal/warnings
./server: github.com/maypok86/otter/v2 golang.org/x/sync/semaphore . ./host ./internal/routes ./internal/wire
./studio: . ./client ./contextkeys ./definition ./diff ./host ./internal/foreign ./internal/httpurl ./internal/routes ./internal/source ./match`

// goList returns what each package of go list imports.
func goList(t *testing.T, args ...string) map[string][]string {
	t.Helper()
	out, err := exec.Command("go", append([]string{"list", "-f", `{{.ImportPath}}:{{range .Imports}} {{.}}{{end}}`}, args...)...).Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	all := make(map[string][]string)
	for line := range strings.Lines(string(out)) {
		name, imports, _ := strings.Cut(strings.TrimSpace(line), ":")
		all[name] = strings.Fields(imports)
	}
	return all
}

// TestImportRule enforces the layers: cmd, then internal/cli, then internal/daemon and studio, then internal/source, then
// definition, server and client, which do not import each other, then diff, match and the contract. See CONTRIBUTING.md.
func TestImportRule(t *testing.T) {
	allowed := make(map[string][]string)
	for line := range strings.Lines(mayImport) {
		name, imports, _ := strings.Cut(strings.TrimSpace(line), ":")
		allowed[name] = strings.Fields(imports)
	}
	for name, imports := range goList(t, "./...") {
		may, known := allowed[short(name)]
		if !known {
			t.Errorf("package %s is not in the list of this test: say there what it may import", name)
			continue
		}
		for _, path := range imports {
			first, _, _ := strings.Cut(path, "/")
			outside := first == "signpost" || strings.Contains(first, ".") // not the standard library
			if outside && !slices.Contains(may, short(path)) {
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
	page, err := os.ReadFile("CONTRIBUTING.md")
	if err != nil {
		t.Fatal(err)
	}
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
		if name != "signpost" && !strings.Contains(string(page), "| `"+dir+"/` |") {
			t.Errorf("CONTRIBUTING.md does not say what is in %s", dir)
		}
	}
	picture.WriteString("```\n")
	if !strings.Contains(string(page), picture.String()) {
		t.Errorf("the map in CONTRIBUTING.md is not this:\n%s", picture.String())
	}
}

// short returns the path of a package with a dot for this module.
func short(path string) string {
	if rest, ok := strings.CutPrefix(path, "signpost"); ok {
		return "." + rest
	}
	return path
}
