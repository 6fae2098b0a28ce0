package contextkeys_test

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"signpost"
	"signpost/contextkeys"
)

// A service finds what a client encoded, in every form in which it may arrive, in ctx and in the body.
func FuzzRoundTrip(f *testing.F) {
	f.Add("plugin-login-flow.access_token", "", "eyJhbGciOiJIUzI1NiJ9.e30.c2ln", 20.0, true)
	f.Add("user_account.profile", "profile", "~~~???>>>", -1e300, false)
	f.Add("k", "é\n\"\\", "\x00\u2028&=+%20 ", 0.1, true)
	f.Add("number", "x", "", 5e-324, false)
	f.Add("k", "x", "undefined", 5e-324, false)
	f.Add("", "", "\xff", math.Inf(1), false)
	f.Fuzz(func(t *testing.T, key, mapper, text string, number float64, flag bool) {
		declare := func(kind string) []signpost.ContextItem {
			return []signpost.ContextItem{
				{Key: key, Type: kind, Required: true, Mapper: mapper},
				{Key: "number", Type: kind}, {Key: "flag", Type: kind, Mapper: "on"}, {Key: "absent", Type: kind},
			}
		}
		name := mapper
		if name == "" {
			name = key
		}
		taken := map[string]bool{"number": true, "flag": true, "on": true, "absent": true}
		if taken[key] || taken[name] || !utf8.ValidString(name) {
			return
		}
		values := map[string]any{key: text, "number": number, "flag": flag}
		ctx, err := contextkeys.Encode(declare(signpost.ContextCtx), values)
		_, missing := errors.AsType[*contextkeys.MissingError](err)
		if missing != (text == "" || text == "undefined" || text == "null") {
			t.Fatalf("Encode of %q: %v", text, err)
		}
		sendable := !missing && utf8.ValidString(text) && !math.IsInf(number, 0) && !math.IsNaN(number)
		if (err == nil) != (sendable && len(ctx) <= contextkeys.MaxCtx) {
			t.Fatalf("Encode: %v", err)
		}
		if err != nil {
			return
		}
		again, _ := contextkeys.Encode(declare(signpost.ContextCtx), values)
		if again != ctx || url.QueryEscape(ctx) != ctx {
			t.Errorf("%q is another the second time, %q, or needs escaping", ctx, again)
		}

		want := func(v contextkeys.Values, err error) {
			t.Helper()
			if err != nil {
				t.Fatal(err)
			}
			gotText, _ := v.Text(key)
			gotNumber, _ := v.Number("number")
			gotFlag, isFlag := v.Bool("flag")
			n, err := gotNumber.Float64()
			if gotText != text || err != nil || n != number || gotFlag != flag || !isFlag {
				t.Fatalf("got %q, %v, %v, %v", gotText, gotNumber, gotFlag, isFlag)
			}
			if _, ok := v.Text("absent"); ok {
				t.Error("a key that was not sent is there")
			}
		}
		for _, form := range forms(ctx) {
			if len(form) > contextkeys.MaxCtx {
				continue
			}
			v, err := contextkeys.Decode(form)
			if err != nil {
				t.Fatalf("Decode(%q): %v", form, err)
			}
			if got, ok := all(v)[name]; got != text || !ok || len(all(v)) != 3 {
				t.Fatalf("Decode(%q) gave %q", form, all(v))
			}
			if strings.Contains(form, " ") {
				continue // cannot occur in a URL
			}
			r := httptest.NewRequest("GET", "/", nil)
			r.URL.RawQuery = "a=b&ctx=" + form
			want(contextkeys.FromRequest(r, declare(signpost.ContextCtx)))
		}
		for _, mimeType := range []string{signpost.MIMEForm, signpost.MIMEJSON} {
			body, contentType, err := contextkeys.EncodeBody(declare(signpost.ContextBodyParam), values, mimeType)
			if err != nil {
				t.Fatal(err)
			}
			r := httptest.NewRequest("POST", "/", strings.NewReader(string(body)))
			r.Header.Set("Content-Type", contentType)
			want(contextkeys.FromRequest(r, declare(signpost.ContextBodyParam)))
		}
	})
}

// forms returns the ways in which clients, queries and proxies may rewrite a ctx.
func forms(ctx string) []string {
	padded := ctx + strings.Repeat("=", (4-len(ctx)%4)%4)
	std := strings.NewReplacer("-", "+", "_", "/").Replace(padded)
	return []string{
		ctx, padded, std, strings.TrimRight(std, "="), strings.ReplaceAll(std, "+", " "),
		url.QueryEscape(std), url.QueryEscape(url.QueryEscape(std)), fmt.Sprintf("%%%02X", ctx[0]) + ctx[1:],
	}
}

// Decode returns what the standard library reads from the same text, or an error and nothing else. An error is short
// and reveals at most a key of what was sent.
func FuzzDecode(f *testing.F) {
	const secret = "Open-Sesame-4711"
	for _, text := range [][2]string{
		{`{"k":"`, `"}`}, {`{"k":`, `}`}, {`{"`, `":1}`}, {`{"`, `":{}}`}, {`{"k":["`, `"]}`}, {`{"k":"`, `","k":1}`}, {`"`, `"`}, {`{"k":"\u`, `"}`},
		{`{"k":1e400,"l":-0,"m":"`, `"} `}, {"{\"k\":\"\xff", `"}`}, {`{"k":"`, `"}{}`}, {"", ""}, {"%", ""}, {"%2525", "=="}, {"{", "}"},
	} {
		f.Add(text[0], text[1])
	}
	f.Fuzz(func(t *testing.T, before, after string) {
		text := before + secret + after
		for _, ctx := range []string{b64(text), text, base64.StdEncoding.EncodeToString([]byte(text))} {
			v, err := contextkeys.Decode(ctx)
			if err == nil && ctx != text {
				if diff := cmp.Diff(parse(t, text), parse(t, marshalled(t, all(v)))); diff != "" {
					t.Errorf("%q (-json +Decode):\n%s", text, diff)
				}
				for name := range v.All() {
					raw, _ := v.JSON(name)
					asText, isText := v.Text(name)
					if nested := raw != nil && (raw[0] == '{' || raw[0] == '['); nested && (isText || asText != "") {
						t.Errorf("%q: %q is an object or an array, and yet the text %q", text, name, asText)
					}
				}
			}
			if err == nil {
				continue
			}
			malformed, ok := errors.AsType[*contextkeys.MalformedError](err)
			if !ok || len(all(v)) != 0 || malformed.Status < 400 {
				t.Fatalf("Decode(%q) = %v, %#v", ctx, v, err)
			}
			for part := range strings.SplitSeq(secret, "-") {
				if strings.Contains(malformed.Reason, part) || strings.Contains(err.Error(), part) && !strings.Contains(malformed.Key, part) {
					t.Errorf("Decode(%q): %q quotes the value", ctx, err)
				}
			}
			if utf8.RuneCountInString(malformed.Key) > 64 || len(malformed.Reason) > 100 {
				t.Errorf("Decode(%q): %q is long", ctx, err)
			}
		}
	})
}

// parse reads a JSON object with the standard library.
func parse(t *testing.T, text string) map[string]any {
	t.Helper()
	object := make(map[string]any)
	dec := json.NewDecoder(strings.NewReader(text))
	dec.UseNumber()
	if err := dec.Decode(&object); err != nil {
		t.Fatalf("%q: %v", text, err)
	}
	return object
}

func marshalled(t *testing.T, v any) string {
	t.Helper()
	text, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
