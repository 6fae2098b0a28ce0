// Package cli implements the command line. Each subcommand has its own file and is a short composition of the other
// packages; flags, environment, files, signals and exit codes are handled here and nowhere else.
package cli

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"signpost/internal/daemon"
	"signpost/internal/source"
	"signpost/internal/workspace"
)

// Exit codes. Scripts can tell a finding from a failure.
const (
	exitFine     = 0
	exitFindings = 1 // the command did its work and found something, such as lint errors
	exitUsage    = 2
	exitFailure  = 3 // the command could not do its work

	exitInterrupted = 130 // Ctrl-C, as shells have it, though there is a result
)

// CLI is the command line with all its inputs and outputs.
type CLI struct {
	Stdin     io.Reader
	Stdout    io.Writer // results
	Stderr    io.Writer // everything else
	LookupEnv func(name string) (string, bool)
	Environ   func() []string // as NAME=value, to detect misspelt variables; nil disables that
	Today     time.Time       // for deprecations and accepted changes; zero means the current date

	raw          io.Writer         // standard output for documents and protocols, which are not escaped
	warnings     []string          // about the environment
	caFile       string            // the flag --ca-file
	transport    *http.Transport   // how the command reaches other machines
	project      workspace.Project // what a command adds to its flags; none unless it has read it
	running      bool              // the command line is understood
	flags        *pflag.FlagSet    // of the command that runs
	variables    map[string]string // values of flags that come from the environment, by flag
	combinations []combination     // rules about the flags of all commands
	flush        func()            // writes what was printed in the background, if anything was
}

// exitError is an error with an exit code. A nil err means the error was already printed.
type exitError struct {
	code int
	err  error
}

func (e *exitError) Error() string { return fmt.Sprint(e.err) }

// errFindings ends a command whose findings have been printed.
var errFindings = &exitError{code: exitFindings}

func usageErrorf(format string, args ...any) error {
	return &exitError{code: exitUsage, err: fmt.Errorf(format, args...)}
}

// Main runs a command line and returns its exit code.
func (c CLI) Main(args []string) int {
	out := &results{Writer: c.Stdout}
	c.raw = out
	c.Stdout, c.Stderr = c.stream(out, c.Stdout), c.stream(c.Stderr, c.Stderr)

	root := c.Command()
	root.SetArgs(args)
	cmd, err := root.ExecuteC()
	defer func() {
		if c.flush != nil {
			c.flush()
		}
	}()
	var exit *exitError
	switch {
	case out.err != nil:
		exit = &exitError{code: exitFailure, err: out.err} // the output is incomplete, whatever was found
	case err == nil:
		return exitFine
	case !errors.As(err, &exit):
		exit = &exitError{code: exitFailure, err: err}
		var argument *source.ArgumentError
		if !c.running || errors.As(err, &argument) { // cobra rejects an unknown command, flag or argument
			exit.code = exitUsage
		}
	}
	switch {
	case exit.err == nil:
	case c.logsJSON(cmd, args):
		newLogger(c.Stderr, "json", "error").Error(exit.err.Error())
	default:
		printf(c.Stderr, "signpost: %v\n", exit.err)
		if exit.code == exitUsage {
			printf(c.Stderr, "See '%s --help'.\n", cmd.CommandPath())
		}
	}
	return exit.code
}

// Command returns the command line. Documentation is made from it, too.
func (c *CLI) Command() *cobra.Command {
	root := &cobra.Command{
		Use:   "signpost",
		Short: "Publish the endpoints of a data-source service to a configuration studio",
		Long: `Signpost serves the endpoints manifest of a data-source service, the JSON document that a configuration
studio imports to learn which feeds the service offers and how to call them, and helps you get it right.

You can also set every flag in the environment: --public-host is SIGNPOST_PUBLIC_HOST. Separate the values
of a repeatable flag with commas. A flag on the command line takes precedence. A variable that means nothing
for a command is ignored; a flag that means nothing is a usage error. A value that only another command
accepts is ignored with a warning: SIGNPOST_LISTEN=:8080 is for serve, since studio listens on loopback only.

Exit status: 0 success, 1 findings, 2 usage error, 3 any other failure.`,
		RunE:          func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
		SilenceErrors: true,
		SilenceUsage:  true,
		PersistentPreRunE: func(cmd *cobra.Command, _ []string) error {
			c.running, c.flags = true, cmd.Flags()
			if !slices.Contains([]string{"serve", "studio", "lsp"}, cmd.Name()) {
				daemon.PaceCollector(daemon.CommandPercent)
			}
			if err := c.readEnvironment(cmd); err != nil {
				return err
			}
			return c.openNetwork()
		},
		Version:           buildVersion(),
		Args:              knownCommand,
		CompletionOptions: cobra.CompletionOptions{DisableDefaultCmd: true}, // replaced by completionCommand
	}
	root.SetVersionTemplate(versionLine())
	root.SetIn(c.Stdin)
	root.SetOut(c.Stdout)
	root.SetErr(c.Stderr)
	root.SetFlagErrorFunc(flagError)
	root.SetHelpCommand(helpCommand(root))
	root.AddCommand(
		c.serveCommand(),
		c.lintCommand(),
		c.explainCommand(),
		c.renderCommand(),
		c.diffCommand(),
		c.checkCommand(),
		c.matchCommand(),
		c.usageCommand(),
		c.importCommand(),
		c.studioCommand(),
		c.pushCommand(),
		c.initCommand(),
		c.lspCommand(),
		c.schemaCommand(),
		c.versionCommand(),
		c.completionCommand(),
	)
	return root
}

// helpCommand is like cobra's, except that an unknown topic is a usage error.
func helpCommand(root *cobra.Command) *cobra.Command {
	return &cobra.Command{
		Use:   "help [COMMAND]",
		Short: "Show the help of a command",
		Args:  usageArgs(cobra.MaximumNArgs(1)),
		RunE: func(_ *cobra.Command, args []string) error {
			cmd, rest, err := root.Find(args)
			if err == nil && cmd == root {
				err = knownCommand(root, rest)
			}
			if err != nil {
				return usageErrorf("%w", err)
			}
			return cmd.Help()
		},
	}
}

// knownCommand reports an unknown command, with the nearest one. Cobra's own suggestions take several lines.
func knownCommand(root *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	names := each(root.Commands(), (*cobra.Command).Name)
	return fmt.Errorf("unknown command %q%s", args[0], didYouMean(cmp.Or(otherCommands[args[0]], args[0]), "", names))
}

// otherCommands are our names for commands of other programs that people try.
var otherCommands = map[string]string{"validate": "lint", "verify": "lint", "start": "serve", "run": "serve"}

// usageArgs makes the error for a wrong number of arguments say what the command accepts.
func usageArgs(check cobra.PositionalArgs) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if err := check(cmd, args); err != nil {
			return fmt.Errorf("%w: %s", err, cmd.UseLine())
		}
		return nil
	}
}
