package daemon_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"signpost/internal/registrytest"
)

// registryCommand returns a signpost command with access to a registry.
func registryCommand(r *registrytest.Registry, command string, args ...string) *exec.Cmd {
	cmd := exec.Command("signpost", append([]string{command, "--ca-file", r.CAFile}, args...)...)
	cmd.Env = append(os.Environ(), "DOCKER_CONFIG="+r.Config)
	return cmd
}

// push publishes definitions and returns the output of push.
func push(t *testing.T, r *registrytest.Registry, args ...string) string {
	t.Helper()
	cmd := registryCommand(r, "push", args...)
	cmd.Dir = t.TempDir()
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(string(out))
}

// TestRegistryReplicas runs two replicas that serve from a registry. A tag that moves back and forth reaches both, and
// both keep serving while the registry is down.
func TestRegistryReplicas(t *testing.T) {
	t.Parallel()
	registry := registrytest.Start(t)
	target := "oci://" + registry.Host + "/team/feeds:prod"
	dir := t.TempDir()
	write(t, filepath.Join(dir, "feeds.json"), feeds("one", 5))
	write(t, filepath.Join(dir, "sport", "feeds.json"), service("/sport", "sport", 5))
	first := push(t, registry, dir, target)

	cache := filepath.Join(t.TempDir(), "cache")
	start := func() *process {
		t.Helper()
		return startCommand(t, registryCommand(registry, "serve", serveArgs([]string{target, "--poll-interval", "50ms", "--definition-cache", cache})[1:]...))
	}
	replicas := []*process{start(), start()}
	revisions := func() []string {
		var all []string
		for _, p := range replicas {
			all = append(all, p.get(t, manifestV1).Header.Get("Signpost-Revision"))
		}
		return all
	}
	everywhere := func(name string) {
		t.Helper()
		for _, p := range replicas {
			waitFor(t, name+" on every replica", func() bool { return p.serves(t, manifestV1, name) })
			if !p.serves(t, "/sport"+manifestV1, "sport") {
				t.Error("the other service has changed")
			}
		}
	}
	before := revisions()
	write(t, filepath.Join(dir, "feeds.json"), feeds("two", 5))
	second := push(t, registry, dir, target)
	everywhere("two")
	if after := revisions(); after[0] != after[1] || after[0] == before[0] || before[0] != before[1] {
		t.Errorf("the revisions are %q, then %q", before, after)
	}

	// Back to the first one, by its digest.
	if back := push(t, registry, first, target); back != first || back == second {
		t.Errorf("the same files have the digests %s and %s", first, back)
	}
	everywhere("one")
	if after := revisions(); !slices.Equal(before, after) {
		t.Errorf("after the rollback, the revisions are %q, want %q", after, before)
	}

	// The registry goes down, and comes back with a new artifact.
	registry.Stop()
	for _, p := range replicas {
		waitFor(t, "the registry in the log", func() bool { return failures(p, "fetch definition") > 0 })
	}
	everywhere("one")
	if p := start(); !p.serves(t, manifestV1, "one") || !p.serves(t, "/sport"+manifestV1, "sport") {
		t.Error("the cached copy is not served without the registry")
	}
	registry.Start()
	write(t, filepath.Join(dir, "feeds.json"), feeds("three", 5))
	third := push(t, registry, dir, target)
	everywhere("three")

	// The log names the artifact that is served by the digest that push prints.
	for _, p := range replicas {
		waitFor(t, "the log of the last change", func() bool { return len(p.logged("source read")) >= 4 })
		var versions []string
		for _, line := range p.logged("source read") {
			versions = append(versions, line["version"].(string))
		}
		digest := func(name string) string { _, d, _ := strings.Cut(name, "@"); return d }
		if want := []string{digest(first), digest(second), digest(first), digest(third)}; !slices.Equal(versions, want) {
			t.Errorf("the log has the versions %q, want %q", versions, want)
		}
	}
	for _, p := range replicas {
		if strings.Contains(p.log.String(), registrytest.Password) {
			t.Error("the password is in the log")
		}
	}
}
