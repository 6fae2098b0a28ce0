package contextkeys_test

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"math"
	"strings"
	"testing"

	"signpost"
	"signpost/contextkeys"
)

const tokenKey = "plugin-login-flow.access_token"

// items has some of each kind: the token of the spec, an alias, and both again in the body.
var items = []signpost.ContextItem{
	{Key: tokenKey, Type: signpost.ContextCtx, Required: true},
	{Key: "user_account.profile", Type: signpost.ContextCtx, Mapper: "profile"},
	{Key: "signedDeviceInfoToken", Type: signpost.ContextCtx},
	{Key: "device", Type: signpost.ContextBodyParam, Required: true, Mapper: "d"},
	{Key: "limit", Type: signpost.ContextBodyParam},
}

func TestEncode(t *testing.T) {
	type named string
	for name, test := range map[string]struct {
		values          map[string]any
		ctx, json, form string
	}{
		"all": {
			map[string]any{tokenKey: "t", "user_account.profile": 7, "signedDeviceInfoToken": "s", "device": "a&b=é +", "limit": json.Number("20.0")},
			`{"` + tokenKey + `":"t","profile":7,"signedDeviceInfoToken":"s"}`, `{"d":"a\u0026b=é +","limit":20.0}`, "d=a%26b%3D%C3%A9+%2B&limit=20.0",
		},
		"required alone": {map[string]any{tokenKey: "t", "device": named("a")}, `{"` + tokenKey + `":"t"}`, `{"d":"a"}`, "d=a"},
		"optional as nil": {
			map[string]any{tokenKey: "t", "user_account.profile": nil, "device": true, "limit": nil}, `{"` + tokenKey + `":"t"}`, `{"d":true}`, "d=true",
		},
		"optional, and not a value to some": {
			map[string]any{tokenKey: "t", "user_account.profile": "", "signedDeviceInfoToken": "undefined", "device": true, "limit": "null"},
			`{"` + tokenKey + `":"t","profile":"","signedDeviceInfoToken":"undefined"}`, `{"d":true,"limit":"null"}`, "d=true&limit=null",
		},
		"an object and an array, written as JSON": {
			map[string]any{tokenKey: json.RawMessage(`{"a": [1]}`), "device": json.RawMessage(`[ "x" ]`)},
			`{"` + tokenKey + `":{"a":[1]}}`, `{"d":["x"]}`, "d=%5B%22x%22%5D",
		},
		"not declared, or by an alias": {
			map[string]any{tokenKey: 1.5, "password": "sesame", "profile": "sesame", "device": false, "d": "sesame"},
			`{"` + tokenKey + `":1.5}`, `{"d":false}`, "d=false",
		},
	} {
		t.Run(name, func(t *testing.T) {
			ctx, err := contextkeys.Encode(items, test.values)
			if err != nil {
				t.Fatal(err)
			}
			text, err := base64.RawURLEncoding.DecodeString(ctx)
			if err != nil || string(text) != test.ctx {
				t.Errorf("ctx holds %s, %v, want %s", text, err, test.ctx)
			}
			for mimeType, want := range map[string]string{
				signpost.MIMEForm: test.form, "Application/X-WWW-Form-URLEncoded; charset=utf-8": test.form,
				signpost.MIMEJSON: test.json, signpost.MIMEFeed: test.json, "text/xml": test.json,
			} {
				body, contentType, err := contextkeys.EncodeBody(items, test.values, mimeType)
				if err != nil || string(body) != want {
					t.Errorf("for %s the body is %s, %v, want %s", mimeType, body, err, want)
				}
				if isForm := contentType == signpost.MIMEForm; isForm != (want == test.form) || !isForm && contentType != signpost.MIMEJSON {
					t.Errorf("for %s the Content-Type is %s", mimeType, contentType)
				}
			}
		})
	}
}

func TestEncodeNothing(t *testing.T) {
	for _, items := range [][]signpost.ContextItem{nil, {{Key: "a", Type: signpost.ContextCtx}, {Key: "b", Type: signpost.ContextBodyParam}}} {
		ctx, err := contextkeys.Encode(items, nil)
		body, contentType, bodyErr := contextkeys.EncodeBody(items, nil, signpost.MIMEForm)
		if ctx != "" || body != nil || contentType != "" || err != nil || bodyErr != nil {
			t.Errorf("got %q, %v and %q, %q, %v", ctx, err, body, contentType, bodyErr)
		}
	}
}

func TestEncodeRefuses(t *testing.T) {
	aliases := []signpost.ContextItem{{Key: "a", Type: signpost.ContextCtx, Mapper: "x"}, {Key: "x", Type: signpost.ContextCtx}}
	type named string
	var none *string
	for _, test := range []struct {
		name   string
		items  []signpost.ContextItem
		values map[string]any
		want   string
	}{
		{"a required key is missing", items, map[string]any{"user_account.profile": "sesame"},
			`required context key "plugin-login-flow.access_token" is missing: it goes into the ctx query parameter`},
		{"a required key is nil", items, map[string]any{tokenKey: nil},
			`required context key "plugin-login-flow.access_token" is missing: it goes into the ctx query parameter`},
		{"a required key is empty", items, map[string]any{tokenKey: ""},
			`required context key "plugin-login-flow.access_token" is missing: "" counts as no value; send one in the ctx query parameter`},
		{"a required key is undefined", items, map[string]any{tokenKey: "undefined"},
			`required context key "plugin-login-flow.access_token" is missing: "undefined" counts as no value; send one in the ctx query parameter`},
		{"a required key is null as text", items, map[string]any{tokenKey: named("null")},
			`required context key "plugin-login-flow.access_token" is missing: "null" counts as no value; send one in the ctx query parameter`},
		{"two under one name", aliases, map[string]any{"a": "sesame", "x": "sesame"}, `context key "x" and another one are both sent as "x"`},
		{"an object", aliases, map[string]any{"a": map[string]any{"b": "sesame"}}, `value of context key "a" is a map[string]interface {}: use a string, a number or a boolean`},
		{"an array", aliases, map[string]any{"a": []string{"sesame"}}, `value of context key "a" is a []string: use a string, a number or a boolean`},
		{"a nil pointer", aliases, map[string]any{"a": none}, `value of context key "a" is a *string: use a string, a number or a boolean`},
		{"no number of JSON", aliases, map[string]any{"a": math.NaN()}, `value of context key "a" is a float64: use a string, a number or a boolean`},
		{"no number at all", aliases, map[string]any{"a": json.Number("sesame")}, `value of context key "a" is a json.Number: use a string, a number or a boolean`},
		{"not UTF-8", aliases, map[string]any{"a": "sesame\xff"}, `value of context key "a" is not UTF-8 text`},
		{"too long", aliases, map[string]any{"a": strings.Repeat("sesame", 6000)}, `ctx would have 48011 bytes: services accept at most 32768`},
	} {
		t.Run(test.name, func(t *testing.T) {
			ctx, err := contextkeys.Encode(test.items, test.values)
			if err == nil || err.Error() != test.want || ctx != "" {
				t.Errorf("got %q, %v, want the error %s", ctx, err, test.want)
			}
		})
	}
	_, _, err := contextkeys.EncodeBody(items, map[string]any{tokenKey: "t"}, signpost.MIMEJSON)
	const want = `required context key "device" is missing: it goes into the request body as "d"`
	if missing, ok := errors.AsType[*contextkeys.MissingError](err); !ok || missing.Item != items[3] || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
}
