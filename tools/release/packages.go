package main

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/goreleaser/nfpm/v2"
	"github.com/goreleaser/nfpm/v2/deb"
	"github.com/goreleaser/nfpm/v2/files"
	"github.com/goreleaser/nfpm/v2/rpm"
)

const summary = "Publishes the endpoints manifest of a data-source service"

const description = summary + `
Signpost serves the JSON document that a configuration studio imports to learn
which feeds a service offers and how to call them, and finds mistakes in it
before they ship.`

// packages writes a deb and an rpm for each Linux architecture. There is no script that creates a user: the unit sets
// DynamicUser, so systemd allocates one.
func (r *release) packages() error {
	if err := r.packageFiles(); err != nil {
		return err
	}
	for _, b := range r.binaries {
		if b.goos != "linux" {
			continue
		}
		for _, packager := range []nfpm.Packager{deb.Default, rpm.DefaultRPM} {
			info := nfpm.WithDefaults(&nfpm.Info{
				Name: "signpost", Arch: b.goarch, Platform: "linux", Version: r.version, MTime: r.date,
				Section: "net", Priority: "optional", Maintainer: r.owner.maintainer, Homepage: r.owner.homepage,
				License: r.owner.license, Description: description,
				DisableGlobbing: true,
				Overridables: nfpm.Overridables{
					Recommends: []string{"ca-certificates", "bash-completion"}, // for https sources and ACME, and for the completion script
					Contents:   r.contents(b),
					Scripts: nfpm.Scripts{
						PostInstall: filepath.Join(r.work, "postinstall"),
						PreRemove:   filepath.Join(r.work, "preremove"),
						PostRemove:  filepath.Join(r.work, "postremove"),
					},
					RPM: nfpm.RPM{BuildHost: "localhost", Compression: "gzip", Summary: summary},
					Deb: nfpm.Deb{Compression: "gzip"},
				},
			})
			path := filepath.Join(r.out, packager.ConventionalFileName(info))
			if err := writeFile(path, func(w io.Writer) error { return packager.Package(info, w) }); err != nil {
				return err
			}
		}
	}
	return nil
}

// Maintainer scripts of the packages. Where systemd is not running, for example in a chroot, they only purge.
const (
	scriptHead = "#!/bin/sh\nset -e\n" + whereSystemdRuns

	whereSystemdRuns = "[ -z \"$DPKG_ROOT\" ] && [ -d /run/systemd/system ] || exit 0\n"

	// Restart a running service with the new binary. Do not start a stopped one: its configuration is only an example.
	postInstall = scriptHead + "systemctl daemon-reload\nsystemctl try-restart signpost.service\n"

	// $1 is remove for deb and 0 for rpm; on an upgrade it is neither.
	preRemove = scriptHead + "case \"$1\" in remove|0) systemctl --no-reload disable --now signpost.service ;; esac\n"

	// The state of a service with a dynamic user is in /var/lib/private; /var/lib/signpost is a link to it.
	postRemove = "#!/bin/sh\nset -e\n" +
		"if [ \"$1\" = purge ]; then rm -rf \"$DPKG_ROOT/var/lib/signpost\" \"$DPKG_ROOT/var/lib/private/signpost\"; fi\n" +
		whereSystemdRuns + "systemctl daemon-reload\n"
)

// packageFiles writes the files that only packages contain.
func (r *release) packageFiles() error {
	unit, err := os.ReadFile(filepath.Join(r.repo, "deploy/systemd/signpost.service"))
	if err != nil {
		return err
	}
	packaged := strings.ReplaceAll(string(unit), "/usr/local/bin/signpost", "/usr/bin/signpost")
	if packaged == string(unit) {
		return fmt.Errorf("signpost.service does not run /usr/local/bin/signpost")
	}
	texts := map[string]string{"signpost.service": packaged, "postinstall": postInstall, "preremove": preRemove, "postremove": postRemove}
	for _, page := range r.manPages {
		text, err := gzipped(page)
		if err != nil {
			return err
		}
		texts[filepath.Base(page)+".gz"] = string(text)
	}
	for name, text := range texts {
		if err := os.WriteFile(filepath.Join(r.work, name), []byte(text), 0o644); err != nil {
			return err
		}
	}
	return nil
}

// contents returns the files of a package.
func (r *release) contents(b binary) files.Contents {
	var all files.Contents
	add := func(source, destination, kind, packager string, mode os.FileMode) {
		if !filepath.IsAbs(source) {
			source = filepath.Join(r.repo, source)
		}
		all = append(all, &files.Content{Source: source, Destination: destination, Type: kind, Packager: packager,
			FileInfo: &files.ContentFileInfo{Mode: mode, MTime: r.date, Owner: "root", Group: "root"}})
	}
	work := func(name string) string { return filepath.Join(r.work, name) }
	add(b.path, "/usr/bin/signpost", "", "", 0o755)
	add(work("signpost.service"), "/usr/lib/systemd/system/signpost.service", "", "", 0o644)
	add("deploy/systemd/signpost.env", "/etc/signpost/signpost.env", files.TypeConfigNoReplace, "", 0o644)
	add("internal/cli/example.yaml", "/etc/signpost/definitions/example.yaml", files.TypeConfigNoReplace, "", 0o644)
	for _, file := range r.examples { // deploy/nginx is examples/nginx there, and examples/express is examples/express
		_, name, _ := strings.Cut(file, "/")
		source := file
		if file == "deploy/systemd/signpost.service" {
			source = work("signpost.service")
		}
		add(source, "/usr/share/doc/signpost/examples/"+name, "", "", 0o644)
	}
	for _, page := range r.pages {
		add(page, "/usr/share/doc/signpost/"+page, "", "", 0o644)
	}
	add("THIRD_PARTY_LICENSES", "/usr/share/doc/signpost/copyright", "", "deb", 0o644)
	add("THIRD_PARTY_LICENSES", "/usr/share/licenses/signpost/THIRD_PARTY_LICENSES", files.TypeRPMLicense, "rpm", 0o644)
	add(work("signpost.bash"), "/usr/share/bash-completion/completions/signpost", "", "", 0o644)
	add(work("signpost.fish"), "/usr/share/fish/vendor_completions.d/signpost.fish", "", "", 0o644)
	add(work("_signpost"), "/usr/share/zsh/vendor-completions/_signpost", "", "deb", 0o644)
	add(work("_signpost"), "/usr/share/zsh/site-functions/_signpost", "", "rpm", 0o644)
	for _, page := range r.manPages {
		add(work(filepath.Base(page)+".gz"), "/usr/share/man/man1/"+filepath.Base(page)+".gz", "", "", 0o644)
	}
	return all
}
