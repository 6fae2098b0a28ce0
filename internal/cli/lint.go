package cli

import (
	"fmt"

	"github.com/spf13/cobra"

	"signpost"
	"signpost/definition"
)

func (c *CLI) lintCommand() *cobra.Command {
	format := enum{value: "text", allowed: []string{"text", "json"}}
	cmd := &cobra.Command{
		Use:   "lint [FILE|DIR|- ...]",
		Short: "Find what is wrong with definitions, with file, line and column",
		Long: `Lint reads definitions and prints everything that is wrong with them: the findings to standard output, a
summary to standard error. A folder stands for the .yaml, .yml and .json files in it, - for standard input.
Without an argument it reads the folder that it is run in.

Files that are given together are checked as services of one server, so two with the same base_path are an
error. The exit code is 1 if there is an error.`,
		Example: `  signpost lint feeds.yaml
  signpost lint --format json services/`,
		RunE: run(func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				args = []string{"."}
			}
			return c.lint(args, format.value)
		}),
	}
	format.addTo(cmd, "format", "how to print the findings")
	return cmd
}

func (c *CLI) lint(args []string, format string) error {
	files, err := c.load(args)
	if err != nil {
		return err
	}
	findings := definition.Lint(files...)
	if format == "json" {
		if err := printFindingsJSON(c.Stdout, findings); err != nil {
			return fmt.Errorf("print findings: %w", err)
		}
	} else {
		printFindings(c.Stdout, files, findings)
	}
	fmt.Fprintf(c.Stderr, "%s: %s, %s\n", plural(len(files), "file"),
		plural(count(findings, signpost.SeverityError), "error"), plural(count(findings, signpost.SeverityWarning), "warning"))
	if hasErrors(findings) {
		return foundSomething
	}
	return nil
}
