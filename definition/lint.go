package definition

import (
	"fmt"
	"slices"
	"strings"

	"signpost"
	"signpost/host"
	"signpost/internal/suffix"
	"signpost/internal/tree"
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
	applied := v.manifest.WithFeatures(enabled...)
	for _, e := range applied.Endpoints {
		for i, item := range v.endpoints[e.URL].Value.Get("modifiers").Items {
			if item.Kind == tree.String {
				simplify(e.Modifiers[i].Params)
			}
		}
	}
	errors := applied.Validate()
	judged := warnings.Manifest(v.manifest, applied, d.Hosts, errors)
	if d.served {
		judged = warnings.Published(v.manifest, d.own(), errors)
	}
	if d.hostsFail {
		isConsequence := func(f signpost.Finding) bool { return slices.Contains(warnings.AboutHosts, f.Rule) }
		judged = slices.DeleteFunc(judged, isConsequence)
	}
	malformed := make(map[string]bool) // URLs that fit no host
	for _, f := range errors {
		malformed[f.Path.Endpoint()] = malformed[f.Path.Endpoint()] || f.Rule == signpost.RuleURL
	}
	collisions := v.manifest.ValidateHosts(append(d.Hosts.Exact(), d.opts.Accepted.Exact()...)...)
	isConsequence := func(f signpost.Finding) bool { return f.Rule == signpost.RuleURL && malformed[f.Path.Endpoint()] }
	collisions = slices.DeleteFunc(collisions, isConsequence)
	for _, f := range slices.Concat(errors, collisions, judged) {
		d.reportEndpoint(f, v.endpoints[f.Path.Endpoint()])
	}
}

// simplify removes options and defaults from the params of a shared modifier, which are checked at its declaration:
// thousands of options would be validated for every endpoint otherwise.
func simplify(params []signpost.Param) {
	for i, p := range params {
		params[i].UI, params[i].Schema = signpost.UI{Label: p.UI.Label}, signpost.Schema{Type: p.Schema.Type}
	}
}

// lintFeatures checks the features that the file declares and the names of those that it enables.
func (d *decoder) lintFeatures() {
	features := make(map[string]signpost.Feature)
	for _, f := range d.features {
		features[f.Name] = f
	}
	for _, declared := range d.declared {
		feature := features[declared.Key.Text]
		for _, f := range feature.Validate() {
			d.reportAt(f, declared, f.Path, nil)
		}
		isBroken := d.broken[declared.Value] || d.broken[declared.Value.Get("context_obj")]
		if len(feature.ContextObj) == 0 && !isBroken {
			d.add(signpost.RuleRequiredField, "", declared.Key, "feature %q has no context_obj", declared.Key.Text)
		}
	}
	known := d.Features()
	isKnown, isEnabled := setOf(known), make(map[string]bool)
	for _, n := range d.enabled {
		switch {
		case !isKnown[n.Text]:
			near, _ := d.nearest(n.Text, known)
			isHidden := near == "" && len(d.declared) == 0 && d.unread // in features that could not be read
			if !isHidden {
				d.unknown(RuleUnknownFeature, n, known, fmt.Sprintf("there is no feature %q", n.Text))
			}
		case isEnabled[n.Text]:
			d.add(signpost.RuleDuplicateKey, "name it once", n, "feature %q is enabled twice", n.Text)
		default:
			d.enable = append(d.enable, n.Text)
			isEnabled[n.Text] = true
		}
	}
	if d.opts.Features != nil {
		d.enable = slices.DeleteFunc(known, func(name string) bool { return !slices.Contains(d.opts.Features, name) })
	}
}

// tooLarge reports a file whose features add more to its manifests than allowed.
func (d *decoder) tooLarge(enabled []signpost.Feature) bool {
	for _, v := range d.versions {
		for i, n := range d.applications(v, enabled) {
			if d.grows(n*renderedSize(enabled[i].ContextObj), v.key) {
				d.enable = nil // keep others from applying them
				return true
			}
		}
	}
	return false
}

// applications returns to how many endpoints of a version each feature applies.
func (d *decoder) applications(v version, features []signpost.Feature) []int {
	counts := make([]int, len(features))
	matching := suffix.NewSet(suffixesOf(features)...)
	for _, e := range v.manifest.Endpoints {
		for _, i := range matching.Of(e.URL) {
			counts[i]++
		}
		// A trailing slash that keeps it from applying is reported itself, unless it is meant.
		url, slash := strings.CutSuffix(e.URL, "/")
		if slash && !d.allows(warnings.TrailingSlash, placeOf(v.endpoints[e.URL].Key), d.used) {
			for _, i := range matching.Of(url) {
				counts[i]++
			}
		}
	}
	return counts
}

// suffixesOf returns the suffixes of each feature.
func suffixesOf(features []signpost.Feature) (suffixes [][]string) {
	for _, f := range features {
		suffixes = append(suffixes, append([]string{f.URLSuffix}, f.URLSuffixes...))
	}
	return suffixes
}
