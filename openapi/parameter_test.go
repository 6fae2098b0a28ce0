package openapi_test

import (
	"fmt"
	"strings"
	"testing"

	"signpost/openapi"
)

// TestParameter imports one query parameter. A case has its schema, the modifier without id, name, key and label, and
// the notes. An empty modifier means that there is none.
func TestParameter(t *testing.T) {
	for _, c := range []struct{ schema, modifier, note string }{
		{"{type: string}", "{kind: text}", ""},
		{"{type: integer}", "{kind: number}", ""},
		{"{type: boolean}", "{kind: boolean}", ""},
		{"{type: string, enum: [b_c, a]}", "{kind: select, options: [{value: b_c, label: b_c}, {value: a, label: a}]}", ""},

		// null makes no difference.
		{"{type: [integer, 'null']}", "{kind: number}", ""},
		{"{anyOf: [{type: integer}, {type: 'null'}], default: 20}", "{kind: number, defaultValue: 20}", ""},
		{"{oneOf: [{type: null}, {type: boolean, default: true}]}", "{kind: boolean, defaultValue: true}", ""},
		{"{type: string, enum: [en, null], default: null}", "{kind: select, options: [{value: en, label: en}]}", ""},
		{"{type: 'null'}", "{kind: text}", "its type is not declared"},

		// Nested schemas.
		{"{allOf: [{$ref: '#/components/schemas/Size'}]}", "{kind: number, defaultValue: 20, placeholder: \"5\"}", ""},
		{"{$ref: '#/components/schemas/Size', default: 30}", "{kind: number, defaultValue: 30, placeholder: \"5\"}", ""},
		{"{oneOf: [{const: a, title: Ah}, {const: b, title: Be}]}", "{kind: select, options: [{value: a, label: Ah}, {value: b, label: Be}]}", ""},
		{"{anyOf: [{enum: [a]}, {enum: [b]}]}", "{kind: select, options: [{value: a, label: a}, {value: b, label: b}]}", ""},
		{"{anyOf: [{type: string, enum: [a]}, {type: string}]}", "{kind: text}", ""},
		{"{anyOf: [{type: integer}, {type: string}]}", "{kind: text}", "imported as text: its type is integer or string"},
		{"{anyOf: [{type: string}, {type: array}]}", "{kind: text}", "it also takes several values; the control sets one"},
		{"{$ref: '#/components/schemas/Loop'}", "", "its schema leads back to itself"},
		{"{$ref: '#/components/schemas/Twice'}", "", "its schema leads back to itself"},
		{"{$ref: '#/components/schemas/Gone'}", "", `reference "#/components/schemas/Gone" points to nothing: there is no "Gone"`},
		{"{anyOf: [{$ref: 'gone.yaml'}, {type: string}]}", "", `reference "gone.yaml" leads to a file that cannot be read`},

		// Values.
		{"{type: integer, enum: [1, 2], default: 2}", `{kind: select, defaultValue: "2", options: [{value: "1", label: "1"}, {value: "2", label: "2"}]}`, ""},
		{"{enum: [true, false]}", "{kind: boolean}", ""},
		{"{enum: [yes, no]}", `{kind: select, options: [{value: "yes", label: "Yes"}, {value: "no", label: "no"}]}`, ""},
		{"{enum: [sd, sd, '', {}]}", "{kind: select, options: [{value: sd, label: sd}]}", `value "sd" is left out: options need distinct, non-empty values`},
		{"{enum: ['']}", "", "none of its values can be an option"},
		{"{type: string, enum: []}", "{kind: text}", ""},

		// Defaults.
		{"{type: integer, default: '20'}", "{kind: number, defaultValue: 20}", ""},
		{"{type: integer, default: 12345678901234567890}", "{kind: number, defaultValue: 12345678901234567890}", ""},
		{"{type: number, default: 1e400}", "{kind: number}", `the default "1e400" is left out: it is not a number`},
		{"{type: integer, default: 0x10}", "{kind: number}", `the default "0x10" is left out: it is not a number`},
		{"{type: integer, default: ''}", "{kind: number}", `the default "" is left out: it is not a number`},
		{"{type: boolean, default: 'False'}", "{kind: boolean, defaultValue: false}", ""},
		{"{type: boolean, default: 1}", "{kind: boolean}", `the default "1" is left out: it is not a boolean`},
		{"{type: string, default: ''}", `{kind: text, defaultValue: ""}`, ""},
		{"{type: string, default: [a]}", "{kind: text}", `the default "a list" is left out`},
		{"{type: string, enum: [a, b], default: c}", "{kind: select, options: [{value: a, label: a}, {value: b, label: b}]}", `the default "c" is left out: it is not one of the values`},

		// For an array, a control sets one value if that makes sense.
		{"{type: array, items: {type: string, enum: [a, b]}}", "{kind: select, options: [{value: a, label: a}, {value: b, label: b}]}", "it takes several values; the control sets one"},
		{"{type: array, items: {type: string, enum: [a, b]}, default: [b]}", "{kind: select, defaultValue: b, options: [{value: a, label: a}, {value: b, label: b}]}", "it takes several values"},
		{"{type: array, items: {type: string, enum: [a, b]}, default: [a, b]}", "{kind: select, options: [{value: a, label: a}, {value: b, label: b}]}", `the default "a list" is left out: a modifier has one value`},
		{"{type: array, enum: [a, b], items: {type: string}}", "{kind: select, options: [{value: a, label: a}, {value: b, label: b}]}", "it takes several values"},
		{"{type: array, enum: [[a], [b]], items: {type: string}}", "{kind: text}", "it takes several values; the control sets one"},
		{"{type: array, items: {type: array, items: {enum: [a]}}}", "", "this is an array of type array"},
		{"{type: array, items: {type: integer, default: 5}}, required: true, x: {}", "{kind: number, defaultValue: 5}", "it takes several values; the control sets one"},
		{"{type: array, items: {type: string}, default: [a, b]}, explode: false, x: {}", "{kind: text}", "it takes several values, separated by commas"},
		{"{type: array, items: {type: integer}, default: [1]}, style: form, explode: false, x: {}", "{kind: number, defaultValue: 1}", "it takes several values; the control sets one"},
		{"{type: array, items: {type: string}}, style: pipeDelimited, explode: false, x: {}", "{kind: text}", "it takes several values; the control sets one"},
		{"{type: array, items: {$ref: '#/components/schemas/Filter'}}, required: true, x: {}", "{kind: text}", "it takes several values"},
		{"{type: [integer, array], items: {type: integer}}", "{kind: number}", "it also takes several values; the control sets one"},
		{"{oneOf: [{type: string, enum: [a, b]}, {type: array, items: {type: string, enum: [a, b]}}]}", "{kind: select, options: [{value: a, label: a}, {value: b, label: b}]}", "it also takes several values"},

		// What an alternative says applies only to this alternative, unless it is the only one.
		{"{oneOf: [{const: a, description: The first.}, {const: b, description: The second.}]}", "{kind: select, options: [{value: a, label: The first}, {value: b, label: The second}]}", ""},
		{"{oneOf: [{type: integer, description: A number}, {type: number, description: Another}]}", "{kind: number}", ""},

		{"{type: array, items: {type: string}}", "{kind: text}", "it takes several values; the control sets one"},

		// Values that do not fit into a modifier, and unknown types.
		{"{items: {type: string}}", "{kind: text}", "it takes several values; the control sets one"},
		{"{type: object}", "", "a modifier has a single value, but this is an object"},
		{"{properties: {}}", "", "a modifier has a single value, but this is an object"},
		{"{type: date}", "{kind: text}", "imported as text: its type is date"},
		{"{}", "{kind: text}", "its type is not declared"},
		{"{type: array, items: {type: string}, example: [a, b]}", "{kind: text, placeholder: a}", "it takes several values"},
		{"{type: string, example: []}", "{kind: text}", ""},
		{"{type: string, examples: [a, b]}", "{kind: text, placeholder: a}", ""},
	} {
		result := importText(t, `
openapi: 3.1.0
paths: {/a: {get: {parameters: [{name: p, in: query, schema: `+c.schema+`}], responses: {'200': {content: {application/json: {}}}}}}}
components:
  schemas:
    Size: {type: integer, default: 20, example: 5}
    Loop: {allOf: [{$ref: '#/components/schemas/Loop'}]}
    Filter: {anyOf: [{type: string}, {type: array, items: {$ref: '#/components/schemas/Filter'}}]}
    Twice: {anyOf: [{$ref: '#/components/schemas/Twice'}, {$ref: '#/components/schemas/Twice'}]}
`, openapi.Options{})
		if all := endpoints(t, result); len(all) != 1 {
			t.Errorf("%s gives %d endpoints", c.schema, len(all))
		}
		_, modifier, _ := strings.Cut(string(result.Definition), "        modifiers:\n          - ")
		modifier = strings.ReplaceAll(modifier, ", id: p, name: P, key: p, label: P", "")
		if modifier = strings.NewReplacer("[\n              ", "[", ",\n              ", ", ", "\n", "").Replace(modifier); modifier != c.modifier {
			t.Errorf("%s becomes %s, want %s", c.schema, modifier, c.modifier)
		}
		wantNote(t, c.schema, result, c.note)
	}
}

// TestParameterName imports names that a query parameter cannot have, or that are not written as they are used.
func TestParameterName(t *testing.T) {
	for name, want := range map[string]struct{ keys, note string }{
		"limit":         {"limit", ""},
		"filter[genre]": {"filter[genre]", ""},
		"$top":          {"$top", ""},
		"ctx":           {"", `parameter "ctx" is left out: it carries context`},
		"":              {"", "a parameter is left out: it has no name"},
	} {
		result := importText(t, fmt.Sprintf(`{"openapi": "3.0.0", "paths": {"/a": {"get": {"responses": {"200": {"content": {"application/json": {}}}},
			"parameters": [{"name": %q, "in": "query", "schema": {"type": "string"}}]}}}}`, name), openapi.Options{})
		var keys []string
		for _, m := range endpoints(t, result)[0].Modifiers {
			keys = append(keys, m.Params[0].Key)
		}
		if strings.Join(keys, " ") != want.keys {
			t.Errorf("%q gives the keys %q", name, keys)
		}
		wantNote(t, name, result, want.note)
	}
}

// TestCredentials checks that a secret never becomes a control, and that other keys and tokens do.
func TestCredentials(t *testing.T) {
	for _, c := range []struct {
		name, description string
		credential        bool
	}{
		{"app_token", "", true},
		{"videoFileToken", "", true},
		{"oauth_nonce", "", true},
		{"X-Api-Key", "", true},
		{"user_password", "", true},
		{"JSESSIONID", "", true},
		{"appid", "Unique API key", true},
		{"k", "Your access token, from the console.", true},
		{"key", "", true},
		{"token", "Token of the next page", true}, // in doubt
		{"page_token", "", false},
		{"nextPageToken", "Page access token", true},
		{"keyword", "", false},
		{"author", "", false},
		{"sort_key", "", false},
		{"monkey", "", false},
		{"token_type", "", false},
	} {
		result := importText(t, fmt.Sprintf("openapi: 3.0.0\npaths: {/a: {get: {parameters: [{name: %s, in: query, description: %q, schema: {type: string}}]}}}",
			c.name, c.description), openapi.Options{})
		if got := len(endpoints(t, result)[0].Modifiers) == 0; got != c.credential {
			t.Errorf("%s (%s): credential is %v", c.name, c.description, got)
		}
		if noted := strings.Contains(fmt.Sprint(result.Notes), "it carries a credential"); noted != c.credential {
			t.Errorf("%s (%s) is noted %v", c.name, c.description, result.Notes)
		}
	}
}
