// Command bench compares Signpost with other ways to serve a manifest, measures how it grows with the number of
// endpoints and services, and how fast it reads logs. It writes the results into docs/performance.md.
//
//	go run ./bench [flags] [compare | growth | usage]...
//
// By default it runs all, which takes about half an hour on an otherwise idle machine. It needs Linux, two cores,
// taskset and, except for usage, wrk. Contenders that are not installed are skipped with a message.
package main

import (
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
	dir            string           // for temporary files
	signpost, bare string           // the programs
	before         string           // another build of Signpost to measure as well; empty for none
	missing        map[string]error // contenders that are left out
	rounds         int
	logSize        int // in MiB
	quick          bool
}

// section is a text between two comments of the page. One without a name is only printed.
type section struct{ name, text string }

// parts measure one thing each, and return the sections of the page that show it.
var parts = map[string]func(*bench) ([]section, error){
	"compare": (*bench).runCompare,
	"growth":  (*bench).runGrowth,
	"usage":   (*bench).runUsage,
}

const page = "docs/performance.md"

func main() {
	b := &bench{missing: make(map[string]error)}
	write := flag.Bool("page", true, "write the results into "+page)
	flag.IntVar(&b.rounds, "rounds", 16, "how often contenders are measured in turn")
	flag.StringVar(&b.before, "before", "", "another build of Signpost to measure beside this one; its results are printed only")
	flag.IntVar(&b.logSize, "log-size", 1024, "size of the log for usage, in MiB")
	flag.BoolVar(&b.quick, "quick", false, "only the smallest sizes, to see whether it works")
	flag.Parse()
	chosen := flag.Args()
	if len(chosen) == 0 {
		chosen = []string{"compare", "growth", "usage"}
	}
	if err := b.run(chosen, *write); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

func (b *bench) run(chosen []string, write bool) error {
	for _, part := range chosen {
		if parts[part] == nil {
			return fmt.Errorf("there is no part %q: use compare, growth or usage", part)
		}
	}
	defer func() { os.RemoveAll(b.dir) }()
	if err := b.prepare(slices.ContainsFunc(chosen, func(part string) bool { return part != "usage" })); err != nil {
		return err
	}
	for _, part := range chosen {
		sections, err := parts[part](b)
		if err != nil {
			return err
		}
		for _, s := range sections {
			fmt.Println(s.text)
			if !write || s.name == "" {
				continue
			}
			old, err := os.ReadFile(page)
			if err != nil {
				return err
			}
			fresh, err := s.refresh(string(old))
			if err != nil {
				return err
			}
			if err := os.WriteFile(page, []byte(fresh), 0o644); err != nil {
				return err
			}
		}
	}
	return nil
}

// prepare builds the programs and checks the requirements. Parts that serve something need a load, too.
func (b *bench) prepare(load bool) (err error) {
	if _, err := os.Stat("bench/bare/main.go"); err != nil {
		return errors.New("run it in the root of the repository: go run ./bench")
	}
	if runtime.NumCPU() < 2 {
		return errors.New("it needs two cores: one for the server, one for the load")
	}
	for _, program := range []string{"taskset", "wrk"} {
		if _, err := exec.LookPath(program); err != nil && (load || program != "wrk") {
			return fmt.Errorf("%s is not installed: on Debian, apt-get install util-linux wrk", program)
		}
	}
	if b.dir, err = os.MkdirTemp("", "signpost-bench-"); err != nil {
		return err
	}
	if err := os.Chmod(b.dir, 0o755); err != nil { // nginx reads it as another user
		return err
	}
	b.signpost, b.bare = filepath.Join(b.dir, "signpost"), filepath.Join(b.dir, "bare")
	for program, source := range map[string]string{b.signpost: "./cmd/signpost", b.bare: "./bench/bare"} {
		cmd := exec.Command("go", "build", "-trimpath", "-buildvcs=false", "-o", program, source)
		cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
		if out, err := cmd.CombinedOutput(); err != nil {
			return fmt.Errorf("go build %s: %v\n%s", source, err, out)
		}
	}
	return nil
}

// refresh puts the section into a page.
func (s section) refresh(old string) (string, error) {
	begin, end := "<!-- bench: "+s.name+" -->\n", "<!-- end of "+s.name+" -->"
	before, rest, ok := strings.Cut(old, begin)
	_, after, ok2 := strings.Cut(rest, end)
	if !ok || !ok2 {
		return "", fmt.Errorf("the page has no %q and %q: put them where the results go", strings.TrimSpace(begin), end)
	}
	lines := slices.DeleteFunc(strings.Split(strings.TrimSpace(s.text), "\n"), func(line string) bool {
		return strings.HasPrefix(line, "| "+oursBefore) || strings.HasPrefix(line, oursBefore)
	})
	return before + begin + "\n" + strings.Join(lines, "\n") + "\n\n" + end + after, nil
}

// progress tells what is being measured.
func (b *bench) progress(format string, args ...any) {
	fmt.Fprintf(os.Stderr, format+"\n", args...)
}

// builds returns the builds of Signpost to measure, with their names in the tables.
func (b *bench) builds() [][2]string {
	all := [][2]string{{ours, b.signpost}, {oursBefore, b.before}}
	return slices.DeleteFunc(all, func(build [2]string) bool { return build[1] == "" })
}
