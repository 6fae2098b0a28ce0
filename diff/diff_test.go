package diff_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"signpost"
	"signpost/diff"
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

// diffCase is a change to a service, and the expected changes as "rule: message: old: new", with old and new as JSON.
type diffCase struct {
	name     string
	old, new []signpost.Version
	want     []string
}

// changed is a case in which one endpoint changes. The initial endpoint sets every field.
func changed(name string, change func(*signpost.Endpoint), want ...string) diffCase {
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
	return diffCase{name, v1(old), v1(new), want}
}

// change is a case in which the endpoints of a manifest change.
func change(name string, old, new []signpost.Version, want ...string) diffCase {
	return diffCase{name, old, new, want}
}

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

func diffCases() []diffCase {
	const (
		feeds   = "https://{{host}}/v1/feeds"
		media   = feeds + "/media"
		feedDoc = `{"name":"Feed","method":"get","mime_type":"application/json","context_obj":[]}`
		formDoc = `{"name":"Feed","method":"post","mime_type":"application/x-www-form-urlencoded","context_obj":[]}`
	)
	settings := func(url, doc string) string { return strings.Replace(doc, `"name":"Feed"`, `"endpoint":"`+url+`"`, 1) }
	contextDoc := func(required bool, keys ...string) string {
		var items []string
		for _, key := range keys {
			items = append(items, fmt.Sprintf(`{"key":%q,"type":"ctx","required":%v}`, key, required))
		}
		return strings.Replace(feedDoc, "[]", "["+strings.Join(items, ",")+"]", 1)
	}
	const limit, query, sort, released = 1, 0, 2, 3
	param := func(e *signpost.Endpoint, modifier int) *signpost.Param { return &e.Modifiers[modifier].Params[0] }
	return []diffCase{
		change("version removed", append(v1(), signpost.Version{Name: "v2", Manifest: signpost.NewManifest(feed(feeds))}), v1(),
			`version-removed: version removed, with all of its endpoints: {"endpoints":{"`+feeds+`":`+feedDoc+`}}: null`),
		change("version added", nil, v1(), `version-added: version added: null: {"endpoints":{}}`),
		change("order of versions", []signpost.Version{{Name: "v1"}, {Name: "v2"}}, []signpost.Version{{Name: "v2"}, {Name: "v1"}}),
		change("version renamed", []signpost.Version{{Name: "v1"}}, []signpost.Version{{Name: "v2"}},
			`version-removed: version removed, with all of its endpoints: {"endpoints":{}}: null`,
			`version-added: version added: null: {"endpoints":{}}`),

		change("endpoint removed", v1(feed(feeds)), v1(), `endpoint-removed: endpoint "Feed" removed: `+feedDoc+`: null`),
		change("endpoint moved", v1(feed(feeds)), v1(feed(feeds+"s")),
			`endpoint-removed: endpoint "Feed" removed; perhaps moved to "`+feeds+`s", which has the same name: `+feedDoc+`: null`,
			`endpoint-added: endpoint "Feed" added: null: `+feedDoc),
		change("endpoint moved, who knows where", v1(feed(feeds)), v1(feed(feeds+"a"), feed(feeds+"b")),
			`endpoint-removed: endpoint "Feed" removed: `+feedDoc+`: null`,
			`endpoint-added: endpoint "Feed" added: null: `+feedDoc,
			`endpoint-added: endpoint "Feed" added: null: `+feedDoc),
		change("endpoint added", v1(), v1(feed(feeds)), `endpoint-added: endpoint "Feed" added: null: `+feedDoc),
		change("order of endpoints", v1(feed(feeds), feed(media)), v1(feed(media), feed(feeds)),
			`order-changed: endpoints are in another order: ["`+feeds+`","`+media+`"]: ["`+media+`","`+feeds+`"]`),

		change("overlap that loses keys", v1(keyed(feeds, "a", "b")), v1(keyed(feeds, "a", "b"), keyed(media, "b")),
			`endpoint-added: endpoint "Feed" added: null: `+strings.Replace(feedDoc, "[]", `[{"key":"b","type":"ctx","required":false}]`, 1),
			`context-shadowed: takes feeds over from "`+feeds+`"; lost context keys: "a": {"endpoint":"`+feeds+`","lost_keys":["a"]}: null`),
		change("overlap by a placeholder", v1(keyed("https://{{host}}/{{kind}}", "a")),
			v1(keyed("https://{{host}}/{{kind}}", "a"), feed("https://{{host}}/films/{{id}}")),
			`endpoint-added: endpoint "Feed" added: null: `+feedDoc,
			`context-shadowed: takes feeds over from "https://{{host}}/{{kind}}"; lost context keys: "a": {"endpoint":"https://{{host}}/{{kind}}","lost_keys":["a"]}: null`),
		change("overlap that keeps the keys", v1(feed(feeds)), v1(feed(feeds), feed(media)), `endpoint-added: endpoint "Feed" added: null: `+feedDoc),
		change("overlap with keys that are new too", v1(feed(feeds)), v1(keyed(feeds, "a"), feed(media)),
			`context-added: context key "a" added, optional: null: {"key":"a","type":"ctx","required":false}`,
			`endpoint-added: endpoint "Feed" added: null: `+feedDoc),
		change("overlap with keys that are gone anyway", v1(keyed(feeds, "a")), v1(feed(feeds), feed(media)),
			`context-removed: context key "a" removed: {"key":"a","type":"ctx","required":false}: null`,
			`endpoint-added: endpoint "Feed" added: null: `+feedDoc),
		change("overlap below an endpoint that did not have the keys either", v1(keyed(feeds, "a"), feed(media)), v1(keyed(feeds, "a"), feed(media+"/hd")),
			`endpoint-removed: endpoint "Feed" removed; perhaps moved to "`+media+`/hd", which has the same name: `+feedDoc+`: null`,
			`endpoint-added: endpoint "Feed" added: null: `+feedDoc),

		change("feeds get another method and type", v1(feed(feeds)), v1(feed(feeds), formPost(media)),
			`endpoint-added: endpoint "Feed" added: null: `+formDoc,
			`feeds-taken-over: takes feeds over from "`+feeds+`": method "post" instead of "get"; mime_type "application/x-www-form-urlencoded" instead of "application/json": `+
				settings(feeds, feedDoc)+": "+settings(media, formDoc)),
		change("feeds need a required key", v1(keyed(feeds, "a", "b")), v1(keyed(feeds, "a", "b"), requiring(media, "a", "b", "c")),
			`endpoint-added: endpoint "Feed" added: null: `+contextDoc(true, "a", "b", "c"),
			`feeds-taken-over: takes feeds over from "`+feeds+`": context key "a" is required; context key "b" is required; context key "c" is required: `+
				settings(feeds, contextDoc(false, "a", "b"))+": "+settings(media, contextDoc(true, "a", "b", "c"))),
		change("feeds send a key in another way", v1(keyed(feeds, "a")), v1(keyed(feeds, "a"), inBody(media, "a", "alias")),
			`endpoint-added: endpoint "Feed" added: null: `+strings.Replace(feedDoc, "[]", `[{"key":"a","type":"bodyParam","required":false,"mapper":"alias"}]`, 1),
			`feeds-taken-over: takes feeds over from "`+feeds+`": context key "a" is sent as bodyParam instead of ctx; context key "a" is sent under the name "alias" instead of "a": `+
				settings(feeds, contextDoc(false, "a"))+": "+settings(media, strings.Replace(feedDoc, "[]", `[{"key":"a","type":"bodyParam","required":false,"mapper":"alias"}]`, 1))),
		change("feeds inside a segment", v1(feed(media)), v1(feed(media), formPost(media+"-archive")),
			`endpoint-added: endpoint "Feed" added: null: `+formDoc,
			`feeds-taken-over: takes feeds over from "`+media+`": method "post" instead of "get"; mime_type "application/x-www-form-urlencoded" instead of "application/json": `+
				settings(media, feedDoc)+": "+settings(media+"-archive", formDoc)),
		change("feeds of endpoints beside a placeholder", v1(feed(feeds+"/top"), feed(feeds+"/new"), feed("https://{{host}}/v2/top")),
			v1(feed(feeds+"/top"), feed(feeds+"/new"), feed("https://{{host}}/v2/top"), formPost(feeds+"/{{id}}")),
			`endpoint-added: endpoint "Feed" added: null: `+formDoc,
			`feeds-taken-over: takes feeds over from "`+feeds+`/top" and 1 other endpoint, such as "`+feeds+`/top…": method "post" instead of "get"; mime_type "application/x-www-form-urlencoded" instead of "application/json": `+
				settings(feeds+"/top", feedDoc)+": "+settings(feeds+"/{{id}}", formDoc)),
		change("feeds of a more literal endpoint", v1(feed("https://{{host}}/films/{{id}}")), v1(feed("https://{{host}}/films/{{id}}"), formPost("https://{{host}}/{{kind}}/top")),
			`endpoint-added: endpoint "Feed" added: null: `+formDoc),
		change("feeds below a more literal endpoint", v1(feed("https://{{host}}/films/{{id}}")), v1(feed("https://{{host}}/films/{{id}}"), formPost("https://{{host}}/{{kind}}/top/{{n}}")),
			`endpoint-added: endpoint "Feed" added: null: `+formDoc,
			`feeds-taken-over: takes feeds over from "https://{{host}}/films/{{id}}", such as "https://{{host}}/films/top/…": method "post" instead of "get"; mime_type "application/x-www-form-urlencoded" instead of "application/json": `+
				settings("https://{{host}}/films/{{id}}", feedDoc)+": "+settings("https://{{host}}/{{kind}}/top/{{n}}", formDoc)),
		change("a tie goes to the endpoint in front", v1(feed(feeds+"/{{a}}")), v1(formPost(feeds+"/{{b}}"), feed(feeds+"/{{a}}")),
			`endpoint-added: endpoint "Feed" added: null: `+formDoc,
			`feeds-taken-over: takes feeds over from "`+feeds+`/{{a}}": method "post" instead of "get"; mime_type "application/x-www-form-urlencoded" instead of "application/json": `+
				settings(feeds+"/{{a}}", feedDoc)+": "+settings(feeds+"/{{b}}", formDoc)),
		change("a tie that stays", v1(feed(feeds+"/{{a}}")), v1(feed(feeds+"/{{a}}"), formPost(feeds+"/{{b}}")),
			`endpoint-added: endpoint "Feed" added: null: `+formDoc),
		change("a tie that the order decides", v1(feed(feeds+"/{{a}}"), formPost(feeds+"/{{b}}")), v1(formPost(feeds+"/{{b}}"), feed(feeds+"/{{a}}")),
			`feeds-taken-over: takes feeds over from "`+feeds+`/{{a}}": method "post" instead of "get"; mime_type "application/x-www-form-urlencoded" instead of "application/json": `+
				settings(feeds+"/{{a}}", feedDoc)+": "+settings(feeds+"/{{b}}", formDoc),
			`order-changed: endpoints are in another order: ["`+feeds+`/{{a}}","`+feeds+`/{{b}}"]: ["`+feeds+`/{{b}}","`+feeds+`/{{a}}"]`),
		change("feeds of a removed endpoint", v1(feed(feeds), formPost(media)), v1(feed(feeds)),
			`endpoint-removed: endpoint "Feed" removed: `+formDoc+`: null`),
		change("what the endpoint itself does too", v1(feed(feeds)), v1(formPost(feeds), formPost(media)),
			`method-changed: method changed from "get" to "post": "get": "post"`,
			`mime-type-changed: mime_type changed from "application/json" to "application/x-www-form-urlencoded": "application/json": "application/x-www-form-urlencoded"`,
			`endpoint-added: endpoint "Feed" added: null: `+formDoc),
		change("a new version that takes feeds over", v1(feed(feeds)), append(v1(feed(feeds)), signpost.Version{Name: "v2", Manifest: signpost.NewManifest(formPost(media))}),
			`version-added: version added: null: {"endpoints":{"`+media+`":`+formDoc+`}}`,
			`feeds-taken-over: takes feeds over from "`+feeds+`" (v1): method "post" instead of "get"; mime_type "application/x-www-form-urlencoded" instead of "application/json": `+
				settings(feeds, feedDoc)+": "+settings(media, formDoc)),

		change("an absolute URL below one with {{host}}", v1(feed(feeds)), v1(feed(feeds), requiring("https://feeds.example.com/v1/feeds/media", "a")),
			`endpoint-added: endpoint "Feed" added: null: `+contextDoc(true, "a"),
			`feeds-taken-over: takes feeds over from "`+feeds+`", on feeds.example.com: context key "a" is required: `+
				settings(feeds, feedDoc)+": "+settings("https://feeds.example.com/v1/feeds/media", contextDoc(true, "a"))),
		change("a tie between versions", append([]signpost.Version{{Name: "v2"}}, v1(feed(feeds))...),
			append([]signpost.Version{{Name: "v2", Manifest: signpost.NewManifest(requiring(feeds, "a"))}}, v1(feed(feeds))...),
			`endpoint-added: endpoint "Feed" added: null: `+contextDoc(true, "a"),
			`feeds-taken-over: takes feeds over from "`+feeds+`" (v1): context key "a" is required: `+settings(feeds, feedDoc)+": "+settings(feeds, contextDoc(true, "a"))),
		change("case of scheme and host", v1(keyed("https://a.Example/V1", "a"), feed("https://b.example/")), v1(keyed("HTTPS://A.example/V1", "a"), feed("https://b.example/")),
			`url-changed: URL changed to "HTTPS://A.example/V1", which is the same to clients: "https://a.Example/V1": "HTTPS://A.example/V1"`),
		change("case of a path", v1(feed("https://a.example/V1")), v1(feed("https://a.example/v1")),
			`endpoint-removed: endpoint "Feed" removed; perhaps moved to "https://a.example/v1", which has the same name: `+feedDoc+`: null`,
			`endpoint-added: endpoint "Feed" added: null: `+feedDoc),

		changed("nothing", func(*signpost.Endpoint) {}),
		changed("name", func(e *signpost.Endpoint) { e.Name = "All feeds" }, `name-changed: name changed from "Feeds" to "All feeds": "Feeds": "All feeds"`),
		changed("method", func(e *signpost.Endpoint) { e.Method = "post" }, `method-changed: method changed from "get" to "post": "get": "post"`),
		changed("mime type", func(e *signpost.Endpoint) { e.MIMEType = signpost.MIMEFeed },
			`mime-type-changed: mime_type changed from "application/json" to "application/vnd+vendor.feed+json": "application/json": "application/vnd+vendor.feed+json"`),

		changed("required key added", func(e *signpost.Endpoint) {
			e.ContextObj = append(e.ContextObj, signpost.ContextItem{Key: "age", Type: "ctx", Required: true})
		}, `context-required: context key "age" added, and required: null: {"key":"age","type":"ctx","required":true}`),
		changed("key made required", func(e *signpost.Endpoint) { e.ContextObj[1].Required = true },
			`context-required: context key "profile" is now required: {"key":"profile","type":"ctx","required":false,"mapper":"user"}: {"key":"profile","type":"ctx","required":true,"mapper":"user"}`),
		changed("optional key added", func(e *signpost.Endpoint) {
			e.ContextObj = append(e.ContextObj, signpost.ContextItem{Key: "age", Type: "ctx"})
		}, `context-added: context key "age" added, optional: null: {"key":"age","type":"ctx","required":false}`),
		changed("key removed", func(e *signpost.Endpoint) { e.ContextObj = e.ContextObj[1:] },
			`context-removed: context key "token" removed: {"key":"token","type":"ctx","required":true}: null`),
		changed("key made optional", func(e *signpost.Endpoint) { e.ContextObj[0].Required = false },
			`context-removed: context key "token" is no longer required: {"key":"token","type":"ctx","required":true}: {"key":"token","type":"ctx","required":false}`),
		changed("context type", func(e *signpost.Endpoint) { e.ContextObj[0].Type = "bodyParam" },
			`context-type-changed: context key "token": type changed from "ctx" to "bodyParam": "ctx": "bodyParam"`),
		changed("mapper", func(e *signpost.Endpoint) { e.ContextObj[0].Mapper, e.ContextObj[1].Mapper = "t", "" },
			`context-mapper-changed: context key "token": mapper "t" added: null: "t"`,
			`context-mapper-changed: context key "profile": mapper "user" removed: "user": null`),
		changed("order of keys", func(e *signpost.Endpoint) { slices.Reverse(e.ContextObj) },
			`order-changed: context keys are in another order: ["token","profile"]: ["profile","token"]`),

		changed("modifier removed", func(e *signpost.Endpoint) { e.Modifiers = e.Modifiers[1:] },
			`modifier-removed: modifier "q" removed: {"id":"q","name":"Query","params":[{"key":"q","ui":{"label":"Search for"},"schema":{"type":"string"}}]}: null`),
		changed("modifier added", func(e *signpost.Endpoint) {
			e.Modifiers = append(e.Modifiers, signpost.Boolean(signpost.ModifierInput{ID: "hd", Name: "HD", Key: "hd", Label: "HD only"}))
		}, `modifier-added: modifier "hd" added: null: {"id":"hd","name":"HD","params":[{"key":"hd","ui":{"label":"HD only"},"schema":{"type":"boolean"}}]}`),
		changed("modifier with another id", func(e *signpost.Endpoint) { e.Modifiers[query].ID = "query" },
			`modifier-removed: modifier "q" renamed to "query": values saved under the old id are lost: `+
				`{"id":"q","name":"Query","params":[{"key":"q","ui":{"label":"Search for"},"schema":{"type":"string"}}]}: `+
				`{"id":"query","name":"Query","params":[{"key":"q","ui":{"label":"Search for"},"schema":{"type":"string"}}]}`),
		changed("modifier with another id and name", func(e *signpost.Endpoint) { e.Modifiers[released].ID, e.Modifiers[released].Name = "year", "Year" },
			`modifier-removed: modifier "released" renamed to "year": values saved under the old id are lost: `+
				`{"id":"released","name":"Year of release","params":[{"key":"from","ui":{"label":"From"},"schema":{"type":"number"}},{"key":"to","ui":{"label":"To"},"schema":{"type":"number"}}]}: `+
				`{"id":"year","name":"Year","params":[{"key":"from","ui":{"label":"From"},"schema":{"type":"number"}},{"key":"to","ui":{"label":"To"},"schema":{"type":"number"}}]}`,
			`modifier-changed: modifier "released": name changed from "Year of release" to "Year": "Year of release": "Year"`),
		changed("modifier with another id and key", func(e *signpost.Endpoint) { e.Modifiers[query].ID, param(e, query).Key = "query", "query" },
			`modifier-removed: modifier "q" removed: {"id":"q","name":"Query","params":[{"key":"q","ui":{"label":"Search for"},"schema":{"type":"string"}}]}: null`,
			`modifier-added: modifier "query" added: null: {"id":"query","name":"Query","params":[{"key":"query","ui":{"label":"Search for"},"schema":{"type":"string"}}]}`),
		changed("modifier renamed and relabelled", func(e *signpost.Endpoint) {
			e.Modifiers[sort].Name, param(e, sort).UI.Label, param(e, sort).UI.Placeholder = "Order", "Order by", ""
		},
			`modifier-changed: modifier "sort": name changed from "Sort order" to "Order": "Sort order": "Order"`,
			`modifier-changed: modifier "sort": label changed from "Sort by" to "Order by": "Sort by": "Order by"`,
			`modifier-changed: modifier "sort": placeholder "choose" removed: "choose": null`),
		changed("order of modifiers", func(e *signpost.Endpoint) { slices.Reverse(e.Modifiers) },
			`modifier-changed: modifiers are in another order: ["q","limit","sort","released"]: ["released","sort","limit","q"]`),

		changed("param key", func(e *signpost.Endpoint) { param(e, query).Key = "query" },
			`param-key-changed: modifier "q": key changed from "q" to "query": "q": "query"`),
		changed("key of one param of two", func(e *signpost.Endpoint) { e.Modifiers[released].Params[1].Key = "until" },
			`param-key-changed: modifier "released", param "to": key changed from "to" to "until": "to": "until"`),
		changed("param removed", func(e *signpost.Endpoint) { e.Modifiers[released].Params = e.Modifiers[released].Params[1:] },
			`param-key-changed: modifier "released": param "from" removed: "from": null`),
		changed("param added", func(e *signpost.Endpoint) {
			e.Modifiers[query].Params = append(e.Modifiers[query].Params, e.Modifiers[released].Params[0])
		}, `modifier-changed: modifier "q": param "from" added: null: "from"`),
		changed("order of params", func(e *signpost.Endpoint) { slices.Reverse(e.Modifiers[released].Params) },
			`modifier-changed: modifier "released": params are in another order: ["from","to"]: ["to","from"]`),

		changed("number becomes text", func(e *signpost.Endpoint) { param(e, limit).Schema = signpost.Schema{Type: "string", Default: "20"} },
			`param-type-changed: modifier "limit": kind changed from number to text: "number": "text"`,
			`default-changed: modifier "limit": default changed from 20 to "20": 20: "20"`),
		changed("text becomes select", func(e *signpost.Endpoint) { *param(e, query) = *param(e, sort); param(e, query).Key = "q" },
			`modifier-changed: modifier "q": label changed from "Search for" to "Sort by": "Search for": "Sort by"`,
			`modifier-changed: modifier "q": placeholder "choose" added: null: "choose"`,
			`param-type-changed: modifier "q": kind changed from text to select: "text": "select"`),
		changed("select becomes text", func(e *signpost.Endpoint) { param(e, sort).UI.Options, param(e, sort).Schema.Enum = nil, nil },
			`modifier-changed: modifier "sort": kind changed from select to text, which takes every value that an option had: "select": "text"`),
		changed("select becomes boolean", func(e *signpost.Endpoint) {
			param(e, sort).UI.Options, param(e, sort).Schema = nil, signpost.Schema{Type: "boolean"}
		}, `param-type-changed: modifier "sort": kind changed from select to boolean: "select": "boolean"`),

		changed("default changed", func(e *signpost.Endpoint) { param(e, limit).Schema.Default = 50 },
			`default-changed: modifier "limit": default changed from 20 to 50: 20: 50`),
		changed("default written in another form", func(e *signpost.Endpoint) { param(e, limit).Schema.Default = json.Number("20.0") },
			`default-changed: modifier "limit": default changed from 20 to 20.0: 20: 20.0`),
		changed("default of another Go type", func(e *signpost.Endpoint) { param(e, limit).Schema.Default = json.Number("20") }),
		changed("default removed, and one that is empty added", func(e *signpost.Endpoint) {
			param(e, limit).Schema.Default, param(e, query).Schema.Default = nil, ""
		},
			`default-changed: modifier "q": default "" added: null: ""`,
			`default-changed: modifier "limit": default 20 removed: 20: null`),

		changed("option removed", func(e *signpost.Endpoint) {
			param(e, sort).UI.Options, param(e, sort).Schema.Enum = param(e, sort).UI.Options[1:], []string{"title"}
		}, `option-removed: modifier "sort": option "newest" removed: {"value":"newest","label":"Newest first"}: null`),
		changed("option added", func(e *signpost.Endpoint) {
			p := param(e, sort)
			p.UI.Options, p.Schema.Enum = append(p.UI.Options, signpost.Option{Value: "rating", Label: "Rating"}), append(p.Schema.Enum, "rating")
		}, `option-added: modifier "sort": option "rating" added: null: {"value":"rating","label":"Rating"}`),
		changed("option relabelled", func(e *signpost.Endpoint) { param(e, sort).UI.Options[0].Label = "New" },
			`modifier-changed: modifier "sort": option "newest": label changed from "Newest first" to "New": "Newest first": "New"`),
		changed("order of options", func(e *signpost.Endpoint) {
			slices.Reverse(param(e, sort).UI.Options)
			slices.Reverse(param(e, sort).Schema.Enum)
		}, `modifier-changed: modifier "sort": options are in another order: ["newest","title"]: ["title","newest"]`),
		changed("enum removed", func(e *signpost.Endpoint) { param(e, sort).Schema.Enum = nil },
			`modifier-changed: modifier "sort": schema.enum changed from ["newest", "title"] to []: ["newest","title"]: null`),
		changed("labels removed", func(e *signpost.Endpoint) { param(e, sort).UI.Options = nil },
			`modifier-changed: modifier "sort": option "newest": label "Newest first" removed: "Newest first": null`,
			`modifier-changed: modifier "sort": option "title": label "Title" removed: "Title": null`),
		changed("lists that are empty or not there", func(e *signpost.Endpoint) {
			param(e, query).UI.Options, param(e, query).Schema.Enum = []signpost.Option{}, []string{}
		}),
	}
}

func TestDiff(t *testing.T) {
	for _, test := range diffCases() {
		t.Run(test.name, func(t *testing.T) {
			var got []string
			for _, c := range diffVersions(test.old, test.new) {
				if c.Level != diff.Rules()[c.Rule] || c.Level == "" {
					t.Errorf("%s has level %q", c.Rule, c.Level)
				}
				got = append(got, fmt.Sprintf("%s: %s: %s: %s", c.Rule, c.Message, jsonOf(t, c.Old), jsonOf(t, c.New)))
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("changes (-want +got):\n%s", diff)
			}
		})
	}
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

// Every rule that change.go names has a level and a case above.
func TestDiffRules(t *testing.T) {
	file, err := parser.ParseFile(token.NewFileSet(), "change.go", nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	var named []string
	ast.Inspect(file, func(n ast.Node) bool {
		spec, ok := n.(*ast.ValueSpec)
		if ok && strings.HasPrefix(spec.Names[0].Name, "Change") && len(spec.Values) == 1 {
			rule, err := strconv.Unquote(spec.Values[0].(*ast.BasicLit).Value)
			if err != nil {
				t.Fatal(err)
			}
			named = append(named, rule)
		}
		return true
	})
	slices.Sort(named)
	if diff := cmp.Diff(slices.Sorted(maps.Keys(diff.Rules())), named); diff != "" {
		t.Errorf("rules with a level, and rules that are named (-level +named):\n%s", diff)
	}
	seen := make(map[string]bool)
	for _, test := range diffCases() {
		for _, c := range diffVersions(test.old, test.new) {
			seen[c.Rule] = true
		}
	}
	for _, test := range serviceCases() {
		for _, c := range diff.Services(test.old, test.new) {
			seen[c.Rule] = true
		}
	}
	for _, c := range diff.Diff(signpost.Service{BasePath: "/"}, signpost.Service{BasePath: "/feeds"}) {
		seen[c.Rule] = true
	}
	for _, rule := range named {
		if !seen[rule] {
			t.Errorf("no case has a change of rule %s", rule)
		}
	}
}

// Changes are ordered by version, then old endpoints, then new ones.
func TestDiffOrder(t *testing.T) {
	version := func(name string, names ...string) signpost.Version {
		m := signpost.Manifest{}
		for _, n := range names {
			url, label, _ := strings.Cut(n, "=")
			e := feed("https://{{host}}/" + url)
			e.Name = label
			m.Endpoints = append(m.Endpoints, e)
		}
		return signpost.Version{Name: name, Manifest: m}
	}
	old := []signpost.Version{version("v2", "c=1", "b=1", "a=1"), version("v1", "x=1"), version("v3")}
	new := []signpost.Version{version("v0"), version("v1", "x=2", "w=1"), version("v2", "d=2", "a=2", "c=2")}
	var got []string
	for _, c := range diffVersions(old, new) {
		got = append(got, c.Rule+" "+c.Version+" "+strings.TrimPrefix(c.Endpoint, "https://{{host}}/"))
	}
	want := []string{
		"name-changed v2 c", "endpoint-removed v2 b", "name-changed v2 a", "endpoint-added v2 d", "order-changed v2 ",
		"name-changed v1 x", "endpoint-added v1 w", "version-removed v3 ", "version-added v0 ",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("changes (-want +got):\n%s", diff)
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

// A mapper that repeats the key renames nothing.
func TestDiffMapperThatRepeatsTheKey(t *testing.T) {
	with := func(mapper string) []signpost.Version {
		e := signpost.Endpoint{URL: "https://{{host}}/v1/feeds", Name: "Feeds", Method: "get", MIMEType: "application/json"}
		e.ContextObj = []signpost.ContextItem{{Key: "profile", Type: "ctx", Mapper: mapper}}
		return []signpost.Version{{Name: "v1", Manifest: signpost.NewManifest(e)}}
	}
	for _, test := range []struct {
		old, new string
		want     diff.Level
	}{
		{"", "profile", diff.Notable},
		{"profile", "", diff.Notable},
		{"user", "profile", diff.Breaking},
		{"profile", "user", diff.Breaking},
	} {
		changes := diffVersions(with(test.old), with(test.new))
		if len(changes) != 1 || changes[0].Rule != diff.ChangeContextMapper || changes[0].Level != test.want {
			t.Errorf("from %q to %q: %v", test.old, test.new, changes)
		}
	}
}

// A media type that differs in letter case or parameters only is the same to apps.
func TestSameMediaType(t *testing.T) {
	for to, want := range map[string]diff.Level{
		"Application/JSON": diff.Notable, "application/json; charset=utf-8": diff.Notable, "application/xml": diff.Breaking,
	} {
		old, new := feed("https://{{host}}/a"), feed("https://{{host}}/a")
		new.MIMEType = to
		if got := diffVersions(v1(old), v1(new)); len(got) != 1 || got[0].Level != want || got[0].Rule != diff.ChangeMIMEType {
			t.Errorf("%s: %+v", to, got)
		}
	}
}
