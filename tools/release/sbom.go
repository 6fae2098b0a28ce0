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
}

type dependency struct {
	Ref       string   `json:"ref"`
	DependsOn []string `json:"dependsOn,omitempty"`
}

// sbom writes the modules in the binaries, as recorded by the Go toolchain, in CycloneDX format.
func (r *release) sbom() error {
	modules := make(map[string]component)
	for _, b := range r.binaries {
		info, err := buildinfo.ReadFile(b.path)
		if err != nil {
			return err
		}
		std := newComponent("std", strings.TrimPrefix(info.GoVersion, "go"))
		modules[std.Ref] = std
		for _, m := range info.Deps {
			if m.Replace != nil {
				m = m.Replace
			}
			c := newComponent(m.Path, m.Version)
			modules[c.Ref] = c
		}
	}
	main := newComponent("signpost", r.version)
	main.Type = "application"
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
		"dependencies": []dependency{{main.Ref, refs}},
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

func newComponent(path, version string) component {
	purl := "pkg:golang/" + path + "@" + version
	return component{Type: "library", Ref: purl, Name: path, Version: version, PURL: purl}
}
