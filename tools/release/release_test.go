package main

import (
	"archive/tar"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"syscall"
	"testing"

	"github.com/sassoftware/go-rpmutils"

	"signpost/internal/testkit"
)

const (
	repoDir     = "../.."
	testVersion = "v1.2.3-rc.1"
	testNumber  = "1.2.3-rc.1"
	testNPMName = "@example/signpost"
)

var testOwner = owner{maintainer: "Feeds team <feeds@example.com>", homepage: "https://signpost.example", source: "https://git.example/signpost", license: "MIT"}

// built is the release for Linux on this architecture, which the tests examine. make release builds the others in the
// same way.
var built string

func TestMain(m *testing.M) {
	os.Exit(func() int {
		dir, err := os.MkdirTemp("", "signpost-release-test")
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
		defer os.RemoveAll(dir)
		built = filepath.Join(dir, "release")
		r := release{repo: repoDir, out: built, version: testVersion, npmName: testNPMName, owner: testOwner, log: io.Discard}
		if err := r.run([]string{"linux/" + runtime.GOARCH}); err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
		return m.Run()
	}())
}

// onLinux skips tests that run the binary on other systems.
func onLinux(t *testing.T) {
	t.Helper()
	if runtime.GOOS != "linux" {
		testkit.Missing(t, "Linux", "the packages and the image")
	}
}

func one(t *testing.T, pattern string) string {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(built, pattern))
	if err != nil || len(paths) != 1 {
		t.Fatalf("%s: %d files, not one", pattern, len(paths))
	}
	return paths[0]
}

// TestReproducible, for make soak, builds the same version from a copy of the source, in another directory and with other file dates.
// The result is the same.
func TestReproducible(t *testing.T) {
	if os.Getenv("SIGNPOST_SOAK_RELEASE") == "" {
		t.Skip("builds everything again; make soak does that")
	}
	out, err := exec.Command("git", "-C", repoDir, "ls-files", "-z", "--cached", "--others", "--exclude-standard").Output()
	if err != nil {
		t.Skip("there is no git repository to copy")
	}
	t.Setenv("SOURCE_DATE_EPOCH", fmt.Sprint(sourceDate(t)))
	dir := t.TempDir()
	for name := range strings.SplitSeq(strings.TrimSuffix(string(out), "\x00"), "\x00") {
		if _, err := os.Stat(filepath.Join(repoDir, name)); errors.Is(err, fs.ErrNotExist) {
			continue // removed, but still in the index
		}
		testkit.Write(t, filepath.Join(dir, name), testkit.Read(t, filepath.Join(repoDir, name)))
	}
	again := filepath.Join(t.TempDir(), "again")
	r := release{repo: dir, out: again, version: testVersion, npmName: testNPMName, owner: testOwner, log: t.Output()}
	testkit.OK(t, r.run([]string{"linux/" + runtime.GOARCH}))
	first, second := testkit.Read(t, filepath.Join(built, "SHA256SUMS")), testkit.Read(t, filepath.Join(again, "SHA256SUMS"))
	if first != second {
		t.Errorf("the same version gives different bytes:\n%s\n%s", first, second)
	}
}

func TestChecksums(t *testing.T) {
	cmd := exec.Command("sha256sum", "--strict", "-c", "SHA256SUMS")
	cmd.Dir = built
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("sha256sum: %v\n%s", err, out)
	}
	files := 0
	filepath.WalkDir(built, func(_ string, d fs.DirEntry, _ error) error {
		if !d.IsDir() {
			files++
		}
		return nil
	})
	if lines := strings.Count(testkit.Read(t, filepath.Join(built, "SHA256SUMS")), "\n"); lines != files-1 {
		t.Errorf("%d checksums for %d files", lines, files-1)
	}
}

func TestArchive(t *testing.T) {
	f := testkit.Must(os.Open(one(t, "*.tar.gz")))(t)
	defer f.Close()
	root := t.TempDir()
	untar(t, testkit.Must(gzip.NewReader(f))(t), root)
	dir := filepath.Join(root, "signpost_"+testNumber+"_linux_"+runtime.GOARCH)
	for name, want := range map[string]string{
		"completions/signpost.bash": "bash completion", "completions/_signpost": "#compdef signpost",
		"completions/signpost.fish": "fish completion", "completions/signpost.ps1": "powershell completion",
		"man/man1/signpost.1": testVersion, "man/man1/signpost-serve.1": ".SH OPTIONS",
		"README.md": "# Signpost", "CHANGELOG.md": "#", "THIRD_PARTY_LICENSES": "github.com/spf13/cobra",
	} {
		if !strings.Contains(strings.ReplaceAll(testkit.Read(t, filepath.Join(dir, name)), `\-`, "-"), want) {
			t.Errorf("%s does not contain %q", name, want)
		}
	}
	checkPages(t, dir, forUsers, func(name string) string { return filepath.Join(dir, name) })
	checkVersion(t, exec.Command(filepath.Join(dir, "signpost"), "version"))
}

// checkPages checks the documentation in a directory: every relative link leads to a file there, and every file that a
// page names and that is included is where path says.
func checkPages(t *testing.T, dir string, included func(name string) bool, path func(name string) string) {
	t.Helper()
	links, named := 0, 0
	top, _ := filepath.Glob(filepath.Join(dir, "*.md"))
	docs, _ := filepath.Glob(filepath.Join(dir, "docs/*.md"))
	for _, page := range append(top, docs...) {
		text := testkit.Read(t, page)
		for _, link := range regexp.MustCompile(`\]\(([^)#:]+)(?:#[^)]*)?\)`).FindAllStringSubmatch(text, -1) {
			links++
			if _, err := os.Stat(filepath.Join(filepath.Dir(page), filepath.FromSlash(link[1]))); err != nil {
				t.Errorf("%s links to a file that is missing: %v", filepath.Base(page), err)
			}
		}
		for _, name := range regexp.MustCompile(`(?m)(?:^|[^/\w-])((?:bench|cmd|deploy|docs|examples|internal|testdata|tools)/[\w./-]*\w)`).FindAllStringSubmatch(text, -1) {
			if !included(name[1]) {
				continue
			}
			named++
			if _, err := os.Stat(path(name[1])); err != nil {
				t.Errorf("%s names a file that is missing: %v", filepath.Base(page), err)
			}
		}
	}
	if links < 50 || named < 20 {
		t.Errorf("the pages in %s have %d links and name %d files", dir, links, named)
	}
}

// forUsers reports whether a file of the repository is for users, and so in archives and packages.
func forUsers(name string) bool {
	return (strings.HasPrefix(name, "deploy/") || strings.HasPrefix(name, "examples/")) && !strings.HasSuffix(name, "_test.go")
}

// checkPackagedPages checks the pages of a package that is installed in root.
func checkPackagedPages(t *testing.T, root string) {
	t.Helper()
	doc := filepath.Join(root, "usr/share/doc/signpost")
	checkPages(t, doc, forUsers, func(name string) string {
		_, below, _ := strings.Cut(name, "/")
		return filepath.Join(doc, "examples", below)
	})
	paths := regexp.MustCompile("(?m)^\\| `(/[^`]+)` \\|").FindAllStringSubmatch(testkit.Read(t, filepath.Join(doc, "docs/install.md")), -1)
	if len(paths) < 4 {
		t.Errorf("docs/install.md lists %d installed paths", len(paths))
	}
	for _, path := range paths {
		if _, err := os.Stat(filepath.Join(root, path[1])); err != nil {
			t.Errorf("docs/install.md lists a path that is not installed: %v", err)
		}
	}
}

// TestClone: the pages name files that are in a clone.
func TestClone(t *testing.T) {
	checkPages(t, repoDir, func(string) bool { return true }, func(name string) string { return filepath.Join(repoDir, name) })
}

func checkVersion(t *testing.T, cmd *exec.Cmd) {
	t.Helper()
	onLinux(t)
	out, err := cmd.CombinedOutput()
	if want := fmt.Sprintf("signpost %s %s linux/%s\n", testVersion, runtime.Version(), runtime.GOARCH); err != nil || string(out) != want {
		t.Errorf("signpost version prints %q, want %q: %v", out, want, err)
	}
}

// TestDeb installs the package into a separate root with dpkg, serves the example from there, and removes the package.
func TestDeb(t *testing.T) {
	onLinux(t)
	dpkg := testkit.Find(t, "dpkg", "the Debian package")
	root := t.TempDir()
	for _, dir := range []string{"info", "updates"} {
		testkit.OK(t, os.MkdirAll(filepath.Join(root, "var/lib/dpkg", dir), 0o755))
	}
	testkit.Write(t, filepath.Join(root, "var/lib/dpkg/status"), "")
	run := func(args ...string) string {
		t.Helper()
		args = append([]string{"--root=" + root, "--log=/dev/null", "--force-script-chrootless", "--force-not-root"}, args...)
		cmd := exec.Command(dpkg, args...)
		cmd.Env = append(os.Environ(), "LC_ALL=C", "PATH="+os.Getenv("PATH")+":/usr/sbin:/sbin") // ldconfig and start-stop-daemon
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("dpkg %q: %v\n%s", args, err, out)
		}
		return string(out)
	}
	run("--install", one(t, "*.deb"))
	if status := run("--status", "signpost"); !strings.Contains(status, "Status: install ok installed") || !strings.Contains(status, "Version: 1.2.3~rc.1") ||
		!strings.Contains(status, "Maintainer: "+testOwner.maintainer) || !strings.Contains(status, "Homepage: "+testOwner.homepage) ||
		!strings.Contains(status, "bash-completion") {
		t.Errorf("dpkg says:\n%s", status)
	}
	program := filepath.Join(root, "usr/bin/signpost")
	checkVersion(t, exec.Command(program, "version"))
	serveExample(t, exec.Command(program, "serve", "--listen=:8080", filepath.Join(root, "etc/signpost/definitions")))

	unit := testkit.Read(t, filepath.Join(root, "usr/lib/systemd/system/signpost.service"))
	if !strings.Contains(unit, "\nExecStart=/usr/bin/signpost serve /etc/signpost/definitions\n") || !strings.Contains(unit, "\nDynamicUser=yes\n") {
		t.Errorf("the unit does not run the installed program as a dynamic user:\n%s", unit)
	}
	checkPackagedPages(t, root)
	doc := filepath.Join(root, "usr/share/doc/signpost")
	if !strings.Contains(testkit.Read(t, filepath.Join(doc, "copyright")), "github.com/spf13/cobra") {
		t.Error("the licenses are not installed")
	}
	if testkit.Read(t, filepath.Join(doc, "examples/systemd/signpost.service")) != unit {
		t.Error("the unit among the examples is not the installed one")
	}
	state := filepath.Join(root, "var/lib/private/signpost")
	testkit.OK(t, errors.Join(os.MkdirAll(state, 0o700), os.Symlink("private/signpost", filepath.Join(root, "var/lib/signpost"))))
	example := filepath.Join(root, "etc/signpost/definitions/example.yaml")
	expect := func(when string, there map[string]bool) {
		t.Helper()
		for path, want := range there {
			if _, err := os.Lstat(path); (err == nil) != want {
				t.Errorf("%s is there after %s: %t", path, when, !want)
			}
		}
	}
	run("--remove", "signpost")
	expect("removal", map[string]bool{program: false, example: true, state: true})
	run("--purge", "signpost")
	expect("a purge", map[string]bool{filepath.Dir(example): false, state: false, filepath.Join(root, "var/lib/signpost"): false})
}

// serveExample starts a server, on other ports than the usual ones, fetches the manifest, and stops it.
func serveExample(t *testing.T, cmd *exec.Cmd) {
	t.Helper()
	address := testkit.FreeAddress(t)
	for i, arg := range cmd.Args {
		cmd.Args[i] = strings.ReplaceAll(strings.ReplaceAll(arg, "=:8080", "="+address), "=:8081", "=127.0.0.1:0")
	}
	p := testkit.Start(t, address, cmd)
	res, body := testkit.Get(t, nil, "http://"+address+"/v1/endpoints-manifest", "Host", "feeds.example.com")
	if res.StatusCode != http.StatusOK || !strings.Contains(body, `{"endpoints":{"https://feeds.example.com/v1/`) {
		t.Errorf("the manifest: %s\n%s", res.Status, body)
	}
	testkit.OK(t, cmd.Process.Signal(syscall.SIGTERM))
	if <-p.Done; !cmd.ProcessState.Success() {
		t.Errorf("it ended with %v", cmd.ProcessState)
	}
}

// TestRPM reads the package with a different library than the one that wrote it.
func TestRPM(t *testing.T) {
	f := testkit.Must(os.Open(one(t, "*.rpm")))(t)
	defer f.Close()
	pkg := testkit.Must(rpmutils.ReadRpm(f))(t)
	nevra := testkit.Must(pkg.Header.GetNEVRA())(t)
	arch := map[string]string{"amd64": "x86_64", "arm64": "aarch64"}[runtime.GOARCH]
	if nevra.Name != "signpost" || nevra.Version != "1.2.3~rc.1" || nevra.Arch != arch {
		t.Errorf("the package is %v", nevra)
	}
	modes := make(map[string]int)
	for _, info := range testkit.Must(pkg.Header.GetFiles())(t) {
		modes[info.Name()] = info.Mode() & 0o777
		if info.UserName() != "root" || int64(info.Mtime()) != sourceDate(t) {
			t.Errorf("%s belongs to %s and has the date %d", info.Name(), info.UserName(), info.Mtime())
		}
	}
	for name, mode := range map[string]int{
		"/usr/bin/signpost": 0o755, "/usr/lib/systemd/system/signpost.service": 0o644, "/etc/signpost/signpost.env": 0o644,
		"/etc/signpost/definitions/example.yaml": 0o644, "/usr/share/man/man1/signpost-lint.1.gz": 0o644,
		"/usr/share/licenses/signpost/THIRD_PARTY_LICENSES": 0o644, "/usr/share/bash-completion/completions/signpost": 0o644,
	} {
		if got, ok := modes[name]; !ok || got != mode {
			t.Errorf("%s has mode %o, want %o", name, got, mode)
		}
	}
	root := t.TempDir()
	testkit.OK(t, pkg.ExpandPayload(root))
	program := filepath.Join(root, "usr/bin/signpost")
	testkit.OK(t, os.Chmod(program, 0o755)) // the library does not restore the mode
	checkVersion(t, exec.Command(program, "version"))
	checkPackagedPages(t, root)
}

func sourceDate(t *testing.T) int64 {
	t.Helper()
	return testkit.Must((&release{repo: repoDir}).sourceDate())(t).Unix()
}

func untar(t *testing.T, r io.Reader, root string) {
	t.Helper()
	for in := tar.NewReader(r); ; {
		header, err := in.Next()
		if err == io.EOF {
			return
		}
		testkit.OK(t, err)
		path := filepath.Join(root, filepath.Clean("/"+header.Name))
		if header.Typeflag == tar.TypeDir {
			testkit.OK(t, os.MkdirAll(path, 0o755))
			continue
		}
		testkit.OK(t, os.WriteFile(path, testkit.Must(io.ReadAll(in))(t), fs.FileMode(header.Mode)))
		if header.Uid != 0 || header.ModTime.Unix() != sourceDate(t) {
			t.Errorf("%s belongs to %d and has the date %v", header.Name, header.Uid, header.ModTime)
		}
	}
}

func TestSBOM(t *testing.T) {
	var doc struct {
		BOMFormat, SpecVersion, SerialNumber string
		Metadata                             struct{ Component component }
		Components                           []component
	}
	testkit.OK(t, json.Unmarshal([]byte(testkit.Read(t, one(t, "*_sbom.cdx.json"))), &doc))
	if doc.BOMFormat != "CycloneDX" || doc.Metadata.Component.Version != testVersion ||
		!regexp.MustCompile(`^urn:uuid:[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$`).MatchString(doc.SerialNumber) {
		t.Errorf("the SBOM starts with %+v", doc)
	}
	names, licenses := make(map[string]string), make(map[string]string)
	for _, c := range append(doc.Components, doc.Metadata.Component) {
		names[c.Name] = c.PURL
		for _, l := range c.Licenses {
			licenses[c.Name] += l.License.ID
		}
		if licenses[c.Name] == "" {
			t.Errorf("%s has no license", c.Name)
		}
	}
	for name, want := range map[string]string{"github.com/spf13/cobra": "Apache-2.0", "golang.org/x/net": "BSD-3-Clause", "github.com/beorn7/perks": "MIT", "signpost": "MIT"} {
		if licenses[name] != want {
			t.Errorf("the license of %s is %q, want %q", name, licenses[name], want)
		}
	}
	if !strings.HasPrefix(names["github.com/spf13/cobra"], "pkg:golang/github.com/spf13/cobra@v") || names["std"] == "" {
		t.Errorf("the SBOM does not have cobra or the standard library: %v", names)
	}
	if names["github.com/chromedp/chromedp"] != "" {
		t.Error("the SBOM has what only tests use")
	}
}

// TestOutputDirectory checks that a release never removes files that are not its own.
func TestOutputDirectory(t *testing.T) {
	dir := t.TempDir()
	old := filepath.Join(dir, "signpost_1.0.0_linux_amd64.tar.gz")
	testkit.Write(t, old, "")
	testkit.OK(t, emptyOutput(dir))
	if _, err := os.Stat(old); err == nil {
		t.Error("the earlier release is still there")
	}
	letter := filepath.Join(dir, "letter.txt")
	testkit.Write(t, letter, "")
	testkit.Write(t, old, "")
	if err := emptyOutput(dir); err == nil || !strings.Contains(err.Error(), "letter.txt") {
		t.Errorf("with another file: %v", err)
	}
	for _, path := range []string{letter, old} {
		testkit.Must(os.Stat(path))(t)
	}
	testkit.OK(t, emptyOutput(filepath.Join(dir, "new")))
}

func TestVersions(t *testing.T) {
	for version, want := range map[string]bool{
		"v1.0.0": true, "v0.1.0-rc.1": true, "1.0.0": false, "v1.0": false, "v1.0.0+dirty": false, "v01.0.0": false, "": false, "v1.0.0\n": false,
	} {
		if semver.MatchString(version) != want {
			t.Errorf("%q is a version: %t, want %t", version, !want, want)
		}
	}
}
