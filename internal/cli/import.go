package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"signpost/definition"
	"signpost/host"
	"signpost/internal/adopt"
	"signpost/internal/httpurl"
	"signpost/internal/routes"
	"signpost/internal/source"
	"signpost/internal/spell"
	"signpost/openapi"
)

// openAPIFlags are the flags that mean nothing for manifests.
var openAPIFlags = []string{
	"tag", "path", "post", "deprecated", "third-party", "api-version", "security-key", "mime-type", "root",
}

// importer holds the flags of import.
type importer struct {
	*CLI
	host    string
	rootDir string
	keys    pairs
	opts    openapi.Options
}

func (c *CLI) importCommand() *cobra.Command {
	im := &importer{CLI: c, keys: pairs{form: "scheme=key"}}
	cmd := &cobra.Command{
		Use:   "import SOURCE...",
		Short: "Create a definition from the manifests of a service, or from an OpenAPI document",
		Long: `Import prints a definition to start from.

From manifests: name the manifest of each version, by its address or as a file. Import renders the definition and
compares the result with the manifests, so that signpost diff finds no changes. Host and base path come from the
addresses; for files, name the service's own host with --host. The version is that of the address, else that in the
URLs, else v1; v2=FILE sets it. Anything that a definition cannot express, such as a duplicate key, is listed, and the
exit status is 1. It is 3 if the definition would render to anything else.

From an OpenAPI 3.0 or 3.1 document, in YAML or JSON: an endpoint for each GET operation, with its query parameters as
modifiers. The exit status is 3 if there is no endpoint to import. References are never fetched: to import from a
URL, pipe the document to signpost import -.

Anything that could not be imported is reported on standard error and as a comment in the definition.`,
		Example: `  signpost import https://feeds.example.com/v1/endpoints-manifest https://feeds.example.com/v2/endpoints-manifest > feeds.yaml
  signpost import manifest.json v2=next.json --host feeds.example.com > feeds.yaml
  signpost import api.yaml > feeds.yaml
  signpost import api.yaml --tag catalogue --path '/shows*' --post
  signpost import api.yaml --security-key bearerAuth=plugin-login-flow.access_token
  signpost import partner.json --third-party --api-version v2
  curl -fsSL https://example.com/openapi.json | signpost import -`,
		Args: usageArgs(cobra.MinimumNArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error { return im.run(cmd.Context(), args) },
	}
	flags := cmd.Flags()
	flags.Var((*hostname)(&im.host), "host",
		"manifests: the service's own host, whose URLs get {{host}} (default: that of the address)")
	flags.StringSliceVar(&im.opts.Tags, "tag", nil, "OpenAPI: import only operations with this tag (repeatable)")
	flags.StringSliceVar(&im.opts.Paths, "path", nil, "OpenAPI: import only this path; * matches any text (repeatable)")
	flags.BoolVar(&im.opts.Post, "post", false, "OpenAPI: also import POST operations")
	flags.BoolVar(&im.opts.Deprecated, "deprecated", false, "OpenAPI: also import deprecated operations and parameters")
	flags.BoolVar(&im.opts.ThirdParty, "third-party", false,
		"OpenAPI: keep the URLs of the servers instead of using {{host}}")
	flags.StringVar(&im.opts.Version, "api-version", "",
		"OpenAPI: API version of all endpoints (default: the version in their URLs, else v1)")
	flags.Var(&im.keys, "security-key",
		"OpenAPI: map a security scheme to a context key, on the operations that use the scheme (repeatable)")
	flags.StringVar(&im.opts.MIMEType, "mime-type", "",
		"OpenAPI: content type of endpoints whose responses declare none (default: application/json)")
	flags.StringVar(&im.rootDir, "root", "",
		"OpenAPI: directory within which references are resolved (default: the directory of the document)")
	flagsAlone(cmd, "tag", "path", "root")
	c.addNetworkFlags(cmd)
	return cmd
}

// given is a source that was named, and the version that it is for.
type given struct {
	version string // from v2=FILE, or from the address; may be empty
	source.Document
}

func (im *importer) run(ctx context.Context, args []string) error {
	if err := im.checkFlags(); err != nil {
		return err
	}
	sources := make([]given, len(args))
	published := service{host: im.host, hostFrom: "--host"}
	for i, arg := range args {
		version, rest, found := strings.Cut(arg, "=")
		if found && routes.ValidVersion(version) {
			sources[i].version, args[i] = version, rest
		}
		version, err := published.add(args[i])
		if err != nil {
			return err
		}
		sources[i].version = cmp.Or(sources[i].version, version)
	}
	reader := im.reader()
	for i, arg := range args {
		document, err := reader.ReadOne(ctx, arg)
		if err != nil {
			return fmt.Errorf("import: %w", err)
		}
		sources[i].Document = document
	}
	if first := sources[0]; len(sources) == 1 && first.version == "" && !first.Manifest() {
		return im.openAPI(first.Document)
	}
	return im.manifests(sources, adopt.Options{Host: published.host, BasePath: published.basePath})
}

// service is where the manifests of a service are published, and which source says so.
type service struct {
	host, hostFrom     string
	basePath, pathFrom string
}

// add takes host and base path from a source, if it is an address, and returns the version of its manifest.
func (s *service) add(arg string) (version string, err error) {
	address, err := httpurl.ParseAddress(arg)
	if !source.IsAddress(arg) || err != nil { // the reader reports it
		return "", nil
	}
	shown := source.Shown(arg)
	name, err := host.Parse(address.Host)
	switch {
	case err != nil:
		return "", usageErrorf("import %q: %w", shown, err)
	case s.host != "" && name != s.host:
		return "", usageErrorf("import %q: its host is not %s, as %s has it: import one service at a time",
			shown, s.host, s.hostFrom)
	}
	s.host, s.hostFrom = name, shown
	basePath, version, ok := routes.Parse(address.Path)
	switch {
	case !ok:
		return "", nil
	case s.basePath != "" && basePath != s.basePath:
		return "", usageErrorf("import %q: its base path is not %s, as %s has it: import one service at a time",
			shown, s.basePath, s.pathFrom)
	}
	s.basePath, s.pathFrom = basePath, shown
	return version, nil
}

// checkFlags checks the values of flags.
func (im *importer) checkFlags() error {
	if err := (openapi.Options{Version: im.opts.Version}).Validate(); err != nil {
		return usageErrorf("--api-version: %w", err)
	}
	keys, err := im.keys.parse("--security-key", nil)
	if err != nil {
		return err
	}
	im.opts.Context = keys
	if err := (openapi.Options{MIMEType: im.opts.MIMEType}).Validate(); err != nil {
		return usageErrorf("--mime-type: %w", err)
	}
	return nil
}

// manifests prints the definition for the manifests of a service to standard output and the notes to standard error.
func (im *importer) manifests(documents []given, opts adopt.Options) error {
	for _, flag := range openAPIFlags {
		if im.given(flag) {
			return usageErrorf("--%s is for OpenAPI documents, and %s is a manifest", flag, documents[0].Name)
		}
	}
	var sources []adopt.Source
	for _, d := range documents {
		sources = append(sources, adopt.Source{Name: d.Name, Text: d.Text, Version: d.version})
	}
	result, err := adopt.Import(sources, opts)
	if _, twice := errors.AsType[*adopt.VersionError](err); twice {
		return usageErrorf("import: %w", err)
	}
	if err != nil {
		return fmt.Errorf("import: %w%s", err, otherKind(documents))
	}
	for _, line := range slices.Concat(result.LeftOut, result.Notes) {
		printf(im.Stderr, "%s\n", line)
	}
	proven := "the definition gives the same manifests"
	if len(result.LeftOut) > 0 {
		proven += ", apart from what is left out"
	}
	printf(im.Stderr, "%s from %s: %s\n",
		spell.Count(result.Endpoints, "endpoint"), spell.Count(len(sources), "manifest"), proven)
	if _, err := im.Stdout.Write(result.Definition); err != nil {
		return err
	}
	if len(result.LeftOut) > 0 {
		return errFindings
	}
	return nil
}

// otherKind adds to the error about documents of which kind one of them is instead.
func otherKind(documents []given) string {
	for _, d := range documents {
		file := definition.Parse(d.Name, d.Text)
		switch {
		case len(file.Versions()) > 0:
			return "; " + d.Name + " is a definition already: signpost lint checks it"
		case d.Address != nil && openapi.Is(d.Text):
			return fmt.Sprintf("; this is an OpenAPI document, so pipe it in: curl -fsSL %s | signpost import -", d.Name)
		case openapi.Is(d.Text):
			return "; " + d.Name + " is an OpenAPI document: import it by itself, and without a version"
		}
	}
	return ""
}

// notManifest adds to the error about a document of no kind why it is no manifest either.
func notManifest(d source.Document) string {
	rule := `; and a manifest is JSON with "endpoints"`
	for _, f := range definition.Errors(definition.Parse(d.Name, d.Text)) {
		if f.Rule == definition.RuleSyntax {
			return fmt.Sprintf("%s: line %d: %s", rule, f.Line, f.Message)
		}
	}
	return rule
}

// openAPI prints the definition for a document to standard output and the notes to standard error.
func (im *importer) openAPI(document source.Document) error {
	if im.given("host") {
		return usageErrorf("--host is for manifests, and %s is not one", document.Name)
	}
	opts, rootDir, name := im.opts, im.rootDir, document.Name
	if name != source.StdinName {
		rootDir = cmp.Or(rootDir, filepath.Dir(name))
		opts.Path = seenFrom(name, rootDir)
		if !fs.ValidPath(opts.Path) {
			return usageErrorf("--root: %q is not in the directory %q", name, rootDir)
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
	result, err := openapi.Import(name, document.Text, opts)
	if errors.Is(err, openapi.ErrOther) {
		instead := cmp.Or(otherKind([]given{{Document: document}}), notManifest(document))
		return fmt.Errorf("import %q: %w%s", name, err, instead)
	}
	if err != nil {
		return fmt.Errorf("import %q: %w", name, err)
	}
	for _, note := range result.Notes {
		printf(im.Stderr, "%s\n", note)
	}
	if result.Endpoints == 0 {
		return fmt.Errorf("import %q: none of %s can be an endpoint", name, spell.Count(result.Operations, "operation"))
	}
	printf(im.Stderr, "%s: %s from %s, %s\n", name, spell.Count(result.Endpoints, "endpoint"),
		spell.Count(result.Operations, "operation"), spell.Count(len(result.Notes), "note"))
	_, err = im.Stdout.Write(result.Definition)
	return err
}
