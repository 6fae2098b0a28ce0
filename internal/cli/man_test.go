package cli

import (
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/spf13/pflag"
)

// TestManPages looks for every command and every flag in the man pages, and formats them with groff.
func TestManPages(t *testing.T) {
	c := &CLI{LookupEnv: func(string) (string, bool) { return "", false }}
	pages := c.ManPages("v1.2.3", time.Date(2026, 1, 31, 23, 0, 0, 0, time.UTC))
	root := c.rootCommand()
	if want := len(root.Commands()) + 1; len(pages) != want {
		t.Errorf("%d pages, want one for each of %d commands", len(pages), want)
	}
	for _, cmd := range root.Commands() {
		name := "signpost-" + cmd.Name() + ".1"
		text := format(t, name, pages[name])
		cmd.Flags().VisitAll(func(f *pflag.Flag) {
			if !strings.Contains(text, "--"+f.Name) {
				t.Errorf("%s lacks the flag --%s", name, f.Name)
			}
		})
		for _, want := range []string{cmd.Short, "signpost v1.2.3", "2026-01-31", "signpost " + cmd.Use} {
			if !strings.Contains(strings.Join(strings.Fields(text), " "), want) {
				t.Errorf("%s lacks %q:\n%s", name, want, text)
			}
		}
	}
	if text := format(t, "signpost.1", pages["signpost.1"]); !strings.Contains(text, "SIGNPOST_PUBLIC_HOST") || !strings.Contains(text, "lint") {
		t.Errorf("signpost.1 has neither commands nor environment:\n%s", text)
	}
}

// format returns a man page as plain text. Without groff it only undoes the escapes.
func format(t *testing.T, name, page string) string {
	t.Helper()
	groff, err := exec.LookPath("groff")
	if err != nil {
		return strings.NewReplacer(`\-`, "-", `\fB`, "", `\fI`, "", `\fR`, "", `\(aq`, "'", `"`, "", ".B ", "", `\e`, `\`, `\[u2026]`, "…").Replace(page)
	}
	cmd := exec.Command(groff, "-man", "-ww", "-Tutf8", "-P-c", "-P-b", "-P-o", "-P-u", "-rLL=1000n", "-rHY=0")
	cmd.Stdin = strings.NewReader(page)
	var warnings strings.Builder
	cmd.Stderr = &warnings
	text, err := cmd.Output()
	if err != nil || warnings.Len() > 0 {
		t.Errorf("groff reports problems in %s: %v\n%s", name, err, warnings.String())
	}
	return string(text)
}
