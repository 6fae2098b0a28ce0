package cli

import (
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"
)

func (c *CLI) versionCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "Print the version of Signpost",
		Args:  usageArgs(cobra.NoArgs),
		RunE: run(func(*cobra.Command, []string) error {
			_, err := fmt.Fprintf(c.Stdout, "signpost %s %s %s/%s\n", buildVersion(), runtime.Version(), runtime.GOOS, runtime.GOARCH)
			return err
		}),
	}
}

// buildVersion returns the module version that the Go toolchain recorded, or "(devel)" with the commit.
func buildVersion() string {
	info, ok := debug.ReadBuildInfo()
	if !ok || info.Main.Version == "" {
		return "(devel)"
	}
	return info.Main.Version
}
