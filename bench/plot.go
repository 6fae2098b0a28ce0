package main

import (
	"bytes"
	"fmt"
	"html"
	"math"
	"slices"
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

const style = `<style>
text { font: 13px system-ui, sans-serif; fill: #24292f; }
.title { font-weight: 600; font-size: 14px; }
.small { font-size: 11.5px; fill: #57606a; }
.ours { font-weight: 600; }
.grid { stroke: #d0d7de; stroke-width: 1; }
.one { stroke: #57606a; stroke-width: 1.5; stroke-dasharray: 4 3; }
rect.other { fill: #afb8c1; }
rect.mine { fill: #0969da; }
@media (prefers-color-scheme: dark) {
  text { fill: #e6edf3; }
  .small { fill: #9198a1; }
  .grid { stroke: #30363d; }
  .one { stroke: #9198a1; }
  rect.other { fill: #57606a; }
  rect.mine { fill: #4493f8; }
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
		if v.name() != bare && slices.ContainsFunc(all, measured) {
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
		s.text(x, top-14, "small", "start", c.size())
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
			value := r.rate() / base.rate()
			y := top + float64(j)*row
			s.bar(x, y+4, scale(value), row-9, class)
			s.text(x+scale(value)+5, y+16, "small", "start", ratio(value))
		}
	}
	return s.document("Requests per second of Signpost and others, relative to a bare net/http handler")
}
