package main

import (
	"crypto/sha256"
	"debug/buildinfo"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// component is a component in a CycloneDX document.
type component struct {
	Type    string `json:"type"`
	Ref     string `json:"bom-ref"`
	Name    string `json:"name"`
	Version string `json:"version"`
	PURL    string `json:"purl"`

	Licenses []license `json:"licenses,omitempty"`
}

type license struct {
	License struct {
		ID string `json:"id"`
	} `json:"license"`
}

func licensed(ids ...string) []license {
	var all []license
	for _, id := range ids {
		var l license
		l.License.ID = id
		all = append(all, l)
	}
	return all
}

// sbom writes the modules in the binaries, as recorded by the Go toolchain, in CycloneDX format.
func (r *release) sbom() error {
	licenses, err := moduleLicenses(filepath.Join(r.repo, "THIRD_PARTY_LICENSES"))
	if err != nil {
		return err
	}
	modules := make(map[string]component)
	for _, b := range r.binaries {
		info, err := buildinfo.ReadFile(b.path)
		if err != nil {
			return err
		}
		std := newComponent("std", strings.TrimPrefix(info.GoVersion, "go"))
		std.Licenses = licensed("BSD-3-Clause")
		modules[std.Ref] = std
		for _, m := range info.Deps {
			if m.Replace != nil {
				m = m.Replace
			}
			c := newComponent(m.Path, m.Version)
			if c.Licenses = licensed(licenses[m.Path]...); c.Licenses == nil {
				return fmt.Errorf("THIRD_PARTY_LICENSES has no license for %s: run make licenses", m.Path)
			}
			modules[c.Ref] = c
		}
	}
	main := newComponent("signpost", r.version)
	main.Type = "application"
	if r.owner.license != "" {
		main.Licenses = licensed(r.owner.license)
	}
	refs := slices.Sorted(maps.Keys(modules))
	var components []component
	for _, ref := range refs {
		components = append(components, modules[ref])
	}
	doc := map[string]any{
		"bomFormat":    "CycloneDX",
		"specVersion":  "1.5",
		"version":      1,
		"metadata":     map[string]any{"timestamp": r.date.Format(time.RFC3339), "component": main},
		"components":   components,
		"dependencies": []any{map[string]any{"ref": main.Ref, "dependsOn": refs}},
	}
	text, err := json.Marshal(doc)
	if err != nil {
		return err
	}
	id := sha256.Sum256(text) // derive the serial number from the content, to be reproducible
	id[6], id[8] = id[6]&0x0f|0x80, id[8]&0x3f|0x80
	doc["serialNumber"] = fmt.Sprintf("urn:uuid:%x-%x-%x-%x-%x", id[:4], id[4:6], id[6:8], id[8:10], id[10:16])
	if text, err = json.MarshalIndent(doc, "", "  "); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(r.out, "signpost_"+r.number()+"_sbom.cdx.json"), append(text, '\n'), 0o644)
}

// licenseTexts maps a phrase of a license to its SPDX identifier; the first that occurs in a text counts.
var licenseTexts = []struct{ phrase, id string }{
	{"Apache License", "Apache-2.0"},
	{"Mozilla Public License", "MPL-2.0"},
	{"Attribution-ShareAlike 4.0", "CC-BY-SA-4.0"},
	{"Permission is hereby granted, free of charge", "MIT"},
	{"Permission to use, copy, modify, and", "ISC"},
	{"Neither the name of", "BSD-3-Clause"},
	{"names of its contributors may", "BSD-3-Clause"},
	{"may be used to endorse or promote", "BSD-3-Clause"},
	{"Redistribution and use in source and binary forms", "BSD-2-Clause"},
}

// moduleLicenses returns the SPDX identifiers of each module in THIRD_PARTY_LICENSES.
func moduleLicenses(file string) (map[string][]string, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	found := make(map[string][]string)
	for _, section := range strings.Split(string(text), strings.Repeat("=", 80)+"\n")[1:] {
		owners, body, ok := strings.Cut(section, strings.Repeat("-", 80)+"\n")
		if !ok {
			return nil, fmt.Errorf("%s: a section without a line of dashes: %.80q", filepath.Base(file), section)
		}
		words := strings.Join(strings.Fields(body), " ")
		for _, l := range licenseTexts {
			if !strings.Contains(words, l.phrase) {
				continue
			}
			for owner := range strings.Lines(owners) {
				path, _, _ := strings.Cut(strings.TrimSpace(owner), " ")
				if !slices.Contains(found[path], l.id) {
					found[path] = append(found[path], l.id)
				}
			}
			break
		}
	}
	return found, nil
}

func newComponent(path, version string) component {
	purl := "pkg:golang/" + path + "@" + version
	return component{Type: "library", Ref: purl, Name: path, Version: version, PURL: purl}
}
