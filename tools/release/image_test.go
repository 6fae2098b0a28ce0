package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/validate"

	"signpost/internal/testkit"
)

// TestImage unpacks the layers of the image in the OCI layout and runs it in a chroot that contains nothing else.
func TestImage(t *testing.T) {
	dir := one(t, "*_image")
	index, err := layout.ImageIndexFromPath(dir)
	if err != nil {
		t.Fatal(err)
	}
	if err := validate.Index(index); err != nil {
		t.Errorf("the layout is not valid: %v", err)
	}
	top, err := index.IndexManifest()
	if err != nil || len(top.Manifests) != 1 || top.Manifests[0].Annotations["org.opencontainers.image.ref.name"] != testVersion {
		t.Fatalf("the layout contains %+v: %v", top, err)
	}
	platforms, err := index.ImageIndex(top.Manifests[0].Digest)
	if err != nil {
		t.Fatal(err)
	}
	manifest, err := platforms.IndexManifest()
	if err != nil || len(manifest.Manifests) != 1 || !manifest.Manifests[0].Platform.Equals(v1.Platform{OS: "linux", Architecture: runtime.GOARCH}) {
		t.Fatalf("the index contains %+v: %v", manifest, err)
	}
	image, err := platforms.Image(manifest.Manifests[0].Digest)
	if err != nil {
		t.Fatal(err)
	}
	config, err := image.ConfigFile()
	if err != nil {
		t.Fatal(err)
	}
	for label, want := range map[string]string{"source": testOwner.source, "url": testOwner.homepage, "licenses": testOwner.license, "version": testVersion} {
		if got := config.Config.Labels["org.opencontainers.image."+label]; got != want {
			t.Errorf("the label %s is %q, want %q", label, got, want)
		}
	}
	root := t.TempDir()
	if err := os.Chmod(root, 0o755); err != nil {
		t.Fatal(err)
	}
	layers, err := image.Layers()
	if err != nil {
		t.Fatal(err)
	}
	for _, layer := range layers {
		text, err := layer.Uncompressed()
		if err != nil {
			t.Fatal(err)
		}
		untar(t, text, root)
		text.Close()
	}
	if !strings.Contains(read(t, filepath.Join(root, "usr/share/licenses/signpost/THIRD_PARTY_LICENSES")), "github.com/spf13/cobra") {
		t.Error("the licenses are not in the image")
	}
	if n := strings.Count(read(t, filepath.Join(root, "etc/ssl/certs/ca-certificates.crt")), "BEGIN CERTIFICATE"); n < 50 {
		t.Errorf("the image has %d certificate authorities", n)
	}

	onLinux(t)
	if os.Getuid() != 0 {
		testkit.Missing(t, "root", "the image in a root directory of its own")
	}
	definitions := filepath.Join(root, "definitions")
	if err := errors.Join(os.Mkdir(definitions, 0o755),
		os.WriteFile(filepath.Join(definitions, "example.yaml"), []byte(read(t, filepath.Join(repoDir, "internal/cli/example.yaml"))), 0o644)); err != nil {
		t.Fatal(err)
	}
	command := slices.Concat(config.Config.Entrypoint, config.Config.Cmd)
	var uid, gid uint32
	if _, err := fmt.Sscanf(config.Config.User, "%d:%d", &uid, &gid); err != nil || uid == 0 {
		t.Fatalf("the image runs as %q", config.Config.User)
	}
	inside := func(args ...string) *exec.Cmd {
		return &exec.Cmd{Path: args[0], Args: args, Dir: "/", Env: []string{},
			SysProcAttr: &syscall.SysProcAttr{Chroot: root, Credential: &syscall.Credential{Uid: uid, Gid: gid}}}
	}
	checkVersion(t, inside(command[0], "version"))
	serveExample(t, inside(command...))
}

// TestDockerfile compares deploy/Dockerfile with the image of the release, which TestImage runs: the same configuration
// and the same files, on scratch.
func TestDockerfile(t *testing.T) {
	text := read(t, filepath.Join(repoDir, "deploy/Dockerfile"))
	quoted := func(words []string) string {
		text, _ := json.Marshal(words)
		return strings.ReplaceAll(string(text), ",", ", ")
	}
	version := regexp.MustCompile(`(?m)^go (\d+\.\d+)`).FindStringSubmatch(read(t, filepath.Join(repoDir, "go.mod")))[1]
	for _, line := range []string{
		"FROM golang:" + version + " AS build", "COPY go.mod go.sum ./",
		"USER " + imageConfig.User, "EXPOSE 8080 8081", "ENTRYPOINT " + quoted(imageConfig.Entrypoint), "CMD " + quoted(imageConfig.Cmd),
	} {
		if !strings.Contains(text, "\n"+line+"\n") {
			t.Errorf("deploy/Dockerfile lacks %q", line)
		}
	}
	_, image, _ := strings.Cut(text, "\nFROM scratch\n")
	var files []string
	for _, m := range regexp.MustCompile(`(?m)^(?:COPY --from=build \S+ /(\S+)|ADD .*|COPY .*|RUN .*|VOLUME .*)$`).FindAllStringSubmatch(image, -1) {
		files = append(files, m[1])
	}
	if want := []string{"etc/ssl/certs/ca-certificates.crt", "signpost", "usr/share/licenses/signpost/THIRD_PARTY_LICENSES"}; !slices.Equal(files, want) {
		t.Errorf("the image holds %q, not %q", files, want)
	}
}
