package client

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"signpost"
	"signpost/contextkeys"
	"signpost/internal/testkit"
)

func TestDefaults(t *testing.T) {
	e := endpoint("https://feeds.example.com/v1", modifiers(
		signpost.Text(input("text", "a b")), signpost.Text(input("empty", "")), signpost.Text(input("none", nil)),
		signpost.Number(input("zero", 0)), signpost.Number(input("large", 1000000.0)), signpost.Number(input("exact", json.Number("20.0"))),
		signpost.Boolean(input("off", false)), signpost.Select(input("sort", "newest", "newest", "title")),
	))
	want := map[string]string{"text": "a b", "empty": "", "zero": "0", "large": "1000000", "exact": "20.0", "off": "false", "sort": "newest"}
	if diff := cmp.Diff(want, Defaults(e)); diff != "" {
		t.Error(diff)
	}
	testkit.Must(NewRequest(t.Context(), e, Call{Modifiers: Defaults(e)}))(t) // they fit their controls
}

const origin = "https://feeds.example.com"

// values are those of modifiers and placeholders.
type values = map[string]string

func TestNewRequestURL(t *testing.T) {
	controls := modifiers(signpost.Number(input("limit", 20)), signpost.Text(input("q", nil)), signpost.Boolean(input("new one", nil)))
	for _, test := range []struct {
		name, url string
		call      Call
		want      string
	}{
		{"as it is", "/v1", Call{}, "/v1"},
		{"modifiers in the order of the manifest", "/v1", Call{Modifiers: values{"new one": "true", "q": "a&b=c d+é", "limit": "5"}},
			"/v1?limit=5&q=a%26b%3Dc%20d%2B%C3%A9&new%20one=true"},
		{"not chosen", "/v1", Call{Modifiers: values{"q": ""}}, "/v1"},
		{"a query is kept", "/v1?a=1", Call{Modifiers: values{"limit": "5"}}, "/v1?a=1&limit=5"},
		{"an empty query", "/v1?", Call{Modifiers: values{"limit": "5"}}, "/v1?limit=5"},
		{"an open query", "/v1?a=1&", Call{Modifiers: values{"limit": "5"}}, "/v1?a=1&limit=5"},
		{"before the fragment", "/v1#a?b", Call{Modifiers: values{"limit": "5"}}, "/v1?limit=5#a?b"},
		{"a parameter of the feed is replaced", "/v1", Call{Feed: origin + "/v1?limit=1&a=1&%6Cimit=3&limit", Modifiers: values{"limit": "5"}}, "/v1?limit=5&a=1"},
		{"unless nothing is chosen", "/v1", Call{Feed: origin + "/v1?limit=10", Modifiers: values{"limit": ""}}, "/v1?limit=10"},
		{"and the rest is as written", "/v1?a=%zz&B=1;2&q=x", Call{Modifiers: values{"q": "5"}}, "/v1?a=%zz&B=1;2&q=5"},
		{"undeclared context is left out", "/v1", Call{Context: map[string]any{"token": secret}}, "/v1"},
		{"a placeholder", "/series/{{id}}/episodes", Call{Params: values{"id": "7"}}, "/series/7/episodes"},
		{"a value stays in its segment", "/series/{{id}}/e", Call{Params: values{"id": "../a/b?c#d e%2F"}}, "/series/..%2Fa%2Fb%3Fc%23d%20e%252F/e"},
		{"and in its parameter", "/e?id={{id}}", Call{Params: values{"id": "7&admin=1+2"}}, "/e?id=7%26admin%3D1%2B2"},
		{"a value is not looked at again", "/{{a}}/{{b}}/{{a}}", Call{Params: values{"a": "{{b}}", "b": "x"}}, "/%7B%7Bb%7D%7D/x/%7B%7Bb%7D%7D"},
		{"a feed below the endpoint", "/series/{{id}}", Call{Feed: "HTTPS://Feeds.example.com/series/7/more?a=1", Modifiers: values{"limit": "5"}},
			"https://Feeds.example.com/series/7/more?a=1&limit=5"},
	} {
		req := testkit.Must(NewRequest(t.Context(), endpoint(origin+test.url, controls), test.call))(t)
		if got := strings.TrimPrefix(req.URL.String(), origin); got != test.want || req.Method != http.MethodGet || req.Body != nil {
			t.Errorf("%s:\ngot  %s %s with body %v\nwant %s", test.name, req.Method, got, req.Body, test.want)
		}
	}
}

func TestNewRequestErrors(t *testing.T) {
	body := signpost.ContextItem{Key: "token", Type: signpost.ContextBodyParam}
	requiredBody := signpost.ContextItem{Key: "token", Type: signpost.ContextBodyParam, Required: true}
	given := map[string]any{"token": secret}
	const base = origin + "/v1"
	for _, test := range []struct {
		name string
		e    signpost.Endpoint
		call Call
		want string
	}{
		{"host", endpoint("https://{{host}}/v1"), Call{}, "still contains {{host}}: resolve the manifest first"},
		{"method", endpoint(base, method("delete")), Call{}, `has method "delete", which is not "get" or "post"`},
		{"no value", endpoint(base + "/{{a}}/{{b}}"), Call{Params: values{"a": ""}}, "needs a value for {{a}}, {{b}}"},
		{"no placeholder", endpoint(base + "/{{a}}"), Call{Params: values{"a": "1", "z": "1", "c": "1"}}, "has no placeholder {{c}}"},
		{"placeholder in the host", endpoint("https://{{region}}.example.com/"), Call{Params: values{"region": "evil.example.net/"}}, "has a placeholder in its host"},
		{"dot segments", endpoint(base + "/{{a}}/x"), Call{Params: values{"a": ".."}}, `would get the path "/v1/../x", which leads elsewhere`},
		{"another host", endpoint(base), Call{Feed: "https://evil.example.net/v1"}, "is not on the host of endpoint"},
		{"another scheme", endpoint(base), Call{Feed: "http://feeds.example.com/v1"}, "is not on the host of endpoint"},
		{"user info", endpoint(base), Call{Feed: "https://feeds.example.com@evil.example.net/v1"}, "is not on the host of endpoint"},
		{"backslash", endpoint(base), Call{Feed: `https://feeds.example.com\@evil.example.net/v1`}, "is not on the host of endpoint"},
		{"an open feed", endpoint(base), Call{Feed: base + "/{{a}}"}, "still has placeholders"},
		{"value", endpoint(base, modifiers(signpost.Number(input("limit", nil)))), Call{Modifiers: values{"limit": " 5"}}, `modifier "limit" takes a number, not " 5"`},
		{"no modifier", endpoint(base), Call{Modifiers: values{"z": "", "b": "1"}}, `has no modifier with the key "b"`},
		{"required context", endpoint(base, items(tokenItem)), Call{}, `endpoint "https://feeds.example.com/v1": required context key "token" is missing`},
		{"body of a get", endpoint(base, items(body)), Call{Context: given}, `context key "token" belongs in the body, but a get request has none`},
		{"required in the body of a get", endpoint(base, items(requiredBody)), Call{}, `context key "token" belongs in the body, but a get request has none`},
		{"required in a body", endpoint(base, items(requiredBody), post), Call{}, `required context key "token" is missing`},
		{"nested context", endpoint(base, items(tokenItem)), Call{Context: map[string]any{"token": []string{secret}}}, `value of context key "token"`},
		{"not a URL, with ctx in it", endpoint("https://feeds.example.com:port/v1", items(tokenItem)), Call{Context: given}, "build request to endpoint"},
	} {
		if _, err := NewRequest(t.Context(), test.e, test.call); err == nil || !strings.Contains(err.Error(), test.want) || shows(err.Error()) {
			t.Errorf("%s:\ngot  %v\nwant %s", test.name, err, test.want)
		}
	}
}

// shows reports whether text contains the secret in any form in which it is sent.
func shows(text string) bool {
	encoded, err := contextkeys.Encode([]signpost.ContextItem{{Key: "token", Type: signpost.ContextCtx}}, map[string]any{"token": secret})
	if err != nil {
		panic(err)
	}
	return strings.Contains(text, secret) || strings.Contains(text, encoded) || strings.Contains(text, "ctx=")
}

// TestNewRequestContext reads the context keys of requests as a service does, with package contextkeys.
func TestNewRequestContext(t *testing.T) {
	token := signpost.ContextItem{Key: "login.token", Type: signpost.ContextCtx, Required: true}
	profile := signpost.ContextItem{Key: "profile", Type: signpost.ContextBodyParam, Mapper: "user"}
	device := signpost.ContextItem{Key: "device", Type: signpost.ContextCtx, Mapper: "dev"}
	values := map[string]any{"login.token": secret + " +/=é", "profile": "a&b", "device": 7}
	const base = "https://feeds.example.com/v1"
	for _, test := range []struct {
		contentType string
		e           signpost.Endpoint
	}{
		{"", endpoint(base, items(token, device))},
		{"application/json", endpoint(base, items(token, device, profile), post)},
		{signpost.MIMEForm, endpoint(base, items(token, device, profile), post, mimeType(signpost.MIMEForm))},
		{"", endpoint(base, post)},
	} {
		given := make(map[string]any)
		for _, item := range test.e.ContextObj {
			given[item.Key] = values[item.Key]
		}
		req, err := NewRequest(t.Context(), test.e, Call{Context: given})
		if err != nil || req.Header.Get("Content-Type") != test.contentType {
			t.Fatalf("%+v: %v, %v", test.e, req, err)
		}
		called := false
		contextkeys.Middleware(test.e.ContextObj)(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
			called = true
			for key, value := range given {
				if got, ok := contextkeys.FromContext(r.Context()).Text(key); !ok || got != fmt.Sprint(value) {
					t.Errorf("%+v: the service gets %q as %s", test.e, got, key)
				}
			}
		})).ServeHTTP(httptest.NewRecorder(), req)
		if !called {
			t.Errorf("%+v: rejected", test.e)
		}
	}
}

func TestNewRequestAccept(t *testing.T) {
	for declared, want := range map[string]string{
		signpost.MIMEJSON:                    "application/json, */*;q=0.1",
		signpost.MIMEFeed:                    "application/vnd+vendor.feed+json, */*;q=0.1",
		signpost.MIMEForm:                    "*/*",
		"Application/X-WWW-Form-Urlencoded;": "*/*",
		"":                                   "*/*",
	} {
		for _, change := range []func(*signpost.Endpoint){post, func(*signpost.Endpoint) {}} {
			req, err := NewRequest(t.Context(), endpoint("https://feeds.example.com/v1", mimeType(declared), change), Call{})
			if err != nil || req.Header.Get("Accept") != want || req.Header.Get("User-Agent") != "signpost" {
				t.Errorf("%q: %v, %v, want %s", declared, req.Header, err, want)
			}
		}
	}
}

func TestCheckValue(t *testing.T) {
	number, text := signpost.Number(input("n", nil)).Params[0], signpost.Text(input("q", nil)).Params[0]
	toggle, choice := signpost.Boolean(input("on", nil)).Params[0], signpost.Select(input("sort", nil, "newest", "title")).Params[0]
	options := signpost.Select(input("sort", nil, "newest", "title")).Params[0]
	options.Schema.Enum = nil
	const notNumber, notBoolean, notOption = `modifier "n" takes a number, not "%s"`, `modifier "on" takes true or false, not "%s"`, `modifier "sort" takes one of ["newest" "title"], not "%s"`
	for _, test := range []struct {
		param     signpost.Param
		value     string
		wantError string
	}{
		{number, "", ""}, {number, "-1.5e3", ""}, {number, ".5", ""},
		{number, "5.", notNumber}, {number, "x", notNumber}, {number, "0x10", notNumber}, {number, "Inf", notNumber}, {number, "1e400", notNumber},
		{text, "", ""}, {text, "anything", ""}, {toggle, "false", ""}, {toggle, "0", notBoolean},
		{choice, "title", ""}, {choice, "", ""}, {choice, "Title", notOption}, {options, "title", ""}, {options, "x", notOption},
	} {
		got, want := "", strings.ReplaceAll(test.wantError, "%s", test.value)
		if err := CheckValue(test.param, test.value); err != nil {
			got = err.Error()
		}
		if got != want {
			t.Errorf("%s %q: %s, want %s", test.param.Key, test.value, got, want)
		}
	}
}

func ExampleNewRequest() {
	e := signpost.Endpoint{
		URL: "https://feeds.example.com/v1/series/{{series_id}}/episodes", Name: "Episodes",
		Method: signpost.MethodGet, MIMEType: signpost.MIMEJSON,
		ContextObj: []signpost.ContextItem{{Key: "login.access_token", Type: signpost.ContextCtx, Required: true, Mapper: "token"}},
		Modifiers:  []signpost.Modifier{signpost.Number(signpost.ModifierInput{ID: "limit", Name: "Page size", Key: "limit", Label: "Limit", DefaultValue: 20})},
	}
	req, err := NewRequest(context.Background(), e, Call{
		Params:    map[string]string{"series_id": "7"},
		Modifiers: Defaults(e),
		Context:   map[string]any{"login.access_token": "abc"},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(req.Method, req.URL)
	// Output: GET https://feeds.example.com/v1/series/7/episodes?limit=20&ctx=eyJ0b2tlbiI6ImFiYyJ9
}
