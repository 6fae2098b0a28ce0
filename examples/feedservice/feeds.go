package main

import (
	"encoding/json"
	"net/http"

	"signpost"
)

// entry is an item of a feed. Content is the URL of another feed.
type entry struct {
	Title   string `json:"title"`
	Content string `json:"content,omitempty"`
}

// titles holds the series of the service by id.
var titles = map[string]string{"1": "The Lighthouse", "2": "Night Ferry"}

func shows(w http.ResponseWriter, r *http.Request) {
	base := "https://" + r.Host // as in the manifest: no port, and https, because a reverse proxy terminates TLS
	send(w, map[string]any{"entry": []entry{
		{"The Lighthouse", base + "/v1/series/1"},
		{"Night Ferry", base + "/v1/series/2"},
	}})
}

func series(w http.ResponseWriter, r *http.Request) {
	title, ok := titles[r.PathValue("id")]
	if !ok {
		http.NotFound(w, r)
		return
	}
	send(w, map[string]any{"title": title, "entry": []entry{{Title: "Episode 1"}, {Title: "Episode 2"}}})
}

// send writes a feed that apps in any browser engine can read.
func send(w http.ResponseWriter, feed map[string]any) {
	w.Header().Set("Content-Type", signpost.MIMEJSON)
	w.Header().Set("Access-Control-Allow-Origin", "*")
	json.NewEncoder(w).Encode(feed)
}
