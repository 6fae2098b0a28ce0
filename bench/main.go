// Command bench measures how fast Signpost is compared with alternatives, and how it scales. It writes the results to
// docs/performance.md and docs/operate.md.
//
//	go run ./bench [flags] [compare | growth | sizing | micro]...
//
// By default it runs all parts, which takes about half an hour on an otherwise idle machine. It needs Linux, two
// cores, taskset and wrk; contenders that are not installed are skipped with a message.
package main

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
)

type bench struct {
	dir                  string // for temporary files
	signpost, bare, yaml string // the programs
	missing              map[string]error
	before               string // revision that growth compares with; empty for none

	rounds       int
	maxDisturbed float64
	count        int // runs of each benchmark of an operation
	benchTime    string
	quick        bool
}

var parts = []string{"compare", "growth", "sizing", "micro"}

func main() {
	b := &bench{missing: make(map[string]error), maxDisturbed: maxDisturbed}
	pages := flag.Bool("pages", true, "write the results into the pages of docs")
	flag.IntVar(&b.rounds, "rounds", rounds, "how often contenders are measured in turn")
	flag.IntVar(&b.count, "count", 6, "how often the benchmark of an operation is run")
	flag.StringVar(&b.benchTime, "benchtime", "1s", "how long that takes each time, as for go test")
	flag.StringVar(&b.before, "before", firstEdition, "git revision that growth compares with; empty for none")
	flag.BoolVar(&b.quick, "quick", false, "only the smallest size of everything, to see whether it works")
	flag.Parse()
	chosen := flag.Args()
	if len(chosen) == 0 {
		chosen = parts
	}
	if err := b.run(chosen, *pages); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

func (b *bench) run(chosen []string, pages bool) error {
	for _, part := range chosen {
		if !slices.Contains(parts, part) {
			return fmt.Errorf("there is no part %q: use %s", part, strings.Join(parts, ", "))
		}
	}
	if err := b.prepare(chosen); err != nil {
		return err
	}
	defer os.RemoveAll(b.dir)
	for _, part := range chosen {
		page, section, text, pictures, err := b.part(part)
		if err != nil {
			return err
		}
		fmt.Println(text)
		if !pages {
			continue
		}
		for name, picture := range pictures {
			if err := os.WriteFile(name, picture, 0o644); err != nil {
				return err
			}
		}
		if err := refresh(page, section, text); err != nil {
			return err
		}
		b.say("%s is up to date", page)
	}
	return nil
}

// part measures one part. It returns the page and section it belongs to, the text, and the pictures.
func (b *bench) part(name string) (page, section, text string, pictures map[string][]byte, err error) {
	const performance = "docs/performance.md"
	switch name {
	case "compare":
		text, pictures, err = b.runCompare()
		return performance, name, text, pictures, err
	case "growth":
		text, pictures, err = b.runGrowth()
		return performance, name, text, pictures, err
	case "sizing":
		text, err = b.runSizing()
		return "docs/operate.md", name, text, nil, err
	default:
		results, err := b.runMicro()
		return performance, name, microTable(results), nil, err
	}
}

// prepare builds the programs and checks the requirements.
func (b *bench) prepare(chosen []string) (err error) {
	if _, err := os.Stat("bench/bare/main.go"); err != nil {
		return errors.New("run it in the root of the repository: go run ./bench")
	}
	if b.dir, err = os.MkdirTemp("", "signpost-bench-"); err != nil {
		return err
	}
	if err := os.Chmod(b.dir, 0o755); err != nil {
		return err
	}
	if slices.Equal(chosen, []string{"micro"}) {
		return nil
	}
	if runtime.NumCPU() < 2 {
		return errors.New("it needs two cores: one for the server, one for the load")
	}
	for _, program := range []string{"taskset", "wrk"} {
		if _, err := exec.LookPath(program); err != nil {
			return fmt.Errorf("%s is not installed: on Debian, apt-get install util-linux wrk", program)
		}
	}
	b.signpost, b.bare, b.yaml = filepath.Join(b.dir, "signpost"), filepath.Join(b.dir, "bare"), filepath.Join(b.dir, "yaml")
	for program, source := range map[string]string{b.signpost: "./cmd/signpost", b.bare: "./bench/bare", b.yaml: "./bench/yaml"} {
		if err := build(".", program, source); err != nil {
			return err
		}
	}
	return nil
}

// build builds a program from the source tree in a directory.
func build(dir, program, source string) error {
	cmd := exec.Command("go", "build", "-trimpath", "-buildvcs=false", "-o", program, source)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("go build %s: %v\n%s", source, err, out)
	}
	return nil
}

// buildRevision builds Signpost at a git revision.
func (b *bench) buildRevision(revision string) (program string, err error) {
	dir := filepath.Join(b.dir, "revision")
	if err := os.Mkdir(dir, 0o755); err != nil {
		return "", err
	}
	defer os.RemoveAll(dir)
	archive := filepath.Join(b.dir, "revision.tar")
	for _, args := range [][]string{{"git", "archive", "--output", archive, revision}, {"tar", "-xf", archive, "-C", dir}} {
		if out, err := exec.Command(args[0], args[1:]...).CombinedOutput(); err != nil {
			return "", fmt.Errorf("%s: %v %s", strings.Join(args, " "), err, bytes.TrimSpace(out))
		}
	}
	program = filepath.Join(b.dir, "before")
	return program, build(dir, program, "./cmd/signpost")
}

// serve starts Signpost with an admin listener and waits for its first response.
func (b *bench) serve(core int, path string, args ...string) (*process, error) {
	return serveWith(b.signpost, core, path, args...)
}

// serveWith is serve for another build of Signpost.
func serveWith(program string, core int, path string, args ...string) (*process, error) {
	address, err := freeAddress()
	if err != nil {
		return nil, err
	}
	admin, err := freeAddress()
	if err != nil {
		return nil, err
	}
	scheme := "http://"
	if slices.Contains(args, "--tls-cert") {
		scheme = "https://"
	}
	p, err := start(core, scheme+address+path, append([]string{program, "serve", "--listen", address, "--admin-listen", admin}, args...)...)
	if err == nil {
		p.admin = admin
	}
	return p, err
}

// growTo returns the sizes to measure.
func (b *bench) growTo(sizes []int) []int {
	if b.quick {
		return sizes[:2]
	}
	return sizes
}

// leaveOut reports, once, that a contender is skipped, and why.
func (b *bench) leaveOut(name string, err error) {
	if b.missing[name] == nil {
		b.say("%s is left out: %v", name, err)
	}
	b.missing[name] = err
}

func (b *bench) say(format string, args ...any) {
	fmt.Fprintf(os.Stderr, format+"\n", args...)
}

// progress rewrites a line on a terminal. An empty text clears it.
func (b *bench) progress(format string, args ...any) {
	if info, err := os.Stderr.Stat(); err == nil && info.Mode()&os.ModeCharDevice != 0 {
		fmt.Fprintf(os.Stderr, "\r\x1b[K"+format, args...)
	}
}
