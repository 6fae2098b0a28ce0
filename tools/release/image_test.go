package main

import (
	"encoding/json"
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
	index := testkit.Must(layout.ImageIndexFromPath(dir))(t)
	testkit.OK(t, validate.Index(index))
	top, err := index.IndexManifest()
	if err != nil || len(top.Manifests) != 1 || top.Manifests[0].Annotations["org.opencontainers.image.ref.name"] != testVersion {
		t.Fatalf("the layout contains %+v: %v", top, err)
	}
	platforms := testkit.Must(index.ImageIndex(top.Manifests[0].Digest))(t)
	manifest, err := platforms.IndexManifest()
	if err != nil || len(manifest.Manifests) != 1 || !manifest.Manifests[0].Platform.Equals(v1.Platform{OS: "linux", Architecture: runtime.GOARCH}) {
		t.Fatalf("the index contains %+v: %v", manifest, err)
	}
	image := testkit.Must(platforms.Image(manifest.Manifests[0].Digest))(t)
	config := testkit.Must(image.ConfigFile())(t)
	for label, want := range map[string]string{"source": testOwner.source, "url": testOwner.homepage, "licenses": testOwner.license, "version": testVersion} {
		if got := config.Config.Labels["org.opencontainers.image."+label]; got != want {
			t.Errorf("the label %s is %q, want %q", label, got, want)
		}
	}
	root := t.TempDir()
	testkit.OK(t, os.Chmod(root, 0o755))
	for _, layer := range testkit.Must(image.Layers())(t) {
		text := testkit.Must(layer.Uncompressed())(t)
		untar(t, text, root)
		text.Close()
	}
	if !strings.Contains(testkit.Read(t, filepath.Join(root, "usr/share/licenses/signpost/THIRD_PARTY_LICENSES")), "github.com/spf13/cobra") {
		t.Error("the licenses are not in the image")
	}
	if n := strings.Count(testkit.Read(t, filepath.Join(root, "etc/ssl/certs/ca-certificates.crt")), "BEGIN CERTIFICATE"); n < 50 {
		t.Errorf("the image has %d certificate authorities", n)
	}

	onLinux(t)
	if os.Getuid() != 0 {
		testkit.Missing(t, "root", "the image in a root directory of its own")
	}
	testkit.Write(t, filepath.Join(root, "definitions", "example.yaml"), testkit.Read(t, filepath.Join(repoDir, "internal/cli/example.yaml")))
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
	text := testkit.Read(t, filepath.Join(repoDir, "deploy/Dockerfile"))
	quoted := func(words []string) string {
		text, _ := json.Marshal(words)
		return strings.ReplaceAll(string(text), ",", ", ")
	}
	version := regexp.MustCompile(`(?m)^go (\d+\.\d+)`).FindStringSubmatch(testkit.Read(t, filepath.Join(repoDir, "go.mod")))[1]
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
