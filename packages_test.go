package signpost_test

import (
	"flag"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

var updatePackages = flag.Bool("update-packages", false, "write docs/packages.svg anew")

// TestPackageMap keeps docs/packages.svg, the picture in CONTRIBUTING.md, and the table below it in sync with go list. An arrow points from a
// package to one that it imports; arrows implied by others are left out.
func TestPackageMap(t *testing.T) {
	const path = "docs/packages.svg"
	imports := packageImports(t)
	want := drawPackages(imports)
	if *updatePackages {
		if err := os.WriteFile(path, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	have, err := os.ReadFile(path)
	if err != nil || string(have) != want {
		t.Errorf("%s is out of date (%v): run go test . -run TestPackageMap -update-packages", path, err)
	}
	page, err := os.ReadFile("CONTRIBUTING.md")
	if err != nil {
		t.Fatal(err)
	}
	for name := range imports {
		if dir, ok := strings.CutPrefix(name, "signpost/"); ok && !strings.Contains(string(page), "| `"+dir+"/` |") {
			t.Errorf("CONTRIBUTING.md does not say what is in %s", dir)
		}
	}
}

// packageImports returns the packages of the program and, for each, the ones it imports.
func packageImports(t *testing.T) map[string][]string {
	out, err := exec.Command("go", "list", "-deps", "-f", `{{if not .Standard}}{{.ImportPath}}:{{range .Imports}} {{.}}{{end}}{{end}}`, "./cmd/signpost").Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	imports := make(map[string][]string)
	for line := range strings.Lines(string(out)) {
		name, rest, _ := strings.Cut(strings.TrimSpace(line), ":")
		if !isOwn(name) {
			continue
		}
		imports[name] = []string{}
		for _, path := range strings.Fields(rest) {
			if isOwn(path) {
				imports[name] = append(imports[name], path)
			}
		}
	}
	return imports
}

func isOwn(path string) bool { return path == "signpost" || strings.HasPrefix(path, "signpost/") }

// Dimensions of the picture.
const (
	boxWidth, boxHeight = 132, 36
	gapX, gapY          = 14, 46
	margin              = 16
)

// drawPackages puts every package one row above the highest package that it imports.
func drawPackages(imports map[string][]string) string {
	level := make(map[string]int)
	var levelOf func(string) int
	levelOf = func(name string) int {
		if l, ok := level[name]; ok {
			return l
		}
		highest := -1
		for _, path := range imports[name] {
			highest = max(highest, levelOf(path))
		}
		level[name] = highest + 1
		return highest + 1
	}
	rows := make(map[int][]string)
	for _, name := range slices.Sorted(maps.Keys(imports)) {
		rows[levelOf(name)] = append(rows[levelOf(name)], name)
	}
	widest := 0
	for _, row := range rows {
		widest = max(widest, len(row))
	}
	width := 2*margin + widest*boxWidth + (widest-1)*gapX
	height := 2*margin + len(rows)*boxHeight + (len(rows)-1)*gapY
	type point struct{ x, y int }
	corner := make(map[string]point)
	for l, row := range rows {
		from := (width - len(row)*boxWidth - (len(row)-1)*gapX) / 2
		for i, name := range row {
			corner[name] = point{from + i*(boxWidth+gapX), margin + (len(rows)-1-l)*(boxHeight+gapY)}
		}
	}
	var out strings.Builder
	fmt.Fprintf(&out, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" font-family="ui-monospace, monospace" font-size="12" role="img" aria-label="The packages of Signpost and their imports">
<style>
.box { fill: #e3f3ee; stroke: #0f6b57 } .internal { fill: #ffffff; stroke: #5b6b7b } text { fill: #17212b; text-anchor: middle } path { stroke: #5b6b7b; fill: none }
@media (prefers-color-scheme: dark) { .box { fill: #12352d; stroke: #57c2a6 } .internal { fill: #1b242d; stroke: #8a9aa9 } text { fill: #f0f4f7 } path { stroke: #8a9aa9 } }
</style>
`, width, height)
	for _, name := range slices.Sorted(maps.Keys(imports)) {
		for _, path := range imports[name] {
			others := slices.DeleteFunc(slices.Clone(imports[name]), func(other string) bool { return other == path })
			if slices.ContainsFunc(others, func(other string) bool { return reaches(imports, other, path) }) {
				continue
			}
			a, b := corner[name], corner[path]
			fromX, fromY, toX, toY := a.x+boxWidth/2, a.y+boxHeight, b.x+boxWidth/2, b.y
			fmt.Fprintf(&out, "<path d=\"M%d %dC%d %d %d %d %d %d\"/>\n", fromX, fromY, fromX, fromY+gapY/2, toX, toY-gapY/2, toX, toY)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(imports)) {
		class := "box"
		if strings.Contains(name, "/internal/") || strings.Contains(name, "/cmd/") {
			class = "internal"
		}
		c := corner[name]
		fmt.Fprintf(&out, "<rect class=%q x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\" rx=\"6\"/><text x=\"%d\" y=\"%d\">%s</text>\n",
			class, c.x, c.y, boxWidth, boxHeight, c.x+boxWidth/2, c.y+boxHeight/2+4, strings.TrimPrefix(name, "signpost/"))
	}
	out.WriteString("</svg>\n")
	return out.String()
}

// reaches reports whether a package imports another, directly or through others.
func reaches(imports map[string][]string, from, to string) bool {
	return slices.ContainsFunc(imports[from], func(next string) bool { return next == to || reaches(imports, next, to) })
}
