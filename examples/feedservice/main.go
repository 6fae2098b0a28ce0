// Command feedservice is a whole feed service: it publishes its manifest, and reads the context keys that the manifest
// makes clients send.
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

// One list says what the manifest asks for and what the handler gets.
var mediaKeys = []signpost.ContextItem{
	{Key: "plugin-login-flow.access_token", Type: signpost.ContextCtx, Required: true},
	{Key: "user_account.profile", Type: signpost.ContextCtx, Mapper: "profile"},
}

func media(w http.ResponseWriter, r *http.Request) {
	keys := contextkeys.FromContext(r.Context())
	token, _ := keys.String("plugin-login-flow.access_token") // required, so it is there
	if token != "s3cr3t" {                                    // ask whoever issued it
		w.Header().Set("WWW-Authenticate", `Bearer error="invalid_token"`)
		http.Error(w, "this token is not good any more", http.StatusUnauthorized)
		return
	}
	profile, ok := keys.Int64("user_account.profile") // found by its key, though sent as "profile"
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
		URL: "https://{{host}}/v1/media", Name: "Media", Method: signpost.MethodGet, MIMEType: signpost.MIMEJSON,
		ContextObj: mediaKeys,
	}))
	if err != nil {
		log.Fatal(err)
	}
	manifest, err := server.New(server.Options{}, server.Service{Versions: map[string]*signpost.Template{"v1": v1}})
	if err != nil {
		log.Fatal(err)
	}
	mux := http.NewServeMux()
	mux.Handle("/v1/endpoints-manifest", manifest)
	mux.Handle("GET /v1/media", contextkeys.Middleware(mediaKeys)(http.HandlerFunc(media)))

	listener, err := net.Listen("tcp", *listen)
	if err != nil {
		log.Fatal(err)
	}
	log.Printf("feeds are at http://%s", *listen)
	feeds := http.Server{Handler: mux, ReadTimeout: 10 * time.Second} // the middleware bounds a body's size, this its time
	log.Fatal(feeds.Serve(listener))
}
