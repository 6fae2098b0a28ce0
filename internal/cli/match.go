package cli

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"signpost"
	"signpost/definition"
	"signpost/host"
	"signpost/internal/httpurl"
	"signpost/internal/source"
	"signpost/internal/spell"
	"signpost/internal/workspace"
	"signpost/match"
)

func (c *CLI) matchCommand() *cobra.Command {
	f := matchFlags{format: enum{value: "text", allowed: []string{"text", "json"}}}
	cmd := &cobra.Command{
		Use:   "match [SOURCE...] FEED-URL",
		Short: "Show which endpoint matches a feed, and which context keys the feed gets",
		Long: `Match finds the endpoint that matches a feed: the one whose URL is the longest prefix of the feed's URL. Only that
endpoint supplies context keys, so match also shows which other endpoints are prefixes of the feed, and which of
their keys the feed does not get. The exit status is 1 if no endpoint matches.

Each SOURCE is what diff compares: see signpost help diff. All sources, including those of --registered, and all
their versions count as registered in the same studio. Without a SOURCE, those are the definitions of the project; with
one, they count as registered, too.`,
		Example: `  signpost match feeds.yaml https://feeds.example.com/v1/feeds/media/7
  signpost match services/ https://feeds.example.com/v1/feeds/media/7
  signpost match https://feeds.example.com/v1/endpoints-manifest https://feeds.example.com/v1/feeds --format json`,
		Args: usageArgs(cobra.MinimumNArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error {
			last := len(args) - 1
			if source.IsAddress(args[0]) && !source.IsAddress(args[last]) {
				return usageErrorf("the order is the other way round: the feed URL comes last, after its sources")
			}
			return c.match(cmd.Context(), args[:last], args[last], f)
		},
	}
	f.format.addTo(cmd, "format", "output format")
	cmd.Flags().Var((*hostname)(&f.host), "host",
		"hostname for {{host}} (default: the host of the feed, if it is one of hosts)")
	addFeatureFlag(cmd, &f.features)
	addRegisteredFlag(cmd, &f.registered)
	c.addNetworkFlags(cmd)
	return cmd
}

type matchFlags struct {
	format     enum
	host       string // of match
	features   []string
	registered []string
}

func (c *CLI) match(ctx context.Context, sources []string, feed string, f matchFlags) error {
	feedHost, err := parseFeed(feed)
	if err != nil {
		return err
	}
	hostGiven := c.flags.Changed("host")
	if !hostGiven {
		f.host = feedHost
	}
	services, besides, err := c.registeredTogether(ctx, sources, f)
	if err != nil {
		return err
	}
	services = append(services, besides...)
	isNamed := namesHost(services, f.host)
	if hostGiven {
		for _, s := range services {
			if !isOpen(s) {
				continue
			}
			if err := s.ServeFor(f.host); err != nil {
				return err
			}
		}
	}
	services, err = c.serveAll(services, f.host, signpost.CutURL(feed))
	switch {
	case err != nil:
		return err
	case len(services) == 0:
		return fmt.Errorf("no source has a manifest for host %s", f.host)
	case !hostGiven:
		c.sayHosts(services, f.host, isNamed)
	}
	var versions []signpost.Version
	for _, s := range services {
		versions = append(versions, s.Versions...)
	}
	m, ok := match.NewIndex(versions...).Match(feed)
	json := f.format.value == "json"
	isBroken := func(s *source.Service) bool { return !isSound(s) }
	isOwner := func(s *source.Service) bool { return s.Name == m.Source }
	switch {
	case ok && isBroken(services[slices.IndexFunc(services, isOwner)]):
		return fmt.Errorf("the endpoint that answers, %s, is in %s, which has errors", m.Endpoint, m.Source)
	case !ok && slices.ContainsFunc(services, isBroken):
		return fmt.Errorf("no endpoint answers for %q, but %s has errors: it may have one",
			feed, services[slices.IndexFunc(services, isBroken)].Name)
	case !ok:
		if json {
			printJSON(c.Stdout, nil)
		}
		c.reportNoMatch(versions, feed)
		return errFindings
	case json:
		printJSON(c.Stdout, m)
	default:
		printMatch(c.Stdout, m, len(services) > 1)
	}
	return nil
}

// namesHost reports whether a URL of the services names a host.
func namesHost(services []*source.Service, name string) bool {
	for _, s := range services {
		for _, v := range s.Versions {
			for u := range v.Manifest.All() {
				if host.Equal(u.Hostname(), name) {
					return true
				}
			}
		}
	}
	return false
}

// sayHosts says what {{host}} is in definitions that are not known to be on the host of the feed. If no URL names that
// host, one that declares no hosts is on it.
func (c *CLI) sayHosts(services []*source.Service, name string, isNamed bool) {
	for _, s := range services {
		hosts := s.File.Hosts
		switch {
		case s.File.Served() || hosts.Has(name) || len(s.Versions) == 0:
		case len(hosts) == 0 && (isNamed || s.Host != name):
			printf(c.Stderr, "%s: {{host}} is taken to be %s, because the definition declares no hosts\n", s.Name, s.Host)
		case len(hosts) == 0:
		case isOpen(s):
			printf(c.Stderr, "%s: not on %s, because hosts does not have it; --host sets {{host}}\n", s.Name, name)
		default:
			printf(c.Stderr, "%s: {{host}} is %s, because hosts does not have %s\n", s.Name, s.Host, name)
		}
	}
}

// maxNearest is the maximum number of endpoints suggested if none matches.
const maxNearest = 3

// reportNoMatch reports that no endpoint answers for a feed, with the nearest ones on its host. Scheme, port, a
// trailing slash and the case of letters do not count, since people get those wrong.
func (c *CLI) reportNoMatch(versions []signpost.Version, feed string) {
	wanted := signpost.CutURL(feed)
	host := wanted.Hostname()
	path := func(u signpost.URL) string { // however long the name of a placeholder is, one character matches it
		p := signpost.ReplacePlaceholders(u.Path(), func(string) string { return "*" })
		return strings.ToLower(strings.TrimSuffix(p, "/"))
	}
	a := path(wanted)
	likeness := func(u signpost.URL) int { // characters that the paths begin with, less those that the feed would lack
		b, n := path(u), 0
		for n < min(len(a), len(b)) && a[n] == b[n] {
			n++
		}
		return n - (len(b) - n)
	}
	var near []signpost.URL
	for _, v := range versions {
		for u := range v.Manifest.All() {
			if strings.EqualFold(u.Hostname(), host) {
				near = append(near, u)
			}
		}
	}
	if len(near) == 0 {
		printf(c.Stderr, "signpost: no endpoint answers for %q: none is on host %s\n", feed, host)
		return
	}
	slices.SortStableFunc(near, func(a, b signpost.URL) int { return cmp.Compare(likeness(b), likeness(a)) })
	printf(c.Stderr, "signpost: no endpoint answers for %q; the nearest on host %s:\n", feed, host)
	for _, url := range near[:min(maxNearest, len(near))] {
		printf(c.Stderr, "  %s\n", url)
	}
}

// registeredTogether reads and loads the sources, or else the definitions of the project, and what is registered
// besides.
func (c *CLI) registeredTogether(
	ctx context.Context, sources []string, f matchFlags,
) (services, besides []*source.Service, err error) {
	if err := c.openProject(); err != nil {
		return nil, nil, err
	}
	if len(sources) == 0 && len(c.project.Definitions) == 0 {
		return nil, nil, usageErrorf("no source: name a definition, or list definitions in %s", definition.ProjectName)
	}
	args := workspace.Arguments{Judged: sources, Registered: f.registered, Project: c.project}
	r, err := c.read(ctx, c.reader(), workspace.Options{Manifests: true}, args)
	if err == nil {
		err = c.loadRegistered(r)
	}
	if err != nil {
		return nil, nil, err
	}
	services = r.judged
	if !slices.ContainsFunc(services, isSound) {
		c.reportErrors(services...)
		errors, _ := source.Errors(services[0])
		return nil, nil, fmt.Errorf("%s cannot be read: %s", services[0].Name, spell.Count(len(errors), "error"))
	}
	c.reportBroken(services)
	c.reportBroken(r.beside)
	if err := c.loadServices("feature", services, f.features); err != nil {
		return nil, nil, err
	}
	if c.given("host") && !slices.ContainsFunc(services, isOpen) {
		return nil, nil, usageErrorf("--host: %s is a manifest, which already contains its host", services[0].Name)
	}
	for _, s := range r.beside {
		s.Load(nil)
	}
	return services, append(r.beside, r.registered...), nil
}

// parseFeed returns the hostname of a feed URL.
func parseFeed(feed string) (string, error) {
	if !source.IsAddress(feed) {
		return "", usageErrorf("feed URL %q does not start with https:// or http://", feed)
	}
	u := signpost.CutURL(feed)
	if strings.Contains(u.Authority(), "@") {
		return "", usageErrorf("feed URL %q has user info before its host, which no endpoint has: leave it out",
			httpurl.Redacted(feed))
	}
	name := u.Hostname()
	resolved, err := host.Parse(name)
	switch {
	case err != nil:
		return "", usageErrorf("feed URL %q: %w", feed, err)
	case resolved != strings.ToLower(name):
		return "", usageErrorf("feed URL %q: write its host as manifests have it: %s", feed, resolved)
	case u.DotSegment() != "":
		return "", usageErrorf("feed URL %q has a . or .. segment, which clients resolve before they send a request: "+
			"write the URL without it", feed)
	case strings.ContainsAny(feed, " \t\r\n"):
		return "", usageErrorf("feed URL %q has white space in it", feed)
	}
	return resolved, nil
}

// printMatch prints a match as text. It names the sources if there are several.
func printMatch(w io.Writer, m match.Match, several bool) {
	printf(w, "endpoint: %s\nname:     %s\n", m.Endpoint, m.Name)
	if m.Version != "" {
		printf(w, "version:  %s\n", m.Version)
	}
	if several {
		printf(w, "source:   %s\n", m.Source)
	}
	if len(m.ContextObj) == 0 {
		printf(w, "\nThe feed gets no context keys.\n")
	} else {
		printf(w, "\nThe feed gets these context keys:\n")
		table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
		for _, item := range m.ContextObj {
			required := "optional"
			if item.Required {
				required = "required"
			}
			printf(table, "  %s\t%s\t%s\n", item.Key, required, delivery(item, m.Descriptor.Method))
		}
		table.Flush()
	}
	if m.InsideSegment {
		printf(w, "\nWarning: the endpoint ends in the middle of a path segment of the feed, so it may match by chance.\n")
	}
	for _, s := range m.Shadowed {
		from := ""
		if several {
			from = " of " + s.Source
		}
		printf(w, "\n%s%s is also a prefix of the feed, but does not count.\n", s.Endpoint, from)
		if len(s.LostKeys) == 0 {
			printf(w, "The feed loses no context keys as a result.\n")
		} else {
			printf(w, "As a result, the feed loses these context keys: %s\n", strings.Join(s.LostKeys, ", "))
		}
	}
}

// delivery describes how a client sends a context key in a request with the given method.
func delivery(item signpost.ContextItem, method string) string {
	how := "in the " + item.Place()
	if item.Place() == "" {
		how = fmt.Sprintf("by %q, which Signpost does not know", item.Type) // in somebody else's manifest
	}
	if name := item.SentAs(); name != item.Key {
		how += ", as " + name
	}
	if item.Place() != "" && !item.SentWith(method) {
		how += " (not sent: a get request has no body)"
	}
	return how
}
