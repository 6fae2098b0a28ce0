package diff_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

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
	return diff.Diff(signpost.Service{Versions: old}, signpost.Service{Versions: new})
}

func ctx(keys ...string) []signpost.ContextItem {
	var items []signpost.ContextItem
	for _, key := range keys {
		items = append(items, signpost.ContextItem{Key: key, Type: signpost.ContextCtx})
	}
	return items
}

// fullEndpoint returns a new endpoint with a value in every field.
func fullEndpoint(url string) signpost.Endpoint {
	return signpost.Endpoint{
		URL: url, Name: "Feed", Method: signpost.MethodGet, MIMEType: signpost.MIMEJSON,
		ContextObj: []signpost.ContextItem{{Key: "profile", Type: signpost.ContextCtx, Required: true, Mapper: "user"}},
		Modifiers: []signpost.Modifier{{ID: "sort", Name: "Sort order", Params: []signpost.Param{{
			Key:    "sort",
			UI:     signpost.UI{Label: "Sort by", Placeholder: "choose", Options: []signpost.Option{{Value: "newest", Label: "Newest"}}},
			Schema: signpost.Schema{Type: signpost.TypeString, Default: "newest", Enum: []string{"newest"}},
		}}}},
	}
}

func v1(endpoints ...signpost.Endpoint) []signpost.Version {
	return []signpost.Version{{Name: "v1", Manifest: signpost.NewManifest(endpoints...)}}
}

// diffCase is a change to a service. The expected changes are in testdata/changes.golden.
type diffCase struct {
	name     string
	old, new []signpost.Version
}

// changed is a case in which one endpoint changes. The initial endpoint sets every field.
func changed(name string, change func(*signpost.Endpoint)) diffCase {
	const url = "https://{{host}}/v1/feeds"
	from := func() signpost.Endpoint {
		e := feed(url)
		e.URL, e.Name = url, "Feeds"
		e.ContextObj = []signpost.ContextItem{
			{Key: "token", Type: signpost.ContextCtx, Required: true},
			{Key: "profile", Type: signpost.ContextCtx, Mapper: "user"},
		}
		e.Modifiers = []signpost.Modifier{
			signpost.Text(signpost.ModifierInput{ID: "q", Name: "Query", Key: "q", Label: "Search for"}),
			signpost.Number(signpost.ModifierInput{ID: "limit", Name: "Page size", Key: "limit", Label: "Limit", DefaultValue: 20}),
			signpost.Select(signpost.ModifierInput{ID: "sort", Name: "Sort order", Key: "sort", Label: "Sort by", Placeholder: "choose",
				Options: []signpost.Option{{Value: "newest", Label: "Newest first"}, {Value: "title", Label: "Title"}}}),
			{ID: "released", Name: "Year of release", Params: []signpost.Param{
				{Key: "from", UI: signpost.UI{Label: "From"}, Schema: signpost.Schema{Type: signpost.TypeNumber}},
				{Key: "to", UI: signpost.UI{Label: "To"}, Schema: signpost.Schema{Type: signpost.TypeNumber}},
			}},
		}
		return e
	}
	old, new := from(), from()
	change(&new)
	return diffCase{name, v1(old), v1(new)}
}

// change is a case in which the endpoints of a manifest change.
func change(name string, old, new []signpost.Version) diffCase { return diffCase{name, old, new} }

func keyed(url string, keys ...string) signpost.Endpoint {
	e := feed(url)
	e.ContextObj = ctx(keys...)
	return e
}

func requiring(url string, keys ...string) signpost.Endpoint {
	e := keyed(url, keys...)
	for i := range e.ContextObj {
		e.ContextObj[i].Required = true
	}
	return e
}

func inBody(url, key, mapper string) signpost.Endpoint {
	e := feed(url)
	e.ContextObj = []signpost.ContextItem{{Key: key, Type: signpost.ContextBodyParam, Mapper: mapper}}
	return e
}

func formPost(url string) signpost.Endpoint {
	e := feed(url)
	e.Method, e.MIMEType = signpost.MethodPost, signpost.MIMEForm
	return e
}

// version returns a version of endpoints, each given as its path and name.
func version(name string, endpoints ...string) signpost.Version {
	v := signpost.Version{Name: name}
	for _, text := range endpoints {
		path, label, _ := strings.Cut(text, "=")
		v.Manifest.Endpoints = append(v.Manifest.Endpoints, named("https://{{host}}/"+path, label))
	}
	return v
}

func diffCases() []diffCase {
	const feeds, media = "https://{{host}}/v1/feeds", "https://{{host}}/v1/feeds/media"
	const limit, query, sort, released = 1, 0, 2, 3
	param := func(e *signpost.Endpoint, modifier int) *signpost.Param { return &e.Modifiers[modifier].Params[0] }
	return []diffCase{
		change("version removed", append(v1(), signpost.Version{Name: "v2", Manifest: signpost.NewManifest(feed(feeds))}), v1()),
		change("version added", nil, v1()),
		change("order of versions", []signpost.Version{{Name: "v1"}, {Name: "v2"}}, []signpost.Version{{Name: "v2"}, {Name: "v1"}}),
		change("version renamed", []signpost.Version{{Name: "v1"}}, []signpost.Version{{Name: "v2"}}),

		change("endpoint removed", v1(feed(feeds)), v1()),
		change("endpoint moved", v1(feed(feeds)), v1(feed(feeds+"s"))),
		change("endpoint moved, who knows where", v1(feed(feeds)), v1(feed(feeds+"a"), feed(feeds+"b"))),
		change("endpoint added", v1(), v1(feed(feeds))),
		change("order of endpoints", v1(feed(feeds), feed(media)), v1(feed(media), feed(feeds))),

		change("overlap that loses keys", v1(keyed(feeds, "a", "b")), v1(keyed(feeds, "a", "b"), keyed(media, "b"))),
		change("overlap by a placeholder", v1(keyed("https://{{host}}/{{kind}}", "a")),
			v1(keyed("https://{{host}}/{{kind}}", "a"), feed("https://{{host}}/films/{{id}}"))),
		change("overlap that keeps the keys", v1(feed(feeds)), v1(feed(feeds), feed(media))),
		change("overlap with keys that are new too", v1(feed(feeds)), v1(keyed(feeds, "a"), feed(media))),
		change("overlap with keys that are gone anyway", v1(keyed(feeds, "a")), v1(feed(feeds), feed(media))),
		change("overlap below an endpoint that did not have the keys either", v1(keyed(feeds, "a"), feed(media)),
			v1(keyed(feeds, "a"), feed(media+"/hd"))),

		change("feeds get another method and type", v1(feed(feeds)), v1(feed(feeds), formPost(media))),
		change("feeds need a required key", v1(keyed(feeds, "a", "b")), v1(keyed(feeds, "a", "b"), requiring(media, "a", "b", "c"))),
		change("feeds send a key in another way", v1(keyed(feeds, "a")), v1(keyed(feeds, "a"), inBody(media, "a", "alias"))),
		change("feeds inside a segment", v1(feed(media)), v1(feed(media), formPost(media+"-archive"))),
		change("feeds of endpoints beside a placeholder", v1(feed(feeds+"/top"), feed(feeds+"/new"), feed("https://{{host}}/v2/top")),
			v1(feed(feeds+"/top"), feed(feeds+"/new"), feed("https://{{host}}/v2/top"), formPost(feeds+"/{{id}}"))),
		change("feeds of a more literal endpoint", v1(feed("https://{{host}}/films/{{id}}")),
			v1(feed("https://{{host}}/films/{{id}}"), formPost("https://{{host}}/{{kind}}/top"))),
		change("feeds below a more literal endpoint", v1(feed("https://{{host}}/films/{{id}}")),
			v1(feed("https://{{host}}/films/{{id}}"), formPost("https://{{host}}/{{kind}}/top/{{n}}"))),
		change("a tie goes to the endpoint in front", v1(feed(feeds+"/{{a}}")), v1(formPost(feeds+"/{{b}}"), feed(feeds+"/{{a}}"))),
		change("a tie that stays", v1(feed(feeds+"/{{a}}")), v1(feed(feeds+"/{{a}}"), formPost(feeds+"/{{b}}"))),
		change("a tie that the order decides", v1(feed(feeds+"/{{a}}"), formPost(feeds+"/{{b}}")),
			v1(formPost(feeds+"/{{b}}"), feed(feeds+"/{{a}}"))),
		change("feeds of a removed endpoint", v1(feed(feeds), formPost(media)), v1(feed(feeds))),
		change("what the endpoint itself does too", v1(feed(feeds)), v1(formPost(feeds), formPost(media))),
		change("a new version that takes feeds over", v1(feed(feeds)),
			append(v1(feed(feeds)), signpost.Version{Name: "v2", Manifest: signpost.NewManifest(formPost(media))})),

		change("an absolute URL below one with {{host}}", v1(feed(feeds)),
			v1(feed(feeds), requiring("https://feeds.example.com/v1/feeds/media", "a"))),
		change("a tie between versions", append([]signpost.Version{{Name: "v2"}}, v1(feed(feeds))...),
			append([]signpost.Version{{Name: "v2", Manifest: signpost.NewManifest(requiring(feeds, "a"))}}, v1(feed(feeds))...)),
		change("a tie that the first version keeps", v1(feed(feeds)),
			append(v1(feed(feeds)), signpost.Version{Name: "v2", Manifest: signpost.NewManifest(requiring(feeds, "a"))})),
		change("case of scheme and host", v1(keyed("https://a.Example/V1", "a"), feed("https://b.example/")),
			v1(keyed("HTTPS://A.example/V1", "a"), feed("https://b.example/"))),
		change("case of a path", v1(feed("https://a.example/V1")), v1(feed("https://a.example/v1"))),

		change("changes by version, then old endpoints, then new ones",
			[]signpost.Version{version("v2", "c=1", "b=1", "a=1"), version("v1", "x=1"), version("v3")},
			[]signpost.Version{version("v0"), version("v1", "x=2", "w=1"), version("v2", "d=2", "a=2", "c=2")}),

		changed("nothing", func(*signpost.Endpoint) {}),
		changed("name", func(e *signpost.Endpoint) { e.Name = "All feeds" }),
		changed("method", func(e *signpost.Endpoint) { e.Method = "post" }),
		changed("mime type", func(e *signpost.Endpoint) { e.MIMEType = signpost.MIMEFeed }),
		changed("parameter of a mime type", func(e *signpost.Endpoint) { e.MIMEType += "; charset=utf-8" }),
		changed("case of a mime type", func(e *signpost.Endpoint) { e.MIMEType = "Application/JSON" }),

		changed("required key added", func(e *signpost.Endpoint) {
			e.ContextObj = append(e.ContextObj, signpost.ContextItem{Key: "age", Type: "ctx", Required: true})
		}),
		changed("key made required", func(e *signpost.Endpoint) { e.ContextObj[1].Required = true }),
		changed("optional key added", func(e *signpost.Endpoint) {
			e.ContextObj = append(e.ContextObj, signpost.ContextItem{Key: "age", Type: "ctx"})
		}),
		changed("key removed", func(e *signpost.Endpoint) { e.ContextObj = e.ContextObj[1:] }),
		changed("key made optional", func(e *signpost.Endpoint) { e.ContextObj[0].Required = false }),
		changed("context type", func(e *signpost.Endpoint) { e.ContextObj[0].Type = "bodyParam" }),
		changed("mapper", func(e *signpost.Endpoint) { e.ContextObj[0].Mapper, e.ContextObj[1].Mapper = "t", "" }),
		changed("mapper that repeats the key", func(e *signpost.Endpoint) { e.ContextObj[0].Mapper, e.ContextObj[1].Mapper = "token", "profile" }),
		changed("order of keys", func(e *signpost.Endpoint) { slices.Reverse(e.ContextObj) }),

		changed("modifier removed", func(e *signpost.Endpoint) { e.Modifiers = e.Modifiers[1:] }),
		changed("modifier added", func(e *signpost.Endpoint) {
			e.Modifiers = append(e.Modifiers, signpost.Boolean(signpost.ModifierInput{ID: "hd", Name: "HD", Key: "hd", Label: "HD only"}))
		}),
		changed("modifier with another id", func(e *signpost.Endpoint) { e.Modifiers[query].ID = "query" }),
		changed("modifier with another id and name", func(e *signpost.Endpoint) { e.Modifiers[released].ID, e.Modifiers[released].Name = "year", "Year" }),
		changed("modifier with another id and key", func(e *signpost.Endpoint) { e.Modifiers[query].ID, param(e, query).Key = "query", "query" }),
		changed("modifier renamed and relabelled", func(e *signpost.Endpoint) {
			e.Modifiers[sort].Name, param(e, sort).UI.Label, param(e, sort).UI.Placeholder = "Order", "Order by", ""
		}),
		changed("order of modifiers", func(e *signpost.Endpoint) { slices.Reverse(e.Modifiers) }),

		changed("param key", func(e *signpost.Endpoint) { param(e, query).Key = "query" }),
		changed("key of one param of two", func(e *signpost.Endpoint) { e.Modifiers[released].Params[1].Key = "until" }),
		changed("param removed", func(e *signpost.Endpoint) { e.Modifiers[released].Params = e.Modifiers[released].Params[1:] }),
		changed("param added", func(e *signpost.Endpoint) {
			e.Modifiers[query].Params = append(e.Modifiers[query].Params, e.Modifiers[released].Params[0])
		}),
		changed("order of params", func(e *signpost.Endpoint) { slices.Reverse(e.Modifiers[released].Params) }),

		changed("number becomes text", func(e *signpost.Endpoint) { param(e, limit).Schema = signpost.Schema{Type: "string", Default: "20"} }),
		changed("text becomes select", func(e *signpost.Endpoint) { *param(e, query) = *param(e, sort); param(e, query).Key = "q" }),
		changed("select becomes text", func(e *signpost.Endpoint) { param(e, sort).UI.Options, param(e, sort).Schema.Enum = nil, nil }),
		changed("select becomes boolean", func(e *signpost.Endpoint) {
			param(e, sort).UI.Options, param(e, sort).Schema = nil, signpost.Schema{Type: "boolean"}
		}),

		changed("default changed", func(e *signpost.Endpoint) { param(e, limit).Schema.Default = 50 }),
		changed("default written in another form", func(e *signpost.Endpoint) { param(e, limit).Schema.Default = json.Number("20.0") }),
		changed("default of another Go type", func(e *signpost.Endpoint) { param(e, limit).Schema.Default = json.Number("20") }),
		changed("default removed, and one that is empty added", func(e *signpost.Endpoint) {
			param(e, limit).Schema.Default, param(e, query).Schema.Default = nil, ""
		}),

		changed("option removed", func(e *signpost.Endpoint) {
			param(e, sort).UI.Options, param(e, sort).Schema.Enum = param(e, sort).UI.Options[1:], []string{"title"}
		}),
		changed("option added", func(e *signpost.Endpoint) {
			p := param(e, sort)
			p.UI.Options, p.Schema.Enum = append(p.UI.Options, signpost.Option{Value: "rating", Label: "Rating"}), append(p.Schema.Enum, "rating")
		}),
		changed("option relabelled", func(e *signpost.Endpoint) { param(e, sort).UI.Options[0].Label = "New" }),
		changed("order of options", func(e *signpost.Endpoint) {
			slices.Reverse(param(e, sort).UI.Options)
			slices.Reverse(param(e, sort).Schema.Enum)
		}),
		changed("enum removed", func(e *signpost.Endpoint) { param(e, sort).Schema.Enum = nil }),
		changed("labels removed", func(e *signpost.Endpoint) { param(e, sort).UI.Options = nil }),
		changed("lists that are empty or not there", func(e *signpost.Endpoint) {
			param(e, query).UI.Options, param(e, query).Schema.Enum = []signpost.Option{}, []string{}
		}),
	}
}

func TestDiff(t *testing.T) {
	var out strings.Builder
	for _, test := range diffCases() {
		fmt.Fprintf(&out, "# %s\n%s\n", test.name, report(t, diffVersions(test.old, test.new)))
	}
	testkit.Golden(t, filepath.Join("testdata", "changes.golden"), out.String())
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
	if err := enc.Encode(value); err != nil {
		t.Fatal(err)
	}
	return strings.TrimSuffix(out.String(), "\n")
}

// Every rule has a case.
func TestDiffRules(t *testing.T) {
	var changes []diff.Change
	for _, test := range diffCases() {
		changes = append(changes, diffVersions(test.old, test.new)...)
	}
	for _, test := range serviceCases() {
		changes = append(changes, test.changes()...)
	}
	for rule, level := range diff.Rules() {
		if !slices.ContainsFunc(changes, func(c diff.Change) bool { return c.Rule == rule && c.Level == level }) {
			t.Errorf("no case has a %s change of rule %s", level, rule)
		}
	}
}

func TestDiffJSON(t *testing.T) {
	changes := diffVersions(v1(feed("https://a.example/?a&b")), v1(named("https://a.example/?a&b", "<b>")))
	const want = `[{"rule":"name-changed","level":"notable","version":"v1","endpoint":"https://a.example/?a&b",` +
		`"message":"name changed from \"Feed\" to \"<b>\"","old":"Feed","new":"<b>","fingerprint":"b4d01d4d7e0e"}]`
	if got := jsonOf(t, changes); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	if got := jsonOf(t, diffVersions(nil, nil)); got != "[]" {
		t.Errorf("no changes: %s", got)
	}
}

// Modifying the returned changes must not modify the manifests (independence rule of the spec).
func TestDiffCopies(t *testing.T) {
	for _, test := range diffCases() {
		before := jsonOf(t, []any{test.old, test.new})
		changes := diffVersions(test.old, test.new)
		for i := range changes {
			for _, value := range []any{changes[i].Old, changes[i].New} {
				overwrite(reflect.ValueOf(value))
			}
		}
		if diff := cmp.Diff(before, jsonOf(t, []any{test.old, test.new})); diff != "" {
			t.Errorf("%s: scribbling on the changes shows (-before +after):\n%s", test.name, diff)
		}
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
