package signpost_test

import (
	"encoding/json"
	"math"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"signpost"
)

const goodURL = "https://{{host}}/v1/feeds"

// goodEndpoint returns an endpoint with a modifier of every kind, in this order: text, number, boolean, select.
func goodEndpoint() signpost.Endpoint {
	input := func(name string) signpost.ModifierInput {
		return signpost.ModifierInput{ID: name, Name: name, Key: name, Label: name}
	}
	order := input("sort")
	order.Options = []signpost.Option{{Value: "newest", Label: "Newest"}, {Value: "title", Label: "Title"}}
	e := feed(goodURL)
	e.ContextObj = []signpost.ContextItem{{Key: "locale", Type: "ctx"}, {Key: "token", Type: "ctx", Required: true}}
	e.Modifiers = []signpost.Modifier{
		signpost.Text(input("search")), signpost.Number(input("limit")), signpost.Boolean(input("live")), signpost.Select(order),
	}
	return e
}

// Indexes of the modifiers of goodEndpoint.
const text, number, boolean, dropdown = 0, 1, 2, 3

// param edits the param of a modifier.
func param(modifier int, edit func(*signpost.Param)) func(*signpost.Endpoint) {
	return func(e *signpost.Endpoint) { edit(&e.Modifiers[modifier].Params[0]) }
}

func withDefault(modifier int, value any) func(*signpost.Endpoint) {
	return param(modifier, func(p *signpost.Param) { p.Schema.Default = value })
}

func withKey(key string) func(*signpost.Endpoint) {
	return param(number, func(p *signpost.Param) { p.Key = key })
}

// withOption sets the value of the second option, and of its entry in the enum.
func withOption(value string) func(*signpost.Endpoint) {
	return param(dropdown, func(p *signpost.Param) { p.UI.Options[1].Value, p.Schema.Enum[1] = value, value })
}

// validateTests are edits of a valid endpoint, and the findings as "path rule: message (hint)".
var validateTests = []struct {
	edit func(*signpost.Endpoint)
	want []string
}{
	{func(e *signpost.Endpoint) {}, nil},
	{func(e *signpost.Endpoint) { e.Modifiers[number].Params = []signpost.Param{} }, []string{"modifiers[1].params required-field: modifier has no params"}},
	{param(dropdown, func(p *signpost.Param) { p.UI.Options[1].Label = "" }),
		[]string{"modifiers[3].params[0].ui.options[1].label required-field: option has no label (what editors see in the dropdown)"}},
	{param(number, func(p *signpost.Param) { p.Schema.Type = "integer" }),
		[]string{`modifiers[1].params[0].schema.type wrong-type: schema.type "integer" is not "string", "number" or "boolean"`}},

	{func(e *signpost.Endpoint) { e.Method = "put" }, []string{`method method: method "put" is not "get" or "post"`}},
	{func(e *signpost.Endpoint) { e.Method = "POST" }, []string{`method method: method "POST" is not "get" or "post" (write it in lower case: post)`}},

	{func(e *signpost.Endpoint) { e.MIMEType = "json" },
		[]string{`mime_type mime-type: mime_type "json" is not a media type (type/subtype) (the usual one is application/json)`}},
	{func(e *signpost.Endpoint) { e.MIMEType = "application/*" },
		[]string{`mime_type mime-type: mime_type "application/*" is not a media type (type/subtype) (the usual one is application/json)`}},
	{func(e *signpost.Endpoint) { e.MIMEType = "application/json/x" },
		[]string{`mime_type mime-type: mime_type "application/json/x" is not a media type (type/subtype) (the usual one is application/json)`}},
	{func(e *signpost.Endpoint) { e.MIMEType = " application/json" },
		[]string{`mime_type mime-type: mime_type " application/json" is not a media type (type/subtype) (the usual one is application/json)`}},
	{func(e *signpost.Endpoint) { e.MIMEType = "application/json; charset=utf-8" }, nil},
	{func(e *signpost.Endpoint) { e.MIMEType = "application/vnd+vendor.feed+json" }, nil},
	{func(e *signpost.Endpoint) { e.MIMEType = "x-world/feed" }, nil},
	{func(e *signpost.Endpoint) { e.MIMEType = "aplication/json" },
		[]string{`mime_type mime-type: mime_type "aplication/json" begins with "aplication", which is not a media type (did you mean "application/json"?)`}},
	{func(e *signpost.Endpoint) { e.MIMEType = "zzz/json" },
		[]string{`mime_type mime-type: mime_type "zzz/json" begins with "zzz", which is not a media type (the usual one is application/json)`}},

	{func(e *signpost.Endpoint) { e.ContextObj[0].Type = "header" }, []string{`context_obj[0].type context-type: context type "header" is not "ctx" or "bodyParam"`}},
	{func(e *signpost.Endpoint) { e.ContextObj[0].Type = "bodyparam" },
		[]string{`context_obj[0].type context-type: context type "bodyparam" is not "ctx" or "bodyParam" (write bodyParam)`}},
	{func(e *signpost.Endpoint) { e.ContextObj[1].Key = "locale" }, []string{`context_obj[1].key context-duplicate: context key "locale" is declared twice`}},
	{func(e *signpost.Endpoint) { e.ContextObj[1].Mapper = "locale" },
		[]string{`context_obj[1].mapper context-duplicate: context keys "locale" and "token" are both sent as "locale" (one value would overwrite the other: give one of them another mapper)`}},
	{func(e *signpost.Endpoint) { e.ContextObj[0].Mapper = "token" },
		[]string{`context_obj[1].key context-duplicate: context keys "locale" and "token" are both sent as "token" (one value would overwrite the other: give one of them another mapper)`}},
	{func(e *signpost.Endpoint) { e.ContextObj[1].Mapper, e.ContextObj[1].Type = "locale", "bodyParam" }, nil}, // in the body, not in ctx
	{func(e *signpost.Endpoint) { e.ContextObj[0].Mapper = "locale" }, nil},

	{func(e *signpost.Endpoint) { e.Modifiers[number].ID = "search" },
		[]string{`modifiers[1].id modifier-id-duplicate: modifier id "search" is used twice in this endpoint (the studio stores an editor's value under the id: give each its own)`}},
	{withKey("search"), []string{`modifiers[1].params[0].key modifier-key-duplicate: modifier key "search" is used twice in this endpoint (both controls would set the same parameter)`}},
	{func(e *signpost.Endpoint) {
		e.Modifiers[text].Params = append(e.Modifiers[text].Params, e.Modifiers[text].Params[0])
	},
		[]string{`modifiers[0].params[1].key modifier-key-duplicate: modifier key "search" is used twice in this endpoint (both controls would set the same parameter)`}},
	{withKey("?sort"), []string{`modifiers[1].params[0].key modifier-key: modifier key "?sort" is not the name of a query parameter (write the name of the parameter alone, such as sort)`}},
	{withKey("sort by"), []string{`modifiers[1].params[0].key modifier-key: modifier key "sort by" is not the name of a query parameter (write the name of the parameter alone, such as sort)`}},
	{withKey("ctx"), []string{`modifiers[1].params[0].key modifier-key-reserved: modifier key "ctx" is reserved: clients send context keys in that parameter (choose another parameter name)`}},

	{withDefault(number, "20"), []string{`modifiers[1].params[0].schema.default modifier-default: default "20" is not a number (write a number, without quotes)`}},
	{withDefault(text, 20), []string{`modifiers[0].params[0].schema.default modifier-default: default 20 is not a string (put it in quotes)`}},
	{withDefault(boolean, json.Number("1")), []string{`modifiers[2].params[0].schema.default modifier-default: default 1 is not a boolean (write true or false, without quotes)`}},
	{withDefault(number, true), []string{`modifiers[1].params[0].schema.default modifier-default: default true is not a number (write a number, without quotes)`}},
	{withDefault(number, json.Number(".5")), []string{`modifiers[1].params[0].schema.default modifier-default: default .5 is not a number (write a number, without quotes)`}},
	{withDefault(number, json.Number("1e400")), []string{`modifiers[1].params[0].schema.default modifier-default: default 1e400 is not a number (write a number, without quotes)`}},
	{withDefault(number, math.Inf(1)), []string{`modifiers[1].params[0].schema.default modifier-default: default +Inf is not a number (write a number, without quotes)`}},
	{withDefault(number, math.Inf(-1)), []string{`modifiers[1].params[0].schema.default modifier-default: default -Inf is not a number (write a number, without quotes)`}},
	{withDefault(number, []any{1}), []string{`modifiers[1].params[0].schema.default modifier-default: default [1] is not a number (write a number, without quotes)`}},
	{withDefault(dropdown, "newst"), []string{`modifiers[3].params[0].schema.default modifier-default: default "newst" is not one of the options: "newest", "title" (did you mean "newest"?)`}},
	{withDefault(dropdown, ""), []string{`modifiers[3].params[0].schema.default modifier-default: default "" is not one of the options: "newest", "title"`}},
	{param(text, func(p *signpost.Param) { p.Schema.Enum, p.Schema.Default = []string{"a", "b"}, "c" }), // without options
		[]string{`modifiers[0].params[0].schema.default modifier-default: default "c" is not one of the options: "a", "b"`}},
	{withDefault(dropdown, "title"), nil},
	{withDefault(number, 0), nil},

	{param(dropdown, func(p *signpost.Param) { p.UI.Options = []signpost.Option{} }),
		[]string{"modifiers[3].params[0].ui.options select-options: a select has no options (list each value with its label)"}},
	{withOption(""), []string{"modifiers[3].params[0].ui.options[1].value select-options: an option has an empty value (an empty value looks like no choice at all)"}},
	{withOption("newest"), []string{`modifiers[3].params[0].ui.options[1].value select-options: option value "newest" is duplicated`}},
	{param(text, func(p *signpost.Param) { p.Schema.Enum = []string{"a"} }), nil},
	{param(text, func(p *signpost.Param) { p.Schema.Enum = []string{"a", "a"} }),
		[]string{`modifiers[0].params[0].schema.enum[1] select-options: option value "a" is duplicated`}},
	{param(number, func(p *signpost.Param) {
		p.UI.Options, p.Schema.Default = []signpost.Option{{Value: "1", Label: "One"}}, 2
	}),
		[]string{"modifiers[1].params[0].ui.options select-options: a number modifier has options (only select modifiers, whose values are strings, have options)"}},
	{param(boolean, func(p *signpost.Param) { p.Schema.Enum = []string{"true"} }),
		[]string{"modifiers[2].params[0].schema.enum select-options: a boolean modifier has options (only select modifiers, whose values are strings, have options)"}},
	{param(dropdown, func(p *signpost.Param) { p.Schema.Enum = []string{"newest", "oldest"} }),
		[]string{`modifiers[3].params[0].schema.enum enum-mismatch: schema.enum is not the values of ui.options: "newest", "oldest" (make it "newest", "title")`}},
	{param(dropdown, func(p *signpost.Param) { p.Schema.Enum = []string{"title", "newest"} }), nil},
	{param(dropdown, func(p *signpost.Param) { p.Schema.Enum = nil }), nil},

	{func(e *signpost.Endpoint) { // all at once, in order
		*e = signpost.Endpoint{URL: e.URL, ContextObj: []signpost.ContextItem{{}}, Modifiers: []signpost.Modifier{{Params: []signpost.Param{{}}}}}
	}, []string{
		"name required-field: endpoint has no name (the label that editors see in the studio)",
		"method required-field: endpoint has no method (get or post)",
		"mime_type required-field: endpoint has no mime_type (the content type of the response, usually application/json)",
		"context_obj[0].key required-field: context item has no key (the name of a built-in context key, or of one that a plugin supplies)",
		"context_obj[0].type required-field: context item has no type (ctx or bodyParam)",
		"modifiers[0].id required-field: modifier has no id (unique in the endpoint, and never changed: the studio stores an editor's value under it)",
		"modifiers[0].name required-field: modifier has no name (the name that editors see in the studio)",
		"modifiers[0].params[0].key required-field: modifier has no key (the name of the query parameter)",
		"modifiers[0].params[0].ui.label required-field: modifier has no label (a short label for the control)",
		"modifiers[0].params[0].schema.type required-field: modifier schema has no type (string, number or boolean)",
	}},
}

func TestValidate(t *testing.T) {
	for _, test := range validateTests {
		e := goodEndpoint()
		test.edit(&e)
		wantFindings(t, signpost.NewManifest(e).Validate(), test.want)
	}
}

// Findings are in the order of the endpoints, which may use the same ids and keys.
func TestValidateManifest(t *testing.T) {
	other := goodEndpoint()
	other.URL = "https://{{host}}/v1/other"
	m := signpost.NewManifest(named("https://{{host}}/z", ""), named("/m", ""), goodEndpoint(), other, goodEndpoint())
	var got []string
	for _, f := range m.Validate() {
		got = append(got, f.Path.String()+" "+f.Rule)
	}
	want := []string{"https://{{host}}/z.name required-field", "/m url", "/m.name required-field", goodURL + " duplicate-key"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("findings (-want +got):\n%s", diff)
	}
}

const (
	hintAbsolute    = "start it with https://, such as https://{{host}}/v1/feeds"
	hintScheme      = "start it with https://"
	hintPlaceholder = "a placeholder is a name in two pairs of braces, such as {{series_id}}"
	hintSpace       = "write it percent-encoded, such as %20 for a space"
	hintOutside     = "it stands for the hostname alone: https://{{host}}/…"
	hintUserInfo    = "remove everything before the @: every studio and every client would see it"
	hintNoHost      = "put {{host}} or a hostname after ://"
	hintPort        = "a port is a number from 1 to 65535"
	hintFragment    = "remove the # and everything after it: clients do not send it"
	hintDots        = "write the resulting path: clients remove such segments"
	hintAdjacent    = "put some text between them: otherwise the values cannot be told apart"
	hintAuthority   = "write {{host}}, or the hostname itself: nothing else is filled in there"
	hintHost        = `use letters, digits, "-", "_" and "."`
	hintLabel       = "each part between two dots has 1 to 63 characters"
	hintIPv4        = "write four numbers from 0 to 255, such as 192.0.2.1"
	hintIPv6        = "write it like [2001:db8::1], without a zone"
	hintPercent     = "a percent sign itself is written %25"
)

// URL in a message stands for the quoted URL. An empty message means that the URL is valid.
var urlTests = []struct{ url, message, hint string }{
	{"https://{{host}}", "", ""},
	{"https://{{host}}?a=b", "", ""},
	{"https://{{host}}:8443/v1/feeds", "", ""},
	{"https://{{host}}:65535/a", "", ""},
	{"https://cdn.{{host}}/a", "", ""},
	{"https://{{host}}.{{host}}/a", "", ""},
	{"https://{{host}}/series/{{series_id}}/episodes", "", ""},
	{"https://{{host}}/{{a}}-{{b}}?c={{d}}&e=%20", "", ""},
	{"https://{{tenant}}.example.com/a", `URL has {{tenant}} in its host`, hintAuthority},
	{"https://{{region}}.{{host}}/a", `URL has {{region}} in its host`, hintAuthority},
	{"https://api.example.com/v1/feeds", "", ""},
	{"HTTPS://API.example.com/V1", "", ""},
	{"https://[2001:db8::1]/a", "", ""},
	{"https://bücher.example/übersicht", "", ""},
	{"https://api.example.com/user@example.com", "", ""}, // an @ in the path is not user info
	{"https://api.example.com/a:b://c", "", ""},

	{"", `URL is not absolute`, hintAbsolute},
	{"/v1/feeds", `URL is not absolute`, hintAbsolute},
	{"https:/api.example.com/a", `URL is not absolute`, hintAbsolute},

	{"ftp://api.example.com/a", `URL has scheme "ftp"`, hintScheme},
	{"://api.example.com/a", `URL has scheme ""`, hintScheme},

	{"https://", `URL has no host`, hintNoHost},
	{"https://:443/v1/feeds", `URL has no host`, hintNoHost},

	{"https://user:secret@{{host}}/a", `URL has user info before its host`, hintUserInfo},

	{"https://api.example.com/{{host}}", `URL has {{host}} outside the host`, hintOutside},
	{"https://api.example.com:{{host}}/a", `URL has {{host}} outside the host`, hintOutside},

	{"https://{{ host }}/a", `URL has a malformed placeholder: "{{ host }}"`, "write {{host}}"},
	{"https://{{host}}/{{}}", `URL has a malformed placeholder: "{"`, hintPlaceholder},
	{"https://{{host}}/{{{id}}}", `URL has a malformed placeholder: "{"`, hintPlaceholder},
	{"https://{{host}}/{{id}}}", `URL has a malformed placeholder: "}"`, hintPlaceholder},
	{"https://{{host}}/{{a/b}}", `URL has a malformed placeholder: "{{a/b}}"`, hintPlaceholder},
	{"https://{{Host}}/a", `URL has a malformed placeholder: "{{Host}}"`, "write {{host}}"},
	{"https://{{host}}/{{a}}/{id}", `URL has a malformed placeholder: "{id}"`, "write {{id}}"},
	{"https://{{host}}/{{id", `URL has a malformed placeholder: "{"`, hintPlaceholder},
	{"https://{{host}}/{{a\u00a0b}}", `URL has a malformed placeholder: "{{a\u00a0b}}"`, hintPlaceholder},

	{"https://{{host}}/a b", `URL has white space in it`, hintSpace},
	{"https://{{host}}/a ", `URL has white space around it`, "remove the space at its beginning or end"},
	{"https://{{host}}/a\u00a0b", `URL has white space in it`, hintSpace},

	{"https://{{host}}:0/a", `URL has port "0"`, hintPort},
	{"https://{{host}}:65536/a", `URL has port "65536"`, hintPort},
	{"https://{{host}}:-1/a", `URL has port "-1"`, hintPort},
	{"https://{{host}}:{{port}}/a", `URL has port "{{port}}"`, hintPort},
	{"https://{{host}}:/a", `URL has port ""`, hintPort},

	{`https://{{host}}\a`, `URL: host "{{host}}\\a" contains '\\'`, hintHost},
	{`https://api.example.com\@{{host}}/a`, `URL has user info before its host`, hintUserInfo},
	{"https://a..b/c", `URL: host "a..b" has nothing between two dots`, hintLabel},
	{"https://*.example.com/a", `URL: host "*.example.com" contains '*'`, hintHost},
	{"https://2001:db8::1/a", `URL: host "2001:db8:" has too many colons`, "an IPv6 address goes in brackets, such as [::1]"},
	{"https://[{{host}}]/a", `URL: host "[{{host}}]" is not an IPv6 address in brackets`, hintIPv6},

	// The rules for the hosts of requests apply to URLs as well.
	{"https://300.1.1.1/a", `URL: host "300.1.1.1" is not an IPv4 address`, hintIPv4},
	{"https://{{host}}.1/a", `URL: host "{{host}}.1" is not an IPv4 address`, hintIPv4},
	{"https://192.0.2.1/a", "", ""},
	{"https://Feeds.Example.com./a", "", ""},

	{"https://{{host}}/%zz", `URL has a percent sign without two hexadecimal digits`, hintPercent},
	{"https://{{host}}/%{{id}}", `URL has a percent sign without two hexadecimal digits`, hintPercent},
	{"https://{{host}}/%25%20%c3%A9", "", ""},

	{"https://{{host}}/live#now", `URL has a fragment`, hintFragment},
	{"https://{{host}}/a/../b", `URL has the path segment ".."`, hintDots},
	{"https://{{host}}/a/%2E%2e/b", `URL has the path segment "%2E%2e"`, hintDots},
	{"https://{{host}}/a../.b/...?c=/../d", "", ""},
	{"https://{{host}}/{{a}}{{b}}", `URL has two placeholders side by side`, hintAdjacent},
	{"https://{{host}}/{{a}}-{{b}}", "", ""},
	{"https://{{host}}" + strings.Repeat("/{{a}}", 8), "", ""},
	{"https://{{host}}" + strings.Repeat("/{{a}}", 9), `URL has more than 8 placeholders`, "shorten it"},
	{"https://{{host}}/{{a}}-{{b}}-{{c}}/{{d}}", "", ""},
	{"https://{{host}}/{{a}}-{{b}}-{{c}}-{{d}}", `URL has more than 3 placeholders in one segment`, "shorten it"},
	{"https://{{host}}/games/<game_id>/plays", "", ""},
	{"https://{{host}}/games/<game id", `URL has white space in it`, hintSpace},
}

func TestValidateURL(t *testing.T) {
	for _, test := range urlTests {
		var want []string
		if test.message != "" {
			want = []string{"url: " + strings.Replace(test.message, "URL", "URL "+strconv.Quote(test.url), 1) + " (" + test.hint + ")"}
		}
		wantFindings(t, signpost.NewManifest(feed(test.url)).Validate(), want)
	}
}

func TestValidateFeature(t *testing.T) {
	for _, f := range append(signpost.BuiltIn(), signpost.Feature{Name: "kids"}) {
		wantFindings(t, f.Validate(), nil)
	}
	f := signpost.Feature{ContextObj: []signpost.ContextItem{{Key: "a", Type: "ctx"}, {Key: "a", Type: "ctx"}}}
	wantFindings(t, f.Validate(), []string{"name required-field: feature has no name", `context_obj[1].key context-duplicate: context key "a" is declared twice`})
}

func TestValidateModifier(t *testing.T) {
	for _, m := range goodEndpoint().Modifiers {
		wantFindings(t, m.Validate(), nil)
	}
	m := signpost.Select(signpost.ModifierInput{ID: "sort", Name: "Sort", Key: "sort", Label: "Sort", DefaultValue: true})
	wantFindings(t, m.Validate(), []string{
		"params[0].ui.options select-options: a select has no options (list each value with its label)",
		"params[0].schema.default modifier-default: default true is not a string (put it in quotes)",
	})
}

// A finding has the value that certainly fixes it.
func TestReplacement(t *testing.T) {
	for _, test := range []struct {
		edit func(*signpost.Endpoint)
		want any
	}{
		{func(e *signpost.Endpoint) { e.URL = "https://{host}/{id}/${a}/{{ b }}" }, "https://{{host}}/{{id}}/{{a}}/{{b}}"},
		{func(e *signpost.Endpoint) { e.URL = "https://{HOST}/v1/feeds" }, goodURL},
		{func(e *signpost.Endpoint) { e.URL = "https://{host}/other" }, nil}, // another endpoint has that URL
		{func(e *signpost.Endpoint) { e.URL = "{host}/a" }, nil},             // it is not valid either
		{func(e *signpost.Endpoint) { e.Method = "POST" }, "post"},
		{func(e *signpost.Endpoint) { e.Method = "put" }, nil},
		{func(e *signpost.Endpoint) { e.MIMEType = "aplication/json" }, "application/json"},
		{func(e *signpost.Endpoint) { e.ContextObj[0].Type = "CTX" }, "ctx"},
		{withDefault(number, "20"), json.Number("20")},
		{withDefault(number, "many"), nil},
		{withDefault(boolean, "true"), true},
		{withDefault(text, 20), "20"},
		{withDefault(dropdown, "newst"), "newest"},
		{withDefault(dropdown, "random"), nil},
	} {
		e := goodEndpoint()
		test.edit(&e)
		got := signpost.NewManifest(e, feed("https://{{host}}/other")).Validate()
		if len(got) != 1 || got[0].Replacement != test.want {
			t.Errorf("got %+v, want %v", got, test.want)
		}
	}
}

// wantFindings compares findings, all of which must be errors without a file position.
func wantFindings(t *testing.T, findings []signpost.Finding, want []string) {
	t.Helper()
	var got []string
	for _, f := range findings {
		text := f.Path.String()
		if url := f.Path.Endpoint(); strings.Contains(url, ":") || strings.Contains(f.Rule, "url") {
			text = strings.TrimPrefix(strings.TrimPrefix(text, url), ".")
		}
		text = strings.TrimPrefix(text+" "+f.Rule+": "+f.Message, " ")
		if f.Hint != "" {
			text += " (" + f.Hint + ")"
		}
		got = append(got, text)
		if f.Severity != signpost.SeverityError || f.File != "" || f.Line != 0 || f.Column != 0 {
			t.Errorf("not an error without a place: %+v", f)
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("findings (-want +got):\n%s", diff)
	}
}
