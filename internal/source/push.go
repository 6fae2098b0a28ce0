package source

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/opencontainers/go-digest"
	specs "github.com/opencontainers/image-spec/specs-go"
	ocispec "github.com/opencontainers/image-spec/specs-go/v1"
	"oras.land/oras-go/v2/errdef"
)

// Pushed is the result of a push.
type Pushed struct {
	Name  string // oci://host/repository@sha256:…, which identifies exactly this state
	Files int
	New   int // number of files that the registry did not have
}

// pushTimeout limits a push, so that a pipeline does not hang.
const pushTimeout = 5 * time.Minute

// Push stores documents as one artifact, a layer for each with its path as title, and makes the tag point to it. The
// tag is moved last, when everything is stored. The same documents give the same digest.
func (r *Reader) Push(ctx context.Context, documents []Document, target string) (Pushed, error) {
	a, err := r.artifact(target, true)
	if err != nil {
		return Pushed{}, err
	}
	if a.pinned() {
		return Pushed{}, argumentErrorf("%q names a digest, which depends on the files: use a tag", target)
	}
	if a.within != "" {
		return Pushed{}, argumentErrorf("%q names a file of an artifact: push to the artifact, %s", target, a.name)
	}
	manifest, blobs, err := pack(documents)
	if err != nil {
		return Pushed{}, err
	}
	ctx, cancel := context.WithTimeoutCause(ctx, pushTimeout, fmt.Errorf("not done within %v", pushTimeout))
	defer cancel()
	failed := func(err error) (Pushed, error) {
		return Pushed{}, fmt.Errorf("push to %q: %w", target, a.explain(ctx, err))
	}
	a.resolve(ctx) // finds out whether it speaks plain http; whatever else fails, fails again
	result := Pushed{Files: len(documents)}
	for i, desc := range append([]ocispec.Descriptor{manifest.Config}, manifest.Layers...) {
		exists, err := a.repo.Blobs().Exists(ctx, desc)
		if err != nil {
			return failed(err)
		}
		if exists {
			continue
		}
		err = a.repo.Blobs().Push(ctx, desc, bytes.NewReader(blobs[i]))
		if err != nil && !errors.Is(err, errdef.ErrAlreadyExists) {
			return failed(err)
		}
		if i > 0 {
			result.New++
		}
	}
	body, err := json.Marshal(manifest)
	if err != nil {
		return Pushed{}, err
	}
	if len(body) > maxManifest {
		return Pushed{}, fmt.Errorf("push to %q: %d files need a manifest of %d bytes, more than %d MiB: "+
			"push them as several artifacts", target, len(documents), len(body), maxManifest>>20)
	}
	desc := ocispec.Descriptor{MediaType: manifest.MediaType, Digest: digest.FromBytes(body), Size: int64(len(body))}
	if err := a.repo.Manifests().PushReference(ctx, desc, bytes.NewReader(body), a.ref.Reference); err != nil {
		return failed(err)
	}
	result.Name = fmt.Sprintf("%s%s/%s@%s", registryScheme, a.ref.Registry, a.ref.Repository, desc.Digest)
	return result, nil
}

// pack returns the manifest of an artifact and its blobs, the config first. It contains no timestamps, and the files
// are sorted by path, so that the same files always give the same manifest.
func pack(documents []Document) (manifest ocispec.Manifest, blobs [][]byte, err error) {
	byPath := func(a, b Document) int { return cmp.Compare(a.Path, b.Path) }
	documents = slices.SortedFunc(slices.Values(documents), byPath)
	manifest = ocispec.Manifest{
		Versioned:    specs.Versioned{SchemaVersion: 2},
		MediaType:    ocispec.MediaTypeImageManifest,
		ArtifactType: ArtifactType,
		Config:       ocispec.DescriptorEmptyJSON,
	}
	blobs = [][]byte{ocispec.DescriptorEmptyJSON.Data}
	manifest.Config.Data = nil // registries need it as a blob anyway
	for i, d := range documents {
		if i > 0 && documents[i-1].Path == d.Path {
			return manifest, nil, argumentErrorf(
				"%s and %s would both be %s in the artifact: push a directory that holds both", documents[i-1].Name, d.Name, d.Path)
		}
		mediaType := "application/yaml"
		if strings.EqualFold(path.Ext(d.Path), ".json") {
			mediaType = "application/json"
		}
		manifest.Layers = append(manifest.Layers, ocispec.Descriptor{
			MediaType: mediaType, Digest: digest.FromBytes(d.Text), Size: int64(len(d.Text)),
			Annotations: map[string]string{ocispec.AnnotationTitle: d.Path},
		})
		blobs = append(blobs, d.Text)
	}
	return manifest, blobs, nil
}
