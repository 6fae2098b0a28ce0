// Command feedservice is a complete feed service: it publishes its manifest and reads the context keys that the
// manifest tells clients to send.
package main

import (
	"encoding/json"
	"flag"
	"log"
	"net"
	"net/http"
	"time"

	"signpost"
	"signpost/contextkeys"
	"signpost/server"
)

const (
	mediaURL   = "https://{{host}}/v1/media"
	tokenKey   = "plugin-login-flow.access_token" // added by the feature authentication
	profileKey = "user_account.profile"
)

func media(w http.ResponseWriter, r *http.Request) {
	keys := contextkeys.FromContext(r.Context())
	token, _ := keys.Text(tokenKey) // required, so it is there
	if token != "s3cr3t" {          // ask the issuer
		w.Header().Set("WWW-Authenticate", `Bearer error="invalid_token"`)
		http.Error(w, "invalid token", http.StatusUnauthorized)
		return
	}
	profile, ok := keys.Int64(profileKey) // found by its key, although it is sent as "profile"
	if !ok {
		profile = 1
	}
	w.Header().Set("Content-Type", signpost.MIMEJSON)
	w.Header().Set("Cache-Control", "private")
	json.NewEncoder(w).Encode(map[string]any{"profile": profile, "entry": []string{}})
}

func main() {
	listen := flag.String("listen", "localhost:8080", "address to listen on")
	flag.Parse()

	v1, err := signpost.Compile(signpost.NewManifest(signpost.Endpoint{
		URL: mediaURL, Name: "Media", Method: signpost.MethodGet, MIMEType: signpost.MIMEJSON,
		ContextObj: []signpost.ContextItem{{Key: profileKey, Type: signpost.ContextCtx, Mapper: "profile"}},
	}), signpost.Authentication())
	if err != nil {
		log.Fatal(err)
	}
	manifest, err := server.New(server.Options{}, server.Service{Versions: map[string]*signpost.Template{"v1": v1}})
	if err != nil {
		log.Fatal(err)
	}
	endpoint, err := v1.Endpoint(mediaURL) // with the keys that features add
	if err != nil {
		log.Fatal(err)
	}
	mux := http.NewServeMux()
	mux.Handle("/v1/endpoints-manifest", manifest)
	mux.Handle("GET /v1/media", contextkeys.Middleware(endpoint.ContextObj)(http.HandlerFunc(media)))

	listener, err := net.Listen("tcp", *listen)
	if err != nil {
		log.Fatal(err)
	}
	log.Printf("feeds are at http://%s", *listen)
	feeds := http.Server{Handler: mux, ReadTimeout: 10 * time.Second} // the middleware bounds a body's size, this its time
	log.Fatal(feeds.Serve(listener))
}
