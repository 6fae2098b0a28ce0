package fields

import (
	"regexp"
	"slices"

	"signpost"
)

// Definition is the whole file.
var Definition = &Value{
	What: "the definition", Type: Object, Form: "versions: {v1: {endpoints: {…}}}",
	Fields: []Field{
		{Name: "$schema", Value: text, Doc: "The schema of this file, for editors."},
		{Name: "service", Value: text, Doc: "A title, for people."},
		{Name: "base_path", Value: text, Doc: "The manifests are at {base_path}/v1/endpoints-manifest."},
		{Name: "hosts",
			Doc: "The hosts that the service is published on: exact names, or *.suffix. " +
				"The flag --allowed-host replaces the list.",
			Value: &Value{Type: List, Form: "such as [feeds.example.com]",
				Each: &Value{What: "a host"}}},
		{Name: "enable", Doc: "The features that this deployment has. The flag --feature replaces the list.",
			Value: &Value{Type: List, Form: "such as [authentication]",
				Each: &Value{What: "a feature to enable", Names: Features}}},
		{Name: "context_keys", Value: Catalogue,
			Doc: "The context keys that the apps have, with descriptions. If it is there, any other key is an error; " +
				"keys of built-in features are always known."},
		{Name: "features",
			Doc: "Features of this service, or other values for the built-in authentication and geo-restriction.",
			Value: &Value{Type: Object, Each: feature, Names: Features,
				Form: "such as {parental-control: {url_suffix: /kids, context_obj: […]}}"}},
		{Name: "modifiers", Doc: "Modifiers that endpoints use by name.",
			Value: &Value{Type: Object, Each: modifier,
				Form: "give each one a name: modifiers: {limit: {kind: number, …}}"}},
		{Name: "versions", Required: true, Doc: "The API versions of the service: v1, v2 and so on.",
			Value: &Value{Type: Object, Each: Version, Keys: regexp.MustCompile("^v[1-9][0-9]*$"),
				Form: "such as versions: {v1: {endpoints: {…}}}"}},
		{Name: "allow", Value: allow, Doc: "Warnings that are meant in the whole file, each with the reason."},
	},
}

// Manifest is a manifest as it is served. Its fields are those of the spec.
var Manifest = &Value{
	What: "the manifest", Type: Object, Plus: true, Form: `such as {"endpoints": {…}}`,
	Fields: []Field{{Name: "endpoints", Required: true, Value: &Value{Type: Object, Each: ServedEndpoint}}},
}

// Project is a project file.
var Project = &Value{
	What: "the project", Type: Object, Form: "such as definitions: [services/*.yaml]",
	Fields: []Field{
		{Name: "definitions",
			Doc:   "The definitions that are registered together: files, directories or patterns, relative to this file.",
			Value: &Value{Type: List, Form: "such as [services/*.yaml]", Each: &Value{What: "a definition"}}},
		{Name: "registered", Doc: "What else the studio has: files, directories or addresses of manifests.",
			Value: &Value{Type: List, Form: "such as [https://partner.example.net/v1/endpoints-manifest]",
				Each: &Value{What: "a registered source"}}},
		{Name: "hosts", Doc: "The hosts of definitions that declare none.", Value: Definition.Field("hosts").Value},
		{Name: "context_keys", Doc: "The context keys that the apps have, with descriptions, for all definitions.",
			Value: Catalogue},
	},
}

// Accepted is a file of accepted changes.
var Accepted = &Value{What: "accepted changes", Type: List,
	Form: "write - {change: FINGERPRINT, reason: TEXT, until: YYYY-MM-DD}",
	Each: &Value{What: "an accepted change", Type: Object,
		Form: "write {change: FINGERPRINT, reason: TEXT, until: YYYY-MM-DD}", Fields: []Field{
			{Name: "change", Value: text, Required: true},
			{Name: "reason", Value: &Value{OrNull: true}, Required: true},
			{Name: "until", Value: date},
		}}}

// Catalogue lists context keys with descriptions.
var Catalogue = &Value{Type: Object, Each: &Value{What: "the description of a context key", OrNull: true},
	Names: ContextKeys,
	Form:  "such as {user_account.profile: The profile that the viewer chose}"}

var (
	text = &Value{}

	// Version is an API version.
	Version = &Value{What: "version " + Key, Type: Object, Plus: true, Form: "such as v1: {endpoints: {…}}",
		Fields: []Field{
			{Name: "endpoints", Required: true,
				Doc: "Endpoints by URL. {{host}} stands for the hostname of the request for the manifest.",
				Value: &Value{Type: Object, Each: Endpoint,
					Keys: regexp.MustCompile(`^[Hh][Tt][Tt][Pp][Ss]?://[^/?#@\s]+([/?#][^\s"\\^` + "`" + `|]*)?$`),
					Form: "the URL is the key: https://{{host}}/v1/feeds: {name: Feeds, method: get, mime_type: application/json}"}},
			deprecated,
		}}

	// Endpoint is an endpoint of a definition.
	Endpoint = &Value{What: "endpoint", Type: Object, Plus: true,
		Form: "such as {name: Feeds, method: get, mime_type: application/json}", Fields: append(slices.Clip(common),
			Field{Name: "modifiers",
				Doc: "Controls that editors get for query parameters: names of shared ones, or modifiers.",
				Value: &Value{Type: List, Each: modifierOrName,
					Form: "such as [limit], with the names of shared modifiers"}},
			Field{Name: "allow", Value: allow, Local: true, Doc: "Warnings that are meant here, each with the reason."},
			deprecated,
		)}

	// common are the fields of an endpoint in definitions and manifests.
	common = []Field{
		{Name: "name", Value: text, Required: true, Doc: "The label that editors see in the studio."},
		{Name: "method", Value: &Value{Values: []string{"get", "post"}}, Required: true,
			Doc: "How clients call the endpoint."},
		{Name: "mime_type", Required: true, Doc: "The content type that it returns.",
			Value: &Value{Examples: []string{"application/json", "application/vnd+vendor.feed+json",
				"application/x-www-form-urlencoded"}}},
		contextObj,
	}

	contextObj = Field{Name: "context_obj", Value: contextItems, Doc: "Context keys that clients send."}

	contextItems = &Value{Type: List, Form: "such as [{key: user_account.profile, type: ctx}]", Each: &Value{
		What: "context item", Type: Object, Plus: true, Form: "such as {key: user_account.profile, type: ctx}", Fields: []Field{
			{Name: "key", Required: true,
				Doc:   "A context key that is built into the clients, or that a plugin supplies.",
				Value: &Value{Names: ContextKeys}},
			{Name: "type", Value: &Value{Values: signpost.ContextTypes()}, Required: true,
				Doc: "In the ctx query parameter, or in the request body."},
			{Name: "required", Value: &Value{Type: Bool, Form: "write true or false, without quotes"},
				Doc: "Whether the key must be present."},
			{Name: "mapper", Value: &Value{OrNull: true}, Doc: "The name that the key is sent under."},
		}}}

	// feature is required to have a context_obj unless it overrides a built-in one; see lint.
	feature = &Value{What: "feature", Type: Object, Form: "such as {url_suffix: /kids, context_obj: […]}",
		Fields: []Field{
			{Name: "url_suffix", Value: &Value{OrList: true, Form: "such as /kids or [/kids, /family]"},
				Doc: "Only for endpoints whose URL ends in this, or in one of these; empty for every endpoint."},
			contextObj,
		}}

	modifier = &Value{What: "modifier", Type: Object, Plus: true, Fields: full, Short: ShortModifier,
		Form: ShortModifier.Form}
	modifierOrName = &Value{What: "modifier", Type: Object, Plus: true, Fields: full, Short: ShortModifier,
		Form: ShortModifier.Form, OrName: Modifiers}

	// ServedEndpoint is an endpoint of a manifest that is served, which has no shared modifiers.
	ServedEndpoint = &Value{What: "endpoint", Type: Object, Plus: true, Fields: append(slices.Clip(common),
		Field{Name: "modifiers", Value: &Value{Type: List, Each: servedModifier}})}
	servedModifier = &Value{What: "modifier", Type: Object, Plus: true, Fields: inManifest}

	// full are the fields of a modifier in the form of the manifest, and inManifest those of a served one.
	full       = append([]Field{deprecated}, inManifest...)
	inManifest = []Field{
		id, name,
		{Name: "params", Required: true, Doc: "The query parameters that it sets.",
			Value: &Value{Type: List, Each: param, Form: "such as [{key: …, ui: {label: …}, schema: {type: string}}]"}},
	}
	id = Field{Name: "id", Value: text, Required: true,
		Doc: "Unique in the endpoint, and never changed: the studio stores an editor's value under it."}
	name = Field{Name: "name", Value: text, Required: true, Doc: "The name that editors see in the studio."}

	// ShortModifier is a modifier in short form.
	ShortModifier = &Value{What: "modifier", Type: Object,
		Form: "such as {kind: text, id: …, name: …, key: …, label: …}",
		Fields: []Field{
			{Name: "kind", Required: true, Doc: "The control: a text input, a number input, a toggle or a dropdown.",
				Value: &Value{Values: kinds()}},
			id, name, key, label,
			{Name: "defaultValue", Value: &Value{Type: Scalar}, Doc: "What is filled in beforehand."},
			placeholder, options, deprecated,
		},
	}

	param = &Value{What: "param", Type: Object, Plus: true,
		Fields: []Field{key,
			{Name: "ui", Required: true, Doc: "The control that editors get.",
				Value: &Value{Type: Object, Plus: true, Fields: []Field{label, placeholder, options}}},
			{Name: "schema", Required: true, Value: schema, Doc: "The values that it takes."},
		},
	}
	schema = &Value{Type: Object, Plus: true,
		Fields: []Field{
			{Name: "type", Value: &Value{Values: signpost.ValueTypes()}, Required: true, Doc: "The type of the value."},
			{Name: "default", Value: &Value{Type: Scalar}, Doc: "What is filled in beforehand."},
			{Name: "enum", Value: &Value{Type: List, Each: &Value{What: "a value of enum"}},
				Doc: "The values of the options."},
		},
	}

	key = Field{Name: "key", Value: text, Required: true,
		Doc: "The name of the query parameter. Clients use ctx themselves."}
	label       = Field{Name: "label", Value: text, Required: true, Doc: "A short label for the control."}
	placeholder = Field{Name: "placeholder", Value: text, Doc: "What an empty input shows."}
	options     = Field{Name: "options", Doc: "The choices of a dropdown.",
		Value: &Value{Type: List, Form: "such as [{value: newest, label: Newest first}]",
			Each: Option}}

	// Option is an option of a dropdown.
	Option = &Value{What: "option", Type: Object, Plus: true, Form: "such as {value: newest, label: Newest first}",
		Fields: []Field{
			{Name: "value", Value: text, Required: true, Doc: "The value of the query parameter."},
			{Name: "label", Value: text, Required: true, Doc: "What editors see."},
		}}

	allow = &Value{Type: Object, Each: &Value{What: "the reason to allow " + Key, OrObject: allowed}, Names: Warnings,
		Form: "such as {plain-http: the partner has no TLS}"}
	allowed = &Value{What: "the reason to allow " + Key, Type: Object,
		Form: "such as {keys: [user.token], reason: …}", Fields: []Field{
			{Name: "keys",
				Doc: "The context keys whose loss is meant, for the rules about overlap. Without it, those that are optional.",
				Value: &Value{Type: List, Form: "such as [user.token]",
					Each: &Value{What: "a context key", Names: ContextKeys}}},
			{Name: "reason", Value: text, Required: true, Doc: "Why it is meant."},
		}}

	deprecated = Field{Name: "deprecated", Local: true,
		Doc: "It is going to be removed. This is not part of the manifest.",
		Value: &Value{Type: Object, Form: "such as deprecated: {since: 2026-01-31}", Fields: []Field{
			{Name: "since", Value: date, Required: true, Doc: "The day of the announcement."},
			{Name: "until", Value: date, Doc: "The last day on which it works."},
			{Name: "use", Value: text, Doc: "What to use instead: a URL or a name."},
			{Name: "reason", Value: text, Doc: "Why it goes."},
		}}}
	date = &Value{Type: Date, Form: "such as 2026-01-31"}
)

// kinds returns the names of the kinds of modifier.
func kinds() []string {
	var names []string
	for _, kind := range signpost.Kinds() {
		names = append(names, kind.Name)
	}
	return names
}
