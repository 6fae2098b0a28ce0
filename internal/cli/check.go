package cli

import (
	"cmp"
	"context"
	"net/url"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"signpost"
	"signpost/client"
	"signpost/definition"
	"signpost/host"
	"signpost/internal/foreign"
	"signpost/internal/httpurl"
	"signpost/internal/source"
	"signpost/internal/spell"
)

// defaultCheckTimeout is the timeout of each request. Apps do not wait longer for a feed, either.
const defaultCheckTimeout = 10 * time.Second

// checkFlags holds the flags of check. Those that need no conversion are in the options.
type checkFlags struct {
	client.CheckOptions
	format     enum
	probe      bool
	context    pairs
	params     pairs
	values     string
	feedSchema string
	sendTo     string
	registered []string
}

func (c *CLI) checkCommand() *cobra.Command {
	f := checkFlags{
		format:  enum{value: "text", allowed: []string{"text", "json", "junit"}},
		context: pairs{form: "key=value"},
		params:  pairs{form: "name=value"},
	}
	cmd := &cobra.Command{
		Use:   "check ADDRESS",
		Short: "Check a manifest and its feeds over the network, as studios and apps would",
		Long: `Check fetches a manifest as a studio does, calls its get endpoints as apps do, and follows the links in their feeds,
up to --follow requests. Every problem comes with a suggested fix. The exit status is 1 if a check failed, or if
feeds were called and none answered; with --strict, a warning is a failure, too.

--param supplies values for placeholders and --context for context keys; --values reads both from a YAML file, which
can also set them per endpoint. Context values are only sent to the host of ADDRESS and its subdomains, over https or on
this machine, and are never printed. Pass them in the environment, as SIGNPOST_CONTEXT, to keep them out of the process list.

--send-to sends requests for the host of ADDRESS to another server, with that host in Host and X-Forwarded-Host, so
that you can check feeds before you deploy them. An ADDRESS with an explicit port is fetched directly.`,
		Example: `  signpost check https://feeds.example.com/v1/endpoints-manifest
  signpost check https://feeds.example.com/v1/endpoints-manifest --values values.yaml --format junit > check.xml
  signpost check https://feeds.example.com/v1/endpoints-manifest --send-to http://localhost:3000
  signpost check http://localhost:8080/v1/endpoints-manifest --probe=false`,
		Args: usageArgs(cobra.ExactArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error { return c.check(cmd, args[0], f) },
	}
	f.format.addTo(cmd, "format", "output format")
	flags := cmd.Flags()
	flags.BoolVar(&f.probe, "probe", true, "call the get endpoints")
	flags.IntVar(&f.Follow, "follow", client.DefaultFollow, "maximum number of feed links to call; 0 for none")
	flags.Var(&f.context, "context", "value of a context key, for the endpoints that declare it (repeatable)")
	flags.Var(&f.params, "param", "value of a placeholder, for the endpoints that contain it (repeatable)")
	flags.StringVar(&f.values, "values", "",
		"YAML file with params and context, and with overrides under endpoints, by URL or path")
	flags.StringVar(&f.feedSchema, "feed-schema", "", "JSON Schema file to validate every feed against")
	flags.StringVar(&f.sendTo, "send-to", "",
		"send requests for the host of ADDRESS to this server, such as http://localhost:3000")
	addIgnoreFlag(cmd, &f.Ignore, "ignore failures and warnings of a rule or a check (repeatable)", checkRules())
	flags.BoolVar(&f.Strict, "strict", false, "treat warnings as failures")
	addRegisteredFlag(cmd, &f.registered)
	c.addNetworkFlags(cmd)
	for _, flag := range []string{"follow", "param", "context", "values", "feed-schema"} {
		c.exclude(cmd, "probe", flag, "--probe=false calls no endpoints: remove --"+flag)
	}
	flags.DurationVar(&f.Timeout, "timeout", defaultCheckTimeout, "timeout of each request")
	return cmd
}

// checkRules returns the values of --ignore: checks, lint rules, and the rules about other people's manifests.
func checkRules() []string {
	ofLint := each(definition.Rules(), func(r definition.Rule) string { return r.Name })
	return slices.Concat(client.Checks(), foreign.Rules, ofLint)
}

// checkOptions converts flags to options, except for the progress.
func (c *CLI) checkOptions(cmd *cobra.Command, u *url.URL, f checkFlags) (opts client.CheckOptions, err error) {
	opts = f.CheckOptions
	switch {
	case opts.Timeout <= 0:
		return opts, usageErrorf("--timeout: %v is not a positive duration, such as 10s", opts.Timeout)
	case opts.Follow < 0:
		return opts, usageErrorf("--follow: %d is not a number of links", opts.Follow)
	}
	opts.SkipProbes, opts.Follow, opts.Transport = !f.probe, cmp.Or(opts.Follow, -1), c.transport
	values, endpoints, err := readValues(f.values)
	if err != nil {
		return opts, err
	}
	opts.Endpoints = endpoints
	opts.Params, err = f.params.parse("--param", values.Params) // flags take precedence
	if err == nil {
		opts.Context, err = f.context.parse("--context", values.Context)
	}
	if err == nil && f.sendTo != "" {
		opts.SendTo, err = httpurl.ParseOrigin(f.sendTo)
		if err != nil {
			err = usageErrorf("--send-to: %w", err)
		}
	}
	if err == nil {
		opts.FeedSchema, err = readFeedSchema(f.feedSchema)
	}
	if err == nil {
		err = c.addRegistered(cmd.Context(), &opts, u, f.registered)
	}
	return opts, err
}

// addRegistered makes a check of the manifest at an address take what else is registered into account.
func (c *CLI) addRegistered(ctx context.Context, opts *client.CheckOptions, u *url.URL, sources []string) error {
	if err := c.openProject(); err != nil {
		return err
	}
	manifest := source.Document{Name: u.String(), Text: []byte(`{"endpoints": {}}`), Address: u}
	about := source.ServiceOf(manifest, manifest.Parse())
	registered, err := c.readRegistered(ctx, sources, about)
	if err != nil {
		return err
	}
	name, err := host.Parse(u.Host)
	if err != nil {
		return err
	}
	others, err := c.serveAll(registered, name, signpost.URL{})
	for _, s := range others {
		for _, v := range s.Versions {
			opts.Registered = append(opts.Registered, v.Manifest)
		}
	}
	opts.Lint = source.LintServed(u.String(), name, filesOf(registered))
	return err
}

func (c *CLI) check(cmd *cobra.Command, address string, f checkFlags) error {
	u, err := httpurl.ParseAddress(address)
	if err != nil {
		return usageErrorf("%w", err)
	}
	opts, err := c.checkOptions(cmd, u, f)
	if err != nil {
		return err
	}
	if isTerminal(c.Stderr) {
		opts.Progress = func(done, total int) {
			printf(c.Stderr, "\r\x1b[K%d of %s called", done, spell.Count(total, "URL"))
		}
	}
	began := time.Now()
	report, err := client.Check(cmd.Context(), u.String(), opts)
	if opts.Progress != nil {
		printf(c.Stderr, "\r\x1b[K")
	}
	if err != nil {
		return usageErrorf("%w", err)
	}
	for i, r := range report.Results {
		report.Results[i] = withFlags(r, u)
	}
	switch f.format.value {
	case "json":
		printJSON(c.Stdout, report)
	case "junit":
		printJUnit(c.Stdout, report, began)
	default:
		printReport(c.Stdout, report)
	}
	printf(c.Stderr, "%s\n", reportSummary(report))
	if !report.OK {
		return errFindings
	}
	return nil
}
