package client

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
	"time"

	"github.com/google/go-cmp/cmp"

	"signpost"
	"signpost/contextkeys"
)

// secret is the value of a context key. No error may contain it or any part of it.
const secret = "s3cr3t-token"

func endpoint(url string, change ...func(*signpost.Endpoint)) signpost.Endpoint {
	e := signpost.Endpoint{URL: url, Name: "Feeds", Method: signpost.MethodGet, MIMEType: signpost.MIMEJSON}
	for _, f := range change {
		f(&e)
	}
	return e
}

func modifiers(m ...signpost.Modifier) func(*signpost.Endpoint) {
	return func(e *signpost.Endpoint) { e.Modifiers = m }
}

func items(c ...signpost.ContextItem) func(*signpost.Endpoint) {
	return func(e *signpost.Endpoint) { e.ContextObj = c }
}

func post(e *signpost.Endpoint) { e.Method = signpost.MethodPost }

func mimeType(m string) func(*signpost.Endpoint) {
	return func(e *signpost.Endpoint) { e.MIMEType = m }
}

func input(key string, value any, options ...string) signpost.ModifierInput {
	in := signpost.ModifierInput{ID: key, Name: key, Key: key, Label: key, DefaultValue: value}
	for _, o := range options {
		in.Options = append(in.Options, signpost.Option{Value: o, Label: o})
	}
	return in
}

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
	if _, err := NewRequest(t.Context(), e, Call{Modifiers: Defaults(e)}); err != nil {
		t.Errorf("the defaults do not fit their controls: %v", err)
	}
}

func TestNewRequestURL(t *testing.T) {
	controls := modifiers(signpost.Number(input("limit", 20)), signpost.Text(input("q", nil)), signpost.Boolean(input("new one", nil)))
	for _, test := range []struct {
		name, url string
		call      Call
		want      string
	}{
		{"as it is", "https://feeds.example.com/v1", Call{}, "https://feeds.example.com/v1"},
		{"modifiers in the order of the manifest", "https://feeds.example.com/v1",
			Call{Modifiers: map[string]string{"new one": "true", "q": "a&b=c d+é", "limit": "5"}},
			"https://feeds.example.com/v1?limit=5&q=a%26b%3Dc%20d%2B%C3%A9&new%20one=true"},
		{"not chosen", "https://feeds.example.com/v1", Call{Modifiers: map[string]string{"q": ""}}, "https://feeds.example.com/v1"},
		{"a query is kept", "https://feeds.example.com/v1?a=1", Call{Modifiers: map[string]string{"limit": "5"}}, "https://feeds.example.com/v1?a=1&limit=5"},
		{"an empty query", "https://feeds.example.com/v1?", Call{Modifiers: map[string]string{"limit": "5"}}, "https://feeds.example.com/v1?limit=5"},
		{"an open query", "https://feeds.example.com/v1?a=1&", Call{Modifiers: map[string]string{"limit": "5"}}, "https://feeds.example.com/v1?a=1&limit=5"},
		{"before the fragment", "https://feeds.example.com/v1#a?b", Call{Modifiers: map[string]string{"limit": "5"}}, "https://feeds.example.com/v1?limit=5#a?b"},
		{"a parameter of the feed is replaced", "https://feeds.example.com/v1",
			Call{Feed: "https://feeds.example.com/v1?limit=10&a=1&%6Cimit=30&limit", Modifiers: map[string]string{"limit": "5"}}, "https://feeds.example.com/v1?limit=5&a=1"},
		{"unless nothing is chosen", "https://feeds.example.com/v1", Call{Feed: "https://feeds.example.com/v1?limit=10", Modifiers: map[string]string{"limit": ""}}, "https://feeds.example.com/v1?limit=10"},
		{"and the rest is as written", "https://feeds.example.com/v1?a=%zz&B=1;2&q=x", Call{Modifiers: map[string]string{"q": "5"}}, "https://feeds.example.com/v1?a=%zz&B=1;2&q=5"},
		{"undeclared context is left out", "https://feeds.example.com/v1", Call{Context: map[string]any{"token": secret}}, "https://feeds.example.com/v1"},
		{"a placeholder", "https://feeds.example.com/series/{{id}}/episodes", Call{Params: map[string]string{"id": "7"}}, "https://feeds.example.com/series/7/episodes"},
		{"a value stays in its segment", "https://feeds.example.com/series/{{id}}/e", Call{Params: map[string]string{"id": "../a/b?c#d e%2F"}},
			"https://feeds.example.com/series/..%2Fa%2Fb%3Fc%23d%20e%252F/e"},
		{"and in its parameter", "https://feeds.example.com/e?id={{id}}", Call{Params: map[string]string{"id": "7&admin=1+2"}}, "https://feeds.example.com/e?id=7%26admin%3D1%2B2"},
		{"a value is not looked at again", "https://feeds.example.com/{{a}}/{{b}}/{{a}}", Call{Params: map[string]string{"a": "{{b}}", "b": "x"}},
			"https://feeds.example.com/%7B%7Bb%7D%7D/x/%7B%7Bb%7D%7D"},
		{"a feed below the endpoint", "https://feeds.example.com/series/{{id}}", Call{Feed: "HTTPS://Feeds.example.com/series/7/more?a=1", Modifiers: map[string]string{"limit": "5"}},
			"https://Feeds.example.com/series/7/more?a=1&limit=5"},
	} {
		t.Run(test.name, func(t *testing.T) {
			req, err := NewRequest(t.Context(), endpoint(test.url, controls), test.call)
			if err != nil {
				t.Fatal(err)
			}
			if got := req.URL.String(); got != test.want {
				t.Errorf("got  %s\nwant %s", got, test.want)
			}
			if req.Method != http.MethodGet || req.Body != nil {
				t.Errorf("%s with body %v", req.Method, req.Body)
			}
		})
	}
}

func TestNewRequestErrors(t *testing.T) {
	token := signpost.ContextItem{Key: "token", Type: signpost.ContextCtx, Required: true}
	body := signpost.ContextItem{Key: "token", Type: signpost.ContextBodyParam}
	requiredBody := body
	requiredBody.Required = true
	values := map[string]any{"token": secret}
	const base = "https://feeds.example.com/v1"
	for _, test := range []struct {
		name string
		e    signpost.Endpoint
		call Call
		want string
	}{
		{"host", endpoint("https://{{host}}/v1"), Call{}, "still contains {{host}}: resolve the manifest first"},
		{"method", endpoint(base, func(e *signpost.Endpoint) { e.Method = "delete" }), Call{}, `has method "delete", which is not "get" or "post"`},
		{"no value", endpoint(base + "/{{a}}/{{b}}"), Call{Params: map[string]string{"a": ""}}, "needs a value for {{a}}, {{b}}"},
		{"no placeholder", endpoint(base + "/{{a}}"), Call{Params: map[string]string{"a": "1", "z": "1", "c": "1"}}, "has no placeholder {{c}}"},
		{"placeholder in the host", endpoint("https://{{region}}.example.com/"), Call{Params: map[string]string{"region": "evil.example.net/"}}, "has a placeholder in its host"},
		{"dot segments", endpoint(base + "/{{a}}/x"), Call{Params: map[string]string{"a": ".."}}, `would get the path "/v1/../x", which leads elsewhere`},
		{"made of two", endpoint(base + "/{{a}}{{b}}"), Call{Params: map[string]string{"a": ".", "b": "."}}, "leads elsewhere"},
		{"another host", endpoint(base), Call{Feed: "https://evil.example.net/v1"}, "is not on the host of endpoint"},
		{"another port", endpoint(base), Call{Feed: "https://feeds.example.com:8443/v1"}, "is not on the host of endpoint"},
		{"another scheme", endpoint(base), Call{Feed: "http://feeds.example.com/v1"}, "is not on the host of endpoint"},
		{"user info", endpoint(base), Call{Feed: "https://feeds.example.com@evil.example.net/v1"}, "is not on the host of endpoint"},
		{"our host as user", endpoint(base), Call{Feed: "https://a@feeds.example.com/v1"}, "is not on the host of endpoint"},
		{"backslash", endpoint(base), Call{Feed: `https://feeds.example.com\@evil.example.net/v1`}, "is not on the host of endpoint"},
		{"an open feed", endpoint(base), Call{Feed: base + "/{{a}}"}, "still has placeholders"},
		{"no URL", endpoint("x"), Call{Feed: base}, "is not on the host of endpoint"},
		{"number", endpoint(base, modifiers(signpost.Number(input("limit", nil)))), Call{Modifiers: map[string]string{"limit": " 5"}}, `modifier "limit" takes a number, not " 5"`},
		{"not a JSON number", endpoint(base, modifiers(signpost.Number(input("limit", nil)))), Call{Modifiers: map[string]string{"limit": "Inf"}}, `takes a number, not "Inf"`},
		{"too large", endpoint(base, modifiers(signpost.Number(input("limit", nil)))), Call{Modifiers: map[string]string{"limit": "1e400"}}, `takes a number`},
		{"boolean", endpoint(base, modifiers(signpost.Boolean(input("new", nil)))), Call{Modifiers: map[string]string{"new": "yes"}}, `modifier "new" takes true or false, not "yes"`},
		{"option", endpoint(base, modifiers(signpost.Select(input("sort", nil, "newest", "title")))), Call{Modifiers: map[string]string{"sort": "newst"}},
			`modifier "sort" takes one of ["newest" "title"], not "newst"`},
		{"options alone", endpoint(base, modifiers(func() signpost.Modifier {
			m := signpost.Select(input("sort", nil, "newest"))
			m.Params[0].Schema.Enum = nil
			return m
		}())), Call{Modifiers: map[string]string{"sort": "x"}}, `takes one of ["newest"]`},
		{"no modifier", endpoint(base), Call{Modifiers: map[string]string{"z": "", "b": "1"}}, `has no modifier with the key "b"`},
		{"required context", endpoint(base, items(token)), Call{}, `endpoint "https://feeds.example.com/v1": required context key "token" is missing`},
		{"body of a get", endpoint(base, items(body)), Call{Context: values}, `context key "token" belongs in the body, but a get request has none`},
		{"required in the body of a get", endpoint(base, items(requiredBody)), Call{}, `context key "token" belongs in the body, but a get request has none`},
		{"required in a body", endpoint(base, items(requiredBody), post), Call{}, `required context key "token" is missing`},
		{"nested context", endpoint(base, items(token)), Call{Context: map[string]any{"token": []string{secret}}}, `value of context key "token"`},
		{"not a URL, with ctx in it", endpoint("https://feeds.example.com:port/v1", items(token)), Call{Context: values}, "build request to endpoint"},
	} {
		t.Run(test.name, func(t *testing.T) {
			req, err := NewRequest(t.Context(), test.e, test.call)
			if err == nil {
				t.Fatalf("got %s, want an error", req.URL)
			}
			if !strings.Contains(err.Error(), test.want) {
				t.Errorf("got  %v\nwant %s", err, test.want)
			}
			if shows(err.Error()) {
				t.Errorf("the error contains a context value: %v", err)
			}
		})
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

// TestNewRequestContext sends requests to a service that reads them with package contextkeys.
func TestNewRequestContext(t *testing.T) {
	token := signpost.ContextItem{Key: "login.token", Type: signpost.ContextCtx, Required: true}
	profile := signpost.ContextItem{Key: "profile", Type: signpost.ContextBodyParam, Mapper: "user"}
	device := signpost.ContextItem{Key: "device", Type: signpost.ContextCtx, Mapper: "dev"}
	values := map[string]any{"login.token": secret + " +/=é", "profile": "a&b", "device": 7}
	for _, test := range []struct {
		name, contentType string
		change            []func(*signpost.Endpoint)
		want              map[string]string
	}{
		{"get", "", []func(*signpost.Endpoint){items(token, device)}, map[string]string{"login.token": secret + " +/=é", "device": "7"}},
		{"post", "application/json", []func(*signpost.Endpoint){items(token, device, profile), post},
			map[string]string{"login.token": secret + " +/=é", "device": "7", "profile": "a&b"}},
		{"form", signpost.MIMEForm, []func(*signpost.Endpoint){items(token, device, profile), post, mimeType(signpost.MIMEForm)},
			map[string]string{"login.token": secret + " +/=é", "device": "7", "profile": "a&b"}},
		{"post of nothing", "", []func(*signpost.Endpoint){post}, map[string]string{}},
	} {
		t.Run(test.name, func(t *testing.T) {
			e := endpoint("", test.change...)
			server := httptest.NewServer(contextkeys.Middleware(e.ContextObj)(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				got := make(map[string]string)
				for key := range values {
					if value, ok := contextkeys.FromContext(r.Context()).Text(key); ok {
						got[key] = value
					}
				}
				json.NewEncoder(w).Encode(got)
			})))
			defer server.Close()
			e.URL = server.URL + "/v1"
			given := make(map[string]any)
			for _, item := range e.ContextObj {
				given[item.Key] = values[item.Key]
			}
			req, err := NewRequest(t.Context(), e, Call{Context: given})
			if err != nil {
				t.Fatal(err)
			}
			if got := req.Header.Get("Content-Type"); got != test.contentType {
				t.Errorf("Content-Type %q, not %q", got, test.contentType)
			}
			answer, err := Send(req, Options{})
			if err != nil {
				t.Fatal(err)
			}
			got := make(map[string]string)
			if err := json.Unmarshal(answer.Body, &got); err != nil || answer.Status != http.StatusOK {
				t.Fatalf("%d %s %v", answer.Status, answer.Body, err)
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("the service got (-want +got):\n%s", diff)
			}
		})
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

// FuzzSetQuery checks that the given parameters are set exactly once and that all others are unchanged.
func FuzzSetQuery(f *testing.F) {
	f.Add("limit=1&a=2", "limit", "5")
	f.Add("%6cimit=1&limit&limit=2&b", "limit", "a&b=c")
	f.Add("", "", "")
	f.Add("a=%zz&&x;y#q", "é", "+ %")
	f.Fuzz(func(t *testing.T, query, key, value string) {
		target, fragment, _ := strings.Cut("https://feeds.example.com/v1?"+query, "#")
		got := setQuery("https://feeds.example.com/v1?"+query, []parameter{{key, value}})
		base, gotFragment, _ := strings.Cut(got, "#")
		_, before, _ := strings.Cut(target, "?")
		_, after, ok := strings.Cut(base, "?")
		if !ok || gotFragment != fragment {
			t.Fatalf("%q becomes %q", query, got)
		}
		others := func(query string) (pairs []string, values []string) {
			for pair := range strings.SplitSeq(query, "&") {
				name, value, _ := strings.Cut(pair, "=")
				if unescaped, err := url.QueryUnescape(name); err == nil && unescaped == key && pair != "" {
					value, _ = url.QueryUnescape(value)
					values = append(values, value)
				} else if pair != "" {
					pairs = append(pairs, pair)
				}
			}
			return pairs, values
		}
		kept, _ := others(before)
		left, values := others(after)
		if diff := cmp.Diff(kept, left); diff != "" || len(values) != 1 || values[0] != value {
			t.Errorf("%q becomes %q: %q %s", query, got, values, diff)
		}
	})
}

func TestSend(t *testing.T) {
	token := signpost.ContextItem{Key: "token", Type: signpost.ContextCtx, Required: true}
	elsewhere := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
		t.Error("the redirect was followed")
	}))
	defer elsewhere.Close()
	mux := http.NewServeMux()
	mux.HandleFunc("/redirect", func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, elsewhere.URL+"/x", http.StatusFound)
	})
	mux.HandleFunc("/bad-redirect", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Location", "http://a b/")
		w.WriteHeader(http.StatusFound)
	})
	mux.HandleFunc("/exact", func(w http.ResponseWriter, r *http.Request) { w.Write(make([]byte, MaxAnswer)) })
	mux.HandleFunc("/endless", endless)
	mux.HandleFunc("/short", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Length", "100")
		io.WriteString(w, "{")
	})
	mux.HandleFunc("/slow", func(w http.ResponseWriter, r *http.Request) { <-r.Context().Done() })
	mux.HandleFunc("/drip", func(w http.ResponseWriter, r *http.Request) {
		w.(http.Flusher).Flush()
		<-r.Context().Done()
	})
	server := httptest.NewServer(mux)
	defer server.Close()
	send := func(path string, timeout time.Duration) (*Answer, error) {
		req, err := NewRequest(t.Context(), endpoint(server.URL+path, items(token)), Call{Context: map[string]any{"token": secret}})
		if err != nil {
			t.Fatal(err)
		}
		answer, err := Send(req, Options{Timeout: timeout})
		if err != nil && shows(err.Error()) {
			t.Errorf("%s: the error contains a context value: %v", path, err)
		}
		return answer, err
	}

	if answer, err := send("/redirect", time.Hour); err != nil || answer.Status != http.StatusFound || answer.Redirect != elsewhere.URL+"/x" {
		t.Errorf("redirect: %+v, %v", answer, err)
	}
	if _, err := send("/bad-redirect", time.Hour); err == nil {
		t.Error("no error for an invalid Location")
	}
	if answer, err := send("/exact", time.Hour); err != nil || answer.Truncated || len(answer.Body) != MaxAnswer {
		t.Errorf("a body of exactly the maximum size: %v", err)
	}
	if answer, err := send("/endless", time.Hour); err != nil || !answer.Truncated || len(answer.Body) != MaxAnswer {
		t.Errorf("endless: %v", err)
	}
	if _, err := send("/short", time.Hour); !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("truncated: %v", err)
	}
	for _, path := range []string{"/slow", "/drip"} {
		if _, err := send(path, 10*time.Millisecond); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("%s: %v", path, err)
		}
	}
	server.Close()
	if _, err := send("/gone", time.Hour); err == nil {
		t.Error("no error although nothing listens")
	}
}

// TestSendReleases checks that every response is closed and the timer of its request stopped, so that neither leaks.
func TestSendReleases(t *testing.T) {
	closed, canceled := 0, 0
	opts := Options{
		Transport: roundTrip(func(req *http.Request) (*http.Response, error) {
			return &http.Response{StatusCode: 200, Request: req, Body: closer{strings.NewReader("{}"), &closed}}, nil
		}),
		expire: func(ctx context.Context, _ time.Duration) (context.Context, context.CancelFunc) {
			return ctx, func() { canceled++ }
		},
	}
	req := httptest.NewRequest("GET", "https://feeds.example.com/v1", nil)
	req.RequestURI = ""
	if answer, err := Send(req, opts); err != nil || string(answer.Body) != "{}" || closed != 1 || canceled != 1 {
		t.Errorf("%+v, %v, closed %d times, canceled %d times", answer, err, closed, canceled)
	}
}

type closer struct {
	io.Reader
	closed *int
}

func (c closer) Close() error { *c.closed++; return nil }

// endless is a handler that sends data until the client disconnects.
func endless(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	chunk := bytes.Repeat([]byte(" "), 64<<10)
	for r.Context().Err() == nil {
		if _, err := w.Write(chunk); err != nil {
			return
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
