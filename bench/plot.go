package main

import (
	"bytes"
	"fmt"
	"html"
	"math"
	"slices"
	"strings"
)

// svg is a picture that is readable on light and dark pages.
type svg struct {
	bytes.Buffer
	width, height float64
}

func (s *svg) text(x, y float64, class, anchor, text string) {
	fmt.Fprintf(s, `<text x="%.1f" y="%.1f" class="%s" text-anchor="%s">%s</text>`+"\n", x, y, class, anchor, html.EscapeString(text))
}

func (s *svg) line(x1, y1, x2, y2 float64, class string) {
	fmt.Fprintf(s, `<line x1="%.1f" y1="%.1f" x2="%.1f" y2="%.1f" class="%s"/>`+"\n", x1, y1, x2, y2, class)
}

func (s *svg) bar(x, y, width, height float64, class string) {
	fmt.Fprintf(s, `<rect x="%.1f" y="%.1f" width="%.1f" height="%.1f" rx="2" class="%s"/>`+"\n", x, y, width, height, class)
}

func (s *svg) curve(points [][2]float64, class string) {
	var path []string
	for _, p := range points {
		path = append(path, fmt.Sprintf("%.1f,%.1f", p[0], p[1]))
		fmt.Fprintf(s, `<circle cx="%.1f" cy="%.1f" r="3" class="dot %s"/>`+"\n", p[0], p[1], class)
	}
	fmt.Fprintf(s, `<polyline points="%s" class="curve %s"/>`+"\n", strings.Join(path, " "), class)
}

const style = `<style>
text { font: 13px system-ui, sans-serif; fill: #24292f; }
.title { font-weight: 600; font-size: 14px; }
.small { font-size: 11.5px; fill: #57606a; }
.ours { font-weight: 600; }
.grid { stroke: #d0d7de; stroke-width: 1; }
.one { stroke: #57606a; stroke-width: 1.5; stroke-dasharray: 4 3; }
rect.other { fill: #afb8c1; }
rect.mine { fill: #0969da; }
.curve { fill: none; stroke-width: 2; }
.a { stroke: #0969da; } .b { stroke: #bc4c00; } .c { stroke: #1a7f37; } .d { stroke: #8250df; }
.dot.a { fill: #0969da; } .dot.b { fill: #bc4c00; } .dot.c { fill: #1a7f37; } .dot.d { fill: #8250df; }
@media (prefers-color-scheme: dark) {
  text { fill: #e6edf3; }
  .small { fill: #9198a1; }
  .grid { stroke: #30363d; }
  .one { stroke: #9198a1; }
  rect.other { fill: #57606a; }
  rect.mine { fill: #4493f8; }
  .a { stroke: #4493f8; } .b { stroke: #f0883e; } .c { stroke: #3fb950; } .d { stroke: #ab7df8; }
  .dot.a { fill: #4493f8; } .dot.b { fill: #f0883e; } .dot.c { fill: #3fb950; } .dot.d { fill: #ab7df8; }
}
</style>
`

func (s *svg) document(title string) []byte {
	var out bytes.Buffer
	fmt.Fprintf(&out, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %.0f %.0f" role="img" aria-label="%s">`+"\n", s.width, s.height, html.EscapeString(title))
	out.WriteString(style)
	out.Write(s.Bytes())
	out.WriteString("</svg>\n")
	return out.Bytes()
}

// comparePlot draws a panel for each size, with a bar for each variant on a logarithmic scale.
func comparePlot(all []*comparison) []byte {
	const (
		left, panel, gap = 255.0, 215.0, 22.0
		top, row         = 58.0, 24.0
		smallest, widest = 0.004, 12.0 // of the scale
	)
	var shown []variant
	for _, v := range variants {
		measured := func(c *comparison) bool { return c.results[v.name()] != nil }
		if v.name() != bare && !isControl(v.contender) && slices.ContainsFunc(all, measured) {
			shown = append(shown, v)
		}
	}
	s := &svg{width: left + float64(len(all))*(panel+gap), height: top + float64(len(shown))*row + 34}
	scale := func(r float64) float64 {
		r = min(max(r, smallest), widest)
		return panel * math.Log(r/smallest) / math.Log(widest/smallest)
	}
	s.text(0, 18, "title", "start", "Requests per second, relative to bare net/http without compression")
	for i, v := range shown {
		class := ""
		if v.contender == ours {
			class = "ours"
		}
		s.text(left-10, top+float64(i)*row+16, class, "end", v.name())
	}
	bottom := top + float64(len(shown))*row
	for i, c := range all {
		x := left + float64(i)*(panel+gap)
		s.text(x, top-14, "small", "start", fmt.Sprintf("%d endpoints, %s", c.endpoints, kilobytes(c.bytes)))
		for _, mark := range []float64{0.01, 0.1, 1, 10} {
			class := "grid"
			if mark == 1 {
				class = "one"
			}
			s.line(x+scale(mark), top-4, x+scale(mark), bottom, class)
			s.text(x+scale(mark), bottom+16, "small", "middle", fmt.Sprint(mark))
		}
		base := c.results[bare]
		for j, v := range shown {
			r := c.results[v.name()]
			if r == nil || base == nil {
				continue
			}
			class := "other"
			if v.contender == ours {
				class = "mine"
			}
			value := medianRate(r) / medianRate(base)
			y := top + float64(j)*row
			s.bar(x, y+4, scale(value), row-9, class)
			s.text(x+scale(value)+5, y+16, "small", "start", ratio(value))
		}
	}
	return s.document("Requests per second of Signpost and others, relative to a bare net/http handler")
}

// growthPlot draws time and memory by number of endpoints and by number of services, on logarithmic scales.
func growthPlot(growths ...*growth) []byte {
	const (
		left, panel, gap = 62.0, 330.0, 150.0
		top, height      = 40.0, 230.0
		between          = 78.0
	)
	kinds := []struct {
		title    string
		measures []string
		low      float64
		high     float64
		unit     func(float64) string
	}{
		{"time", []string{startUp, linting, render, matching}, 1e-7, 100, seconds},
		{"memory", []string{atMost, atStart}, 1e6, 1e10, megabytes},
	}
	s := &svg{width: left + 2*(panel+gap) - 20, height: 2*(top+height+between) - 40}
	for row, g := range growths {
		first, last := float64(g.points[0].n), float64(g.points[len(g.points)-1].n)
		for column, kind := range kinds {
			x0, y0 := left+float64(column)*(panel+gap), top+float64(row)*(height+between)
			xOf := func(n float64) float64 { return x0 + panel*math.Log(n/first)/math.Log(last/first) }
			yOf := func(v float64) float64 {
				return y0 + height - height*math.Log(v/kind.low)/math.Log(kind.high/kind.low)
			}
			s.text(x0, y0-14, "title", "start", fmt.Sprintf("%s by number of %s", kind.title, g.of))
			for mark := kind.low; mark <= kind.high*1.01; mark *= 10 {
				s.line(x0, yOf(mark), x0+panel, yOf(mark), "grid")
				s.text(x0-7, yOf(mark)+4, "small", "end", power(mark, kind.unit))
			}
			for _, p := range g.points {
				s.text(xOf(float64(p.n)), y0+height+18, "small", "middle", thousands(float64(p.n)))
			}
			taken := math.Inf(1) // labels must not overlap
			for i, measure := range kind.measures {
				var points [][2]float64
				for _, p := range g.points {
					points = append(points, [2]float64{xOf(float64(p.n)), yOf(p.values[measure])})
				}
				s.curve(points, string(rune('a'+i)))
				y := points[len(points)-1][1]
				if math.Abs(y-taken) < 14 {
					y = taken + 14
				}
				taken = y
				s.text(x0+panel+9, y+4, "small", "start", measure)
			}
		}
	}
	return s.document("Time and memory by number of endpoints and services")
}

// power formats a tick of a scale, such as 1 ms.
func power(v float64, unit func(float64) string) string {
	return strings.Replace(unit(v*1.0000001), ".0 ", " ", 1)
}
