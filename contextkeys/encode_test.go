package contextkeys_test

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"

	"signpost"
	"signpost/contextkeys"
	"signpost/internal/testkit"
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
	testkit.Cases(t, "testdata/encode.golden", func(text string) string {
		var raw map[string]json.RawMessage
		testkit.OK(t, json.Unmarshal([]byte(text), &raw))
		values := make(map[string]any)
		for key, value := range raw {
			if values[key] = value; value[0] != '{' && value[0] != '[' {
				values[key] = all(decode(t, `{"k":`+string(value)+`}`))["k"]
			}
		}
		var out strings.Builder
		ctx, err := contextkeys.Encode(items, values)
		object, _ := base64.RawURLEncoding.DecodeString(ctx)
		fmt.Fprintln(&out, "ctx", string(object), err)
		for _, mimeType := range []string{signpost.MIMEJSON, signpost.MIMEForm} {
			body, contentType, err := contextkeys.EncodeBody(items, values, mimeType)
			fmt.Fprintln(&out, contentType, string(body), err)
		}
		return out.String()
	})
	// A body is a form only if the endpoint says so. Values may have types of their own.
	type named string
	for mimeType, want := range map[string]string{
		"Application/X-WWW-Form-URLEncoded; charset=utf-8": signpost.MIMEForm,
		signpost.MIMEFeed: signpost.MIMEJSON, "text/xml": signpost.MIMEJSON,
	} {
		body, got, err := contextkeys.EncodeBody(items, map[string]any{"device": named("x")}, mimeType)
		if err != nil || got != want || !strings.Contains(string(body), "x") {
			t.Errorf("for %s the Content-Type of %s is %s, %v", mimeType, body, got, err)
		}
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
		{"a required key of another type", items, map[string]any{tokenKey: named("null")},
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
	if missing, ok := errors.AsType[*contextkeys.MissingError](err); !ok || missing.Item != items[3] {
		t.Errorf("got %v", err)
	}
}

// What Encode makes, Decode takes: both have the same limit.
func TestEncodeLimit(t *testing.T) {
	items := []signpost.ContextItem{{Key: "k", Type: signpost.ContextCtx}}
	for extra, want := range []bool{true, false} {
		length := contextkeys.MaxCtx*3/4 - len(`{"k":""}`) + extra
		ctx, err := contextkeys.Encode(items, map[string]any{"k": strings.Repeat("s", length)})
		if (err == nil) != want || want && len(ctx) != contextkeys.MaxCtx {
			t.Errorf("%d bytes: a ctx of %d, %v", length, len(ctx), err)
		}
		if _, err := contextkeys.Decode(ctx); err != nil {
			t.Error(err)
		}
	}
}
