package main

import (
	"net/http"

	"signpost"
	"signpost/contextkeys"
	"signpost/server"
)

const (
	showsURL  = "https://{{host}}/v1/shows"
	seriesURL = "https://{{host}}/v1/series/{{series_id}}"
	mediaURL  = "https://{{host}}/v1/media"
)

// newService returns the handler of the service: its manifest and its feeds.
func newService() (http.Handler, error) {
	limit := signpost.Number(signpost.ModifierInput{ID: "limit", Name: "Page size", Key: "limit", Label: "Limit", DefaultValue: 20})
	v1, err := signpost.Compile(signpost.NewManifest(
		signpost.Endpoint{
			URL: showsURL, Name: "Shows", Method: signpost.MethodGet, MIMEType: signpost.MIMEJSON,
			Modifiers: []signpost.Modifier{limit},
		},
		signpost.Endpoint{URL: seriesURL, Name: "Series", Method: signpost.MethodGet, MIMEType: signpost.MIMEJSON},
		signpost.Endpoint{
			URL: mediaURL, Name: "Media", Method: signpost.MethodGet, MIMEType: signpost.MIMEJSON,
			ContextObj: []signpost.ContextItem{{Key: profileKey, Type: signpost.ContextCtx, Mapper: "profile"}},
		},
	), signpost.Authentication())
	if err != nil {
		return nil, err
	}
	manifest, err := server.New(server.Options{}, server.Service{Versions: map[string]*signpost.Template{"v1": v1}})
	if err != nil {
		return nil, err
	}
	mediaEndpoint, err := v1.Endpoint(mediaURL) // as declared in the manifest, including keys that features add
	if err != nil {
		return nil, err
	}
	mux := http.NewServeMux()
	mux.Handle("/v1/endpoints-manifest", manifest)
	mux.HandleFunc("GET /v1/shows", shows)
	mux.HandleFunc("GET /v1/series/{id}", series)
	mux.Handle("GET /v1/media", contextkeys.Middleware(mediaEndpoint.ContextObj)(http.HandlerFunc(media)))
	return mux, nil
}
