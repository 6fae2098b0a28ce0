package cli

import (
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// envPrefix is the prefix of every environment variable that sets a flag.
const envPrefix = "SIGNPOST_"

// readEnvironment sets flags that were not given from the environment, and warns about variables that belong to no
// flag. An empty variable counts as unset. Variables are there for all commands: one that is invalid for this command,
// but valid for another one with the same flag, is ignored with a warning. A list of rules may be for several commands;
// each takes its own. A variable that a flag on the command line excludes is ignored, too.
func (c *CLI) readEnvironment(cmd *cobra.Command) error {
	c.warnings = c.unknownVariables(cmd.Root())
	if cmd.Name() != "serve" { // serve logs them itself
		defer func() {
			for _, warning := range c.warnings {
				printf(c.Stderr, "warning: %s\n", warning)
			}
		}()
	}
	variables := make(map[string]string) // by flag
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		value, _ := c.LookupEnv(envName(f.Name))
		if value != "" && !f.Changed && fromEnvironment(f) {
			variables[f.Name] = value
		}
	})
	if err := c.checkCombinations(cmd, variables); err != nil {
		return err
	}
	c.variables = variables
	for _, name := range slices.Sorted(maps.Keys(variables)) {
		f := cmd.Flags().Lookup(name)
		values := []string{variables[name]}
		_, areRules := f.Value.(rules)
		if areRules {
			values = strings.Split(variables[name], ",")
		}
		for _, value := range values {
			err := cmd.Flags().Set(name, value)
			switch {
			case err != nil && !usedElsewhere(cmd.Root(), name, value):
				return usageErrorf("environment variable %s: %w", envName(name), valueError(f, value, err))
			case err != nil && !areRules:
				ignored := fmt.Sprintf("environment variable %s is ignored: %v", envName(name), errors.Unwrap(err))
				c.warnings = append(c.warnings, ignored)
			}
		}
	}
	return nil
}

// usedElsewhere reports whether some command has this flag and accepts this value.
func usedElsewhere(root *cobra.Command, flag, value string) bool {
	accepts := func(cmd *cobra.Command) bool {
		f := cmd.Flags().Lookup(flag)
		return f != nil && f.Value.Set(value) == nil // harmless where the command does not run
	}
	return slices.ContainsFunc(root.Commands(), accepts)
}

// notFromEnvironment marks a flag whose variable would have a name that means something else to others.
const notFromEnvironment = "signpost-not-from-environment"

// flagsAlone makes flags of a command that the environment does not set: what a single call selects, under names such
// as SIGNPOST_TAG that CI uses for other purposes.
func flagsAlone(cmd *cobra.Command, names ...string) {
	for _, name := range names {
		if err := cmd.Flags().SetAnnotation(name, notFromEnvironment, nil); err != nil {
			panic(err) // cannot happen: the flag was added before
		}
	}
}

// fromEnvironment reports whether a flag can be set in the environment.
func fromEnvironment(f *pflag.Flag) bool {
	_, alone := f.Annotations[notFromEnvironment]
	return f.Name != "help" && f.Name != "version" && !alone
}

func envName(flag string) string {
	return envPrefix + strings.ToUpper(strings.ReplaceAll(flag, "-", "_"))
}

// serviceLink matches the variables that Kubernetes sets in every pod for a service named signpost or signpost-admin.
var serviceLink = regexp.MustCompile(`^SIGNPOST_(.+_)?(SERVICE_HOST|SERVICE_PORT(_.+)?|PORT(_[0-9]+_(TCP|UDP|SCTP)(_(PROTO|PORT|ADDR))?)?)$`)

// unknownVariables returns a warning for each variable that belongs to no flag of any command, with the one that was
// probably meant. Otherwise a misspelt SIGNPOST_ALLOWED_HOST would silently allow every host.
func (c *CLI) unknownVariables(root *cobra.Command) []string {
	if c.Environ == nil {
		return nil
	}
	var known []string
	for _, cmd := range root.Commands() {
		cmd.Flags().VisitAll(func(f *pflag.Flag) {
			if fromEnvironment(f) {
				known = append(known, strings.TrimPrefix(envName(f.Name), envPrefix))
			}
		})
	}
	var warnings []string
	for _, variable := range c.Environ() {
		name, value, _ := strings.Cut(variable, "=")
		flag, ours := strings.CutPrefix(name, envPrefix)
		if !ours || value == "" || slices.Contains(known, flag) {
			continue
		}
		hint := didYouMean(flag, envPrefix, known)
		if instead := removedFlags[strings.ToLower(strings.ReplaceAll(flag, "_", "-"))]; instead != "" {
			hint = ", because the flag no longer exists: " + instead
		} else if serviceLink.MatchString(name) {
			continue
		}
		warnings = append(warnings, fmt.Sprintf("environment variable %s belongs to no flag and is ignored%s", name, hint))
	}
	slices.Sort(warnings)
	return warnings
}
