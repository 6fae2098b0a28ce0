package cli

import (
	"fmt"
	"go/constant"
	"go/token"
	"go/types"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"
)

// TestDocsLimits compares the limits and defaults that the docs repeat in prose with the constants in the code. The text
// of a page has %s in place of the value.
func TestDocsLimits(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		dir, constant string
		format        func(int64) string
		page, text    string
	}{
		{"server", "DefaultCacheBytes", size, "serve.md", "in up to %s of memory"},
		{"server", "DefaultCacheBytes", size, "hardening.md", "| cache of manifests rendered for a host | %s |"},
		{"server", "DefaultCacheBytes", size, "watch.md", "Size of the cache, of %s at most"},
		{"server", "DefaultInFlightBytes", size, "hardening.md", "| manifests being rendered, or sent without being in the cache | %s, or"},
		{"server", "DefaultInFlightWait", seconds, "hardening.md", "| how long such requests wait | %s |"},
		{"server", "DefaultInFlightWait", seconds, "serve.md", "503 with `Retry-After` after %s."},
		{"internal/daemon", "DefaultMaxConnections", number, "operate.md", "| `--max-connections` | `%s` |"},
		{"internal/daemon", "maxRequestsPerConn", number, "hardening.md", "| HTTP/2 streams per connection | %s |"},
		{"internal/daemon", "maxHTTP2", number, "hardening.md", "| open connections up to which new ones speak HTTP/2 | %s |"},
		{"internal/daemon", "DefaultPollInterval", seconds, "operate.md", "`--poll-interval` (%s by default)"},
		{"internal/source", "restTime", seconds, "operate.md", "been unchanged for %s,"},
		{"internal/source", "maxArtifact", size, "operate.md", "| an OCI registry | after `--poll-interval` | %s |"},
		{"client", "DefaultFollow", number, "check.md", "`--follow N` (%s by default)"},
		{"client", "maxProbes", number, "check.md", "calls at most %s get endpoints"},
		{"client", "maxFeed", size, "check.md", "at most %s of a feed are read"},
		{"studio", "fetchTimeout", seconds, "studio.md", "a timeout of %s"},
		{"studio", "maxManifest", size, "studio.md", "A manifest can be up to %s large"},
		{"client", "MaxAnswer", size, "studio.md", "the first %s is read"},
		{"studio", "maxPicture", size, "studio.md", "WebP and AVIF up to %s."},
		{"contextkeys", "MaxKeys", number, "contextkeys.md", "has more than %s keys"},
		{"contextkeys", "MaxCtx", size, "contextkeys.md", "`ctx` is longer than %s |"},
		{"contextkeys", "MaxBody", size, "contextkeys.md", "the body is longer than %s |"},
		{"internal/tree", "MaxSize", size, "definition.md", "| file size | %s |"},
		{"definition", "maxDepth", number, "definition.md", "| nesting | %s levels |"},
		{"definition", "maxManifest", size, "definition.md", "add to the manifests | %s |"},
		{"internal/tree", "MaxSize", size, "import.md", "can be up to %s\nlarge"},
		{"openapi", "maxValues", number, "import.md", "one parameter can have up to %s values"},
	} {
		page := readFile(t, filepath.Join(repo, "docs", test.page))
		value := constantIn(t, test.dir, test.constant)
		want := fmt.Sprintf(test.text, test.format(value))
		// Pages are wrapped, but tables are not.
		if !strings.Contains(page, want) && !strings.Contains(strings.Join(strings.Fields(page), " "), want) {
			t.Errorf("docs/%s does not say %q, which is %s in %s", test.page, want, test.constant, test.dir)
		}
	}
}

// constantIn returns the value of a constant of a package, exported or not.
func constantIn(t *testing.T, dir, name string) int64 {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(repo, dir, "*.go"))
	if err != nil {
		t.Fatal(err)
	}
	var m []string
	for _, file := range files {
		source := readFile(t, file)
		if !strings.Contains(source, name) {
			continue // the expression is slow
		}
		if found := regexp.MustCompile(`(?m)^(?:const |\t)` + name + ` *= ([^/\n]+)`).FindStringSubmatch(source); found != nil {
			m = found
		}
	}
	if m == nil {
		t.Errorf("%s has no constant %s", dir, name)
		return 0
	}
	text := strings.NewReplacer("time.Millisecond", "1000000", "time.Second", "1000000000", "time.Minute", "60000000000").Replace(m[1])
	value, err := types.Eval(token.NewFileSet(), nil, token.NoPos, strings.TrimSpace(text))
	if err != nil {
		t.Fatalf("%s in %s: %v", name, dir, err)
	}
	n, ok := constant.Int64Val(value.Value)
	if !ok {
		t.Fatalf("%s in %s is %s, not an integer", name, dir, value.Value)
	}
	return n
}

func size(n int64) string {
	if n < 1<<20 {
		return fmt.Sprintf("%d KiB", n>>10)
	}
	return fmt.Sprintf("%d MiB", n>>20)
}

func seconds(n int64) string {
	if d := time.Duration(n); d < time.Second {
		return fmt.Sprintf("%d ms", d.Milliseconds())
	}
	return fmt.Sprintf("%d s", n/int64(time.Second))
}

// number formats an integer as the docs do: with a comma in numbers of five digits and more.
func number(n int64) string {
	text := fmt.Sprint(n)
	if len(text) < 5 {
		return text
	}
	return text[:len(text)-3] + "," + text[len(text)-3:]
}
