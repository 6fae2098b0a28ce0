package cli

import (
	"regexp"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"signpost/definition"
	"signpost/docs"
	"signpost/internal/foreign"
	"signpost/internal/spell"
)

func (c *CLI) explainCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "explain RULE",
		Short: "Explain a rule of lint or diff, with examples",
		Long: `Explain describes a rule of lint or diff. For lint rules, it also prints an example that fails and one that passes.
Without an argument, it lists all rules.`,
		Example: "  signpost explain overlap-drops-context",
		Args:    cobra.MaximumNArgs(1),
		ValidArgsFunction: func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
			return namesOf(allRules()), cobra.ShellCompDirectiveNoFileComp
		},
		RunE: run(func(_ *cobra.Command, args []string) error {
			rules := allRules()
			if len(args) == 0 {
				for _, r := range rules {
					printf(c.Stdout, "%-26s %-10s %s\n", r.name, r.level, r.summary)
				}
				return nil
			}
			i := slices.IndexFunc(rules, func(r rule) bool { return r.name == args[0] })
			if i < 0 {
				if near := spell.Nearest(args[0], namesOf(rules)); near != "" {
					return usageErrorf("there is no rule %q; did you mean %s?", args[0], near)
				}
				return usageErrorf("there is no rule %q; signpost explain lists them", args[0])
			}
			printf(c.Stdout, "%s: %s %s\n\n%s", rules[i].name, rules[i].level, safe(rules[i].of), safe(rules[i].text()))
			return nil
		}),
	}
}

// rule is a rule of lint or diff, as explain describes it.
type rule struct {
	name, level, of, summary string
	text                     func() string
}

func allRules() []rule {
	var rules []rule
	inDocs := func(name string) func() string {
		return func() string { return forTerminal(ruleText(name)) }
	}
	for _, r := range definition.Rules() {
		rules = append(rules, rule{r.Name, string(r.Severity), "of lint", r.Summary, inDocs(r.Name)})
	}
	for _, name := range foreign.Rules {
		rules = append(rules, rule{name, "warning", "about a manifest of others",
			"in manifests of others: something that the specification does not define", inDocs(name)})
	}
	rows := diffRow.FindAllStringSubmatch(docs.Diff, -1)
	for _, level := range levels {
		for _, row := range rows {
			if text := plain(row[3]); row[2] == string(level) {
				rules = append(rules, rule{row[1], row[2], "change in diff", text, func() string { return strings.ToUpper(text[:1]) + text[1:] + ".\n" }})
			}
		}
	}
	return rules
}

func namesOf(rules []rule) []string {
	var names []string
	for _, r := range rules {
		names = append(names, r.name)
	}
	return names
}

// diffRow matches a row of the table of rules in docs/diff.md.
var diffRow = regexp.MustCompile("(?m)^\\| `([a-z-]+)` \\| (breaking|notable|compatible) \\| (.*) \\|$")

// ruleText returns the section of docs/rules.md about a lint rule, in Markdown without its heading.
func ruleText(rule string) string {
	_, text, _ := strings.Cut(docs.Rules, "\n## "+rule+"\n")
	if end := regexp.MustCompile(`(?m)^##? `).FindStringIndex(text); end != nil {
		text = text[:end[0]]
	}
	return strings.Trim(text, "\n") + "\n"
}

var link = regexp.MustCompile(`\[([^\]]+)\]\([^)]*\)`)

// plain returns Markdown without links and code marks.
func plain(markdown string) string {
	return strings.ReplaceAll(link.ReplaceAllString(markdown, "$1"), "`", "")
}

// forTerminal formats Markdown for a terminal: code is indented.
func forTerminal(markdown string) string {
	var out strings.Builder
	code := false
	for line := range strings.Lines(markdown) {
		switch {
		case strings.HasPrefix(line, "```"):
			code = !code
		case code:
			out.WriteString("    " + line)
		default:
			out.WriteString(plain(line))
		}
	}
	return out.String()
}
