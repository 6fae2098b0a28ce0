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
	"testing"
	"time"

	"signpost/internal/testkit"
)

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
	real := testkit.Must(exec.LookPath("go"))(t)
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
	testkit.OK(t, os.WriteFile(filepath.Join(dir, "go"), []byte(script), 0o755))
	return dir + string(os.PathListSeparator) + os.Getenv("PATH")
}

func newTerminal(t *testing.T, inClone, builds bool) *terminal {
	t.Helper()
	term := &terminal{dir: t.TempDir()}
	if inClone {
		cloneInto(t, term.dir)
		testkit.OK(t, downloadModules())
	}
	term.shell = exec.Command("bash", "--noprofile", "--norc")
	term.shell.Dir = term.dir
	path := os.Getenv("PATH")
	if inClone {
		path = builtPath(t, builds)
	}
	path += fmt.Sprintf("%[2]c/usr/sbin%[2]c%[1]s", filepath.Join(testkit.Root(), "bin/programs/usr/sbin"), os.PathListSeparator) // nginx
	// What a page builds comes from the build cache of the program, wherever the clone is, and is linked without symbols,
	// which takes half the time.
	term.shell.Env = append(os.Environ(), "GOFLAGS=-trimpath -vet=off '-ldflags=-s -w'", "CGO_ENABLED=0", "SIGNPOST_TIMEOUT="+testkit.Patience.String(),
		"PATH="+filepath.Dir(testkit.Program(t, "signpost"))+string(os.PathListSeparator)+path)
	if canIsolate() {
		term.shell.SysProcAttr = isolated()
	}
	in := testkit.Must(term.shell.StdinPipe())(t)
	reader, writer, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	term.in, term.done = in, bufio.NewReader(reader)
	term.shell.ExtraFiles = []*os.File{writer} // descriptor 3 of the shell
	testkit.OK(t, term.shell.Start())
	writer.Close()
	t.Cleanup(func() {
		// A job is a process group: go run, for example, is two processes.
		fmt.Fprintln(in, "for job in $(jobs -p); do kill -- -$job; done; wait; exit")
		in.Close()
		timer := time.AfterFunc(testkit.Patience, func() { term.shell.Process.Kill() })
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
	// A file that is removed, but not yet committed, is listed. A copy that fails for another reason fails the page.
	cmd := exec.Command("sh", "-c", `git ls-files -z --cached --others --exclude-standard | xargs -0 cp --parents -t "$0" 2>/dev/null; true`, dir)
	cmd.Dir = repo
	testkit.OK(t, cmd.Run())
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
		return strings.TrimSuffix(strings.ReplaceAll(testkit.Read(t, out), "\r", ""), "\n")
	}
	if strings.HasSuffix(command, "&") {
		for deadline := time.Now().Add(testkit.Patience); !matches(want, printed()) && time.Now().Before(deadline); {
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
