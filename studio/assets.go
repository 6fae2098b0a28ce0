package studio

import (
	"bytes"
	"embed"
	"fmt"
	"hash/fnv"
	"net/http"
	"path"
	"strings"
	"time"
)

//go:embed assets
var assetFiles embed.FS

// loadAssets returns the files of the page by their route, and a hash of them all.
func loadAssets() (assets map[string][]byte, build string) {
	assets = make(map[string][]byte)
	hash := fnv.New64a()
	entries, _ := assetFiles.ReadDir("assets") // in memory, as everything here, so it cannot fail
	for _, entry := range entries {
		name := entry.Name()
		body, _ := assetFiles.ReadFile("assets/" + name)
		fmt.Fprintf(hash, "%s %s", name, body)
		assets["/"+strings.TrimSuffix(name, "index.html")] = body
	}
	return assets, fmt.Sprintf("%x", hash.Sum64())
}

// contentTypes is fixed, because the system's table may have any type for a module.
var contentTypes = map[string]string{
	"":     "text/html; charset=utf-8", // at /
	".css": "text/css; charset=utf-8",
	".js":  "text/javascript; charset=utf-8",
	".svg": "image/svg+xml",
}

// serveAsset serves the page and the manifests of the files, the latter at the paths where the service would publish
// them.
func (s *Studio) serveAsset(w http.ResponseWriter, r *http.Request) {
	if body, ok := s.assets[r.URL.Path]; ok {
		w.Header().Set("Content-Type", contentTypes[path.Ext(r.URL.Path)])
		w.Header().Set("ETag", `"`+s.build+`"`)
		w.Header().Set("Cache-Control", "no-cache")
		http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(body))
		return
	}
	shown, err := s.view(r)
	if err != nil {
		refuse(w, err)
		return
	}
	for _, src := range shown.sources {
		for _, v := range src.Versions {
			if v.Route == r.URL.Path {
				w.Header().Set("Content-Type", "application/json")
				w.Write(src.body(v))
				return
			}
		}
	}
	refuse(w, failed(http.StatusNotFound, "Not found. The page is at /.", ""))
}
