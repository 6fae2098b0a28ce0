package studio_test

import (
	"maps"
	"math"
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// TestColourContrast checks the colours of both schemes against WCAG AA: 4.5 to 1 for text, 3 to 1 for controls.
func TestColourContrast(t *testing.T) {
	t.Parallel()
	css, err := os.ReadFile("assets/base.css")
	if err != nil {
		t.Fatal(err)
	}
	roots := regexp.MustCompile(`(?s):root \{(.*?)\n\s*\}`).FindAllStringSubmatch(string(css), -1)
	if len(roots) != 2 {
		t.Fatalf("%d schemes, not 2", len(roots))
	}
	colours := make(map[string]string)
	for i, scheme := range []string{"light", "dark"} {
		maps.Copy(colours, variables(roots[i][1])) // the dark scheme overrides the light one
		for need, pairs := range map[float64]string{
			4.5: `text/page text/card text/inset text/bad-soft quiet/page quiet/card quiet/inset quiet/accent-soft accent/page accent/card
				on-accent/accent on-accent/accent-hover key/card key/inset good/good-soft notable/notable-soft notable/card bad/bad-soft
				bad/card post/post-soft get/get-soft text/accent-soft text/notable-soft quiet/accent-soft string/card number/card key/card good/good-soft card/text accent/card bad/page`,
			3: "line-strong/card line-strong/inset accent/card notable/card bad/card",
		} {
			for _, pair := range strings.Fields(pairs) {
				front, back, _ := strings.Cut(pair, "/")
				if got := contrast(t, colours[front], colours[back]); got < need {
					t.Errorf("%s: %s on %s has a contrast of %.2f, want at least %.1f", scheme, front, back, got, need)
				}
			}
		}
	}
}

func variables(block string) map[string]string {
	found := make(map[string]string)
	for _, m := range regexp.MustCompile(`--([a-z-]+): #([0-9a-f]{6});`).FindAllStringSubmatch(block, -1) {
		found[m[1]] = m[2]
	}
	return found
}

func contrast(t *testing.T, a, b string) float64 {
	t.Helper()
	light, dark := luminance(t, a), luminance(t, b)
	return (max(light, dark) + .05) / (min(light, dark) + .05)
}

func luminance(t *testing.T, colour string) float64 {
	t.Helper()
	rgb, err := strconv.ParseUint(colour, 16, 24)
	if err != nil {
		t.Fatalf("colour %q: %v", colour, err)
	}
	linear := func(shift int) float64 {
		c := float64(rgb>>shift&0xff) / 255
		if c <= .04045 {
			return c / 12.92
		}
		return math.Pow((c+.055)/1.055, 2.4)
	}
	return .2126*linear(16) + .7152*linear(8) + .0722*linear(0)
}
