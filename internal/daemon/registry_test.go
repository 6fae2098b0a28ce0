package daemon_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"signpost/internal/registrytest"
	"signpost/internal/testkit"
)

// TestRegistry serves from a registry. A tag that moves reaches the server, whose log names the artifact by the digest that
// push prints. Package source tests the rest.
func TestRegistry(t *testing.T) {
	t.Parallel()
	registry := registrytest.Start(t)
	target, dir := "oci://"+registry.Host+"/team/feeds:prod", t.TempDir()
	command := func(args ...string) *exec.Cmd {
		cmd := exec.Command("signpost", append(args, "--ca-file", registry.CAFile)...)
		cmd.Env = append(os.Environ(), "DOCKER_CONFIG="+registry.Config)
		return cmd
	}
	testkit.Write(t, filepath.Join(dir, "sport", "feeds.json"), service("/sport", "sport", 5))
	var digests []string
	push := func(name string) {
		t.Helper()
		testkit.Write(t, filepath.Join(dir, "feeds.json"), feeds(name, 5))
		out := testkit.Must(command("push", dir, target).Output())(t)
		_, digest, _ := strings.Cut(strings.TrimSpace(string(out)), "@")
		digests = append(digests, digest)
	}
	push("one")
	p := startCommand(t, command(serveArgs([]string{target, "--poll-interval", "50ms"})...))
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

	waitFor(t, "the log of the last change", func() bool { return len(p.logged("source read")) >= 2 })
	var versions []string
	for _, line := range p.logged("source read") {
		versions = append(versions, line["version"].(string))
	}
	testkit.Equal(t, "versions in the log", versions, digests)
	if strings.Contains(p.log.String(), registrytest.Password) {
		t.Error("the password is in the log")
	}
}

// TestRegistryRestart starts again while one of two definitions is bad: with a feature that push does not know about, two
// keys are sent under one name. Its last good version comes from the cache.
func TestRegistryRestart(t *testing.T) {
	t.Parallel()
	registry := registrytest.Start(t)
	target, dir, cache := "oci://"+registry.PlainHost+"/team/feeds:prod", t.TempDir(), t.TempDir()
	command := func(args ...string) *exec.Cmd {
		cmd := exec.Command("signpost", args...)
		cmd.Env = append(os.Environ(), "DOCKER_CONFIG="+registry.Config)
		return cmd
	}
	start := func(name string) *process {
		t.Helper()
		text := strings.NewReplacer(`"versions"`, `"features": {"x": {"context_obj": [{"key": "a", "type": "ctx", "mapper": "bad"}]}}, "versions"`,
			`"method"`, `"context_obj": [{"key": "b", "type": "ctx", "mapper": "`+name+`"}], "method"`).Replace(feeds(name, 1))
		testkit.Write(t, filepath.Join(dir, "feeds.json"), text)
		testkit.Write(t, filepath.Join(dir, "sport.json"), service("/sport", name, 1))
		testkit.OK(t, command("push", dir, target).Run())
		return startCommand(t, command(serveArgs([]string{target, "--poll-interval", "50ms", "--definition-cache", cache, "--feature", "x"})...))
	}
	p := start("good")
	waitFor(t, "the first definitions in the cache", func() bool {
		kept, _ := filepath.Glob(filepath.Join(cache, "*.definition"))
		return len(kept) == 1
	})
	p.stop(t)
	p = start("bad")
	waitFor(t, "the other definition", func() bool { return p.serves(t, "/sport"+manifestV1, "bad") })
	if !p.serves(t, manifestV1, "good") {
		t.Error("the last good version is not served")
	}
}
