package client_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"

	"signpost"
	"signpost/client"
	"signpost/server"
)

// newService starts a feed service with its manifest, as a test of the service itself would.
func newService(feed http.HandlerFunc) *httptest.Server {
	mux := http.NewServeMux()
	service := httptest.NewServer(mux)
	manifest, err := signpost.Compile(signpost.NewManifest(signpost.Endpoint{
		URL: service.URL + "/v1/feeds", Name: "Feeds", Method: signpost.MethodGet, MIMEType: signpost.MIMEJSON,
	}))
	if err != nil {
		log.Fatal(err)
	}
	handler, err := server.New(server.Options{}, server.Service{Versions: map[string]*signpost.Template{"v1": manifest}})
	if err != nil {
		log.Fatal(err)
	}
	mux.Handle("/v1/endpoints-manifest", handler)
	mux.HandleFunc("/v1/feeds", feed)
	return service
}

func sendFeed(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Access-Control-Allow-Origin", "*")
	io.WriteString(w, `{"entry":[]}`)
}

func ExampleFetchManifest() {
	service := newService(sendFeed)
	defer service.Close()
	manifest, err := client.FetchManifest(context.Background(), service.URL+"/v1/endpoints-manifest", client.Options{})
	if err != nil {
		log.Fatal(err)
	}
	for _, e := range manifest.Endpoints {
		fmt.Println(e.Method, e.Name, e.MIMEType)
	}

	_, err = client.FetchManifest(context.Background(), service.URL+"/v2/endpoints-manifest", client.Options{})
	if status, ok := errors.AsType[*client.StatusError](err); ok {
		fmt.Println(status.Status)
	}

	// Output:
	// get Feeds application/json
	// 404
}

func ExampleCheck() {
	service := newService(func(w http.ResponseWriter, r *http.Request) { http.Error(w, "oops", http.StatusInternalServerError) })
	defer service.Close()
	report, err := client.Check(context.Background(), service.URL+"/v1/endpoints-manifest", client.CheckOptions{})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("ok:", report.OK)
	for _, r := range report.Results {
		if r.Status == client.Failed {
			fmt.Printf("%s: %s\n  %s\n", r.Check, r.Message, r.Hint)
		}
	}

	// Output:
	// ok: false
	// probe: the response is 500 Internal Server Error
	//   look at the service's log
}
