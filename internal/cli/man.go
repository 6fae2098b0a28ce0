package cli

import (
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// ManPages returns the man page of every command, by file name, such as signpost-lint.1.
func (c *CLI) ManPages(version string, date time.Time) map[string]string {
	pages := make(map[string]string)
	root := c.rootCommand()
	root.InitDefaultHelpFlag()
	for _, cmd := range append([]*cobra.Command{root}, root.Commands()...) {
		pages[manName(cmd)+".1"] = manPage(cmd, version, date)
	}
	return pages
}

// manName returns the name of a command's page.
func manName(cmd *cobra.Command) string {
	return strings.ReplaceAll(cmd.CommandPath(), " ", "-")
}

func manPage(cmd *cobra.Command, version string, date time.Time) string {
	var page strings.Builder
	line := func(format string, args ...any) { fmt.Fprintf(&page, format+"\n", args...) }
	line(`.TH "%s" "1" "%s" "signpost %s" "Signpost"`, strings.ToUpper(manName(cmd)), date.UTC().Format(time.DateOnly), roff(version))
	line(".SH NAME\n%s \\- %s", roff(manName(cmd)), roff(cmd.Short))
	line(".SH SYNOPSIS\n.B %s", roff(cmd.UseLine()))
	line(".SH DESCRIPTION\n%s", roffText(cmd.Long))
	if cmd.HasAvailableSubCommands() {
		line(".SH COMMANDS")
		for _, sub := range cmd.Commands() {
			line(".TP\n.B %s\n%s", roff(sub.Name()), roff(sub.Short))
		}
	}
	cmd.InitDefaultHelpFlag()
	line(".SH OPTIONS")
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		if !f.Hidden {
			line(".TP\n%s\n%s", roffFlag(f), roff(flagUsage(f)))
		}
	})
	if cmd.Example != "" {
		line(".SH EXAMPLES\n.nf\n%s\n.fi", roff(cmd.Example))
	}
	line(".SH ENVIRONMENT\nEvery flag has an environment variable: SIGNPOST_ and its name in capitals, with _ for \\-. A flag that is given wins.")
	line(".SH EXIT STATUS\n.TP\n.B 0\nfine\n.TP\n.B 1\nfindings\n.TP\n.B 2\nwrong usage\n.TP\n.B 3\nthe command could not do its work")
	var others []string
	for _, other := range append([]*cobra.Command{cmd.Root()}, cmd.Root().Commands()...) {
		if other != cmd {
			others = append(others, fmt.Sprintf(".BR %s (1)", roff(manName(other))))
		}
	}
	line(".SH SEE ALSO\n%s", strings.Join(others, ",\n"))
	return page.String()
}

// roffFlag formats a flag in bold, with the name of its value in italics.
func roffFlag(f *pflag.Flag) string {
	value, _ := pflag.UnquoteUsage(f)
	text := `\fB` + roff("--"+f.Name) + `\fR`
	if f.Shorthand != "" {
		text = `\fB` + roff("-"+f.Shorthand) + `\fR, ` + text
	}
	if value != "" {
		text += ` \fI` + roff(value) + `\fR`
	}
	return text
}

// flagUsage returns the usage of a flag with its default.
func flagUsage(f *pflag.Flag) string {
	_, usage := pflag.UnquoteUsage(f)
	switch f.DefValue {
	case "", "false", "[]", "0", "0s":
		return usage
	}
	return fmt.Sprintf("%s (default %s)", usage, f.DefValue)
}

// roffText formats the paragraphs of a help text. Indented lines are kept as they are.
func roffText(text string) string {
	var out []string
	for paragraph := range strings.SplitSeq(strings.TrimSpace(text), "\n\n") {
		if strings.HasPrefix(paragraph, "  ") {
			out = append(out, ".PP\n.nf\n"+roff(paragraph)+"\n.fi")
		} else {
			out = append(out, ".PP\n"+roff(paragraph))
		}
	}
	return strings.Join(out, "\n")
}

// roffEscapes escapes backslashes, and characters that troff would turn into typographic ones, so that commands copied
// from a man page work in a shell.
var roffEscapes = strings.NewReplacer(`\`, `\e`, "-", `\-`, "'", `\(aq`, "`", `\(ga`, "^", `\(ha`, "~", `\(ti`)

// roff escapes text that troff would interpret as a request.
func roff(text string) string {
	var out strings.Builder
	for _, r := range roffEscapes.Replace(text) {
		if r < utf8.RuneSelf {
			out.WriteRune(r)
		} else {
			fmt.Fprintf(&out, `\[u%04X]`, r)
		}
	}
	lines := strings.Split(out.String(), "\n")
	for i, line := range lines {
		if strings.HasPrefix(line, ".") {
			lines[i] = `\&` + line
		}
	}
	return strings.Join(lines, "\n")
}
