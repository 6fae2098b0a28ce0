// Command release builds a release of Signpost: binaries in archives, packages for Debian, Fedora and npm, a container
// image as an OCI layout, checksums and an SBOM. It needs nothing but Go, and the same source, version and toolchain
// give the same bytes.
//
//	go run . -version v1.0.0 -maintainer "Name <address>" -homepage URL -out ../../bin/release/v1.0.0
package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"time"
)

// allPlatforms lists the platforms of a release.
const allPlatforms = "linux/amd64,linux/arm64,darwin/amd64,darwin/arm64,windows/amd64,windows/arm64"

// semver is the format of a version. Packages could not be sorted without it.
var semver = regexp.MustCompile(`^v(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)(-[0-9A-Za-z.-]+)?$`)

// release is one run of the release build.
type release struct {
	repo    string // root of the repository
	out     string // output directory
	work    string // temporary files, removed at the end
	version string // such as v1.0.0
	docsURL string // where docs is published; empty if nowhere
	npmName string // of the npm package; those of platforms have a suffix
	owner   owner
	date    time.Time
	log     io.Writer

	binaries []binary
	manPages []string // files in work
	pages    []string // of the documentation, as paths in repo
	examples []string // files of deploy and examples, as paths in repo
}

// owner is what only whoever publishes a release can know.
type owner struct {
	maintainer string // such as "Name <address>", for packages
	homepage   string // URL, for packages
	source     string // URL of the repository, for the image; empty if it is not public
	license    string // SPDX identifier; empty if none was chosen
}

// binary is Signpost for one platform.
type binary struct {
	goos, goarch string
	path         string
}

func main() {
	var r release
	platforms := flag.String("platforms", allPlatforms, "platforms to build for, separated by commas")
	flag.StringVar(&r.version, "version", "", "version of the release, such as v1.0.0")
	flag.StringVar(&r.repo, "repo", "../..", "root of the repository")
	flag.StringVar(&r.out, "out", "", "directory for the results; an earlier release in it is removed")
	flag.StringVar(&r.owner.maintainer, "maintainer", "", "who maintains the packages, such as \"Name <address>\"")
	flag.StringVar(&r.owner.homepage, "homepage", "", "URL for the packages")
	flag.StringVar(&r.owner.source, "source", "", "URL of the public repository, if there is one")
	flag.StringVar(&r.owner.license, "license", "", "SPDX identifier of Signpost's own license, if one was chosen")
	flag.StringVar(&r.docsURL, "docs", "", "URL of the published docs directory, for links to rules in SARIF")
	flag.StringVar(&r.npmName, "npm-name", defaultNPMName, "name of the npm package, in a scope of yours, such as @example/signpost")
	flag.Parse()
	r.log = os.Stderr
	if !semver.MatchString(r.version) || r.out == "" || r.owner.maintainer == "" || r.owner.homepage == "" || flag.NArg() > 0 {
		fmt.Fprintln(os.Stderr, "usage: release -version v1.0.0 -maintainer \"Name <address>\" -homepage URL -out DIRECTORY")
		os.Exit(2)
	}
	if !npmName.MatchString(r.npmName) {
		fmt.Fprintf(os.Stderr, "release: %q is not the name of an npm package, such as %s\n", r.npmName, defaultNPMName)
		os.Exit(2)
	}
	if err := r.run(strings.Split(*platforms, ",")); err != nil {
		fmt.Fprintln(os.Stderr, "release:", err)
		os.Exit(1)
	}
}

// run builds the release for the given platforms.
func (r *release) run(platforms []string) (err error) {
	if r.repo, err = filepath.Abs(r.repo); err != nil {
		return err
	}
	if r.out, err = filepath.Abs(r.out); err != nil {
		return err
	}
	if r.work, err = os.MkdirTemp("", "signpost-release"); err != nil {
		return err
	}
	defer os.RemoveAll(r.work)
	if r.date, err = r.sourceDate(); err != nil {
		return err
	}
	r.pages = documentation(r.repo)
	if r.examples, err = examples(r.repo); err != nil {
		return err
	}
	if err := emptyOutput(r.out); err != nil {
		return err
	}
	for _, step := range []struct {
		name string
		do   func() error
	}{
		{"man pages and completions", r.generate},
		{"binaries for " + strings.Join(platforms, ", "), func() error { return r.build(platforms) }},
		{"archives", r.archives},
		{"packages", r.packages},
		{"npm packages", r.npmPackages},
		{"image", r.image},
		{"SBOM", r.sbom},
		{"checksums", r.checksums},
	} {
		fmt.Fprintln(r.log, step.name)
		if err := step.do(); err != nil {
			return fmt.Errorf("%s: %w", step.name, err)
		}
	}
	fmt.Fprintln(r.log, r.out)
	return nil
}

// emptyOutput makes an empty directory. It removes the files of an earlier release, and nothing else.
func emptyOutput(dir string) error {
	entries, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	for _, e := range entries {
		if name := e.Name(); name != "SHA256SUMS" && !strings.HasPrefix(name, "signpost_") && !strings.HasPrefix(name, "signpost-") {
			return fmt.Errorf("%q is not a directory for releases: it has %q in it", dir, name)
		}
	}
	for _, e := range entries {
		if err := os.RemoveAll(filepath.Join(dir, e.Name())); err != nil {
			return err
		}
	}
	return os.MkdirAll(dir, 0o755)
}

// number returns the version without the v, as packages need it.
func (r *release) number() string { return strings.TrimPrefix(r.version, "v") }

// sourceDate returns the date for all files: that of the commit, or SOURCE_DATE_EPOCH if set
// (https://reproducible-builds.org).
func (r *release) sourceDate() (time.Time, error) {
	epoch := os.Getenv("SOURCE_DATE_EPOCH")
	if epoch == "" {
		out, err := exec.Command("git", "-C", r.repo, "log", "-1", "--format=%ct").Output()
		if err != nil {
			return time.Time{}, fmt.Errorf("find the date of the commit: %w (set SOURCE_DATE_EPOCH to build without git)", err)
		}
		epoch = strings.TrimSpace(string(out))
	}
	seconds, err := strconv.ParseInt(epoch, 10, 64)
	if err != nil {
		return time.Time{}, fmt.Errorf("SOURCE_DATE_EPOCH: %w", err)
	}
	return time.Unix(seconds, 0).UTC(), nil
}

// goCommand runs the go command in the repository for a platform.
func (r *release) goCommand(goos, goarch string, args ...string) error {
	cmd := exec.Command("go", args...)
	cmd.Dir = r.repo
	cmd.Stdout, cmd.Stderr = r.log, r.log
	// Settings of this machine must not affect the result.
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOFLAGS=-mod=readonly", "GOWORK=off", "GOEXPERIMENT=", "GOAMD64=v1", "GOARM64=v8.0",
		"GOOS="+goos, "GOARCH="+goarch)
	return cmd.Run()
}

// generate writes the man pages and completion scripts.
func (r *release) generate() error {
	// With -trimpath, what it compiles is also in the binaries.
	err := r.goCommand(runtime.GOOS, runtime.GOARCH, "-C", "tools/manpages", "run", "-trimpath", ".", r.version, r.date.Format(time.DateOnly), r.work)
	if err != nil {
		return err
	}
	r.manPages, err = filepath.Glob(filepath.Join(r.work, "*.1"))
	return err
}

// completions are the scripts that generate writes.
var completions = []string{"signpost.bash", "_signpost", "signpost.fish", "signpost.ps1"}

// build compiles the binaries, all at the same time: the Go toolchain shares the cores among them.
func (r *release) build(platforms []string) error {
	failed := make([]error, len(platforms))
	var wait sync.WaitGroup
	for i, platform := range platforms {
		goos, goarch, ok := strings.Cut(platform, "/")
		if !ok {
			return fmt.Errorf("%q is not a platform, such as linux/amd64", platform)
		}
		b := binary{goos, goarch, filepath.Join(r.work, goos+"-"+goarch)}
		r.binaries = append(r.binaries, b)
		wait.Go(func() {
			if err := r.compile(b.path, goos, goarch); err != nil {
				failed[i] = fmt.Errorf("build for %s: %w", platform, err)
			}
		})
	}
	wait.Wait()
	return errors.Join(failed...)
}

// compile builds Signpost. The version is that of the release, whatever the state of the working tree, and neither
// paths nor build IDs depend on the machine.
func (r *release) compile(path, goos, goarch string) error {
	flags := "-ldflags=-s -w -buildid= -X signpost/internal/cli.release=" + r.version
	if r.docsURL != "" {
		flags += " -X signpost/internal/cli.docsURL=" + r.docsURL
	}
	return r.goCommand(goos, goarch, "build", "-trimpath", "-buildvcs=false", flags, "-o", path, "./cmd/signpost")
}
