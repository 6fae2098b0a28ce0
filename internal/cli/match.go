package cli

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"
	"unicode"

	"github.com/spf13/cobra"

	"signpost"
	"signpost/host"
	"signpost/internal/source"
)

func (c *CLI) matchCommand() *cobra.Command {
	format := enum{value: "text", allowed: []string{"text", "json"}}
	var name string
	var features []string
	cmd := &cobra.Command{
		Use:   "match SOURCE FEED-URL",
		Short: "Tell which endpoint answers for a feed, and which context keys it gets",
		Long: `Match finds the endpoint that answers for a feed: the one whose URL is the longest prefix of the feed's. Only
that one supplies context keys, so match also tells which other endpoints the feed lies under, and which of
their keys it does not get.

SOURCE is a definition, a manifest in JSON, the http(s) address of a manifest, - for standard input, or
REV:path for a file at a git revision. All versions of a definition are looked at together. The exit code is 1
if no endpoint answers.`,
		Example: `  signpost match feeds.yaml https://feeds.example.com/v1/feeds/media/7
  signpost match https://feeds.example.com/v1/endpoints-manifest https://feeds.example.com/v1/feeds --format json`,
		Args: usageArgs(cobra.ExactArgs(2)),
		RunE: run(func(cmd *cobra.Command, args []string) error {
			return c.match(cmd, args[0], args[1], name, features, format.value)
		}),
	}
	format.addTo(cmd, "format", "how to print the match")
	cmd.Flags().StringVar(&name, "host", "", "the hostname for {{host}} (default: that of the feed)")
	addFeatureFlag(cmd, &features)
	return cmd
}

func (c *CLI) match(cmd *cobra.Command, source, feed, name string, features []string, format string) error {
	feedHost, err := parseFeed(feed)
	if err != nil {
		return err
	}
	services, err := c.openServices(cmd.Context(), source)
	if err != nil {
		return err
	}
	s := services[0]
	if s.Served && features != nil {
		return usageErrorf("--feature: %s is a manifest, which has its features in it already", s.Name)
	}
	if err := checkNames("--feature", "feature", features, s.File.Features()); err != nil {
		return err
	}
	if err := s.Load(features); err != nil {
		return err
	}
	given := cmd.Flags().Changed("host")
	if !given {
		name = feedHost
	}
	switch open := s.Host == signpost.HostPlaceholder; {
	case open:
		resolved, err := host.ParseName(name)
		if err != nil {
			return usageErrorf("--host: %w", err)
		}
		if err := s.ServeFor(resolved); err != nil {
			return err
		}
	case given:
		return usageErrorf("--host: %s is a manifest, which has its host in it already", s.Name)
	}
	m, ok := signpost.NewIndex(s.Versions...).Match(feed)
	switch {
	case format == "json" && ok:
		err = printJSON(c.Stdout, m)
	case format == "json":
		err = printJSON(c.Stdout, nil)
	case ok:
		err = printMatch(c.Stdout, m)
	}
	if err != nil {
		return fmt.Errorf("print match: %w", err)
	}
	if !ok {
		return &exitError{exitFindings, noMatch(s.Versions, feed)}
	}
	return nil
}

// parseFeed returns the hostname of a feed's URL.
func parseFeed(feed string) (string, error) {
	if !source.IsAddress(feed) {
		return "", usageErrorf("feed URL %q does not start with https:// or http://", feed)
	}
	name := signpost.CutURL(feed).Hostname()
	resolved, err := host.Parse(name)
	switch {
	case err != nil:
		return "", usageErrorf("feed URL %q: %w", feed, err)
	case resolved != strings.ToLower(name):
		return "", usageErrorf("feed URL %q: write its host as manifests have it: %s", feed, resolved)
	case strings.ContainsAny(feed, " \t\r\n"):
		return "", usageErrorf("feed URL %q has white space in it", feed)
	}
	return resolved, nil
}

func printMatch(w io.Writer, m signpost.Match) error {
	var out strings.Builder
	fmt.Fprintf(&out, "endpoint: %s\nname:     %s\n", m.Endpoint, printable(m.Name))
	if m.Version != "" {
		fmt.Fprintf(&out, "version:  %s\n", m.Version)
	}
	if len(m.ContextObj) == 0 {
		out.WriteString("\nThe feed gets no context keys.\n")
	} else {
		out.WriteString("\nThe feed gets these context keys:\n")
		table := tabwriter.NewWriter(&out, 0, 0, 2, ' ', 0)
		for _, item := range m.ContextObj {
			fmt.Fprintf(table, "  %s\t%s\t%s\n", printable(item.Key), requiredWord(item), delivery(item))
		}
		if err := table.Flush(); err != nil {
			return err
		}
	}
	if m.InsideSegment {
		out.WriteString("\nWarning: the endpoint ends in the middle of a path segment of the feed, so it may match by chance.\n")
	}
	for _, s := range m.Shadowed {
		fmt.Fprintf(&out, "\n%s is a prefix of the feed too, but does not count.\n", s.Endpoint)
		if len(s.LostKeys) == 0 {
			out.WriteString("The feed loses no context key by that.\n")
		} else {
			fmt.Fprintf(&out, "The feed does not get these context keys of it: %s\n", printable(strings.Join(s.LostKeys, ", ")))
		}
	}
	_, err := io.WriteString(w, out.String())
	return err
}

// printable replaces what a terminal might act on: a manifest may come from anywhere.
func printable(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsPrint(r) {
			return r
		}
		return unicode.ReplacementChar
	}, text)
}

func requiredWord(item signpost.ContextItem) string {
	if item.Required {
		return "required"
	}
	return "optional"
}

// delivery says how a client sends a context key.
func delivery(item signpost.ContextItem) string {
	how := "in the ctx query parameter"
	if item.Type == signpost.ContextBodyParam {
		how = "in the request body"
	}
	if item.Mapper != "" {
		how += ", as " + printable(item.SentAs())
	}
	return how
}

// maxNearest is how many endpoints are named where none answers.
const maxNearest = 3

// noMatch says that no endpoint answers for a feed, and which ones come near.
func noMatch(versions []signpost.Version, feed string) error {
	u := signpost.CutURL(feed)
	type candidate struct {
		url    string
		common int // characters of the path that it shares with the feed
	}
	var near []candidate
	for _, v := range versions {
		for _, e := range v.Manifest.Endpoints {
			if other := signpost.CutURL(e.URL); strings.EqualFold(other.Hostname(), u.Hostname()) {
				near = append(near, candidate{e.URL, commonPrefix(other.Path(), u.Path())})
			}
		}
	}
	if len(near) == 0 {
		return fmt.Errorf("no endpoint answers for %q: none is on host %s", feed, u.Hostname())
	}
	slices.SortStableFunc(near, func(a, b candidate) int { return cmp.Compare(b.common, a.common) })
	var urls strings.Builder
	for _, n := range near[:min(maxNearest, len(near))] {
		fmt.Fprintf(&urls, "\n  %s", n.url)
	}
	return fmt.Errorf("no endpoint answers for %q; the nearest on host %s:%s", feed, u.Hostname(), urls.String())
}

func commonPrefix(a, b string) int {
	n := 0
	for n < min(len(a), len(b)) && a[n] == b[n] {
		n++
	}
	return n
}
