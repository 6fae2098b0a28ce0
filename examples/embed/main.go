// Command embed publishes a manifest from within a Go service.
package main

import (
	"log"
	"net/http"

	"signpost"
	"signpost/server"
)

func main() {
	limit := signpost.Number(signpost.ModifierInput{ID: "limit", Name: "Page size", Key: "limit", Label: "Limit", DefaultValue: 20})
	v1, err := signpost.Compile(signpost.NewManifest(
		signpost.Endpoint{URL: "https://{{host}}/v1/collections", Name: "Collections",
			Method: signpost.MethodGet, MIMEType: signpost.MIMEJSON, Modifiers: []signpost.Modifier{limit}},
		signpost.Endpoint{URL: "https://{{host}}/v1/media", Name: "Media",
			Method: signpost.MethodGet, MIMEType: signpost.MIMEJSON},
	), signpost.Authentication())
	if err != nil {
		log.Fatal(err)
	}
	manifest, err := server.New(server.Options{}, server.Service{Versions: map[string]*signpost.Template{"v1": v1}})
	if err != nil {
		log.Fatal(err)
	}
	http.Handle("/v1/endpoints-manifest", manifest)
	log.Print("manifest: http://localhost:8080/v1/endpoints-manifest")
	log.Fatal(http.ListenAndServe("localhost:8080", nil))
}
