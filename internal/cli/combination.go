package cli

import (
	"strconv"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// combination is a rule about two flags of a command.
type combination struct {
	cmd         *cobra.Command
	flag, other string
	excluded    bool // they cannot be used together; otherwise the first one needs the other one
	message     string
}

// exclude makes it a usage error to use two flags together.
func (c *CLI) exclude(cmd *cobra.Command, flag, other, message string) {
	c.combinations = append(c.combinations, combination{cmd, flag, other, true, message})
}

// require makes it a usage error to use a flag without another one.
func (c *CLI) require(cmd *cobra.Command, flag, other, message string) {
	c.combinations = append(c.combinations, combination{cmd, flag, other, false, message})
}

// checkCombinations reports flags of a command that do not go together. Variables are the values of flags that the
// environment would set. It removes those that a flag on the command line excludes.
func (c *CLI) checkCombinations(cmd *cobra.Command, variables map[string]string) error {
	isUsed := func(name string) bool {
		f := cmd.Flags().Lookup(name)
		value, fromEnvironment := variables[name]
		if !fromEnvironment {
			value = f.Value.String()
		}
		return (f.Changed || fromEnvironment) && !isDefault(f, value)
	}
	for _, rule := range c.combinations {
		if rule.cmd != cmd || !isUsed(rule.flag) || isUsed(rule.other) != rule.excluded {
			continue
		}
		_, first := variables[rule.flag]
		_, second := variables[rule.other]
		switch {
		case !rule.excluded || first == second:
			return usageErrorf("%s", rule.message)
		case first:
			delete(variables, rule.flag)
		default:
			delete(variables, rule.other)
		}
	}
	return nil
}

// isDefault reports whether a value of a flag changes nothing.
func isDefault(f *pflag.Flag, value string) bool {
	if on, err := strconv.ParseBool(value); err == nil && f.Value.Type() == "bool" {
		value = strconv.FormatBool(on)
	}
	return value == f.DefValue
}

// given reports whether a flag of the running command is on its command line.
func (c *CLI) given(flag string) bool {
	_, fromEnvironment := c.variables[flag]
	return c.flags.Changed(flag) && !fromEnvironment
}
