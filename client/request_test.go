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
	e := endpoint("=https://feeds.example.com/v1")
	e.Modifiers = []signpost.Modifier{
		signpost.Text(input("text", "a b")), signpost.Text(input("empty", "")), signpost.Text(input("none", nil)),
		signpost.Number(input("zero", 0)), signpost.Number(input("large", 1000000.0)), signpost.Number(input("exact", json.Number("20.0"))),
		signpost.Boolean(input("off", false)), signpost.Select(input("sort", "newest", "newest", "title")),
	}
	want := map[string]string{"text": "a b", "empty": "", "zero": "0", "large": "1000000", "exact": "20.0", "off": "false", "sort": "newest"}
	if diff := cmp.Diff(want, Defaults(e)); diff != "" {
		t.Error(diff)
	}
	testkit.Must(NewRequest(t.Context(), e, Call{Modifiers: Defaults(e)}))(t) // they fit their controls
}

const origin = "https://feeds.example.com"

// TestNewRequest builds requests. A case is an endpoint, as testkit.Endpoints reads it, and the call of it as JSON.
func TestNewRequest(t *testing.T) {
	controls := []signpost.Modifier{signpost.Number(input("limit", 20)), signpost.Text(input("q", nil)), signpost.Boolean(input("new one", nil))}
	testkit.Cases(t, "testdata/requests.golden", func(line string) string {
		before, after, _ := strings.Cut(line, " {")
		var call Call
		testkit.OK(t, json.Unmarshal([]byte("{"+after), &call))
		e := endpoint(before)
		e.Modifiers = controls
		req, err := NewRequest(t.Context(), e, call)
		if err != nil && shows(err.Error()) {
			t.Errorf("%s: the error shows a context value: %v", line, err)
		}
		if err != nil {
			return "error: " + err.Error()
		}
		if req.Method != http.MethodGet || req.Body != nil {
			t.Errorf("%s: %s with body %v", line, req.Method, req.Body)
		}
		return req.URL.String()
	})
	_, err := NewRequest(t.Context(), signpost.Endpoint{URL: origin, Method: "delete"}, Call{})
	if want := `endpoint "https://feeds.example.com" has method "delete", which is not "get" or "post"`; err == nil || err.Error() != want {
		t.Errorf("%v, want %s", err, want)
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
	values := map[string]any{"login.token": secret + " +/=é", "profile": "a&b", "device": 7}
	for text, contentType := range map[string]string{
		"=https://feeds.example.com/v1 login.token! device=dev":                             "",
		"post =https://feeds.example.com/v1 login.token! device=dev body.profile=user":      "application/json",
		"post form =https://feeds.example.com/v1 login.token! device=dev body.profile=user": signpost.MIMEForm,
		"post =https://feeds.example.com/v1":                                                "",
	} {
		e, given := endpoint(text), make(map[string]any)
		for _, item := range e.ContextObj {
			given[item.Key] = values[item.Key]
		}
		req, err := NewRequest(t.Context(), e, Call{Context: given})
		if err != nil || req.Header.Get("Content-Type") != contentType {
			t.Fatalf("%s: %v, %v", text, req, err)
		}
		called := false
		contextkeys.Middleware(e.ContextObj)(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
			called = true
			for key, value := range given {
				if got, ok := contextkeys.FromContext(r.Context()).Text(key); !ok || got != fmt.Sprint(value) {
					t.Errorf("%s: the service gets %q as %s", text, got, key)
				}
			}
		})).ServeHTTP(httptest.NewRecorder(), req)
		if !called {
			t.Errorf("%s: rejected", text)
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
		for _, method := range []string{signpost.MethodGet, signpost.MethodPost} {
			req, err := NewRequest(t.Context(), signpost.Endpoint{URL: origin, Method: method, MIMEType: declared}, Call{})
			if err != nil || req.Header.Get("Accept") != want || req.Header.Get("User-Agent") != "signpost" {
				t.Errorf("%q: %v, %v, want %s", declared, req.Header, err, want)
			}
		}
	}
}

// TestCheckValue checks values for controls. A case is a control, and a value after a space.
func TestCheckValue(t *testing.T) {
	options := signpost.Select(input("sort", nil, "newest", "title"))
	options.Params[0].Schema.Enum = nil
	controls := map[string]signpost.Modifier{"text": signpost.Text(input("q", nil)), "number": signpost.Number(input("n", nil)),
		"boolean": signpost.Boolean(input("on", nil)), "select": signpost.Select(input("sort", nil, "newest", "title")), "options": options}
	testkit.Cases(t, "testdata/controls.golden", func(line string) string {
		control, value, _ := strings.Cut(line, " ")
		return fmt.Sprint(CheckValue(controls[control].Params[0], value))
	})
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
