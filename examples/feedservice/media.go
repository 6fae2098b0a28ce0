package main

import (
	"net/http"

	"signpost/contextkeys"
)

// Context keys of the media endpoint.
const (
	tokenKey   = "plugin-login-flow.access_token" // added by the authentication feature
	profileKey = "user_account.profile"
)

func media(w http.ResponseWriter, r *http.Request) {
	keys := contextkeys.FromContext(r.Context())
	token, _ := keys.Text(tokenKey) // required, so it is present
	if token != "s3cr3t" {          // a real service would ask the issuer
		w.Header().Set("WWW-Authenticate", `Bearer error="invalid_token"`)
		http.Error(w, "invalid token", http.StatusUnauthorized)
		return
	}
	profile, ok := keys.Int64(profileKey) // looked up by its key, although it is sent as "profile"
	if !ok {
		profile = 1
	}
	w.Header().Set("Cache-Control", "private") // the response is for this viewer only
	send(w, map[string]any{"profile": profile, "entry": []entry{}})
}
