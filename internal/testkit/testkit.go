// Package testkit holds what the tests of several packages share: waiting, golden files, the programs that tests run,
// and tests that cannot run on this machine. Only tests import it.
package testkit

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"
)

// Patience bounds every wait. A wait ends when the thing happens; the bound only keeps a run that is broken from
// hanging, so it is far beyond what a busy machine needs.
const Patience = 5 * time.Minute

// Eventually waits until happened returns true. What names the event in the failure.
func Eventually(t testing.TB, what string, happened func() bool) {
	t.Helper()
	for deadline := time.Now().Add(Patience); !happened(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("did not happen within %v: %s", Patience, what)
		}
	}
}

// Buffer collects what a program or a logger writes and can be read at the same time. The zero value is ready to use.
type Buffer struct {
	mu   sync.Mutex
	text bytes.Buffer
}

// Write appends p.
func (b *Buffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.Write(p)
}

// String returns everything written so far.
func (b *Buffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.String()
}

// Reset forgets what was written.
func (b *Buffer) Reset() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.text.Reset()
}

// WaitFor waits until text has been written, and fails the test with everything that was written instead.
func (b *Buffer) WaitFor(t testing.TB, text string) {
	t.Helper()
	defer func() {
		if t.Failed() {
			t.Logf("written so far:\n%s", b.String())
		}
	}()
	Eventually(t, "output contains "+text, func() bool { return strings.Contains(b.String(), text) })
}

var update = flag.Bool("update", false, "rewrite the expected outputs under testdata")

// Update reports whether golden files are to be rewritten.
func Update() bool { return *update }

// Golden compares got with the file at path, or writes that file with -update.
func Golden[T ~string | ~[]byte](t testing.TB, path string, got T) {
	t.Helper()
	if *update {
		OK(t, os.WriteFile(path, []byte(got), 0o644))
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatalf("%v; run go test -update to create it", err)
	}
	if diff := cmp.Diff(strings.Split(string(want), "\n"), strings.Split(string(got), "\n")); diff != "" { // of lines
		t.Errorf("%s (-want +got); if the change is intended, run go test -update:\n%s", filepath.Base(path), diff)
	}
}

// Cases compares a golden file of inputs with their answers, or rewrites the answers with -update. An input is a line,
// which may be in Go's quotes; the lines below it that begin with a tab are its answer. Blank lines and lines that
// begin with # stay as they are.
func Cases(t testing.TB, path string, answer func(input string) string) {
	t.Helper()
	var out strings.Builder
	for _, line := range cases(t, path) {
		out.WriteString(line)
		if input, ok := inputOn(line); ok {
			for line := range strings.Lines(answer(input)) {
				out.WriteString("\t" + strings.TrimSuffix(line, "\n") + "\n")
			}
		}
	}
	Golden(t, path, out.String())
}

// Inputs returns the inputs of a golden file of cases.
func Inputs(t testing.TB, path string) []string {
	t.Helper()
	var all []string
	for _, line := range cases(t, path) {
		if input, ok := inputOn(line); ok {
			all = append(all, input)
		}
	}
	return all
}

// cases returns the lines of a golden file of cases without the answers.
func cases(t testing.TB, path string) []string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil || len(text) == 0 {
		t.Fatalf("no cases in %s: %v", path, err)
	}
	lines := slices.Collect(strings.Lines(string(text)))
	return slices.DeleteFunc(lines, func(line string) bool { return line[0] == '\t' })
}

// inputOn returns the input on a line, if it has one.
func inputOn(line string) (input string, ok bool) {
	input = strings.TrimSuffix(line, "\n")
	if unquoted, err := strconv.Unquote(input); err == nil {
		return unquoted, true
	}
	return input, input != "" && input[0] != '#'
}

// Variant is a text with one change.
type Variant struct{ Name, Text string }

// Variants reads an archive of a text and named changes to it. In a change, the lines that begin with - are replaced,
// where they first occur, by those that begin with +.
func Variants(t testing.TB, path string) []Variant {
	t.Helper()
	archive := Must(txtar.ParseFile(path))(t)
	variants := []Variant{{"no change", string(archive.Comment)}}
	for _, f := range archive.Files {
		var old, new strings.Builder
		for line := range strings.Lines(string(f.Data)) {
			if rest, ok := strings.CutPrefix(line, "-"); ok {
				old.WriteString(rest)
			} else {
				new.WriteString(line[1:])
			}
		}
		text := strings.Replace(string(archive.Comment), old.String(), new.String(), 1)
		if text == string(archive.Comment) {
			t.Fatalf("%s: %s changes nothing", path, f.Name)
		}
		variants = append(variants, Variant{f.Name, text})
	}
	return variants
}
