package studio_test

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"

	"signpost/client"
	"signpost/studio"
)

// plainText is a context value that is a text.
func plainText(value string) object { return object{"text": value} }

// snippetOf returns a snippet of a draft by name, or "".
func snippetOf(t *testing.T, draft object, name string) string {
	t.Helper()
	for _, s := range draft["snippets"].([]any) {
		if s.(object)["name"] == name {
			return s.(object)["text"].(string)
		}
	}
	return ""
}

func TestCompose(t *testing.T) {
	t.Parallel()
	_, address := serveFile(t, feedsYAML)
	compose := func(version, endpoint string, params, modifiers, context object) object {
		t.Helper()
		status, draft := ask(t, address+"/api/compose", object{"source": "feeds.yaml", "version": version, "endpoint": endpoint,
			"params": params, "modifiers": modifiers, "context": context})
		if status != 200 {
			t.Fatalf("status %d: %v", status, draft)
		}
		return draft
	}
	expect := func(draft object, want object) {
		t.Helper()
		for key, value := range want {
			equal(t, key, draft[key], value)
		}
	}

	expect(compose("v1", "https://{{host}}/v1/feeds", nil, object{"q": "a b&c", "page": "0", "hd": "false", "sort": "old"}, object{"token": plainText("s3cret")}), object{
		"method":   "GET",
		"url":      "https://localhost/v1/feeds?q=a%20b%26c&page=0&hd=false&sort=old&ctx=eyJ0IjoiczNjcmV0In0",
		"ctx":      "eyJ0IjoiczNjcmV0In0",
		"decoded":  "{\n  \"t\": \"s3cret\"\n}",
		"problems": []any{},
	})
	// The response reports what is missing or wrong, and composes the rest.
	expect(compose("v1", "https://{{host}}/v1/feeds", nil, object{"page": "x", "hd": "maybe", "sort": "best", "q": "'"}, nil), object{
		"url":      "https://localhost/v1/feeds?q=%27",
		"ctx":      "",
		"snippets": []any{},
		"problems": []any{
			object{"field": "modifier:page", "message": `Modifier "page" takes a number, not "x".`, "context": false},
			object{"field": "modifier:hd", "message": `Modifier "hd" takes true or false, not "maybe".`, "context": false},
			object{"field": "modifier:sort", "message": `Modifier "sort" takes one of ["new" "old"], not "best".`, "context": false},
			object{"field": "context:token", "message": "Fill in the required context key token.", "context": true},
		},
	})
	// What is missing is a gap that can be seen.
	draft := compose("v1", "https://{{host}}/v1/feeds", nil, object{"page": "2"}, nil)
	if got, want := snippetOf(t, draft, "curl"), "curl --globoff -H 'Accept: application/json, */*;q=0.1' 'https://localhost/v1/feeds?page=2&ctx={{token}}'"; got != want {
		t.Errorf("curl with a gap is %s, want %s", got, want)
	}
	draft = compose("v1", "https://{{host}}/v1/series/{{series_id}}/episodes", nil, nil, nil)
	if got, want := snippetOf(t, draft, "URL"), "https://localhost/v1/series/{{series_id}}/episodes"; got != want {
		t.Errorf("the URL with a gap is %s, want %s", got, want)
	}
	// A context value can be JSON.
	inJSON := func(text string) object { return object{"token": object{"text": text, "json": true}} }
	expect(compose("v1", "https://{{host}}/v1/feeds", nil, nil, inJSON(`{"a":[1.10]}`)), object{"decoded": "{\n  \"t\": {\n    \"a\": [\n      1.10\n    ]\n  }\n}"})
	expect(compose("v1", "https://{{host}}/v1/feeds", nil, nil, inJSON(`{"a": `)), object{
		"problems": []any{object{"field": "context:token", "message": "The value of token is not JSON.", "context": false}},
	})
	// Values that the endpoint does not declare, such as those of a removed modifier, are ignored.
	expect(compose("v1", "https://ratings.example.org/titles", nil, object{"gone": "1"}, object{"gone": plainText("1")}), object{
		"url": "https://ratings.example.org/titles", "problems": []any{},
	})
	expect(compose("v1", "https://{{host}}/v1/series/{{series_id}}/episodes", nil, nil, nil), object{
		"url":      "https://localhost/v1/series/{{series_id}}/episodes",
		"problems": []any{object{"field": "param:series_id", "message": "Fill in series_id.", "context": false}},
	})
	expect(compose("v1", "https://{{host}}/v1/series/{{series_id}}/episodes", object{"series_id": "a/b c"}, nil, nil), object{
		"url": "https://localhost/v1/series/a%2Fb%20c/episodes", "problems": []any{},
	})
	expect(compose("v2", "https://{{host}}/v2/log", nil, nil, object{"device": plainText("it's & more")}), object{
		"method": "POST", "url": "https://localhost/v2/log", "body": "device=it%27s+%26+more", "body_type": "application/x-www-form-urlencoded",
	})

	for name, in := range map[string]object{
		"source":   {"source": "7", "version": "v1", "endpoint": "https://{{host}}/v1/feeds"},
		"version":  {"source": "feeds.yaml", "version": "v2", "endpoint": "https://{{host}}/v1/feeds"},
		"endpoint": {"source": "feeds.yaml", "version": "v1", "endpoint": "https://evil.example/"},
	} {
		for _, route := range []string{"compose", "send"} {
			equal(t, fmt.Sprintf("%s with another %s", route, name), statusOf(t, address+"/api/"+route, in), 404)
		}
	}
}

func TestSend(t *testing.T) {
	t.Parallel()
	var seen atomic.Int64
	feeds := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		seen.Add(1)
		switch r.URL.Path {
		case "/ok":
			w.Header().Set("Content-Type", "application/json")
			w.Header().Set("Set-Cookie", "a=b")
			fmt.Fprintf(w, `{"query":%q,"big":12345678901234567890}`, r.URL.RawQuery)
		case "/post":
			body, _ := io.ReadAll(r.Body)
			w.WriteHeader(http.StatusTeapot)
			fmt.Fprintf(w, "%s %s", r.Method, body)
		case "/moved":
			http.Redirect(w, r, "http://127.0.0.1:1/elsewhere", http.StatusFound)
		case "/binary":
			w.Header().Set("Content-Type", "image/png")
			w.Write([]byte{0xff, 0xfe})
		}
	}))
	t.Cleanup(feeds.Close)
	endpoints := "versions:\n  v1:\n    endpoints:\n"
	for _, path := range []string{"/ok", "/moved", "/binary"} {
		endpoints += fmt.Sprintf("      %s%s: {name: X, method: get, mime_type: application/json, modifiers: [{kind: text, id: q, name: Q, key: q, label: Q}]}\n", feeds.URL, path)
	}
	endpoints += fmt.Sprintf("      %s/post: {name: X, method: post, mime_type: text/plain, context_obj: [{key: k, type: bodyParam, required: true}]}\n", feeds.URL)
	endpoints += "      http://127.0.0.1:1/down: {name: X, method: get, mime_type: application/json}\n"
	_, address := serveFile(t, endpoints)
	send := func(url string, in object) (int, object) {
		t.Helper()
		return ask(t, address+"/api/send", object{"source": "feeds.yaml", "version": "v1", "endpoint": url, "modifiers": in["modifiers"], "context": in["context"]})
	}

	status, answer := send(feeds.URL+"/ok", object{"modifiers": object{"q": "é"}})
	if status != 200 || answer["status"] != 200.0 || answer["body"] != `{"query":"q=%C3%A9","big":12345678901234567890}` || answer["json"] != true || answer["declared"] != true || !cmp.Equal(answer["notes"], []any{}) {
		t.Errorf("status %d: %v", status, answer)
	}
	if strings.Contains(fmt.Sprint(answer["headers"]), "Cookie") {
		t.Errorf("headers %v", answer["headers"])
	}
	if _, answer := send(feeds.URL+"/post", object{"context": object{"k": plainText("v")}}); answer["status"] != 418.0 || answer["body"] != `POST {"k":"v"}` {
		t.Errorf("answer %v", answer)
	}
	if _, answer := send(feeds.URL+"/moved", nil); answer["status"] != 302.0 || !strings.Contains(fmt.Sprint(answer["notes"]), "redirects to http://127.0.0.1:1/elsewhere") {
		t.Errorf("answer %v", answer)
	}
	if _, answer := send(feeds.URL+"/binary", nil); answer["binary"] != true || answer["body"] != "" || !strings.Contains(fmt.Sprint(answer["notes"]), "image/png") {
		t.Errorf("answer %v", answer)
	}
	if status, problem := send("http://127.0.0.1:1/down", nil); status != 502 || problem["hint"] == "" {
		t.Errorf("status %d: %v", status, problem)
	}

	before := seen.Load()
	if status, problem := send(feeds.URL+"/post", nil); status != 422 || !strings.Contains(fmt.Sprint(problem["detail"]), "required context key k") {
		t.Errorf("status %d: %v", status, problem)
	}
	if seen.Load() != before {
		t.Error("a request without its required key was sent")
	}
}

// TestSendWithoutARequiredKey checks that a request without a required key is sent if the user insists.
func TestSendWithoutARequiredKey(t *testing.T) {
	t.Parallel()
	_, address := serveFile(t, feedsYAML)
	in := object{"source": "feeds.yaml", "version": "v1", "endpoint": "https://{{host}}/v1/feeds", "send": "sample"}
	if status, problem := ask(t, address+"/api/send", in); status != 422 || get(t, problem, "problems", 0, "field") != "context:token" {
		t.Errorf("status %d: %v", status, problem)
	}
	in["without"] = true
	if status, answer := ask(t, address+"/api/send", in); status != 200 || answer["status"] != 400.0 || !strings.Contains(fmt.Sprint(answer["body"]), `required context key \"token\"`) {
		t.Errorf("status %d: %v", status, answer)
	}
}

// TestSendTo sends what is for the service's own host to another origin, and nothing else.
func TestSendTo(t *testing.T) {
	t.Parallel()
	local := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprintf(w, `{"host":%q,"forwarded":%q,"path":%q}`, r.Host, r.Header.Get("X-Forwarded-Host"), r.URL.Path)
	}))
	t.Cleanup(local.Close)
	var elsewhere string
	s, address := serve(t, studio.Options{Host: "feeds.example.com", Client: client.Options{Transport: roundTrip(func(req *http.Request) (*http.Response, error) {
		if "http://"+req.URL.Host == local.URL {
			return http.DefaultTransport.RoundTrip(req)
		}
		elsewhere = req.URL.String()
		return nil, errors.New("not called in tests")
	})}})
	show(s, feedsYAML)
	in := object{"source": "feeds.yaml", "version": "v1", "endpoint": "https://{{host}}/v1/feeds", "send": "origin", "context": object{"token": plainText("x")}}
	if status, problem := ask(t, address+"/api/send", in); status != 422 || !strings.Contains(fmt.Sprint(problem["detail"]), "server") {
		t.Errorf("status %d without an origin: %v", status, problem)
	}
	for _, bad := range []string{"localhost:3000", "ftp://a.example", "http://a.example/path", "http://user@a.example", "http://"} {
		in["to"] = bad
		equal(t, bad, statusOf(t, address+"/api/send", in), 422)
	}
	in["to"] = local.URL + "/"
	if status, answer := ask(t, address+"/api/send", in); status != 200 || answer["body"] != `{"host":"feeds.example.com","forwarded":"feeds.example.com","path":"/v1/feeds"}` || answer["to"] != local.URL {
		t.Errorf("status %d: %v", status, answer)
	}
	in = object{"source": "feeds.yaml", "version": "v1", "endpoint": "https://ratings.example.org/titles", "send": "origin", "to": local.URL}
	equal(t, "a request for a third party", statusOf(t, address+"/api/send", in), 502)
	equal(t, "it goes", elsewhere, "https://ratings.example.org/titles")
}

// TestSendOnlyToTheWeb checks that requests go to http and https URLs only, whatever a manifest says.
func TestSendOnlyToTheWeb(t *testing.T) {
	t.Parallel()
	_, address := serve(t, studio.Options{})
	var manifest strings.Builder
	urls := []string{"javascript:alert(1)", "file:///etc/passwd", "https://user:pass@a.example/", "https:///path", "//a.example/", "https://{{host}}/v1", "https://{{tenant}}.example/"}
	for i, url := range urls {
		if i > 0 {
			manifest.WriteString(",")
		}
		fmt.Fprintf(&manifest, `%q:{"name":"X","method":"get","mime_type":"application/json"}`, url)
	}
	src := registered(t, address, serveText(t, `{"endpoints":{`+manifest.String()+`}}`))
	for _, url := range urls {
		in := object{"source": src["id"], "version": "v1", "endpoint": url, "params": object{"tenant": "127.0.0.1:1/"}}
		equal(t, url, statusOf(t, address+"/api/send", in), 422)
		if status, draft := ask(t, address+"/api/compose", in); status != 200 || len(draft["problems"].([]any)) == 0 {
			t.Errorf("%s: status %d: %v", url, status, draft)
		}
	}
}
