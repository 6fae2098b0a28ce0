package definition

import (
	"fmt"
	"strings"
	"testing"
)

const sports = `service: Sports
enable: [authentication]
modifiers:
  limit: {kind: number, id: limit, name: Page size, key: limit, label: Limit, defaultValue: 20}
  sport:
    kind: select
    id: sport
    name: Sport
    key: sport
    label: Sport
    defaultValue: football
    options: [{value: football, label: Football}, {value: tennis, label: Tennis}]
versions:
  v1:
    endpoints:
      https://{{host}}/v1/feeds:
        name: Feeds
        method: get
        mime_type: application/json
        modifiers: [limit, sport]
      https://{{host}}/v1/media: {name: Media, method: get, mime_type: application/json}
      https://{{host}}/v1/live: {name: Live, method: post, mime_type: application/json, context_obj: [{key: device.id, type: bodyParam, required: true}]}
`

// TestOneMistake makes one mistake at a time in a definition. Each gives exactly one finding: consequences are not
// reported.
func TestOneMistake(t *testing.T) {
	if findings := Lint(Parse("f.yaml", []byte(sports))); len(findings) > 0 {
		t.Fatalf("findings: %v", findings)
	}
	for _, test := range []struct{ name, old, new, want string }{
		{"modifers", "\nmodifiers:", "\nmodifers:", `3:1 unknown field "modifers" in the definition (did you mean "modifiers"?) fix`},
		{"endpoint", "endpoints:", "endpoint:", `15:5 unknown field "endpoint" in version v1 (did you mean "endpoints"?) fix`},
		{"version", "versions:", "version:", `13:1 unknown field "version" in the definition (did you mean "versions"?) fix`},
		{"something else for endpoints", "endpoints:", "urls:", `15:5 unknown field "urls" in version v1 (known: endpoints, deprecated)`},
		{"no versions", "versions:\n  v1:\n    endpoints:", "x-old:\n  v1:\n    endpoints:", `1:1 this is not a Signpost definition (a definition has versions: {v1: {endpoints: {…}}}; signpost init writes one to start from)`},
		{"no versions level", "versions:\n  v1:\n    endpoints:", "endpoints:", `1:1 this is not a Signpost definition: it looks like a manifest (signpost diff, match and check read manifests; a definition has its endpoints under versions: and v1:)`},
		{"no versions level, with a base path", "versions:\n  v1:\n    endpoints:", "base_path: /sports\nendpoints:", `14:1 unknown field "endpoints" in the definition (known: $schema, service, base_path, enable, context_keys, features, modifiers, versions, allow)`},
		{"featurs", "service: Sports", "featurs: {kids: {url_suffix: /live, context_obj: [{key: a.b, type: ctx}]}}", `1:1 unknown field "featurs" in the definition (did you mean "features"?) fix`},
		{"defaultValue", "defaultValue: 20", "default_value: 20", `4:79 unknown field "default_value" in modifier (did you mean "defaultValue"?) fix`},
		{"default", "defaultValue: 20", "default: 20", `4:79 unknown field "default" in modifier (did you mean "defaultValue"?) fix`},
		{"mimeType", "        mime_type:", "        mimeType:", `19:9 unknown field "mimeType" in endpoint (did you mean "mime_type"?) fix`},
		{"contextObj", "context_obj", "contextObj", `22:89 unknown field "contextObj" in endpoint (did you mean "context_obj"?) fix`},
		{"a misspelt field with a mistake in it", "method: get\n", "mehtod: GET\n", `18:9 unknown field "mehtod" in endpoint (did you mean "method"?) fix
18:17 method "GET" is not "get" or "post" (write it in lower case: get) fix`},
		{"no colon in braces", "label: Limit,", "label Limit,", `4:65 unknown field "label Limit" in modifier (write label: Limit)`},
		{"capitals", "method: get\n", "method: GET\n", `18:17 method "GET" is not "get" or "post" (write it in lower case: get) fix`},
		{"another method", "method: get\n", "method: put\n", `18:17 method "put" is not "get" or "post" ()`},
		{"version 1", "  v1:\n", "  1:\n", `14:3 "1" is not a version: a version is v and a number (did you mean "v1"?) fix`},
		{"version V1", "  v1:\n", "  V1:\n", `14:3 "V1" is not a version: a version is v and a number (did you mean "v1"?) fix`},
		{"version v1.0", "  v1:\n", "  v1.0:\n", `14:3 "v1.0" is not a version: a version is v and a number (did you mean "v1"?) fix`},
		{"version latest", "  v1:\n", "  latest:\n", `14:3 "latest" is not a version: a version is v and a number (such as v1)`},
		{"dropdown", "kind: select", "kind: dropdown", `6:11 there is no kind "dropdown" (did you mean "select"?) fix`},
		{"slider", "kind: select", "kind: slider", `6:11 there is no kind "slider" (known: text, number, boolean, select)`},
		{"no kind", "    kind: select\n", "", `6:5 modifier has no kind (text, number, boolean or select; or params, for the manifest's own form)`},
		{"select without options", "    options: [{value: football, label: Football}, {value: tennis, label: Tennis}]\n", "", `5:3 a select has no options (list each value with its label)`},
		{"a default that is no option", "defaultValue: football", "defaultValue: footbal", `11:19 default "footbal" is not one of the options: "football", "tennis" (did you mean "football"?) fix`},
		{"bare options", "[{value: football, label: Football}, {value: tennis, label: Tennis}]", "[football, table_tennis]", `12:15 option must be an object with value and label, not text (write {value: football, label: Football}) fix
12:25 option must be an object with value and label, not text (write {value: table_tennis, label: Table tennis}) fix`},
		{"enable", "[authentication]", "authentication", `2:9 enable must be a list, not text (write [authentication]) fix`},
		{"enable nothing known", "[authentication]", "login", `2:9 enable must be a list, not text (write [login]) fix`},
		{"modifiers", "[limit, sport]", "limit, sport", `20:20 modifiers must be a list, not text (write [limit, sport]) fix`},
		{"modifiers as text, with another mistake", "        mime_type: application/json\n        modifiers: [limit, sport]", "        mime_type: json\n        modifiers: limit, sport", `19:20 mime_type "json" is not a media type (type/subtype) (the usual one is application/json)
20:20 modifiers must be a list, not text (write [limit, sport]) fix`},
		{"modifiers as text that clash", "[limit, sport]", "limit, limit", `20:20 modifiers must be a list, not text (write [limit, limit]) fix`},
		{"an unknown modifier", "[limit, sport]", "[limit, sprot]", `20:28 there is no shared modifier "sprot" (did you mean "sport"?) fix`},
		{"modifiers as a list", "modifiers:\n  limit", "modifiers: []\nx-was:\n  limit", `3:12 modifiers must be an object, not a list (give each one a name: modifiers: {limit: {kind: number, …}})`},
		{"a number in quotes", "defaultValue: 20", `defaultValue: "20"`, `4:93 default "20" is not a number (write a number, without quotes) fix`},
		{"true in quotes", "required: true", `required: "true"`, `22:147 required must be true or false, not text (write true or false, without quotes) fix`},
		{"a number for text", "name: Feeds", "name: 2026", `17:15 name must be text, not a number (put it in quotes: "2026") fix`},
		{"json", "        mime_type: application/json", "        mime_type: json", `19:20 mime_type "json" is not a media type (type/subtype) (the usual one is application/json)`},
		{"bodyparam", "type: bodyParam", "type: bodyparam", `22:126 context type "bodyparam" is not "ctx" or "bodyParam" (write bodyParam) fix`},
		{"another context type", "type: bodyParam", "type: header", `22:126 context type "header" is not "ctx" or "bodyParam" ()`},
		{"017", "defaultValue: 20", "defaultValue: 017", `4:93 017 is not a plain number (put it in quotes if it is text; if it is a number, write it in plain digits)`},
		{"one brace", "https://{{host}}/v1/live", "https://{host}/v1/live", `22:7 URL "https://{host}/v1/live" has a stray "{" (write {{host}}) fix`},
		{"a v2 URL", "{{host}}/v1/live", "{{host}}/v2/live", `22:7 URL "https://{{host}}/v2/live" names version v2, which the service does not have (declare v2 under versions, or correct the URL)`},
		{"a URL with two versions", "{{host}}/v1/live", "{{host}}/v1/studio/v3/live", ``},
		{"a URL with two versions, neither its own", "{{host}}/v1/live", "{{host}}/v2/studio/v3/live", `22:7 URL "https://{{host}}/v2/studio/v3/live" names version v2, which the service does not have (declare v2 under versions, or correct the URL)`},
		{"a slash after media", "/v1/media:", "/v1/media/:", `21:7 "https://{{host}}/v1/media/" has a trailing slash: it does not answer for "/v1/media", and a feature for URLs that end in "/media" misses it (remove the slash, unless the server needs it)`},
		{"a slash after media that is meant", "/v1/media: {", "/v1/media/: {allow: {trailing-slash: the server needs it}, ", `2:10 feature "authentication" applies to no endpoint: no URL ends in "/media" (correct the URLs or the suffix, or do not enable it)`},
		{"an en dash before a name", "[limit, sport]", "\n          – limit\n          – sport", `21:11 modifiers must be a list, not text (begin a list item with -)`},
		{"no media", "/v1/media", "/v1/video", `2:10 feature "authentication" applies to no endpoint: no URL ends in "/media" (correct the URLs or the suffix, or do not enable it)`},
		{"an empty versions", "versions:\n  v1:\n    endpoints:", "versions: {}\nx-old:\n  v1:\n    endpoints:", `1:1 the definition has no versions (versions: {v1: {endpoints: {…}}})`},
		{"versions as a list", "versions:\n  v1:\n    endpoints:", "versions: []\nx-old:\n  v1:\n    endpoints:", `13:11 versions must be an object, not a list (such as versions: {v1: {endpoints: {…}}})`},
		{"endpoints beside the version", "    endpoints:\n", "  endpoints:\n", `15:3 endpoints is next to v1, not in it (it belongs under v1: indent it, and everything in it, by one more level)`},
		{"fields beside the URL", "        name: Feeds\n        method: get\n        mime_type: application/json\n        modifiers: [limit, sport]", "      name: Feeds\n      method: get\n      mime_type: application/json\n      modifiers: [limit, sport]",
			`17:7 name is next to the URL "https://{{host}}/v1/feeds", not in it (it belongs under the URL: indent it, and everything in it, by one more level)`},
		{"some fields beside the URL", "        mime_type: application/json\n        modifiers: [limit", "      mime_type: application/json\n      modifiers: [limit",
			`19:7 mime_type is next to the URL "https://{{host}}/v1/feeds", not in it (it belongs under the URL: indent it, and everything in it, by one more level)`},
		{"endpoints without a version", "  v1:\n    endpoints:\n", "  endpoints:\n", `14:3 "endpoints" is not a version: a version is v and a number (such as v1)`},
		{"version beside versions", "  v1:\n", "v1:\n", `14:1 v1 is next to versions, not in it (it belongs under versions: indent it, and everything in it, by one more level)`},
		{"a URL twice", "/v1/media:", "/v1/feeds:", `21:7 "https://{{host}}/v1/feeds" is already used on line 16, column 7 (keep one of the two)`},
		{"no space after a colon in braces", "{value: football, label", "{value:football, label", `12:16 unknown field "value:football" in option (write value: football)`},
		{"no comma between names", "[limit, sport]", "[limit sport]", `20:21 there is no shared modifier "limit sport" (known: limit, sport)`},
		{"options as an object", "[{value: football, label: Football}, {value: tennis, label: Tennis}]", "{football: Football}", `12:14 options must be a list, not an object (such as [{value: newest, label: Newest first}])`},
		{"context keys as text", "[{key: device.id, type: bodyParam, required: true}]", "device.id", `22:102 context_obj must be a list, not text (such as [{key: user_account.profile, type: ctx}])`},
		{"a context key as text", "{key: device.id, type: bodyParam, required: true}", "device.id", `22:103 context item must be an object, not text (such as {key: user_account.profile, type: ctx})`},
		{"enable as an object", "[authentication]", "{authentication: true}", `2:9 enable must be a list, not an object (such as [authentication])`},
		{"required as a number", "required: true", "required: 1", `22:147 required must be true or false, not a number (write true or false)`},
		{"an unclosed placeholder", "https://{{host}}/v1/live", "https://{{host}/v1/live", `22:7 URL "https://{{host}/v1/live" has a placeholder that is not closed: "{{host}" (write {{host}}) fix`},
		{"versions twice", "service: Sports\n", "service: Sports\nversions: {v1: {endpoints: {}}}\n", `14:1 "versions" is already used on line 2, column 1 (keep one of the two)`},
		{"a bad URL of media", "/v1/media:", "/v1/media#top:", `21:7 URL "https://{{host}}/v1/media#top" has a fragment (remove the # and everything after it: clients do not send it)`},
		{"$ and a brace", "https://{{host}}/v1/live", "https://${HOST}/v1/live", `22:7 URL "https://${HOST}/v1/live" has a stray "{" (write {{host}}) fix`},
		{"a null field nobody knows", "service: Sports", "service: Sports\ncolour:", `2:1 unknown field "colour" in the definition (known: $schema, service, base_path, enable, context_keys, features, modifiers, versions, allow)`},
		{"a field with a space and a value", "label: Limit,", "label: Limit, label Limit: 5,", `4:79 unknown field "label Limit" in modifier (known: kind, id, name, key, label, defaultValue, placeholder, options, deprecated)`},
		{"a field with a space that is no field", "label: Limit,", "label: Limit, colour red,", `4:79 unknown field "colour red" in modifier (known: kind, id, name, key, label, defaultValue, placeholder, options, deprecated)`},
		{"both spellings", "        mime_type: application/json\n        mod", "        mime_type: application/json\n        mimetype: x\n        mod", `20:9 unknown field "mimetype" in endpoint (did you mean "mime_type"?)`},
		{"an empty context key", "key: device.id", "key: \"\"", `22:109 context item has no key (the name of a built-in context key, or of one that a plugin supplies)`},
		{"a number for a context key", "key: device.id", "key: 5", `22:109 key must be text, not a number (put it in quotes: "5") fix`},
		{"no context key", "key: device.id, ", "", `22:103 context item has no key (the name of a built-in context key, or of one that a plugin supplies)`},
		{"an empty context key, with a catalogue", "service: Sports\nenable: [authentication]", "service: Sports\ncontext_keys: {}\nx-e: {}\nenable: [authentication]", `24:109 unknown context key "device.id" (add it to context_keys, if your apps have it)`},
		{"no shared modifiers", "[limit, sport]", "[{kind: text, id: a, name: A, key: a, label: A}]", `4:3 no endpoint uses the shared modifier "limit" (remove it, or name it in an endpoint's modifiers)
5:3 no endpoint uses the shared modifier "sport" (remove it, or name it in an endpoint's modifiers)`},
		{"shared modifier as text", "  limit: {kind: number, id: limit, name: Page size, key: limit, label: Limit, defaultValue: 20}", "  limit: number", `4:10 modifier must be an object, not text (such as {kind: text, id: …, name: …, key: …, label: …})`},
		{"an item that is no name", "[limit, sport]", "[limit, sport, !!binary aGVsbG8=]", `20:35 tag !!binary is not supported (leave the tag out, or put text that begins with ! in quotes)`},
		{"an item that is a number", "[limit, sport]", "[limit, sport, 5]", `20:35 modifier must be an object, not a number (such as {kind: text, id: …, name: …, key: …, label: …})`},
		{"names with an empty text", "[limit, sport]", "\"\"", `20:20 modifiers must be a list, not text (such as [limit], with the names of shared modifiers)`},
		{"a date for names", "[authentication]", "2026-01-01", `2:9 YAML reads 2026-01-01 as a date, not a list (put it in quotes)`},
		{"a date for a name", "name: Feeds", "name: 2026-01-01", `17:15 YAML reads 2026-01-01 as a date, not text (put it in quotes) fix`},
		{"a date for a default", "defaultValue: football", "defaultValue: 2026-01-01", `11:19 YAML reads 2026-01-01 as a date, not text (put it in quotes) fix`},
		{"null for a default", "defaultValue: football", "defaultValue:", `11:18 defaultValue must be text, a number, true or false, not null (give it a value, or remove the field)`},
		{"a list for a default", "defaultValue: football", "defaultValue: [football]", `11:19 defaultValue must be text, a number, true or false, not a list ()`},
		{"null for a name", "name: Feeds", "name:", `17:14 name must be text, not null (give it a value)`},
		{"enum of numbers", "[limit, sport]", "[limit, sport, {id: e, name: E, params: [{key: e, ui: {label: E, options: [{value: '1', label: One}]}, schema: {type: string, enum: [1]}}]}]", `20:153 a value of enum must be text, not a number (put it in quotes: "1") fix`},
		{"params as an object", "[limit, sport]", "[limit, sport, {id: e, name: E, params: {key: e}}]", `20:60 params must be a list, not an object (such as [{key: …, ui: {label: …}, schema: {type: string}}])`},
		{"options of a number", "defaultValue: 20}", "defaultValue: 20, options: [{value: a, label: A}]}", `4:97 a number modifier has options (options belong to kind: select)`},
		{"an option that is a list", "{value: football, label: Football}", "[football]", `12:15 option must be an object, not a list (such as {value: newest, label: Newest first})`},
		{"an option that is null", "{value: football, label: Football}", "null", `12:15 option must be an object, not null (give it a value, or remove the field)`},
		{"mapper null", "required: true", "required: true, mapper: null", ``},
		{"mapper empty", "required: true", "required: true, mapper: \"\"", `22:161 mapper is empty (name the alias, or remove mapper)`},
		{"mapper number", "required: true", "required: true, mapper: 5", `22:161 mapper must be text, not a number (put it in quotes: "5") fix`},
		{"allow without a reason", "        method: get\n", "        method: get\n        allow: {duplicate-name: }\n", `19:33 the reason to allow duplicate-name must be text, not null (give it a value)`},
		{"allow with an empty reason", "        method: get\n", "        method: get\n        allow: {duplicate-name: ''}\n", `19:17 allow gives no reason for duplicate-name (say why it is intended)`},
		{"allow as a list", "        method: get\n", "        method: get\n        allow: [duplicate-name]\n", `19:16 allow must be an object, not a list (such as {plain-http: the partner has no TLS})`},
		{"allow of an error", "        method: get\n", "        method: get\n        allow: {method: yes it is}\n", `19:17 method cannot be allowed (only warnings can be allowed)`},
		{"allow of nothing known", "        method: get\n", "        method: get\n        allow: {whatever-it-is: yes it is}\n", `19:17 there is no warning "whatever-it-is" to allow (docs/rules.md lists them)`},
		{"a bad URL with a token", "https://{{host}}/v1/live:", "https://exa mple.com/v1/live:", `22:7 URL "https://exa mple.com/v1/live" has white space in it (write it percent-encoded, such as %20 for a space)`},
		{"a third-party URL with a token", "https://{{host}}/v1/live:", "https://partner.example/v1/live:", `22:116 context key "device.id" is sent to "https://partner.example/v1/live", which is not a URL of this service (make sure that its owner is meant to have it)`},
		{"an international host", "https://{{host}}/v1/live:", "https://bücher.example/v1/live:", `22:7 "https://bücher.example/v1/live" has an international host: clients send it in Punycode, and feeds with that host do not match (write https://xn--bcher-kva.example/v1/live)
22:115 context key "device.id" is sent to "https://bücher.example/v1/live", which is not a URL of this service (make sure that its owner is meant to have it)`},
		{"a bad international host", "https://{{host}}/v1/live:", "https://bü--.xn--a/v1/live:", `22:7 URL "https://bü--.xn--a/v1/live": host "bü--.xn--a" is not a valid internationalized name (write it in ASCII, such as xn--bcher-kva.example)`},
		{"version v01", "  v1:\n", "  v01:\n", `14:3 "v01" is not a version: a version is v and a number (did you mean "v1"?) fix`},
		{"version x-1", "  v1:\n", "  x-1: {anything: 1}\n  v1:\n", ``},
		{"deprecated true", "        method: get\n", "        method: get\n        deprecated: true\n", `19:21 deprecated must be an object, not true or false (such as deprecated: {since: 2026-01-31})`},
		{"deprecated without since", "        method: get\n", "        method: get\n        deprecated: {until: 2026-01-31}\n", `19:21 deprecated has no since (add the day of the announcement, such as since: 2026-01-31)`},
		{"deprecated backwards", "        method: get\n", "        method: get\n        deprecated: {since: 2026-02-01, until: 2026-01-31}\n", `19:48 until is before since ()`},
		{"deprecated on one day", "        method: get\n", "        method: get\n        deprecated: {since: 2126-02-01, until: 2126-02-01}\n", ``},
		{"deprecated some day", "        method: get\n", "        method: get\n        deprecated: {since: some day}\n", `19:29 since must be a date, not "some day" (such as 2026-01-31)`},
		{"enable twice", "[authentication]", "[authentication, authentication]", `2:26 feature "authentication" is enabled twice (name it once)`},
		{"enable unknown", "[authentication]", "[authentification]", `2:10 there is no feature "authentification" (did you mean "authentication"?) fix`},
		{"enable a list", "[authentication]", "[[authentication]]", `2:10 a feature to enable must be text, not a list ()`},
		{"a feature without items", "service: Sports", "service: Sports\nfeatures: {f: {url_suffix: /live}}", `2:12 feature "f" has no context_obj ()`},
		{"a feature that is text", "service: Sports", "service: Sports\nfeatures: {f: live}", `2:15 feature must be an object, not text (such as {url_suffix: /kids, context_obj: […]})`},
		{"features as a list", "service: Sports", "service: Sports\nfeatures: []", `2:11 features must be an object, not a list (such as {parental-control: {url_suffix: /kids, context_obj: […]}})`},
		{"base path", "service: Sports", "service: Sports\nbase_path: sports", `2:12 base path "sports" does not start with a slash: write "/sports" (such as / or /feeds)`},
		{"base path list", "service: Sports", "service: Sports\nbase_path: []", `2:12 base_path must be text, not a list ()`},
		{"unused modifier", "[limit, sport]", "[limit]", `5:3 no endpoint uses the shared modifier "sport" (remove it, or name it in an endpoint's modifiers)`},
		{"unused modifier, with an unread endpoint", "[limit, sport]", "[limit, nothing]", `20:28 there is no shared modifier "nothing" (known: limit, sport)`},
		{"context keys list", "service: Sports", "service: Sports\ncontext_keys: [a]", `2:15 context_keys must be an object, not a list (such as {user_account.profile: The profile that the viewer chose})`},
		{"context keys number", "service: Sports", "service: Sports\ncontext_keys: {device.id: 5}", `2:27 the description of a context key must be text, not a number (put it in quotes: "5") fix`},
		{"context keys without one", "service: Sports", "service: Sports\ncontext_keys: {device.ip: The address}", `23:109 unknown context key "device.id" (did you mean "device.ip"?)`},
		{"modifiers null", "modifiers: [limit, sport]", "modifiers:", `20:19 modifiers must be a list, not null (give it a value, or remove the field)`},
		{"endpoints null", "    endpoints:", "    endpoints: {}\nx-e:", `4:3 no endpoint uses the shared modifier "limit" (remove it, or name it in an endpoint's modifiers)
5:3 no endpoint uses the shared modifier "sport" (remove it, or name it in an endpoint's modifiers)
14:3 version v1 has no endpoints: its manifest is empty (add an endpoint, or remove the version)`},
		{"endpoints list", "    endpoints:", "    endpoints: []\nx-e:", `15:16 endpoints must be an object, not a list (the URL is the key: https://{{host}}/v1/feeds: {name: Feeds, method: get, mime_type: application/json})`},
		{"version null", "  v1:\n    endpoints:", "  v1:\nx-1:\n    endpoints:", `14:6 version v1 must be an object, not null (give it a value, or remove the field)`},
		{"version list", "  v1:\n    endpoints:", "  v1: []\nx-1:\n    endpoints:", `14:7 version v1 must be an object, not a list (such as v1: {endpoints: {…}})`},
		{"version without endpoints", "  v1:\n    endpoints:", "  v1: {deprecated: {since: 2126-01-01}}\nx-1:\n    endpoints:", `14:3 version v1 has no endpoints ()`},
		{"misplaced, with another version", "versions:\n  v1:\n    endpoints:", "endpoints: {}\nversions:\n  v1:\n    endpoints:", `13:1 unknown field "endpoints" in the definition (known: $schema, service, base_path, enable, context_keys, features, modifiers, versions, allow)`},
		{"an option that is no plain number", "{value: football, label: Football}", "017", `12:15 017 is not a plain number (put it in quotes if it is text; if it is a number, write it in plain digits)`},
		{"version V1 with a URL of v2", "  v1:\n    endpoints:\n      https://{{host}}/v1/feeds:", "  V1:\n    endpoints:\n      https://{{host}}/v2/feeds:", `14:3 "V1" is not a version: a version is v and a number (did you mean "v1"?) fix
16:7 URL "https://{{host}}/v2/feeds" names version v2, which the service does not have (declare v2 under versions, or correct the URL)`},
		{"a number for $schema", "service: Sports", "$schema: 5\nservice: Sports", `1:10 $schema must be text, not a number (put it in quotes: "5") fix`},
		{"an author's own field", "service: Sports", "x-anchors: &a {anything: [1, 2]}\nservice: Sports", ``},
	} {
		t.Run(test.name, func(t *testing.T) {
			text := strings.Replace(sports, test.old, test.new, 1)
			if text == sports {
				t.Fatalf("nothing is replaced: %q", test.old)
			}
			var got []string
			for _, f := range Lint(Parse("f.yaml", []byte(text))) {
				line := fmt.Sprintf("%d:%d %s (%s)", f.Line, f.Column, f.Message, f.Hint)
				if f.Fix != nil {
					line += " fix"
				}
				got = append(got, line)
			}
			if strings.Join(got, "\n") != test.want {
				t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), test.want)
			}
		})
	}
}
