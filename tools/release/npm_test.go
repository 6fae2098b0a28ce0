package main

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"

	"signpost/internal/testkit"
)

// npmProject is a Node project with the npm packages of the release, installed by npm from their files and without a
// registry.
type npmProject struct {
	t        *testing.T
	dir, npm string
}

// command runs a command in the project, npm's own directories included.
func (p npmProject) command(name string, args ...string) *exec.Cmd {
	cmd := exec.Command(name, args...)
	cmd.Dir = p.dir
	cmd.Env = append(os.Environ(), "npm_config_cache="+filepath.Join(p.dir, "cache"), "npm_config_offline=true",
		"npm_config_update_notifier=false", "npm_config_loglevel=error")
	return cmd
}

func (p npmProject) run(want int, name string, args ...string) string {
	p.t.Helper()
	cmd := p.command(name, args...)
	out, err := cmd.CombinedOutput()
	if cmd.ProcessState == nil || cmd.ProcessState.ExitCode() != want {
		p.t.Fatalf("%s: %v\n%s", cmd, err, out)
	}
	return string(out)
}

func newNPMProject(t *testing.T) npmProject {
	t.Helper()
	onLinux(t)
	p := npmProject{t: t, dir: t.TempDir(), npm: testkit.Find(t, "npm", "the npm packages")}
	testkit.Write(t, filepath.Join(p.dir, "package.json"), `{"name":"feeds","private":true}`)
	return p
}

// TestNPM installs the packages as a Node team would, and runs Signpost as one: from the project, with its exit status
// and its streams, ended by a signal to npm's launcher.
func TestNPM(t *testing.T) {
	p := newNPMProject(t)
	p.run(0, p.npm, "install", "--save-dev", one(t, "*_npm.tgz"), one(t, "*_npm_linux_*.tgz"))
	var pkg struct{ DevDependencies map[string]string }
	testkit.OK(t, json.Unmarshal([]byte(testkit.Read(t, filepath.Join(p.dir, "package.json"))), &pkg))
	if len(pkg.DevDependencies) != 2 || pkg.DevDependencies[testNPMName] == "" {
		t.Errorf("installed: %v", pkg.DevDependencies)
	}
	checkVersion(t, p.command("npx", "signpost", "version"))
	p.run(0, p.npm, "ci")
	testkit.Write(t, filepath.Join(p.dir, "feeds.yaml"),
		"versions: {v1: {endpoints: {'https://{{host}}/v1/shows': {name: Shows, method: GET, mime_type: application/json}}}}\n")
	if out := p.run(1, "npx", "signpost", "lint"); !strings.Contains(out, `method "GET" is not "get" or "post"`) {
		t.Errorf("npx signpost lint prints:\n%s", out)
	}
	p.run(2, "npx", "signpost", "lint", "--unknown")
	render := p.command("npx", "signpost", "render", "-", "--keep-host", "--compact")
	render.Stdin = strings.NewReader(strings.ReplaceAll(testkit.Read(t, filepath.Join(p.dir, "feeds.yaml")), "GET", "get"))
	if out, err := render.Output(); err != nil || !strings.HasPrefix(string(out), `{"endpoints":{"https://{{host}}/v1/shows":`) {
		t.Errorf("npx signpost render: %v\n%s", err, out)
	}
	address := testkit.FreeAddress(t)
	launcher := filepath.Join(p.dir, "node_modules/.bin/signpost")
	server := testkit.Start(t, address, p.command(launcher, "serve", "--listen", address, "--admin-listen", "127.0.0.1:0"))
	testkit.OK(t, server.Process.Signal(syscall.SIGTERM))
	if <-server.Done; !server.ProcessState.Success() || !strings.Contains(server.Log.String(), "shutting down") {
		t.Errorf("after SIGTERM: %v\n%s", server.ProcessState, server.Log.String())
	}
}

// TestNPMWithoutPlatform: what is missing is said, with the exit status for what could not do its work.
func TestNPMWithoutPlatform(t *testing.T) {
	p := newNPMProject(t)
	p.run(0, p.npm, "install", "--save-dev", "--omit=optional", one(t, "*_npm.tgz"))
	want := "signpost: " + testNPMName + "-linux-" + npmCPU[runtime.GOARCH] + " is not installed: "
	if out := p.run(3, "npx", "signpost", "version"); !strings.HasPrefix(out, want) {
		t.Errorf("got %q, want %q", out, want)
	}
}

// TestNPMPackages: no package runs a script when it is installed, and each knows its platform.
func TestNPMPackages(t *testing.T) {
	for _, p := range []string{one(t, "*_npm.tgz"), one(t, "*_npm_linux_*.tgz")} {
		text := testkit.Must(exec.Command("tar", "-xzOf", p, "package/package.json").Output())(t)
		var pkg map[string]any
		testkit.OK(t, json.Unmarshal(text, &pkg))
		if pkg["scripts"] != nil || pkg["version"] != testNumber || pkg["homepage"] != testOwner.homepage {
			t.Errorf("%s: %s", filepath.Base(p), text)
		}
	}
	for name, want := range map[string]bool{
		defaultNPMName: true, "signpost": true, "@a/b": true, "@a/b/c": false, "Signpost": false, "": false, "a b": false, ".a": false,
	} {
		if npmName.MatchString(name) != want {
			t.Errorf("%q is a name: %t, want %t", name, !want, want)
		}
	}
}
