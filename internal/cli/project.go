package cli

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"signpost/internal/workspace"
)

// addProjectFlag adds --project, for commands that do not look for a project file themselves.
func addProjectFlag(cmd *cobra.Command, path *string) {
	cmd.Flags().StringVar(path, "project", "",
		"`file` of the project, usually .signpost.yaml: definitions, registered, hosts, context_keys")
}

// enterPhysically makes the process call its working directory as the system does. A shell that came through a symbolic
// link calls it by another name, above which are other directories.
func enterPhysically() {
	here, err := os.Getwd()
	if err != nil {
		return
	}
	if real, err := filepath.EvalSymlinks(here); err == nil {
		os.Setenv("PWD", real) // where os.Getwd looks first
	}
}

// findProject returns the project of the working directory, which may have findings.
func findProject() (workspace.Project, error) {
	enterPhysically()
	path, found := workspace.FindProject(".")
	if !found {
		return workspace.ReadProject("")
	}
	if here, err := os.Getwd(); err == nil { // names are relative, as arguments usually are
		if short, err := filepath.Rel(here, path); err == nil {
			path = short
		}
	}
	return workspace.ReadProject(path)
}

// readProject reads the project file that a flag names, or none if path is empty.
func readProject(path string) (workspace.Project, error) { return usable(workspace.ReadProject(path)) }

// openProject makes the command obey the project of the working directory.
func (c *CLI) openProject() (err error) {
	c.project, err = usable(findProject())
	return err
}

// usable makes findings of a project file an error: nothing is done with half of what it says.
func usable(p workspace.Project, err error) (workspace.Project, error) {
	if findings := p.Findings(); err == nil && len(findings) > 0 {
		err = fmt.Errorf("read project: %s", findings[0])
	}
	return p, err
}
