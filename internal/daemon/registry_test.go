package daemon_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"signpost/internal/registrytest"
	"signpost/internal/testkit"
)

// registryCommand returns a signpost command with access to a registry.
func registryCommand(r *registrytest.Registry, command string, args ...string) *exec.Cmd {
	cmd := exec.Command("signpost", append([]string{command, "--ca-file", r.CAFile}, args...)...)
	cmd.Env = append(os.Environ(), "DOCKER_CONFIG="+r.Config)
	return cmd
}

// TestRegistry serves from a registry. A tag that moves reaches the server, which keeps serving while the registry is down.
// Package source tests the rest.
func TestRegistry(t *testing.T) {
	t.Parallel()
	registry := registrytest.Start(t)
	target, dir, cache := "oci://"+registry.Host+"/team/feeds:prod", t.TempDir(), filepath.Join(t.TempDir(), "cache")
	testkit.Write(t, filepath.Join(dir, "sport", "feeds.json"), service("/sport", "sport", 5))
	var digests []string
	push := func(name string) {
		t.Helper()
		testkit.Write(t, filepath.Join(dir, "feeds.json"), feeds(name, 5))
		cmd := registryCommand(registry, "push", dir, target)
		cmd.Dir = t.TempDir()
		out := testkit.Must(cmd.Output())(t)
		_, digest, _ := strings.Cut(strings.TrimSpace(string(out)), "@")
		digests = append(digests, digest)
	}
	start := func() *process {
		t.Helper()
		return startCommand(t, registryCommand(registry, "serve", serveArgs([]string{target, "--poll-interval", "50ms", "--definition-cache", cache})[1:]...))
	}
	push("one")
	p := start()
	served := func(name string) {
		t.Helper()
		waitFor(t, name, func() bool { return p.serves(t, manifestV1, name) && p.serves(t, "/sport"+manifestV1, "sport") })
	}
	served("one")
	push("two")
	served("two")
	registry.Stop()
	waitFor(t, "the registry in the log", func() bool { return failures(p, "fetch definition") > 0 })
	served("two")
	if other := start(); !other.serves(t, manifestV1, "two") || !other.serves(t, "/sport"+manifestV1, "sport") {
		t.Error("the cached copy is not served without the registry")
	}
	registry.Start()
	push("three")
	served("three")

	// The log names the artifact that is served by the digest that push prints.
	waitFor(t, "the log of the last change", func() bool { return len(p.logged("source read")) >= 3 })
	var versions []string
	for _, line := range p.logged("source read") {
		versions = append(versions, line["version"].(string))
	}
	if !slices.Equal(versions, digests) {
		t.Errorf("the log has the versions %q, want %q", versions, digests)
	}
	if strings.Contains(p.log.String(), registrytest.Password) {
		t.Error("the password is in the log")
	}
}
