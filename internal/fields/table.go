package fields

import (
	"regexp"
	"slices"

	"signpost"
)

// nonEmpty is the schema of text that is missing if it is empty.
const nonEmpty = `"minLength": 1`

// Definition is the whole file.
var Definition = &Value{
	What: "the definition", Type: Object, Form: "versions: {v1: {endpoints: {…}}}",
	Fields: []Field{
		{Name: "$schema", Value: text, Doc: "The schema of this file, for editors."},
		{Name: "service", Value: text, Doc: "A title, for people."},
		{Name: "base_path", Doc: "The manifests are at {base_path}/v1/endpoints-manifest.",
			Value: &Value{Schema: `"pattern": "^(/|(/[A-Za-z0-9._~-]+)+/?|)$", "default": "/"`}},
		{Name: "hosts", Doc: "The hosts that the service is published on: exact names, or *.suffix. The flag --allowed-host replaces the list.",
			Value: &Value{Type: List, Form: "such as [feeds.example.com]", Schema: `"minItems": 1, "uniqueItems": true`,
				Each: &Value{What: "a host", Schema: `"pattern": "^(\\*\\.)?[^\\s/?#@*]+$"`}}},
		{Name: "enable", Doc: "The features that this deployment has. The flag --feature replaces the list.",
			Value: &Value{Type: List, Form: "such as [authentication]", Schema: `"uniqueItems": true`,
				Each: &Value{What: "a feature to enable", Names: Features, Schema: nonEmpty}}},
		{Name: "context_keys", Value: Catalogue,
			Doc: "The context keys that the apps have, with descriptions. If it is there, any other key is an error; keys of built-in features are always known."},
		{Name: "features", Doc: "Features of this service, or other values for the built-in authentication and geo-restriction.",
			Value: &Value{Type: Object, Each: feature, Names: Features, Form: "such as {parental-control: {url_suffix: /kids, context_obj: […]}}",
				Schema: `"propertyNames": {"minLength": 1}`}},
		{Name: "modifiers", Doc: "Modifiers that endpoints use by name.",
			Value: &Value{Type: Object, Each: modifier, Form: "give each one a name: modifiers: {limit: {kind: number, …}}"}},
		{Name: "versions", Required: true, Doc: "The API versions of the service: v1, v2 and so on.",
			Value: &Value{Type: Object, Each: Version, Keys: regexp.MustCompile("^v[1-9][0-9]*$"), Form: "such as versions: {v1: {endpoints: {…}}}", Schema: `"minProperties": 1`}},
		{Name: "allow", Value: allow, Doc: "Warnings that are meant in the whole file, each with the reason."},
	},
}

// Manifest is a manifest as it is served. Its fields are those of the spec.
var Manifest = &Value{
	What: "the manifest", Type: Object, Form: `such as {"endpoints": {…}}`,
	Fields: []Field{{Name: "endpoints", Required: true, Value: &Value{Type: Object, Each: &Value{What: "endpoint", Type: Object, Fields: append(slices.Clip(common),
		Field{Name: "modifiers", Value: &Value{Type: List, Each: &Value{What: "modifier", Type: Object, Fields: full[1:]}}})}}}},
}

// Catalogue lists context keys with descriptions.
var Catalogue = &Value{Type: Object, Each: &Value{What: "the description of a context key", OrNull: true}, Names: ContextKeys,
	Form: "such as {user_account.profile: The profile that the viewer chose}"}

var (
	text     = &Value{}
	required = &Value{Schema: nonEmpty}

	// Version is an API version.
	Version = &Value{What: "version " + Key, Type: Object, Form: "such as v1: {endpoints: {…}}", Fields: []Field{
		{Name: "endpoints", Required: true, Doc: "Endpoints by URL. {{host}} stands for the hostname of the request for the manifest.",
			Value: &Value{Type: Object, Each: endpoint, Keys: regexp.MustCompile(`^[Hh][Tt][Tt][Pp][Ss]?://[^/?#@\s]+([/?#][^\s"<>\\^` + "`" + `|]*)?$`),
				Form: "the URL is the key: https://{{host}}/v1/feeds: {name: Feeds, method: get, mime_type: application/json}"}},
		deprecated,
	}}

	endpoint = &Value{What: "endpoint", Type: Object, Form: "such as {name: Feeds, method: get, mime_type: application/json}", Fields: append(slices.Clip(common),
		Field{Name: "modifiers", Doc: "Controls that editors get for query parameters: names of shared ones, or modifiers.",
			Value: &Value{Type: List, Each: modifierOrName, Form: "such as [limit], with the names of shared modifiers"}},
		Field{Name: "allow", Value: allow, Doc: "Warnings that are meant here, each with the reason."},
		deprecated,
	)}

	// common are the fields of an endpoint in definitions and manifests.
	common = []Field{
		{Name: "name", Value: required, Required: true, Doc: "The label that editors see in the studio."},
		{Name: "method", Value: &Value{Values: []string{"get", "post"}}, Required: true, Doc: "How clients call the endpoint."},
		{Name: "mime_type", Required: true, Doc: "The content type that it returns.",
			Value: &Value{Examples: []string{"application/json", "application/vnd+vendor.feed+json", "application/x-www-form-urlencoded"},
				Schema: `"pattern": "^(application|audio|font|haptics|image|message|model|multipart|text|video|[Xx]-[^/\\s*]+|[A-Z][A-Za-z]+)/[^/\\s*]+(\\s*;.*\\S)?$"`}},
		contextObj,
	}

	contextObj = Field{Name: "context_obj", Value: contextItems, Doc: "Context keys that clients send."}

	contextItems = &Value{Type: List, Form: "such as [{key: user_account.profile, type: ctx}]", Each: &Value{
		What: "context item", Type: Object, Form: "such as {key: user_account.profile, type: ctx}", Fields: []Field{
			{Name: "key", Required: true, Doc: "A context key that is built into the clients, or that a plugin supplies.",
				Value: &Value{Names: ContextKeys, Schema: nonEmpty}},
			{Name: "type", Value: &Value{Values: signpost.ContextTypes()}, Required: true, Doc: "In the ctx query parameter, or in the request body."},
			{Name: "required", Value: &Value{Type: Bool, Form: "write true or false, without quotes", Schema: `"default": false`}, Doc: "Whether the key must be present."},
			{Name: "mapper", Value: &Value{OrNull: true, Schema: nonEmpty}, Doc: "The name that the key is sent under."},
		}}}

	// feature is required to have a context_obj unless it overrides a built-in one; see lint.
	feature = &Value{What: "feature", Type: Object, Form: "such as {url_suffix: /kids, context_obj: […]}", Fields: []Field{
		{Name: "url_suffix", Value: &Value{OrList: true, Form: "such as /kids or [/kids, /family]"}, Doc: "Only for endpoints whose URL ends in this, or in one of these; empty for every endpoint."},
		{Name: "context_obj", Value: &Value{Type: List, Each: contextItems.Each, Form: contextItems.Form, Schema: `"minItems": 1`}, Doc: contextObj.Doc},
	}}

	modifier       = &Value{What: "modifier", Type: Object, Fields: full, Short: short, Form: short.Form}
	modifierOrName = &Value{What: "modifier", Type: Object, Fields: full, Short: short, Form: short.Form, OrName: Modifiers}

	// full are the fields of a modifier in the form of the manifest.
	full = []Field{
		deprecated, // first, so that a manifest can leave it out
		id, name,
		{Name: "params", Required: true, Doc: "The query parameters that it sets.",
			Value: &Value{Type: List, Each: param, Form: "such as [{key: …, ui: {label: …}, schema: {type: string}}]", Schema: `"minItems": 1`}},
	}
	id   = Field{Name: "id", Value: required, Required: true, Doc: "Unique in the endpoint, and never changed: the studio stores an editor's value under it."}
	name = Field{Name: "name", Value: required, Required: true, Doc: "The name that editors see in the studio."}

	short = &Value{What: "modifier", Type: Object, Form: "such as {kind: text, id: …, name: …, key: …, label: …}",
		Fields: []Field{
			{Name: "kind", Required: true, Doc: "The control: a text input, a number input, a toggle or a dropdown.",
				Value: &Value{Values: kinds()}},
			id, name, key, label,
			{Name: "defaultValue", Value: &Value{Type: Scalar}, Doc: "What is filled in beforehand."},
			placeholder, options, deprecated,
		},
		Schema: `"allOf": [{"if": {"properties": {"kind": {"const": "select"}}, "required": ["kind"]}, "then": {"required": ["options"]}, "else": {"properties": {"options": false}}}` +
			typedByKind() + "]",
	}

	param = &Value{What: "param", Type: Object,
		Fields: []Field{key,
			{Name: "ui", Required: true, Value: &Value{Type: Object, Fields: []Field{label, placeholder, options}}, Doc: "The control that editors get."},
			{Name: "schema", Required: true, Value: schema, Doc: "The values that it takes."},
		},
		Schema: `"if": {"properties": {"schema": {"properties": {"type": {"const": "string"}}}}}, "else": {"properties": {"ui": {"properties": {"options": false}}}}`,
	}
	schema = &Value{Type: Object,
		Fields: []Field{
			{Name: "type", Value: &Value{Values: signpost.ValueTypes()}, Required: true, Doc: "The type of the value."},
			{Name: "default", Value: &Value{Type: Scalar}, Doc: "What is filled in beforehand."},
			{Name: "enum", Value: &Value{Type: List, Each: &Value{What: "a value of enum", Schema: nonEmpty}, Schema: `"minItems": 1, "uniqueItems": true`}, Doc: "The values of the options."},
		},
		Schema: `"allOf": [{"if": {"properties": {"type": {"const": "string"}}, "required": ["type"]}, "else": {"properties": {"enum": false}}}` +
			typedByType() + "]",
	}

	key = Field{Name: "key", Required: true, Doc: "The name of the query parameter. Clients use ctx themselves.",
		Value: &Value{Schema: `"pattern": "^[^\\s?&=#]+$", "not": {"const": "ctx"}`}}
	label       = Field{Name: "label", Value: required, Required: true, Doc: "A short label for the control."}
	placeholder = Field{Name: "placeholder", Value: text, Doc: "What an empty input shows."}
	options     = Field{Name: "options", Doc: "The choices of a dropdown.", Value: &Value{Type: List, Form: "such as [{value: newest, label: Newest first}]", Schema: `"minItems": 1`,
		Each: &Value{What: "option", Type: Object, Form: "such as {value: newest, label: Newest first}", Fields: []Field{
			{Name: "value", Value: required, Required: true, Doc: "The value of the query parameter."},
			{Name: "label", Value: required, Required: true, Doc: "What editors see."},
		}}}}

	allow = &Value{Type: Object, Each: &Value{What: "the reason to allow " + Key, Schema: nonEmpty}, Names: Warnings,
		Form: "such as {plain-http: the partner has no TLS}"}

	deprecated = Field{Name: "deprecated", Doc: "It is going to be removed. This is not part of the manifest.",
		Value: &Value{Type: Object, Form: "such as deprecated: {since: 2026-01-31}", Fields: []Field{
			{Name: "since", Value: date, Required: true, Doc: "The day of the announcement."},
			{Name: "until", Value: date, Doc: "The last day on which it works."},
			{Name: "use", Value: text, Doc: "What to use instead: a URL or a name."},
			{Name: "reason", Value: text, Doc: "Why it goes."},
		}}}
	date = &Value{Type: Date, Form: "such as 2026-01-31", Schema: `"pattern": "^[0-9]{4}-[0-9]{2}-[0-9]{2}$"`}
)

// kinds returns the names of the kinds of modifier.
func kinds() []string {
	var names []string
	for _, kind := range signpost.Kinds() {
		names = append(names, kind.Name)
	}
	return names
}

// typedByKind returns the JSON Schema that ties the type of a default to the kind of its modifier.
func typedByKind() string {
	all := ""
	for _, kind := range signpost.Kinds() {
		all += ", " + typed("kind", kind.Name, "defaultValue", kind.Type)
	}
	return all
}

// typedByType returns the JSON Schema that ties a default to the type beside it.
func typedByType() string {
	all := ""
	for _, name := range signpost.ValueTypes() {
		all += ", " + typed("type", name, "default", name)
	}
	return all
}

// typed returns the JSON Schema that ties the type of a field to the value of another.
func typed(field, value, other, kind string) string {
	return `{"if": {"properties": {"` + field + `": {"const": "` + value + `"}}, "required": ["` + field + `"]}, "then": {"properties": {"` + other + `": {"type": "` + kind + `"}}}}`
}
