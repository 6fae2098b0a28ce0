package testkit

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"sync"
	"testing"
)

// Environment variables by which make test tells tests where things are. They do not begin with SIGNPOST_: Signpost
// warns about such variables that belong to none of its flags.
const (
	programsVariable  = "TESTKIT_PROGRAMS"   // the directory of the programs that make built
	notTestedVariable = "TESTKIT_NOT_TESTED" // the file that collects what could not be tested
)

// Root returns the top directory of the repository.
func Root() string { return root }

// root is above the directory that go test starts a test in, which a test may leave.
var root = func() string {
	dir, _ := os.Getwd()
	for {
		module, _ := os.ReadFile(filepath.Join(dir, "go.mod"))
		if bytes.HasPrefix(module, []byte("module signpost\n")) || dir == filepath.Dir(dir) {
			return dir
		}
		dir = filepath.Dir(dir)
	}
}()

// programs builds the programs that go can build, by name.
var programs = map[string]func() (string, error){
	"signpost":            builder(".", "./cmd/signpost"),
	"sports":              builder(".", "./examples/sports"),
	"actionlint":          builder("tools", "github.com/rhysd/actionlint/cmd/actionlint"),
	"pebble":              builder("tools/pebble", "github.com/letsencrypt/pebble/v2/cmd/pebble"),
	"pebble-challtestsrv": builder("tools/pebble", "github.com/letsencrypt/pebble/v2/cmd/pebble-challtestsrv"),
}

// builder returns a function that builds a package in the directory of a module, once per test binary.
func builder(module, pkg string) func() (string, error) {
	return sync.OnceValues(func() (string, error) {
		program := filepath.Join(Root(), "bin", "test", filepath.Base(os.Args[0]), path.Base(pkg))
		cmd := exec.Command("go", "build", "-o", program, pkg)
		cmd.Dir = filepath.Join(Root(), module)
		if module == "." { // as make builds it, and as pages of the docs do in a clone: the build cache serves all
			cmd.Env = append(os.Environ(), "GOFLAGS=-trimpath", "CGO_ENABLED=0")
		}
		if out, err := cmd.CombinedOutput(); err != nil {
			return "", fmt.Errorf("build %s: %w\n%s", pkg, err, out)
		}
		return program, nil
	})
}

// Program returns the path of a program that tests run. "signpost" is a plain build of the command, "sports" the feed
// service of the tutorial; the others are third-party programs pinned under tools. make builds them beforehand. Under a
// plain go test, which knows nothing of that, each test binary builds them, so that they are never older than the code.
func Program(t testing.TB, name string) string {
	t.Helper()
	if dir := os.Getenv(programsVariable); dir != "" {
		return filepath.Join(dir, name)
	}
	return Must(programs[name]())(t)
}

// Find returns the path of an installed program, on PATH or where make unpacked it. If there is none, it skips the test
// like [Missing].
func Find(t testing.TB, name, notTested string) string {
	t.Helper()
	unpacked := filepath.Join(Root(), "bin", "programs", "usr")
	candidates := []string{
		name, "/usr/sbin/" + name, filepath.Join(unpacked, "bin", name), filepath.Join(unpacked, "sbin", name),
	}
	for _, candidate := range candidates {
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
