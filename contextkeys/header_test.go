package contextkeys_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"signpost"
	"signpost/contextkeys"
	"signpost/internal/testkit"
)

// headerItems are of the types that apps know besides those of the specification.
var headerItems = []signpost.ContextItem{
	{Key: "access_token", Type: signpost.ContextBearerHeader, Required: true},
	{Key: "user_account.profile", Type: signpost.ContextHeader, Mapper: "x-profile"},
	{Key: "device", Type: signpost.ContextHeader},
}

// headerLines returns headers as text, in order.
func headerLines(header http.Header) string {
	var lines []string
	for name, values := range header {
		lines = append(lines, name+": "+strings.Join(values, " | "))
	}
	slices.Sort(lines)
	return strings.Join(lines, ", ")
}

func TestEncodeHeader(t *testing.T) {
	for _, test := range []struct {
		values    map[string]any
		mapper    string // of device
		want, err string
	}{
		{values: map[string]any{"access_token": "t.0-k", "user_account.profile": 7, "device": "a b=\"é\""},
			want: `Authorization: Bearer t.0-k, Device: a b="é", X-Profile: 7`},
		{values: map[string]any{"access_token": "t", "other": "sesame"}, want: "Authorization: Bearer t"},
		{values: map[string]any{}, err: `required context key "access_token" is missing: it goes into the request header as "Authorization"`},
		{values: map[string]any{"access_token": "undefined"},
			err: `required context key "access_token" is missing: "undefined" counts as no value; send one in the request header as "Authorization"`},
		{values: map[string]any{"access_token": "sesame\r\nHost: evil"}, err: `value of the header "Authorization" has a control character`},
		{values: map[string]any{"access_token": "t", "device": "sesame"}, mapper: "my device", err: `"my device" cannot be the name of a header: give the context key a mapper`},
		{values: map[string]any{"access_token": "t", "device": "sesame"}, mapper: "authorization", err: "two context keys are both sent as the header"},
		{values: map[string]any{"access_token": "t", "device": "sesame", "user_account.profile": 1}, mapper: "X-Profile", err: "two context keys are both sent as the header"},
	} {
		items := slices.Clone(headerItems)
		items[2].Mapper = test.mapper
		header, err := contextkeys.EncodeHeader(items, test.values)
		if (err == nil) != (test.err == "") || err != nil && !strings.HasPrefix(err.Error(), test.err) {
			t.Errorf("%v: error %v, want %q", test.values, err, test.err)
		}
		if got := headerLines(header); got != test.want {
			t.Errorf("%v: %s, want %s", test.values, got, test.want)
		}
		if err != nil && strings.Contains(err.Error(), "sesame") {
			t.Errorf("the error quotes a value: %v", err)
		}
	}
}

// TestHeaders reads what apps send in headers, and no other header.
func TestHeaders(t *testing.T) {
	for _, test := range []struct{ sent, want string }{
		{"Authorization: Bearer t.0-k\nX-Profile: 7\nDevice: d\nCookie: c", `"t.0-k" "7" "d", context keys ["Authorization" "device" "x-profile"]`},
		{"authorization: bearer  t\nx-profile: é", `"t" "é" "", context keys ["Authorization" "x-profile"]`},
		{"X-Profile: 7", `required context key "access_token" is missing: it goes into the request header as "Authorization"`},
		{"Authorization: Basic sesame", `required context key "access_token" is missing: it goes into the request header as "Authorization"`},
		{"Authorization: Bearer null", `required context key "access_token" is missing: "null" counts as no value; send one in the request header as "Authorization"`},
		{"Authorization: Bearer sesame\nAuthorization: Bearer t", `key "Authorization" of the request header occurs 2 times`},
		{"Authorization: Bearer t\nDevice: sesame\xff", `key "device" of the request header is not UTF-8 text`},
	} {
		req := httptest.NewRequest(http.MethodGet, "/v1/media", nil)
		for line := range strings.SplitSeq(test.sent, "\n") {
			name, value, _ := strings.Cut(line, ": ")
			req.Header.Add(name, value)
		}
		values, err := contextkeys.FromRequest(req, headerItems)
		got := fmt.Sprint(err)
		if err == nil {
			token, _ := values.Text("access_token")
			profile, _ := values.Text("user_account.profile")
			device, _ := values.Text("device")
			got = fmt.Sprintf("%q %q %q, %v", token, profile, device, values)
		}
		testkit.Equal(t, test.sent, got, test.want)
	}
}
