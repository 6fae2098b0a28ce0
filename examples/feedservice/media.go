package main

import (
	"net/http"

	"signpost/contextkeys"
)

// The context keys of the media endpoint.
const (
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
	w.Header().Set("Cache-Control", "private") // what depends on a token is for one viewer
	send(w, map[string]any{"profile": profile, "entry": []entry{}})
}
