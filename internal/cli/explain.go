package cli

import (
	"cmp"
	"regexp"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"signpost/definition"
	"signpost/diff"
	"signpost/docs"
	"signpost/internal/foreign"
)

func (c *CLI) explainCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "explain [RULE]",
		Short: "Explain a rule of lint or diff, with examples",
		Long: `Explain describes a rule of lint or diff. For lint rules, it also prints an example that fails and one that passes.
Without an argument, it lists all rules.`,
		Example: "  signpost explain overlap-drops-context",
		Args:    usageArgs(cobra.MaximumNArgs(1)),
		ValidArgsFunction: func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
			return namesOf(allRules()), cobra.ShellCompDirectiveNoFileComp
		},
		RunE: func(_ *cobra.Command, args []string) error {
			rules := allRules()
			if len(args) == 0 {
				for _, r := range rules {
					printf(c.Stdout, "%-26s %-10s %s\n", r.name, r.level, r.summary)
				}
				return nil
			}
			i := slices.IndexFunc(rules, func(r rule) bool { return r.name == args[0] })
			if i < 0 {
				hint := cmp.Or(didYouMean(args[0], "", namesOf(rules)), "; signpost explain lists them")
				return usageErrorf("there is no rule %q%s", args[0], hint)
			}
			printf(c.Stdout, "%s: %s\n\n%s", rules[i].name, rules[i].level, safe(rules[i].text))
			return nil
		},
	}
}

// rule is a rule of lint or diff, as explain describes it.
type rule struct {
	name, level, summary, text string
}

func allRules() []rule {
	var rules []rule
	for _, r := range definition.Rules() {
		rules = append(rules, rule{r.Name, string(r.Severity), r.Summary, forTerminal(ruleText(r.Name))})
	}
	for _, name := range foreign.Rules {
		rules = append(rules, rule{name, "warning",
			"in manifests of others: something that the specification does not define", forTerminal(ruleText(name))})
	}
	for _, level := range levels {
		for _, r := range diff.Rules() {
			if text := plain(r.Meaning); r.Level == level {
				rules = append(rules, rule{r.Name, string(level), text, strings.ToUpper(text[:1]) + text[1:] + ".\n"})
			}
		}
	}
	return rules
}

func namesOf(rules []rule) []string {
	return each(rules, func(r rule) string { return r.name })
}

var nextSection = regexp.MustCompile(`(?m)^##? `)

// ruleText returns the section of docs/rules.md about a lint rule, in Markdown without its heading.
func ruleText(rule string) string {
	_, text, _ := strings.Cut(docs.Rules, "\n## "+rule+"\n")
	if end := nextSection.FindStringIndex(text); end != nil {
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
