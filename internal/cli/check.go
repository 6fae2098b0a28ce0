package cli

import (
	"encoding/csv"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"signpost"
	"signpost/client"
	"signpost/definition"
)

// defaultCheckTimeout bounds each request of a check. A service that apps wait for answers sooner.
const defaultCheckTimeout = 10 * time.Second

// checkFlags are the flags of check.
type checkFlags struct {
	format  enum
	probe   bool
	context pairs
	params  pairs
	caFile  string
	timeout time.Duration
}

func (c *CLI) checkCommand() *cobra.Command {
	f := checkFlags{
		format:  enum{value: "text", allowed: []string{"text", "json"}},
		context: pairs{form: "key=value"},
		params:  pairs{form: "name=value"},
	}
	cmd := &cobra.Command{
		Use:   "check ADDRESS",
		Short: "Tell what the studio would find at the address of a manifest",
		Long: `Check asks for a manifest over the network as the studio does, and calls its endpoints as apps do: https and the
certificate, redirects, the status, JSON, the manifest and every rule of lint that applies to it, the host in
its URLs, CORS, the ETag, and whether each get endpoint answers with the content type that it declares. What is
wrong comes with what to do about it.

Endpoints with placeholders are called if --param gives their values, and those that require context keys if
--context does. Context values are sent to endpoints on the host of ADDRESS alone, over https or on this machine,
and are never printed; in the environment, as SIGNPOST_CONTEXT, they stay out of the list of processes. Post
endpoints are not called.

The results go to standard output, a summary to standard error. The exit code is 1 if a check failed.`,
		Example: `  signpost check https://feeds.example.com/v1/endpoints-manifest
  signpost check https://feeds.example.com/v1/endpoints-manifest --param series_id=7 --format json
  signpost check http://localhost:8080/v1/endpoints-manifest --probe=false`,
		Args: usageArgs(cobra.ExactArgs(1)),
		RunE: run(func(cmd *cobra.Command, args []string) error { return c.check(cmd, args[0], f) }),
	}
	f.format.addTo(cmd, "format", "how to print the results")
	flags := cmd.Flags()
	flags.BoolVar(&f.probe, "probe", true, "call the get endpoints")
	flags.Var(&f.context, "context", "a context key with its value, for the endpoints that declare it (repeatable)")
	flags.Var(&f.params, "param", "a placeholder with its value, for the endpoints that have it (repeatable)")
	flags.StringVar(&f.caFile, "ca-file", "", "trust the authorities in this PEM file too")
	flags.DurationVar(&f.timeout, "timeout", defaultCheckTimeout, "how long each request may take")
	return cmd
}

func (c *CLI) check(cmd *cobra.Command, address string, f checkFlags) error {
	u, err := client.ParseAddress(address)
	if err != nil {
		return usageErrorf("%w", err)
	}
	address = u.String()
	if f.timeout <= 0 {
		return usageErrorf("--timeout: %v is not a time to wait: give one such as 10s", f.timeout)
	}
	opts := client.CheckOptions{
		Options:    client.Options{Timeout: f.timeout},
		SkipProbes: !f.probe,
		Lint: func(body []byte) []signpost.Finding {
			return definition.Lint(definition.ParseManifest(address, body))
		},
	}
	if opts.Context, err = f.context.parse("--context"); err != nil {
		return err
	}
	if opts.Params, err = f.params.parse("--param"); err != nil {
		return err
	}
	if opts.Transport, err = checkTransport(f.caFile); err != nil {
		return err
	}
	if isTerminal(c.Stderr) {
		opts.Progress = func(done, total int) {
			fmt.Fprintf(c.Stderr, "\r\x1b[K%d of %s called", done, plural(total, "endpoint"))
		}
	}
	report, err := client.Check(cmd.Context(), address, opts)
	if opts.Progress != nil {
		io.WriteString(c.Stderr, "\r\x1b[K")
	}
	if err != nil {
		return usageErrorf("%w", err)
	}
	if u, err := url.Parse(address); err == nil {
		for i, r := range report.Results {
			report.Results[i] = withFlags(r, u.Hostname())
		}
	}
	if f.format.value == "json" {
		err = printJSON(c.Stdout, report)
	} else {
		err = printReport(c.Stdout, c.palette(c.Stdout), report)
	}
	if err != nil {
		return fmt.Errorf("print results: %w", err)
	}
	fmt.Fprintln(c.Stderr, reportSummary(report))
	if !report.OK {
		return foundSomething
	}
	return nil
}

// checkTransport returns a transport of its own, which trusts the authorities in a file too, if one is given.
func checkTransport(caFile string) (http.RoundTripper, error) {
	if caFile == "" {
		return http.DefaultTransport.(*http.Transport).Clone(), nil
	}
	return trustingTransport(caFile)
}

// checkStatuses are the statuses of results, with their colours.
var checkStatuses = []struct {
	status client.Status
	colour string
}{{client.Passed, "32"}, {client.Failed, "31"}, {client.Warned, "33"}, {client.Skipped, "2"}}

// printReport writes results for people, one on a line with its hint below.
func printReport(w io.Writer, p palette, report client.Report) error {
	const statusWidth, checkWidth = len("skipped"), len("certificate")
	var out strings.Builder
	for _, r := range report.Results {
		status := fmt.Sprintf("%-*s", statusWidth, r.Status)
		for _, s := range checkStatuses {
			if s.status == r.Status {
				status = p.wrap(s.colour, status)
			}
		}
		message := r.Message
		if r.Endpoint != "" && !strings.Contains(message, r.Endpoint) {
			message = r.Endpoint + ": " + message
		}
		fmt.Fprintf(&out, "%s  %-*s  %s\n", status, checkWidth, r.Check, printable(message))
		label := "= hint:"
		for line := range strings.SplitSeq(r.Hint, "\n") {
			if line != "" {
				fmt.Fprintf(&out, "%*s %s %s\n", statusWidth, "", p.dim(label), printable(line))
			}
			label = "       "
		}
	}
	_, err := io.WriteString(w, out.String())
	return err
}

// reportSummary counts the results by status.
func reportSummary(report client.Report) string {
	var parts []string
	for _, s := range checkStatuses {
		n := 0
		for _, r := range report.Results {
			if r.Status == s.status {
				n++
			}
		}
		parts = append(parts, fmt.Sprintf("%d %s", n, s.status))
	}
	return plural(len(report.Results), "result") + ": " + strings.Join(parts, ", ")
}

// pairs is a flag that takes key=value, more than once or separated by commas or line breaks. It takes everything and is parsed
// later, since an error of Set is printed with the value, and that may be a secret.
type pairs struct {
	form  string // as in the help
	given []string
}

func (p *pairs) String() string { return "" }
func (p *pairs) Type() string   { return p.form }

func (p *pairs) Set(text string) error {
	reader := csv.NewReader(strings.NewReader(text))
	reader.FieldsPerRecord = -1
	lines, err := reader.ReadAll()
	if err != nil { // quotes inside a value: it is one then
		lines = [][]string{{text}}
	}
	p.given = append(p.given, slices.Concat(lines...)...)
	return nil
}

// parse returns the values by key. Its errors name keys and no values.
func (p *pairs) parse(flag string) (map[string]string, error) {
	values := make(map[string]string, len(p.given))
	for _, pair := range p.given {
		key, value, ok := strings.Cut(pair, "=")
		_, taken := values[key]
		switch {
		case !ok:
			return nil, usageErrorf(`%s takes %s, and one has no "=" in it; a value with a comma or a line break goes in double quotes: %[1]s '"key=a,b"'`, flag, p.form)
		case key == "":
			return nil, usageErrorf(`%s takes %s, and one has nothing before the "="`, flag, p.form)
		case value == "":
			return nil, usageErrorf("%s: %q has no value", flag, key)
		case taken:
			return nil, usageErrorf("%s: %q is given twice", flag, key)
		}
		values[key] = value
	}
	return values, nil
}
