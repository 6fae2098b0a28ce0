package signpost_test

import (
	"encoding/json"
	"go/ast"
	"go/parser"
	"go/token"
	"math"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"signpost"
)

// said is a finding as the user sees it. Paths of endpoint findings start after the URL.
type said struct{ rule, path, message, hint string }

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

const (
	hintString  = "put it in quotes"
	hintNumber  = "write a number, without quotes"
	hintBoolean = "write true or false, without quotes"
)

// Indexes of the modifiers of goodEndpoint.
const text, number, boolean, dropdown = 0, 1, 2, 3

var validateTests = []struct {
	name string
	edit func(*signpost.Endpoint)
	want []said
}{
	{"nothing wrong", func(e *signpost.Endpoint) {}, nil},

	// duplicate-key is in TestValidateDuplicateURL, url in TestValidateURL.

	{"no params", func(e *signpost.Endpoint) { e.Modifiers[number].Params = []signpost.Param{} },
		[]said{missing("modifiers[1].params", "modifier has no params")}},
	{"no option label", func(e *signpost.Endpoint) { e.Modifiers[dropdown].Params[0].UI.Options[1].Label = "" },
		[]said{missing("modifiers[3].params[0].ui.options[1].label", "option has no label")}},

	{"schema type unknown", func(e *signpost.Endpoint) { e.Modifiers[number].Params[0].Schema.Type = "integer" },
		[]said{{signpost.RuleWrongType, "modifiers[1].params[0].schema.type",
			`schema.type "integer" is not "string", "number" or "boolean"`, ""}}},

	{"method unknown", func(e *signpost.Endpoint) { e.Method = "put" },
		[]said{{signpost.RuleMethod, "method", `method "put" is not "get" or "post"`, ""}}},
	{"method in capitals", func(e *signpost.Endpoint) { e.Method = "POST" },
		[]said{{signpost.RuleMethod, "method", `method "POST" is not "get" or "post"`, "write it in lower case: post"}}},

	{"media type", func(e *signpost.Endpoint) { e.MIMEType = "json" },
		[]said{{signpost.RuleMIMEType, "mime_type", `mime_type "json" is not a media type (type/subtype)`,
			"the usual one is application/json"}}},
	{"media type with a parameter", func(e *signpost.Endpoint) { e.MIMEType = "application/json; charset=utf-8" }, nil},

	{"context type unknown", func(e *signpost.Endpoint) { e.ContextObj[0].Type = "header" },
		[]said{{signpost.RuleContextType, "context_obj[0].type", `context type "header" is not "ctx" or "bodyParam"`, ""}}},

	{"context type in another case", func(e *signpost.Endpoint) { e.ContextObj[0].Type = "bodyparam" },
		[]said{{signpost.RuleContextType, "context_obj[0].type", `context type "bodyparam" is not "ctx" or "bodyParam"`, "write bodyParam"}}},

	{"context key twice", func(e *signpost.Endpoint) { e.ContextObj[1].Key = "locale" },
		[]said{{signpost.RuleContextDuplicate, "context_obj[1].key", `context key "locale" is declared twice`, ""}}},
	{"a mapper that is another key", func(e *signpost.Endpoint) { e.ContextObj[1].Mapper = "locale" },
		[]said{{signpost.RuleContextDuplicate, "context_obj[1].mapper", `context keys "locale" and "token" are both sent as "locale"`,
			"one value would overwrite the other: give one of them another mapper"}}},
	{"a key that is another mapper", func(e *signpost.Endpoint) { e.ContextObj[0].Mapper = "token" },
		[]said{{signpost.RuleContextDuplicate, "context_obj[1].key", `context keys "locale" and "token" are both sent as "token"`,
			"one value would overwrite the other: give one of them another mapper"}}},
	{"the same name in ctx and in the body", func(e *signpost.Endpoint) {
		e.ContextObj[1].Mapper, e.ContextObj[1].Type = "locale", "bodyParam"
	}, nil},
	{"a mapper that is the key itself", func(e *signpost.Endpoint) { e.ContextObj[0].Mapper = "locale" }, nil},

	{"modifier id twice", func(e *signpost.Endpoint) { e.Modifiers[number].ID = "search" },
		[]said{{signpost.RuleModifierIDDuplicate, "modifiers[1].id", `modifier id "search" is used twice in this endpoint`,
			"the studio stores an editor's value under the id: give each its own"}}},

	{"modifier key twice", func(e *signpost.Endpoint) { e.Modifiers[number].Params[0].Key = "search" },
		[]said{{signpost.RuleModifierKeyDuplicate, "modifiers[1].params[0].key", `modifier key "search" is used twice in this endpoint`,
			"both controls would set the same parameter"}}},
	{"modifier key twice in one modifier", func(e *signpost.Endpoint) {
		e.Modifiers[text].Params = append(e.Modifiers[text].Params, e.Modifiers[text].Params[0])
	}, []said{{signpost.RuleModifierKeyDuplicate, "modifiers[0].params[1].key", `modifier key "search" is used twice in this endpoint`,
		"both controls would set the same parameter"}}},

	{"a key with a question mark", func(e *signpost.Endpoint) { e.Modifiers[number].Params[0].Key = "?sort" },
		[]said{{signpost.RuleModifierKey, "modifiers[1].params[0].key", `modifier key "?sort" is not the name of a query parameter`, "write the name of the parameter alone: sort"}}},
	{"a key with a space", func(e *signpost.Endpoint) { e.Modifiers[number].Params[0].Key = "sort by" },
		[]said{{signpost.RuleModifierKey, "modifiers[1].params[0].key", `modifier key "sort by" is not the name of a query parameter`, "write the name of the parameter alone, such as sort"}}},
	{"a key with a value", func(e *signpost.Endpoint) { e.Modifiers[number].Params[0].Key = "sort=" },
		[]said{{signpost.RuleModifierKey, "modifiers[1].params[0].key", `modifier key "sort=" is not the name of a query parameter`, "write the name of the parameter alone: sort"}}},
	{"a misspelt media type", func(e *signpost.Endpoint) { e.MIMEType = "aplication/json" },
		[]said{{signpost.RuleMIMEType, "mime_type", `mime_type "aplication/json" begins with "aplication", which is not a media type`, `did you mean "application/json"?`}}},
	{"a private media type", func(e *signpost.Endpoint) { e.MIMEType = "x-world/feed" }, nil},
	{"modifier key reserved", func(e *signpost.Endpoint) { e.Modifiers[number].Params[0].Key = "ctx" },
		[]said{{signpost.RuleModifierKeyReserved, "modifiers[1].params[0].key",
			`modifier key "ctx" is reserved: clients send context keys in that parameter`, "choose another parameter name"}}},

	{"default is text for a number", setDefault(number, "20"), []said{badDefault(1, `default "20" is not a number`, hintNumber)}},
	{"default is a number for text", setDefault(text, 20), []said{badDefault(0, `default 20 is not a string`, hintString)}},
	{"default is a number for a boolean", setDefault(boolean, json.Number("1")), []said{badDefault(2, `default 1 is not a boolean`, hintBoolean)}},
	{"default is a boolean for a number", setDefault(number, true), []said{badDefault(1, `default true is not a number`, hintNumber)}},
	{"default is a number, but not in JSON", setDefault(number, json.Number(".5")), []said{badDefault(1, `default .5 is not a number`, hintNumber)}},
	{"default is too large", setDefault(number, json.Number("1e400")), []said{badDefault(1, `default 1e400 is not a number`, hintNumber)}},
	{"default is not finite", setDefault(number, math.Inf(1)), []said{badDefault(1, `default +Inf is not a number`, hintNumber)}},
	{"default is a list", setDefault(number, []any{1}), []said{badDefault(1, `default [1] is not a number`, hintNumber)}},
	{"default is not an option", setDefault(dropdown, "random"),
		[]said{badDefault(3, `default "random" is not one of the options: "newest", "title"`, "")}},
	{"default is almost an option", setDefault(dropdown, "newst"),
		[]said{badDefault(3, `default "newst" is not one of the options: "newest", "title"`, `did you mean "newest"?`)}},
	{"default is empty and not an option", setDefault(dropdown, ""),
		[]said{badDefault(3, `default "" is not one of the options: "newest", "title"`, "")}},
	{"default is not in an enum without options", func(e *signpost.Endpoint) {
		e.Modifiers[text].Params[0].Schema.Enum = []string{"a", "b"}
		e.Modifiers[text].Params[0].Schema.Default = "c"
	}, []said{badDefault(0, `default "c" is not one of the options: "a", "b"`, "")}},
	{"default is an option", setDefault(dropdown, "title"), nil},
	{"default is 0", setDefault(number, 0), nil},

	{"no options", func(e *signpost.Endpoint) { e.Modifiers[dropdown].Params[0].UI.Options = []signpost.Option{} },
		[]said{{signpost.RuleSelectOptions, "modifiers[3].params[0].ui.options", "a select has no options", "list each value with its label"}}},
	{"an empty option", func(e *signpost.Endpoint) { setOption(e, 1, "") },
		[]said{{signpost.RuleSelectOptions, "modifiers[3].params[0].ui.options[1].value", "an option has an empty value",
			"an empty value looks like no choice at all"}}},
	{"an option twice", func(e *signpost.Endpoint) { setOption(e, 1, "newest") },
		[]said{{signpost.RuleSelectOptions, "modifiers[3].params[0].ui.options[1].value", `option value "newest" is duplicated`, ""}}},
	{"options on a number", func(e *signpost.Endpoint) {
		e.Modifiers[number].Params[0].UI.Options = []signpost.Option{{Value: "1", Label: "One"}}
	}, []said{{signpost.RuleSelectOptions, "modifiers[1].params[0].ui.options", "a number modifier has options",
		"only select modifiers, whose values are strings, have options"}}},
	{"an enum on a boolean", func(e *signpost.Endpoint) { e.Modifiers[boolean].Params[0].Schema.Enum = []string{"true"} },
		[]said{{signpost.RuleSelectOptions, "modifiers[2].params[0].schema.enum", "a boolean modifier has options",
			"only select modifiers, whose values are strings, have options"}}},
	{"options and a default on a number", func(e *signpost.Endpoint) {
		e.Modifiers[number].Params[0].UI.Options = []signpost.Option{{Value: "1", Label: "One"}}
		e.Modifiers[number].Params[0].Schema.Default = 2
	}, []said{{signpost.RuleSelectOptions, "modifiers[1].params[0].ui.options", "a number modifier has options",
		"only select modifiers, whose values are strings, have options"}}},

	{"enum has another value", func(e *signpost.Endpoint) {
		e.Modifiers[dropdown].Params[0].Schema.Enum = []string{"newest", "oldest"}
	}, []said{{signpost.RuleEnumMismatch, "modifiers[3].params[0].schema.enum",
		`schema.enum is not the values of ui.options: "newest", "oldest"`, `make it "newest", "title"`}}},
	{"enum in another order", func(e *signpost.Endpoint) {
		e.Modifiers[dropdown].Params[0].Schema.Enum = []string{"title", "newest"}
	}, nil},
	{"options without an enum", func(e *signpost.Endpoint) { e.Modifiers[dropdown].Params[0].Schema.Enum = nil }, nil},

	{"everything at once, in order", func(e *signpost.Endpoint) {
		e.Name, e.Method, e.MIMEType = "", "GET", ""
		e.ContextObj[0].Type = "header"
		e.Modifiers[text].ID = ""
		e.Modifiers[number].Params[0].Key = "ctx"
		e.Modifiers[number].Params[0].Schema.Default = "many"
	}, []said{
		missing("name", "endpoint has no name"),
		{signpost.RuleMethod, "method", `method "GET" is not "get" or "post"`, "write it in lower case: get"},
		missing("mime_type", "endpoint has no mime_type"),
		{signpost.RuleContextType, "context_obj[0].type", `context type "header" is not "ctx" or "bodyParam"`, ""},
		missing("modifiers[0].id", "modifier has no id"),
		{signpost.RuleModifierKeyReserved, "modifiers[1].params[0].key",
			`modifier key "ctx" is reserved: clients send context keys in that parameter`, "choose another parameter name"},
		badDefault(1, `default "many" is not a number`, hintNumber),
	}},
	{"nothing there", func(e *signpost.Endpoint) {
		*e = signpost.Endpoint{
			URL: e.URL, ContextObj: []signpost.ContextItem{{}},
			Modifiers: []signpost.Modifier{{Params: []signpost.Param{{}}}},
		}
	}, []said{
		missing("name", "endpoint has no name"),
		missing("method", "endpoint has no method"),
		missing("mime_type", "endpoint has no mime_type"),
		missing("context_obj[0].key", "context item has no key"),
		missing("context_obj[0].type", "context item has no type"),
		missing("modifiers[0].id", "modifier has no id"),
		missing("modifiers[0].name", "modifier has no name"),
		missing("modifiers[0].params[0].key", "modifier has no key"),
		missing("modifiers[0].params[0].ui.label", "modifier has no label"),
		missing("modifiers[0].params[0].schema.type", "modifier schema has no type"),
	}},
}

// missing returns the finding for a missing required field, including its hint.
func missing(path, message string) said {
	return said{signpost.RuleRequiredField, path, message, map[string]string{
		"endpoint has no name":        "the label that editors see in the studio",
		"endpoint has no method":      "get or post",
		"endpoint has no mime_type":   "the content type of the response, usually application/json",
		"context item has no key":     "the name of a built-in context key, or of one that a plugin supplies",
		"context item has no type":    "ctx or bodyParam",
		"modifier has no id":          "unique in the endpoint, and never changed: the studio stores an editor's value under it",
		"modifier has no name":        "the name that editors see in the studio",
		"modifier has no key":         "the name of the query parameter",
		"modifier has no label":       "a short label for the control",
		"modifier schema has no type": "string, number or boolean",
		"option has no label":         "what editors see in the dropdown",
	}[message]}
}

func setDefault(modifier int, value any) func(*signpost.Endpoint) {
	return func(e *signpost.Endpoint) { e.Modifiers[modifier].Params[0].Schema.Default = value }
}

// setOption changes the value of an option and of the matching enum entry.
func setOption(e *signpost.Endpoint, option int, value string) {
	p := &e.Modifiers[dropdown].Params[0]
	p.UI.Options[option].Value, p.Schema.Enum[option] = value, value
}

func badDefault(modifier int, message, hint string) said {
	return said{signpost.RuleModifierDefault, "modifiers[" + strconv.Itoa(modifier) + "].params[0].schema.default", message, hint}
}

func TestValidate(t *testing.T) {
	for _, test := range validateTests {
		t.Run(test.name, func(t *testing.T) {
			defer reportPanic(t)
			e := goodEndpoint()
			test.edit(&e)
			wantFindings(t, goodURL, signpost.NewManifest(e).Validate(), test.want)
		})
	}
}

var duplicateURL = said{signpost.RuleDuplicateKey, "", `endpoint "` + goodURL + `" is in the manifest twice`, ""}

func TestValidateDuplicateURL(t *testing.T) {
	again := goodEndpoint()
	again.Name = ""
	m := signpost.NewManifest(goodEndpoint(), feed("https://{{host}}/v1/other"), again)
	wantFindings(t, goodURL, m.Validate(), []said{
		duplicateURL,
		missing("name", "endpoint has no name"),
	})
}

// Endpoints may use the same ids, keys and context keys.
func TestValidateEndpointsAreIndependent(t *testing.T) {
	other := goodEndpoint()
	other.URL = "https://{{host}}/v1/other"
	wantFindings(t, goodURL, signpost.NewManifest(goodEndpoint(), other).Validate(), nil)
}

func TestValidateKeepsTheOrderOfTheEndpoints(t *testing.T) {
	m := signpost.NewManifest(named("https://{{host}}/z", ""), named("https://{{host}}/a", ""), named("/m", ""))
	var got []string
	for _, f := range m.Validate() {
		got = append(got, f.Path.String()+" "+f.Rule)
	}
	want := []string{"https://{{host}}/z.name required-field", "https://{{host}}/a.name required-field", "/m url", "/m.name required-field"}
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
	hintLowerCase   = "write {{host}} in lower case"
)

// URL in a message stands for the quoted URL. An empty message means that the URL is valid.
var urlTests = []struct{ url, message, hint string }{
	{"https://{{host}}/v1/feeds", "", ""},
	{"https://{{host}}", "", ""},
	{"https://{{host}}?a=b", "", ""},
	{"https://{{host}}:8443/v1/feeds", "", ""},
	{"https://{{host}}:1/a", "", ""},
	{"https://{{host}}:65535/a", "", ""},
	{"https://cdn.{{host}}/a", "", ""},
	{"https://{{host}}.{{host}}/a", "", ""},
	{"https://{{host}}/series/{{series_id}}/episodes", "", ""},
	{"https://{{host}}/{{a}}-{{b}}?c={{d}}&e=%20", "", ""},
	{"https://{{tenant}}.example.com/a", `URL has {{tenant}} in its host`, hintAuthority},
	{"https://{{region}}.{{host}}/a", `URL has {{region}} in its host`, hintAuthority},
	{"https://api.example.com/v1/feeds", "", ""},
	{"http://api.example.com/v1/feeds", "", ""},
	{"HTTPS://API.example.com/V1", "", ""},
	{"https://192.0.2.7:8443/a", "", ""},
	{"https://[2001:db8::1]/a", "", ""},
	{"https://bücher.example/übersicht", "", ""},
	{"https://api.example.com/user@example.com", "", ""}, // an @ in the path is not user info
	{"https://api.example.com/a:b://c", "", ""},

	{"", `URL is not absolute`, hintAbsolute},
	{"/v1/feeds", `URL is not absolute`, hintAbsolute},
	{"//{{host}}/v1/feeds", `URL is not absolute`, hintAbsolute},
	{"https:/api.example.com/a", `URL is not absolute`, hintAbsolute},

	{"ftp://api.example.com/a", `URL has scheme "ftp"`, hintScheme},
	{" https://api.example.com/a", `URL has scheme " https"`, hintScheme},
	{"://api.example.com/a", `URL has scheme ""`, hintScheme},

	{"https://", `URL has no host`, hintNoHost},
	{"https:///v1/feeds", `URL has no host`, hintNoHost},
	{"https://:443/v1/feeds", `URL has no host`, hintNoHost},

	{"https://user@api.example.com/a", `URL has user info before its host`, hintUserInfo},
	{"https://user:secret@{{host}}/a", `URL has user info before its host`, hintUserInfo},
	{"https://@api.example.com/a", `URL has user info before its host`, hintUserInfo},

	{"https://api.example.com/{{host}}", `URL has {{host}} outside the host`, hintOutside},
	{"https://api.example.com/a?from={{host}}", `URL has {{host}} outside the host`, hintOutside},
	{"https://api.example.com/a#{{host}}", `URL has {{host}} outside the host`, hintOutside},
	{"https://api.example.com:{{host}}/a", `URL has {{host}} outside the host`, hintOutside},

	{"https://{{ host }}/a", `URL has a malformed placeholder: "{{ host }}"`, "write {{host}}"},
	{"https://{{host}}/{{}}", `URL has a malformed placeholder: "{{}}"`, hintPlaceholder},
	{"https://{{host}}/{{{id}}}", `URL has a malformed placeholder: "{{{id}}"`, hintPlaceholder},
	{"https://{{host}}/{{id}}}", `URL has a malformed placeholder: "{{id}}"`, "write {{id}}"},
	{"https://{{host}}/{{a{{b}}c}}", `URL has a malformed placeholder: "{{a{{b}}"`, hintPlaceholder},
	{"https://{{host}}/{{a/b}}", `URL has a malformed placeholder: "{{a/b}}"`, hintPlaceholder},
	{"https://{{host}}/{{a\"b}}", `URL has a malformed placeholder: "{{a\"b}}"`, hintPlaceholder},
	{"https://{{Host}}/a", `URL has {{Host}}, which is not {{host}}`, hintLowerCase},
	{"https://{{host}}/{id}", `URL has a stray "{"`, "write {{id}}"},
	{"https://{{host}}/id}", `URL has a stray "}"`, hintPlaceholder},
	{"https://{{host}}/{{id", `URL has a placeholder that is not closed: "{{id"`, hintPlaceholder},
	{"https://{{host}}/{{id}", `URL has a placeholder that is not closed: "{{id}"`, "write {{id}}"},

	{"https://{{host}}/a b", `URL has white space in it`, hintSpace},
	{"https://{{host}}/a ", `URL has white space around it`, "remove the space at its beginning or end"},
	{"https://{{host}}/a\tb", `URL has white space in it`, hintSpace},
	{"https://{{host}}/a\n", `URL has white space around it`, "remove the space at its beginning or end"},
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
	{"https://a%2fb/c", `URL: host "a%2fb" contains '%'`, hintHost},
	{"https://2001:db8::1/a", `URL: host "2001:db8:" has too many colons`, "an IPv6 address goes in brackets, such as [::1]"},
	{"https://[192.0.2.7]/a", `URL: host "[192.0.2.7]" is not an IPv6 address in brackets`, hintIPv6},
	{"https://[{{host}}]/a", `URL: host "[{{host}}]" is not an IPv6 address in brackets`, hintIPv6},
	{"https://{{host}}[::1]/a", `URL: host "{{host}}[::1]" has too many colons`, "an IPv6 address goes in brackets, such as [::1]"},
	{"https://[2001:db8::1]./a", `URL: host "[2001:db8::1]." is not an IPv6 address in brackets`, hintIPv6},

	// The rules for the hosts of requests apply to URLs as well.
	{"https://300.1.1.1/a", `URL: host "300.1.1.1" is not an IPv4 address`, hintIPv4},
	{"https://{{host}}.1/a", `URL: host "{{host}}.1" is not an IPv4 address`, hintIPv4},
	{"https://a-.example/a", `URL: host "a-.example" has a hyphen at the beginning or end of "a-"`, "put a letter or a digit there"},
	{"https://" + strings.Repeat("a", 70) + ".example/a", `URL: host "` + strings.Repeat("a", 70) + `.example" has a part of 70 characters`, hintLabel},
	{"https://" + strings.Repeat("ä", 70) + ".example/a", `URL: host "` + strings.Repeat("ä", 70) + `.example" has a part of 76 characters`, hintLabel},
	{"https://" + strings.Repeat("a.", 127) + "a/b", `URL: host "` + strings.Repeat("a.", 127) + `a" has 255 characters`, "at most 253 are allowed"},
	{"https://bücher..example/a", `URL: host "bücher..example" has nothing between two dots`, hintLabel},
	{"https://192.0.2.1/a", "", ""},
	{"https://Feeds.Example.com./a", "", ""},

	{"https://{{host}}/%zz", `URL has a percent sign without two hexadecimal digits`, hintPercent},
	{"https://{{host}}/100%", `URL has a percent sign without two hexadecimal digits`, hintPercent},
	{"https://{{host}}/%{{id}}", `URL has a percent sign without two hexadecimal digits`, hintPercent},
	{"https://{{host}}/a?b=%", `URL has a percent sign without two hexadecimal digits`, hintPercent},
	{"https://{{host}}/%25%20%c3%A9", "", ""},

	{"https://{{host}}/live#now", `URL has a fragment`, hintFragment},
	{"https://{{host}}/a/../b", `URL has the path segment ".."`, hintDots},
	{"https://{{host}}/./b", `URL has the path segment "."`, hintDots},
	{"https://{{host}}/a/%2E%2e/b", `URL has the path segment "%2E%2e"`, hintDots},
	{"https://{{host}}/a../.b/...?c=/../d", "", ""},
	{"https://{{host}}/{{a}}{{b}}", `URL has two placeholders side by side`, hintAdjacent},
	{"https://{{host}}{{host}}/a", `URL has two placeholders side by side`, hintAdjacent},
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
		t.Run(test.url, func(t *testing.T) {
			var want []said
			if test.message != "" {
				message := strings.Replace(test.message, "URL", "URL "+strconv.Quote(test.url), 1)
				want = []said{{signpost.RuleURL, "", message, test.hint}}
			}
			wantFindings(t, test.url, signpost.NewManifest(feed(test.url)).Validate(), want)
		})
	}
}

func TestValidateFeature(t *testing.T) {
	tests := []struct {
		name    string
		feature signpost.Feature
		want    []said
	}{
		{"authentication", signpost.Authentication(), nil},
		{"geo-restriction", signpost.GeoRestriction(), nil},
		{"no items", signpost.Feature{Name: "kids"}, nil},
		{"items", signpost.Feature{Name: "kids", ContextObj: []signpost.ContextItem{{Key: "a", Type: "ctx"}, {Key: "a", Type: "ctx"}, {Type: "x"}}}, []said{
			{signpost.RuleContextDuplicate, "context_obj[1].key", `context key "a" is declared twice`, ""},
			missing("context_obj[2].key", "context item has no key"),
			{signpost.RuleContextType, "context_obj[2].type", `context type "x" is not "ctx" or "bodyParam"`, ""},
		}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) { wantFindings(t, "", test.feature.Validate(), test.want) })
	}
}

func TestValidateModifier(t *testing.T) {
	for _, m := range goodEndpoint().Modifiers {
		wantFindings(t, "", m.Validate(), nil)
	}
	m := signpost.Select(signpost.ModifierInput{Name: "Sort", Key: "ctx", DefaultValue: true})
	wantFindings(t, "", m.Validate(), []said{
		missing("id", "modifier has no id"),
		{signpost.RuleModifierKeyReserved, "params[0].key",
			`modifier key "ctx" is reserved: clients send context keys in that parameter`, "choose another parameter name"},
		missing("params[0].ui.label", "modifier has no label"),
		{signpost.RuleSelectOptions, "params[0].ui.options", "a select has no options", "list each value with its label"},
		{signpost.RuleModifierDefault, "params[0].schema.default", "default true is not a string", hintString},
	})
}

// Every rule of validate.go has a case above.
func TestValidateHasACaseForEveryRule(t *testing.T) {
	covered := map[string]bool{signpost.RuleURL: len(urlTests) > 0, duplicateURL.rule: true}
	for _, test := range validateTests {
		for _, finding := range test.want {
			covered[finding.rule] = true
		}
	}
	file, err := parser.ParseFile(token.NewFileSet(), "validate.go", nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	rules := 0
	ast.Inspect(file, func(n ast.Node) bool {
		spec, ok := n.(*ast.ValueSpec)
		if !ok || !strings.HasPrefix(spec.Names[0].Name, "Rule") {
			return true
		}
		rules++
		rule, err := strconv.Unquote(spec.Values[0].(*ast.BasicLit).Value)
		if err != nil {
			t.Fatal(err)
		}
		if !covered[rule] {
			t.Errorf("%s (%s) has no case", spec.Names[0].Name, rule)
		}
		return true
	})
	if rules == 0 {
		t.Error("validate.go has no rules")
	}
}

// wantFindings compares findings whose paths start with base. All must be errors without a file position.
func wantFindings(t *testing.T, base string, findings []signpost.Finding, want []said) {
	t.Helper()
	var got []said
	for _, f := range findings {
		path := strings.TrimPrefix(strings.TrimPrefix(f.Path.String(), base), ".")
		got = append(got, said{f.Rule, path, f.Message, f.Hint})
		if f.Severity != signpost.SeverityError || f.File != "" || f.Line != 0 || f.Column != 0 {
			t.Errorf("not an error without a place: %+v", f)
		}
	}
	if diff := cmp.Diff(want, got, cmp.AllowUnexported(said{})); diff != "" {
		t.Errorf("findings (-want +got):\n%s", diff)
	}
}

// reportPanic turns a panic into a failed case, so that the run continues.
func reportPanic(t *testing.T) {
	t.Helper()
	if r := recover(); r != nil {
		t.Errorf("panic: %v", r)
	}
}

// A mime_type must be a single type: a range such as application/* does not say what an endpoint returns.
func TestValidateMIMETypeRange(t *testing.T) {
	for mimeType, want := range map[string]int{"application/*": 1, "*/*": 1, "*/json": 1, "application/json/x": 1, " application/json": 1,
		"application/json": 0, "application/json; charset=utf-8": 0, "application/vnd+vendor.feed+json": 0} {
		e := feed(goodURL)
		e.MIMEType = mimeType
		got := signpost.NewManifest(e).Validate()
		if len(got) != want || want > 0 && got[0].Rule != signpost.RuleMIMEType {
			t.Errorf("%q: %v", mimeType, got)
		}
	}
}
