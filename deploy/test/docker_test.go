package deploy

import (
	"debug/elf"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
)

// instruction is a line of the Dockerfile.
type instruction struct{ name, args string }

// dockerStages parses the Dockerfile into the instructions of each stage, starting with FROM.
func dockerStages(t *testing.T) [][]instruction {
	t.Helper()
	text := strings.ReplaceAll(readFile(t, deployDir, "Dockerfile"), "\\\n", " ")
	var stages [][]instruction
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		name, args, _ := strings.Cut(line, " ")
		if name == "FROM" {
			stages = append(stages, nil)
		}
		last := len(stages) - 1
		if last < 0 {
			t.Fatalf("%s before the first FROM", name)
		}
		stages[last] = append(stages[last], instruction{name, strings.TrimSpace(args)})
	}
	if len(stages) != 2 {
		t.Fatalf("the Dockerfile has %d stages, not a build and an image", len(stages))
	}
	return stages
}

// only returns the arguments of the only instruction with the name.
func only(t *testing.T, stage []instruction, name string) string {
	t.Helper()
	var found []string
	for _, in := range stage {
		if in.name == name {
			found = append(found, in.args)
		}
	}
	if len(found) != 1 {
		t.Fatalf("%d times %s, not once", len(found), name)
	}
	return found[0]
}

func execForm(t *testing.T, args string) []string {
	t.Helper()
	var words []string
	if err := json.Unmarshal([]byte(args), &words); err != nil {
		t.Fatalf("%s is not in exec form, which is all that works without a shell: %v", args, err)
	}
	return words
}

// TestDockerfile checks that the image contains nothing but a binary, certificates and licenses, and does not run as
// root.
func TestDockerfile(t *testing.T) {
	stages := dockerStages(t)
	build, image := stages[0], stages[1]

	base, _, _ := strings.Cut(only(t, build, "FROM"), " AS ")
	minimum := regexp.MustCompile(`(?m)^go (\d+\.\d+)`).FindStringSubmatch(readFile(t, repoDir, "go.mod"))[1]
	if base != "golang:"+minimum {
		t.Errorf("the build is on %s, but go.mod says Go %s", base, minimum)
	}
	for _, in := range build {
		if in.name != "COPY" {
			continue
		}
		words := strings.Fields(in.args)
		for _, source := range words[:len(words)-1] {
			if _, err := os.Stat(filepath.Join(repoDir, source)); err != nil {
				t.Errorf("COPY of what is not there: %v", err)
			}
		}
	}

	if got := only(t, image, "FROM"); got != "scratch" {
		t.Errorf("the image is on %s, not on scratch", got)
	}
	var files []string
	for _, in := range image {
		switch in.name {
		case "COPY":
			words := strings.Fields(in.args)
			if len(words) != 3 || words[0] != "--from=build" {
				t.Errorf("COPY %s is not one file from the build", in.args)
			}
			files = append(files, words[len(words)-1])
		case "ADD", "RUN", "VOLUME":
			t.Errorf("%s %s: the image has three files and no shell", in.name, in.args)
		}
	}
	slices.Sort(files)
	if want := []string{"/etc/ssl/certs/ca-certificates.crt", "/signpost", "/usr/share/licenses/signpost/THIRD_PARTY_LICENSES"}; !slices.Equal(files, want) {
		t.Errorf("the image holds %q, not %q", files, want)
	}
	for _, id := range strings.Split(only(t, image, "USER"), ":") {
		if n, err := strconv.Atoi(id); err != nil || n == 0 {
			t.Errorf("user or group %q is not a number other than 0", id)
		}
	}
	if got := execForm(t, only(t, image, "ENTRYPOINT")); !slices.Equal(got, []string{"/signpost"}) {
		t.Errorf("the entrypoint is %q", got)
	}
	args := execForm(t, only(t, image, "CMD"))
	checkServeArguments(t, args)
	var ports []string
	for _, flag := range []string{"--listen", "--admin-listen"} {
		ports = append(ports, strings.TrimPrefix(flagValue(t, args, flag), ":"))
	}
	if got := strings.Fields(only(t, image, "EXPOSE")); !slices.Equal(got, ports) {
		t.Errorf("it exposes %q and listens on %q", got, ports)
	}
}

// TestImage follows the Dockerfile as far as possible without a container engine: it builds the binary from the build
// context, puts the files of the image into an empty root, and runs the command there as the user of the image.
func TestImage(t *testing.T) {
	stages := dockerStages(t)
	build, image := stages[0], stages[1]
	source := t.TempDir()
	copyContext(t, source)

	binary := filepath.Join(t.TempDir(), "signpost")
	var command string
	for _, in := range build {
		if in.name == "RUN" && strings.Contains(in.args, "go build") {
			command = replace(t, in.args, "-o /signpost ", "-o "+binary+" ")
		}
	}
	cmd := exec.Command("sh", "-c", command)
	cmd.Dir, cmd.Env = source, append(os.Environ(), "GOWORK=off")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%s: %v\n%s", command, err, out)
	}
	checkStatic(t, binary)

	if os.Getuid() != 0 {
		skipLoudly(t, "only root can run the binary in a root of its own")
	}
	root := t.TempDir()
	if err := os.Chmod(root, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Link(binary, filepath.Join(root, "signpost")); err != nil {
		t.Fatal(err)
	}
	// The definition is served over https, so that the certificates are needed where the image has them.
	far := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprint(w, feeds("FromFar"))
	}))
	defer far.Close()
	writeFile(t, filepath.Join(root, "etc/ssl/certs/ca-certificates.crt"),
		string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: far.Certificate().Raw})))
	writeFile(t, filepath.Join(root, "definitions/near.yaml"), "base_path: /near\n"+feeds("Near"))

	listen, admin := freeAddress(t), freeAddress(t)
	args := append(execForm(t, only(t, image, "CMD")), far.URL)
	for i, arg := range args {
		args[i] = strings.NewReplacer("--listen=:8080", "--listen="+listen, "--admin-listen=:8081", "--admin-listen="+admin).Replace(arg)
	}
	user, group, _ := strings.Cut(only(t, image, "USER"), ":")
	uid, _ := strconv.Atoi(user)
	gid, _ := strconv.Atoi(group)
	run := &exec.Cmd{Path: "/signpost", Args: append([]string{"/signpost"}, args...), Dir: "/", Env: []string{"PATH=/"},
		SysProcAttr: &syscall.SysProcAttr{Chroot: root, Credential: &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}}}
	p := start(t, run)
	waitFor(t, admin, p)
	for path, want := range map[string]string{
		manifestPath:           manifest("feeds.example.com", "FromFar"),
		"/near" + manifestPath: manifest("feeds.example.com", "Near"),
	} {
		if _, got := get(t, "http://"+listen+path, "Host", "feeds.example.com"); got != want {
			t.Errorf("at %s in an empty root:\n%s\nnot\n%s", path, got, want)
		}
	}
}

// copyContext copies the build context: the repository without what Dockerfile.dockerignore excludes, and without .git,
// which only provides the version.
func copyContext(t *testing.T, to string) {
	t.Helper()
	ignored := map[string]bool{".git": true}
	for line := range strings.Lines(readFile(t, deployDir, "Dockerfile.dockerignore")) {
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		if strings.ContainsAny(line, "*?!/[") {
			t.Fatalf("%q: this test knows names at the top alone", line)
		}
		ignored[line] = true
	}
	err := filepath.WalkDir(repoDir, func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		relative, err := filepath.Rel(repoDir, name)
		if err != nil {
			return err
		}
		switch {
		case ignored[relative]:
			if d.IsDir() {
				return filepath.SkipDir
			}
			return nil
		case d.IsDir() || !d.Type().IsRegular():
			return os.MkdirAll(filepath.Join(to, relative), 0o755)
		}
		text, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		return os.WriteFile(filepath.Join(to, relative), text, 0o644)
	})
	if err != nil {
		t.Fatal(err)
	}
}

// checkStatic reports what a binary needs from the system.
func checkStatic(t *testing.T, binary string) {
	t.Helper()
	f, err := elf.Open(binary)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for _, p := range f.Progs {
		if p.Type == elf.PT_INTERP {
			t.Errorf("%s wants a program interpreter: it is not static", path.Base(binary))
		}
	}
	if libs, err := f.DynString(elf.DT_NEEDED); err == nil && len(libs) > 0 {
		t.Errorf("%s wants %q: it is not static", path.Base(binary), libs)
	}
}
