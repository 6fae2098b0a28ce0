package cli

import (
	"cmp"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"signpost/definition"
	"signpost/host"
	"signpost/internal/spell"
)

// enum is a flag with a fixed set of values.
type enum struct {
	value   string // the default, until the flag is set
	allowed []string
}

// addTo adds the flag to a command, with completion of its values.
func (e *enum) addTo(cmd *cobra.Command, name, usage string) {
	cmd.Flags().Var(e, name, usage)
	complete(cmd, name, cobra.FixedCompletions(e.allowed, cobra.ShellCompDirectiveNoFileComp))
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

// hostname is a flag for the name of a host, which it normalizes.
type hostname string

func (h *hostname) String() string { return string(*h) }
func (h *hostname) Type() string   { return "string" }

func (h *hostname) Set(text string) error {
	name, err := host.ParseName(text)
	if err == nil {
		*h = hostname(name)
	}
	return err
}

// listenAddress is a flag for an address to listen on, which can be empty if that is the default.
type listenAddress string

func (l *listenAddress) String() string { return string(*l) }
func (l *listenAddress) Type() string   { return "string" }

func (l *listenAddress) Set(address string) error {
	_, _, err := net.SplitHostPort(address)
	_, notPort := strconv.ParseUint(address, 10, 16)
	switch {
	case err == nil || address == "" && *l == "":
		*l = listenAddress(address)
		return nil
	case notPort == nil:
		return fmt.Errorf("%q is not an address: did you mean \":%s\"?", address, address)
	default:
		return fmt.Errorf("%q is not an address, such as :8080", address)
	}
}

// loopbackAddress is a flag for an address to listen on that only this machine can reach.
type loopbackAddress string

func (l *loopbackAddress) String() string { return string(*l) }
func (l *loopbackAddress) Type() string   { return "string" }

func (l *loopbackAddress) Set(address string) error {
	const allowed = "the studio is for this machine alone: use 127.0.0.1, [::1] or localhost, and a port"
	name, _, err := net.SplitHostPort(address)
	if err != nil {
		return fmt.Errorf("%q is not an address with a port; %s", address, allowed)
	}
	if ip, err := netip.ParseAddr(name); name != "localhost" && (err != nil || !ip.IsLoopback()) {
		return fmt.Errorf("%q is not on loopback; %s", address, allowed)
	}
	*l = loopbackAddress(address)
	return nil
}

// rules is a repeatable flag whose values are names of rules. Each command has its own.
type rules struct {
	values *[]string
	known  []string
}

// addIgnoreFlag adds --ignore with the rules that a command has.
func addIgnoreFlag(cmd *cobra.Command, ignored *[]string, usage string, known []string) {
	cmd.Flags().Var(rules{ignored, known}, "ignore", usage)
	complete(cmd, "ignore", cobra.FixedCompletions(known, cobra.ShellCompDirectiveNoFileComp))
}

func (r rules) String() string { return strings.Join(*r.values, ",") }
func (r rules) Type() string   { return "rules" }

func (r rules) Set(text string) error {
	if text == "" {
		return nil
	}
	for name := range strings.SplitSeq(text, ",") {
		if !slices.Contains(r.known, name) {
			return fmt.Errorf("there is no rule %q%s", name, suggest(name, r.known))
		}
		*r.values = append(*r.values, name)
	}
	return nil
}

// addFeatureFlag adds --feature. An empty value enables none; if the flag is not given, the definition decides.
func addFeatureFlag(cmd *cobra.Command, features *[]string) {
	addNamedFeatureFlag(cmd, features, "feature", "enable a feature, instead of the definition's own list (repeatable)")
}

func addNamedFeatureFlag(cmd *cobra.Command, features *[]string, name, usage string) {
	cmd.Flags().StringSliceVar(features, name, nil, usage)
	complete(cmd, name, cobra.NoFileCompletions)
}

// addRegisteredFlag adds --registered, for commands that determine which endpoint answers for a feed.
func addRegisteredFlag(cmd *cobra.Command, sources *[]string) {
	cmd.Flags().StringSliceVar(sources, "registered", nil,
		"another source registered in the same studio, to detect overlap with it (repeatable)")
}

func complete(cmd *cobra.Command, flag string, f cobra.CompletionFunc) {
	if err := cmd.RegisterFlagCompletionFunc(flag, f); err != nil {
		panic(err) // cannot happen: the flag was added before
	}
}

// didYouMean returns the name that was probably meant, after a prefix, as the end of a message, or "".
func didYouMean(name, prefix string, known []string) string {
	if near := spell.Nearest(name, known); near != "" {
		return "; did you mean " + prefix + near + "?"
	}
	return ""
}

// suggest returns the name that was probably meant or else all that are known, as the end of a message.
func suggest(name string, known []string) string {
	return cmp.Or(didYouMean(name, "", known), "; known: "+strings.Join(known, ", "))
}

// checkFeatures reports a feature in the value of a flag that none of the files has.
func checkFeatures(flag string, files []*definition.File, features []string) error {
	var names []string
	for _, f := range files {
		names = append(names, f.Features()...)
	}
	slices.Sort(names)
	names = slices.Compact(names)
	for _, feature := range features {
		if !slices.Contains(names, feature) {
			return usageErrorf("%s: there is no feature %q%s", flag, feature, suggest(feature, names))
		}
	}
	return nil
}

// valueError adds the unit to the error for a duration without one.
func valueError(f *pflag.Flag, value string, err error) error {
	if _, wrong := time.ParseDuration(value + "s"); f.Value.Type() == "duration" && wrong == nil {
		return fmt.Errorf("%w; did you mean %ss?", err, value)
	}
	return err
}

// otherNames are our names for flags of other programs that people try.
var otherNames = map[string]string{"port": "listen", "address": "listen", "output": "format", "version": "api-version"}

// constantNow says what replaces flags whose values became constants.
const constantNow = "it is a constant, which docs/hardening.md explains"

// removedFlags says what replaces flags that earlier versions had. A name that other commands still have follows that
// of the command.
var removedFlags = map[string]string{
	"acme-ca-file":        "--ca-file counts for the ACME directory, too",
	"acme-email":          "certificate authorities do without",
	"hsts":                "let your reverse proxy add the header",
	"import context":      "--security-key maps a security scheme to a context key",
	"max-body-bytes":      constantNow,
	"max-header-bytes":    constantNow,
	"plain-http":          "registries on loopback addresses may speak plain http without being asked",
	"read-header-timeout": constantNow,
	"read-timeout":        constantNow,
	"watch":               "definitions are always watched",
	"write-timeout":       constantNow,

	"redirect-listen": "register https addresses, and let a reverse proxy redirect browsers; ACME challenges arrive on the https port",
	"redirect-port":   "register https addresses, and let a reverse proxy redirect browsers",
}

// flagError adds the flag or value that was probably meant to the error for an unknown flag or a wrong value.
func flagError(cmd *cobra.Command, err error) error {
	invalid := (*pflag.InvalidValueError)(nil)
	if errors.As(err, &invalid) {
		switch f := invalid.GetFlag(); f.Value.(type) {
		case *hostname, *listenAddress: // their errors quote the value
			return fmt.Errorf("--%s: %w", f.Name, invalid.Unwrap())
		default:
			return valueError(f, invalid.GetValue(), err)
		}
	}
	unknown := (*pflag.NotExistError)(nil)
	if !errors.As(err, &unknown) {
		return err
	}
	name := unknown.GetSpecifiedName()
	if instead := cmp.Or(removedFlags[name], removedFlags[cmd.Name()+" "+name]); instead != "" {
		return fmt.Errorf("--%s no longer exists: %s", name, instead)
	}
	if other := otherNames[name]; cmd.Flags().Lookup(other) != nil {
		name = other
	}
	var known []string
	cmd.Flags().VisitAll(func(f *pflag.Flag) { known = append(known, f.Name) })
	return fmt.Errorf("%w%s", err, didYouMean(name, "--", known))
}
