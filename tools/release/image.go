package main

import (
	"bytes"
	"encoding/pem"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
	"github.com/google/go-containerregistry/pkg/v1/types"
	"golang.org/x/crypto/x509roots/fallback/bundle"
)

// imageConfig is the runtime configuration of the image. A test compares it with deploy/Dockerfile.
var imageConfig = v1.Config{
	User:         "65532:65532",
	ExposedPorts: map[string]struct{}{"8080": {}, "8081": {}},
	Entrypoint:   []string{"/signpost"},
	Cmd:          []string{"serve", "--listen=:8080", "--admin-listen=:8081", "/definitions"},
}

// image writes the container image as an OCI layout: an index with one image per Linux architecture.
func (r *release) image() error {
	roots := filepath.Join(r.work, "ca-certificates.crt")
	if err := os.WriteFile(roots, rootCertificates(), 0o644); err != nil {
		return err
	}
	index := mutate.IndexMediaType(empty.Index, types.OCIImageIndex)
	for _, b := range r.binaries {
		if b.goos != "linux" {
			continue
		}
		image, err := r.imageFor(b, roots)
		if err != nil {
			return err
		}
		index = mutate.AppendManifests(index, mutate.IndexAddendum{Add: image, Descriptor: v1.Descriptor{
			Platform: &v1.Platform{OS: b.goos, Architecture: b.goarch},
		}})
	}
	dir := filepath.Join(r.out, "signpost_"+r.number()+"_image")
	written, err := layout.Write(dir, empty.Index)
	if err != nil {
		return err
	}
	// Tools look up the index by this name: oci:signpost_1.0.0_image:v1.0.0
	if err := written.AppendIndex(index, layout.WithAnnotations(map[string]string{"org.opencontainers.image.ref.name": r.version})); err != nil {
		return err
	}
	return filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		return os.Chmod(path, 0o644)
	})
}

func (r *release) imageFor(b binary, roots string) (v1.Image, error) {
	entries := []entry{
		{"etc/ssl/certs/ca-certificates.crt", roots, 0o644},
		{"signpost", b.path, 0o755},
		{"usr/share/licenses/signpost/THIRD_PARTY_LICENSES", filepath.Join(r.repo, "THIRD_PARTY_LICENSES"), 0o644},
	}
	var text bytes.Buffer
	if err := writeTar(&text, entries, r.date); err != nil {
		return nil, err
	}
	layer, err := tarball.LayerFromOpener(func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(text.Bytes())), nil },
		tarball.WithMediaType(types.OCILayer))
	if err != nil {
		return nil, err
	}
	image := mutate.ConfigMediaType(mutate.MediaType(empty.Image, types.OCIManifestSchema1), types.OCIConfigJSON)
	config := imageConfig
	config.Labels = map[string]string{
		"org.opencontainers.image.title":       "signpost",
		"org.opencontainers.image.version":     r.version,
		"org.opencontainers.image.description": "Publishes the endpoints manifest of a data-source service",
	}
	for label, value := range map[string]string{"url": r.owner.homepage, "source": r.owner.source, "licenses": r.owner.license} {
		if value != "" {
			config.Labels["org.opencontainers.image."+label] = value
		}
	}
	image, err = mutate.ConfigFile(image, &v1.ConfigFile{
		OS: b.goos, Architecture: b.goarch, Created: v1.Time{Time: r.date}, Config: config, RootFS: v1.RootFS{Type: "layers"},
	})
	if err != nil {
		return nil, err
	}
	return mutate.Append(image, mutate.Addendum{Layer: layer, History: v1.History{Created: v1.Time{Time: r.date}, CreatedBy: "make release"}})
}

// rootCertificates returns Mozilla's certificate authorities, from a versioned module, so that the image does not
// depend on the machine. Those that Mozilla trusts only partially are left out: a file cannot express that.
func rootCertificates() []byte {
	var out bytes.Buffer
	for root := range bundle.Roots() {
		if root.Constraint == nil {
			pem.Encode(&out, &pem.Block{Type: "CERTIFICATE", Bytes: root.Certificate})
		}
	}
	return out.Bytes()
}
