package client_test

import (
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"signpost/client"
)

func TestFetch(t *testing.T) {
	const doc = `{"endpoints":{}}`
	mux := http.NewServeMux()
	mux.HandleFunc("/plain", func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodGet || r.Header.Get("User-Agent") != "signpost" || r.Header.Get("Accept") != "application/json" {
			t.Errorf("request %s with %v", r.Method, r.Header)
		}
		w.Header().Set("Signpost-Revision", "abc")
		io.WriteString(w, doc)
	})
	mux.HandleFunc("/gzip", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Signpost-Revision", "abc")
		w.Header().Set("Content-Encoding", "gzip")
		zw := gzip.NewWriter(w)
		io.WriteString(zw, doc)
		zw.Close()
	})
	mux.HandleFunc("/moved", func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, "/plain", http.StatusMovedPermanently)
	})
	mux.HandleFunc("/choices", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusMultipleChoices) })
	mux.HandleFunc("/made", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Location", "/plain")
		w.WriteHeader(http.StatusCreated)
	})
	mux.HandleFunc("/cut", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Length", "1000")
		io.WriteString(w, doc)
	})
	mux.HandleFunc("/huge", func(w http.ResponseWriter, _ *http.Request) {
		megabyte := make([]byte, 1<<20)
		for range client.MaxSize>>20 + 1 {
			if _, err := w.Write(megabyte); err != nil {
				return
			}
		}
	})
	mux.HandleFunc("/slow", func(_ http.ResponseWriter, r *http.Request) {
		select {
		case <-r.Context().Done():
		case <-time.After(5 * time.Minute):
		}
	})
	server := httptest.NewServer(mux)
	defer server.Close()

	for _, test := range []struct{ path, err string }{ // without an error, the body is doc
		{"/plain", ""},
		{"/gzip", ""},
		{"/moved", `: it redirects to "` + server.URL + `/plain": studios store the address that they are given, so use that one`},
		{"/choices", ": the response is 300 Multiple Choices, not 200 OK"},
		{"/made", ": the response is 201 Created, not 200 OK"},
		{"/gone", ": the response is 404 Not Found, not 200 OK"},
		{"/cut", ": unexpected EOF"},
		{"/huge", ": the response is larger than 64 MiB"},
		{"/slow", ": no response in time: "},
	} {
		t.Run(test.path, func(t *testing.T) {
			opts := client.Options{}
			if test.path == "/slow" {
				opts.Timeout = 50 * time.Millisecond
			}
			address := server.URL + test.path
			answer, err := client.Fetch(t.Context(), address, opts)
			if test.err == "" {
				if err != nil || string(answer.Body) != doc || answer.Header.Get("Signpost-Revision") != "abc" || answer.Status != http.StatusOK {
					t.Errorf("got %+v, %v", answer, err)
				}
				return
			}
			if want := `fetch "` + address + `"` + test.err; answer != nil || err == nil || !strings.HasPrefix(err.Error(), want) {
				t.Errorf("got %v and error %v, want %s", answer, err, want)
			}
			if strings.Count(err.Error(), address) != 1 && test.path != "/moved" {
				t.Errorf("the error does not contain the address exactly once: %v", err)
			}
		})
	}
}

func TestFetchManifest(t *testing.T) {
	const object = `{"endpoints":{"https://feeds.example.com/v1/feeds":{"name":"Feeds","method":"get","mime_type":"application/json",` +
		`"context_obj":[{"key":"a","type":"header","required":true,"mapper":null,"x":1}],"new_field":{}}}}`
	for _, test := range []struct {
		status    int
		body, err string
	}{
		{200, object, ""}, // lenient: extensions are not an error
		{200, "\ufeff" + object, ""},
		{200, "", "the response is empty"},
		{200, "<!doctype html>", "the response is HTML, not a manifest"},
		{200, "endpoints: {}", "the response is not JSON"},
		{200, "[]", "the manifest must be a JSON object, not an array"},
		{200, `"ok"`, "the manifest must be a JSON object, not a string"},
		{200, "null", "the manifest must be a JSON object, not null"},
		{200, "7", "the manifest must be a JSON object, not a number"},
		{200, "true", "the manifest must be a JSON object, not a boolean"},
		{200, "{}", `the response is not a manifest: manifest has no "endpoints" object`},
		{503, object, "the response is 503 Service Unavailable, not 200 OK"},
	} {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(test.status)
			io.WriteString(w, test.body)
		}))
		address := server.URL + "/v1/endpoints-manifest"
		m, err := client.FetchManifest(t.Context(), address, client.Options{})
		server.Close()
		if test.err == "" {
			if err != nil || len(m.Endpoints) != 1 || m.Endpoints[0].ContextObj[0].Type != "header" {
				t.Errorf("%s: %+v, %v", test.body, m, err)
			}
			continue
		}
		if want := fmt.Sprintf("fetch %q: %s", address, test.err); err == nil || err.Error() != want {
			t.Errorf("%s:\n got %v\nwant %s", test.body, err, want)
		}
		if status, ok := errors.AsType[*client.StatusError](err); ok != (test.status != 200) || ok && status.Status != test.status {
			t.Errorf("%s: the status is %+v", test.body, status)
		}
	}
}

func TestFetchIsCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := client.Fetch(ctx, "http://127.0.0.1:9/v1/endpoints-manifest", client.Options{}); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}

func TestFetchVerifiesCertificates(t *testing.T) {
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, "{}") }))
	server.Config.ErrorLog = log.New(io.Discard, "", 0) // the handshake fails on purpose
	server.StartTLS()
	defer server.Close()
	if _, err := client.Fetch(t.Context(), server.URL+"/v1/endpoints-manifest", client.Options{}); err == nil || !strings.Contains(err.Error(), "certificate") {
		t.Errorf("got %v", err)
	}
	answer, err := client.Fetch(t.Context(), server.URL+"/v1/endpoints-manifest", client.Options{Transport: server.Client().Transport})
	if err != nil || string(answer.Body) != "{}" {
		t.Errorf("with a trusted certificate: %+v, %v", answer, err)
	}
}
