package testkit

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"sync"
	"testing"
)

// Environment variables by which make test tells tests where things are. They do not begin with SIGNPOST_: Signpost warns
// about such variables that belong to none of its flags.
const (
	programsVariable  = "TESTKIT_PROGRAMS"   // the directory of the programs that make built
	notTestedVariable = "TESTKIT_NOT_TESTED" // the file that collects what could not be tested
)

// Root returns the top directory of the repository.
func Root() string {
	_, file, _, _ := runtime.Caller(0)
	return filepath.Join(filepath.Dir(file), "..", "..")
}

// buildable lists the programs that go can build: directory of the module, and package.
var buildable = map[string]struct{ module, path string }{
	"signpost":            {".", "./cmd/signpost"},
	"sports":              {".", "./examples/sports"},
	"actionlint":          {"tools", "github.com/rhysd/actionlint/cmd/actionlint"},
	"pebble":              {"tools/pebble", "github.com/letsencrypt/pebble/v2/cmd/pebble"},
	"pebble-challtestsrv": {"tools/pebble", "github.com/letsencrypt/pebble/v2/cmd/pebble-challtestsrv"},
}

var built sync.Map // name to func() (string, error)

// Program returns the path of a program that tests run. "signpost" is a plain build of the command, "sports" the feed
// service of the tutorial; the others are third-party programs pinned under tools. make builds them beforehand. Under a plain go test, which knows nothing of
// that, each is built once per test binary, so that it is never older than the code.
func Program(t testing.TB, name string) string {
	t.Helper()
	program, ok := buildable[name]
	if !ok {
		t.Fatalf("testkit does not know how to build %q", name)
	}
	if dir := os.Getenv(programsVariable); dir != "" {
		return filepath.Join(dir, name)
	}
	build, _ := built.LoadOrStore(name, sync.OnceValues(func() (string, error) {
		path := filepath.Join(Root(), "bin", "test", filepath.Base(os.Args[0]), name)
		cmd := exec.Command("go", "build", "-o", path, program.path)
		cmd.Dir = filepath.Join(Root(), program.module)
		if name == "signpost" { // as make builds it, and as pages of the docs do in a clone: the build cache serves all
			cmd.Env = append(os.Environ(), "GOFLAGS=-trimpath", "CGO_ENABLED=0")
		}
		if out, err := cmd.CombinedOutput(); err != nil {
			return "", fmt.Errorf("build %s: %w\n%s", name, err, out)
		}
		return path, nil
	}))
	return Must(build.(func() (string, error))())(t)
}

// Find returns the path of an installed program, on PATH or where make unpacked it. If there is none, it skips the test
// like [Missing].
func Find(t testing.TB, name, notTested string) string {
	t.Helper()
	unpacked := filepath.Join(Root(), "bin", "programs", "usr")
	for _, candidate := range []string{name, "/usr/sbin/" + name, filepath.Join(unpacked, "bin", name), filepath.Join(unpacked, "sbin", name)} {
		if path, err := exec.LookPath(candidate); err == nil {
			return path
		}
	}
	Missing(t, name, notTested)
	return ""
}

// Missing skips a test because a program is not installed. make test repeats at its end what was therefore not tested.
func Missing(t testing.TB, program, notTested string) {
	t.Helper()
	if path := os.Getenv(notTestedVariable); path != "" {
		file := Must(os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644))(t)
		defer file.Close()
		Must(fmt.Fprintf(file, "%s: %s is not installed\n", notTested, program))(t)
	}
	t.Skipf("NOT TESTED: %s: %s is not installed; make test installs it", notTested, program)
}
