package cli

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"signpost"
	"signpost/definition"
	"signpost/server"
)

func (c *CLI) renderCommand() *cobra.Command {
	var host, version string
	var features []string
	var compact bool
	cmd := &cobra.Command{
		Use:   "render FILE",
		Short: "Print the manifest as the service would send it",
		Long: `Render prints the manifest of one version, with the host in its URLs and the context keys of the enabled
features, indented for reading. FILE can be - for standard input.`,
		Example: `  signpost render feeds.yaml --host feeds.example.com
  signpost render feeds.yaml --api-version v2 --feature authentication --compact`,
		Args: usageArgs(cobra.ExactArgs(1)),
		RunE: run(func(cmd *cobra.Command, args []string) error {
			resolved, err := server.ParseHost(host)
			if err != nil {
				return usageErrorf("--host: %w", err)
			}
			if !cmd.Flags().Changed("feature") {
				features = nil
			}
			body, err := c.render(args[0], resolved, version, features)
			if err != nil {
				return err
			}
			if !compact {
				var indented bytes.Buffer
				if err := json.Indent(&indented, body, "", "  "); err != nil {
					return err
				}
				body = indented.Bytes()
			}
			_, err = c.Stdout.Write(body)
			return err
		}),
	}
	cmd.Flags().StringVar(&host, "host", "localhost", "the hostname for {{host}}")
	cmd.Flags().StringVar(&version, "api-version", "", "the API version (default: the first in the file)")
	addFeatureFlag(cmd, &features)
	cmd.Flags().BoolVar(&compact, "compact", false, "on one line: byte for byte what the service sends")
	return cmd
}

// addFeatureFlag adds --feature. Given empty it enables none, where not given the definition decides.
func addFeatureFlag(cmd *cobra.Command, features *[]string) {
	cmd.Flags().StringSliceVar(features, "feature", nil, "enable a feature, in place of the definition's own list (repeatable)")
}

// render returns the manifest of a version of a definition; an empty version is the first.
func (c *CLI) render(path, host, version string, features []string) ([]byte, error) {
	file, err := c.read(path)
	if err != nil {
		return nil, err
	}
	files := []*definition.File{file}
	if findings := definition.Lint(file); hasErrors(findings) {
		printFindings(c.Stderr, c.palette(c.Stderr), files, findings)
		return nil, foundSomething
	}
	templates, err := compile(files, features)
	if err != nil {
		return nil, err
	}
	if version == "" {
		version = file.Versions()[0]
	}
	t, ok := templates[0][version]
	if !ok {
		return nil, usageErrorf("--api-version: %s has no version %q, only %s", file.Name, version, strings.Join(file.Versions(), ", "))
	}
	return t.Render(host)
}

// compile returns the templates of each file. Nil features means those that each file enables itself;
// otherwise each name must be a feature of at least one file.
func compile(files []*definition.File, features []string) ([]map[string]*signpost.Template, error) {
	known := make(map[string]bool)
	var names []string
	for _, f := range files {
		for _, name := range f.Features() {
			if !known[name] {
				names = append(names, name)
			}
			known[name] = true
		}
	}
	for _, name := range features {
		if !known[name] {
			hint := "known: " + strings.Join(names, ", ")
			if near := signpost.Nearest(name, names); near != "" {
				hint = fmt.Sprintf("did you mean %q?", near)
			}
			return nil, usageErrorf("--feature: there is no feature %q; %s", name, hint)
		}
	}
	all := make([]map[string]*signpost.Template, len(files))
	for i, f := range files {
		templates, err := f.Compile(ownFeatures(f, features))
		if err != nil {
			return nil, fmt.Errorf("compile definition %q: %w", f.Name, err)
		}
		all[i] = templates
	}
	return all, nil
}

// ownFeatures keeps the features that a file knows, of those that were asked for.
func ownFeatures(f *definition.File, features []string) []string {
	if features == nil {
		return nil
	}
	own := []string{}
	for _, known := range f.Features() {
		for _, name := range features {
			if name == known {
				own = append(own, name)
				break
			}
		}
	}
	return own
}
