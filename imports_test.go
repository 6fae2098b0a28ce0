package signpost_test

import (
	"os/exec"
	"slices"
	"strings"
	"testing"
)

// TestImportRule enforces the layers: cmd, then internal/cli, then internal/daemon and studio, then internal/source,
// then definition, server and client, which do not import each other, then the contract. See CONTRIBUTING.md.
func TestImportRule(t *testing.T) {
	allowed := map[string][]string{
		"signpost":                   {"signpost/internal/hostname", "signpost/internal/spell"},
		"signpost/client":            {"signpost", "signpost/contextkeys", "signpost/host", "signpost/internal/routes", "signpost/internal/spell"},
		"signpost/contextkeys":       {"signpost"},
		"signpost/definition":        {"signpost", "signpost/host", "signpost/internal/fields", "signpost/internal/routes", "signpost/internal/spell", "signpost/internal/tree"},
		"signpost/docs":              {},
		"signpost/host":              {"signpost/internal/hostname", "golang.org/x/net/idna"},
		"signpost/internal/accepted": {"signpost", "signpost/internal/spell", "signpost/internal/tree"},
		"signpost/internal/fields":   {},
		"signpost/internal/hostname": {},
		"signpost/internal/readfile": {},
		"signpost/internal/routes":   {"signpost"},
		"signpost/internal/spell":    {},
		"signpost/internal/tree":     {"go.yaml.in/yaml/v4"},
		"signpost/internal/wire":     {},
		"signpost/openapi":           {"signpost", "signpost/internal/routes", "signpost/internal/spell", "signpost/internal/tree"},
		"signpost/server":            {"signpost", "signpost/host", "signpost/internal/routes", "signpost/internal/wire"},
		"signpost/studio":            {"signpost", "signpost/client", "signpost/contextkeys", "signpost/definition", "signpost/host", "signpost/internal/routes", "signpost/server"},
		"signpost/internal/source": {
			"signpost", "signpost/client", "signpost/definition", "signpost/host", "signpost/internal/readfile", "signpost/internal/routes", "signpost/server",
			"github.com/fsnotify/fsnotify",
			"github.com/opencontainers/go-digest", "github.com/opencontainers/image-spec/specs-go", "github.com/opencontainers/image-spec/specs-go/v1",
			"oras.land/oras-go/v2/content", "oras.land/oras-go/v2/errdef", "oras.land/oras-go/v2/registry", "oras.land/oras-go/v2/registry/remote",
			"oras.land/oras-go/v2/registry/remote/auth", "oras.land/oras-go/v2/registry/remote/credentials",
			"oras.land/oras-go/v2/registry/remote/errcode", "oras.land/oras-go/v2/registry/remote/retry",
		},
		"signpost/internal/registrytest": {"golang.org/x/crypto/bcrypt"},   // for tests only
		"signpost/internal/testkit":      {"github.com/google/go-cmp/cmp"}, // for tests only
		"signpost/internal/daemon": {
			"signpost", "signpost/definition", "signpost/host", "signpost/internal/readfile", "signpost/internal/routes", "signpost/internal/source", "signpost/internal/wire", "signpost/server",
			"golang.org/x/sys/unix",
			"github.com/prometheus/client_golang/prometheus",
			"github.com/prometheus/client_golang/prometheus/collectors",
			"github.com/prometheus/client_golang/prometheus/promhttp",
			"golang.org/x/crypto/acme", "golang.org/x/crypto/acme/autocert",
		},
		"signpost/internal/lsp": {
			"signpost", "signpost/definition", "signpost/internal/fields", "signpost/internal/source", "signpost/internal/tree",
			"github.com/sourcegraph/jsonrpc2",
		},
		"signpost/internal/cli": {
			"signpost", "signpost/docs", "signpost/client", "signpost/definition", "signpost/host", "signpost/internal/accepted", "signpost/internal/daemon", "signpost/internal/lsp", "signpost/internal/readfile", "signpost/internal/routes", "signpost/internal/source", "signpost/internal/spell", "signpost/internal/tree", "signpost/openapi",
			"signpost/server", "signpost/studio",
			"github.com/santhosh-tekuri/jsonschema/v6", "github.com/santhosh-tekuri/jsonschema/v6/kind",
			"github.com/spf13/cobra", "github.com/spf13/pflag", "golang.org/x/sys/unix",
		},
		"signpost/cmd/signpost":         {"signpost/internal/cli"},
		"signpost/internal/manpages":    {"signpost/internal/cli"}, // a program of the release build
		"signpost/bench":                {"signpost", "signpost/definition"},
		"signpost/bench/bare":           {},
		"signpost/bench/yaml":           {"go.yaml.in/yaml/v4"},
		"signpost/examples/sports":      {},
		"signpost/examples/embed":       {"signpost", "signpost/server"},
		"signpost/examples/feedservice": {"signpost", "signpost/contextkeys", "signpost/server"}, // and client in its tests
	}
	out, err := exec.Command("go", "list", "-f", `{{.ImportPath}}:{{range .Imports}} {{.}}{{end}}`, "./...").Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	for line := range strings.Lines(string(out)) {
		name, imports, _ := strings.Cut(strings.TrimSpace(line), ":")
		may, known := allowed[name]
		if !known {
			t.Errorf("package %s is not in the list of this test: say there what it may import", name)
			continue
		}
		for _, path := range strings.Fields(imports) {
			first, _, _ := strings.Cut(path, "/")
			outside := first == "signpost" || strings.Contains(first, ".") // not the standard library
			if outside && !slices.Contains(may, path) {
				t.Errorf("%s imports %s", name, path)
			}
		}
	}

	// The contract is pure, and embedding the server pulls in nothing unexpected.
	for name, forbidden := range map[string][]string{
		"signpost":        {"os/exec", "net/http", "go.yaml.in/yaml/v4", "golang.org/x/net/idna"},
		"signpost/server": {"go.yaml.in/yaml/v4", "github.com/spf13/cobra", "github.com/prometheus/client_golang/prometheus"},
	} {
		out, err := exec.Command("go", "list", "-deps", name).Output()
		if err != nil {
			t.Fatalf("go list: %v", err)
		}
		for dep := range strings.Lines(string(out)) {
			if slices.Contains(forbidden, strings.TrimSpace(dep)) {
				t.Errorf("%s depends on %s", name, dep)
			}
		}
	}
}
