package studio

import (
	"bytes"
	"compress/gzip"
	"embed"
	"fmt"
	"hash/fnv"
	"io/fs"
	"net/http"
	"path"
	"strconv"
	"strings"
	"sync"
)

//go:embed assets
var assetFiles embed.FS

// asset is a file of the page with its precomputed headers.
type asset struct {
	body        []byte
	zipped      []byte // the body, compressed
	contentType string
	etag        string
}

// pageAssets holds the assets by their route, and a hash of them all.
type pageAssets struct {
	byRoute map[string]asset
	build   string
}

// loadAssets compresses the assets once, which takes longer than anything else that New does.
var loadAssets = sync.OnceValues(func() (pageAssets, error) {
	assets := make(map[string]asset)
	all := fnv.New64a()
	err := fs.WalkDir(assetFiles, "assets", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		body, err := assetFiles.ReadFile(name)
		if err != nil {
			return err
		}
		hash := fnv.New64a()
		hash.Write(body)
		fmt.Fprintln(all, name, hash.Sum64())
		route := "/" + path.Base(name)
		if route == "/index.html" {
			route = "/"
		}
		var zipped bytes.Buffer
		zip := gzip.NewWriter(&zipped)
		zip.Write(body) // into memory, which cannot fail
		zip.Close()
		assets[route] = asset{body, zipped.Bytes(), contentTypes[path.Ext(name)], fmt.Sprintf(`"%x"`, hash.Sum64())}
		return nil
	})
	return pageAssets{assets, fmt.Sprintf("%x", all.Sum64())}, err
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
		w.Header().Set("ETag", a.etag)
		w.Header().Set("Cache-Control", "no-cache")
		if r.Header.Get("If-None-Match") == a.etag {
			w.WriteHeader(http.StatusNotModified)
			return
		}
		body := a.body
		w.Header().Set("Vary", "Accept-Encoding")
		if strings.Contains(r.Header.Get("Accept-Encoding"), "gzip") {
			body = a.zipped
			w.Header().Set("Content-Encoding", "gzip")
		}
		w.Header().Set("Content-Length", strconv.Itoa(len(body)))
		w.Write(body)
		return
	}
	shown, why := s.view(r)
	if why != nil {
		refuse(w, why)
		return
	}
	for _, src := range shown.sources {
		for _, v := range src.Versions {
			if v.Route == r.URL.Path && v.Route != "" {
				w.Header().Set("Content-Type", "application/json")
				w.Write(v.body)
				return
			}
		}
	}
	refuse(w, failed(http.StatusNotFound, "Not found. The page is at /.", ""))
}
