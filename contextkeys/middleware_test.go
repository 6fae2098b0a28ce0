package contextkeys_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"

	"signpost"
	"signpost/contextkeys"
)

// echo responds with the keys that it finds and the remaining body.
func echo(keys ...string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		for _, key := range keys {
			text, ok := contextkeys.FromContext(r.Context()).Text(key)
			fmt.Fprintf(w, "%s=%s %v\n", key, text, ok)
		}
		io.Copy(w, r.Body)
	})
}

// serve runs the handler behind the middleware on loopback.
func serve(t testing.TB, items []signpost.ContextItem, next http.Handler) *httptest.Server {
	t.Helper()
	s := httptest.NewServer(contextkeys.Middleware(items)(next))
	t.Cleanup(s.Close)
	return s
}

func send(t testing.TB, method, address, contentType, body string) (*http.Response, string) {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), method, address, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	if contentType != "" {
		request.Header.Set("Content-Type", contentType)
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	answer, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	return response, string(answer)
}

// refusal holds the parts of a problem that vary.
type refusal struct {
	status      int
	key, detail string
}

// wantRefusal checks a response against what all problems of this package have in common.
func wantRefusal(t testing.TB, response *http.Response, body string, want refusal) {
	t.Helper()
	var problem struct {
		Type, Title, Detail, Key string
		Status                   int
	}
	if err := json.Unmarshal([]byte(body), &problem); err != nil {
		t.Fatalf("%s %s is not a problem: %v", response.Status, body, err)
	}
	header := map[string]string{}
	for _, name := range []string{"Content-Type", "Cache-Control", "X-Content-Type-Options", "Content-Length"} {
		header[name] = response.Header.Get(name)
	}
	if diff := cmp.Diff(map[string]string{
		"Content-Type": "application/problem+json", "Cache-Control": "no-store", "X-Content-Type-Options": "nosniff", "Content-Length": fmt.Sprint(len(body)),
	}, header); diff != "" {
		t.Errorf("header (-want +got):\n%s", diff)
	}
	if problem.Type != "about:blank" || problem.Title != http.StatusText(want.status) || problem.Status != response.StatusCode {
		t.Errorf("type, title or status is wrong in %s", body)
	}
	if got := (refusal{response.StatusCode, problem.Key, problem.Detail}); got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
	if strings.Contains(body, "sesame") {
		t.Errorf("a value is in %s", body)
	}
}

func TestMiddlewareCtx(t *testing.T) {
	s := serve(t, items[:3], echo(tokenKey, "user_account.profile", "profile", "extra"))
	const none = "\nuser_account.profile= false\nprofile= false\nextra= false\n"
	token := func(value string) string { return b64(`{"` + tokenKey + `":"` + value + `"}`) }
	for name, test := range map[string]struct{ query, want string }{
		"optional, not a value to some": {"ctx=" + b64(`{"profile":"undefined","`+tokenKey+`":"t"}`), tokenKey + "=t true\nuser_account.profile=undefined true\nprofile=undefined true\nextra= false\n"},
		"an object, not declared":       {"ctx=" + b64(`{"extra":{"a":["sesame"]},"`+tokenKey+`":"t"}`), tokenKey + "=t true" + none},
		"an alias":                      {"ctx=" + b64(`{"profile":7,"`+tokenKey+`":"t"}`), tokenKey + "=t true\nuser_account.profile=7 true\nprofile=7 true\nextra= false\n"},
		"one not declared":              {"ctx=" + b64(`{"extra":true,"`+tokenKey+`":"t"}`), tokenKey + "=t true\nuser_account.profile= false\nprofile= false\nextra=true true\n"},
		"among others":                  {"limit=20&%63tx=" + token("t") + "&q=50%&a;b", tokenKey + "=t true" + none},
		"+ and / as they are": {"ctx=" + strings.NewReplacer("-", "+", "_", "/").Replace(token("~~~???>>>")),
			tokenKey + "=~~~???>>> true" + none},
		"+ and / escaped twice": {"ctx=" + strings.NewReplacer("-", "%252B", "_", "%252F").Replace(token("~~~???>>>")),
			tokenKey + "=~~~???>>> true" + none},
	} {
		t.Run(name, func(t *testing.T) {
			for _, method := range []string{"GET", "POST"} { // the body belongs to the handler, since no item is sent in it
				response, body := send(t, method, s.URL+"/media?"+test.query, "", "not a form")
				if response.StatusCode != http.StatusOK || body != test.want+"not a form" {
					t.Errorf("%s: got %s %q, want %q", method, response.Status, body, test.want)
				}
			}
		})
	}

	const (
		missing = `The required context key "plugin-login-flow.access_token" is missing: it goes into the ctx query parameter.`
		noValue = `The required context key "plugin-login-flow.access_token" is missing: %s counts as no value; send one in the ctx query parameter.`
	)
	for name, test := range map[string]struct {
		query string
		want  refusal
	}{
		"no query":  {"", refusal{400, tokenKey, missing}},
		"null":      {"ctx=" + b64(`{"`+tokenKey+`":null}`), refusal{400, tokenKey, fmt.Sprintf(noValue, "null")}},
		"undefined": {"ctx=" + token("undefined"), refusal{400, tokenKey, fmt.Sprintf(noValue, `the string "undefined"`)}},
		"two ctx":   {"ctx=" + token("sesame") + "&ctx=" + token("t"), refusal{400, "", "The ctx query parameter occurs 2 times."}},
		"twice":     {"ctx=" + b64(`{"profile":["sesame"],"profile":1}`), refusal{400, "profile", `The key "profile" of the ctx query parameter is duplicated.`}},
		"too long":  {"ctx=" + strings.Repeat("A", 40000), refusal{414, "", "The ctx query parameter is longer than 32768 bytes."}},
	} {
		t.Run(name, func(t *testing.T) {
			response, body := send(t, "GET", s.URL+"/media?"+test.query, "", "")
			wantRefusal(t, response, body, test.want)
			if response, body := send(t, "HEAD", s.URL+"/media?"+test.query, "", ""); response.StatusCode != test.want.status || body != "" {
				t.Errorf("HEAD: %s %s", response.Status, body)
			}
		})
	}
}

func TestMiddlewareBody(t *testing.T) {
	s := serve(t, items[3:], echo("device", "limit", "extra", "list"))
	const form, object = "application/x-www-form-urlencoded", "application/json"
	for name, test := range map[string]struct{ contentType, body, want string }{
		"form":                 {form, "d=a%26+b&limit=20", "device=a& b true\nlimit=20 true\nextra= false\nlist= false\n"},
		"JSON":                 {object, `{"limit":20.0,"d":"a"}`, "device=a true\nlimit=20.0 true\nextra= false\nlist= false\n"},
		"JSON of another name": {signpost.MIMEFeed, `{"d":"a"}`, "device=a true\nlimit= false\nextra= false\nlist= false\n"},
		"JSON, more in it":     {object, `{"list":[{"d":"b"}],"extra":"x","d":"a"}`, "device=a true\nlimit= false\nextra=x true\nlist= false\n"},
		"as much as may be":    {object, `{"d":"a"}` + strings.Repeat(" ", contextkeys.MaxBody-9), "device=a true\nlimit= false\nextra= false\nlist= false\n"},
	} {
		t.Run(name, func(t *testing.T) {
			response, body := send(t, "POST", s.URL, test.contentType, test.body)
			if response.StatusCode != http.StatusOK || body != test.want+test.body {
				t.Errorf("got %s %.999q, want %q", response.Status, body, test.want)
			}
		})
	}

	const (
		missing = `The required context key "device" is missing: it goes into the request body as "d".`
		noValue = `The required context key "device" is missing: %s counts as no value; send one in the request body as "d".`
	)
	fields := func(n int) string { return "d=sesame" + strings.Repeat("&a=b", n-1) }
	for name, test := range map[string]struct {
		contentType, body string
		want              refusal
	}{
		"no body":            {"", "", refusal{400, "device", missing}},
		"undefined":          {form, `d=undefined`, refusal{400, "device", fmt.Sprintf(noValue, `the string "undefined"`)}},
		"no Content-Type":    {"", `{"d":"sesame"}`, refusal{415, "", "The request body needs a Content-Type of application/json or application/x-www-form-urlencoded."}},
		"twice in JSON":      {object, `{"d":"sesame","d":"t"}`, refusal{400, "d", `The key "d" of the request body is duplicated.`}},
		"twice in a form":    {form, "d=sesame&d=sesame", refusal{400, "d", `The key "d" of the request body occurs 2 times.`}},
		"badly escaped":      {form, "d=%sesame", refusal{400, "", "The request body is not a valid form: the percent-encoding is wrong."}},
		"a form, not UTF-8":  {form, "d=sesame%ff", refusal{400, "d", `The key "d" of the request body is not UTF-8 text.`}},
		"too many fields":    {form, fields(contextkeys.MaxKeys + 1), refusal{400, "", "The request body has more than 256 fields."}},
		"one byte too many":  {object, `{"d":"sesame"}` + strings.Repeat(" ", contextkeys.MaxBody-13), refusal{413, "", "The request body is longer than the service accepts."}},
		"deeper than a tree": {object, `{"list":` + strings.Repeat("[", 20000), refusal{400, "", "The request body is not JSON: invalid at byte 10008 of 20008."}},
	} {
		t.Run(name, func(t *testing.T) {
			response, body := send(t, "POST", s.URL, test.contentType, test.body)
			wantRefusal(t, response, body, test.want)
		})
	}
	if response, body := send(t, "POST", s.URL, form, fields(contextkeys.MaxKeys)); response.StatusCode != http.StatusOK {
		t.Errorf("as many fields as may be: %s %s", response.Status, body)
	}
}

// A key is found only in the part of the request that its item specifies.
func TestKeysStayInTheirPart(t *testing.T) {
	both := []signpost.ContextItem{{Key: "a", Type: signpost.ContextCtx, Required: true}, {Key: "b", Type: signpost.ContextBodyParam, Required: true}}
	s := serve(t, both, echo("a", "b"))
	response, body := send(t, "POST", s.URL+"?ctx="+b64(`{"a":"ctx","b":"ctx"}`), signpost.MIMEForm, "a=body&b=body")
	if response.StatusCode != http.StatusOK || body != "a=ctx true\nb=body true\na=body&b=body" {
		t.Errorf("got %s %s", response.Status, body)
	}
	response, body = send(t, "POST", s.URL+"?ctx="+b64(`{"b":"sesame"}`), signpost.MIMEForm, "a=sesame")
	wantRefusal(t, response, body, refusal{400, "a", `The required context key "a" is missing: it goes into the ctx query parameter.`})
}

// Two items may swap names: lookups go by the declared key.
func TestSwappedAliases(t *testing.T) {
	swapped := []signpost.ContextItem{{Key: "a", Type: signpost.ContextCtx, Mapper: "b"}, {Key: "b", Type: signpost.ContextCtx, Mapper: "a"}}
	ctx, err := contextkeys.Encode(swapped, map[string]any{"a": 1, "b": 2})
	if err != nil {
		t.Fatal(err)
	}
	_, body := send(t, "GET", serve(t, swapped, echo("a", "b")).URL+"?ctx="+ctx, "", "")
	if body != "a=1 true\nb=2 true\n" {
		t.Errorf("got %s", body)
	}
}

func TestMiddlewareCopiesItems(t *testing.T) {
	mine := []signpost.ContextItem{{Key: "a", Type: signpost.ContextCtx, Required: true}}
	s := serve(t, mine, echo("a"))
	mine[0] = signpost.ContextItem{Key: "b", Type: signpost.ContextCtx}
	response, body := send(t, "GET", s.URL, "", "")
	wantRefusal(t, response, body, refusal{400, "a", `The required context key "a" is missing: it goes into the ctx query parameter.`})

	r := httptest.NewRequest("GET", "/?ctx="+b64(`{"x":1}`), nil)
	mine[0] = signpost.ContextItem{Key: "a", Type: signpost.ContextCtx, Mapper: "x"}
	v, err := contextkeys.FromRequest(r, mine)
	mine[0].Mapper = ""
	if text, ok := v.Text("a"); err != nil || text != "1" || !ok {
		t.Errorf("got %q, %v, %v", text, ok, err)
	}
}

// The handler gets the whole body, and its Close, whatever FromRequest returns.
func TestBodyStaysReadable(t *testing.T) {
	for _, length := range []int{0, 1, contextkeys.MaxBody, contextkeys.MaxBody + 1, contextkeys.MaxBody + 5000} {
		body := &closer{Reader: strings.NewReader(strings.Repeat("x", length))}
		r := httptest.NewRequest("POST", "/", body)
		_, err := contextkeys.FromRequest(r, items[3:])
		if err == nil {
			t.Errorf("%d: no error", length)
		}
		left, err := io.ReadAll(r.Body)
		if err != nil || len(left) != length {
			t.Errorf("%d bytes are left of %d: %v", len(left), length, err)
		}
		if r.Body.Close(); !body.closed {
			t.Error("the body is not closed")
		}
	}
}

type closer struct {
	io.Reader
	closed bool
}

func (c *closer) Close() error { c.closed = true; return nil }

func TestFromRequestBody(t *testing.T) {
	request := func(body io.Reader) *http.Request {
		r := httptest.NewRequest("POST", "/", body)
		r.Header.Set("Content-Type", signpost.MIMEForm)
		return r
	}
	status := func(err error) int {
		if malformed, ok := errors.AsType[*contextkeys.MalformedError](err); ok {
			return malformed.Status
		}
		return 0
	}
	t.Run("parsed before", func(t *testing.T) {
		r := request(strings.NewReader("d=a"))
		if err := r.ParseForm(); err != nil {
			t.Fatal(err)
		}
		v, err := contextkeys.FromRequest(r, items[3:])
		if text, _ := v.Text("device"); err != nil || text != "a" {
			t.Errorf("got %q, %v", text, err)
		}
	})
	t.Run("parsed afterwards", func(t *testing.T) {
		r := request(strings.NewReader("d=a"))
		if _, err := contextkeys.FromRequest(r, items[3:]); err != nil || r.PostFormValue("d") != "a" {
			t.Errorf("got %q, %v", r.PostForm, err)
		}
	})
	t.Run("a limit of the service", func(t *testing.T) {
		r := request(strings.NewReader("d=sesame"))
		r.Body = http.MaxBytesReader(httptest.NewRecorder(), r.Body, 4)
		if _, err := contextkeys.FromRequest(r, items[3:]); status(err) != http.StatusRequestEntityTooLarge {
			t.Errorf("got %v", err)
		}
	})
	t.Run("broken off", func(t *testing.T) {
		r := request(io.MultiReader(strings.NewReader("d=sesame"), iotest.ErrReader(errors.New("sesame"))))
		if _, err := contextkeys.FromRequest(r, items[3:]); status(err) != http.StatusBadRequest || strings.Contains(err.Error(), "sesame") {
			t.Errorf("got %v", err)
		}
	})
	t.Run("no body", func(t *testing.T) { // as in a request made by hand
		if _, err := contextkeys.FromRequest(&http.Request{URL: &url.URL{}}, items[4:]); err != nil {
			t.Error(err)
		}
	})
	t.Run("left alone", func(t *testing.T) { // if no item is sent in the body
		body := &closer{Reader: bytes.NewReader([]byte("x"))}
		r := httptest.NewRequest("POST", "/", body)
		if _, err := contextkeys.FromRequest(r, items[1:3]); err != nil || r.Body != io.ReadCloser(body) {
			t.Errorf("the body is another: %v", err)
		}
	})
}

func TestContext(t *testing.T) {
	if _, ok := contextkeys.FromContext(context.Background()).Text("k"); ok {
		t.Error("a context without values has one")
	}
	ctx := contextkeys.NewContext(context.Background(), decode(t, `{"k":"v"}`))
	if text, ok := contextkeys.FromContext(ctx).Text("k"); text != "v" || !ok {
		t.Errorf("got %q, %v", text, ok)
	}
}
