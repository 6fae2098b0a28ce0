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
