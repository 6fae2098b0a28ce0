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
		{"no versions", "versions:\n  v1:\n    endpoints:", "x-old:\n  v1:\n    endpoints:", `1:1 the definition has no versions (versions: {v1: {endpoints: {…}}})`},
		{"no versions level", "versions:\n  v1:\n    endpoints:", "endpoints:", `13:1 unknown field "endpoints" in the definition (put endpoints under versions: and v1:)`},
		{"defaultValue", "defaultValue: 20", "default_value: 20", `4:79 unknown field "default_value" in modifier (did you mean "defaultValue"?) fix`},
		{"default", "defaultValue: 20", "default: 20", `4:79 unknown field "default" in modifier (did you mean "defaultValue"?) fix`},
		{"mimeType", "        mime_type:", "        mimeType:", `19:9 unknown field "mimeType" in endpoint (did you mean "mime_type"?) fix`},
		{"contextObj", "context_obj", "contextObj", `22:89 unknown field "contextObj" in endpoint (did you mean "context_obj"?) fix`},
		{"a misspelt field with a mistake in it", "method: get\n", "mehtod: GET\n", `18:9 unknown field "mehtod" in endpoint (did you mean "method"?) fix
18:17 method "GET" is not "get" or "post" (write it in lower case: get) fix`},
		{"no colon in braces", "label: Limit,", "label Limit,", `4:65 unknown field "label Limit" in modifier (a colon is missing: label: Limit)`},
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
		{"enable nothing known", "[authentication]", "login", `2:9 enable must be a list, not text (write [login])`},
		{"modifiers", "[limit, sport]", "limit, sport", `20:20 modifiers must be a list, not text (write [limit, sport]) fix`},
		{"modifiers as text, with another mistake", "        mime_type: application/json\n        modifiers: [limit, sport]", "        mime_type: json\n        modifiers: limit, sport", `19:20 mime_type "json" is not a media type (type/subtype) (the usual one is application/json)
20:20 modifiers must be a list, not text (write [limit, sport]) fix`},
		{"modifiers as text that clash", "[limit, sport]", "limit, limit", `20:20 modifiers must be a list, not text (write [limit, limit])`},
		{"an unknown modifier", "[limit, sport]", "[limit, sprot]", `20:28 there is no shared modifier "sprot" (did you mean "sport"?) fix`},
		{"modifiers as a list", "modifiers:\n  limit", "modifiers: []\nx-was:\n  limit", `3:12 modifiers must be an object, not a list ()`},
		{"a number in quotes", "defaultValue: 20", `defaultValue: "20"`, `4:93 default "20" is not a number (write a number, without quotes) fix`},
		{"true in quotes", "required: true", `required: "true"`, `22:147 required must be true or false, not text (write true or false, without quotes) fix`},
		{"a number for text", "name: Feeds", "name: 2026", `17:15 name must be text, not a number (put it in quotes: "2026") fix`},
		{"json", "        mime_type: application/json", "        mime_type: json", `19:20 mime_type "json" is not a media type (type/subtype) (the usual one is application/json)`},
		{"bodyparam", "type: bodyParam", "type: bodyparam", `22:126 context type "bodyparam" is not "ctx" or "bodyParam" (check upper and lower case) fix`},
		{"another context type", "type: bodyParam", "type: header", `22:126 context type "header" is not "ctx" or "bodyParam" ()`},
		{"017", "defaultValue: 20", "defaultValue: 017", `4:93 017 is not a plain number (put it in quotes if it is text; if it is a number, write it in plain digits)`},
		{"one brace", "https://{{host}}/v1/live", "https://{host}/v1/live", `22:7 URL "https://{host}/v1/live" has a stray "{" (write {{host}})`},
		{"a v2 URL", "{{host}}/v1/live", "{{host}}/v2/live", `22:7 URL "https://{{host}}/v2/live" names version v2, which the service does not have (declare v2 under versions, or correct the URL)`},
		{"a URL with two versions", "{{host}}/v1/live", "{{host}}/v1/studio/v3/live", ``},
		{"a URL with two versions, neither its own", "{{host}}/v1/live", "{{host}}/v2/studio/v3/live", `22:7 URL "https://{{host}}/v2/studio/v3/live" names version v2, which the service does not have (declare v2 under versions, or correct the URL)`},
		{"no media", "/v1/media", "/v1/video", `2:10 feature "authentication" applies to no endpoint: no URL ends in "/media" (correct the URLs or the suffix, or do not enable it)`},
		{"an ignore comment", "name: Feeds", "name: Feeds # signpost: ignore duplicate-name", `17:33 "ignore" does nothing: write allow (# signpost: allow RULE because REASON) fix`},
		{"a comment that allows nothing", "name: Feeds", "name: Feeds # signpost: allow", `17:33 allow names no rule (# signpost: allow RULE because REASON)`},
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
