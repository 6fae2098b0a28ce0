package studio_test

import (
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"

	"signpost/client"
	"signpost/internal/testkit"
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

// TestCompose reports what is missing or wrong, and composes the rest; see TestPageFromControlsToAnswer for what is right.
func TestCompose(t *testing.T) {
	t.Parallel()
	_, address := serveFile(t, feedsYAML)
	const feeds, episodes = "https://{{host}}/v1/feeds", "https://{{host}}/v1/series/{{series_id}}/episodes"
	problem := func(field, message string, context bool) object {
		return object{"field": field, "message": message, "context": context}
	}
	token := problem("context:token", "Fill in the required context key token.", true)
	for _, c := range []struct {
		endpoint           string
		modifiers, context object
		url                string
		problems           []any
		snippet            string // none while something is missing or wrong
	}{
		{feeds, object{"page": "x", "hd": "maybe", "sort": "best", "q": "'"}, nil, "https://localhost/v1/feeds?q=%27", []any{
			problem("modifier:page", `Modifier "page" takes a number, not "x".`, false),
			problem("modifier:hd", `Modifier "hd" takes true or false, not "maybe".`, false),
			problem("modifier:sort", `Modifier "sort" takes one of ["new" "old"], not "best".`, false),
			token,
		}, ""},
		{feeds, object{"page": "2"}, nil, "https://localhost/v1/feeds?page=2", []any{token}, ""},
		{feeds, nil, object{"token": object{"text": `{"a": `, "json": true}}, "https://localhost/v1/feeds", []any{
			problem("context:token", "The value of token is not JSON.", false)}, ""},
		{feeds, nil, object{"token": object{"text": `[1.10]`, "json": true}}, "https://localhost/v1/feeds?ctx=eyJ0IjpbMS4xMF19", []any{},
			"curl -H 'Accept: application/json, */*;q=0.1' 'https://localhost/v1/feeds?ctx=eyJ0IjpbMS4xMF19'"},
		{episodes, nil, nil, "https://localhost/v1/series/{{series_id}}/episodes", []any{problem("param:series_id", "Fill in series_id.", false)}, ""},
		// Values that the endpoint does not declare, such as those of a removed modifier, are ignored.
		{"https://ratings.example.org/titles", object{"gone": "1"}, object{"gone": plainText("1")}, "https://ratings.example.org/titles", []any{},
			"curl -H 'Accept: application/json, */*;q=0.1' 'https://ratings.example.org/titles'"},
	} {
		_, draft := ask(t, address+"/api/compose", object{"source": "feeds.yaml", "version": "v1", "endpoint": c.endpoint,
			"modifiers": c.modifiers, "context": c.context})
		testkit.Equal(t, c.url, draft["url"], any(c.url))
		testkit.Equal(t, c.url, draft["problems"], any(c.problems))
		testkit.Equal(t, c.url, snippetOf(t, draft, "curl"), c.snippet)
	}

	for _, in := range []object{
		{"source": "7", "version": "v1", "endpoint": "https://{{host}}/v1/feeds"},
		{"source": "feeds.yaml", "version": "v2", "endpoint": "https://{{host}}/v1/feeds"},
		{"source": "feeds.yaml", "version": "v1", "endpoint": "https://evil.example/"},
	} {
		for _, route := range []string{"compose", "send"} {
			expect(t, address+"/api/"+route, in, 404, nil)
		}
	}
}

// TestSend sends requests; what a page shows of unusual responses is in TestPageAnswers.
func TestSend(t *testing.T) {
	t.Parallel()
	var seen atomic.Int64
	feeds := answerWith(t, func(w http.ResponseWriter, r *http.Request) {
		seen.Add(1)
		w.Header().Set("Set-Cookie", "a=b")
		switch r.URL.Path {
		case "/post":
			io.Copy(w, r.Body)
		case "/moved":
			http.Redirect(w, r, "http://127.0.0.1:1/elsewhere", http.StatusFound)
		case "/binary":
			w.Header().Set("Content-Type", "image/png")
			w.Write([]byte{0xff, 0xfe})
		case "/latin1":
			io.WriteString(w, "{\"a\":\"caf\xe9\"}")
		case "/long":
			io.WriteString(w, strings.Repeat("日", client.MaxAnswer))
		}
	})
	endpoints := "versions:\n  v1:\n    endpoints:\n"
	for _, url := range []string{feeds.URL + "/moved", feeds.URL + "/latin1", feeds.URL + "/binary", feeds.URL + "/long", "http://127.0.0.1:1/down"} {
		endpoints += fmt.Sprintf("      %s: {name: X, method: get, mime_type: application/json}\n", url)
	}
	endpoints += fmt.Sprintf("      %s/post: {name: X, method: post, mime_type: application/json, context_obj: [{key: k, type: bodyParam, required: true}]}\n", feeds.URL)
	_, address := serveFile(t, endpoints)
	input := func(url string, values object, without bool) object {
		return object{"source": "feeds.yaml", "version": "v1", "endpoint": url, "context": values, "without": without}
	}
	for url, want := range map[string]string{
		feeds.URL + "/post": `200 {"k":"é"} []`, feeds.URL + "/binary": "200  [The manifest declares application/json, but the response has image/png. The response is not text, so it is not shown.]",
		feeds.URL + "/latin1": `200 {"a":"café"} [The response is not UTF-8, so it is shown as ISO-8859-1. JSON must be UTF-8.]`,
		feeds.URL + "/moved":  "302  [The response redirects to http://127.0.0.1:1/elsewhere. Redirects are not followed by themselves: another host must not get the context keys.]",
	} {
		answer := expect(t, address+"/api/send", input(url, object{"k": plainText("é")}, false), 200, nil)
		testkit.Equal(t, url, fmt.Sprint(answer["status"], " ", answer["body"], " ", answer["notes"]), want)
		if strings.Contains(fmt.Sprint(answer["headers"]), "Cookie") {
			t.Errorf("%s: %v", url, answer)
		}
	}
	expect(t, address+"/api/send", input("http://127.0.0.1:1/down", nil, false), 502, object{"hint": "Start the service, or correct host and port."})

	// A response is cut between two characters.
	long := expect(t, address+"/api/send", input(feeds.URL+"/long", nil, false), 200, object{"truncated": true})
	testkit.Equal(t, "bytes of what is shown", len(long["body"].(string)), client.MaxAnswer/3*3)

	// A request without a required key is sent only if the user insists.
	before := seen.Load()
	problem := expect(t, address+"/api/send", input(feeds.URL+"/post", nil, false), 422, nil)
	testkit.Equal(t, "problem", get(t, problem, "problems", 0, "field"), "context:k")
	testkit.Equal(t, "requests", seen.Load(), before)
	expect(t, address+"/api/send", input(feeds.URL+"/post", nil, true), 200, object{"status": 200.0})
}

// TestSendTo sends what is for the service's own host to another origin, and nothing else.
func TestSendTo(t *testing.T) {
	t.Parallel()
	local := answerWith(t, func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprintf(w, `{"host":%q,"forwarded":%q,"path":%q}`, r.Host, r.Header.Get("X-Forwarded-Host"), r.URL.Path)
	})
	var elsewhere string
	transport := roundTrip(func(req *http.Request) (*http.Response, error) {
		if "http://"+req.URL.Host != local.URL { // which tests do not call
			elsewhere = req.URL.String()
			req.URL = testkit.Must(url.Parse(local.URL))(t)
		}
		return http.DefaultTransport.RoundTrip(req)
	})
	_, address := serveFile(t, feedsYAML, studio.Options{Host: "feeds.example.com", Client: client.Options{Transport: transport}})
	in := object{"source": "feeds.yaml", "version": "v1", "endpoint": "https://{{host}}/v1/feeds", "send": "origin", "context": object{"token": plainText("x")}}
	for _, bad := range []string{"", "localhost:3000", "ftp://a.example", "http://a.example/path", "http://user@a.example", "http://"} {
		in["to"] = bad
		expect(t, address+"/api/send", in, 422, nil)
	}
	in["to"] = local.URL + "/"
	expect(t, address+"/api/send", in, 200, object{"to": local.URL,
		"body": `{"host":"feeds.example.com","forwarded":"feeds.example.com","path":"/v1/feeds"}`})
	in = object{"source": "feeds.yaml", "version": "v1", "endpoint": "https://ratings.example.org/titles", "send": "origin", "to": local.URL}
	expect(t, address+"/api/send", in, 200, object{"to": "https://ratings.example.org"})
	testkit.Equal(t, "it goes", elsewhere, "https://ratings.example.org/titles")
}

// TestSendOnlyToTheWeb checks that requests go to http and https URLs only, whatever a manifest says.
func TestSendOnlyToTheWeb(t *testing.T) {
	t.Parallel()
	_, address := serve(t, studio.Options{})
	var endpoints []string
	urls := []string{"javascript:alert(1)", "file:///etc/passwd", "https://user:pass@a.example/", "https:///path", "//a.example/", "https://{{host}}/v1", "https://{{tenant}}.example/"}
	for _, url := range urls {
		endpoints = append(endpoints, fmt.Sprintf(`%q:{"name":"X","method":"get","mime_type":"application/json"}`, url))
	}
	src := registered(t, address, serveText(t, `{"endpoints":{`+strings.Join(endpoints, ",")+`}}`))
	for _, url := range urls {
		in := object{"source": src["id"], "version": "v1", "endpoint": url, "params": object{"tenant": "127.0.0.1:1/"}}
		expect(t, address+"/api/send", in, 422, nil)
		get(t, expect(t, address+"/api/compose", in, 200, nil), "problems", 0)
	}
}
