package server_test

import (
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"

	"signpost"
	"signpost/server"
)

func ExampleNew() {
	template, err := signpost.Compile(signpost.NewManifest(signpost.Endpoint{
		URL: "https://{{host}}/v1/feeds", Name: "Collections", Method: signpost.MethodGet, MIMEType: signpost.MIMEJSON,
	}))
	if err != nil {
		log.Fatal(err)
	}
	mux := http.NewServeMux()

	manifests, err := server.New(server.Options{}, server.Service{
		BasePath: "/feeds", Versions: map[string]*signpost.Template{"v1": template},
	})
	if err != nil {
		log.Fatal(err)
	}
	mux.Handle("/feeds/", manifests)

	live := httptest.NewServer(mux)
	defer live.Close()
	response, err := http.Get(live.URL + manifests.Routes()[0])
	if err != nil {
		log.Fatal(err)
	}
	defer response.Body.Close()
	body, _ := io.ReadAll(response.Body)
	fmt.Println(manifests.Routes()[0], response.Status)
	fmt.Printf("%s", body)

	// Output:
	// /feeds/v1/endpoints-manifest 200 OK
	// {"endpoints":{"https://127.0.0.1/v1/feeds":{"name":"Collections","method":"get","mime_type":"application/json","context_obj":[]}}}
}
