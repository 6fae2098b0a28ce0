package deploy

import (
	"bufio"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

// unit is a parsed unit file: the values of each setting, by section and name. An empty value resets the setting.
type unit map[string][]string

func (u unit) read(t *testing.T, path string) {
	t.Helper()
	section := ""
	for line := range strings.Lines(readFile(t, path)) {
		line = strings.TrimSpace(line)
		switch {
		case line == "" || line[0] == '#' || line[0] == ';':
		case line[0] == '[':
			section = strings.Trim(line, "[]")
		default:
			name, value, ok := strings.Cut(line, "=")
			if !ok || section == "" {
				t.Fatalf("%s: %q is not a setting in a section", path, line)
			}
			key := section + "." + name
			u[key] = append(u[key], value)
			if value == "" {
				u[key] = []string{}
			}
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

var systemdDir = filepath.Join(deployDir, "systemd")

// TestUnit compares the unit with the program that it starts.
func TestUnit(t *testing.T) {
	u := make(unit)
	u.read(t, filepath.Join(systemdDir, "signpost.service"))

	command := strings.Fields(u.get(t, "Service.ExecStart"))
	checkServeArguments(t, command[1:])
	vars := environmentFile(t)
	args := append(command[1:], variableFlags(vars)...)
	stop, err := strconv.Atoi(u.get(t, "Service.TimeoutStopSec"))
	if err != nil {
		t.Fatal(err)
	}
	if delay, timeout := flagDuration(t, args, "--shutdown-delay"), flagDuration(t, args, "--shutdown-timeout"); time.Duration(stop)*time.Second <= delay+timeout {
		t.Errorf("killed after %d s, but it takes up to %v and %v to shut down", stop, delay, timeout)
	}
	connections := regexp.MustCompile(`\(default (\d+)\)`).FindStringSubmatch(serveFlags(t)["--max-connections"])
	files, _ := strconv.Atoi(u.get(t, "Service.LimitNOFILE"))
	if most, _ := strconv.Atoi(connections[1]); files <= most {
		t.Errorf("%d files for %d connections", files, most)
	}

	for key, want := range map[string]string{
		"Service.DynamicUser":              "yes",
		"Service.NoNewPrivileges":          "yes",
		"Service.ProtectSystem":            "strict",
		"Service.Restart":                  "on-failure",
		"Service.Type":                     "notify",
		"Service.RestartPreventExitStatus": "1 2",
		"Service.ExecReload":               "/bin/kill -HUP $MAINPID",
		"Service.EnvironmentFile":          "/etc/signpost/signpost.env",
		"Service.MemoryDenyWriteExecute":   "yes",
	} {
		if got := u.get(t, key); got != want {
			t.Errorf("%s=%s, not %s", key, got, want)
		}
	}
	if len(u["Service.CapabilityBoundingSet"]) > 0 || len(u["Service.AmbientCapabilities"]) > 0 {
		t.Error("behind a proxy no capability is needed")
	}

	// Everything it writes is in the directory that the unit creates. Signpost creates subdirectories itself.
	state := "/var/lib/" + u.get(t, "Service.StateDirectory") + "/"
	for name, value := range allVariables(t) {
		if strings.HasSuffix(name, "_CACHE") && !strings.HasPrefix(value, state) {
			t.Errorf("%s is %s, which is not in %s", name, value, state)
		}
	}

	u.read(t, filepath.Join(systemdDir, "https.conf"))
	for _, key := range []string{"Service.CapabilityBoundingSet", "Service.AmbientCapabilities"} {
		if got := u[key]; !slices.Equal(got, []string{"CAP_NET_BIND_SERVICE"}) {
			t.Errorf("with https.conf, %s is %q", key, got)
		}
	}
	if u.get(t, "Service.PrivateUsers") != "no" {
		t.Error("in a user namespace CAP_NET_BIND_SERVICE has no effect on the ports of the machine")
	}
}

// environmentFile returns the variables that are set in signpost.env. Those in comments must exist as well.
func environmentFile(t *testing.T) map[string]string {
	t.Helper()
	vars := make(map[string]string)
	in := bufio.NewScanner(strings.NewReader(readFile(t, systemdDir, "signpost.env")))
	for in.Scan() {
		line := in.Text()
		if name, value, ok := strings.Cut(strings.TrimPrefix(line, "#"), "="); ok && strings.HasPrefix(name, "SIGNPOST_") {
			checkServeVariable(t, name)
			if !strings.HasPrefix(line, "#") {
				vars[name] = value
			}
		}
	}
	if len(vars) == 0 {
		t.Fatal("signpost.env sets nothing")
	}
	return vars
}

// allVariables returns all variables in signpost.env, including those in comments.
func allVariables(t *testing.T) map[string]string {
	t.Helper()
	vars := make(map[string]string)
	for _, m := range regexp.MustCompile(`(?m)^#?(SIGNPOST_[A-Z_]+)=(.*)$`).FindAllStringSubmatch(readFile(t, systemdDir, "signpost.env"), -1) {
		vars[m[1]] = m[2]
	}
	return vars
}

// variableFlags converts variables to flags.
func variableFlags(vars map[string]string) []string {
	var flags []string
	for name, value := range vars {
		flags = append(flags, "--"+strings.ToLower(strings.ReplaceAll(strings.TrimPrefix(name, "SIGNPOST_"), "_", "-"))+"="+value)
	}
	return flags
}

// TestUnitEnvironment runs Signpost with signpost.env: the host comes from the proxy on the same machine.
func TestUnitEnvironment(t *testing.T) {
	dir := t.TempDir()
	writeFile(t, filepath.Join(dir, "definitions", "feeds.yaml"), feeds("Feeds"))
	var env []string
	for name, value := range environmentFile(t) {
		if strings.HasSuffix(name, "_LISTEN") {
			continue // replaced by free addresses
		}
		env = append(env, name+"="+strings.ReplaceAll(value, "/var/lib/signpost", dir))
	}
	listen, _, _ := startSignpost(t, env, filepath.Join(dir, "definitions"))
	status, body := get(t, "http://"+listen+manifestPath, "X-Forwarded-Host", "feeds.example.com")
	if want := manifest("feeds.example.com", "Feeds"); status != 200 || body != want {
		t.Errorf("%d\n%s\nnot\n%s", status, body, want)
	}
	if status, _ := get(t, "http://"+listen+manifestPath, "X-Forwarded-Host", "evil.example"); status != 421 {
		t.Errorf("a host that is not allowed: %d", status)
	}
}

// maxExposure is the maximum exposure level in "systemd-analyze security", in tenths: 0 is least exposed, 100 most. The
// rest is the network, which the service needs, and the root directory of the machine.
var maxExposure = map[string]int{"behind a proxy": 15, "https": 20}

// TestUnitAnalyzed checks the unit with systemd's own tool, with and without https.conf.
func TestUnitAnalyzed(t *testing.T) {
	analyze := program(t, "systemd-analyze")
	for name, dropIn := range map[string]string{"behind a proxy": "", "https": "https.conf"} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			path := filepath.Join(dir, "signpost.service")
			// verify checks that the program exists
			writeFile(t, path, replace(t, readFile(t, systemdDir, "signpost.service"), "/usr/local/bin/signpost", signpostBinary))
			if dropIn != "" {
				writeFile(t, filepath.Join(path+".d", dropIn), readFile(t, systemdDir, dropIn))
			}
			run := func(args ...string) {
				t.Helper()
				cmd := exec.Command(analyze, args...)
				cmd.Env = append(os.Environ(), "SYSTEMD_COLORS=0", "SYSTEMD_PAGER=")
				out, err := cmd.CombinedOutput()
				if text := string(out); err != nil || args[0] == "verify" && strings.Contains(text, "signpost.service") {
					t.Errorf("systemd-analyze %s: %v\n%s", strings.Join(args, " "), err, text)
				}
			}
			run("verify", "--man=no", path)
			run("security", "--no-pager", "--offline=yes", "--threshold="+strconv.Itoa(maxExposure[name]), path)
		})
	}
}
