package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
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
)

// levels lists the levels of changes, most severe first.
var levels = []diff.Level{diff.Breaking, diff.Notable, diff.Compatible}

// diffFlags holds the flags of diff. Features that were not given are nil.
type diffFlags struct {
	format   enum
	failOn   enum
	ignore   []string
	features []string
	own      [2][]string // instead of features, for OLD and NEW
	accepted string

	registered []string
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
notable or compatible, and belongs to a rule, such as option-removed.

OLD and NEW are each a definition, a directory of definitions, a manifest in JSON, the http(s) address of a
manifest, - for standard input, REV:path for a file or directory at a git revision, or oci://HOST/REPOSITORY:TAG
for pushed definitions. As in git, the path starts at the root of the repository; REV:./path starts here. If neither
it nor that of NEW exists at the revision of OLD, everything in NEW counts as added. In directories and registries,
services are paired by base path.

If one side is a manifest, the other is rendered for the same host. If both are, NEW is compared as if it were served
for the host of OLD. If OLD has errors, diff compares what it can read. NEW must have no errors.

All services in a directory, and all their versions, count as registered together. --registered adds other sources
that the studio has registered, so that diff also reports overlap with them.

Changes are printed to standard output, a summary to standard error. The exit status is 1 if a change has the level
of --fail-on or a more severe one. --accepted names a YAML file of intended changes, by the fingerprint that
--format json prints; they do not affect the exit status.`,
		Example: `  signpost diff origin/main:feeds.yaml feeds.yaml
  signpost diff origin/main:services services
  signpost diff oci://oci.example.com/feeds:prod services
  signpost diff https://feeds.example.com/v1/endpoints-manifest feeds.yaml --format markdown
  signpost diff feeds.yaml feeds.yaml --new-feature authentication --ignore name-changed`,
		Args: usageArgs(cobra.ExactArgs(2)),
		RunE: run(func(cmd *cobra.Command, args []string) error {
			return c.diff(cmd.Context(), args, f)
		}),
	}
	f.format.addTo(cmd, "format", "output format")
	f.failOn.addTo(cmd, "fail-on", "exit with status 1 on a change of this level or a more severe one")
	rules := slices.Sorted(maps.Keys(diff.Rules()))
	addIgnoreFlag(cmd, &f.ignore, "ignore changes of a rule (repeatable)", rules)
	cmd.Flags().StringVar(&f.accepted, "accepted", "", "YAML file of intended changes: a list of {change, reason, until}")
	addRegisteredFlag(cmd, &f.registered)
	addFeatureFlag(cmd, &f.features)
	addNamedFeatureFlag(cmd, &f.own[0], ownFeatureFlags[0], "enable a feature in OLD, instead of --feature (repeatable)")
	addNamedFeatureFlag(cmd, &f.own[1], ownFeatureFlags[1], "enable a feature in NEW, instead of --feature (repeatable)")
	addNetworkFlags(cmd)
	return cmd
}

func (c *CLI) diff(ctx context.Context, args []string, f diffFlags) error {
	if err := checkNames("--ignore", "rule", f.ignore, slices.Sorted(maps.Keys(diff.Rules()))); err != nil {
		return err
	}
	accept, err := c.readAccepted(f.accepted)
	var all []diff.Change
	var remarks []string
	if err == nil {
		all, remarks, err = c.compare(ctx, args, f)
	}
	if err != nil {
		if f.format.value == "markdown" {
			if err := printFailureMarkdown(c.Stdout, err); err != nil {
				return fmt.Errorf("print changes: %w", err)
			}
		}
		if invalid := (*invalidError)(nil); errors.As(err, &invalid) {
			printf(c.Stderr, "%s: nothing is compared\n", invalid)
			return errFindings
		}
		return err
	}

	today := time.Now().Format(time.DateOnly)
	changes := slices.DeleteFunc(accept.Apply(all, today), func(change diff.AcceptedChange) bool {
		return slices.Contains(f.ignore, change.Rule)
	})
	// none is not a level: Index returns -1, and no change is more severe
	limit := slices.Index(levels, diff.Level(f.failOn.value))
	failed := false
	var entries []string // only if --accepted is used
	for _, change := range changes {
		if change.Accepted == nil && slices.Index(levels, change.Level) <= limit {
			failed = true
			if f.accepted != "" {
				entries = append(entries, diff.AcceptanceOf(change.Change))
			}
		}
	}

	switch f.format.value {
	case "json":
		err = printJSON(c.Stdout, changes)
	case "markdown":
		err = printChangesMarkdown(c.Stdout, changes, remarks, entries)
	default:
		printChanges(c.Stdout, c.palette(c.Stdout), changes)
	}
	if err != nil {
		return fmt.Errorf("print changes: %w", err)
	}
	printf(c.Stderr, "%s\n", summary(changes))
	if ignored := len(all) - len(changes); ignored > 0 {
		printf(c.Stderr, "%s ignored\n", spell.Count(ignored, "change"))
	}
	for _, line := range accept.Unused(today) {
		printf(c.Stderr, "%s\n", line)
	}
	if len(entries) > 0 && f.format.value == "text" {
		printf(c.Stderr, "To accept what fails, add to %s, with the reason:\n", f.accepted)
		for line := range strings.Lines(strings.Join(entries, "")) {
			printf(c.Stderr, "%s\n", strings.TrimSuffix(line, "\n"))
		}
	}
	if failed {
		return errFindings
	}
	return nil
}

// readAccepted reads the file named by --accepted. It prints errors in the file.
func (c *CLI) readAccepted(name string) (*diff.Accepted, error) {
	if name == "" {
		return &diff.Accepted{}, nil
	}
	text, err := readfile.Limit(name, diff.MaxAccepted)
	if err != nil {
		return nil, fmt.Errorf("read accepted changes: %w", err)
	}
	file := diff.ParseAccepted(name, text)
	for _, f := range file.Findings {
		printFinding(c.Stderr, c.palette(c.Stderr), file, f)
	}
	if len(file.Findings) > 0 {
		return nil, &invalidError{name, file.Findings}
	}
	return file, nil
}

// diffSide is OLD or NEW.
type diffSide struct {
	name      string
	directory bool
	picked    bool // one service of a directory
	services  []*source.Service
	broken    map[*source.Service]bool // have errors, so they are compared as far as they can be read
	remarks   []string
}

// invalidError reports that NEW or the file of accepted changes has errors, which are already printed.
type invalidError struct {
	name     string
	findings []signpost.Finding
}

func (e *invalidError) Error() string {
	return fmt.Sprintf("%s has %s", e.name, spell.Count(count(e.findings, signpost.SeverityError), "error"))
}

// compare returns the changes between OLD and NEW, and remarks for a comment.
func (c *CLI) compare(ctx context.Context, args []string, f diffFlags) (changes []diff.Change, remarks []string, err error) {
	reader := c.reader()
	old, err := c.readOld(ctx, reader, args[0], args[1])
	if err != nil {
		return nil, nil, err
	}
	new, err := c.readNew(ctx, reader, args[1])
	if err != nil {
		return nil, nil, err
	}
	if err := loadSides(old, new, f); err != nil {
		return nil, nil, err
	}
	if err := c.pickServed(old, new); err != nil {
		return nil, nil, err
	}
	var about []string
	for _, s := range slices.Concat(old.services, new.services) {
		about = append(about, s.Name)
	}
	registered, err := c.readRegistered(ctx, reader, f.registered, about...)
	if err != nil {
		return nil, nil, err
	}
	compare := c.compareServices
	if old.directory || new.directory {
		compare = c.compareDirectories
	}
	changes, err = compare(old, new, registered)
	return changes, old.remarks, err
}

// others returns the manifests registered alongside services whose {{host}} is host.
func (c *CLI) others(registered []*source.Service, host string) ([]signpost.Version, error) {
	versions, notes, err := source.Join(registered, host)
	for _, note := range notes {
		printf(c.Stderr, "%s\n", note)
	}
	return versions, err
}

// compareDirectories compares the services of both sides, paired by base path.
func (c *CLI) compareDirectories(old, new *diffSide, registered []*source.Service) ([]diff.Change, error) {
	before, after := states(source.Published(old.services, new.services)), states(new.services)
	others, err := c.others(registered, signpost.HostPlaceholder)
	if err != nil {
		return nil, err
	}
	return diff.Services(before, after, others...), nil
}

func states(services []*source.Service) []signpost.Service {
	var all []signpost.Service
	for _, service := range services {
		all = append(all, service.State())
	}
	return all
}

// compareServices compares a service with its old state, or with nothing if it is new.
func (c *CLI) compareServices(old, new *diffSide, registered []*source.Service) ([]diff.Change, error) {
	is := new.services[0]
	var before signpost.Service
	host := is.Host
	if len(old.services) > 0 {
		was := old.services[0]
		var notes []string
		var err error
		if host, notes, err = source.Align(was, is); err != nil {
			return nil, err
		}
		for _, note := range notes {
			printf(c.Stderr, "%s\n", note)
		}
		before = was.State()
	}
	others, err := c.others(registered, host)
	if err != nil {
		return nil, err
	}
	after := is.State()
	if old.picked || new.picked { // changes name the service, as between directories
		before.BasePath = cmp.Or(before.BasePath, after.BasePath)
		after.BasePath = before.BasePath
		return diff.Services([]signpost.Service{before}, []signpost.Service{after}, others...), nil
	}
	return diff.Diff(before, after, others...), nil
}

// readOld reads OLD. Errors in it go to standard error and do not prevent the comparison. A path that does not exist at
// its git revision counts as no service, if that of NEW does not exist there either.
func (c *CLI) readOld(ctx context.Context, reader *source.Reader, arg, new string) (*diffSide, error) {
	documents, err := reader.Read(ctx, arg)
	if errors.Is(err, fs.ErrNotExist) && strings.Contains(arg, ":") {
		if err := reader.ConfirmNew(ctx, arg, new); err != nil {
			return nil, err
		}
		side := &diffSide{name: arg}
		c.remark(side, "%s does not exist: everything is new", arg)
		return side, nil
	}
	if err != nil {
		return nil, err
	}
	side := newDiffSide(arg, documents)
	errors, foreign := source.Errors(side.services...)
	printFindings(c.Stderr, c.palette(c.Stderr), side.files(), append(errors, foreign...))
	if len(errors) == 0 {
		return side, nil
	}
	c.remark(side, "%s has %s: it is compared as far as it can be read", side.name, spell.Count(len(errors), "error"))
	for _, s := range side.services {
		side.broken[s] = slices.ContainsFunc(errors, func(f signpost.Finding) bool { return f.File == s.File.Name })
	}
	return side, nil
}

// remark prints something about a side on standard error, and adds it to the comment.
func (c *CLI) remark(side *diffSide, format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	printf(c.Stderr, "%s\n", text)
	side.remarks = append(side.remarks, text)
}

// readNew reads NEW, which must not have errors.
func (c *CLI) readNew(ctx context.Context, reader *source.Reader, arg string) (*diffSide, error) {
	documents, err := reader.Read(ctx, arg)
	if err != nil {
		return nil, err
	}
	side := newDiffSide(arg, documents)
	errors, foreign := source.Errors(side.services...)
	printFindings(c.Stderr, c.palette(c.Stderr), side.files(), append(errors, foreign...))
	if len(errors) > 0 {
		return nil, &invalidError{side.name, errors}
	}
	return side, nil
}

func newDiffSide(arg string, documents []source.Document) *diffSide {
	side := &diffSide{name: source.Shown(arg), broken: make(map[*source.Service]bool)}
	if arg == stdinName {
		side.name = source.StdinName
	}
	side.directory = len(documents) != 1 || documents[0].Name != side.name
	for _, d := range documents {
		side.services = append(side.services, source.NewService(d))
	}
	return side
}

func (s *diffSide) files() []*definition.File {
	var files []*definition.File
	for _, service := range s.services {
		files = append(files, service.File)
	}
	return files
}

// served reports whether the side is a single served manifest.
func (s *diffSide) served() bool { return len(s.services) == 1 && s.services[0].Served }

// loadSides loads OLD and NEW with their features.
func loadSides(old, new *diffSide, f diffFlags) error {
	sides := []*diffSide{old, new}
	var known [2][]string
	for i, side := range sides {
		for _, s := range side.services {
			known[i] = append(known[i], s.File.Features()...)
		}
		slices.Sort(known[i])
		known[i] = slices.Compact(known[i])
	}
	if f.features != nil && old.served() && new.served() {
		return usageErrorf("--feature: neither OLD nor NEW is a definition; a manifest already contains its features")
	}
	if err := checkNames("--feature", "feature", f.features, slices.Concat(known[:]...)); err != nil {
		return err
	}
	for i, side := range sides {
		features := f.features
		if own := f.own[i]; own != nil && len(side.services) > 0 {
			flag := "--" + ownFeatureFlags[i]
			if side.served() {
				return usageErrorf("%s: %s is a manifest, which already contains its features", flag, side.name)
			}
			if err := checkNames(flag, "feature", own, known[i]); err != nil {
				return err
			}
			features = own
		}
		for _, s := range side.services {
			if side.broken[s] {
				s.LoadReadable(features)
			} else if err := s.Load(features); err != nil {
				return err
			}
		}
	}
	return nil
}

// pickServed reduces a directory to the matching service if the other side is a served manifest.
func (c *CLI) pickServed(old, new *diffSide) error {
	one, other := old, new
	if !one.served() {
		one, other = new, old
	}
	if !one.served() || !other.directory {
		return nil
	}
	service := source.ServedBy(one.services[0], other.services)
	if service == nil {
		return usageErrorf("%s has no service that matches %s", other.name, one.name)
	}
	printf(c.Stderr, "%s is the manifest of one service: only %s is compared\n", one.name, service.Name)
	other.services, other.directory, other.picked = []*source.Service{service}, false, true
	return nil
}
