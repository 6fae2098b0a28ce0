package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"signpost"
	"signpost/definition"
	"signpost/diff"
	"signpost/internal/readfile"
	"signpost/internal/source"
	"signpost/internal/spell"
	"signpost/internal/workspace"
)

// diffFlags holds the flags of diff. Features that were not given are nil.
type diffFlags struct {
	format   enum
	failOn   enum
	ignore   []string
	features []string
	own      [2][]string // instead of features, for OLD and NEW
	accepted string
	host     string
	export   bool

	registered []string
	usage      []string
}

// ownFeatureFlags are the flags for diffFlags.own.
var ownFeatureFlags = [2]string{"old-feature", "new-feature"}

func (c *CLI) diffCommand() *cobra.Command {
	f := diffFlags{
		format: enum{value: "text", allowed: []string{"text", "json", "markdown"}},
		failOn: enum{value: "breaking", allowed: []string{"breaking", "notable", "compatible", "none"}},
	}
	cmd := &cobra.Command{
		Use:   "diff OLD NEW",
		Short: "Report what changed for studios that registered OLD",
		Long: `Diff compares two versions of a service and reports what changed for studios that registered the old one: for
their feeds, for the values that editors saved, and for the requests that apps send. Each change is breaking,
notable or compatible, and belongs to a rule: see signpost explain.

OLD and NEW are each a definition, a directory of definitions, a manifest in JSON, the http(s) address of a
manifest, - for standard input, REV:path for a file or directory at a git revision, or oci://HOST/REPOSITORY:TAG
for pushed definitions. As in git, the path starts at the root of the repository; REV:./path starts here.
Services in directories are paired by base path. OLD is compared as it reads, with its errors; NEW must have none.

What is compared is what studios have: manifests. Two definitions are compared on each host that they declare. A
definition is compared with a manifest on the host of the manifest; --host names it if neither side tells. With
--export, OLD is everything that a studio has, and what is on the hosts of NEW is compared.

The exit status is 1 if NEW has errors, or if a change has the level of --fail-on or a more severe one. --accepted
names a YAML file of intended changes, by the fingerprint that --format json prints, which do not count.`,
		Example: `  signpost diff origin/main:feeds.yaml feeds.yaml
  signpost diff origin/main:services services
  signpost diff oci://oci.example.com/feeds:prod services
  signpost diff https://feeds.example.com/v1/endpoints-manifest feeds.yaml --format markdown
  signpost diff feeds.yaml feeds.yaml --new-feature authentication --ignore name-changed
  signpost diff --export endpoints.json feeds.yaml`,
		Args: usageArgs(cobra.ExactArgs(2)),
		RunE: func(cmd *cobra.Command, args []string) error {
			return c.diff(cmd.Context(), args, f)
		},
	}
	f.format.addTo(cmd, "format", "output format")
	f.failOn.addTo(cmd, "fail-on", "exit with status 1 on a change of this level or a more severe one")
	addIgnoreFlag(cmd, &f.ignore, "ignore changes of a rule (repeatable)", changeRules())
	cmd.Flags().StringVar(&f.accepted, "accepted", "", "YAML file of intended changes: a list of {change, reason, until}")
	cmd.Flags().Var((*hostname)(&f.host), "host",
		"hostname for {{host}} (default: that of the manifest, or each that a definition declares)")
	cmd.Flags().BoolVar(&f.export, "export", false, "OLD is all that a studio has: compare what is on the hosts of NEW")
	c.exclude(cmd, "export", "host", "--export compares what is on the hosts of NEW: remove --host")
	addRegisteredFlag(cmd, &f.registered)
	cmd.Flags().StringSliceVar(&f.usage, "usage", nil,
		"usage file or access log: say how many requests each change concerns (repeatable)")
	addFeatureFlag(cmd, &f.features)
	addNamedFeatureFlag(cmd, &f.own[0], ownFeatureFlags[0], "enable a feature in OLD, instead of --feature (repeatable)")
	addNamedFeatureFlag(cmd, &f.own[1], ownFeatureFlags[1], "enable a feature in NEW, instead of --feature (repeatable)")
	c.addNetworkFlags(cmd)
	return cmd
}

// changeRules returns the names of the rules of diff, sorted.
func changeRules() []string {
	names := each(diff.Rules(), func(r diff.Rule) string { return r.Name })
	return slices.Sorted(slices.Values(names))
}

func (c *CLI) diff(ctx context.Context, args []string, f diffFlags) error {
	accept, err := c.readAccepted(f.accepted)
	var all []diff.Change
	var remarks []string
	if err == nil {
		all, remarks, err = c.compare(ctx, args, f)
	}
	if err != nil {
		if f.format.value == "markdown" {
			io.WriteString(c.Stdout, failureMarkdown(err))
		}
		if invalid := (*invalidError)(nil); errors.As(err, &invalid) {
			printf(c.Stderr, "%s: nothing is compared\n", invalid)
			return errFindings
		}
		return err
	}

	today := cmp.Or(c.Today, time.Now()).Format(time.DateOnly)
	changes := slices.DeleteFunc(accept.Apply(all, today), func(change diff.AcceptedChange) bool {
		return slices.Contains(f.ignore, change.Rule)
	})
	limit := slices.Index(levels, diff.Level(f.failOn.value)) // -1 for none, which is not a level
	var failed []string                                       // entries that would accept what fails
	known := make(map[string]bool)                            // two services can have changes with the same fingerprint
	for _, change := range changes {
		if slices.Index(levels, levelOf(change)) <= limit && !known[change.Fingerprint] {
			known[change.Fingerprint] = true
			failed = append(failed, diff.AcceptanceOf(change.Change))
		}
	}
	entries := ""
	if f.accepted != "" {
		entries = strings.Join(failed, "")
	}

	switch f.format.value {
	case "json":
		printJSON(c.Stdout, changes)
	case "markdown":
		io.WriteString(c.Stdout, changesMarkdown(changes, remarks, entries))
	default:
		printChanges(c.Stdout, changes)
	}
	printf(c.Stderr, "%s\n", summary(changes))
	if ignored := len(all) - len(changes); ignored > 0 {
		printf(c.Stderr, "%s ignored\n", spell.Count(ignored, "change"))
	}
	c.reportLines(accept.Unused(today))
	if entries != "" && f.format.value == "text" {
		printf(c.Stderr, "To accept what fails, add to %s, with the reason:\n", f.accepted)
		io.WriteString(c.Stderr, entries)
	}
	if len(failed) > 0 {
		return errFindings
	}
	return nil
}

// readAccepted reads the file named by --accepted. It prints errors in the file.
func (c *CLI) readAccepted(name string) (*diff.Accepted, error) {
	if name == "" {
		return &diff.Accepted{}, nil
	}
	text, err := readfile.Limit(name, definition.MaxSize)
	if err != nil {
		return nil, fmt.Errorf("read accepted changes: %w", err)
	}
	accepted, file := definition.ParseAccepted(name, text)
	findings := definition.Errors(file)
	printFindings(c.Stderr, []*definition.File{file}, findings)
	if len(findings) > 0 {
		return nil, &invalidError{name, findings}
	}
	return accepted, nil
}

// invalidError reports that NEW or the file of accepted changes has errors, which are already printed.
type invalidError struct {
	name     string
	findings []signpost.Finding
}

func (e *invalidError) Error() string {
	return fmt.Sprintf("%s has %s", e.name, spell.Count(len(e.findings), "error"))
}

// diffSide is OLD or NEW.
type diffSide struct {
	name     string
	services []*source.Service
	errors   []signpost.Finding
}

// readSide reads OLD or NEW, and prints what is wrong in it. Of an export, it does not print warnings: most of it
// belongs to others.
func (c *CLI) readSide(ctx context.Context, reader *source.Reader, arg string, export bool) (*diffSide, error) {
	r, err := c.read(ctx, reader, workspace.Options{Manifests: true}, workspace.Arguments{Judged: []string{arg}})
	if err != nil {
		return nil, err
	}
	errors, warnings := source.Errors(r.judged...)
	printFindings(c.Stderr, filesOf(r.judged), errors)
	if !export {
		printBriefly(c.Stderr, warnings)
	}
	return &diffSide{source.Shown(arg), r.judged, errors}, nil
}

// directory reports whether the services are those of a directory, or one of them.
func (s *diffSide) directory() bool {
	return slices.ContainsFunc(s.services, func(service *source.Service) bool { return service.Name != s.name })
}

// compare returns the changes between OLD and NEW, and remarks for a comment. Errors in a definition that is OLD do not
// prevent the comparison. A path of OLD that does not exist at its git revision counts as no service, if that of NEW
// does not exist there either.
func (c *CLI) compare(
	ctx context.Context, args []string, f diffFlags,
) (changes []diff.Change, remarks []string, err error) {
	if err := c.openProject(); err != nil {
		return nil, nil, err
	}
	reader := c.reader()
	old, err := c.readSide(ctx, reader, args[0], f.export)
	if errors.Is(err, fs.ErrNotExist) && strings.Contains(args[0], ":") {
		old, err = &diffSide{name: args[0]}, reader.ConfirmNew(ctx, args[0], args[1])
		remarks = []string{fmt.Sprintf("%s does not exist: everything is new", args[0])}
	}
	if err != nil {
		return nil, nil, err
	}
	if n := len(old.errors); n > 0 {
		isOther := old.errors[0].Rule == definition.RuleNotADefinition
		if isOther || len(old.services) == 1 && old.services[0].File.Unreadable() {
			return nil, nil, fmt.Errorf("%s cannot be read: %s", old.name, spell.Count(n, "error"))
		}
		remarks = []string{fmt.Sprintf("%s has %s: it is compared as it reads", old.name, spell.Count(n, "error"))}
	}
	c.reportLines(remarks)
	new, err := c.readSide(ctx, reader, args[1], false)
	if err == nil && len(new.errors) > 0 {
		err = &invalidError{new.name, new.errors}
	}
	if err == nil {
		err = c.loadSides(old, new, f)
	}
	if err != nil {
		return nil, nil, err
	}
	compared := slices.Concat(old.services, new.services)
	if c.given("host") && !slices.ContainsFunc(compared, isOpen) {
		return nil, nil, usageErrorf("--host: %s and %s are manifests, which already contain their hosts", old.name, new.name)
	}
	registered, err := c.readRegistered(ctx, f.registered, compared...)
	if err != nil {
		return nil, nil, err
	}
	changes, err = c.compareSides(old, new, registered, f)
	if err == nil && len(f.usage) > 0 {
		err = c.joinUsage(ctx, states(old.services), versionsOf(registered), f.usage, changes)
	}
	return changes, remarks, err
}

// loadSides loads OLD and NEW with their features. A service with errors is loaded as far as it can be read.
func (c *CLI) loadSides(old, new *diffSide, f diffFlags) error {
	if err := c.loadServices("feature", slices.Concat(old.services, new.services), f.features); err != nil {
		return err
	}
	for i, side := range []*diffSide{old, new} {
		if own := f.own[i]; own != nil {
			if err := c.loadServices(ownFeatureFlags[i], side.services, own); err != nil {
				return err
			}
		}
	}
	return nil
}

// remedies say how to decide what the two sides of a comparison leave open.
var remedies = map[diff.UndecidedError]string{
	diff.UndecidedHost:    "name it with --host",
	diff.UndecidedHosts:   "declare hosts in the definition",
	diff.UndecidedVersion: "compare with the address of the manifest, which names it",
	diff.UndecidedService: "compare with its definition alone",
	diff.UnknownManifest:  "compare with its definition alone",
	diff.UndecidedExport:  "compare with its export, or leave out --export",
}

// compareSides compares the services of directories, paired by base path, or a service with its old state, or with
// nothing if it is new.
func (c *CLI) compareSides(
	old, new *diffSide, registered []*source.Service, f diffFlags,
) (changes []diff.Change, err error) {
	options := diff.Options{
		Registered: versionsOf(registered), Host: f.host, Export: f.export, Today: c.Today,
		Whole: old.directory() && new.directory(),
		Note:  func(note string) { c.reportLines([]string{note}) },
	}
	before, after := states(old.services), states(new.services)
	if old.directory() || new.directory() {
		changes, err = options.Services(before, after)
	} else {
		if len(before) == 0 {
			before = []signpost.Service{{}}
		}
		changes, err = options.Diff(before[0], after[0])
	}
	if undecided, ok := errors.AsType[diff.UndecidedError](err); ok {
		return nil, usageErrorf("%s and %s: %w: %s", old.name, new.name, err, remedies[undecided])
	}
	return changes, err
}
