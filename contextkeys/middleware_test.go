package contextkeys_test

import (
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

	"signpost"
	"signpost/contextkeys"
)

// try sends a request through the middleware. It returns the keys that the handler finds and the body that it can still
// read, or the status, key and detail of the problem.
func try(t *testing.T, items []signpost.ContextItem, method, query, contentType, body string) string {
	t.Helper()
	handler := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		for _, key := range []string{tokenKey, "user_account.profile", "profile", "device", "limit", "a", "b", "extra"} {
			if text, ok := contextkeys.FromContext(r.Context()).Text(key); ok {
				fmt.Fprintf(w, "%s=%s ", key, text)
			}
		}
		io.Copy(w, r.Body)
	})
	r := httptest.NewRequest(method, "/media", strings.NewReader(body))
	r.URL.RawQuery = query
	r.Header.Set("Content-Type", contentType)
	w := httptest.NewRecorder()
	contextkeys.Middleware(items)(handler).ServeHTTP(w, r)
	answer := w.Body.String()
	if w.Code == http.StatusOK {
		return answer
	}
	var problem struct {
		Type, Title, Detail, Key string
		Status                   int
	}
	if err := json.Unmarshal([]byte(answer), &problem); err != nil {
		t.Fatalf("%d %s is not a problem: %v", w.Code, answer, err)
	}
	if problem.Type != "about:blank" || problem.Title != http.StatusText(w.Code) || problem.Status != w.Code || strings.Contains(answer, "sesame") {
		t.Errorf("type, title or status is wrong, or a value is in %s", answer)
	}
	for name, want := range map[string]string{
		"Content-Type": "application/problem+json", "Cache-Control": "no-store", "X-Content-Type-Options": "nosniff", "Content-Length": fmt.Sprint(len(answer)),
	} {
		if got := w.Header().Get(name); got != want {
			t.Errorf("%s: %s", name, got)
		}
	}
	return fmt.Sprintf("%d %s: %s", w.Code, problem.Key, problem.Detail)
}

func TestMiddlewareCtx(t *testing.T) {
	token := func(value string) string { return b64(`{"` + tokenKey + `":"` + value + `"}`) }
	const (
		missing = "400 " + tokenKey + `: The required context key "` + tokenKey + `" is missing: `
		noValue = " counts as no value; send one in the ctx query parameter."
	)
	for name, test := range map[string]struct{ query, want string }{
		"optional, not a value to some": {"ctx=" + b64(`{"profile":"undefined","`+tokenKey+`":"t"}`), tokenKey + "=t user_account.profile=undefined profile=undefined "},
		"an object, not declared":       {"ctx=" + b64(`{"extra":{"a":["sesame"]},"`+tokenKey+`":"t"}`), tokenKey + "=t "},
		"an alias":                      {"ctx=" + b64(`{"profile":7,"`+tokenKey+`":"t"}`), tokenKey + "=t user_account.profile=7 profile=7 "},
		"one not declared":              {"ctx=" + b64(`{"extra":true,"`+tokenKey+`":"t"}`), tokenKey + "=t extra=true "},
		"among others":                  {"limit=20&%63tx=" + token("t") + "&q=50%&a;b", tokenKey + "=t "},
		"+ and / as they are":           {"ctx=" + strings.NewReplacer("-", "+", "_", "/").Replace(token("~~~???>>>")), tokenKey + "=~~~???>>> "},
		"no query":                      {"", missing + "it goes into the ctx query parameter."},
		"null":                          {"ctx=" + b64(`{"`+tokenKey+`":null}`), missing + "null" + noValue},
		"undefined":                     {"ctx=" + token("undefined"), missing + `"undefined"` + noValue},
		"two ctx":                       {"ctx=" + token("sesame") + "&ctx=" + token("t"), "400 : The ctx query parameter occurs 2 times."},
		"twice":                         {"ctx=" + b64(`{"profile":["sesame"],"profile":1}`), `400 profile: The key "profile" of the ctx query parameter is duplicated.`},
		"too long":                      {"ctx=" + strings.Repeat("A", 40000), "414 : The ctx query parameter is longer than 32768 bytes."},
	} {
		for _, method := range []string{"GET", "POST"} { // the body belongs to the handler, since no item is sent in it
			want := test.want
			if !strings.HasPrefix(want, "4") {
				want += "not a form"
			}
			if got := try(t, items[:3], method, test.query, "", "not a form"); got != want {
				t.Errorf("%s, %s: got %s\nwant %s", name, method, got, want)
			}
		}
	}
}

func TestMiddlewareBody(t *testing.T) {
	const (
		form, object = signpost.MIMEForm, signpost.MIMEJSON
		missing      = `400 device: The required context key "device" is missing: `
	)
	fields := func(n int) string { return "d=sesame" + strings.Repeat("&a=b", n-1) }
	for name, test := range map[string]struct{ contentType, body, want string }{
		"form":                 {form, "d=a%26+b&limit=20", "device=a& b limit=20 "},
		"JSON":                 {object, `{"limit":20.0,"d":"a"}`, "device=a limit=20.0 "},
		"JSON of another name": {signpost.MIMEFeed, `{"d":"a"}`, "device=a "},
		"JSON, more in it":     {object, `{"list":[{"d":"b"}],"extra":"x","d":"a"}`, "device=a extra=x "},
		"as much as may be":    {object, `{"d":"a"}` + strings.Repeat(" ", contextkeys.MaxBody-9), "device=a "},
		"as many as may be":    {form, fields(contextkeys.MaxKeys), "device=sesame "},
		"no body":              {"", "", missing + `it goes into the request body as "d".`},
		"undefined":            {form, "d=undefined", missing + `"undefined" counts as no value; send one in the request body as "d".`},
		"no Content-Type":      {"", `{"d":"sesame"}`, "415 : The request body needs a Content-Type of application/json or application/x-www-form-urlencoded."},
		"twice in JSON":        {object, `{"d":"sesame","d":"t"}`, `400 d: The key "d" of the request body is duplicated.`},
		"twice in a form":      {form, "d=sesame&d=sesame", `400 d: The key "d" of the request body occurs 2 times.`},
		"badly escaped":        {form, "d=%sesame", "400 : The request body is not a valid form: the percent-encoding is wrong."},
		"a form, not UTF-8":    {form, "d=sesame%ff", `400 d: The key "d" of the request body is not UTF-8 text.`},
		"too many fields":      {form, fields(contextkeys.MaxKeys + 1), "400 : The request body has more than 256 fields."},
		"one byte too many":    {object, `{"d":"sesame"}` + strings.Repeat(" ", contextkeys.MaxBody-13), "413 : The request body is longer than the service accepts."},
		"deeper than a tree":   {object, `{"list":` + strings.Repeat("[", 20000), "400 : The request body is not JSON: invalid at byte 10008 of 20008."},
	} {
		want := test.want
		if !strings.HasPrefix(want, "4") {
			want += test.body // which the handler can read again
		}
		if got := try(t, items[3:], "POST", "", test.contentType, test.body); got != want {
			t.Errorf("%s: got %.300s\nwant %.300s", name, got, want)
		}
	}
}

// A key is found only in the part of the request that its item specifies, and under its own name.
func TestKeysStayInTheirPart(t *testing.T) {
	both := []signpost.ContextItem{{Key: "a", Type: signpost.ContextCtx, Required: true}, {Key: "b", Type: signpost.ContextBodyParam, Required: true}}
	swapped := []signpost.ContextItem{{Key: "a", Type: signpost.ContextCtx, Mapper: "b"}, {Key: "b", Type: signpost.ContextCtx, Mapper: "a"}}
	ctx, err := contextkeys.Encode(swapped, map[string]any{"a": 1, "b": 2})
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		items            []signpost.ContextItem
		ctx, query, want string
	}{
		{both, b64(`{"a":"ctx","b":"ctx"}`), "a=body&b=body", "a=ctx b=body a=body&b=body"},
		{both, b64(`{"b":"sesame"}`), "a=sesame", `400 a: The required context key "a" is missing: it goes into the ctx query parameter.`},
		{swapped, ctx, "", "a=1 b=2 "},
	} {
		if got := try(t, test.items, "POST", "ctx="+test.ctx, signpost.MIMEForm, test.query); got != test.want {
			t.Errorf("got %s, want %s", got, test.want)
		}
	}
}

func TestItemsAreCopied(t *testing.T) {
	mine := []signpost.ContextItem{{Key: "a", Type: signpost.ContextCtx, Mapper: "x"}}
	r := httptest.NewRequest("GET", "/?ctx="+b64(`{"x":1}`), nil)
	got := ""
	handler := contextkeys.Middleware(mine)(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		got, _ = contextkeys.FromContext(r.Context()).Text("a")
	}))
	v, err := contextkeys.FromRequest(r, mine)
	mine[0] = signpost.ContextItem{Key: "b", Type: signpost.ContextCtx, Required: true}
	handler.ServeHTTP(httptest.NewRecorder(), r)
	if text, _ := v.Text("a"); err != nil || text != "1" || got != "1" {
		t.Errorf("got %q and %q, %v", text, got, err)
	}
}

// closer records whether a body is closed.
type closer struct {
	io.Reader
	closed bool
}

func (c *closer) Close() error { c.closed = true; return nil }

// The handler gets the whole body, and its Close, whatever FromRequest returns.
func TestBodyStaysReadable(t *testing.T) {
	for _, length := range []int{0, 1, contextkeys.MaxBody, contextkeys.MaxBody + 5000} {
		body := &closer{Reader: strings.NewReader(strings.Repeat("x", length))}
		r := httptest.NewRequest("POST", "/", body)
		if _, err := contextkeys.FromRequest(r, items[3:]); err == nil {
			t.Errorf("%d: no error", length)
		}
		if left, err := io.ReadAll(r.Body); err != nil || len(left) != length {
			t.Errorf("%d bytes are left of %d: %v", len(left), length, err)
		}
		if r.Body.Close(); !body.closed {
			t.Error("the body is not closed")
		}
	}
	// It is left alone if no item is sent in it.
	body := &closer{Reader: strings.NewReader("x")}
	r := httptest.NewRequest("POST", "/", body)
	if _, err := contextkeys.FromRequest(r, items[1:3]); err != nil || r.Body != io.ReadCloser(body) {
		t.Errorf("the body is another: %v", err)
	}
	// A request made by hand may have none.
	if _, err := contextkeys.FromRequest(&http.Request{URL: &url.URL{}}, items[4:]); err != nil {
		t.Error(err)
	}
}

func TestFromRequestBody(t *testing.T) {
	request := func(body io.Reader) *http.Request {
		r := httptest.NewRequest("POST", "/", body)
		r.Header.Set("Content-Type", signpost.MIMEForm)
		return r
	}
	// A service may parse the form before or afterwards.
	r := request(strings.NewReader("d=a"))
	if err := r.ParseForm(); err != nil {
		t.Fatal(err)
	}
	v, err := contextkeys.FromRequest(r, items[3:])
	if text, _ := v.Text("device"); err != nil || text != "a" {
		t.Errorf("parsed before: %q, %v", text, err)
	}
	r = request(strings.NewReader("d=a"))
	if _, err := contextkeys.FromRequest(r, items[3:]); err != nil || r.PostFormValue("d") != "a" {
		t.Errorf("parsed afterwards: %q, %v", r.PostForm, err)
	}
	limited := request(nil)
	limited.Body = http.MaxBytesReader(httptest.NewRecorder(), io.NopCloser(strings.NewReader("d=sesame")), 4)
	for r, want := range map[*http.Request]int{
		limited: http.StatusRequestEntityTooLarge,
		request(io.MultiReader(strings.NewReader("d=sesame"), iotest.ErrReader(errors.New("sesame")))): http.StatusBadRequest,
	} {
		_, err := contextkeys.FromRequest(r, items[3:])
		if got, ok := errors.AsType[*contextkeys.MalformedError](err); !ok || got.Status != want || strings.Contains(err.Error(), "sesame") {
			t.Errorf("got %v, want status %d", err, want)
		}
	}
}
