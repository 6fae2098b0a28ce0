package cli

import (
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"
)

func (c *CLI) completionCommand() *cobra.Command {
	shells := map[string]func(root *cobra.Command) error{
		"bash":       func(root *cobra.Command) error { return root.GenBashCompletionV2(c.Stdout, true) },
		"zsh":        func(root *cobra.Command) error { return root.GenZshCompletion(c.Stdout) },
		"fish":       func(root *cobra.Command) error { return root.GenFishCompletion(c.Stdout, true) },
		"powershell": func(root *cobra.Command) error { return root.GenPowerShellCompletionWithDesc(c.Stdout) },
	}
	names := slices.Sorted(maps.Keys(shells))
	return &cobra.Command{
		Use:   "completion SHELL",
		Short: "Print a shell completion script",
		Long: `Completion prints a script that completes Signpost's commands, flags and flag values in your shell. SHELL is
bash, fish, powershell or zsh. The packages for Debian and Fedora install these scripts. Bash needs
the package bash-completion, and zsh compinit in ~/.zshrc.`,
		Example: `  signpost completion bash > ~/.local/share/bash-completion/completions/signpost
  signpost completion zsh > "${fpath[1]}/_signpost"
  signpost completion fish > ~/.config/fish/completions/signpost.fish
  signpost completion powershell | Out-String | Invoke-Expression`,
		Args:      usageArgs(cobra.ExactArgs(1)),
		ValidArgs: names,
		RunE: func(cmd *cobra.Command, args []string) error {
			generate := shells[args[0]]
			if generate == nil {
				return usageErrorf("no completion for the shell %q, only for %s", args[0], strings.Join(names, ", "))
			}
			return generate(cmd.Root())
		},
	}
}
