package diff_test

import (
	"encoding/json"
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"

	"signpost"
	"signpost/diff"
	"signpost/internal/testkit"
)

// mutations returns ways to change a value: set a field to something else; remove, add or move an item of a list.
// Fields that are added to the manifest later are covered automatically.
func mutations(v reflect.Value) []func() {
	var all []func()
	if v.Type() == reflect.TypeFor[signpost.Extra]() {
		for _, text := range []string{"", `"x":2`, `"observe_storage":["b"],"y":null`} {
			all = append(all, func() { v.SetString(text) })
		}
		return all
	}
	switch v.Kind() {
	case reflect.Struct:
		for i := range v.NumField() {
			all = append(all, mutations(v.Field(i))...)
		}
	case reflect.Slice:
		for i := range v.Len() {
			all = append(all, mutations(v.Index(i))...)
			all = append(all, func() { v.Set(reflect.AppendSlice(v.Slice3(0, i, i), v.Slice(i+1, v.Len()))) })
			for j := range i {
				all = append(all, func() { reflect.Swapper(v.Interface())(i, j) })
			}
		}
		all = append(all, func() { v.Set(reflect.Append(v, reflect.Zero(v.Type().Elem()))) })
	case reflect.String:
		for _, text := range []string{"", v.String() + "x", strings.ToUpper(v.String()), signpost.TypeString, signpost.TypeNumber} {
			all = append(all, func() { v.SetString(text) })
		}
	case reflect.Bool:
		all = append(all, func() { v.SetBool(!v.Bool()) })
	case reflect.Interface: // a default
		for _, value := range []any{nil, "x", json.Number("7"), 7.5, false} {
			all = append(all, func() {
				v.SetZero()
				if value != nil {
					v.Set(reflect.ValueOf(value))
				}
			})
		}
	case reflect.Int: // lines, which are not in the manifest
	default:
		panic("a manifest has a " + v.Kind().String() + ": say how to change it")
	}
	return all
}

// documents returns the served documents by version, or false if nothing can be served.
func documents(versions []signpost.Version) (map[string]string, bool) {
	docs := make(map[string]string)
	for _, v := range versions {
		doc, err := v.Manifest.MarshalJSON()
		if _, twice := docs[v.Name]; err != nil || twice {
			return nil, false
		}
		docs[v.Name] = string(doc)
	}
	return docs, true
}

// levels are those of the rules.
var levels = func() map[string]diff.Level {
	levels := make(map[string]diff.Level)
	for _, r := range diff.Rules() {
		levels[r.Name] = r.Level
	}
	return levels
}()

// wantDiff checks that there are changes if and only if a document changes.
func wantDiff(t testing.TB, old, new []signpost.Version) (changed bool) {
	t.Helper()
	before, ok := documents(old)
	after, ok2 := documents(new)
	if !ok || !ok2 {
		return false
	}
	for _, pair := range [][2][]signpost.Version{{old, new}, {new, old}} {
		changes := diffVersions(pair[0], pair[1])
		if same := maps.Equal(before, after); same != (len(changes) == 0) {
			t.Fatalf("same documents: %v, and changes %s of\n%s\nto\n%s", same, jsonOf(t, changes), before, after)
		}
		for _, c := range changes {
			if c.Message == "" || levels[c.Rule] != c.Level && c.Level != diff.Notable { // some are not breaking if clients see no difference
				t.Fatalf("change %+v", c)
			}
		}
		jsonOf(t, changes)
	}
	if changes := diffVersions(new, new); len(changes) > 0 {
		t.Fatalf("of a manifest to itself: %s", jsonOf(t, changes))
	}
	return !maps.Equal(before, after)
}

// Apply every single mutation to an endpoint in which every field is set.
func TestDiffSeesEveryField(t *testing.T) {
	build := func() []signpost.Version {
		first, second := testkit.FullEndpoint("https://{{host}}/a"), testkit.FullEndpoint("https://{{host}}/b")
		for _, e := range []*signpost.Endpoint{&first, &second} { // every list has items to swap
			e.ContextObj = append(e.ContextObj, signpost.ContextItem{Key: "age", Type: signpost.ContextBodyParam})
			p := &e.Modifiers[0].Params[0]
			p.UI.Options = append(p.UI.Options, signpost.Option{Value: "title", Label: "Title"})
			p.Schema.Enum = append(p.Schema.Enum, "title")
			e.Modifiers[0].Params = append(e.Modifiers[0].Params, signpost.Number(signpost.ModifierInput{Label: "Limit", DefaultValue: 20, Placeholder: "all"}).Params[0])
			e.Modifiers[0].Params[1].Key = "limit"
			e.Modifiers = append(e.Modifiers, signpost.Text(signpost.ModifierInput{ID: "q"}))
		}
		return append(v1(first, second), signpost.Version{Name: "v2"})
	}
	seen := 0
	base := build()
	for i := range mutations(reflect.ValueOf(&base).Elem()) {
		mutated := build()
		mutations(reflect.ValueOf(&mutated).Elem())[i]()
		if wantDiff(t, build(), mutated) {
			seen++
		}
	}
	if seen < 200 {
		t.Errorf("only %d mutations changed anything", seen)
	}
}

func cloneVersions(versions []signpost.Version) []signpost.Version {
	clone := slices.Clone(versions)
	for i := range clone {
		clone[i].Manifest = signpost.NewManifest(clone[i].Manifest.Endpoints...)
	}
	return clone
}

// For any two manifests, valid or not, there are changes if and only if the documents differ.
func FuzzDiff(f *testing.F) {
	for _, test := range diffCases(f) {
		if len(test.old) == 1 && len(test.new) == 1 {
			f.Add([]byte(jsonOf(f, test.old[0].Manifest)), []byte(jsonOf(f, test.new[0].Manifest)))
		}
	}
	modifier := func(schema string) []byte {
		return []byte(`{"endpoints":{"https://a/b":{"modifiers":[{"id":"m","params":[{"key":"m","schema":` + schema + `}]}]}}}`)
	}
	f.Add(modifier(`{"type":"string","enum":["a"]}`), modifier(`{"type":"number","enum":["a","a"]}`))
	f.Add([]byte(`{"endpoints":{"https://a/{{x}}":{"context_obj":[{"key":"a"},{"key":"a"}]}}}`), []byte(`{"endpoints":{"https://a/b":null}}`))
	f.Fuzz(func(t *testing.T, a, b []byte) {
		old, new := signpost.Version{Name: "v1"}, signpost.Version{Name: "v1"}
		if json.Unmarshal(a, &old.Manifest) != nil || json.Unmarshal(b, &new.Manifest) != nil {
			return
		}
		wantDiff(t, []signpost.Version{old}, []signpost.Version{new})
	})
}
