package cli

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"signpost"
	"signpost/internal/source"
)

// levels are the weights of changes, the heaviest first.
var levels = []signpost.Level{signpost.LevelBreaking, signpost.LevelNotable, signpost.LevelCompatible}

// diffFlags are the flags of diff. Features that were not given are nil.
type diffFlags struct {
	format   enum
	failOn   enum
	ignore   []string
	features []string
	own      [2][]string // in place of features, for OLD and for NEW
}

// ownFeatureFlags are the flags behind diffFlags.own.
var ownFeatureFlags = [2]string{"old-feature", "new-feature"}

func (c *CLI) diffCommand() *cobra.Command {
	f := diffFlags{
		format: enum{value: "text", allowed: []string{"text", "json", "markdown"}},
		failOn: enum{value: "breaking", allowed: []string{"breaking", "notable", "compatible", "none"}},
	}
	cmd := &cobra.Command{
		Use:   "diff OLD NEW",
		Short: "Tell what changed for those who registered OLD",
		Long: `Diff compares two states of a service and prints what changed for someone who registered the old one: for
their feeds, for the values that editors saved, and for the requests that apps send. Each change is breaking,
notable or compatible, and has a rule, such as option-removed.

OLD and NEW are each a definition, a manifest in JSON, the http(s) address of a manifest, - for standard input,
or REV:path for a file at a git revision. Where one of them is a manifest, the other is compared as it is
served for the same host; of two manifests, NEW as if it were served for the host of OLD.

The changes go to standard output, a summary to standard error. The exit code is 1 if a change is as heavy as
--fail-on says, or heavier.`,
		Example: `  signpost diff origin/main:feeds.yaml feeds.yaml
  signpost diff https://feeds.example.com/v1/endpoints-manifest feeds.yaml --format markdown
  signpost diff feeds.yaml feeds.yaml --new-feature authentication --ignore name-changed`,
		Args: usageArgs(cobra.ExactArgs(2)),
		RunE: run(func(cmd *cobra.Command, args []string) error {
			return c.diff(cmd, args, f)
		}),
	}
	f.format.addTo(cmd, "format", "how to print the changes")
	f.failOn.addTo(cmd, "fail-on", "exit with 1 on a change of this level, or of one before it")
	rules := slices.Sorted(maps.Keys(signpost.ChangeRules()))
	cmd.Flags().StringSliceVar(&f.ignore, "ignore", nil, "leave out the changes of a rule (repeatable)")
	if err := cmd.RegisterFlagCompletionFunc("ignore", cobra.FixedCompletions(rules, cobra.ShellCompDirectiveNoFileComp)); err != nil {
		panic(err) // the flag was added in the line before
	}
	addFeatureFlag(cmd, &f.features)
	cmd.Flags().StringSliceVar(&f.own[0], ownFeatureFlags[0], nil, "enable a feature in OLD, in place of --feature (repeatable)")
	cmd.Flags().StringSliceVar(&f.own[1], ownFeatureFlags[1], nil, "enable a feature in NEW, in place of --feature (repeatable)")
	return cmd
}

func (c *CLI) diff(cmd *cobra.Command, args []string, f diffFlags) error {
	if err := checkNames("--ignore", "rule", f.ignore, slices.Sorted(maps.Keys(signpost.ChangeRules()))); err != nil {
		return err
	}
	sides, err := c.openServices(cmd.Context(), args...)
	if err != nil {
		return err
	}
	if err := loadSides(sides, f); err != nil {
		return err
	}
	old, new := sides[0], sides[1]
	if err := c.alignHosts(old, new); err != nil {
		return err
	}
	c.alignVersions(old, new)
	c.alignVersions(new, old)
	all := signpost.DiffService(old.State(), new.State())
	changes := slices.DeleteFunc(slices.Clone(all), func(change signpost.Change) bool {
		return slices.Contains(f.ignore, change.Rule)
	})
	switch f.format.value {
	case "json":
		err = printJSON(c.Stdout, changes)
	case "markdown":
		err = printChangesMarkdown(c.Stdout, changes)
	default:
		err = printChanges(c.Stdout, c.palette(c.Stdout), changes)
	}
	if err != nil {
		return fmt.Errorf("print changes: %w", err)
	}
	fmt.Fprintln(c.Stderr, summary(changes))
	if ignored := len(all) - len(changes); ignored > 0 {
		fmt.Fprintf(c.Stderr, "%s ignored\n", plural(ignored, "change"))
	}
	// None is not a level, and no change is before it.
	limit := slices.Index(levels, signpost.Level(f.failOn.value))
	if slices.ContainsFunc(changes, func(change signpost.Change) bool { return slices.Index(levels, change.Level) <= limit }) {
		return foundSomething
	}
	return nil
}

// loadSides loads OLD and NEW, each with the features that were asked for.
func loadSides(sides []*source.Service, f diffFlags) error {
	var known []string
	for _, s := range sides {
		known = append(known, s.File.Features()...)
	}
	if f.features != nil && sides[0].Served && sides[1].Served {
		return usageErrorf("--feature: neither OLD nor NEW is a definition; a manifest has its features in it already")
	}
	if err := checkNames("--feature", "feature", f.features, known); err != nil {
		return err
	}
	for i, s := range sides {
		features := f.features
		if own := f.own[i]; own != nil {
			flag := "--" + ownFeatureFlags[i]
			if s.Served {
				return usageErrorf("%s: %s is a manifest, which has its features in it already", flag, s.Name)
			}
			if err := checkNames(flag, "feature", own, s.File.Features()); err != nil {
				return err
			}
			features = own
		}
		if err := s.Load(features); err != nil {
			return err
		}
	}
	return nil
}

// alignHosts makes URLs comparable. Between definitions {{host}} stays; a manifest gives its host to the other.
func (c *CLI) alignHosts(old, new *source.Service) error {
	if old.Host == new.Host {
		return nil
	}
	if old.Host == signpost.HostPlaceholder {
		old, new = new, old // the one that is open takes the host of the other
	}
	if new.Host == signpost.HostPlaceholder {
		fmt.Fprintf(c.Stderr, "%s is compared as it is served for %s\n", new.Name, old.Host)
	} else {
		fmt.Fprintf(c.Stderr, "%s is for %s: compared as if it were for %s\n", new.Name, new.Host, old.Host)
	}
	return new.ServeFor(old.Host)
}

// alignVersions leaves only one version in the other source, if one is a manifest: the version that it is of or,
// where that is not known, the one with the most URLs in common.
func (c *CLI) alignVersions(one, other *source.Service) {
	if !one.Served {
		return
	}
	v := &one.Versions[0]
	i := slices.IndexFunc(other.Versions, func(o signpost.Version) bool { return o.Name == v.Name })
	if i < 0 && v.Name != "" {
		return // a version that the other does not have: that is a change
	}
	if i < 0 {
		i = mostInCommon(v.Manifest, other.Versions)
		v.Name = other.Versions[i].Name
	}
	if len(other.Versions) > 1 {
		fmt.Fprintf(c.Stderr, "%s is the manifest of one version: only %s of %s is compared\n", one.Name, v.Name, other.Name)
		other.Versions = other.Versions[i : i+1]
	}
}

// mostInCommon returns which of the versions has the most URLs of a manifest, the first among equals.
func mostInCommon(m signpost.Manifest, versions []signpost.Version) int {
	urls := make(map[string]bool, len(m.Endpoints))
	for _, e := range m.Endpoints {
		urls[e.URL] = true
	}
	best, most := 0, 0
	for i, v := range versions {
		n := 0
		for _, e := range v.Manifest.Endpoints {
			if urls[e.URL] {
				n++
			}
		}
		if n > most {
			best, most = i, n
		}
	}
	return best
}

// summary counts the changes by level.
func summary(changes []signpost.Change) string {
	if len(changes) == 0 {
		return "no changes"
	}
	var parts []string
	for _, level := range levels {
		n := 0
		for _, change := range changes {
			if change.Level == level {
				n++
			}
		}
		parts = append(parts, fmt.Sprintf("%d %s", n, level))
	}
	return plural(len(changes), "change") + ": " + strings.Join(parts, ", ")
}

// byLevel returns the changes with the heaviest first.
func byLevel(changes []signpost.Change) []signpost.Change {
	return slices.SortedStableFunc(slices.Values(changes), func(a, b signpost.Change) int {
		return cmp.Compare(slices.Index(levels, a.Level), slices.Index(levels, b.Level))
	})
}

// printChanges writes changes for people, one on a line.
func printChanges(w io.Writer, p palette, changes []signpost.Change) error {
	var out strings.Builder
	for _, change := range byLevel(changes) {
		level := string(change.Level) + ":"
		switch change.Level {
		case signpost.LevelBreaking:
			level = p.mark(signpost.SeverityError, level)
		case signpost.LevelNotable:
			level = p.mark(signpost.SeverityWarning, level)
		}
		place := strings.TrimSpace(change.Version + " " + change.Endpoint)
		if place != "" {
			place = p.bold(place+":") + " "
		}
		fmt.Fprintf(&out, "%s %s%s %s\n", level, place, change.Message, p.dim("["+change.Rule+"]"))
	}
	_, err := io.WriteString(w, out.String())
	return err
}

// printChangesMarkdown writes changes for a comment on a pull request.
func printChangesMarkdown(w io.Writer, changes []signpost.Change) error {
	var out strings.Builder
	out.WriteString("### Changes to the endpoints manifest\n\n")
	if len(changes) == 0 {
		out.WriteString("No changes.\n")
	} else {
		fmt.Fprintf(&out, "%s\n\n| level | version | endpoint | change | rule |\n|---|---|---|---|---|\n", summary(changes))
	}
	for _, change := range byLevel(changes) {
		level := string(change.Level)
		if change.Level == signpost.LevelBreaking {
			level = "**" + level + "**"
		}
		fmt.Fprintf(&out, "| %s | %s | %s | %s | `%s` |\n", level, change.Version, markdownCode(change.Endpoint), markdownText(change.Message), change.Rule)
	}
	_, err := io.WriteString(w, out.String())
	return err
}

// markdownText escapes what would be markup, a new cell or a new row in a table. A space without a width keeps
// @name and #1 from being a mention and a reference, which nothing else does on GitHub.
func markdownText(text string) string {
	var out strings.Builder
	for _, r := range text {
		switch {
		case r == '@' || r == '#':
			out.WriteRune(r)
			out.WriteString("&#8203;")
			continue
		case r < ' ':
			r = ' '
		case strings.ContainsRune("\\`*_[]<>|~&", r):
			out.WriteByte('\\')
		}
		out.WriteRune(r)
	}
	return out.String()
}

// markdownCode returns text as it is, in a code span that can stand in a table.
func markdownCode(text string) string {
	if text == "" {
		return ""
	}
	fence := "`"
	for strings.Contains(text, fence) {
		fence += "`"
	}
	return fence + strings.NewReplacer("|", `\|`, "\n", " ", "\r", " ").Replace(text) + fence
}
