package cli

import (
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"signpost"
	"signpost/definition"
	"signpost/internal/source"
)

func (c *CLI) lintCommand() *cobra.Command {
	format := enum{value: "text", allowed: []string{"text", "json", "sarif", "github"}}
	var strict bool
	var registered []string
	cmd := &cobra.Command{
		Use:   "lint [FILE|DIR|- ...]",
		Short: "Find what is wrong with definitions, with file, line and column",
		Long: `Lint reads definitions and prints everything that is wrong with them: the findings to standard output, a
summary to standard error. A folder stands for the .yaml, .yml and .json files in it, - for standard input.
Without an argument it reads the folder that it is run in.

Files that are given together are checked as services of one server and as registered in one studio: two with the
same base_path are an error, and endpoints that take feeds from each other are found across files and versions.
--registered names what the studio has besides. The exit code is 1 if there is an error.

A warning does not keep a definition from being served. Where it is meant, say so in a comment on its line or
above it, or in the field allow of the endpoint:

  # signpost: allow overlap-drops-context because these feeds are public`,
		Example: `  signpost lint feeds.yaml
  signpost lint --strict --format github services/`,
		RunE: run(func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				args = []string{"."}
			}
			return c.lint(cmd.Context(), args, registered, format.value, strict)
		}),
	}
	format.addTo(cmd, "format", "how to print the findings")
	addRegisteredFlag(cmd, &registered)
	cmd.Flags().BoolVar(&strict, "strict", false, "take warnings for errors")
	return cmd
}

func (c *CLI) lint(ctx context.Context, args, registered []string, format string, strict bool) error {
	reader := c.reader()
	documents, err := reader.Read(ctx, args...)
	if err != nil {
		return err
	}
	files := source.ParseDefinitions(documents)
	var names []string
	for _, d := range documents {
		names = append(names, d.Name)
	}
	besides, err := c.readRegistered(ctx, reader, registered, names...)
	if err != nil {
		return err
	}
	var others []*definition.File
	for _, s := range besides {
		others = append(others, s.File)
	}
	findings := definition.LintTogether(files, others)
	if strict {
		for i := range findings {
			findings[i].Severity = signpost.SeverityError
		}
	}
	switch format {
	case "json":
		err = printJSON(c.Stdout, findings)
	case "sarif":
		err = printJSON(c.Stdout, newSARIF(findings))
	case "github":
		printGitHub(c.Stdout, findings)
	default:
		printFindings(c.Stdout, c.palette(c.Stdout), files, findings)
	}
	if err != nil {
		return fmt.Errorf("print findings: %w", err)
	}
	fmt.Fprintf(c.Stderr, "%s: %s, %s\n", plural(len(files), "file"),
		plural(count(findings, signpost.SeverityError), "error"), plural(count(findings, signpost.SeverityWarning), "warning"))
	if hasErrors(findings) {
		return foundSomething
	}
	return nil
}

// printGitHub writes findings as workflow commands, which GitHub shows beside the lines of a pull request.
func printGitHub(w io.Writer, findings []signpost.Finding) {
	data := strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A")
	property := strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A", ":", "%3A", ",", "%2C")
	for _, f := range findings {
		message := f.Message
		if f.Hint != "" {
			message += "\n" + f.Hint
		}
		fmt.Fprintf(w, "::%s file=%s,line=%d,col=%d,endColumn=%d,title=%s::%s\n",
			f.Severity, property.Replace(f.File), f.Line, f.Column, f.Column+f.Width, property.Replace(f.Rule), data.Replace(message))
	}
}
