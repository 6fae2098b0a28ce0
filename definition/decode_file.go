package definition

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"signpost"
	"signpost/internal/routes"
	"signpost/internal/tree"
)

type declaredFeature struct {
	tree.Field
	feature signpost.Feature
}

func (d *decoder) definition(root *tree.Node) {
	f := d.file
	if root.Kind == tree.Object {
		f.basePathAt = d.doc.NodeAt(root.Start(), root.Start()) // without anything below it
	}
	var enable, modifiers, features, versions *tree.Node
	readers := []reader{
		{"$schema", func(n *tree.Node) { d.is(n, "$schema", tree.String) }}, // for editors
		d.text("service", &f.Service),
		d.allowField(nil),
		{"base_path", d.basePath},
		{"enable", func(n *tree.Node) { enable = n }},
		{"context_keys", d.readContextKeys},
		{"features", func(n *tree.Node) { features = n }},
		{"modifiers", func(n *tree.Node) { modifiers = n }},
		{"versions", func(n *tree.Node) { versions = n }},
	}
	// Top-level endpoints are a pasted manifest or a forgotten level. They are reported as such and read as v1.
	var misplaced *tree.Node
	if key, value := root.Field("endpoints"); key != nil {
		if versions, _ := root.Field("versions"); versions == nil {
			misplaced = value
			readers = append(readers, reader{"endpoints", func(*tree.Node) {
				d.add(RuleUnknownField, "put endpoints under versions: and v1:", key, `unknown field "endpoints" in the definition`)
			}})
		}
	}
	if !d.object(root, "the definition", readers...) {
		return
	}
	// Read features and modifiers first, because endpoints refer to them.
	d.readModifiers(modifiers)
	d.readFeatures(features)
	d.readEnable(enable)
	switch {
	case misplaced != nil:
		d.manifest(tree.Field{Key: root, Value: root}, version{name: "v1", guessed: true})
	case versions == nil || versions.Kind == tree.Object && len(versions.Fields) == 0:
		d.add(signpost.RuleRequiredField, "versions: {v1: {endpoints: {…}}}", root, "the definition has no versions")
		d.incomplete = true
		f.basePathAt = nil // nothing is served there
	default:
		d.readVersions(versions)
	}
}

func (d *decoder) basePath(n *tree.Node) {
	d.file.basePathAt = nil
	if !d.is(n, "base_path", tree.String) {
		return
	}
	path, err := routes.CleanBasePath(n.Text)
	if err != nil {
		d.add(RuleBasePath, "such as / or /feeds", n, "%v", err)
		return
	}
	at := *n // a copy, which does not keep the rest of the tree
	d.file.BasePath, d.file.basePathAt = path, &at
}

func (d *decoder) readModifiers(n *tree.Node) {
	if n == nil {
		return
	}
	if !d.is(n, "modifiers", tree.Object) {
		d.unreadModifiers = true
		return
	}
	d.shared = make(map[string]*sharedModifier, len(n.Fields))
	for _, field := range n.Fields {
		m := &sharedModifier{Field: field}
		m.modifier, m.deprecated = d.modifier(field.Value)
		m.lean, m.size = lean(m.modifier), renderedSize(m.modifier)
		d.modifiers = append(d.modifiers, m)
		d.shared[field.Key.Text] = m
		d.sharedNames = append(d.sharedNames, field.Key.Text)
	}
}

// readFeatures fills in the features of the file: the built-in ones, including overrides, then the declared ones.
func (d *decoder) readFeatures(n *tree.Node) {
	all := []signpost.Feature{signpost.Authentication(), signpost.GeoRestriction()}
	if n != nil && d.is(n, "features", tree.Object) {
		for _, field := range n.Fields {
			i := slices.IndexFunc(all, func(f signpost.Feature) bool { return f.Name == field.Key.Text })
			if i < 0 {
				i = len(all)
				all = append(all, signpost.Feature{Name: field.Key.Text})
			}
			// A field that an override omits keeps its built-in value: changing the token key must not send it to more
			// endpoints because the suffix was not repeated.
			d.feature(field.Value, &all[i])
			d.features = append(d.features, declaredFeature{field, all[i]})
		}
	}
	d.file.features = all
}

func (d *decoder) feature(n *tree.Node, to *signpost.Feature) {
	d.object(n, "feature",
		d.text("url_suffix", &to.URLSuffix),
		reader{"context_obj", func(n *tree.Node) { to.ContextObj = d.contextItems(n) }},
	)
}

func (d *decoder) readEnable(n *tree.Node) {
	if n == nil {
		return
	}
	for _, item := range d.names(n, "enable", d.file.Features()) {
		if d.is(item, "a feature to enable", tree.String) {
			d.enable = append(d.enable, item)
		}
	}
}

// version is one API version with the positions of its endpoints.
type version struct {
	name       string
	manifest   signpost.Manifest
	endpoints  map[string]tree.Field // by URL; nil after the file has been read
	places     []endpointAt          // positions of the endpoints of the manifest
	deprecated *Deprecation
	guessed    bool // the name in the file is wrong, which is reported
}

// nearlyVersion matches what people write for v1.
var nearlyVersion = regexp.MustCompile(`^[vV]?([0-9]+)(\.0)*$`)

func (d *decoder) readVersions(n *tree.Node) {
	if !d.is(n, "versions", tree.Object) {
		d.incomplete = true
		return
	}
	for i, f := range n.Fields {
		v := version{name: f.Key.Text}
		if i+1 < len(n.Fields) && f.Value.Kind == tree.Null && n.Fields[i+1].Key.Text == "endpoints" {
			continue // its endpoints are next to it
		}
		switch {
		case f.Key.Text == "endpoints": // a forgotten level, or one that is not indented
			v, hint := version{name: "v1", guessed: true}, "put endpoints under v1:"
			if i > 0 && n.Fields[i-1].Value.Kind == tree.Null && routes.ValidVersion(n.Fields[i-1].Key.Text) {
				v.name = n.Fields[i-1].Key.Text
				hint = fmt.Sprintf("it belongs to %s: indent it and everything in it", v.name)
			}
			d.add(RuleUnknownField, hint, f.Key, `"endpoints" is not a version`)
			d.manifest(tree.Field{Key: n, Value: n}, v)
			continue
		case routes.ValidVersion(f.Key.Text):
		case d.isExtension(f.Key.Text):
			continue
		default:
			finding := signpost.Finding{Rule: RuleUnknownField, Severity: signpost.SeverityError, Hint: "such as v1",
				Message: fmt.Sprintf("%q is not a version: a version is v and a number", f.Key.Text)}
			v.guessed = true
			if match := nearlyVersion.FindStringSubmatch(f.Key.Text); match != nil && routes.ValidVersion("v"+match[1]) {
				v.name = "v" + match[1]
				finding.Hint = fmt.Sprintf("did you mean %q?", v.name)
				if key, _ := n.Field(v.name); key == nil {
					finding.Fix = d.replacement(f.Key, v.name)
				}
			}
			d.report(finding, f.Key)
		}
		d.manifest(f, v)
	}
}

// manifest reads the value of a field as the manifest of a version.
func (d *decoder) manifest(f tree.Field, v version) {
	what := "version " + v.name
	readers := []reader{{"endpoints", func(n *tree.Node) {
		if !d.is(n, "endpoints", tree.Object) {
			d.incomplete = true
			return
		}
		v.endpoints = make(map[string]tree.Field, len(n.Fields))
		v.manifest.Endpoints = make([]signpost.Endpoint, 0, len(n.Fields))
		for _, e := range n.Fields {
			if d.isExtension(e.Key.Text) {
				continue
			}
			v.endpoints[e.Key.Text] = e
			v.manifest.Endpoints = append(v.manifest.Endpoints, d.endpoint(e, v.name))
		}
	}}}
	switch {
	case d.served:
		what = "the manifest"
	case f.Key == f.Value: // the whole file, see ParseManifest
		readers[0].read(fieldValue(f.Value, "endpoints"))
		d.file.versions = append(d.file.versions, v)
		return
	default:
		readers = append(readers, d.deprecation(func(dep *Deprecation) { v.deprecated = dep }))
	}
	before := len(d.findings)
	if !d.served && onlyURLs(f.Value) {
		first := f.Value.Fields[0].Key
		d.add(RuleUnknownField, "put the URLs under endpoints:", first, "unknown field %q in %s", first.Text, what)
		readers[0].read(f.Value)
		d.file.versions = append(d.file.versions, v)
		return
	}
	ok := d.object(f.Value, what, readers...)
	if key, _ := d.field(f.Value, "endpoints"); ok && key == nil {
		if len(d.findings) == before { // otherwise they are probably under an unknown field
			d.add(signpost.RuleRequiredField, "", f.Key, "%s has no endpoints", what)
		}
		d.incomplete = true
	}
	d.incomplete = d.incomplete || !ok
	d.file.versions = append(d.file.versions, v)
}

// onlyURLs reports whether the keys of an object are URLs.
func onlyURLs(n *tree.Node) bool {
	return len(n.Fields) > 0 && !slices.ContainsFunc(n.Fields, func(f tree.Field) bool { return !strings.Contains(f.Key.Text, "://") })
}

func fieldValue(n *tree.Node, name string) *tree.Node {
	_, value := n.Field(name)
	return value
}
