package deploy

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"signpost/internal/testkit"
)

var systemdDir = filepath.Join(deployDir, "systemd")

// unit is a parsed unit file: the values of each setting, by name. An empty value resets the setting.
type unit map[string][]string

func (u unit) read(t *testing.T, path string) {
	t.Helper()
	for _, m := range regexp.MustCompile(`(?m)^([A-Za-z]+)=(.*)$`).FindAllStringSubmatch(readFile(t, path), -1) {
		u[m[1]] = append(u[m[1]], m[2])
		if m[2] == "" {
			u[m[1]] = nil
		}
	}
}

// get returns the last value, which is the effective one for a setting with a single value.
func (u unit) get(t *testing.T, key string) string {
	t.Helper()
	if len(u[key]) == 0 {
		t.Fatalf("the unit has no %s", key)
	}
	return u[key][len(u[key])-1]
}

// variables returns the variables in signpost.env, those in comments too if all is set.
func variables(t *testing.T, all bool) map[string]string {
	t.Helper()
	vars := make(map[string]string)
	for _, m := range regexp.MustCompile(`(?m)^(#?)(SIGNPOST_[A-Z_]+)=(.*)$`).FindAllStringSubmatch(readFile(t, systemdDir, "signpost.env"), -1) {
		if all || m[1] == "" {
			vars[m[2]] = m[3]
		}
	}
	if len(vars) == 0 {
		t.Fatal("signpost.env sets nothing")
	}
	return vars
}

// TestUnit compares the unit with the program that it starts.
func TestUnit(t *testing.T) {
	u := make(unit)
	u.read(t, filepath.Join(systemdDir, "signpost.service"))
	args := strings.Fields(u.get(t, "ExecStart"))[1:]
	serveHelp(t, slices.Concat(args, asFlags(variables(t, true)))...)
	state := "/var/lib/" + u.get(t, "StateDirectory") + "/"
	for name, value := range variables(t, true) {
		if strings.HasSuffix(name, "_CACHE") && !strings.HasPrefix(value, state) {
			t.Errorf("%s is %s, which is not in %s", name, value, state)
		}
	}
	args = append(args, asFlags(variables(t, false))...)
	checkShutdown(t, args, time.Duration(testkit.Must(strconv.Atoi(u.get(t, "TimeoutStopSec")))(t))*time.Second)
	files, _ := strconv.Atoi(u.get(t, "LimitNOFILE"))
	if most, err := strconv.Atoi(flagValue(t, args, "--max-connections")); err != nil || files <= most {
		t.Errorf("%d files for %d connections: %v", files, most, err)
	}
	for key, want := range map[string]string{
		"Restart": "on-failure", "Type": "notify", "RestartPreventExitStatus": "1 2", "ExecReload": "/bin/kill -HUP $MAINPID",
		"EnvironmentFile": "/etc/signpost/signpost.env",
	} {
		if got := u.get(t, key); got != want {
			t.Errorf("%s=%s, not %s", key, got, want)
		}
	}
	if len(u["CapabilityBoundingSet"]) > 0 || len(u["AmbientCapabilities"]) > 0 {
		t.Error("behind a proxy no capability is needed")
	}
	u.read(t, filepath.Join(systemdDir, "https.conf"))
	for _, key := range []string{"CapabilityBoundingSet", "AmbientCapabilities"} {
		if got := u[key]; !slices.Equal(got, []string{"CAP_NET_BIND_SERVICE"}) {
			t.Errorf("with https.conf, %s is %q", key, got)
		}
	}
}

// TestUnitEnvironment runs Signpost with signpost.env.
func TestUnitEnvironment(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	testkit.Write(t, filepath.Join(dir, "definitions", "feeds.yaml"), feeds("Feeds"))
	var env []string
	for name, value := range variables(t, false) {
		if !strings.HasSuffix(name, "_LISTEN") { // replaced by free addresses
			env = append(env, name+"="+strings.ReplaceAll(value, "/var/lib/signpost", dir))
		}
	}
	listen, _ := startSignpost(t, env, filepath.Join(dir, "definitions"))
	status, body := get(t, "http://"+listen+manifestPath, "Host", "feeds.example.com")
	if want := manifest("feeds.example.com", "Feeds"); status != 200 || body != want {
		t.Errorf("%d\n%s\nnot\n%s", status, body, want)
	}
	if status, _ := get(t, "http://"+listen+manifestPath, "Host", "evil.example"); status != 421 {
		t.Errorf("a host that is not allowed: %d", status)
	}
}

// maxExposure is the maximum exposure level in "systemd-analyze security", in tenths: 0 is least exposed, 100 most. The
// rest is the network, which the service needs, and the root directory of the machine.
var maxExposure = map[string]int{"": 15, "https.conf": 20}

// TestUnitAnalyzed checks the unit with systemd's own tool, with and without https.conf.
func TestUnitAnalyzed(t *testing.T) {
	analyze := testkit.Find(t, "systemd-analyze", "the systemd unit in deploy, with systemd's own tool")
	for dropIn, exposure := range maxExposure {
		t.Run("drop-in "+dropIn, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "signpost.service")
			// verify checks that the program exists
			testkit.Write(t, path, replace(t, readFile(t, systemdDir, "signpost.service"), "/usr/local/bin/signpost", testkit.Program(t, "signpost")))
			if dropIn != "" {
				testkit.Write(t, filepath.Join(path+".d", dropIn), readFile(t, systemdDir, dropIn))
			}
			for _, args := range [][]string{
				{"verify", "--man=no", path},
				{"security", "--no-pager", "--offline=yes", "--threshold=" + strconv.Itoa(exposure), path},
			} {
				cmd := exec.Command(analyze, args...)
				cmd.Env = append(os.Environ(), "SYSTEMD_COLORS=0", "SYSTEMD_PAGER=")
				out, err := cmd.CombinedOutput()
				if err != nil || args[0] == "verify" && strings.Contains(string(out), "signpost.service") {
					t.Errorf("systemd-analyze %s: %v\n%s", strings.Join(args, " "), err, out)
				}
			}
		})
	}
}

// TestInstall follows docs/operate.md in an empty root directory, and checks that the unit finds what it names.
func TestInstall(t *testing.T) {
	root := t.TempDir()
	for _, dir := range []string{"usr/local/bin", "etc/systemd/system"} { // exist on every machine
		testkit.OK(t, os.MkdirAll(filepath.Join(root, dir), 0o755))
	}
	definition := filepath.Join(t.TempDir(), "feeds.yaml")
	testkit.Write(t, definition, feeds("Feeds"))
	installs := regexp.MustCompile(`(?m)^install .*$`).FindAllString(readFile(t, repoDir, "docs", "operate.md"), -1)
	if len(installs) == 0 {
		t.Fatal("the page installs nothing")
	}
	for _, line := range installs {
		words := strings.Fields(line)
		for i, word := range words {
			switch {
			case strings.HasPrefix(word, "/"):
				words[i] = root + word
			case word == "signpost":
				words[i] = testkit.Program(t, "signpost")
			case word == "feeds.yaml":
				words[i] = definition
			}
		}
		cmd := exec.Command(words[0], words[1:]...)
		cmd.Dir = repoDir
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Errorf("%s: %v\n%s", line, err, out)
		}
	}
	u := make(unit)
	u.read(t, filepath.Join(root, "etc/systemd/system/signpost.service"))
	command := strings.Fields(u.get(t, "ExecStart"))
	for _, path := range []string{command[0], command[len(command)-1] + "/feeds.yaml", u.get(t, "EnvironmentFile")} {
		testkit.Must(os.Stat(filepath.Join(root, path)))(t) // the page installs what the unit names
	}
}
