package cli

import (
	"errors"
	"log/slog"

	"github.com/spf13/cobra"

	"signpost/internal/lsp"
)

func (c *CLI) lspCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "lsp",
		Short: "Run the language server for editors, on standard input and output",
		Long: `Lsp speaks the Language Server Protocol on standard input and output. Your editor starts it: see docs/editors.md
for the settings of VS Code, Neovim, Helix and Zed.`,
		Args: usageArgs(cobra.ExactArgs(0)),
		RunE: func(*cobra.Command, []string) error {
			err := lsp.Serve(c.Stdin, c.raw, lsp.Options{
				Version: buildVersion(),
				Log:     slog.New(slog.NewTextHandler(c.Stderr, nil)),
			})
			if errors.Is(err, lsp.ErrNoShutdown) {
				return &exitError{code: exitFindings, err: err} // as the protocol requires
			}
			return err
		},
	}
	cmd.Flags().Bool("stdio", false, "use standard input and output, as always; many editors pass this flag")
	flagsAlone(cmd, "stdio")
	return cmd
}
