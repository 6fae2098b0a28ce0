package cli

import (
	"cmp"
	_ "embed"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"signpost/internal/source"
)

//go:embed starter.yaml
var starter []byte

// defaultDefinition is the file that init writes by default.
const defaultDefinition = "signpost.yaml"

func (c *CLI) initCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "init [FILE]",
		Short: "Write a commented starter definition",
		Long: `Init writes a commented definition to FILE, by default ` + defaultDefinition + `. It never overwrites a file. Pass - to write
to standard output.`,
		Example: `  signpost init feeds.yaml`,
		Args:    usageArgs(cobra.MaximumNArgs(1)),
		RunE: func(_ *cobra.Command, args []string) error {
			path := defaultDefinition
			if len(args) > 0 {
				path = args[0]
			}
			return c.init(path)
		},
	}
}

func (c *CLI) init(path string) error {
	if path == source.Stdin {
		_, err := c.Stdout.Write(starter)
		return err
	}
	if ext := filepath.Ext(path); ext != ".yaml" && ext != ".yml" {
		return usageErrorf("init writes YAML, so %q should end in .yaml", path)
	}
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("write definition %q: the file already exists; choose another name, or remove it first", path)
	}
	if err == nil {
		_, err = f.Write(starter)
		err = cmp.Or(err, f.Close())
	}
	if err != nil {
		return fmt.Errorf("write definition: %w", err)
	}
	printf(c.Stderr, "Wrote %s. Next:\n  %[2]s lint %[1]s\n  %[2]s studio %[1]s\n  %[2]s serve %[1]s\n", path, programName())
	return nil
}
