package source

import (
	"bytes"
	"cmp"
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	ocispec "github.com/opencontainers/image-spec/specs-go/v1"
	"golang.org/x/sync/errgroup"
	"oras.land/oras-go/v2/content"
	"oras.land/oras-go/v2/errdef"
	"oras.land/oras-go/v2/registry"
	"oras.land/oras-go/v2/registry/remote"
	"oras.land/oras-go/v2/registry/remote/auth"
	"oras.land/oras-go/v2/registry/remote/credentials"
	"oras.land/oras-go/v2/registry/remote/errcode"
	"oras.land/oras-go/v2/registry/remote/retry"

	"signpost/definition"
	"signpost/host"
	"signpost/internal/httpurl"
)

// ArtifactType is the type of an OCI artifact that holds definitions: one layer per file, with its path as title.
const ArtifactType = "application/vnd.signpost.definitions.v1"

const (
	// maxManifest is the maximum size of the manifest of an artifact. Registries do not accept larger ones.
	maxManifest = 4 << 20

	// maxFiles is the maximum number of files of an artifact. A manifest has no room for more with a digest and a
	// title.
	maxFiles = 20000

	// maxArtifact is the maximum total size of the files of an artifact. Definitions for 100,000 endpoints are smaller.
	maxArtifact = 256 << 20

	// maxFetches is the number of concurrent downloads: enough to hide the latency of a registry.
	maxFetches = 8
)

const registryScheme = "oci://"

// IsRegistry reports whether an argument names an artifact in an OCI registry.
func IsRegistry(arg string) bool {
	return len(arg) >= len(registryScheme) && strings.EqualFold(arg[:len(registryScheme)], registryScheme)
}

// artifact is an artifact in a registry: a tag, which may move, or a digest.
type artifact struct {
	name   string // oci://host/repository:tag
	within string // file or directory within the artifact; empty for all of it
	ref    registry.Reference
	repo   *remote.Repository
	keep   func([]Document) ([]Document, error) // drops what is not a definition
}

// inArtifact matches host/repository:tag/path, the name of a file in an artifact. Neither a repository nor a tag
// contains a colon, and a tag contains no slash.
var inArtifact = regexp.MustCompile(`^([^/]*/[^:]*:[^/]*)/(.*?)/?$`)

// artifact returns the artifact that an argument names, without sending a request. It is reached over https, or plain
// http if a registry on this machine speaks only that, with the credentials of the Docker configuration, including its
// helpers. If retries is set, requests that fail temporarily are repeated.
func (r *Reader) artifact(arg string, retries bool) (*artifact, error) {
	name, within := arg[len(registryScheme):], ""
	if parts := inArtifact.FindStringSubmatch(name); parts != nil {
		name, within = parts[1], parts[2]
	}
	ref, err := registry.ParseReference(name)
	switch {
	case strings.Contains(strings.SplitN(name, "/", 2)[0], "@"):
		return nil, argumentErrorf("%q has user info before its host: docker login stores credentials", Shown(arg))
	case err != nil:
		return nil, argumentErrorf(
			"%q is not an artifact in a registry, such as oci://oci.example.com/feeds:prod", Shown(arg))
	case ref.Reference == "":
		return nil, argumentErrorf("%q has no tag: add one, such as %[1]s:prod", arg)
	}
	store, err := credentials.NewStoreFromDocker(credentials.StoreOptions{})
	if err != nil {
		return nil, fmt.Errorf("read credentials for %q: %w", arg, err)
	}
	var transport http.RoundTripper = cmp.Or(r.Transport, http.DefaultTransport)
	if retries {
		transport = retry.NewTransport(transport)
	}
	sender := &auth.Client{
		Client:     &http.Client{Transport: secretly{transport, ref.Registry}, CheckRedirect: registryRedirect},
		Cache:      auth.NewCache(),
		Credential: credentials.Credential(store),
	}
	sender.SetUserAgent(cmp.Or(r.UserAgent, "signpost"))
	repo := &remote.Repository{Client: sender, Reference: ref, MaxMetadataBytes: maxManifest}
	return &artifact{registryScheme + name, within, ref, repo, r.keepDefinitions}, nil
}

// secretly sends credentials over https, or to a registry on this machine that speaks plain http; to no other service
// that such a registry may name, such as one for tokens.
type secretly struct {
	http.RoundTripper
	registry string
}

func (s secretly) RoundTrip(req *http.Request) (*http.Response, error) {
	// The body of a POST may have a password.
	secret := req.Header.Get("Authorization") != "" || req.Method == http.MethodPost
	if secret && req.URL.Scheme != "https" && req.URL.Host != s.registry {
		return nil, fmt.Errorf("the registry names %s for tokens, which speaks plain http: no password is sent there",
			req.URL.Host)
	}
	return s.RoundTripper.RoundTrip(req)
}

// registryRedirect also follows a redirect of a blob to another host, as large registries do: its digest is checked,
// and package auth sends no credential there.
func registryRedirect(req *http.Request, via []*http.Request) error {
	from := via[0].URL
	if len(via) >= maxRedirects || !strings.Contains(from.Path, "/blobs/sha256:") || req.URL.Hostname() == "" {
		return safeRedirect(req, via)
	}
	if req.URL.Scheme != "https" && !(host.IsLoopback(req.URL.Host) && host.IsLoopback(from.Host)) {
		return fmt.Errorf("redirected to plain http on %s", req.URL.Host)
	}
	req.Header.Del("Referer")
	return nil
}

// pinned reports whether the artifact is named by its digest, so that it never changes.
func (a *artifact) pinned() bool { return a.ref.ValidateReferenceAsDigest() == nil }

// resolve returns the current digest of the artifact. A registry on this machine may speak plain http, as its first
// response shows.
func (a *artifact) resolve(ctx context.Context) (ocispec.Descriptor, error) {
	desc, err := a.repo.Resolve(ctx, a.ref.Reference)
	if isPlain(err) && host.IsLoopback(a.ref.Registry) {
		a.repo.PlainHTTP = true
		desc, err = a.repo.Resolve(ctx, a.ref.Reference)
	}
	if err == nil && desc.Size > maxManifest {
		err = fmt.Errorf("the manifest of the artifact has %d bytes, more than %d MiB", desc.Size, maxManifest>>20)
	}
	return desc, a.explain(ctx, err)
}

// isPlain reports whether a server answered something that is not TLS.
func isPlain(err error) bool {
	var answer tls.RecordHeaderError
	return errors.Is(err, http.ErrSchemeMismatch) || errors.As(err, &answer)
}

// list returns the files of the artifact with a digest, by path. It checks everything that can be checked before
// fetching them.
func (a *artifact) list(ctx context.Context, desc ocispec.Descriptor) ([]ocispec.Descriptor, error) {
	body, err := content.FetchAll(ctx, a.repo.Manifests(), desc)
	if err != nil {
		return nil, a.explain(ctx, err)
	}
	// Each file has two. A manifest of 4 MiB has room for a million empty layers.
	if bytes.Count(body, []byte("{")) > 3*maxFiles {
		return nil, fmt.Errorf("the artifact has more than %d layers", maxFiles)
	}
	var manifest ocispec.Manifest
	if err := json.Unmarshal(body, &manifest); err != nil {
		return nil, fmt.Errorf("the manifest of the artifact cannot be read: %w", err)
	}
	if kind := cmp.Or(manifest.ArtifactType, manifest.Config.MediaType, desc.MediaType); kind != ArtifactType {
		return nil, fmt.Errorf("the artifact has the type %q, not %q: signpost push makes one", kind, ArtifactType)
	}
	var layers []ocispec.Descriptor
	var total int64
	titles := make(map[string]bool, len(manifest.Layers))
	for i, desc := range manifest.Layers {
		title := titleOf(desc)
		switch {
		case title == "":
			return nil, fmt.Errorf("layer %d has no title, which would be the path of its file", i+1)
		case !filepath.IsLocal(title) || path.Clean(title) != title || strings.ContainsAny(title, "\\:\x00"):
			return nil, fmt.Errorf("layer %q: the path leaves the directory", title)
		case titles[title]:
			return nil, fmt.Errorf("layer %q is duplicated", title)
		case desc.Digest.Validate() != nil || desc.Size < 0:
			return nil, fmt.Errorf("layer %q has no valid digest and size", title)
		case desc.Size > definition.MaxSize:
			return nil, fmt.Errorf("layer %q has %d bytes, more than the %d MiB of a definition",
				title, desc.Size, definition.MaxSize>>20)
		}
		titles[title] = true
		if !candidate(title) || a.within != "" && title != a.within && !strings.HasPrefix(title, a.within+"/") {
			continue
		}
		total += desc.Size
		if total > maxArtifact {
			return nil, fmt.Errorf("the files of the artifact have more than %d MiB together", maxArtifact>>20)
		}
		layers = append(layers, desc)
	}
	if a.within != "" && len(layers) == 0 {
		return nil, fmt.Errorf("the artifact has no definition %q", a.within)
	}
	slices.SortFunc(layers, func(a, b ocispec.Descriptor) int { return strings.Compare(titleOf(a), titleOf(b)) })
	return layers, nil
}

// titleOf returns the path of a file of an artifact.
func titleOf(layer ocispec.Descriptor) string { return layer.Annotations[ocispec.AnnotationTitle] }

// fetch is the [fetchFunc] of the artifact, whose version is its digest. It fetches the files concurrently, except
// those that are the same as before. It returns all of them or an error, and every text has the digest in the manifest.
func (a *artifact) fetch(ctx context.Context, before state) (state, error) {
	if before.version != "" && a.pinned() {
		return before, nil
	}
	desc, err := a.resolve(ctx)
	if err != nil || string(desc.Digest) == before.version {
		return before, err
	}
	layers, err := a.list(ctx, desc)
	if err != nil {
		return state{}, err
	}
	known := make(map[Sum][]byte, len(before.documents))
	for _, d := range before.documents {
		known[d.Sum] = d.Text
	}
	documents, errs := make([]Document, len(layers)), make([]error, len(layers))
	var group errgroup.Group
	group.SetLimit(maxFetches)
	for i, layer := range layers {
		title := titleOf(layer)
		documents[i] = Document{Name: a.name + "/" + title, Path: title, Text: known[layer.Digest], Sum: layer.Digest}
		if text, ok := known[layer.Digest]; ok && int64(len(text)) == layer.Size {
			continue
		}
		group.Go(func() error {
			text, err := content.FetchAll(ctx, a.repo.Blobs(), layer)
			documents[i].Text = text
			if err != nil {
				errs[i] = fmt.Errorf("layer %q: %w", title, a.explain(ctx, err))
			}
			return nil
		})
	}
	group.Wait()
	if err := cmp.Or(errs...); err != nil { // the first one, so that the same failure has the same message
		return state{}, err
	}
	documents, err = a.keep(documents)
	return state{documents, string(desc.Digest)}, err
}

var errNoArtifact = errors.New("the registry has no such repository, tag or digest")

// explain explains a failed request to the user.
func (a *artifact) explain(ctx context.Context, err error) error {
	var response *errcode.ErrorResponse
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case errors.As(err, &response):
		return a.explainStatus(response)
	case errors.Is(err, errdef.ErrNotFound):
		return errNoArtifact
	case errors.Is(err, auth.ErrBasicCredentialNotFound):
		return fmt.Errorf("the registry wants credentials, and the Docker configuration has none for it: "+
			"docker login %s stores them", a.ref.Registry)
	case errors.Is(err, content.ErrMismatchedDigest), errors.Is(err, content.ErrTrailingData),
		errors.Is(err, content.ErrInvalidDescriptorSize),
		strings.Contains(err.Error(), "mismatch Content-Length"): // there is no error type for this
		return fmt.Errorf("the registry sent content that does not match its digest: %w", err)
	case strings.Contains(err.Error(), "missing required header"): // nor for this
		return fmt.Errorf("the server is not an OCI registry: %w", httpurl.WithoutURL(err))
	case isPlain(err) && !host.IsLoopback(a.ref.Registry):
		return errors.New("the registry speaks plain http, which is only used for registries on this machine")
	}
	return explain(err)
}

func (a *artifact) explainStatus(response *errcode.ErrorResponse) error {
	status := fmt.Sprintf("%d %s", response.StatusCode, http.StatusText(response.StatusCode))
	switch response.StatusCode {
	case http.StatusUnauthorized, http.StatusForbidden:
		return fmt.Errorf("the registry denies access (%s): docker login %s stores credentials", status, a.ref.Registry)
	case http.StatusNotFound:
		return fmt.Errorf("%w (%s)", errNoArtifact, status)
	}
	if len(response.Errors) > 0 {
		return fmt.Errorf("the registry responds with %s: %w", status, response.Errors)
	}
	return fmt.Errorf("the registry responds with %s", status)
}

// readRegistry reads the definitions of an artifact.
func (r *Reader) readRegistry(ctx context.Context, arg string) ([]Document, error) {
	a, err := r.artifact(arg, true)
	if err != nil {
		return nil, err
	}
	now, err := a.fetch(ctx, state{})
	if err != nil {
		return nil, fmt.Errorf("read definitions %q: %w", arg, err)
	}
	return now.documents, nil
}
