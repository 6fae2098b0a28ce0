package cli

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
)

// enum is a flag with a fixed set of values.
type enum struct {
	value   string // the default, until the flag is set
	allowed []string
}

// addTo adds the flag to a command, with completion of its values.
func (e *enum) addTo(cmd *cobra.Command, name, usage string) {
	cmd.Flags().Var(e, name, usage)
	if err := cmd.RegisterFlagCompletionFunc(name, cobra.FixedCompletions(e.allowed, cobra.ShellCompDirectiveNoFileComp)); err != nil {
		panic(err) // cannot happen: the flag was added above
	}
}

func (e *enum) String() string { return e.value }
func (e *enum) Type() string   { return strings.Join(e.allowed, "|") }

func (e *enum) Set(value string) error {
	if !slices.Contains(e.allowed, value) {
		return fmt.Errorf("%q is not one of %s", value, strings.Join(e.allowed, ", "))
	}
	e.value = value
	return nil
}
