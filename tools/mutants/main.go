// Command mutants runs mutation tests: it changes one thing at a time in the code of a package and reports the changes
// that the package's own tests do not notice. Each surviving mutant is untested behaviour, or unnecessary code.
//
//	make mutants PACKAGE=definition
package main

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"go/ast"
	"go/parser"
	"go/printer"
	"go/token"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"time"
)

// testTimeout limits one run of the tests. A change that makes them hang counts as noticed.
const testTimeout = time.Minute

// swaps maps operators to their replacements.
var swaps = map[token.Token]token.Token{
	token.EQL: token.NEQ, token.NEQ: token.EQL, token.LSS: token.LEQ, token.LEQ: token.LSS, token.GTR: token.GEQ, token.GEQ: token.GTR,
	token.LAND: token.LOR, token.LOR: token.LAND, token.ADD: token.SUB, token.SUB: token.ADD,
}

// mutant is one change.
type mutant struct {
	file     string
	pos      token.Pos
	line     int
	column   int
	what     string
	do, undo func()
	source   []byte // the changed file
}

func main() {
	sample := flag.Int("sample", 0, "try this many changes, chosen at random; 0 tries all")
	seed := flag.Uint64("seed", 1, "of the choice")
	flag.Parse()
	if flag.NArg() != 1 {
		fmt.Fprintln(os.Stderr, "usage: mutants [-sample N] [-seed N] DIRECTORY")
		os.Exit(2)
	}
	all, err := mutants(flag.Arg(0))
	if err != nil {
		fmt.Fprintln(os.Stderr, "mutants:", err)
		os.Exit(3)
	}
	rand.New(rand.NewPCG(*seed, 0)).Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	if *sample > 0 {
		all = all[:min(*sample, len(all))]
	}
	survived := try(flag.Arg(0), all)
	fmt.Printf("%d of %d changes were noticed (%.0f %%)\n", len(all)-survived, len(all), 100*float64(len(all)-survived)/float64(max(1, len(all))))
}

// mutants returns every possible change to the code of a package, without its tests.
func mutants(dir string) ([]*mutant, error) {
	files, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil {
		return nil, err
	}
	var all []*mutant
	for _, name := range files {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		set := token.NewFileSet()
		file, err := parser.ParseFile(set, name, nil, parser.ParseComments)
		if err != nil {
			return nil, err
		}
		found := changes(file)
		for _, m := range found {
			at := set.Position(m.pos)
			m.file, m.line, m.column = name, at.Line, at.Column
			m.do()
			var out bytes.Buffer
			err := printer.Fprint(&out, set, file)
			m.undo()
			if err != nil {
				return nil, err
			}
			m.source = out.Bytes()
		}
		all = append(all, found...)
	}
	return all, nil
}

// changes returns the changes to one file.
func changes(file *ast.File) []*mutant {
	var found []*mutant
	ast.Inspect(file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.BinaryExpr:
			if other, ok := swaps[n.Op]; ok {
				op := n.Op
				found = append(found, &mutant{pos: n.OpPos, what: fmt.Sprintf("%s became %s", op, other), do: func() { n.Op = other }, undo: func() { n.Op = op }})
			}
		case *ast.IfStmt:
			cond := n.Cond
			found = append(found, &mutant{pos: n.If, what: "the condition was negated",
				do: func() { n.Cond = &ast.UnaryExpr{Op: token.NOT, X: &ast.ParenExpr{X: cond}} }, undo: func() { n.Cond = cond }})
		case *ast.BlockStmt:
			for i, statement := range n.List {
				if _, ok := statement.(*ast.ExprStmt); ok {
					found = append(found, &mutant{pos: statement.Pos(), what: "the call was removed",
						do: func() { n.List[i] = &ast.EmptyStmt{} }, undo: func() { n.List[i] = statement }})
				}
			}
		}
		return true
	})
	return found
}

// try runs the tests of the package for each change, in parallel, prints the changes that they do not notice, and
// returns their number. Changes that do not compile do not count.
func try(dir string, all []*mutant) (survived int) {
	var (
		wg    sync.WaitGroup
		mu    sync.Mutex
		queue = make(chan *mutant)
	)
	for range runtime.NumCPU() {
		wg.Go(func() {
			for m := range queue {
				if survives(dir, m) {
					mu.Lock()
					survived++
					fmt.Printf("%s:%d:%d: %s\n", m.file, m.line, m.column, m.what)
					mu.Unlock()
				}
			}
		})
	}
	for i, m := range all {
		if i%50 == 0 {
			fmt.Fprintf(os.Stderr, "%d of %d\n", i, len(all))
		}
		queue <- m
	}
	close(queue)
	wg.Wait()
	return survived
}

// survives reports whether the tests pass with a change. The file itself is not modified.
func survives(dir string, m *mutant) bool {
	temp, err := os.MkdirTemp("", "mutant")
	if err != nil {
		return false
	}
	defer os.RemoveAll(temp)
	changed, overlay := filepath.Join(temp, "changed.go"), filepath.Join(temp, "overlay.json")
	path, err := filepath.Abs(m.file)
	if err != nil {
		return false
	}
	config, err := json.Marshal(map[string]any{"Replace": map[string]string{path: changed}})
	if err != nil || os.WriteFile(changed, m.source, 0o600) != nil || os.WriteFile(overlay, config, 0o600) != nil {
		return false
	}
	ctx, cancel := context.WithTimeout(context.Background(), testTimeout)
	defer cancel()
	return exec.CommandContext(ctx, "go", "test", "-overlay", overlay, "-vet=off", "-failfast", "./"+filepath.Clean(dir)).Run() == nil
}
