package definition

import (
	"fmt"
	"slices"

	"signpost"
	"signpost/host"
	"signpost/internal/served"
	"signpost/internal/warnings"
)

// lint judges the values that were read. The rules about manifests, modifiers and features are those of package
// signpost; here their findings get positions in the file.
func (d *decoder) lint() {
	d.lintFeatures()
	for _, name := range d.sharedNames {
		shared := d.shared[name]
		for _, f := range append(shared.modifier.Validate(), warnings.Modifier(shared.modifier)...) {
			d.reportAt(f, shared.Field, f.Path, nil)
		}
	}
	if enabled := d.named(d.enable); !d.tooLarge(enabled) {
		for _, v := range d.versions {
			d.lintManifest(v, enabled)
		}
	}
	for _, rule := range Rules() {
		if rule.check != nil && !d.served {
			rule.check(d)
		}
	}
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

// lintManifest applies the rules about manifests to a version as it is served.
func (d *decoder) lintManifest(v version, enabled []signpost.Feature) {
	applied, own := v.judged.WithFeatures(enabled...), ""
	if d.served {
		own = served.Host(v.manifest, addressHost(d.Name))
	}
	for _, f := range append(applied.Validate(), warnings.Manifest(v.judged, applied, own)...) {
		d.reportEndpoint(f, v.endpoints[f.Path.Endpoint()])
	}
}

// lintFeatures checks the features that the file declares and the names of those that it enables.
func (d *decoder) lintFeatures() {
	for _, declared := range d.declared {
		feature := d.features[d.featureIndex(declared.Key.Text)]
		for _, f := range feature.Validate() {
			d.reportAt(f, declared, f.Path, nil)
		}
		if items := declared.Value.Get("context_obj"); len(feature.ContextObj) == 0 && !d.broken[declared.Value] && !d.broken[items] {
			d.add(signpost.RuleRequiredField, "", declared.Key, "feature %q has no context_obj", declared.Key.Text)
		}
	}
	known := d.Features()
	exists, enabled := make(map[string]bool, len(known)), make(map[string]bool, len(d.enabled))
	for _, name := range known {
		exists[name] = true
	}
	for _, n := range d.enabled {
		switch {
		case !exists[n.Text]:
			d.unknown(RuleUnknownFeature, n, known, fmt.Sprintf("there is no feature %q", n.Text))
		case enabled[n.Text]:
			d.add(signpost.RuleDuplicateKey, "name it once", n, "feature %q is enabled twice", n.Text)
		default:
			d.enable = append(d.enable, n.Text)
		}
		enabled[n.Text] = true
	}
	if d.opts.Features != nil {
		d.enable = slices.DeleteFunc(known, func(name string) bool { return !slices.Contains(d.opts.Features, name) })
	}
}

// tooLarge reports a file whose features add more to its manifests than allowed.
func (d *decoder) tooLarge(enabled []signpost.Feature) bool {
	for _, v := range d.versions {
		var urls []string
		for _, e := range v.manifest.Endpoints {
			urls = append(urls, e.URL)
		}
		endings := countEndings(urls, enabled)
		for _, feature := range enabled {
			if d.grows(renderedSize(feature.ContextObj)*applications(feature, endings), v.key) {
				d.enable = nil // keep others from applying them
				return true
			}
		}
	}
	return false
}
