package adopt

import (
	"fmt"
	"slices"
	"strings"

	"signpost"
	"signpost/definition"
	"signpost/internal/fields"
	"signpost/internal/tree"
)

// prove returns an error unless the definition gives the manifests that it was made from.
func prove(file *definition.File, manifests []*manifest, host string) error {
	versions := file.Readable(nil)
	if len(versions) != len(manifests) {
		return fmt.Errorf("the definition would have %d versions instead of %d", len(versions), len(manifests))
	}
	for i, m := range manifests {
		rendered, err := render(versions[i].Manifest, host)
		if err != nil {
			return fmt.Errorf("the definition cannot be rendered for version %s: %w", m.Version, err)
		}
		if err := compare(m.kept, string(rendered), host); err != nil {
			return fmt.Errorf("%s: the definition would give another manifest: %w", m.Name, err)
		}
	}
	return nil
}

func render(m signpost.Manifest, host string) ([]byte, error) {
	if host != "" {
		var err error
		if m, err = m.ForHost(host); err != nil {
			return nil, err
		}
	}
	return m.MarshalJSON()
}

// compare returns an error unless two manifests are the same: endpoints in the same order, with the same descriptors,
// whatever the order of fields. Fields that have their default value may be missing, and a URL may still have {{host}}.
func compare(want, got, host string) error {
	wanted, rendered := tree.Parse([]byte(want), true).Root, tree.Parse([]byte(got), true).Root
	before, after := wanted.Get("endpoints").Fields, rendered.Get("endpoints").Fields
	of := fields.Manifest.Field("endpoints").Value.Each
	for i, f := range before {
		url := f.Key.Text
		if host != "" {
			url = strings.ReplaceAll(url, signpost.HostPlaceholder, host)
		}
		switch {
		case i >= len(after):
			return fmt.Errorf("endpoint %q would be missing", url)
		case after[i].Key.Text != url:
			return fmt.Errorf("endpoint %q would be %q", url, after[i].Key.Text)
		case canonical(f.Value, of) != canonical(after[i].Value, of):
			return fmt.Errorf("endpoint %q would be %s instead of %s", url, canonical(after[i].Value, of), canonical(f.Value, of))
		}
	}
	if len(after) > len(before) {
		return fmt.Errorf("endpoint %q would be added", after[len(before)].Key.Text)
	}
	if topOf(wanted) != topOf(rendered) {
		return fmt.Errorf("its other fields would be %s instead of %s", topOf(rendered), topOf(wanted))
	}
	return nil
}

// topOf returns the fields of a manifest beside its endpoints.
func topOf(root *tree.Node) string {
	others := slices.DeleteFunc(slices.Clone(root.Fields), func(f tree.Field) bool { return f.Key.Text == "endpoints" })
	return canonical(root.With(others...), nil)
}

// canonical returns a value as JSON with sorted fields, without those of the specification that say nothing.
func canonical(n *tree.Node, v *fields.Value) string {
	var parts []string
	switch n.Kind {
	case tree.Object:
		for _, f := range n.Fields {
			var of *fields.Value
			if v != nil && v.Field(f.Key.Text) != nil {
				of = v.Field(f.Key.Text).Value
			}
			text := canonical(f.Value, of)
			saysNothing := text == `""` || text == "[]" || text == "false" || text == "{}"
			if of == nil || of.Type == fields.Scalar || !saysNothing {
				parts = append(parts, tree.Quote(f.Key.Text)+":"+text)
			}
		}
		slices.Sort(parts)
		return "{" + strings.Join(parts, ",") + "}"
	case tree.List:
		for _, item := range n.Items {
			var of *fields.Value
			if v != nil {
				of = v.Each
			}
			parts = append(parts, canonical(item, of))
		}
		return "[" + strings.Join(parts, ",") + "]"
	}
	return jsonText(n)
}
