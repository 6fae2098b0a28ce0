package cli

import (
	"cmp"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"signpost/internal/readfile"
	"signpost/internal/source"
	"signpost/internal/spell"
	"signpost/openapi"
)

func (c *CLI) importCommand() *cobra.Command {
	var opts openapi.Options
	var rootDir string
	keys := pairs{form: "scheme=key"}
	cmd := &cobra.Command{
		Use:   "import OPENAPI",
		Short: "Create a definition from an OpenAPI 3.0 or 3.1 document",
		Long: `Import reads an OpenAPI 3.0 or 3.1 document, in YAML or JSON, and prints a definition: an endpoint for each
GET operation, with its query parameters as modifiers. Anything that could not be imported is reported on
standard error and as a comment in the definition. The exit status is 3 if there is no endpoint to import.

Import never accesses the network: to import from a URL, pipe the document to signpost import -.`,
		Example: `  signpost import api.yaml > feeds.yaml
  signpost import api.yaml --tag catalogue --path '/shows*' --post
  signpost import api.yaml --security-key bearerAuth=plugin-login-flow.access_token
  signpost import partner.json --third-party --api-version v2
  curl -fsSL https://example.com/openapi.json | signpost import -`,
		Args: usageArgs(cobra.ExactArgs(1)),
		RunE: func(_ *cobra.Command, args []string) error {
			if err := (openapi.Options{Version: opts.Version}).Validate(); err != nil {
				return usageErrorf("--api-version: %w", err)
			}
			var err error
			if opts.Context, err = keys.parse("--security-key", nil); err != nil {
				return err
			}
			if err := opts.Validate(); err != nil {
				return usageErrorf("--mime-type: %w", err) // the only remaining possibility
			}
			return c.importOpenAPI(args[0], rootDir, opts)
		},
	}
	flags := cmd.Flags()
	flags.StringSliceVar(&opts.Tags, "tag", nil, "import only operations with this tag (repeatable)")
	flags.StringSliceVar(&opts.Paths, "path", nil, "import only this path; * matches any text (repeatable)")
	flags.BoolVar(&opts.Post, "post", false, "also import POST operations")
	flags.BoolVar(&opts.Deprecated, "deprecated", false, "also import deprecated operations and parameters")
	flags.BoolVar(&opts.ThirdParty, "third-party", false, "keep the URLs of the servers instead of using {{host}}")
	flags.StringVar(&opts.Version, "api-version", "", "API version of all endpoints (default: the version in their URLs, else v1)")
	flags.Var(&keys, "security-key", "map a security scheme to a context key, on the operations that use the scheme (repeatable)")
	flags.StringVar(&opts.MIMEType, "mime-type", "", "content type of endpoints whose responses declare none (default: application/json)")
	flags.StringVar(&rootDir, "root", "", "directory within which references are resolved (default: the directory of the document)")
	flagsAlone(cmd, "tag", "path", "root")
	return cmd
}

// importOpenAPI prints the definition for a document to standard output and the notes to standard error.
func (c *CLI) importOpenAPI(path, rootDir string, opts openapi.Options) error {
	if source.IsAddress(path) {
		return usageErrorf("import %q: nothing is fetched; pipe the document in: curl -fsSL %s | signpost import -", source.Shown(path), source.Shown(path))
	}
	text, name, err := c.readOpenAPI(path)
	if err != nil {
		return fmt.Errorf("import: %w", err)
	}
	if path != source.Stdin {
		rootDir = cmp.Or(rootDir, filepath.Dir(path))
		if opts.Path = seenFrom(path, rootDir); !fs.ValidPath(opts.Path) {
			return usageErrorf("--root: %q is not in the directory %q", path, rootDir)
		}
	}
	if rootDir != "" {
		root, err := os.OpenRoot(rootDir) // no reference or symbolic link leads out of it
		if err != nil {
			return fmt.Errorf("import: %w", err)
		}
		defer root.Close()
		opts.Files = root.FS()
	}
	result, err := openapi.Import(name, text, opts)
	if err != nil {
		return fmt.Errorf("import %q: %w", name, err)
	}
	for _, note := range result.Notes {
		printf(c.Stderr, "%s\n", note)
	}
	if result.Endpoints == 0 {
		return fmt.Errorf("import %q: none of %s can be an endpoint", name, spell.Count(result.Operations, "operation"))
	}
	printf(c.Stderr, "%s: %s from %s, %s\n", name,
		spell.Count(result.Endpoints, "endpoint"), spell.Count(result.Operations, "operation"), spell.Count(len(result.Notes), "note"))
	_, err = c.Stdout.Write(result.Definition)
	return err
}

// readOpenAPI returns the text of a document and its name in notes.
func (c *CLI) readOpenAPI(path string) (text []byte, name string, err error) {
	if path == source.Stdin {
		text, err = io.ReadAll(io.LimitReader(c.Stdin, openapi.MaxSize+1)) // one more than allowed, so that Import reports the limit
		return text, "<stdin>", err
	}
	text, err = readfile.Limit(path, openapi.MaxSize)
	return text, path, err
}
