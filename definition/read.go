package definition

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"signpost"
	"signpost/host"
	"signpost/internal/fields"
	"signpost/internal/routes"
	"signpost/internal/tree"
)

// The functions of this file build values from a tree that check has compared with the table of fields. A value that
// cannot be used stays zero and is never skipped, so that the n-th item of a list stays the n-th.

type sharedModifier struct {
	tree.Field
	modifier   signpost.Modifier
	deprecated *signpost.Deprecation
	size       int // in a manifest, in bytes
	used       bool
}

// version is one API version with the positions of its endpoints.
type version struct {
	name     string
	key      *tree.Node
	manifest signpost.Manifest
	places   []place         // of the URLs of the endpoints
	faulty   []bool          // which endpoints have an error
	errors   []signpost.Path // of errors that Validate does not find

	endpoints map[string]tree.Field // by URL; nil after the file has been read
}

func (d *decoder) definition(root *tree.Node) {
	d.check(root, fields.Definition, fields.Definition.What)
	if d.broken[root] {
		return
	}
	d.Service = root.Get("service").Text
	d.readBasePath(root, root.Get("base_path"))
	d.readHosts(root.Get("hosts"))
	if !root.Has("hosts") {
		d.Hosts = d.opts.Hosts
	}
	if catalogue := root.Get("context_keys"); catalogue.Kind == tree.Object {
		d.contextKeys = contextKeys(catalogue)
	}
	d.readAllow(root, nil)
	// Features and modifiers first, because endpoints refer to them.
	d.readModifiers(root.Get("modifiers"))
	d.readFeatures(root.Get("features"))
	for _, item := range root.Get("enable").Items {
		if item.Kind == tree.String && !d.broken[item] {
			d.enabled = append(d.enabled, item)
		}
	}
	versions := root.Get("versions")
	if !root.Has("versions") || versions.Kind == tree.Object && len(versions.Fields) == 0 {
		if misplaced := root.Get("endpoints"); misplaced.Kind != tree.Object { // it is reported already
			d.add(signpost.RuleRequiredField, fields.Definition.Form, root, "the definition has no versions")
		}
		d.unread = true
		d.basePath = nil // nothing is served there
	}
	for _, field := range versions.Fields {
		if name := field.Key.Text; fields.Definition.Field("versions").Value.Of(name) != nil { // otherwise it is reported
			v := d.manifest(field, version{name: name, key: field.Key}, "version "+name)
			d.deprecate(signpost.Part{Version: name}, d.deprecation(field.Value, nil))
			d.versions = append(d.versions, v)
		}
	}
}

// manifest reads the value of a field as the manifest of a version.
func (d *decoder) manifest(f tree.Field, v version, what string) version {
	key, endpoints := f.Value.Field("endpoints")
	if key == nil {
		// What is not where it belongs probably has them.
		if f.Value.Kind == tree.Object && !d.broken[f.Value] && !d.unread {
			d.add(signpost.RuleRequiredField, "", f.Key, "%s has no endpoints", what)
		}
		d.unread = true
		return v
	}
	v.manifest.Extra = d.extras[f.Value]
	v.endpoints = make(map[string]tree.Field, len(endpoints.Fields))
	v.manifest.Endpoints = make([]signpost.Endpoint, 0, len(endpoints.Fields))
	for _, e := range endpoints.Fields {
		if !d.isExtension(e.Key.Text) {
			v.endpoints[e.Key.Text] = e
			d.endpoint(e, &v)
		}
	}
	return v
}

func (d *decoder) readBasePath(root, n *tree.Node) {
	if n.Kind == tree.Null && !d.broken[n] && !d.broken[root] {
		d.basePath = d.doc.NodeAt(root.Start(), root.Start()) // the default
	}
	if n.Kind != tree.String || d.broken[n] {
		return
	}
	path, err := routes.CleanBasePath(n.Text)
	if err != nil {
		problem, right, _ := strings.Cut(err.Error(), ": write ")
		d.add(RuleBasePath, "write "+right, n, "%s", problem)
		return
	}
	d.BasePath, d.basePath = path, n
}

func (d *decoder) readHosts(n *tree.Node) {
	d.hostsFail = d.broken[n]
	if n.Kind == tree.List && len(n.Items) == 0 {
		d.add(RuleHosts, "name a host, or remove hosts to accept every host", n, "hosts is an empty list")
	}
	listed := make(map[string]bool)
	for _, item := range n.Items {
		if item.Kind != tree.String || d.broken[item] {
			d.hostsFail = true
			continue
		}
		name, err := host.ParsePattern(item.Text)
		var bad *host.Error
		switch {
		case errors.As(err, &bad):
			d.hostsFail = true
			f := d.add(RuleHosts, bad.Remedy, item, "host %q %s", item.Text, bad.Problem)
			if meant := signpost.CutURL(item.Text).Hostname(); meant != "" {
				f.Hint = "write only the host: " + meant
			}
		case listed[name]:
			d.add(RuleHosts, "name it once", item, "host %q is listed twice", name)
		default:
			d.Hosts, listed[name] = append(d.Hosts, name), true
		}
	}
}

func (d *decoder) readModifiers(n *tree.Node) {
	d.shared = make(map[string]*sharedModifier, len(n.Fields))
	for _, field := range n.Fields {
		m, deprecated := d.modifier(field.Value)
		d.shared[field.Key.Text] = &sharedModifier{Field: field, modifier: m, deprecated: deprecated,
			size: renderedSize(m)}
		d.sharedNames = append(d.sharedNames, field.Key.Text)
	}
}

// readFeatures fills in the features of the file: the built-in ones, including overrides, then the declared ones.
func (d *decoder) readFeatures(n *tree.Node) {
	d.features, d.declared = signpost.BuiltIn(), n.Fields
	indexes := make(map[string]int)
	for i, f := range d.features {
		indexes[f.Name] = i
	}
	for _, field := range n.Fields {
		i, known := indexes[field.Key.Text]
		if !known {
			i = len(d.features)
			indexes[field.Key.Text] = i
			d.features = append(d.features, signpost.Feature{Name: field.Key.Text})
		}
		// A field that an override omits keeps its built-in value: changing the token key must not send it to more
		// endpoints because the suffix was not repeated.
		feature := &d.features[i]
		if key, suffix := field.Value.Field("url_suffix"); key != nil {
			d.readSuffixes(suffix, feature)
		}
		if key, items := field.Value.Field("context_obj"); key != nil {
			feature.ContextObj = d.contextItems(items)
		}
	}
}

// readSuffixes reads one suffix or a list of them. A list without one, or one that is empty, would apply the feature to
// every endpoint.
func (d *decoder) readSuffixes(n *tree.Node, feature *signpost.Feature) {
	feature.URLSuffix, feature.URLSuffixes = n.Text, nil
	if n.Kind != tree.List || d.broken[n] {
		return
	}
	isEmpty := func(item *tree.Node) bool { return item.Text == "" && !d.broken[item] }
	if len(n.Items) == 0 || slices.ContainsFunc(n.Items, isEmpty) {
		d.broken[n] = true
		d.add(signpost.RuleWrongType, "remove it for every endpoint, or name a suffix", n,
			"url_suffix is an empty list, or has an empty suffix")
		return
	}
	for _, item := range n.Items {
		feature.URLSuffixes = append(feature.URLSuffixes, item.Text)
	}
	feature.URLSuffix, feature.URLSuffixes = feature.URLSuffixes[0], feature.URLSuffixes[1:]
}

// endpoint reads an endpoint into a version.
func (d *decoder) endpoint(f tree.Field, v *version) {
	n := f.Value
	e := signpost.Endpoint{
		URL: f.Key.Text, Name: n.Get("name").Text, Method: n.Get("method").Text, MIMEType: n.Get("mime_type").Text,
		ContextObj: d.contextItems(n.Get("context_obj")), Extra: d.extras[n],
	}
	d.plusInManifest(signpost.RuleMethod, "method", n.Get("method"))
	modifiers, seen := n.Get("modifiers").Items, make(map[string]bool)
	e.Modifiers = slices.Grow(e.Modifiers, len(modifiers))
	for _, item := range modifiers {
		m, deprecated := d.modifierOrName(item, seen)
		e.Modifiers = append(e.Modifiers, m)
		d.deprecate(signpost.Part{Version: v.name, Endpoint: e.URL, Modifier: m.ID}, deprecated)
	}
	if !d.served {
		d.readAllow(n, f.Key)
	}
	d.deprecate(signpost.Part{Version: v.name, Endpoint: e.URL}, d.deprecation(n, f.Key))
	v.manifest.Endpoints = append(v.manifest.Endpoints, e)
}

func (d *decoder) contextItems(n *tree.Node) []signpost.ContextItem {
	if len(n.Items) == 0 || d.broken[n] && !d.served {
		return nil
	}
	items := make([]signpost.ContextItem, 0, len(n.Items))
	for _, item := range n.Items {
		key, required, mapper := item.Get("key"), item.Get("required"), item.Get("mapper")
		if mapper.Kind == tree.String && mapper.Text == "" {
			d.add(signpost.RuleWrongType, "name the alias, or remove mapper", mapper, "mapper is empty")
		}
		if key.Text != "" && !d.broken[key] {
			d.keys = append(d.keys, key)
		}
		d.plusInManifest(signpost.RuleContextType, "context type", item.Get("type"))
		items = append(items, signpost.ContextItem{
			Key: key.Text, Type: item.Get("type").Text, Mapper: mapper.Text, Extra: d.extras[item],
			Required: required.Text == "true" && (required.Kind == tree.Bool || d.served),
		})
	}
	return items
}

// maxManifest is the number of bytes that shared modifiers, features and fields beyond the specification may add to the
// manifests of a file: a small file that repeats a large modifier thousands of times must not become a manifest too
// large for memory. Ten modifiers on each of ten thousand endpoints stay far below it.
const maxManifest = 32 << 20

// grows counts bytes of the manifests, and reports whether there are too many.
func (d *decoder) grows(bytes int, at *tree.Node) bool {
	before := d.size
	d.size += bytes
	if before <= maxManifest && d.size > maxManifest {
		d.add(RuleTooLarge, "split the service into several files", at,
			"shared modifiers, features and fields with a plus make the manifests larger by more than %d MiB", maxManifest>>20)
	}
	return d.size > maxManifest
}

// modifierOrName reads an item of an endpoint's modifiers: the name of a shared one, or an inline one. seen has the
// names so far.
func (d *decoder) modifierOrName(n *tree.Node, seen map[string]bool) (signpost.Modifier, *signpost.Deprecation) {
	if n.Kind != tree.String || d.served {
		return d.modifier(n)
	}
	shared := d.shared[n.Text]
	switch {
	case d.broken[n]:
	case shared == nil && d.unread && len(d.sharedNames) == 0: // the shared modifiers could not be read
		d.broken[n] = true
	case shared == nil:
		meant, _ := d.unknown(RuleUnknownModifier, n, d.sharedNames, fmt.Sprintf("there is no shared modifier %q", n.Text))
		if other := d.shared[meant]; other != nil {
			other.used = true
		} else {
			d.unread = true
		}
	case seen[n.Text]:
		d.broken[n] = true
		d.add(signpost.RuleModifierIDDuplicate, "name it once", n, "modifier %q is listed twice", n.Text)
	case d.grows(shared.size, n):
		shared.used = true
		d.broken[n] = true
	default:
		shared.used = true
		seen[n.Text] = true
		return shared.modifier, shared.deprecated
	}
	return signpost.Modifier{}, nil
}

// renderedSize returns how many bytes a value takes in a manifest, or 0 if it cannot be part of one.
func renderedSize(v any) int {
	text, _ := json.Marshal(v) // nil if it fails
	return len(text)
}

// modifier reads a modifier, either in short form, with kind, or in the manifest's form, with params.
func (d *decoder) modifier(n *tree.Node) (m signpost.Modifier, deprecated *signpost.Deprecation) {
	if n.Kind != tree.Object || d.broken[n] {
		return signpost.Modifier{Extra: d.extras[n]}, nil
	}
	if n.Has("params") || d.served {
		m = signpost.Modifier{ID: n.Get("id").Text, Name: n.Get("name").Text, Extra: d.extras[n]}
		for _, item := range n.Get("params").Items {
			m.Params = append(m.Params, d.param(item))
		}
	} else if kind := d.kind(n); kind.Build != nil {
		m = kind.Build(d.modifierInput(n, kind.Name))
	} else {
		d.broken[n] = true // nothing else can be checked
		return m, nil
	}
	return m, d.deprecation(n, nil)
}

// modifierInput reads the short form of a modifier.
func (d *decoder) modifierInput(n *tree.Node, kind string) signpost.ModifierInput {
	in := signpost.ModifierInput{
		ID: n.Get("id").Text, Name: n.Get("name").Text, Key: n.Get("key").Text, Label: n.Get("label").Text,
		Placeholder: n.Get("placeholder").Text, DefaultValue: d.scalar(n.Get("defaultValue")),
	}
	if key, options := n.Field("options"); key != nil {
		if kind == signpost.KindSelect {
			in.Options = d.options(options)
		} else {
			d.add(signpost.RuleSelectOptions, "options belong to kind: select", key, "a %s modifier has options", kind)
		}
		if d.incomplete(options) {
			in.DefaultValue = nil // it may be right
		}
	}
	return in
}

// kind returns the kind of a modifier, or the one that was meant. It is zero if there is none.
func (d *decoder) kind(n *tree.Node) signpost.Kind {
	_, at := n.Field("kind")
	if at == nil {
		if !d.isLacking(n) {
			d.add(signpost.RuleRequiredField,
				"text, number, boolean or select; or params, for the manifest's own form", n, "modifier has no kind")
		}
		return signpost.Kind{}
	}
	name, known := at.Text, fields.ShortModifier.Field("kind").Value.Values
	if !slices.Contains(known, name) && !d.broken[at] {
		name, _ = d.unknown(signpost.RuleWrongType, at, known, fmt.Sprintf("there is no kind %q", name))
	}
	if i := slices.Index(known, name); i >= 0 {
		return signpost.Kinds()[i]
	}
	return signpost.Kind{}
}

func (d *decoder) param(n *tree.Node) signpost.Param {
	ui, schema := n.Get("ui"), n.Get("schema")
	p := signpost.Param{
		Key: n.Get("key").Text,
		UI:  signpost.UI{Label: ui.Get("label").Text, Placeholder: ui.Get("placeholder").Text, Extra: d.extras[ui]},
		Schema: signpost.Schema{Type: schema.Get("type").Text, Default: d.scalar(schema.Get("default")),
			Extra: d.extras[schema]},
		Extra: d.extras[n],
	}
	if key, enum := schema.Field("enum"); key != nil {
		p.Schema.Enum = []string{}
		for _, item := range enum.Items {
			p.Schema.Enum = append(p.Schema.Enum, item.Text)
		}
	}
	if key, options := ui.Field("options"); key != nil {
		p.UI.Options = d.options(options)
		if d.incomplete(options) { // what depends on the options may be right
			p.Schema.Default, p.Schema.Enum = nil, nil
			for _, o := range p.UI.Options {
				p.Schema.Enum = append(p.Schema.Enum, o.Value)
			}
		}
	}
	return p
}

// options returns the options of a dropdown, never nil, because empty options are a mistake.
func (d *decoder) options(n *tree.Node) []signpost.Option {
	options := make([]signpost.Option, 0, len(n.Items))
	if d.broken[n] && !d.served {
		return options
	}
	for _, item := range n.Items {
		options = append(options,
			signpost.Option{Value: item.Get("value").Text, Label: item.Get("label").Text, Extra: d.extras[item]})
	}
	return options
}

// incomplete reports whether some options could not be read.
func (d *decoder) incomplete(options *tree.Node) bool {
	return d.broken[options] || slices.ContainsFunc(options.Items, func(item *tree.Node) bool {
		return d.broken[item] || d.broken[item.Get("value")]
	})
}

// scalar returns a default value: text, a number or a Boolean. It is nil if there is none. In a manifest of others, it
// may be anything, as text.
func (d *decoder) scalar(n *tree.Node) any {
	switch {
	case d.broken[n] && d.served && n.Text != "":
		return n.Text
	case d.broken[n]:
	case n.Kind == tree.String:
		return n.Text
	case n.Kind == tree.Number:
		return json.Number(n.Text)
	case n.Kind == tree.Bool:
		return n.Text == "true"
	}
	return nil
}

// deprecation reads the deprecated field of an object, which manifests do not have. endpoint is the URL of its
// endpoint, or nil outside of endpoints.
func (d *decoder) deprecation(object, endpoint *tree.Node) *signpost.Deprecation {
	n := object.Get("deprecated")
	if n.Kind != tree.Object || d.broken[n] || d.served {
		return nil
	}
	until := n.Get("until")
	dep := &signpost.Deprecation{Since: date(n.Get("since")), Until: date(until), Use: n.Get("use").Text,
		Reason: n.Get("reason").Text}
	switch {
	case !n.Has("since"):
		d.add(signpost.RuleRequiredField, "add the day of the announcement, such as since: 2026-01-31", n,
			"deprecated has no since")
		return nil
	case !dep.Until.IsZero() && dep.Until.Before(dep.Since):
		d.add(signpost.RuleWrongType, "", until, "until is before since")
		return nil
	}
	if dep.Over(cmp.Or(d.opts.Today, time.Now())) {
		d.warn(RuleDeprecationExpired, "remove what is deprecated, or move the date", until, endpoint,
			"deprecated until %s, which has passed", dep.Until.Format(time.DateOnly))
	}
	return dep
}

func date(n *tree.Node) time.Time {
	t, _ := time.Parse(time.DateOnly, n.Text) // zero if it is missing, or was reported
	return t
}

func (d *decoder) deprecate(part signpost.Part, deprecation *signpost.Deprecation) {
	if deprecation != nil {
		d.deprecations[part] = deprecation
	}
}
