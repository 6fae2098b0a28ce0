package contextkeys_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"testing/iotest"

	"signpost"
	"signpost/contextkeys"
	"signpost/internal/testkit"
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
	if problem.Type != "about:blank" || problem.Title != http.StatusText(w.Code) || problem.Status != w.Code ||
		strings.Contains(answer, "sesame") || !strings.HasSuffix(answer, "}\n") {
		t.Errorf("type, title or status is wrong, a value is in it, or it does not end the line: %s", answer)
	}
	for name, want := range map[string]string{
		"Content-Type": "application/problem+json", "Cache-Control": "no-store", "X-Content-Type-Options": "nosniff", "Content-Length": fmt.Sprint(len(answer)),
	} {
		testkit.Equal(t, name, w.Header().Get(name), want)
	}
	return fmt.Sprintf("%d %s: %s", w.Code, problem.Key, problem.Detail)
}

func TestMiddleware(t *testing.T) {
	encoded := regexp.MustCompile("<[^>]*>")
	testkit.Cases(t, "testdata/requests.golden", func(input string) string {
		if contentType, body, ok := strings.Cut(input, " "); ok {
			return try(t, items[3:], "POST", "", contentType, body) // which the handler can read again
		}
		query := encoded.ReplaceAllStringFunc(input, func(text string) string { return b64(strings.Trim(text, "<>")) })
		out := try(t, items[:3], "GET", query, "", "not a form")
		if post := try(t, items[:3], "POST", query, "", "not a form"); post != out {
			t.Errorf("%s: the body belongs to the handler, since no item is sent in it: %s, not %s", input, post, out)
		}
		return out
	})
}

func TestMiddlewareLimits(t *testing.T) {
	const form, object = signpost.MIMEForm, signpost.MIMEJSON
	const maxBody = 1 << 20
	fields := func(n int) string { return "d=sesame" + strings.Repeat("&a=b", n-1) }
	undeclared := func(n int, form string) (text string) {
		for i := range n {
			text += fmt.Sprintf(form, i)
		}
		return text
	}
	for _, test := range []struct{ contentType, body, want string }{
		{object, `{"d":"a"}` + strings.Repeat(" ", maxBody-9), "device=a "},
		{form, fields(contextkeys.MaxKeys), "device=sesame "},
		{form, undeclared(300, "&k%d=%%zz") + "&d=sesame", "device=sesame "},
		{form, undeclared(300, "&k%d=a") + "&d=sesame", "device=sesame "},
		{object, `{"k":1,"k":2,"d":"sesame"}`, "device=sesame "},
		{object, "{" + undeclared(300, `"k%d":[],`) + `"d":"sesame"}`, "device=sesame "},
		{object, `{"d":"sesame"}` + strings.Repeat(" ", maxBody-13),
			"413 : The request body is longer than the service accepts."},
		{object, `{"list":` + strings.Repeat("[", 20000), "400 : The request body is not JSON: invalid at byte 10008 of 20008."},
	} {
		if got := try(t, items[3:], "POST", "", test.contentType, test.body); strings.TrimSuffix(got, test.body) != test.want {
			t.Errorf("%.40s: got %.300s\nwant %.300s", test.body, got, test.want)
		}
	}
	many := try(t, items[:3], "GET", "ctx="+b64("{"+undeclared(300, `"k%d":{},`)+`"plugin-login-flow.access_token":"t"}`), "", "")
	if !strings.HasPrefix(many, "plugin-login-flow.access_token=t ") {
		t.Errorf("with many undeclared keys: %s", many)
	}
	long := try(t, items[:3], "GET", "ctx="+strings.Repeat("A", 40000), "", "")
	testkit.Equal(t, "a long ctx", long, "414 : The ctx query parameter is longer than 32768 bytes.")
}

// A key is found only in the part of the request that its item specifies, and under its own name.
func TestKeysStayInTheirPart(t *testing.T) {
	both := []signpost.ContextItem{{Key: "a", Type: signpost.ContextCtx, Required: true}, {Key: "b", Type: signpost.ContextBodyParam, Required: true}}
	swapped := []signpost.ContextItem{{Key: "a", Type: signpost.ContextCtx, Mapper: "b"}, {Key: "b", Type: signpost.ContextCtx, Mapper: "a"}}
	ctx := testkit.Must(contextkeys.Encode(swapped, map[string]any{"a": 1, "b": 2}))(t)
	for _, test := range []struct {
		items            []signpost.ContextItem
		ctx, query, want string
	}{
		{both, b64(`{"a":"ctx","b":"ctx"}`), "a=body&b=body", "a=ctx b=body a=body&b=body"},
		{both, b64(`{"b":"sesame"}`), "a=sesame", `400 a: The required context key "a" is missing: it goes into the ctx query parameter.`},
		{swapped, ctx, "", "a=1 b=2 "},
	} {
		testkit.Equal(t, "with "+test.ctx, try(t, test.items, "POST", "ctx="+test.ctx, signpost.MIMEForm, test.query), test.want)
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
		text := strings.Repeat("the whole body ", length)[:length]
		body := &closer{Reader: strings.NewReader(text)}
		r := httptest.NewRequest("POST", "/", body)
		if _, err := contextkeys.FromRequest(r, items[3:]); err == nil {
			t.Errorf("%d: no error", length)
		}
		if left, err := io.ReadAll(r.Body); err != nil || string(left) != text {
			t.Errorf("%d bytes are left of %d, or they are in another order: %v", len(left), length, err)
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
	testkit.OK(t, r.ParseForm())
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
