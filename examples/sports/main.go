// Command sports is a small feed service that does not use Signpost. docs/tutorial.md writes the definition feeds.yaml
// for it, and the tests of deploy run it beside Signpost.
package main

import (
	"encoding/base64"
	"encoding/json"
	"flag"
	"fmt"
	"log"
	"net/http"
	"strconv"
	"time"
)

type entry struct {
	ID    string `json:"id"`
	Title string `json:"title"`
	Link  string `json:"link,omitempty"` // URL of another feed
}

var matches = []entry{
	{ID: "7", Title: "North against South"},
	{ID: "8", Title: "East against West"},
	{ID: "9", Title: "The final"},
}

func writeFeed(w http.ResponseWriter, title string, entries []entry) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Access-Control-Allow-Origin", "*")
	w.Header().Set("Cache-Control", "private")
	json.NewEncoder(w).Encode(map[string]any{"title": title, "entry": entries})
}

// listMatches accepts the query parameter limit. Each entry links to the events of its match.
func listMatches(w http.ResponseWriter, r *http.Request) {
	limit, err := strconv.Atoi(r.FormValue("limit"))
	if err != nil || limit < 1 || limit > len(matches) {
		limit = len(matches)
	}
	entries := make([]entry, limit)
	for i := range entries {
		entries[i] = matches[i]
		entries[i].Link = fmt.Sprintf("https://%s/v1/matches/%s/events", r.Host, matches[i].ID)
	}
	writeFeed(w, "Matches", entries)
}

func listEvents(w http.ResponseWriter, r *http.Request) {
	writeFeed(w, "Events of match "+r.PathValue("id"), []entry{{ID: "1", Title: "Kick-off"}, {ID: "2", Title: "Goal"}})
}

// listMedia requires an access token in the ctx parameter.
func listMedia(w http.ResponseWriter, r *http.Request) {
	var context map[string]any
	text, err := base64.RawURLEncoding.DecodeString(r.FormValue("ctx"))
	if err != nil || json.Unmarshal(text, &context) != nil || context["plugin-login-flow.access_token"] != "s3cr3t" {
		http.Error(w, "sign in first", http.StatusUnauthorized)
		return
	}
	writeFeed(w, "Media", []entry{{ID: "m1", Title: "The final in three minutes"}})
}

// addFavourite accepts a form with the viewer's profile.
func addFavourite(w http.ResponseWriter, r *http.Request) {
	writeFeed(w, "Favourites of "+r.PostFormValue("profile"), nil)
}

func main() {
	listen := flag.String("listen", "localhost:3000", "address to listen on")
	flag.Parse()
	http.HandleFunc("GET /v1/matches", listMatches)
	http.HandleFunc("GET /v1/matches/{id}/events", listEvents)
	http.HandleFunc("GET /v1/media", listMedia)
	http.HandleFunc("POST /v1/favourites", addFavourite)
	server := http.Server{Addr: *listen, ReadTimeout: 10 * time.Second}
	fmt.Printf("Feeds are at http://%s/v1/matches\n", *listen)
	log.Fatal(server.ListenAndServe())
}
