package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"
	"time"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"signpost"
	"signpost/diff"
	"signpost/internal/source"
	"signpost/internal/spell"
	"signpost/internal/usage"
)

func (c *CLI) usageCommand() *cobra.Command {
	var logs []string
	f := matchFlags{format: enum{value: "text", allowed: []string{"text", "json"}}}
	cmd := &cobra.Command{
		Use:   "usage [SOURCE...] --log FILE",
		Short: "Count what requests use, from access logs",
		Long: `Usage reads access logs and counts, for each endpoint, the requests and errors, which context keys they had, which
parameters and options they set, and which parameters nobody declares. It also shows what nobody uses, and feeds
that no endpoint answers for. What needs attention comes first.

A log is in the common or combined format, JSON lines of Caddy, nginx, Envoy and the like, HAR, or a usage file; it
may be compressed with gzip, and - is standard input. If a log does not tell the host, its requests are for the
service's own URLs. --format json prints a usage file: counts only, which can be given to --log again, so you can
count where the logs are and add up the files.

No value of a key, a parameter or a placeholder is printed or stored, except the options that a definition lists.
Ctrl-C prints what was counted so far; the exit status is then 130. It is 1 if no line could be read.`,
		Example: `  signpost usage feeds.yaml --log /var/log/nginx/access.log --log /var/log/nginx/access.log.1.gz
  signpost usage services/ --log access.log --format json > monday.json
  signpost usage services/ --log monday.json --log tuesday.json
  signpost diff origin/main:feeds.yaml feeds.yaml --usage monday.json`,
		RunE: func(cmd *cobra.Command, args []string) error {
			return c.usage(cmd.Context(), args, logs, f)
		},
	}
	cmd.Flags().StringSliceVar(&logs, "log", nil, "access log or usage file; - is standard input (repeatable)")
	f.format.addTo(cmd, "format", "output format")
	addFeatureFlag(cmd, &f.features)
	addRegisteredFlag(cmd, &f.registered)
	c.addNetworkFlags(cmd)
	return cmd
}

func (c *CLI) usage(ctx context.Context, sources, logs []string, f matchFlags) error {
	if len(logs) == 0 {
		return usageErrorf("no log: use --log FILE, or --log - for standard input")
	}
	if slices.Contains(sources, source.Stdin) && slices.Contains(logs, source.Stdin) {
		return usageErrorf("standard input can be read once: name a file in place of one of the -")
	}
	services, others, err := c.registeredTogether(ctx, sources, f)
	if err != nil {
		return err
	}
	ctx, stop := signal.NotifyContext(ctx, syscall.SIGTERM, syscall.SIGINT)
	defer stop()
	counts, failure := c.countUsage(ctx, states(services), versionsOf(others), logs)
	if counts == nil {
		return failure
	}
	if f.format.value == "json" {
		printJSON(c.Stdout, counts)
	} else {
		printUsage(c.Stdout, counts)
	}
	c.reportUnread(counts)
	switch {
	case ctx.Err() != nil:
		return &exitError{code: exitInterrupted, err: errors.New("interrupted: this is what was counted until then")}
	case failure == nil && counts.Requests == 0 && len(counts.Unread) > 0:
		return errFindings
	}
	return failure
}

// states returns the services as packages diff and usage take them.
func states(services []*source.Service) []signpost.Service {
	return each(services, (*source.Service).State)
}

func versionsOf(services []*source.Service) []signpost.Version {
	return slices.Concat(each(states(services), func(s signpost.Service) []signpost.Version { return s.Versions })...)
}

// countUsage counts logs. The counts are nil if a log does not exist. If there are counts and an error, reading failed
// on the way or the context has ended.
func (c *CLI) countUsage(
	ctx context.Context, services []signpost.Service, others []signpost.Version, logs []string, changes ...diff.Change,
) (*usage.Usage, error) {
	p := &progress{out: c.Stderr, shown: isTerminal(c.Stderr)}
	for _, log := range logs {
		if log == source.Stdin {
			continue
		}
		info, err := os.Stat(log)
		if err == nil && !info.Mode().IsRegular() {
			err = fmt.Errorf("%s is not a regular file; standard input is -", log)
		}
		if err != nil {
			return nil, fmt.Errorf("read log: %w", err)
		}
		p.total += info.Size()
	}
	counter := usage.NewCounter(services, others, changes...)
	var failure error
	for _, log := range logs {
		if ctx.Err() == nil {
			failure = errors.Join(failure, c.countLog(ctx, counter, log, p))
		}
	}
	if p.shown {
		printf(c.Stderr, "\r\x1b[K")
	}
	return counter.Usage(), failure
}

func (c *CLI) countLog(ctx context.Context, counter *usage.Counter, log string, p *progress) error {
	p.Reader = c.Stdin
	if log != source.Stdin {
		file, err := os.Open(log)
		if err != nil {
			return fmt.Errorf("read log: %w", err)
		}
		defer file.Close()
		p.Reader = file
	}
	return counter.Count(ctx, source.Shown(log), p)
}

// joinUsage says for each change how many requests it concerns. Logs are counted for the old state of services.
func (c *CLI) joinUsage(
	ctx context.Context, old []signpost.Service, others []signpost.Version, logs []string, changes []diff.Change,
) error {
	counts, err := c.countUsage(ctx, old, others, logs, changes...)
	if err != nil {
		return fmt.Errorf("--usage: %w", err)
	}
	c.reportUnread(counts)
	counts.Join(changes)
	return nil
}

// progressInterval is how often the progress is shown.
const progressInterval = 200 * time.Millisecond

// progress is a reader that shows on a terminal how much was read.
type progress struct {
	io.Reader
	out         io.Writer
	shown       bool
	read, total int64
	next        time.Time
}

func (p *progress) Read(b []byte) (int, error) {
	n, err := p.Reader.Read(b)
	p.read += int64(n)
	if now := time.Now(); p.shown && now.After(p.next) {
		p.next = now.Add(progressInterval)
		printf(p.out, "\r\x1b[K%d MB", p.read/1e6)
		if p.total > 0 {
			printf(p.out, " of %d MB", p.total/1e6)
		}
	}
	return n, err
}

// reportUnread says what could not be read, with the first line for each reason, and why there may be fewer counts than
// expected.
func (c *CLI) reportUnread(counts *usage.Usage) {
	for _, reason := range slices.Sorted(maps.Keys(counts.Unread)) {
		printf(c.Stderr, "%s not read: %s\n", spell.Thousands(counts.Unread[reason]), reason)
		first, known := counts.First[reason]
		if known {
			line := fmt.Sprintf("%s:%d: %s", first.Log, first.Number, shorten(first.Masked, maxWidth/2))
			printf(c.Stderr, "  such as %s\n", strings.TrimSuffix(line, ": "))
		}
	}
	if counts.Requests > 0 && !counts.Answered() {
		printf(c.Stderr, "no request was for an endpoint: perhaps the log is from another host or service\n")
	}
	if counts.LeftOut {
		printf(c.Stderr, "left out: what a usage file did not count, because it was made with another definition\n")
	}
}

// maxWidth is the width of the table in characters, and maxAction that of its last column. The endpoint has minWhere even
// if numbers are so large that no log has as many lines.
const maxWidth, maxAction, minWhere = 100, 52, 10

// usageRow is a row of the table. Rows are sorted by attention, and then by how many requests they are about.
type usageRow struct {
	attention int
	count     uint
	cells     [3]string // how many of all requests, for which endpoint, do what
}

// Why a row comes before others.
const (
	heading = iota
	lacksKey
	noEndpoint
	unused
	unexpected
	used // in the order of the endpoints
)

func newUsageRow(attention int, count, of uint, where, action string) usageRow {
	return usageRow{attention, count, [3]string{spell.Thousands(count) + " of " + spell.Thousands(of), where, action}}
}

// printUsage prints a table that begins with what needs attention.
func printUsage(w io.Writer, u *usage.Usage) {
	requests := spell.Thousands(u.Requests) + " requests"
	if u.Requests == 1 {
		requests = "1 request"
	}
	printf(w, "%s\n", strings.TrimSuffix(requests+", "+u.Period(), ", "))
	if u.Requests == 0 {
		return
	}
	printf(w, "\n")
	rows := usageRows(u)
	var widths [3]int
	for _, row := range rows {
		for i, cell := range row.cells {
			widths[i] = max(widths[i], utf8.RuneCountInString(printable(cell)))
		}
	}
	widths[2] = min(widths[2], maxAction)
	widths[1] = min(widths[1], max(minWhere, maxWidth-widths[0]-widths[2]-4))
	for _, row := range rows {
		where, action := shorten(row.cells[1], widths[1]), shorten(row.cells[2], widths[2])
		line := fmt.Sprintf("%*s  %-*s  %s", widths[0], row.cells[0], widths[1], where, action)
		printf(w, "%s\n", strings.TrimRight(line, " "))
	}
}

// usageRows returns the rows of the table, in their order.
func usageRows(u *usage.Usage) []usageRow {
	rows := []usageRow{{cells: [3]string{"requests", "endpoint"}}}
	isOther := func(e usage.Endpoint) bool { return e.Service != u.Endpoints[0].Service }
	several := slices.ContainsFunc(u.Endpoints, isOther)
	paths := make(map[string]bool) // as unmatched feeds are shown
	for _, e := range u.Endpoints {
		paths[signpost.ReplacePlaceholders(signpost.CutURL(e.URL).Path(), func(string) string { return "…" })] = true
		where := strings.TrimPrefix(e.Version+" ", " ") + strings.TrimPrefix(e.URL, "https://{{host}}")
		if several {
			where = e.Service + " " + where
		}
		rows = append(rows, endpointRows(e, where, u.Requests)...)
	}
	for path, n := range u.Unmatched {
		action := "no endpoint answers"
		if paths[path] {
			action += " on that host"
		}
		rows = append(rows, newUsageRow(noEndpoint, n, u.Requests, path, action))
	}
	slices.SortStableFunc(rows, func(a, b usageRow) int {
		if a.attention == used && b.attention == used {
			return 0
		}
		return cmp.Or(a.attention-b.attention, cmp.Compare(b.count, a.count), slices.Compare(a.cells[1:], b.cells[1:]))
	})
	return rows
}

// minUndeclared is how often an undeclared parameter occurs to be shown on its own. What is rarer is somebody's
// mistake.
const minUndeclared = 10

// endpointRows returns what requests for an endpoint do.
func endpointRows(e usage.Endpoint, where string, all uint) (rows []usageRow) {
	add := func(attention int, count, of uint, format string, args ...any) {
		if count == 0 && attention == used {
			attention = unused
		}
		rows = append(rows, newUsageRow(attention, count, of, where, fmt.Sprintf(format, args...)))
	}
	if e.Requests == 0 {
		add(unused, 0, all, "requests")
		return rows
	}
	add(used, e.Requests, all, "requests, %s with errors", spell.Thousands(e.Errors))
	for _, name := range slices.Sorted(maps.Keys(e.Keys)) {
		k := e.Keys[name]
		switch {
		case k.Unseen > 0:
			add(used, k.Unseen, e.Requests, "may have key %s, which is not in the URL", name)
		case k.Item.Required && k.Lacking() > 0:
			add(lacksKey, k.Lacking(), e.Requests, "lack key %s, %s undefined", name, spell.Thousands(k.Undefined))
		default:
			add(used, k.Present, e.Requests, "have key %s, %s undefined", name, spell.Thousands(k.Undefined))
		}
	}
	for _, name := range slices.Sorted(maps.Keys(e.Params)) {
		p := e.Params[name]
		add(used, p.Set, e.Requests, "set %s", name)
		for _, option := range slices.Sorted(maps.Keys(p.Options)) {
			if p.Set > 0 {
				add(used, p.Options[option], e.Requests, "set %s=%s", name, option)
			}
		}
		if p.Other > 0 {
			add(unexpected, p.Other, e.Requests, "set %s to no option", name)
		}
	}
	var rare uint
	for _, name := range slices.Sorted(maps.Keys(e.Undeclared)) {
		n := e.Undeclared[name]
		if n < minUndeclared || name == usage.Others {
			rare += n
		} else {
			add(unexpected, n, e.Requests, "set %s, which is not declared", name)
		}
	}
	if rare > 0 {
		add(unexpected, rare, e.Requests, "set other parameters, which are not declared")
	}
	return rows
}

// shorten returns text in at most n characters, with an ellipsis in the middle if it is longer.
func shorten(text string, n int) string {
	runes := []rune(printable(text))
	if len(runes) <= n {
		return string(runes)
	}
	half := (n - 1) / 2
	return string(runes[:n-1-half]) + "…" + string(runes[len(runes)-half:])
}
