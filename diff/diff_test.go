package diff_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"signpost"
	"signpost/diff"
	"signpost/internal/testkit"
)

// feed returns a valid endpoint with only the required fields.
func feed(url string) signpost.Endpoint { return named(url, "Feed") }

func named(url, name string) signpost.Endpoint {
	return signpost.Endpoint{URL: url, Name: name, Method: signpost.MethodGet, MIMEType: signpost.MIMEJSON}
}

// diffVersions compares the versions of a service.
func diffVersions(old, new []signpost.Version) []diff.Change {
	return compare(signpost.Service{Versions: old}, signpost.Service{Versions: new})
}

// compare compares services that tell everything that the comparison depends on.
func compare(old, new signpost.Service, registered ...signpost.Version) []diff.Change {
	changes, err := diff.Diff(old, new, registered...)
	if err != nil {
		panic(err)
	}
	return changes
}

func v1(endpoints ...signpost.Endpoint) []signpost.Version {
	return []signpost.Version{{Name: "v1", Manifest: signpost.NewManifest(endpoints...)}}
}

// diffCase is a change to a service.
type diffCase struct {
	input    string
	old, new []signpost.Version
}

// aboutOrder ends an input whose meaning depends on the order of endpoints or items.
const aboutOrder = " (about order)"

// changedFeed describes the endpoint that changes, in cases about one.
const changedFeed = `{"name": "Feeds", "method": "get", "mime_type": "application/json",
"context_obj": [{"key": "token", "type": "ctx", "required": true}, {"key": "profile", "type": "ctx", "mapper": "user"}],
"modifiers": [` +
	`{"id": "q", "name": "Query", "params": [{"key": "q", "ui": {"label": "Search for"}, "schema": {"type": "string"}}]}, ` +
	`{"id": "limit", "name": "Page size", "params": [{"key": "limit", "ui": {"label": "Limit"}, "schema": {"type": "number", "default": 20}}]}, ` +
	`{"id": "sort", "name": "Sort order", "params": [{"key": "sort", "ui": {"label": "Sort by", "placeholder": "choose", ` +
	`"options": [{"value": "newest", "label": "Newest first"}, {"value": "title", "label": "Title"}]}, ` +
	`"schema": {"type": "string", "enum": ["newest", "title"]}}]}, ` +
	`{"id": "released", "name": "Year of release", "params": [{"key": "from", "ui": {"label": "From"}, "schema": {"type": "number"}}, ` +
	`{"key": "to", "ui": {"label": "To"}, "schema": {"type": "number"}}]}]}`

// newCase reads an input of testdata/changes.golden: two states of the versions, or a change to the text of changedFeed.
func newCase(t testing.TB, input string) diffCase {
	t.Helper()
	old, new, _ := strings.Cut(strings.TrimSuffix(input, aboutOrder)+" ", " => ")
	new = strings.TrimSuffix(new, " ")
	if strings.HasPrefix(input, "v") || strings.HasPrefix(input, "-") {
		return diffCase{input, versions(old), versions(new)}
	}
	manifest := func(feed string) []signpost.Version {
		all := v1()
		testkit.OK(t, json.Unmarshal([]byte(`{"endpoints": {"https://{{host}}/v1/feeds": `+feed+`}}`), &all[0].Manifest))
		return all
	}
	if !strings.Contains(changedFeed, old) {
		t.Errorf("there is no %s", old)
	}
	return diffCase{input, manifest(changedFeed), manifest(strings.Replace(changedFeed, old, new, 1))}
}

// versions reads versions that are separated by semicolons: a name, a colon, and endpoints that are separated by commas.
func versions(text string) []signpost.Version {
	var all []signpost.Version
	for version := range strings.SplitSeq(text, ";") {
		if name, endpoints, ok := strings.Cut(strings.TrimSpace(version), ":"); ok {
			all = append(all, signpost.Version{Name: name, Manifest: signpost.Manifest{Endpoints: testkit.Endpoints(endpoints)}})
		}
	}
	return all
}

func formPost(url string) signpost.Endpoint {
	e := feed(url)
	e.Method, e.MIMEType = signpost.MethodPost, signpost.MIMEForm
	return e
}

func diffCases(t testing.TB) []diffCase {
	t.Helper()
	var all []diffCase
	for _, input := range testkit.Inputs(t, "testdata/changes.golden") {
		all = append(all, newCase(t, input))
	}
	return all
}

func TestDiff(t *testing.T) {
	testkit.Cases(t, "testdata/changes.golden", func(input string) string {
		test := newCase(t, input)
		return report(t, diffVersions(test.old, test.new))
	})
	number := func(value any) []signpost.Version {
		e := feed("https://{{host}}/v1/feeds")
		e.Modifiers = []signpost.Modifier{signpost.Number(signpost.ModifierInput{ID: "n", Key: "n", DefaultValue: value})}
		return v1(e)
	}
	testkit.Equal(t, "changes to a default of another Go type", diffVersions(number(20), number(json.Number("20"))), []diff.Change{})
}

// report lists changes with the service, version and endpoint that each is about.
func report(t *testing.T, changes []diff.Change) string {
	t.Helper()
	var out strings.Builder
	for _, c := range changes {
		about := strings.Join(strings.Fields(c.Service+" "+c.Version+" "+c.Endpoint), " ")
		fmt.Fprintf(&out, "%s %s: %s: %s\n\told %s\n\tnew %s\n", c.Level, c.Rule, about, c.Message, jsonOf(t, c.Old), jsonOf(t, c.New))
	}
	return out.String()
}

// jsonOf marshals a value without HTML escaping, as the command line does.
func jsonOf(t testing.TB, value any) string {
	t.Helper()
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	testkit.OK(t, enc.Encode(value))
	return strings.TrimSuffix(out.String(), "\n")
}

// Every rule has a case.
func TestDiffRules(t *testing.T) {
	var changes []diff.Change
	for _, test := range diffCases(t) {
		changes = append(changes, diffVersions(test.old, test.new)...)
	}
	for _, test := range serviceCases() {
		changes = append(changes, test.changes()...)
	}
	for _, input := range testkit.Inputs(t, "testdata/states.golden") {
		old, new, options := stateCase(input)
		some, _ := options.Diff(old, new) // errors are in the golden file
		changes = append(changes, some...)
	}
	for _, rule := range diff.Rules() {
		if !slices.ContainsFunc(changes, func(c diff.Change) bool { return c.Rule == rule.Name && c.Level == rule.Level }) {
			t.Errorf("no case has a %s change of rule %s", rule.Level, rule.Name)
		}
	}
}

func TestDiffJSON(t *testing.T) {
	changes := diffVersions(v1(feed("https://a.example/?a&b")), v1(named("https://a.example/?a&b", "<b>")))
	const want = `[{"rule":"name-changed","level":"notable","version":"v1","endpoint":"https://a.example/?a&b",` +
		`"message":"name changed from \"Feed\" to \"<b>\"","old":"Feed","new":"<b>","fingerprint":"db08d6f251b2"}]`
	testkit.Equal(t, "changes", jsonOf(t, changes), want)
	testkit.Equal(t, "no changes", jsonOf(t, diffVersions(nil, nil)), "[]")
}

// Modifying the returned changes must not modify the manifests (independence rule of the spec).
func TestDiffCopies(t *testing.T) {
	for _, test := range diffCases(t) {
		before := jsonOf(t, []any{test.old, test.new})
		changes := diffVersions(test.old, test.new)
		for i := range changes {
			for _, value := range []any{changes[i].Old, changes[i].New} {
				overwrite(reflect.ValueOf(value))
			}
		}
		testkit.Equal(t, test.input+" after scribbling on the changes", jsonOf(t, []any{test.old, test.new}), before)
	}
}

// overwrite changes the texts in every list below v.
func overwrite(v reflect.Value) {
	switch v.Kind() {
	case reflect.Struct:
		for i := range v.NumField() {
			overwrite(v.Field(i))
		}
	case reflect.Slice:
		for i := range v.Len() {
			overwrite(v.Index(i))
		}
	case reflect.Map:
		for _, key := range v.MapKeys() {
			overwrite(v.MapIndex(key))
		}
	case reflect.String:
		if v.CanSet() {
			v.SetString("overwritten")
		}
	}
}

// What is compared stays as it is, marks of what is beyond the specification included.
func TestDiffLeavesItsArgumentsAlone(t *testing.T) {
	old := signpost.Service{Served: true, Versions: versions("v1: =https://a.example/feeds k")}
	new := signpost.Service{Served: true, Versions: versions("v1: =https://b.example/feeds k")}
	old.Versions[0].Name, new.Versions[0].Manifest.Endpoints[0].Method = "", "+GET"
	before := fmt.Sprintf("%+v", []signpost.Service{old, new})
	testkit.Must(diff.Diff(old, new, new.Versions...))(t)
	testkit.Equal(t, "afterwards", fmt.Sprintf("%+v", []signpost.Service{old, new}), before)
}
