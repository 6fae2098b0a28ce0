package studio

import (
	"net/http"
	"strconv"
	"strings"

	"signpost"
)

// match is the endpoint that answers for a feed, and the source that it is in.
type match struct {
	signpost.Match
	Source string `json:"source"`
}

// serveMatch tells which endpoint answers for a feed. All that is registered counts, as it does in a studio: only
// the longest endpoint of all supplies context keys.
func (s *Studio) serveMatch(w http.ResponseWriter, r *http.Request) {
	var in struct {
		Source string `json:"source"` // the one that is looked at
		Feed   string `json:"feed"`
	}
	if !read(w, r, &in) {
		return
	}
	feed := strings.TrimSpace(in.Feed)
	if lower := strings.ToLower(feed); !strings.HasPrefix(lower, "https://") && !strings.HasPrefix(lower, "http://") {
		refuse(w, problem{
			Status: http.StatusUnprocessableEntity, Detail: "A feed's URL starts with https:// or http://.",
			Hint: "Paste it as the app has it, such as https://feeds.example.com/v1/media/7.",
		})
		return
	}
	looked := s.source(in.Source)
	if looked == nil {
		refuse(w, noSource)
		return
	}
	type place struct{ source, version string }
	var versions []signpost.Version // under the number of their place
	var places []place
	seen := make(map[string]bool)
	add := func(src *source) {
		for _, v := range src.Versions {
			numbered := signpost.Version{Name: strconv.Itoa(len(places))}
			for _, e := range v.manifest.Endpoints {
				if !seen[e.URL] { // the file may be what an address serves
					seen[e.URL] = true
					numbered.Manifest.Endpoints = append(numbered.Manifest.Endpoints, e)
				}
			}
			places, versions = append(places, place{src.ID, v.Name}), append(versions, numbered)
		}
	}
	add(looked)
	for _, src := range s.sources() {
		if src.ID != looked.ID {
			add(src)
		}
	}
	found, ok := signpost.NewIndex(versions...).Match(feed)
	if !ok {
		reply(w, struct {
			Match *match `json:"match"`
		}{})
		return
	}
	n, _ := strconv.Atoi(found.Version)
	at := places[n]
	found.Version = at.version
	reply(w, struct {
		Match match `json:"match"`
	}{match{found, at.source}})
}
