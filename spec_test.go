package signpost_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"signpost"
	"signpost/internal/routes"
)

// There is one test for each rule of the specification that can be tested without HTTP. TestSpec1_2 is section 1, rule
// 2; TestSpec2_4_2 is section 2.4, rule 2; TestSpec2_2 is the table of section 2.2. Rules 1.6 and 9.1 and the method
// and path of 4.1 are tested in package server, 5.2 and 5.3 in package contextkeys. The independence rule of 2.5 is in
// independence_test.go.

// Section 1, rule 1.
func TestSpec1_1ManifestMapsResolvedURLsToDescriptors(t *testing.T) {
	m := signpost.NewManifest(
		signpost.Endpoint{URL: "https://{{host}}/v1/feeds", Name: "Collections", Method: "get", MIMEType: "application/json"},
		signpost.Endpoint{URL: "https://{{host}}/v1/search", Name: "Search", Method: "post", MIMEType: "application/x-www-form-urlencoded"},
	)
	wantDocument(t, render(t, "api.example.com", m), `{
		"endpoints": {
			"https://api.example.com/v1/feeds": {
				"name": "Collections", "method": "get", "mime_type": "application/json", "context_obj": []
			},
			"https://api.example.com/v1/search": {
				"name": "Search", "method": "post", "mime_type": "application/x-www-form-urlencoded", "context_obj": []
			}
		}
	}`)
}

// Section 1, rule 2.
func TestSpec1_2HostIsReplacedByTheHostname(t *testing.T) {
	tests := []struct{ url, host, want string }{
		{"https://{{host}}/v1/feeds", "api.example.com", "https://api.example.com/v1/feeds"},
		{"https://{{host}}/v1/feeds", "localhost", "https://localhost/v1/feeds"},
		{"https://{{host}}/v1/feeds", "192.0.2.7", "https://192.0.2.7/v1/feeds"},
		{"https://{{host}}/v1/feeds", "[2001:db8::1]", "https://[2001:db8::1]/v1/feeds"},
		{"https://{{host}}", "api.example.com", "https://api.example.com"},
		{"https://{{host}}:8443/v1/feeds", "api.example.com", "https://api.example.com:8443/v1/feeds"},
		{"https://cdn.{{host}}/v1/feeds", "example.com", "https://cdn.example.com/v1/feeds"},
		{"https://{{host}}.{{host}}/v1/feeds", "a", "https://a.a/v1/feeds"},
	}
	for _, test := range tests {
		m := signpost.NewManifest(feed(test.url))
		if got := urls(t, render(t, test.host, m)); !slices.Equal(got, []string{test.want}) {
			t.Errorf("%s for %s: got %q, want %q", test.url, test.host, got, test.want)
		}
	}
}

// Section 1, rule 2: the hostname carries no port.
func TestSpec1_2HostnameCarriesNoPort(t *testing.T) {
	for _, host := range []string{"api.example.com:443", "[2001:db8::1]:443", "api.example.com:"} {
		if doc, err := compile(t, signpost.NewManifest(feed("https://{{host}}/v1/feeds"))).Render(host); err == nil {
			t.Errorf("Render(%q) gave %s, want it refused", host, doc)
		}
	}
}

// Section 1, rule 3.
func TestSpec1_3URLWithoutHostIsUnchanged(t *testing.T) {
	want := []string{
		"https://partner.example.net/catalog",
		"https://Partner.Example.NET:8443/Catalog/?a=b&c=%20",
		"http://192.0.2.7/legacy/{{series_id}}",
	}
	m := signpost.NewManifest(feed(want[0]), feed(want[1]), feed(want[2]))
	for _, host := range []string{"api.example.com", "other.example.com"} {
		if got := urls(t, render(t, host, m)); !slices.Equal(got, want) {
			t.Errorf("for %s: got %q, want %q", host, got, want)
		}
	}
}

// Section 1, rule 4.
func TestSpec1_4OtherPlaceholdersStay(t *testing.T) {
	tests := []struct{ url, want string }{
		{"https://{{host}}/v1/series/{{series_id}}/episodes", "https://api.example.com/v1/series/{{series_id}}/episodes"},
		{"https://{{host}}/{{a}}/{{b}}-{{a}}", "https://api.example.com/{{a}}/{{b}}-{{a}}"},
		{"https://{{host}}/{{hostname}}/{{host_id}}", "https://api.example.com/{{hostname}}/{{host_id}}"},
		{"https://{{host}}/{{extensions.series-id}}", "https://api.example.com/{{extensions.series-id}}"},
		{"https://partner.example.net/{{id}}", "https://partner.example.net/{{id}}"},
	}
	for _, test := range tests {
		got := render(t, "api.example.com", signpost.NewManifest(feed(test.url)))
		wantDocument(t, got, `{"endpoints": {"`+test.want+`": {
			"name": "Feed", "method": "get", "mime_type": "application/json", "context_obj": []
		}}}`)
	}
}

// Section 1, rule 5.
func TestSpec1_5OnlyKeysOfEnabledFeaturesAppear(t *testing.T) {
	const token, device = "plugin-login-flow.access_token", "signedDeviceInfoToken"
	tests := []struct {
		enabled []signpost.Feature
		present []string
		absent  []string
	}{
		{nil, nil, []string{token, device}},
		{[]signpost.Feature{signpost.Authentication()}, []string{token}, []string{device}},
		{[]signpost.Feature{signpost.GeoRestriction()}, []string{device}, []string{token}},
		{[]signpost.Feature{signpost.Authentication(), signpost.GeoRestriction()}, []string{token, device}, nil},
	}
	for _, test := range tests {
		doc := render(t, "api.example.com", signpost.NewManifest(feed("https://{{host}}/v1/media")), test.enabled...)
		for _, key := range test.present {
			if !strings.Contains(doc, key) {
				t.Errorf("with %v: %s is not there", test.enabled, key)
			}
		}
		for _, key := range test.absent {
			if strings.Contains(doc, key) {
				t.Errorf("with %v: %s is there", test.enabled, key)
			}
		}
	}
}

// Section 2.1.
func TestSpec2_1ManifestHasEndpoints(t *testing.T) {
	wantDocument(t, render(t, "api.example.com", signpost.Manifest{}), `{"endpoints": {}}`)

	var m signpost.Manifest
	if err := json.Unmarshal([]byte(`{}`), &m); err == nil {
		t.Error("a manifest without endpoints was read")
	}
}

// Section 2.2.
func TestSpec2_2DescriptorFields(t *testing.T) {
	m := signpost.NewManifest(signpost.Endpoint{
		URL: "https://{{host}}/v1/feeds", Name: "Collections", Method: "get", MIMEType: "application/vnd+vendor.feed+json",
		ContextObj: []signpost.ContextItem{{Key: "locale", Type: "ctx"}},
		Modifiers:  []signpost.Modifier{signpost.Text(signpost.ModifierInput{ID: "q", Name: "Search", Key: "q", Label: "Find"})},
	})
	wantDocument(t, render(t, "api.example.com", m), `{
		"endpoints": {
			"https://api.example.com/v1/feeds": {
				"name": "Collections",
				"method": "get",
				"mime_type": "application/vnd+vendor.feed+json",
				"context_obj": [{"key": "locale", "type": "ctx", "required": false}],
				"modifiers": [{"id": "q", "name": "Search", "params": [{"key": "q", "ui": {"label": "Find"}, "schema": {"type": "string"}}]}]
			}
		}
	}`)
}

// Section 2.2: the column "Required" and the types.
func TestSpec2_2RequiredFieldsAndValues(t *testing.T) {
	tests := []struct {
		name string
		edit func(*signpost.Endpoint)
		rule string // "" means valid
	}{
		{"no name", func(e *signpost.Endpoint) { e.Name = "" }, signpost.RuleRequiredField},
		{"no method", func(e *signpost.Endpoint) { e.Method = "" }, signpost.RuleRequiredField},
		{"no mime_type", func(e *signpost.Endpoint) { e.MIMEType = "" }, signpost.RuleRequiredField},
		{"get", func(e *signpost.Endpoint) { e.Method = "get" }, ""},
		{"post", func(e *signpost.Endpoint) { e.Method = "post" }, ""},
		{"put", func(e *signpost.Endpoint) { e.Method = "put" }, signpost.RuleMethod},
		{"GET", func(e *signpost.Endpoint) { e.Method = "GET" }, signpost.RuleMethod},
		{"application/json", func(e *signpost.Endpoint) { e.MIMEType = "application/json" }, ""},
		{"feed", func(e *signpost.Endpoint) { e.MIMEType = "application/vnd+vendor.feed+json" }, ""},
		{"form", func(e *signpost.Endpoint) { e.MIMEType = "application/x-www-form-urlencoded" }, ""},
		{"another media type", func(e *signpost.Endpoint) { e.MIMEType = "text/xml; charset=utf-8" }, ""},
		{"not a media type", func(e *signpost.Endpoint) { e.MIMEType = "json" }, signpost.RuleMIMEType},
		{"no context_obj", func(e *signpost.Endpoint) { e.ContextObj = nil }, ""},
		{"no modifiers", func(e *signpost.Endpoint) { e.Modifiers = nil }, ""},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			e := feed("https://{{host}}/v1/feeds")
			test.edit(&e)
			wantCompileRule(t, e, test.rule)
		})
	}
}

// Section 2.3.
func TestSpec2_3ContextItemFields(t *testing.T) {
	e := feed("https://{{host}}/v1/feeds")
	e.Method = signpost.MethodPost
	e.ContextObj = []signpost.ContextItem{
		{Key: "locale", Type: "ctx"},
		{Key: "token", Type: "ctx", Required: true},
		{Key: "profile", Type: "bodyParam", Required: true, Mapper: "user"},
	}
	wantDocument(t, render(t, "api.example.com", signpost.NewManifest(e)), `{
		"endpoints": {
			"https://api.example.com/v1/feeds": {
				"name": "Feed", "method": "post", "mime_type": "application/json",
				"context_obj": [
					{"key": "locale", "type": "ctx", "required": false},
					{"key": "token", "type": "ctx", "required": true},
					{"key": "profile", "type": "bodyParam", "required": true, "mapper": "user"}
				]
			}
		}
	}`)
}

// Section 2.3: the columns "Type" and "Required".
func TestSpec2_3RequiredFieldsAndValues(t *testing.T) {
	tests := []struct {
		name string
		item signpost.ContextItem
		rule string
	}{
		{"ctx", signpost.ContextItem{Key: "a", Type: "ctx"}, ""},
		{"bodyParam", signpost.ContextItem{Key: "a", Type: "bodyParam"}, ""},
		{"no key", signpost.ContextItem{Type: "ctx"}, signpost.RuleRequiredField},
		{"no type", signpost.ContextItem{Key: "a"}, signpost.RuleRequiredField},
		{"another type", signpost.ContextItem{Key: "a", Type: "header"}, signpost.RuleContextType},
		{"another case", signpost.ContextItem{Key: "a", Type: "bodyparam"}, signpost.RuleContextType},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			e := feed("https://{{host}}/v1/feeds")
			e.Method = signpost.MethodPost
			e.ContextObj = []signpost.ContextItem{test.item}
			wantCompileRule(t, e, test.rule)
		})
	}
}

// Section 2.3: the keys of the reference deployment.
func TestSpec2_3KeysOfTheReferenceDeployment(t *testing.T) {
	want := []signpost.ContextItem{{Key: "plugin-login-flow.access_token", Type: "ctx", Required: true}}
	if diff := cmp.Diff(want, signpost.Authentication().ContextObj); diff != "" {
		t.Errorf("authentication (-want +got):\n%s", diff)
	}
	want = []signpost.ContextItem{{Key: "signedDeviceInfoToken", Type: "ctx", Required: false}}
	if diff := cmp.Diff(want, signpost.GeoRestriction().ContextObj); diff != "" {
		t.Errorf("geo-restriction (-want +got):\n%s", diff)
	}
}

// referenceDeployment returns the collection, media and nested endpoint of section 4.2.
func referenceDeployment() signpost.Manifest {
	return signpost.NewManifest(
		feed("https://{{host}}/feeds"),
		feed("https://{{host}}/feeds/media"),
		feed("https://{{host}}/feeds/series/{{series_id}}/episodes"),
	)
}

// Section 2.4, rule 1.
func TestSpec2_4_1DefinitionDeclaresAnEmptyArray(t *testing.T) {
	m := parse(t, `{"endpoints": {"https://{{host}}/v1/feeds": {
		"name": "Feed", "method": "get", "mime_type": "application/json", "context_obj": []
	}}}`)
	wantDocument(t, render(t, "api.example.com", m), `{"endpoints": {"https://api.example.com/v1/feeds": {
		"name": "Feed", "method": "get", "mime_type": "application/json", "context_obj": []
	}}}`)
}

// Section 2.4, rule 2.
func TestSpec2_4_2AuthenticationIsOnMediaOnly(t *testing.T) {
	wantDocument(t, render(t, "api.example.com", referenceDeployment(), signpost.Authentication()), `{
		"endpoints": {
			"https://api.example.com/feeds": {
				"name": "Feed", "method": "get", "mime_type": "application/json", "context_obj": []
			},
			"https://api.example.com/feeds/media": {
				"name": "Feed", "method": "get", "mime_type": "application/json",
				"context_obj": [{"key": "plugin-login-flow.access_token", "type": "ctx", "required": true}]
			},
			"https://api.example.com/feeds/series/{{series_id}}/episodes": {
				"name": "Feed", "method": "get", "mime_type": "application/json", "context_obj": []
			}
		}
	}`)
}

// Section 2.4, rule 2: appended after the declared items, and only if the URL ends in /media.
func TestSpec2_4_2MediaIsTheEndOfTheURL(t *testing.T) {
	declared := signpost.ContextItem{Key: "locale", Type: "ctx"}
	token := signpost.ContextItem{Key: "plugin-login-flow.access_token", Type: "ctx", Required: true}
	tests := []struct {
		url  string
		want []signpost.ContextItem
	}{
		{"https://{{host}}/v1/media", []signpost.ContextItem{declared, token}},
		{"https://{{host}}/v1/media/", []signpost.ContextItem{declared}},
		{"https://{{host}}/v1/media/42", []signpost.ContextItem{declared}},
		{"https://{{host}}/v1/media?page=2", []signpost.ContextItem{declared}},
		{"https://{{host}}/v1/multimedia", []signpost.ContextItem{declared}},
		{"https://{{host}}/v1/feeds", []signpost.ContextItem{declared}},
	}
	for _, test := range tests {
		e := feed(test.url)
		e.ContextObj = []signpost.ContextItem{declared}
		got := compile(t, signpost.NewManifest(e), signpost.Authentication()).Manifest().Endpoints[0].ContextObj
		if diff := cmp.Diff(test.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", test.url, diff)
		}
	}
}

// Section 2.4, rule 2: the media endpoint need not exist.
func TestSpec2_4_2AuthenticationWithoutMedia(t *testing.T) {
	m := signpost.NewManifest(feed("https://{{host}}/v1/feeds"))
	if got, want := render(t, "a", m, signpost.Authentication()), render(t, "a", m); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

// Section 2.4, rule 3.
func TestSpec2_4_3GeoRestrictionIsOnEveryEndpoint(t *testing.T) {
	wantDocument(t, render(t, "api.example.com", referenceDeployment(), signpost.GeoRestriction()), `{
		"endpoints": {
			"https://api.example.com/feeds": {
				"name": "Feed", "method": "get", "mime_type": "application/json",
				"context_obj": [{"key": "signedDeviceInfoToken", "type": "ctx", "required": false}]
			},
			"https://api.example.com/feeds/media": {
				"name": "Feed", "method": "get", "mime_type": "application/json",
				"context_obj": [{"key": "signedDeviceInfoToken", "type": "ctx", "required": false}]
			},
			"https://api.example.com/feeds/series/{{series_id}}/episodes": {
				"name": "Feed", "method": "get", "mime_type": "application/json",
				"context_obj": [{"key": "signedDeviceInfoToken", "type": "ctx", "required": false}]
			}
		}
	}`)
}

// Section 2.4, rule 4.
func TestSpec2_4_4NoFeaturesNoItems(t *testing.T) {
	for _, e := range compile(t, referenceDeployment()).Manifest().Endpoints {
		if len(e.ContextObj) > 0 {
			t.Errorf("%s has context items: %v", e.URL, e.ContextObj)
		}
	}
}

// Section 2.5: the two tables of fields, and the four kinds.
func TestSpec2_5ModifierKinds(t *testing.T) {
	tests := []struct {
		kind  string
		build func(signpost.ModifierInput) signpost.Modifier
		in    signpost.ModifierInput
		want  string
	}{
		{"text", signpost.Text, signpost.ModifierInput{
			ID: "search", Name: "Search", Key: "q", Label: "Find", DefaultValue: "news", Placeholder: "a title",
		}, `{"id": "search", "name": "Search", "params": [{
			"key": "q", "ui": {"label": "Find", "placeholder": "a title"}, "schema": {"type": "string", "default": "news"}
		}]}`},
		{"number", signpost.Number, signpost.ModifierInput{
			ID: "limit", Name: "Page size", Key: "limit", Label: "Limit", DefaultValue: 20, Placeholder: "1 to 100",
		}, `{"id": "limit", "name": "Page size", "params": [{
			"key": "limit", "ui": {"label": "Limit", "placeholder": "1 to 100"}, "schema": {"type": "number", "default": 20}
		}]}`},
		{"boolean", signpost.Boolean, signpost.ModifierInput{
			ID: "live", Name: "Live only", Key: "live", Label: "Live", DefaultValue: true,
		}, `{"id": "live", "name": "Live only", "params": [{
			"key": "live", "ui": {"label": "Live"}, "schema": {"type": "boolean", "default": true}
		}]}`},
		{"select", signpost.Select, signpost.ModifierInput{
			ID: "sort", Name: "Sort order", Key: "sort", Label: "Sort by", DefaultValue: "title", Placeholder: "choose",
			Options: []signpost.Option{{Value: "newest", Label: "Newest first"}, {Value: "title", Label: "Title"}},
		}, `{"id": "sort", "name": "Sort order", "params": [{
			"key": "sort",
			"ui": {"label": "Sort by", "placeholder": "choose", "options": [
				{"value": "newest", "label": "Newest first"}, {"value": "title", "label": "Title"}
			]},
			"schema": {"type": "string", "default": "title", "enum": ["newest", "title"]}
		}]}`},
		{"without what is optional", signpost.Number, signpost.ModifierInput{
			ID: "page", Name: "Page", Key: "page", Label: "Page",
		}, `{"id": "page", "name": "Page", "params": [{"key": "page", "ui": {"label": "Page"}, "schema": {"type": "number"}}]}`},
	}
	for _, test := range tests {
		t.Run(test.kind, func(t *testing.T) {
			e := feed("https://{{host}}/v1/feeds")
			e.Modifiers = []signpost.Modifier{test.build(test.in)}
			wantDocument(t, render(t, "api.example.com", signpost.NewManifest(e)), `{"endpoints": {"https://api.example.com/v1/feeds": {
				"name": "Feed", "method": "get", "mime_type": "application/json", "context_obj": [], "modifiers": [`+test.want+`]
			}}}`)
		})
	}
}

// Section 2.5: the column "Required".
func TestSpec2_5RequiredFields(t *testing.T) {
	tests := []struct {
		name string
		edit func(*signpost.Modifier)
	}{
		{"id", func(m *signpost.Modifier) { m.ID = "" }},
		{"name", func(m *signpost.Modifier) { m.Name = "" }},
		{"params", func(m *signpost.Modifier) { m.Params = nil }},
		{"key", func(m *signpost.Modifier) { m.Params[0].Key = "" }},
		{"ui.label", func(m *signpost.Modifier) { m.Params[0].UI.Label = "" }},
		{"schema.type", func(m *signpost.Modifier) { m.Params[0].Schema.Type = "" }},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			e := feed("https://{{host}}/v1/feeds")
			e.Modifiers = []signpost.Modifier{signpost.Text(signpost.ModifierInput{ID: "q", Name: "Search", Key: "q", Label: "Find"})}
			wantCompileRule(t, e, "")
			test.edit(&e.Modifiers[0])
			wantCompileRule(t, e, signpost.RuleRequiredField)
		})
	}
}

// Section 2.5: options are required for a select.
func TestSpec2_5SelectNeedsOptions(t *testing.T) {
	e := feed("https://{{host}}/v1/feeds")
	e.Modifiers = []signpost.Modifier{signpost.Select(signpost.ModifierInput{ID: "sort", Name: "Sort", Key: "sort", Label: "Sort"})}
	wantCompileRule(t, e, signpost.RuleSelectOptions)
}

// Section 2.5: an endpoint without modifiers has no such field.
func TestSpec2_5ModifiersAreOmittedWhenThereAreNone(t *testing.T) {
	for _, none := range [][]signpost.Modifier{nil, {}} {
		e := feed("https://{{host}}/v1/feeds")
		e.Modifiers = none
		if doc := render(t, "api.example.com", signpost.NewManifest(e)); strings.Contains(doc, "modifiers") {
			t.Errorf("%#v gave %s", none, doc)
		}
	}
}

// Section 4.1, rules 1 and 2.
func TestSpec4_1_2HostIsReplacedInEveryURL(t *testing.T) {
	got := urls(t, render(t, "api.example.com", referenceDeployment()))
	want := []string{
		"https://api.example.com/feeds",
		"https://api.example.com/feeds/media",
		"https://api.example.com/feeds/series/{{series_id}}/episodes",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("URLs (-want +got):\n%s", diff)
	}
}

// Section 4.1, rule 3.
func TestSpec4_1_3ContextItemsAreInTheResponse(t *testing.T) {
	m := signpost.NewManifest(feed("https://{{host}}/v1/media"))
	wantDocument(t, render(t, "api.example.com", m, signpost.GeoRestriction(), signpost.Authentication()), `{
		"endpoints": {
			"https://api.example.com/v1/media": {
				"name": "Feed", "method": "get", "mime_type": "application/json",
				"context_obj": [
					{"key": "plugin-login-flow.access_token", "type": "ctx", "required": true},
					{"key": "signedDeviceInfoToken", "type": "ctx", "required": false}
				]
			}
		}
	}`)
}

// Section 4.1, rule 4.
func TestSpec4_1_4EveryCallGivesTheSame(t *testing.T) {
	first := compile(t, referenceDeployment(), signpost.Authentication())
	want, err := first.Render("api.example.com")
	if err != nil {
		t.Fatal(err)
	}
	for range 20 { // enough to notice random map order
		again := compile(t, referenceDeployment(), signpost.Authentication())
		for _, template := range []*signpost.Template{first, again} {
			if _, err := template.Render("other.example.com"); err != nil { // another request in between
				t.Fatal(err)
			}
			got, err := template.Render("api.example.com")
			if err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(got, want) {
				t.Fatalf("got %s, want %s", got, want)
			}
		}
	}
}

// Section 4.2.
func TestSpec4_2ShapesOfDescribedEndpoints(t *testing.T) {
	if findings := referenceDeployment().Validate(); len(findings) > 0 {
		t.Errorf("findings: %v", findings)
	}
}

// Section 9, rule 2.
func TestSpec9_2ManifestsOfVersionsAreSeparate(t *testing.T) {
	v1 := compile(t, signpost.NewManifest(feed("https://{{host}}/v1/feeds")))
	v2 := compile(t, signpost.NewManifest(feed("https://{{host}}/v2/feeds"), feed("https://{{host}}/v2/live")))
	for template, want := range map[*signpost.Template][]string{
		v1: {"https://api.example.com/v1/feeds"},
		v2: {"https://api.example.com/v2/feeds", "https://api.example.com/v2/live"},
	} {
		doc, err := template.Render("api.example.com")
		if err != nil {
			t.Fatal(err)
		}
		if got := urls(t, string(doc)); !slices.Equal(got, want) {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

// Section 9, rule 3.
func TestSpec9_3OnlyURLsOfTheVersion(t *testing.T) {
	declared := map[string]bool{"v1": true, "v2": true}
	if got := routes.OtherVersion(signpost.CutURL("https://{{host}}/v1/feeds"), "v1", declared); got != "" {
		t.Errorf("the URL of v1 is foreign to v1: %q", got)
	}
	if got := routes.OtherVersion(signpost.CutURL("https://{{host}}/v2/feeds"), "v1", declared); got != "v2" {
		t.Errorf("got %q for a URL of v2 in v1, want v2", got)
	}
}

// Section 9, rule 4.
func TestSpec9_4EveryVersionResolvesTheHostTheSameWay(t *testing.T) {
	for _, version := range []string{"v1", "v2", "v10"} {
		got := urls(t, render(t, "api.example.com", signpost.NewManifest(feed("https://{{host}}/"+version+"/feeds"))))
		if want := "https://api.example.com/" + version + "/feeds"; !slices.Equal(got, []string{want}) {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

// feed returns a valid endpoint with only the required fields.
func feed(url string) signpost.Endpoint {
	return signpost.Endpoint{URL: url, Name: "Feed", Method: signpost.MethodGet, MIMEType: signpost.MIMEJSON}
}

// parse reads a manifest from JSON.
func parse(t testing.TB, doc string) signpost.Manifest {
	t.Helper()
	var m signpost.Manifest
	if err := json.Unmarshal([]byte(doc), &m); err != nil {
		t.Fatal(err)
	}
	return m
}

func compile(t testing.TB, m signpost.Manifest, features ...signpost.Feature) *signpost.Template {
	t.Helper()
	template, err := signpost.Compile(m, features...)
	if err != nil {
		t.Fatal(err)
	}
	return template
}

func render(t testing.TB, host string, m signpost.Manifest, features ...signpost.Feature) string {
	t.Helper()
	doc, err := compile(t, m, features...).Render(host)
	if err != nil {
		t.Fatal(err)
	}
	wantNoDuplicateKeys(t, doc)
	return string(doc)
}

// wantDocument compares a rendered manifest byte by byte with JSON that is indented for readability.
func wantDocument(t testing.TB, got, want string) {
	t.Helper()
	var oneLine bytes.Buffer
	if err := json.Compact(&oneLine, []byte(want)); err != nil {
		t.Fatalf("the wanted document is not JSON: %v\n%s", err, want)
	}
	oneLine.WriteByte('\n')
	if got != oneLine.String() {
		t.Errorf("document:\n got %s\nwant %s", got, &oneLine)
	}
}

// wantCompileRule checks that compiling the endpoint gives exactly one finding of the rule, or none if rule is "".
func wantCompileRule(t testing.TB, e signpost.Endpoint, rule string) {
	t.Helper()
	_, err := signpost.Compile(signpost.NewManifest(e))
	var invalid *signpost.InvalidError
	switch {
	case rule == "" && err == nil:
	case !errors.As(err, &invalid):
		t.Errorf("got error %v, want the rule %q", err, rule)
	case len(invalid.Findings) != 1 || invalid.Findings[0].Rule != rule:
		t.Errorf("got %v, want one finding of the rule %q", err, rule)
	}
}

// urls returns the keys of a rendered manifest's endpoints, in order.
func urls(t testing.TB, doc string) []string {
	t.Helper()
	var out []string
	for _, e := range parse(t, doc).Endpoints {
		out = append(out, e.URL)
	}
	return out
}
