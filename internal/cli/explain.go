package cli

import (
	"fmt"
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
			return ruleNames(), cobra.ShellCompDirectiveNoFileComp
		},
		RunE: run(func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				c.listRules()
				return nil
			}
			text := explanation(args[0])
			if text == "" {
				if near := spell.Nearest(args[0], ruleNames()); near != "" {
					return usageErrorf("there is no rule %q; did you mean %s?", args[0], near)
				}
				return usageErrorf("there is no rule %q; signpost explain lists them", args[0])
			}
			printf(c.Stdout, "%s", safe(text))
			return nil
		}),
	}
}

func (c *CLI) listRules() {
	for _, r := range definition.Rules() {
		printf(c.Stdout, "%-26s %-10s %s\n", r.Name, r.Severity, r.Summary)
	}
	for _, name := range foreign.Rules {
		printf(c.Stdout, "%-26s %-10s %s\n", name, "warning", "in manifests of others: something that the specification does not define")
	}
	for _, r := range diffRules() {
		printf(c.Stdout, "%-26s %-10s %s\n", r.name, r.level, plain(r.text))
	}
}

func ruleNames() []string {
	names := slices.Clone(foreign.Rules)
	for _, r := range definition.Rules() {
		names = append(names, r.Name)
	}
	for _, r := range diffRules() {
		names = append(names, r.name)
	}
	return names
}

// explanation returns the text about a rule, or "" if there is none.
func explanation(rule string) string {
	for _, r := range definition.Rules() {
		if r.Name == rule {
			return fmt.Sprintf("%s: %s of lint\n\n%s", rule, r.Severity, forTerminal(ruleText(rule)))
		}
	}
	if slices.Contains(foreign.Rules, rule) {
		return fmt.Sprintf("%s: warning about a manifest of others\n\n%s", rule, forTerminal(ruleText(rule)))
	}
	for _, r := range diffRules() {
		if r.name == rule {
			return fmt.Sprintf("%s: %s change in diff\n\n%s.\n", rule, r.level, strings.ToUpper(plain(r.text)[:1])+plain(r.text)[1:])
		}
	}
	return ""
}

// ruleText returns the section of docs/rules.md about a lint rule, in Markdown without its heading.
func ruleText(rule string) string {
	_, text, _ := strings.Cut(docs.Rules, "\n## "+rule+"\n")
	if end := regexp.MustCompile(`(?m)^##? `).FindStringIndex(text); end != nil {
		text = text[:end[0]]
	}
	return strings.Trim(text, "\n") + "\n"
}

// diffRule is a row of the table of rules in docs/diff.md.
type diffRule struct{ name, level, text string }

var diffRow = regexp.MustCompile("(?m)^\\| `([a-z-]+)` \\| (breaking|notable|compatible) \\| (.*) \\|$")

func diffRules() []diffRule {
	var rules []diffRule
	for _, row := range diffRow.FindAllStringSubmatch(docs.Diff, -1) {
		rules = append(rules, diffRule{row[1], row[2], row[3]})
	}
	slices.SortStableFunc(rules, func(a, b diffRule) int {
		levels := "breaking notable compatible"
		return strings.Index(levels, a.level) - strings.Index(levels, b.level)
	})
	return rules
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
