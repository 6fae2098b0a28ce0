package contextkeys_test

import (
	"errors"
	"math"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"unicode/utf8"

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

		want := func(r *http.Request, kind string) {
			t.Helper()
			v, err := contextkeys.FromRequest(r, declare(kind))
			if err != nil {
				t.Fatal(err)
			}
			gotText, _ := v.Text(key)
			gotNumber, _ := v.Number("number")
			gotFlag, isFlag := v.Bool("flag")
			_, absent := v.Text("absent")
			if n, err := gotNumber.Float64(); gotText != text || err != nil || n != number || gotFlag != flag || !isFlag || absent {
				t.Fatalf("got %q, %v, %v, %v", gotText, gotNumber, gotFlag, isFlag)
			}
		}
		for _, form := range forms(ctx) {
			if len(form) > contextkeys.MaxCtx {
				continue
			}
			r := httptest.NewRequest("GET", "/", nil)
			r.URL.RawQuery = "a=b&ctx=" + form
			want(r, signpost.ContextCtx)
		}
		for _, mimeType := range []string{signpost.MIMEForm, signpost.MIMEJSON} {
			body, contentType, err := contextkeys.EncodeBody(declare(signpost.ContextBodyParam), values, mimeType)
			if err != nil {
				t.Fatal(err)
			}
			r := httptest.NewRequest("POST", "/", strings.NewReader(string(body)))
			r.Header.Set("Content-Type", contentType)
			want(r, signpost.ContextBodyParam)
		}
	})
}

// An error of Decode is short and reveals at most a key of what was sent.
func FuzzDecode(f *testing.F) {
	const secret = "Open-Sesame-4711"
	for _, text := range [][2]string{
		{`{"k":"`, `"}`}, {`{"k":`, `}`}, {`{"`, `":1}`}, {`{"k":["`, `"]}`}, {`{"k":"`, `","k":1}`}, {`"`, `"`}, {`{"k":"\u`, `"}`},
		{"{\"k\":\"\xff", `"}`}, {`{"k":"`, `"}{}`}, {"", ""}, {"%", ""}, {"%2525", "=="}, {"{", "}"},
	} {
		f.Add(text[0], text[1])
	}
	f.Fuzz(func(t *testing.T, before, after string) {
		text := before + secret + after
		for _, ctx := range []string{b64(text), text} {
			v, err := contextkeys.Decode(ctx)
			if err == nil {
				continue
			}
			malformed, ok := errors.AsType[*contextkeys.MalformedError](err)
			if !ok || len(all(v)) != 0 || malformed.Status < 400 || utf8.RuneCountInString(malformed.Key) > 64 || len(malformed.Reason) > 100 {
				t.Fatalf("Decode(%q) = %v, %#v", ctx, v, err)
			}
			for part := range strings.SplitSeq(secret, "-") {
				if strings.Contains(malformed.Reason, part) || strings.Contains(err.Error(), part) && !strings.Contains(malformed.Key, part) {
					t.Errorf("Decode(%q): %q quotes the value", ctx, err)
				}
			}
		}
	})
}
