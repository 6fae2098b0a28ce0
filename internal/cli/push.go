package cli

import (
	"context"

	"github.com/spf13/cobra"

	"signpost/internal/source"
	"signpost/internal/spell"
	"signpost/internal/workspace"
)

func (c *CLI) pushCommand() *cobra.Command {
	var strict bool
	var project string
	cmd := &cobra.Command{
		Use:   "push SOURCE... oci://HOST/REPOSITORY:TAG",
		Short: "Publish definitions to an OCI registry",
		Long: `Push stores definitions as one artifact in an OCI registry, which signpost serve can poll, and prints the artifact
with its digest. SOURCE is a file, a directory, REV:path for either at a git revision, - for standard input, or
another artifact. Push lints the definitions first: if there are errors or, with --strict, warnings, it pushes nothing.

Push reads credentials from the Docker configuration and its credential helpers, where docker login stores them.`,
		Example: `  signpost push services/ oci://oci.example.com/feeds:prod
  signpost push oci://oci.example.com/feeds@sha256:… oci://oci.example.com/feeds:prod`,
		Args: usageArgs(cobra.MinimumNArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error {
			target := args[len(args)-1]
			if !source.IsRegistry(target) {
				return usageErrorf("%q is not a push target: "+
					"the last argument must be an artifact, such as oci://oci.example.com/feeds:prod", target)
			}
			return c.push(cmd.Context(), args[:len(args)-1], target, project, strict)
		},
	}
	cmd.Flags().BoolVar(&strict, "strict", false, "also reject definitions with warnings")
	addProjectFlag(cmd, &project)
	c.addNetworkFlags(cmd)
	return cmd
}

func (c *CLI) push(ctx context.Context, args []string, target, project string, strict bool) error {
	obeyed, err := readProject(project)
	if err != nil {
		return err
	}
	c.project = obeyed
	if len(args)+len(c.project.Definitions) == 0 {
		return usageErrorf("no source: name what to push before %q", target)
	}
	r, err := c.read(ctx, c.reader(), workspace.Options{}, workspace.Arguments{Judged: args, Project: c.project})
	if err == nil {
		err = c.loadRegistered(r)
	}
	if err != nil {
		return err
	}
	findings := r.Findings()
	printFindings(c.Stderr, filesOf(r.judged), findings)
	if hasErrors(findings) || strict && len(findings) > 0 {
		printf(c.Stderr, "not pushed: %s\n", tally(findings))
		return errFindings
	}
	pushed, err := c.reader().Push(ctx, judgedDocuments(r.Snapshot), target)
	if err != nil {
		return err
	}
	printf(c.Stderr, "pushed %s to %s, %d of them new\n", spell.Count(pushed.Files, "file"), target, pushed.New)
	printf(c.Stdout, "%s\n", pushed.Name)
	return nil
}
