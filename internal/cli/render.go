package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"signpost/definition"
	"signpost/host"
	"signpost/internal/routes"
	"signpost/internal/source"
)

func (c *CLI) renderCommand() *cobra.Command {
	var hosts, features []string
	var version, dir string
	var compact bool
	cmd := &cobra.Command{
		Use:   "render FILE",
		Short: "Print a manifest as the server would send it, or write all manifests as static files",
		Long: `Render prints the manifest of one version, with the host in its URLs and the context keys of the enabled
features, indented for readability. FILE can be - for standard input, or oci://HOST/REPOSITORY:TAG/PATH for a pushed
definition.

With --all, render writes the manifests of every version of every definition, for each host, to
DIR/{host}/{base_path}/{version}/endpoints-manifest, byte for byte as the server would send them. Use it to publish
manifests from a file server or an object store. You can then pass several files or directories. Configure the
store to send Content-Type: application/json, because the file names have no extension.`,
		Example: `  signpost render feeds.yaml --host feeds.example.com
  signpost render feeds.yaml --api-version v2 --feature authentication --compact
  signpost render services/ --all public --host feeds.example.com --host feeds.example.org`,
		Args: usageArgs(func(cmd *cobra.Command, args []string) error {
			if dir != "" {
				return cobra.MinimumNArgs(1)(cmd, args)
			}
			return cobra.ExactArgs(1)(cmd, args)
		}),
		RunE: run(func(cmd *cobra.Command, args []string) error {
			resolved, err := parseHosts(hosts)
			if err != nil {
				return err
			}
			switch {
			case dir != "" && version != "":
				return usageErrorf("--all writes every version: remove --api-version")
			case dir != "":
				return c.renderAll(cmd.Context(), args, dir, resolved, features)
			case len(resolved) > 1:
				return usageErrorf("--host: a manifest has one host, not %d: use --all to write several", len(resolved))
			}
			body, err := c.render(cmd.Context(), args[0], resolved[0], version, features)
			if err != nil {
				return err
			}
			out := c.Stdout
			if compact && !isTerminal(out) {
				out = c.raw // byte for byte as the service sends it
			}
			if !compact {
				var indented bytes.Buffer
				if err := json.Indent(&indented, body, "", "  "); err != nil {
					return err
				}
				body = indented.Bytes()
			}
			_, err = out.Write(body)
			return err
		}),
	}
	cmd.Flags().StringSliceVar(&hosts, "host", []string{"localhost"}, "hostname for {{host}} (repeatable with --all)")
	cmd.Flags().StringVar(&version, "api-version", "", "API version (default: the first in the file)")
	addFeatureFlag(cmd, &features)
	cmd.Flags().BoolVar(&compact, "compact", false, "print on one line, byte for byte as the server sends it")
	cmd.Flags().StringVar(&dir, "all", "", "write all manifests to this directory, compact")
	addNetworkFlags(cmd)
	return cmd
}

// parseHosts returns the normalized hosts, without duplicates.
func parseHosts(names []string) ([]string, error) {
	if len(names) == 0 {
		names = []string{""} // an empty --host is invalid, and reported below
	}
	var hosts []string
	for _, name := range names {
		host, err := host.ParseName(name)
		if err != nil {
			return nil, usageErrorf("--host: %w", err)
		}
		if !slices.Contains(hosts, host) {
			hosts = append(hosts, host)
		}
	}
	return hosts, nil
}

// addFeatureFlag adds --feature. An empty value enables none; if the flag is not given, the definition decides.
func addFeatureFlag(cmd *cobra.Command, features *[]string) {
	cmd.Flags().StringSliceVar(features, "feature", nil, "enable a feature, instead of the definition's own list (repeatable)")
}

// render returns the manifest of a version of a definition. An empty version means the first one.
func (c *CLI) render(ctx context.Context, path, host, version string, features []string) ([]byte, error) {
	document, err := c.reader().ReadOne(ctx, path)
	if err != nil {
		return nil, err
	}
	file := definition.Parse(document.Name, document.Text)
	files := []*definition.File{file}
	if findings := definition.Lint(file); hasErrors(findings) {
		printFindings(c.Stderr, c.palette(c.Stderr), files, findings)
		return nil, errFindings
	}
	if err := checkFeatures(files, features); err != nil {
		return nil, err
	}
	templates, err := file.Compile(features)
	if err != nil {
		return nil, err
	}
	if version == "" {
		version = file.Versions()[0]
	}
	t, ok := templates[version]
	if !ok {
		return nil, usageErrorf("--api-version: %s has no version %q, only %s", file.Name, version, strings.Join(file.Versions(), ", "))
	}
	return t.Render(host)
}

// renderAll writes the manifests of all definitions for all hosts. It writes nothing unless all of them can be
// rendered.
func (c *CLI) renderAll(ctx context.Context, args []string, dir string, hosts, features []string) error {
	files, err := c.load(ctx, args...)
	if err != nil {
		return err
	}
	if findings := definition.Lint(files...); hasErrors(findings) {
		printFindings(c.Stderr, c.palette(c.Stderr), files, findings)
		return errFindings
	}
	if err := checkFeatures(files, features); err != nil {
		return err
	}
	var paths []string
	bodies := make(map[string][]byte) // by path
	for _, file := range files {
		templates, err := file.Compile(source.KnownFeatures(file, features))
		if err != nil {
			return err
		}
		for _, version := range file.Versions() {
			for _, host := range hosts {
				path := filepath.Join(dir, host, routes.Path(file.BasePath, version))
				if bodies[path], err = templates[version].Render(host); err != nil {
					return err
				}
				paths = append(paths, path)
			}
		}
	}
	for _, path := range paths {
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return fmt.Errorf("write manifest: %w", err)
		}
		if err := source.WriteFile(path, bodies[path], 0o644); err != nil {
			return fmt.Errorf("write manifest: %w", err)
		}
		printf(c.Stderr, "wrote %s\n", path)
	}
	printf(c.Stderr, "Configure the web server or object store to send them with Content-Type: application/json.\n")
	return nil
}

// checkFeatures reports a feature on the command line that none of the files has.
func checkFeatures(files []*definition.File, features []string) error {
	var names []string
	for _, f := range files {
		for _, name := range f.Features() {
			if !slices.Contains(names, name) {
				names = append(names, name)
			}
		}
	}
	return checkNames("--feature", "feature", features, names)
}
