package main

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
)

// defaultNPMName is in a scope that nobody can have. npm looks for the packages of other platforms in its registry, so
// a name that anybody could register there would be unsafe.
const defaultNPMName = "@signpost.example/signpost"

// npmName is the format of a package name, with or without a scope.
var npmName = regexp.MustCompile(`^(@[a-z0-9-][a-z0-9-._]*/)?[a-z0-9-][a-z0-9-._]*$`)

// npmSystem and npmCPU are the names that Node has for what Go calls otherwise.
var (
	npmSystem = map[string]string{"linux": "linux", "darwin": "darwin", "windows": "win32"}
	npmCPU    = map[string]string{"amd64": "x64", "arm64": "arm64"}
)

// npmPackage is a package.json.
type npmPackage struct {
	Name        string            `json:"name"`
	Version     string            `json:"version"`
	Description string            `json:"description"`
	Homepage    string            `json:"homepage"`
	License     string            `json:"license,omitempty"`
	OS          []string          `json:"os,omitempty"`
	CPU         []string          `json:"cpu,omitempty"`
	Bin         map[string]string `json:"bin,omitempty"`
	Optional    map[string]string `json:"optionalDependencies,omitempty"`
	Unplugged   bool              `json:"preferUnplugged,omitempty"` // a program inside an archive cannot run
	Engines     map[string]string `json:"engines,omitempty"`
}

// npmPackages writes a package for each platform, with the binary, and one that depends on all of them as optional
// dependencies. npm installs the one whose os and cpu fit, so no script has to run or fetch anything.
func (r *release) npmPackages() error {
	main := r.npmPackage("")
	main.Bin = map[string]string{"signpost": "bin/signpost.js"}
	main.Engines = map[string]string{"node": ">=18"}
	main.Optional = make(map[string]string)
	for _, b := range r.binaries {
		system, cpu := npmSystem[b.goos], npmCPU[b.goarch]
		if system == "" || cpu == "" {
			return fmt.Errorf("npm knows no platform %s/%s", b.goos, b.goarch)
		}
		p := r.npmPackage("-" + system + "-" + cpu)
		p.OS, p.CPU, p.Unplugged = []string{system}, []string{cpu}, true
		main.Optional[p.Name] = p.Version
		program := "package/bin/signpost"
		if b.goos == "windows" {
			program += ".exe"
		}
		if err := r.writeNPM(p, "_"+b.goos+"_"+b.goarch, entry{program, b.path, 0o755}); err != nil {
			return err
		}
	}
	launcher := filepath.Join(r.repo, "tools", "release", "npm", "signpost.js")
	return r.writeNPM(main, "", entry{"package/bin/signpost.js", launcher, 0o755})
}

func (r *release) npmPackage(suffix string) npmPackage {
	return npmPackage{
		Name: r.npmName + suffix, Version: r.number(), Description: summary, Homepage: r.owner.homepage, License: r.owner.license,
	}
}

// writeNPM writes a package with one program in the form that npm pack gives it.
func (r *release) writeNPM(p npmPackage, suffix string, program entry) error {
	text, err := json.MarshalIndent(p, "", "  ")
	if err != nil {
		return err
	}
	file := filepath.Join(r.work, "package"+suffix+".json")
	if err := os.WriteFile(file, append(text, '\n'), 0o644); err != nil {
		return err
	}
	entries := []entry{
		{"package/package.json", file, 0o644},
		program,
		{"package/THIRD_PARTY_LICENSES", filepath.Join(r.repo, "THIRD_PARTY_LICENSES"), 0o644},
	}
	path := filepath.Join(r.out, fmt.Sprintf("signpost_%s_npm%s.tgz", r.number(), suffix))
	return writeFile(path, func(w io.Writer) error { return writeTarGz(w, entries, r.date) })
}
