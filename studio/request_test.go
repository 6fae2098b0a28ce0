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

// TestSend sends requests; what a page shows of unusual responses is in TestPageAnswers.
func TestSend(t *testing.T) {
	t.Parallel()
	var seen atomic.Int64
	feeds := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		seen.Add(1)
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("Set-Cookie", "a=b")
		switch r.URL.Path {
		case "/post":
			io.Copy(w, r.Body)
		case "/moved":
			http.Redirect(w, r, "http://127.0.0.1:1/elsewhere", http.StatusFound)
		case "/binary":
			w.Header().Set("Content-Type", "image/png")
			w.Write([]byte{0xff, 0xfe})
		}
	}))
	t.Cleanup(feeds.Close)
	endpoints := "versions:\n  v1:\n    endpoints:\n"
	for _, url := range []string{feeds.URL + "/moved", feeds.URL + "/binary", "http://127.0.0.1:1/down"} {
		endpoints += fmt.Sprintf("      %s: {name: X, method: get, mime_type: application/json}\n", url)
	}
	endpoints += fmt.Sprintf("      %s/post: {name: X, method: post, mime_type: application/json, context_obj: [{key: k, type: bodyParam, required: true}]}\n", feeds.URL)
	_, address := serveFile(t, endpoints)
	send := func(url string, values object, without bool) (int, object) {
		t.Helper()
		return ask(t, address+"/api/send", object{"source": "feeds.yaml", "version": "v1", "endpoint": url, "context": values, "without": without})
	}
	if status, answer := send(feeds.URL+"/post", object{"k": plainText("é")}, false); status != 200 || answer["status"] != 200.0 || answer["body"] != `{"k":"é"}` ||
		!cmp.Equal(answer["notes"], []any{}) || strings.Contains(fmt.Sprint(answer["headers"]), "Cookie") {
		t.Errorf("status %d: %v", status, answer)
	}
	if _, answer := send(feeds.URL+"/moved", nil, false); answer["status"] != 302.0 || answer["follow"] != "" || !strings.Contains(fmt.Sprint(answer["notes"]), "redirects to http://127.0.0.1:1/elsewhere") {
		t.Errorf("answer %v", answer)
	}
	if _, answer := send(feeds.URL+"/binary", nil, false); answer["binary"] != true || answer["body"] != "" || !strings.Contains(fmt.Sprint(answer["notes"]), "image/png") {
		t.Errorf("answer %v", answer)
	}
	if status, problem := send("http://127.0.0.1:1/down", nil, false); status != 502 || problem["hint"] == "" {
		t.Errorf("status %d: %v", status, problem)
	}

	// A request without a required key is sent only if the user insists.
	before := seen.Load()
	if status, problem := send(feeds.URL+"/post", nil, false); status != 422 || get(t, problem, "problems", 0, "field") != "context:k" {
		t.Errorf("status %d: %v", status, problem)
	}
	equal(t, "requests", seen.Load(), before)
	if _, answer := send(feeds.URL+"/post", nil, true); answer["status"] != 200.0 {
		t.Errorf("answer %v", answer)
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
