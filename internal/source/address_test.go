package source

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"signpost/internal/testkit"
)

// TestFollowAddress polls a definition at a URL with a token in its query.
func TestFollowAddress(t *testing.T) {
	elsewhere := httptest.NewTLSServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { t.Error("a redirect to another host was followed") }))
	defer elsewhere.Close()
	var respond http.HandlerFunc
	mux := http.NewServeMux()
	mux.HandleFunc("/feeds.yaml", func(w http.ResponseWriter, r *http.Request) { respond(w, r) })
	mux.HandleFunc("/moved.yaml", func(w http.ResponseWriter, r *http.Request) {
		if r.Referer() != "" {
			t.Errorf("the referrer is %s", r.Referer())
		}
		io.WriteString(w, "moved")
	})
	server := httptest.NewTLSServer(mux)
	address := server.URL + "/feeds.yaml?token=s3cr3t"
	sources := testkit.Must((&Reader{UserAgent: "tester", Transport: server.Client().Transport}).Follow(address))(t)
	s := sources[0].(*Remote)
	text, etag, unchanged := "one", `"1"`, 0
	good := func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("User-Agent") != "tester" || r.URL.Query().Get("token") != "s3cr3t" {
			t.Errorf("request for %s by %s", r.URL, r.UserAgent())
		}
		w.Header().Set("ETag", etag)
		if r.Header.Get("If-None-Match") == etag {
			unchanged++
			w.WriteHeader(http.StatusNotModified)
			return
		}
		io.WriteString(w, text)
	}
	step := func(name string, handler http.HandlerFunc, news bool, want, failure string) {
		t.Helper()
		respond = handler
		if got := s.Fetch(t.Context()); got != news {
			t.Errorf("%s: news are %v", name, got)
		}
		documents, err := s.Read()
		switch {
		case len(documents) != 1 || string(documents[0].Text) != want || !strings.HasSuffix(documents[0].Name, "/feeds.yaml?…"+documents[0].Name[len(documents[0].Name)-4:]):
			t.Errorf("%s: %+v", name, documents)
		case (err != nil) != (failure != "") || err != nil && !strings.Contains(err.Error(), failure):
			t.Errorf("%s: %v, want %s", name, err, failure)
		case err != nil && strings.Contains(err.Error(), "s3cr3t"):
			t.Errorf("%s: the error has the token: %v", name, err)
		}
	}
	step("first", good, true, "one", "")
	if s.Status().Version != `"1"` {
		t.Errorf("the version is %s", s.Status().Version)
	}
	if step("unchanged", good, false, "one", ""); unchanged != 1 {
		t.Error("the request was not conditional")
	}
	text, etag = "two", `"2"`
	step("changed", good, true, "two", "")
	etag = `"3"`
	step("another tag, the same text", good, false, "two", "")
	failing := func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusServiceUnavailable) }
	step("failing", failing, true, "two", "the response is 503 Service Unavailable, not 200 OK")
	step("still failing", failing, false, "two", "503")
	step("recovered", good, true, "two", "")
	redirect := func(to string) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, to, http.StatusFound) }
	}
	step("another host", redirect(strings.Replace(elsewhere.URL, "127.0.0.1", "localhost", 1)), true, "two", "redirected to another host")
	step("another port, with a query", redirect(elsewhere.URL), true, "two", "redirected to another host")
	step("plain http", redirect(strings.Replace(address, "https", "http", 1)), true, "two", "redirected from https to http")
	step("in circles", redirect(address), true, "two", "more than 5 redirects")
	step("moved on the same host", redirect("/moved.yaml"), true, "moved", "")
	server.Close()
	if !s.Fetch(t.Context()) {
		t.Error("a server that is gone is not news")
	}
	_, err := s.Read()
	fails(t, "gone", err, "nothing listens at ")
}

// A response that ends with its connection may have been cut off, so it counts only if a second one is the same.
func TestResponseWithoutLength(t *testing.T) {
	bodies := make(chan string, 2) // of the responses to come
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		conn, _, err := http.NewResponseController(w).Hijack()
		testkit.OK(t, err)
		defer conn.Close()
		io.WriteString(conn, "HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n"+<-bodies)
	}))
	defer server.Close()
	s := testkit.Must(new(Reader).Follow(server.URL + "/feeds.yaml"))(t)[0].(*Remote)
	for _, step := range []struct{ bodies, want, failure string }{
		{"all all", "all", ""},
		{"all", "all", ""},
		{"al all", "all", "a second one is different"},
		{"more more", "more", ""},
	} {
		for body := range strings.FieldsSeq(step.bodies) {
			bodies <- body
		}
		s.Fetch(t.Context())
		documents, err := s.Read()
		switch {
		case len(documents) != 1 || string(documents[0].Text) != step.want || len(bodies) > 0:
			t.Errorf("%s: %+v, and %d not sent", step.bodies, documents, len(bodies))
		case (err != nil) != (step.failure != "") || err != nil && !strings.Contains(err.Error(), step.failure):
			t.Errorf("%s: %v", step.bodies, err)
		}
	}
}
