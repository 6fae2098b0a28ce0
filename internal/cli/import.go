package cli

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"signpost/internal/routes"
	"signpost/openapi"
)

func (c *CLI) importCommand() *cobra.Command {
	var opts openapi.Options
	cmd := &cobra.Command{
		Use:   "import OPENAPI",
		Short: "Make a definition from an OpenAPI 3.0 or 3.1 document",
		Long: `Import reads an OpenAPI 3.0 or 3.1 document, in YAML or JSON, and prints a definition: an endpoint for each
GET operation, with its query parameters as modifiers. What it leaves out, and why, goes to standard error and,
as comments, into the definition.

References to other files are followed within the folder of the document; nothing is fetched. OPENAPI can be -
for standard input, which has no folder. The exit code is 3 if there is not one endpoint.`,
		Example: `  signpost import api.yaml > feeds.yaml
  signpost import api.yaml --tag catalogue --path '/shows*' --post
  signpost import partner.json --third-party --api-version v2`,
		Args: usageArgs(cobra.ExactArgs(1)),
		RunE: run(func(_ *cobra.Command, args []string) error {
			if opts.Version != "" && !routes.ValidVersion(opts.Version) {
				return usageErrorf("--api-version: %q is not a version, such as v1", opts.Version)
			}
			return c.importOpenAPI(args[0], opts)
		}),
	}
	cmd.Flags().StringSliceVar(&opts.Tags, "tag", nil, "import only operations with this tag (repeatable)")
	cmd.Flags().StringSliceVar(&opts.Paths, "path", nil, "import only this path; * stands for any text (repeatable)")
	cmd.Flags().BoolVar(&opts.Post, "post", false, "import POST operations too")
	cmd.Flags().BoolVar(&opts.Deprecated, "deprecated", false, "import deprecated operations and parameters too")
	cmd.Flags().BoolVar(&opts.ThirdParty, "third-party", false, "keep the URLs of the servers, in place of {{host}}")
	cmd.Flags().StringVar(&opts.Version, "api-version", "", "the API version of all endpoints (default: what their URLs say, else v1)")
	return cmd
}

// importOpenAPI prints the definition for a document to standard output and the notes to standard error.
func (c *CLI) importOpenAPI(path string, opts openapi.Options) error {
	in, name := c.Stdin, "<stdin>"
	if path != stdinName {
		f, err := os.Open(path)
		if err != nil {
			return importError(path, err)
		}
		defer f.Close()
		root, err := os.OpenRoot(filepath.Dir(path)) // no reference and no link leads out of it
		if err != nil {
			return importError(path, err)
		}
		defer root.Close()
		in, name, opts.Files = f, path, root.FS()
	}
	text, err := io.ReadAll(io.LimitReader(in, openapi.MaxSize+1)) // Import reports one byte too many
	if err != nil {
		return importError(path, err)
	}
	result, err := openapi.Import(name, text, opts)
	if err != nil {
		return importError(path, err)
	}
	for _, note := range result.Notes {
		fmt.Fprintln(c.Stderr, note)
	}
	if result.Endpoints == 0 {
		return importError(path, fmt.Errorf("no endpoint comes out of %s", plural(result.Operations, "operation")))
	}
	fmt.Fprintf(c.Stderr, "%s: %s from %s, %s\n", name,
		plural(result.Endpoints, "endpoint"), plural(result.Operations, "operation"), plural(len(result.Notes), "note"))
	_, err = c.Stdout.Write(result.Definition)
	return err
}

// importError names the path once: the errors of package os have it too.
func importError(path string, err error) error {
	var pathErr *os.PathError
	if errors.As(err, &pathErr) {
		err = pathErr.Err
	}
	return fmt.Errorf("import %q: %w", path, err)
}
