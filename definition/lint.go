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

// lint reports what is wrong with the values that were read. The rules about manifests, modifiers and
// features are the contract's own; here they get their place in the file.
func (d *decoder) lint() {
	if !d.doc.JSON {
		d.allowances = append(d.allowances, d.allowComments()...)
	}
	d.indexAllowances()
	d.lintFeatures()
	for _, shared := range d.modifiers {
		shared.findings = append(shared.modifier.Validate(), shared.modifier.Warnings()...)
		for _, f := range shared.findings {
			if f.Severity == signpost.SeverityError {
				d.reportAt(f, shared.Field, f.Path)
			} else {
				d.warn(f, shared.Field, f.Path, nil)
			}
		}
	}
	enabled := d.file.named(d.file.enable)
	declared := make(map[string]bool)
	for _, v := range d.file.versions {
		declared[v.name] = true
	}
	for _, v := range d.file.versions {
		manifest := v.manifest.WithFeatures(enabled...)
		for _, f := range manifest.Validate() {
			d.reportEndpoint(f, v.endpoints[f.Path.Endpoint()])
		}
		deployment := signpost.Deployment{Features: enabled}
		if d.served {
			deployment.Host = v.manifest.ServedHost(addressHost(d.file.Name))
		}
		for _, f := range v.manifest.OwnWarnings(deployment) {
			at := v.endpoints[f.Path.Endpoint()]
			if !d.ofShared(f, at) {
				path := d.inEndpoint(&f, at)
				d.warn(f, at, path, at.Value)
			}
		}
		for _, e := range v.manifest.Endpoints {
			u, err := signpost.ParseURL(e.URL)
			if err != nil {
				continue
			}
			d.lintInternationalHost(u, v.endpoints[e.URL].Key)
			if other := routes.OtherVersion(u, v.name, declared); other != "" {
				d.add(ruleVersionMismatch, fmt.Sprintf("a manifest lists the URLs of its own version: move it to %s, or correct the URL", other),
					v.endpoints[e.URL].Key, "URL %q of version %s names version %s", e.URL, v.name, other)
			}
		}
	}
	d.warnUnused(enabled)
	d.unusedAllowances()
	d.keepPlaces()
}

// addressHost returns the host of the address that a manifest was fetched from, or "" if the name is not an address.
func addressHost(name string) string {
	u := signpost.CutURL(name)
	if scheme := u.Scheme(); scheme != "https" && scheme != "http" {
		return ""
	}
	own, _ := host.Parse(u.Hostname()) // empty if it is none
	return own
}

// lintInternationalHost checks a host that is not all ASCII, which the contract cannot judge by itself.
func (d *decoder) lintInternationalHost(u signpost.URL, at *tree.Node) {
	name := strings.ReplaceAll(u.Hostname(), signpost.HostPlaceholder, "x")
	if !strings.ContainsFunc(name, func(r rune) bool { return r > unicode.MaxASCII }) {
		return
	}
	if _, err := host.Parse(name); err != nil {
		d.add(signpost.RuleURL, "", at, "URL %q: %v", u, err)
	}
}

// warnUnused reports shared modifiers that no endpoint uses, and features that apply to none.
func (d *decoder) warnUnused(enabled []signpost.Feature) {
	for _, shared := range d.modifiers {
		if !shared.used {
			d.warn(signpost.Finding{
				Rule: ruleUnusedModifier, Severity: signpost.SeverityWarning, Hint: "remove it, or name it in an endpoint's modifiers",
				Message: fmt.Sprintf("no endpoint uses the shared modifier %q", shared.Key.Text),
			}, shared.Field, nil, nil)
		}
	}
	for _, feature := range enabled {
		applies := slices.ContainsFunc(d.file.versions, func(v version) bool {
			return slices.ContainsFunc(v.manifest.Endpoints, func(e signpost.Endpoint) bool { return strings.HasSuffix(e.URL, feature.URLSuffix) })
		})
		if i := slices.IndexFunc(d.enable, func(n *tree.Node) bool { return n.Text == feature.Name }); !applies && i >= 0 {
			d.warn(signpost.Finding{
				Rule: ruleFeatureMatchesNothing, Severity: signpost.SeverityWarning, Hint: "correct the URLs or the suffix, or do not enable it",
				Message: fmt.Sprintf("feature %q applies to no endpoint: no URL ends in %q", feature.Name, feature.URLSuffix),
			}, tree.Field{Key: d.enable[i], Value: d.enable[i]}, nil, nil)
		}
	}
}

func (d *decoder) lintFeatures() {
	for _, declared := range d.features {
		for _, f := range declared.feature.Validate() {
			d.reportAt(f, declared.Field, f.Path)
		}
		if len(declared.feature.ContextObj) == 0 && !d.broken[declared.Value] {
			d.add(signpost.RuleRequiredField, "", declared.Key, "feature %q has no context_obj", declared.Key.Text)
		}
	}
	known := d.file.Features()
	for i, n := range d.enable {
		switch {
		case !slices.Contains(known, n.Text):
			d.unknown(ruleUnknownFeature, n, known, fmt.Sprintf("there is no feature %q", n.Text))
		case slices.ContainsFunc(d.enable[:i], func(before *tree.Node) bool { return before.Text == n.Text }):
			d.add(signpost.RuleDuplicateKey, "name it once", n, "feature %q is enabled twice", n.Text)
		default:
			d.file.enable = append(d.file.enable, n.Text)
		}
	}
}

// reportEndpoint reports a finding about an endpoint. What is wrong with a shared modifier itself is said
// once, where it is declared; what is wrong with using it here is said here.
func (d *decoder) reportEndpoint(f signpost.Finding, at tree.Field) {
	if !d.ofShared(f, at) {
		path := d.inEndpoint(&f, at)
		d.reportAt(f, at, path)
	}
}

// ofShared reports whether a finding about an endpoint is one about a shared modifier itself.
func (d *decoder) ofShared(f signpost.Finding, at tree.Field) bool {
	shared := d.shared[d.reference(f, at)]
	return shared != nil && slices.ContainsFunc(shared.findings, func(own signpost.Finding) bool {
		return own.Rule == f.Rule && own.Message == f.Message
	})
}

// inEndpoint returns the path of a finding inside its endpoint. It ends at the name of a shared modifier.
func (d *decoder) inEndpoint(f *signpost.Finding, at tree.Field) signpost.Path {
	if d.reference(*f, at) != "" {
		f.Replacement = nil // it is for the shared modifier, not for its name
		return f.Path[1:3]
	}
	return f.Path[1:]
}

// reference returns the name of the shared modifier that a finding is inside of, or "".
func (d *decoder) reference(f signpost.Finding, at tree.Field) string {
	if len(f.Path) < 3 || f.Path[1] != signpost.Field("modifiers") {
		return ""
	}
	_, modifiers := at.Value.Field("modifiers")
	if item := modifiers.Items[f.Path[2].(signpost.Item)]; item.Kind == tree.String {
		return item.Text
	}
	return ""
}

// reportAt reports a finding at the value that the path leads to from a field. Where the path leads
// nowhere, something is missing: then it is reported at the innermost value that is there. Nothing is
// reported inside a value that was found to be broken.
func (d *decoder) reportAt(f signpost.Finding, from tree.Field, path signpost.Path) {
	at, n, missing := from.Key, from.Value, false
	for len(path) > 0 && !d.broken[n] && !missing {
		var next *tree.Node
		switch step := path[0].(type) {
		case signpost.Item:
			if int(step) < len(n.Items) {
				next = n.Items[step]
			}
			path = path[1:]
		case signpost.Field:
			step, path = shortForm(n, step, path)
			_, next = n.Field(string(step))
		}
		if missing = next == nil; !missing {
			at, n = next, next
		}
	}
	if d.broken[n] {
		return
	}
	if f.Replacement != nil && !missing {
		f.Fix = d.replacement(at, f.Replacement)
	}
	d.report(f, at)
}

// shortForm translates a step into a modifier that is written with a kind: its fields are those of the
// builders, where a path speaks of the manifest.
func shortForm(n *tree.Node, step signpost.Field, path signpost.Path) (signpost.Field, signpost.Path) {
	if key, _ := n.Field("kind"); key == nil || step != "params" || len(path) < 3 {
		return step, path[1:]
	}
	switch path[2:min(4, len(path))].String() {
	case "ui.label":
		return "label", path[4:]
	case "ui.placeholder":
		return "placeholder", path[4:]
	case "ui.options":
		return "options", path[4:]
	case "schema.type":
		return "kind", path[4:]
	case "schema.default":
		return "defaultValue", path[4:]
	case "schema.enum":
		return "options", nil
	}
	return path[2].(signpost.Field), path[3:]
}
