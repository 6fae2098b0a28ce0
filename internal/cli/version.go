package cli

import (
	"fmt"
	"os"
	"runtime"
	"runtime/debug"
	"strings"

	"github.com/spf13/cobra"
)

func (c *CLI) versionCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "Print the version of Signpost",
		Args:  usageArgs(cobra.ExactArgs(0)),
		RunE: func(*cobra.Command, []string) error {
			printf(c.Stdout, "%s", safe(versionLine()))
			return nil
		},
	}
}

// programName returns what a person types to run this program again. After go run, it is on no PATH.
func programName() string {
	if strings.Contains(os.Args[0], "go-build") {
		return "go run ./cmd/signpost"
	}
	return "signpost"
}

func versionLine() string {
	return fmt.Sprintf("signpost %s %s %s/%s\n", buildVersion(), runtime.Version(), runtime.GOOS, runtime.GOARCH)
}

// release is the version of a release. The release build sets it with -ldflags -X, because the Go toolchain would
// record the state of the working tree instead.
var release string

// buildVersion returns the version of the release, the module version recorded by the Go toolchain, or "(devel)".
func buildVersion() string {
	if release != "" {
		return release
	}
	info, ok := debug.ReadBuildInfo()
	if !ok || info.Main.Version == "" {
		return "(devel)"
	}
	return info.Main.Version
}
