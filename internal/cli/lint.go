package cli

import (
	"cmp"
	"context"
	"fmt"
	"path/filepath"

	"github.com/spf13/cobra"

	"signpost"
	"signpost/definition"
	"signpost/internal/readfile"
	"signpost/internal/spell"
	"signpost/internal/workspace"
)

// lintFlags holds the flags of lint.
type lintFlags struct {
	features    []string
	format      enum
	strict      bool
	registered  []string
	contextKeys string // a file; "" for none

	fix    bool
	dryRun bool // only show what fix would change

	baseline       string // a file; "" for none
	updateBaseline bool
}

func (c *CLI) lintCommand() *cobra.Command {
	f := lintFlags{format: enum{value: "text", allowed: []string{"text", "json", "sarif", "github", "gitlab"}}}
	cmd := &cobra.Command{
		Use:   "lint [FILE|DIR|- ...]",
		Short: "Check definitions and report mistakes with file, line and column",
		Long: `Lint checks definitions: files, directories, oci://HOST/REPOSITORY:TAG for pushed ones, or - for standard input; by
default, the definitions of the project, or else the current directory. The exit status is 1 if there is an error.

All files of one run count as services of one server, registered in one studio, so that endpoints that capture each
other's feeds are found across files and versions. --registered adds other sources that the studio has registered. A
project file, .signpost.yaml in the current directory or above it, says what is registered together for all commands.

A definition with warnings is still served. If a warning is not a mistake, allow it in the allow field of the endpoint
or of the file, with the reason:

  allow: {overlap-drops-context: these feeds are public}

--fix applies the fixes that are certain, such as correcting a misspelt field, and reports the remaining findings.`,
		Example: `  signpost lint feeds.yaml
  signpost lint --strict --format github services/
  signpost lint --fix feeds.yaml`,
		RunE: func(cmd *cobra.Command, args []string) error {
			return c.lint(cmd.Context(), args, f)
		},
	}
	f.format.addTo(cmd, "format", "output format")
	addRegisteredFlag(cmd, &f.registered)
	addFeatureFlag(cmd, &f.features)
	cmd.Flags().BoolVar(&f.strict, "strict", false, "treat warnings as errors")
	cmd.Flags().StringVar(&f.contextKeys, "context-keys", "",
		"`file` of the context keys that apps support: an object from key to description")
	cmd.Flags().BoolVar(&f.fix, "fix", false, "apply fixes to the files")
	cmd.Flags().BoolVar(&f.dryRun, "dry-run", false, "with --fix, print the changes and write nothing")
	cmd.Flags().StringVar(&f.baseline, "baseline", "", "`file` of known findings, which are not reported")
	cmd.Flags().BoolVar(&f.updateBaseline, "update-baseline", false, "write the current findings to the baseline")
	c.addNetworkFlags(cmd)
	c.require(cmd, "dry-run", "fix", "--dry-run goes with --fix")
	c.exclude(cmd, "dry-run", "format", "--dry-run prints a unified diff: remove --format")
	c.exclude(cmd, "dry-run", "update-baseline", "--dry-run writes nothing: remove --update-baseline")
	c.require(cmd, "update-baseline", "baseline", "--update-baseline goes with --baseline FILE")
	return cmd
}

func (c *CLI) lint(ctx context.Context, args []string, f lintFlags) error {
	project, err := findProject()
	if err != nil {
		return err
	}
	c.project = project
	files, findings, args, err := c.lintProjects(args)
	if err != nil {
		return err
	}
	var unread error // of something beside them
	if len(findings) == 0 && (len(files) == 0 || len(args) > 0) {
		var judged []*definition.File
		judged, findings, unread = c.lintDefinitions(ctx, args, f)
		if findings == nil {
			return unread
		}
		files = append(files, judged...)
	}
	summary := ""
	if f.baseline != "" {
		findings, summary, err = c.applyBaseline(findings, f)
		if err != nil {
			return err
		}
	}
	if f.strict {
		for i := range findings {
			findings[i].Severity = signpost.SeverityError
		}
	}
	if !f.dryRun {
		c.printLint(files, findings, f.format.value)
	}
	printf(c.Stderr, "%s: %s%s\n", spell.Count(len(files), "file"), tally(findings), summary)
	if hasErrors(findings) {
		return errFindings
	}
	return unread
}

// lintProjects judges the project files that the arguments name, and that of the working directory if it has errors. It
// returns them, and the other arguments.
func (c *CLI) lintProjects(args []string) (
	files []*definition.File, findings []signpost.Finding, others []string, err error,
) {
	var projects []workspace.Project
	findings = []signpost.Finding{}
	for _, arg := range args {
		if filepath.Base(arg) != definition.ProjectName {
			others = append(others, arg)
			continue
		}
		p, err := workspace.ReadProject(arg)
		if err != nil {
			return nil, nil, nil, err
		}
		projects = append(projects, p)
	}
	if len(c.project.Findings()) > 0 && len(projects) == 0 {
		projects = append(projects, c.project)
	}
	for _, p := range projects {
		files, findings = append(files, p.File()), append(findings, p.Findings()...)
	}
	return files, findings, others, nil
}

// lintDefinitions judges definitions together with everything else that is registered, after fixing them if that is
// asked for. If something else cannot be read, that is an error beside the findings.
func (c *CLI) lintDefinitions(
	ctx context.Context, args []string, f lintFlags,
) ([]*definition.File, []signpost.Finding, error) {
	keys, err := readContextKeys(f.contextKeys)
	if err != nil {
		return nil, nil, err
	}
	if len(args) == 0 && len(c.project.Definitions) == 0 {
		args = []string{"."}
	}
	opts := workspace.Options{Definition: definition.Options{ContextKeys: keys, Features: f.features}}
	reader := c.reader()
	everything := workspace.Arguments{Judged: args, Registered: f.registered, Project: c.project}
	r, err := c.read(ctx, reader, opts, everything)
	if err != nil {
		return nil, nil, err
	}
	if err := checkFeatures("--feature", filesOf(r.judged), f.features); err != nil {
		return nil, nil, err
	}
	if f.fix {
		if err := c.fix(r.Snapshot, c.project.Options(opts.Definition), f); err != nil {
			return nil, nil, err
		}
	}
	if f.fix && !f.dryRun {
		reader.Note = nil
		r, err = c.read(ctx, reader, opts, everything)
		if err != nil {
			return nil, nil, err
		}
	}
	err = c.loadRegistered(r)
	unread := c.requireWhole("definitions of "+c.project.Path, r.beside)
	return filesOf(r.judged), r.Findings(), cmp.Or(err, unread)
}

// applyBaseline returns the findings that are not in the baseline, and a note for the summary. With --update-baseline
// it writes them and returns those that a baseline cannot have.
func (c *CLI) applyBaseline(findings []signpost.Finding, f lintFlags) ([]signpost.Finding, string, error) {
	if f.updateBaseline {
		left, err := writeBaseline(f.baseline, findings)
		written := spell.Count(len(findings)-len(left), "finding")
		return left, fmt.Sprintf("; %s written to %s", written, f.baseline), err
	}
	left, gone, err := withoutBaseline(f.baseline, findings)
	if gone > 0 {
		printf(c.Stderr, "%s of %s no longer there: --update-baseline removes them\n",
			spell.Count(gone, "finding"), f.baseline)
	}
	return left, fmt.Sprintf("; %d in the baseline", len(findings)-len(left)), err
}

// printLint writes findings in the given format.
func (c *CLI) printLint(files []*definition.File, findings []signpost.Finding, format string) {
	switch format {
	case "json":
		printJSON(c.Stdout, findings)
	case "sarif":
		printJSON(c.Stdout, newSARIF(findings))
	case "github":
		printGitHub(c.Stdout, findings)
	case "gitlab":
		printJSON(c.Stdout, newGitLab(findings))
	default:
		printFindings(c.Stdout, files, findings)
	}
}

// readContextKeys reads a catalogue of context keys, or returns nil if path is empty.
func readContextKeys(path string) (map[string]string, error) {
	if path == "" {
		return nil, nil
	}
	text, err := readfile.Limit(path, definition.MaxSize)
	if err != nil {
		return nil, fmt.Errorf("read context keys: %w", err)
	}
	keys, findings := definition.ParseContextKeys(path, text)
	if len(findings) > 0 {
		return nil, fmt.Errorf("read context keys: %s", findings[0])
	}
	return keys, nil
}
