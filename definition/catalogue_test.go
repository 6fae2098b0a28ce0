package definition

import (
	"fmt"
	"maps"
	"slices"
	"testing"
)

func TestContextKeys(t *testing.T) {
	const own = "context_keys: {device.id: The device}\n"
	const uses = `
versions:
  v1:
    endpoints:
      https://{{host}}/v1/feeds: {name: Feeds, method: get, mime_type: application/json, context_obj: [{key: device.id, type: ctx}, {key: user.id, type: ctx}, {key: signedDeviceInfoToken, type: ctx}]}
`
	unknown := func(line, column int, key string) string {
		return fmt.Sprintf("f.yaml:%d:%d: error: unknown context key %q [unknown-context-key]", line, column, key)
	}
	for _, test := range []struct {
		name, text string
		keys       map[string]string
		want       string
	}{
		{"no catalogue", uses, nil, "[]"},
		{"of the file", own + uses, nil, "[" + unknown(6, 139, "user.id") + "]"},
		{"given", uses, map[string]string{"user.id": ""}, "[" + unknown(5, 110, "device.id") + "]"},
		{"given, and empty", uses, map[string]string{}, "[" + unknown(5, 110, "device.id") + " " + unknown(5, 139, "user.id") + "]"},
		{"both", own + uses, map[string]string{"user.id": ""}, "[]"},
	} {
		if got := fmt.Sprint(Lint(Options{ContextKeys: test.keys}.Parse("f.yaml", []byte(test.text)))); got != test.want {
			t.Errorf("%s: got %s\nwant %s", test.name, got, test.want)
		}
	}
	keys := Parse("f.yaml", []byte(own+uses)).ContextKeys()
	if got := slices.Sorted(maps.Keys(keys)); fmt.Sprint(got) != "[device.id plugin-login-flow.access_token signedDeviceInfoToken]" || keys["device.id"] != "The device" {
		t.Errorf("got %v", keys)
	}
}

func TestParseContextKeys(t *testing.T) {
	for _, test := range []struct{ name, text, keys, findings string }{
		{"k.yaml", "a.b: A\nc:\n", "map[a.b:A c:]", "[]"},
		{"k.json", `{"a.b": "A"}`, "map[a.b:A]", "[]"},
		{"k.yaml", "[a.b]", "map[]", "[k.yaml:1:1: error: context_keys must be an object, not a list [wrong-type]]"},
		{"k.yaml", "a.b: A\na.b: B\n", "map[]", `[k.yaml:2:1: error: "a.b" is already used on line 1, column 1 [duplicate-key]]`},
		{"k.yaml", "", "map[]", "[k.yaml:1:1: error: the file is empty [syntax]]"},
	} {
		keys, findings := ParseContextKeys(test.name, []byte(test.text))
		if fmt.Sprint(keys) != test.keys || fmt.Sprint(findings) != test.findings {
			t.Errorf("%q: got %v, %v", test.text, keys, findings)
		}
	}
}
