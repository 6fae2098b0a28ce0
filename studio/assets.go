package studio

import (
	"bytes"
	"compress/gzip"
	"embed"
	"fmt"
	"hash/fnv"
	"net/http"
	"path"
	"strconv"
	"strings"
	"sync"
)

//go:embed assets
var assetFiles embed.FS

// asset is a file of the page.
type asset struct {
	contentType  string
	body, zipped []byte
}

// pageAssets holds the assets by their route, and a hash of them all.
type pageAssets struct {
	byRoute map[string]asset
	build   string
}

// loadAssets compresses the assets once, which takes longer than anything else that New does.
var loadAssets = sync.OnceValue(func() pageAssets {
	assets, hash := make(map[string]asset), fnv.New64a()
	entries, _ := assetFiles.ReadDir("assets") // in memory, as everything here, so it cannot fail
	for _, entry := range entries {
		name := entry.Name()
		body, _ := assetFiles.ReadFile("assets/" + name)
		fmt.Fprintf(hash, "%s %s", name, body)
		var zipped bytes.Buffer
		zip := gzip.NewWriter(&zipped)
		zip.Write(body)
		zip.Close()
		assets["/"+strings.TrimSuffix(name, "index.html")] = asset{contentTypes[path.Ext(name)], body, zipped.Bytes()}
	}
	return pageAssets{assets, fmt.Sprintf("%x", hash.Sum64())}
})

// contentTypes is fixed, because the system's table may have any type for a module.
var contentTypes = map[string]string{
	".html": "text/html; charset=utf-8",
	".css":  "text/css; charset=utf-8",
	".js":   "text/javascript; charset=utf-8",
	".svg":  "image/svg+xml",
}

// serveAsset serves the page and the manifests of the files, the latter at the paths where the service would publish
// them.
func (s *Studio) serveAsset(w http.ResponseWriter, r *http.Request) {
	if a, ok := s.assets.byRoute[r.URL.Path]; ok {
		w.Header().Set("Content-Type", a.contentType)
		w.Header().Set("ETag", `"`+s.assets.build+`"`)
		w.Header().Set("Cache-Control", "no-cache")
		w.Header().Set("Vary", "Accept-Encoding")
		if r.Header.Get("If-None-Match") == w.Header().Get("ETag") {
			w.WriteHeader(http.StatusNotModified)
			return
		}
		body := a.body
		if strings.Contains(r.Header.Get("Accept-Encoding"), "gzip") {
			body = a.zipped
			w.Header().Set("Content-Encoding", "gzip")
		}
		w.Header().Set("Content-Length", strconv.Itoa(len(body)))
		w.Write(body)
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
				body, _ := src.body(&v) // it was valid when it was resolved
				w.Header().Set("Content-Type", "application/json")
				w.Write(body)
				return
			}
		}
	}
	refuse(w, failed(http.StatusNotFound, "Not found. The page is at /.", ""))
}
