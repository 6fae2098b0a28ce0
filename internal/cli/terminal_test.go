package cli

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"signpost/internal/testkit"
)

// patience is how long tests wait for something that must happen. It measures nothing.
const patience = 5 * time.Minute

// terminal is a shell into which the commands of a page are typed, word for word, as a reader would. It starts in an
// empty directory or, for a page that builds Signpost, in a clone of the repository. If the system allows it, the shell
// has its own network namespace with only loopback, so that port 8080 is free whatever else is running.
type terminal struct {
	dir   string
	shell *exec.Cmd
	in    io.Writer
	done  *bufio.Reader // one line for each finished command
	count int
}

// canIsolate reports whether a process can have its own network namespace here.
var canIsolate = sync.OnceValue(func() bool {
	cmd := exec.Command("sh", "-c", "ip link set lo up")
	cmd.SysProcAttr = isolated()
	return cmd.Run() == nil
})

// isolated starts a process in a network namespace, and in a user namespace so that no privileges are needed.
func isolated() *syscall.SysProcAttr {
	self := func(id int) []syscall.SysProcIDMap {
		return []syscall.SysProcIDMap{{ContainerID: 0, HostID: id, Size: 1}}
	}
	attr := &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWNET}
	if os.Getuid() != 0 {
		attr.Cloneflags |= syscall.CLONE_NEWUSER
		attr.UidMappings, attr.GidMappings = self(os.Getuid()), self(os.Getgid())
	}
	return attr
}

// downloadModules fetches all modules of the repository. A terminal has no network, and a page may need modules that no
// test has needed so far, such as those for other platforms.
var downloadModules = sync.OnceValue(func() error {
	cmd := exec.Command("go", "mod", "download")
	cmd.Dir = repo
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("go mod download: %w: %s", err, out)
	}
	return nil
})

// builtPath returns a PATH with a go that runs a program of the repository if that was built before the tests and, unless
// builds is set, links it instead of building it.
func builtPath(t *testing.T, builds bool) string {
	t.Helper()
	real, err := exec.LookPath("go")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	script := fmt.Sprintf(`#!/bin/sh
command=; out=; before=; program=
for arg; do
	case "$arg" in
	build | run) command="${command:-$arg}" ;;
	./cmd/* | ./examples/*) program='%s'/"${arg##*/}"; break ;;
	esac
	[ "$before" != -o ] || out="$arg"
	before="$arg"
done
if [ -x "$program" ] && [ "$command" = run ]; then
	while [ "$1" != "$arg" ]; do shift; done
	shift
	exec "$program" "$@"
elif [ -x "$program" ] && [ "$command" = build ] && ! %t; then
	exec ln -sf "$program" "$out"
fi
exec '%s' "$@"
`, filepath.Dir(testkit.Program(t, "signpost")), builds, real)
	if err := os.WriteFile(filepath.Join(dir, "go"), []byte(script), 0o755); err != nil {
		t.Fatal(err)
	}
	return dir + string(os.PathListSeparator) + os.Getenv("PATH")
}

func newTerminal(t *testing.T, inClone, builds bool) *terminal {
	t.Helper()
	term := &terminal{dir: t.TempDir()}
	if inClone {
		cloneInto(t, term.dir)
		if err := downloadModules(); err != nil {
			t.Fatal(err)
		}
	}
	term.shell = exec.Command("bash", "--noprofile", "--norc")
	term.shell.Dir = term.dir
	path := os.Getenv("PATH")
	if inClone {
		path = builtPath(t, builds)
	}
	// What a page builds comes from the build cache of the program, wherever the clone is, and is linked without symbols,
	// which takes half the time.
	term.shell.Env = append(os.Environ(), "GOFLAGS=-trimpath -vet=off '-ldflags=-s -w'", "CGO_ENABLED=0", "SIGNPOST_TIMEOUT="+patience.String(),
		"PATH="+filepath.Dir(testkit.Program(t, "signpost"))+string(os.PathListSeparator)+path)
	if canIsolate() {
		term.shell.SysProcAttr = isolated()
	}
	in, err := term.shell.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	reader, writer, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	term.in, term.done = in, bufio.NewReader(reader)
	term.shell.ExtraFiles = []*os.File{writer} // descriptor 3 of the shell
	if err := term.shell.Start(); err != nil {
		t.Fatal(err)
	}
	writer.Close()
	t.Cleanup(func() {
		// A job is a process group: go run, for example, is two processes.
		fmt.Fprintln(in, "for job in $(jobs -p); do kill -- -$job; done; wait; exit")
		in.Close()
		timer := time.AfterFunc(patience, func() { term.shell.Process.Kill() })
		term.shell.Wait()
		timer.Stop()
		reader.Close()
	})
	fmt.Fprintln(in, "set -m") // with job control, each background command has its own process group, as in a terminal
	if canIsolate() {
		fmt.Fprintln(in, "ip link set lo up")
	}
	return term
}

// cloneInto copies the repository from the working tree, without ignored files.
func cloneInto(t *testing.T, dir string) {
	t.Helper()
	list := exec.Command("git", "ls-files", "-z", "--cached", "--others", "--exclude-standard")
	list.Dir = repo
	names, err := list.Output()
	if err != nil {
		t.Fatalf("git ls-files: %v", err)
	}
	for name := range strings.SplitSeq(strings.TrimSuffix(string(names), "\x00"), "\x00") {
		text, err := os.ReadFile(filepath.Join(repo, name))
		if err != nil {
			continue // removed, but not committed yet
		}
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, text, 0o755); err != nil {
			t.Fatal(err)
		}
	}
}

// run types a command and compares what it prints on both streams. A command that ends in & runs until the page ends;
// run waits until it has printed what the page shows.
func (term *terminal) run(t *testing.T, command, want string) {
	t.Helper()
	term.count++
	out := filepath.Join(t.TempDir(), fmt.Sprint("out", term.count))
	fmt.Fprintf(term.in, "exec >%s 2>&1\n%s\nexec >/dev/null 2>&1; echo done >&3\n", out, command)
	if _, err := term.done.ReadString('\n'); err != nil {
		t.Fatalf("$ %s\nended the shell: %v", command, err)
	}
	printed := func() string {
		return strings.TrimSuffix(strings.ReplaceAll(readFile(t, out), "\r", ""), "\n")
	}
	if strings.HasSuffix(command, "&") {
		for deadline := time.Now().Add(patience); !matches(want, printed()) && time.Now().Before(deadline); {
			time.Sleep(10 * time.Millisecond)
		}
	}
	if got := printed(); !matches(want, got) {
		t.Errorf("$ %s\nprints\n%s\nbut the page shows\n%s", command, got, want)
	}
}

// matches compares an output with what a page shows.
func matches(want, got string) bool {
	pattern := regexp.QuoteMeta(want)
	pattern = regexp.MustCompile(`(?m)^…$`).ReplaceAllString(pattern, `(?s:.*)`)
	pattern = strings.ReplaceAll(pattern, "…", ".*")
	return regexp.MustCompile(`\A` + pattern + `\z`).MatchString(got)
}
