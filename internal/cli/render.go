package cli

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"signpost"
	"signpost/definition"
	"signpost/host"
	"signpost/internal/routes"
	"signpost/internal/source"
	"signpost/internal/workspace"
)

// renderFlags holds the flags of render.
type renderFlags struct {
	hosts    []string
	keepHost bool
	version  string // "" for the first
	features []string
	compact  bool
	all      string // a directory; "" for standard output
}

func (c *CLI) renderCommand() *cobra.Command {
	var f renderFlags
	cmd := &cobra.Command{
		Use:   "render FILE",
		Short: "Print a manifest as the server would send it, or write all manifests as static files",
		Long: `Render prints the manifest of one version, with the host in its URLs and the context keys of the enabled
features. FILE can be - for standard input, or oci://HOST/REPOSITORY:TAG/PATH for a pushed definition. With
--keep-host, {{host}} stays in the URLs, for a service that fills in the host of each request itself.

With --all, render writes the manifests of every version of several files or directories, for each host, to
DIR/{host}/{base_path}/{version}/endpoints-manifest, to publish them from a file server or an object store.`,
		Example: `  signpost render feeds.yaml --host feeds.example.com
  signpost render feeds.yaml --api-version v2 --feature authentication --compact
  signpost render feeds.yaml --keep-host --compact > manifest.v1.json
  signpost render services/ --all public --host feeds.example.com --host feeds.example.org`,
		Args: usageArgs(cobra.MinimumNArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error {
			hosts, err := c.parseHosts(f.hosts)
			switch {
			case err != nil:
				return err
			case f.all != "":
				return c.renderAll(cmd.Context(), args, hosts, f)
			case len(args) > 1:
				return usageErrorf("render prints one manifest, not those of %d files: use --all to write several", len(args))
			case len(hosts) > 1:
				return usageErrorf("--host: a manifest has one host, not %d: use --all to write several", len(hosts))
			}
			return c.render(cmd.Context(), args[0], hosts, f)
		},
	}
	cmd.Flags().StringSliceVar(&f.hosts, "host", nil,
		"hostname for {{host}} (repeatable with --all; default: hosts of the definition, or localhost)")
	cmd.Flags().BoolVar(&f.keepHost, "keep-host", false, "leave {{host}} in the URLs")
	cmd.Flags().StringVar(&f.version, "api-version", "", "API version (default: the first in the file)")
	addFeatureFlag(cmd, &f.features)
	cmd.Flags().BoolVar(&f.compact, "compact", false, "print on one line, byte for byte as the server sends it")
	cmd.Flags().StringVar(&f.all, "all", "", "write all manifests to this directory, compact")
	c.addNetworkFlags(cmd)
	c.exclude(cmd, "keep-host", "host", "--keep-host leaves {{host}} in the URLs: remove --host")
	c.exclude(cmd, "all", "keep-host", "--all writes a directory for each host: remove --keep-host")
	c.exclude(cmd, "all", "api-version", "--all writes every version: remove --api-version")
	return cmd
}

// parseHosts returns the normalized hosts of --host.
func (c *CLI) parseHosts(names []string) (hosts []string, err error) {
	if len(names) == 0 && c.flags.Changed("host") {
		names = []string{""} // an empty --host is invalid, and reported below
	}
	for _, name := range names {
		host, err := host.ParseName(name)
		if err != nil {
			return nil, usageErrorf("--host: %w", err)
		}
		hosts = append(hosts, host)
	}
	return hosts, nil
}

// hostsOf returns the hosts to render a definition for: the given ones, the exact ones of its own, or localhost.
func hostsOf(file *definition.File, given []string) []string {
	if exact := file.Hosts.Exact(); len(given) == 0 && len(exact) > 0 {
		return exact
	}
	if len(given) == 0 {
		return []string{"localhost"}
	}
	return given
}

// render prints the manifest of a version of a definition.
func (c *CLI) render(ctx context.Context, path string, hosts []string, f renderFlags) error {
	files, templates, err := c.compile(ctx, []string{path}, f)
	if err != nil {
		return err
	}
	file, versions := files[0], files[0].Versions()
	version := cmp.Or(f.version, versions[0])
	if f.version == "" && len(versions) > 1 {
		others := strings.Join(versions[1:], ", ")
		printf(c.Stderr, "printed %s; %s also has %s: choose with --api-version\n", version, file.Name, others)
	}
	t, ok := templates[0][version]
	if !ok {
		return usageErrorf("--api-version: %s has no version %q, only %s", file.Name, version, strings.Join(versions, ", "))
	}
	var body []byte
	if f.keepHost {
		body, err = t.Manifest().MarshalJSON()
		body = append(body, '\n')
	} else {
		body, err = t.Render(hostsOf(file, hosts)[0])
	}
	if err != nil {
		return err
	}
	out := c.Stdout
	if f.compact && !isTerminal(out) {
		out = c.raw // byte for byte as the service sends it
	}
	if !f.compact {
		var indented bytes.Buffer
		json.Indent(&indented, body, "", "  ") // it is valid
		body = indented.Bytes()
	}
	_, err = out.Write(body)
	return err
}

// compile reads definitions and returns them with their templates, by version. If any has errors, it prints all
// findings.
func (c *CLI) compile(
	ctx context.Context, args []string, f renderFlags,
) (files []*definition.File, all []map[string]*signpost.Template, err error) {
	if err := c.openProject(); err != nil {
		return nil, nil, err
	}
	opts := workspace.Options{Definition: definition.Options{Features: f.features}}
	r, err := c.read(ctx, c.reader(), opts, workspace.Arguments{Judged: args})
	if err != nil {
		return nil, nil, err
	}
	files = filesOf(r.judged)
	if f.all == "" && len(files) > 1 {
		return nil, nil, usageErrorf("%q holds %d definitions: name one of them, such as %s",
			args[0], len(files), files[0].Name)
	}
	if findings := r.Findings(); hasErrors(findings) {
		printFindings(c.Stderr, files, findings)
		return nil, nil, errFindings
	}
	if err := checkFeatures("--feature", files, f.features); err != nil {
		return nil, nil, err
	}
	for _, file := range files {
		templates, err := file.Compile(nil)
		if err != nil {
			return nil, nil, err
		}
		all = append(all, templates)
	}
	return files, all, nil
}

// renderAll writes the manifests of all definitions for all hosts. It writes nothing unless all of them can be
// rendered.
func (c *CLI) renderAll(ctx context.Context, args, hosts []string, f renderFlags) error {
	files, templates, err := c.compile(ctx, args, f)
	if err != nil {
		return err
	}
	type manifest struct {
		path string
		body []byte
	}
	var manifests []manifest
	for i, file := range files {
		for _, version := range file.Versions() {
			for _, host := range hostsOf(file, hosts) {
				body, err := templates[i][version].Render(host)
				if err != nil {
					return err
				}
				path := filepath.Join(f.all, host, routes.Path(file.BasePath, version))
				manifests = append(manifests, manifest{path, body})
			}
		}
	}
	for _, m := range manifests {
		err := os.MkdirAll(filepath.Dir(m.path), 0o755)
		if err == nil {
			err = source.WriteFile(m.path, m.body, 0o644)
		}
		if err != nil {
			return fmt.Errorf("write manifest: %w", err)
		}
		printf(c.Stderr, "wrote %s\n", m.path)
	}
	printf(c.Stderr, "Configure the web server or object store to send them with Content-Type: application/json.\n")
	return nil
}
