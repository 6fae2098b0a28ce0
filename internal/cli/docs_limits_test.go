package cli

import (
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"signpost/internal/testkit"
)

// TestDocsLimits keeps the limits and defaults that the docs repeat in prose in sync with the constants in the code: if one
// of a pair changes, so must the other.
func TestDocsLimits(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ dir, constant, page, text string }{
		{"server", "DefaultCacheBytes = 16 << 20", "serve.md", "in up to 16 MiB of memory"},
		{"server", "DefaultCacheBytes = 16 << 20", "hardening.md", "| cache of manifests rendered for a host | 16 MiB |"},
		{"server", "DefaultCacheBytes = 16 << 20", "watch.md", "Size of the cache, of 16 MiB at most"},
		{"server", "DefaultInFlightBytes = 16 << 20", "hardening.md", "| manifests being rendered, or sent without being in the cache | 16 MiB, or"},
		{"server", "DefaultInFlightWait = 3 * time.Second", "hardening.md", "| how long such requests wait | 3 s |"},
		{"server", "DefaultInFlightWait = 3 * time.Second", "serve.md", "503 with `Retry-After` after 3 s."},
		{"internal/daemon", "DefaultMaxConnections = 1024", "operate.md", "| `--max-connections` | `1024` |"},
		{"internal/daemon", "maxRequestsPerConn = 8", "hardening.md", "| HTTP/2 streams per connection | 8 |"},
		{"internal/daemon", "maxHTTP2 = 128", "hardening.md", "| open connections up to which new ones speak HTTP/2 | 128 |"},
		{"internal/daemon", "DefaultPollInterval = 30 * time.Second", "operate.md", "`--poll-interval` (30 s by default)"},
		{"internal/source", "restTime = 100 * time.Millisecond", "operate.md", "been unchanged for 100 ms,"},
		{"internal/source", "maxArtifact = 256 << 20", "operate.md", "| an OCI registry | after `--poll-interval` | 256 MiB |"},
		{"client", "DefaultFollow = 20", "check.md", "`--follow N` (20 by default)"},
		{"client", "maxProbes = 1000", "check.md", "calls at most 1000 get endpoints"},
		{"client", "maxFeed = 4 << 20", "check.md", "at most 4 MiB of a feed are read"},
		{"studio", "fetchTimeout = 15 * time.Second", "studio.md", "a timeout of 15 s"},
		{"studio", "maxManifest = 16 << 20", "studio.md", "A manifest can be up to 16 MiB large"},
		{"client", "MaxAnswer = 1 << 20", "studio.md", "the first 1 MiB is read"},
		{"studio", "maxPicture = 8 << 20", "studio.md", "WebP and AVIF up to 8 MiB."},
		{"contextkeys", "MaxKeys = 256", "contextkeys.md", "beyond 256 keys, they are dropped"},
		{"contextkeys", "MaxCtx = 32 << 10", "contextkeys.md", "`ctx` is longer than 32 KiB |"},
		{"contextkeys", "MaxBody = 1 << 20", "contextkeys.md", "the body is longer than 1 MiB |"},
		{"internal/tree", "MaxSize = 64 << 20", "definition.md", "| file size | 64 MiB |"},
		{"internal/tree", "maxDepth = 1000", "definition.md", "| nesting | 1,000 levels |"},
		{"definition", "maxManifest = 32 << 20", "definition.md", "add to the manifests | 32 MiB |"},
		{"internal/tree", "MaxSize = 64 << 20", "import.md", "can be up to 64 MiB large"},
		{"openapi", "maxValues = 10_000", "import.md", "one parameter can have up to 10,000 values"},
	} {
		files := testkit.Must(filepath.Glob(filepath.Join(repo, test.dir, "*.go")))(t)
		source := ""
		for _, file := range files {
			source += testkit.Read(t, file)
		}
		if !regexp.MustCompile(`(?m)^(const |\t)` + strings.Replace(regexp.QuoteMeta(test.constant), " ", " +", 1) + `( |$)`).MatchString(source) {
			t.Errorf("%s no longer has %s: adapt docs/%s, which says %q", test.dir, test.constant, test.page, test.text)
		}
		if page := testkit.Read(t, filepath.Join(repo, "docs", test.page)); !strings.Contains(strings.Join(strings.Fields(page), " "), test.text) {
			t.Errorf("docs/%s does not say %q, but %s has %s", test.page, test.text, test.dir, test.constant)
		}
	}
}
