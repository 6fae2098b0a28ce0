package contextkeys_test

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"signpost"
	"signpost/contextkeys"
)

// b64 encodes text as a client does.
func b64(text string) string { return base64.RawURLEncoding.EncodeToString([]byte(text)) }

// all returns all values by the name they were sent under.
func all(v contextkeys.Values) map[string]any { return maps.Collect(v.All()) }

// forms returns the ways in which clients, queries and proxies may rewrite a ctx.
func forms(ctx string) []string {
	padded := ctx + strings.Repeat("=", (4-len(ctx)%4)%4)
	std := strings.NewReplacer("-", "+", "_", "/").Replace(padded)
	return []string{
		ctx, padded, std, strings.TrimRight(std, "="), strings.ReplaceAll(std, "+", " "), strings.ReplaceAll(std, "+", "%20"),
		url.QueryEscape(std), url.QueryEscape(url.QueryEscape(std)), fmt.Sprintf("%%%02X", ctx[0]) + ctx[1:],
	}
}

func TestDecode(t *testing.T) {
	// Its base64 has a + and a / in the standard alphabet and needs padding.
	const text = `{"token":"~~~???>>>","n":20.0,"big":123456789012345678901234567890,"on":true,"off":false,"none":null,"é\n":"\u00e9&","list":["~",2.0],"map":{"a":[{}]}}`
	want := map[string]any{
		"token": "~~~???>>>", "n": json.Number("20.0"), "big": json.Number("123456789012345678901234567890"),
		"on": true, "off": false, "none": nil, "é\n": "é&", "list": json.RawMessage(`["~",2.0]`), "map": json.RawMessage(`{"a":[{}]}`),
	}
	ctx := b64(text)
	if !strings.Contains(ctx, "-") || !strings.Contains(ctx, "_") || len(ctx)%4 == 0 {
		t.Fatalf("%s does not need the standard alphabet and padding", ctx)
	}
	for _, form := range append(forms(ctx), b64(" "+strings.ReplaceAll(text, `,"`, ",\n \"")+"\r\n")) {
		v, err := contextkeys.Decode(form)
		if err != nil {
			t.Fatalf("%s: %v", form, err)
		}
		if diff := cmp.Diff(want, all(v)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", form, diff)
		}
	}
	for _, ctx := range []string{"", b64("{}")} {
		if v, err := contextkeys.Decode(ctx); err != nil || len(all(v)) != 0 {
			t.Errorf("Decode(%q) = %v, %v, want no keys", ctx, v, err)
		}
	}
}

func TestDecodeRefuses(t *testing.T) {
	keys := func(n int) string {
		var fields []string
		for i := range n {
			fields = append(fields, fmt.Sprintf(`"k%d":%d`, i, i))
		}
		return b64("{" + strings.Join(fields, ",") + "}")
	}
	if v, err := contextkeys.Decode(keys(contextkeys.MaxKeys)); err != nil || len(all(v)) != contextkeys.MaxKeys {
		t.Errorf("as many keys as may be: %v", err)
	}
	long := b64(`{"k":"` + strings.Repeat("s", contextkeys.MaxCtx*3/4-8) + `"}`)
	if v, err := contextkeys.Decode(long); err != nil || len(long) != contextkeys.MaxCtx {
		t.Errorf("%d bytes: %v, %v", len(long), v, err)
	}

	ok := b64(`{"k":1}`) // ten characters
	for _, test := range []struct {
		name, ctx, key, reason string
	}{
		{"JSON", `{"k":"sesame"}`, "", "is plain JSON, which must be base64url-encoded"},
		{"an escape cut off", ok + "%3", "", "has a % without two hexadecimal digits after it"},
		{"percent-encoded three times", ok + "%25253D%25253D", "", "is not base64url: invalid at byte 11 of 16"},
		{"a line break", ok[:4] + "\n" + ok[4:], "", "is not base64url: invalid at byte 5 of 11"},
		{"one = of two", ok + "=", "", "is not base64url: invalid at byte 11 of 11"},
		{"bits left over", ok[:9] + "R", "", "is not base64url: invalid at byte 9 of 10"},
		{"not ASCII", "é" + ok, "", "is not base64url: invalid at byte 1 of 12"},
		{"not UTF-8", b64("{\"k\":\"\xff\"}"), "", "is not UTF-8 text"},
		{"no JSON", b64(`{"k":sesame}`), "", "is not JSON: invalid at byte 6 of 12"},
		{"more after the object", b64(`{"k":1}{}`), "", "is not JSON: invalid at byte 8 of 9"},
		{"an array", b64(`["sesame"]`), "", "is JSON, but not an object"},
		{"a key twice", b64(`{"k":"sesame","k":"sesame"}`), "k", "is duplicated"},
		{"a key twice, once in escapes", b64(`{"k":"sesame","\u006b":null}`), "k", "is duplicated"},
		{"a long key", b64(`{"` + strings.Repeat("é", 99) + `":[],"` + strings.Repeat("é", 99) + `":1}`), strings.Repeat("é", 64), "is duplicated"},
		{"too many keys", keys(contextkeys.MaxKeys + 1), "", "has more than 256 keys"},
	} {
		t.Run(test.name, func(t *testing.T) {
			v, err := contextkeys.Decode(test.ctx)
			got, _ := errors.AsType[*contextkeys.MalformedError](err)
			want := &contextkeys.MalformedError{Status: http.StatusBadRequest, Type: signpost.ContextCtx, Key: test.key, Reason: test.reason}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			if len(all(v)) != 0 {
				t.Errorf("it has an error, and yet %v", v)
			}
			if strings.Contains(err.Error(), "sesame") {
				t.Errorf("%q quotes a value", err)
			}
		})
	}
	_, err := contextkeys.Decode(long + "A")
	if got, _ := errors.AsType[*contextkeys.MalformedError](err); got == nil || got.Status != http.StatusRequestURITooLong {
		t.Errorf("too long: %v", err)
	}
}
