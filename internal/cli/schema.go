package cli

import (
	"github.com/spf13/cobra"

	"signpost/definition"
)

func (c *CLI) schemaCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "schema",
		Short: "Print the JSON Schema of the definition file",
		Long: `Schema prints the JSON Schema (2020-12) of the definition file. Save it next to the definition, and editors
complete fields and flag mistakes. Refer to it in a comment on the first line:

  # yaml-language-server: $schema=signpost.schema.json`,
		Example: `  signpost schema > signpost.schema.json`,
		Args:    usageArgs(cobra.ExactArgs(0)),
		RunE: func(*cobra.Command, []string) error {
			_, err := c.Stdout.Write(definition.Schema())
			return err
		},
	}
}
