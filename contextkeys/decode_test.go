package contextkeys_test

import (
	"encoding/base64"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"signpost"
	"signpost/contextkeys"
	"signpost/internal/testkit"
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
	testkit.Cases(t, "testdata/decode.golden", func(text string) string {
		ctx, raw := strings.CutPrefix(text, "ctx=")
		if !raw {
			ctx = b64(text)
		}
		v, err := contextkeys.Decode(ctx)
		if malformed, ok := errors.AsType[*contextkeys.MalformedError](err); ok {
			if len(all(v)) != 0 || malformed.Type != signpost.ContextCtx || strings.Contains(err.Error(), "sesame") {
				t.Errorf("%s: %v beside %v", text, v, err)
			}
			return fmt.Sprintf("%d %q %s", malformed.Status, malformed.Key, malformed.Reason)
		}
		var out strings.Builder
		for name, value := range v.All() {
			fmt.Fprintf(&out, "%q %T", name, value)
			if text, ok := v.Text(name); ok {
				fmt.Fprintf(&out, ", text %q", text)
			}
			if on, ok := v.Bool(name); ok {
				fmt.Fprintf(&out, ", bool %v", on)
			}
			if number, ok := v.Number(name); ok {
				fmt.Fprintf(&out, ", number %s", number)
			}
			if n, ok := v.Int64(name); ok {
				fmt.Fprintf(&out, ", int64 %d", n)
			}
			if raw, ok := v.JSON(name); ok {
				fmt.Fprintf(&out, ", JSON %s", raw)
			}
			out.WriteString("\n")
		}
		return out.String()
	})
}

func TestDecodeLimits(t *testing.T) {
	keys := func(n int) string {
		var fields []string
		for i := range n {
			fields = append(fields, fmt.Sprintf(`"k%d":%d`, i, i))
		}
		return b64("{" + strings.Join(fields, ",") + "}")
	}
	long := b64(`{"k":"` + strings.Repeat("s", contextkeys.MaxCtx*3/4-8) + `"}`)
	name := strings.Repeat("é", 99)
	for _, test := range []struct {
		ctx    string
		status int // 0 if there is no error
		key    string
	}{
		{keys(contextkeys.MaxKeys), 0, ""},
		{keys(contextkeys.MaxKeys + 1), 0, ""}, // Decode does not know which are declared, and keeps all
		{long, 0, ""},
		{long + "A", http.StatusRequestURITooLong, ""},
		{b64(`{"` + name + `":[],"` + name + `":1}`), http.StatusBadRequest, strings.Repeat("é", 64)},
	} {
		_, err := contextkeys.Decode(test.ctx)
		got := contextkeys.MalformedError{}
		if malformed, ok := errors.AsType[*contextkeys.MalformedError](err); ok {
			got = *malformed
		}
		if got.Status != test.status || got.Key != test.key {
			t.Errorf("%.40s of %d bytes: %v", test.ctx, len(test.ctx), err)
		}
	}
}
