package definition

import (
	"fmt"
	"slices"
	"strings"

	"signpost"
	"signpost/host"
	"signpost/internal/routes"
	"signpost/internal/tree"
)

// lint checks the values that were read. The rules about manifests, modifiers and features are those of package
// signpost; here their findings get positions in the file.
func (d *decoder) lint() {
	if !d.doc.JSON {
		d.readAllowComments()
	}
	d.indexAllowances()
	d.lintFeatures()
	for _, shared := range d.modifiers {
		shared.said = make(map[string]bool)
		for _, f := range append(shared.modifier.Validate(), shared.modifier.Warnings()...) {
			shared.said[f.Rule+" "+f.Message] = true
			if f.Severity == signpost.SeverityError {
				d.reportAt(f, shared.Field, f.Path)
			} else {
				d.warn(f, shared.Field, f.Path, nil)
			}
		}
	}
	if enabled := d.file.named(d.file.enable); !d.tooManyFeatures(enabled) {
		declared, most := d.versionNames(), max(maxJudged, alwaysJudged*countEndpoints([]*File{d.file}))
		for _, v := range d.file.versions {
			own := contextOnly(v.manifest)
			served := own.WithFeatures(enabled...)
			d.lintManifest(v, enabled, served)
			d.lintClashes(v, enabled, own, served)
			d.warnOfDeclared(v, enabled, most)
			if !d.served {
				d.lintVersionsInURLs(v, declared)
			}
		}
		d.warnUnusedModifiers()
		d.warnIdleFeatures(enabled)
	}
	d.lintContextKeys()
	d.lintDeprecations()
	d.unusedAllowances()
	d.keepPlaces()
}

// addressHost returns the host of the address that a manifest was fetched from, or "" if name is not an address.
func addressHost(name string) string {
	u := signpost.CutURL(name)
	if scheme := u.Scheme(); scheme != "https" && scheme != "http" {
		return ""
	}
	own, _ := host.Parse(u.Hostname()) // empty if invalid
	return own
}

// contextOnly returns a manifest with the URLs and context keys of another, and nothing else.
func contextOnly(m signpost.Manifest) signpost.Manifest {
	out := signpost.Manifest{Endpoints: make([]signpost.Endpoint, len(m.Endpoints))}
	for i, e := range m.Endpoints {
		out.Endpoints[i] = signpost.Endpoint{URL: e.URL, ContextObj: e.ContextObj}
	}
	return out
}

// lintManifest applies the rules of package signpost to a version as it is served. served has its context keys, with
// those of the enabled features.
func (d *decoder) lintManifest(v version, enabled []signpost.Feature, served signpost.Manifest) {
	own := d.lean(v)
	manifest := signpost.Manifest{Endpoints: slices.Clone(own.Endpoints)}
	for i, e := range served.Endpoints {
		manifest.Endpoints[i].ContextObj = e.ContextObj
	}
	for _, f := range manifest.Validate() {
		d.reportEndpoint(f, v.endpoints[f.Path.Endpoint()])
	}
	deployment := signpost.Deployment{Features: enabled}
	if d.served {
		deployment.Host = v.manifest.ServedHost(addressHost(d.file.Name))
	}
	for _, f := range own.OwnWarnings(deployment) {
		at := v.endpoints[f.Path.Endpoint()]
		if d.ofShared(f, at) {
			continue
		}
		path := d.inEndpoint(&f, at)
		d.warn(f, at, path, at.Value)
	}
}

// lean returns the manifest of a version with lean modifiers in place of the shared ones.
func (d *decoder) lean(v version) signpost.Manifest {
	m := signpost.Manifest{Endpoints: slices.Clone(v.manifest.Endpoints)}
	for i, e := range m.Endpoints {
		_, modifiers := d.field(v.endpoints[e.URL].Value, "modifiers")
		if modifiers == nil || len(modifiers.Items) != len(e.Modifiers) {
			continue
		}
		m.Endpoints[i].Modifiers = slices.Clone(e.Modifiers)
		for j, item := range modifiers.Items {
			if shared := d.shared[item.Text]; shared != nil && item.Kind == tree.String {
				m.Endpoints[i].Modifiers[j] = shared.lean
			}
		}
	}
	return m
}

// versionNames returns the names of all versions.
func (d *decoder) versionNames() map[string]bool {
	names := make(map[string]bool, len(d.file.versions))
	for _, v := range d.file.versions {
		names[v.name] = true
	}
	return names
}

// lintVersionsInURLs reports URLs of the service that name a different version than the one they are listed in.
// declared has all of them.
func (d *decoder) lintVersionsInURLs(v version, declared map[string]bool) {
	if v.guessed && !routes.ValidVersion(v.name) {
		return
	}
	for _, e := range v.manifest.Endpoints {
		u := signpost.CutURL(e.URL)
		if !u.HasHostPlaceholder() {
			continue
		}
		segments := strings.Split(u.Path(), "/")
		other := routes.OtherVersion(u, v.name, declared)
		if other == "" && slices.Contains(segments, v.name) {
			continue // any other version is that of another API
		}
		if _, err := signpost.ParseURL(e.URL); err != nil {
			continue
		}
		at := v.endpoints[e.URL]
		if other != "" {
			d.add(RuleVersionMismatch, fmt.Sprintf("a manifest lists the URLs of its own version: move it to %s, or correct the URL", other),
				at.Key, "URL %q of version %s names version %s", e.URL, v.name, other)
			continue
		}
		if i := slices.IndexFunc(segments, routes.ValidVersion); i >= 0 {
			d.warn(signpost.Finding{
				Rule: RuleVersionNotDeclared, Severity: signpost.SeverityWarning,
				Message: fmt.Sprintf("URL %q names version %s, which the service does not have", e.URL, segments[i]),
				Hint:    fmt.Sprintf("declare %s under versions, or correct the URL", segments[i]),
			}, at, nil, at.Value)
		}
	}
}

// warnUnusedModifiers reports shared modifiers that no endpoint uses.
func (d *decoder) warnUnusedModifiers() {
	if d.incomplete || d.duplicated {
		return // the part that was not read may use them
	}
	for _, shared := range d.modifiers {
		if !shared.used {
			d.warn(signpost.Finding{
				Rule: RuleUnusedModifier, Severity: signpost.SeverityWarning, Hint: "remove it, or name it in an endpoint's modifiers",
				Message: fmt.Sprintf("no endpoint uses the shared modifier %q", shared.Key.Text),
			}, shared.Field, nil, nil)
		}
	}
}
