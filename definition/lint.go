package definition

import (
	"fmt"
	"slices"
	"strings"
	"unicode"

	"signpost"
	"signpost/host"
	"signpost/internal/routes"
	"signpost/internal/tree"
)

// lint checks the values that were read. The rules about manifests, modifiers and features are those of package
// signpost; here their findings get positions in the file.
func (d *decoder) lint() {
	d.lintFeatures()
	for _, name := range d.sharedNames {
		shared := d.shared[name]
		for _, f := range append(shared.modifier.Validate(), shared.modifier.Warnings()...) {
			if f.Severity == signpost.SeverityError {
				d.reportAt(f, shared.Field, f.Path)
			} else {
				d.warn(f, shared.Field, f.Path, nil)
			}
		}
	}
	if enabled := d.file.named(d.file.enable); !d.tooLarge(enabled) {
		declared := d.versionNames()
		for _, v := range d.file.versions {
			d.lintManifest(v, enabled)
			if !d.served {
				d.lintVersionsInURLs(v, declared)
			}
		}
		d.warnIdleFeatures(enabled)
	}
	d.lintNames()
	d.warnBasePath()
	d.warnUnusedModifiers()
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

// lintManifest applies the rules of package signpost to a version as it is served.
func (d *decoder) lintManifest(v version, enabled []signpost.Feature) {
	own := d.lean(v)
	for _, f := range own.WithFeatures(enabled...).Validate() {
		d.reportEndpoint(f, v.endpoints[f.Path.Endpoint()])
	}
	deployment := signpost.Deployment{Features: enabled}
	if d.served {
		deployment.Host = v.manifest.ServedHost(addressHost(d.file.Name))
	}
	for _, f := range own.OwnWarnings(deployment) {
		d.reportEndpoint(f, v.endpoints[f.Path.Endpoint()])
	}
	if len(v.manifest.Endpoints) == 0 && v.endpoints != nil && v.key != nil && !d.unread && fieldVersion(v.name) {
		d.warn(signpost.Finding{
			Rule: RuleNoEndpoints, Severity: signpost.SeverityWarning, Hint: "add an endpoint, or remove the version",
			Message: fmt.Sprintf("version %s has no endpoints: its manifest is empty", v.name),
		}, tree.Field{Key: v.key, Value: v.key}, nil, nil)
	}
}

// lean returns the manifest of a version with lean modifiers in place of the shared ones.
func (d *decoder) lean(v version) signpost.Manifest {
	m := signpost.Manifest{Endpoints: slices.Clone(v.manifest.Endpoints)}
	for i, e := range m.Endpoints {
		items := get(v.endpoints[e.URL].Value, "modifiers").Items
		m.Endpoints[i].Modifiers = slices.Clone(e.Modifiers)
		for j := range e.Modifiers {
			if shared := d.shared[items[j].Text]; shared != nil && items[j].Kind == tree.String && !d.broken[items[j]] {
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
	if !fieldVersion(v.name) {
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

// lintNames reports names in typographic quotes, which YAML takes for part of the name.
func (d *decoder) lintNames() {
	for _, v := range d.file.versions {
		for _, e := range v.manifest.Endpoints {
			d.quotedName(get(v.endpoints[e.URL].Value, "name"), v.endpoints[e.URL].Value)
		}
	}
	for _, name := range d.sharedNames {
		d.quotedName(get(d.shared[name].Value, "name"), nil)
	}
}

func (d *decoder) quotedName(n, endpoint *tree.Node) {
	runes := []rune(n.Text)
	if d.served || d.broken[n] || n.Style != tree.Plain || len(runes) < 3 || !unicode.In(runes[0], unicode.Pi, unicode.Pf, unicode.Ps) || !unicode.In(runes[len(runes)-1], unicode.Pi, unicode.Pf) {
		return
	}
	plain := string(runes[1 : len(runes)-1])
	d.warn(signpost.Finding{
		Rule: RuleQuotedName, Severity: signpost.SeverityWarning, Hint: "write " + plain + ", or use straight quotes",
		Message: fmt.Sprintf("name %s has typographic quotes around it, which editors will see", n.Text),
	}, tree.Field{Key: n, Value: n}, nil, endpoint)
}

// warnBasePath reports a base path that ends in what Signpost appends to it.
func (d *decoder) warnBasePath() {
	base := strings.TrimSuffix(d.file.BasePath, "/endpoints-manifest")
	at := d.file.basePathAt
	segment := base[strings.LastIndexByte(base, '/')+1:]
	if at == nil || base == d.file.BasePath && !routes.ValidVersion(segment) {
		return
	}
	if routes.ValidVersion(segment) {
		base = strings.TrimSuffix(base, "/"+segment)
	}
	if base == "" {
		base = "/"
	}
	d.warn(signpost.Finding{
		Rule: RuleBasePathVersion, Severity: signpost.SeverityWarning, Hint: "write " + base,
		Message: fmt.Sprintf("base path %q ends in what Signpost appends: the manifest of v1 is at %s", d.file.BasePath, routes.Path(d.file.BasePath, "v1")),
	}, tree.Field{Key: at, Value: at}, nil, nil)
}

// warnUnusedModifiers reports shared modifiers that no endpoint uses.
func (d *decoder) warnUnusedModifiers() {
	for _, name := range d.sharedNames {
		if shared := d.shared[name]; !shared.used && !d.unread { // otherwise the part that was not read may use it
			d.warn(signpost.Finding{
				Rule: RuleUnusedModifier, Severity: signpost.SeverityWarning, Hint: "remove it, or name it in an endpoint's modifiers",
				Message: fmt.Sprintf("no endpoint uses the shared modifier %q", shared.Key.Text),
			}, shared.Field, nil, nil)
		}
	}
}

// lintFeatures checks the features that the file declares and the names of those that it enables.
func (d *decoder) lintFeatures() {
	for _, declared := range d.features {
		for _, f := range declared.feature.Validate() {
			d.reportAt(f, declared.Field, f.Path)
		}
		if items := get(declared.Value, "context_obj"); len(declared.feature.ContextObj) == 0 && !d.broken[declared.Value] && !d.broken[items] {
			d.add(signpost.RuleRequiredField, "", declared.Key, "feature %q has no context_obj", declared.Key.Text)
		}
	}
	known := d.file.Features()
	exists, enabled := make(map[string]bool, len(known)), make(map[string]bool, len(d.enable))
	for _, name := range known {
		exists[name] = true
	}
	for _, n := range d.enable {
		switch {
		case !exists[n.Text]:
			d.unknown(RuleUnknownFeature, n, known, fmt.Sprintf("there is no feature %q", n.Text))
		case enabled[n.Text]:
			d.add(signpost.RuleDuplicateKey, "name it once", n, "feature %q is enabled twice", n.Text)
		default:
			d.file.enable = append(d.file.enable, n.Text)
		}
		enabled[n.Text] = true
	}
	if d.opts.Features != nil {
		d.file.enable = slices.DeleteFunc(known, func(name string) bool { return !slices.Contains(d.opts.Features, name) })
	}
}

// tooLarge reports a file whose features add more to its manifests than allowed.
func (d *decoder) tooLarge(enabled []signpost.Feature) bool {
	for _, feature := range enabled {
		added := renderedSize(feature.ContextObj)
		for _, v := range d.file.versions {
			for _, e := range v.manifest.Endpoints {
				if feature.AppliesTo(e.URL) && d.grows(added, d.file.basePathAt) {
					d.file.enable = nil // keep others from applying them
					return true
				}
			}
		}
	}
	return false
}

// warnIdleFeatures reports enabled features that apply to no endpoint of a version.
func (d *decoder) warnIdleFeatures(enabled []signpost.Feature) {
	for _, v := range d.file.versions {
		for _, e := range v.manifest.Endpoints {
			if _, err := signpost.ParseURL(e.URL); err != nil || d.duplicated {
				return // once corrected, it may end in the suffix
			}
		}
	}
	for _, feature := range enabled {
		var idle []string
		judged := 0
		for _, v := range d.file.versions {
			if len(v.manifest.Endpoints) == 0 {
				continue
			}
			judged++
			if !slices.ContainsFunc(v.manifest.Endpoints, func(e signpost.Endpoint) bool {
				// A trailing slash that keeps it from applying is reported itself, unless it is meant.
				meant := d.allows(signpost.RuleTrailingSlash, v.endpoints[e.URL].Value)
				return feature.AppliesTo(e.URL) || !meant && feature.AppliesTo(strings.TrimSuffix(e.URL, "/"))
			}) {
				idle = append(idle, v.name)
			}
		}
		i := slices.IndexFunc(d.enable, func(n *tree.Node) bool { return n.Text == feature.Name })
		if len(idle) == 0 || i < 0 {
			continue
		}
		where := ""
		if len(idle) < judged {
			where = " of " + strings.Join(idle, ", ")
		}
		d.warn(signpost.Finding{
			Rule: RuleFeatureMatchesNothing, Severity: signpost.SeverityWarning, Hint: "correct the URLs or the suffix, or do not enable it",
			Message: fmt.Sprintf("feature %q applies to no endpoint%s: no URL ends in %s", feature.Name, where, quotedSuffixes(feature)),
		}, tree.Field{Key: d.enable[i], Value: d.enable[i]}, nil, nil)
	}
}

func quotedSuffixes(f signpost.Feature) string {
	text := fmt.Sprintf("%q", f.URLSuffix)
	for _, suffix := range f.URLSuffixes {
		text += fmt.Sprintf(" or %q", suffix)
	}
	return text
}
