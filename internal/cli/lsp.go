package cli

import (
	"errors"
	"log/slog"

	"github.com/spf13/cobra"

	"signpost/internal/lsp"
)

func (c *CLI) lspCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "lsp",
		Short: "Run the language server for editors, on standard input and output",
		Long: `Lsp speaks the Language Server Protocol on standard input and output. An editor starts it, and then shows findings
while you type, completes fields and names, explains what is under the cursor, follows and renames shared
modifiers and features, and applies fixes.

You do not run it yourself: docs/editors.md has the settings for VS Code, Neovim, Helix and Zed. Problems of the
server itself are logged to standard error, which editors keep in a log of their own.`,
		Args: usageArgs(cobra.NoArgs),
		RunE: run(func(cmd *cobra.Command, _ []string) error {
			err := lsp.Serve(cmd.Context(), c.Stdin, c.Stdout, lsp.Options{
				Version: buildVersion(),
				Log:     slog.New(slog.NewTextHandler(c.Stderr, nil)),
			})
			if errors.Is(err, lsp.ErrNoShutdown) {
				return &exitError{exitFindings, err} // the protocol asks for 1
			}
			return err
		}),
	}
}
