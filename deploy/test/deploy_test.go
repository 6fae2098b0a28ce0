// Package deploy tests the files in deploy, as far as that is possible without a container engine, a cluster, or
// systemd as init. It is a separate module, to keep the Kubernetes types out of the main one.
package deploy

import (
	"fmt"
	"net/http"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"signpost/internal/testkit"
)

const (
	deployDir = ".."
	repoDir   = "../.."
)

func readFile(t *testing.T, elem ...string) string {
	t.Helper()
	return testkit.Read(t, filepath.Join(elem...))
}

// replace replaces a text in a file of deploy, which must contain it.
func replace(t *testing.T, text, old, new string) string {
	t.Helper()
	if !strings.Contains(text, old) {
		t.Fatalf("no %q to replace in:\n%s", old, text)
	}
	return strings.ReplaceAll(text, old, new)
}

func port(address string) string { return fmt.Sprint(netip.MustParseAddrPort(address).Port()) }

// feeds is a definition with one endpoint of the given name.
func feeds(name string) string {
	return "versions:\n  v1:\n    endpoints:\n      https://{{host}}/v1/feeds: {name: " + name + ", method: get, mime_type: application/json}\n"
}

// manifest returns the manifest of feeds.
func manifest(host, name string) string {
	return `{"endpoints":{"https://` + host + `/v1/feeds":{"name":"` + name + `","method":"get","mime_type":"application/json","context_obj":[]}}}`
}

const manifestPath = "/v1/endpoints-manifest"

// startSignpost starts signpost serve on free addresses.
func startSignpost(t *testing.T, env []string, args ...string) (listen, admin string) {
	t.Helper()
	listen, admin = testkit.FreeAddress(t), testkit.FreeAddress(t)
	cmd := exec.Command(testkit.Program(t, "signpost"), append([]string{"serve"}, args...)...)
	cmd.Env = slices.DeleteFunc(os.Environ(), func(v string) bool { return strings.HasPrefix(v, "SIGNPOST_") })
	cmd.Env = append(cmd.Env, append(env, "SIGNPOST_LISTEN="+listen, "SIGNPOST_ADMIN_LISTEN="+admin)...)
	testkit.Start(t, admin, cmd)
	testkit.Eventually(t, "signpost is ready", func() bool {
		status, _ := get(t, "http://"+admin+"/readyz")
		return status == http.StatusOK
	})
	return listen, admin
}

// get sends a request and returns the status and body of the response.
func get(t *testing.T, url string, header ...string) (status int, body string) {
	t.Helper()
	res, body := testkit.Get(t, nil, url, header...)
	return res.StatusCode, strings.TrimSuffix(body, "\n")
}

// serveHelp returns the help of signpost serve, which rejects flags that it does not know.
func serveHelp(t *testing.T, args ...string) string {
	t.Helper()
	out, err := exec.Command(testkit.Program(t, "signpost"), append(args, "--help")...).CombinedOutput()
	if err != nil || args[0] != "serve" {
		t.Fatalf("signpost %q: %v\n%s", args, err, out)
	}
	return string(out)
}

// asFlags turns SIGNPOST_ variables into flags.
func asFlags(variables map[string]string) (flags []string) {
	for name, value := range variables {
		flags = append(flags, "--"+strings.ToLower(strings.ReplaceAll(strings.TrimPrefix(name, "SIGNPOST_"), "_", "-"))+"="+value)
	}
	return flags
}

// flagValue returns the value of a flag written as --name=value, or its default.
func flagValue(t *testing.T, args []string, name string) string {
	t.Helper()
	for _, arg := range args {
		if value, ok := strings.CutPrefix(arg, name+"="); ok {
			return value
		}
	}
	if m := regexp.MustCompile(`(?m)^ +` + name + ` .*\(default ([^)]+)\)`).FindStringSubmatch(serveHelp(t, "serve")); m != nil {
		return m[1]
	}
	return ""
}

// checkShutdown checks that whoever kills Signpost waits until it has shut down.
func checkShutdown(t *testing.T, args []string, killedAfter time.Duration) {
	t.Helper()
	sum := time.Duration(0)
	for _, name := range []string{"--shutdown-delay", "--shutdown-timeout"} {
		if text := flagValue(t, args, name); text != "" {
			sum += testkit.Must(time.ParseDuration(text))(t)
		}
	}
	if sum == 0 || killedAfter <= sum {
		t.Errorf("killed after %v, but it takes up to %v to shut down", killedAfter, sum)
	}
}

// TestMemoryLimit: the unit and the Deployment have one figure, and leave the collector's limit to Signpost.
func TestMemoryLimit(t *testing.T) {
	for file, limit := range map[string]string{"systemd/signpost.service": "\nMemoryMax=512M\n", "kubernetes/base/deployment.yaml": "memory: 512Mi\n"} {
		if text := readFile(t, deployDir, file); !strings.Contains(text, limit) || strings.Contains(text, "GOMEMLIMIT") {
			t.Errorf("%s does not limit memory with %q alone", file, limit)
		}
	}
}
