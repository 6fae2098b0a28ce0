package studio

import (
	"bytes"
	"compress/gzip"
	"embed"
	"fmt"
	"hash/fnv"
	"html/template"
	"net/http"
	"path"
	"time"
)

//go:embed assets
var assetFiles embed.FS

// asset is a file of the page.
type asset struct{ body, compressed []byte }

// loadAssets reads the files of the page, and makes a hash of them all.
func (s *Studio) loadAssets() {
	s.assets, s.pages = make(map[string]asset), template.New("")
	hash := fnv.New64a()
	entries, _ := assetFiles.ReadDir("assets") // in memory, as everything here, so it cannot fail
	for _, entry := range entries {
		name := entry.Name()
		body, _ := assetFiles.ReadFile("assets/" + name)
		fmt.Fprintf(hash, "%s %s", name, body)
		switch path.Ext(name) {
		case ".html":
			template.Must(s.pages.New(name).Parse(string(body)))
			continue
		case ".js":
			s.modules = append(s.modules, name)
		}
		s.assets["/"+name] = asset{body, compress(body, gzip.BestCompression)}
	}
	s.build = fmt.Sprintf("%x", hash.Sum64())
}

// executed returns what a template of the page makes of data.
func (s *Studio) executed(name string, data any) []byte {
	var out bytes.Buffer
	s.pages.ExecuteTemplate(&out, name, data) // into memory, from plain values
	return out.Bytes()
}

// contentTypes is fixed, because the system's table may have any type for a module.
var contentTypes = map[string]string{
	"":     "text/html; charset=utf-8", // at /
	".css": "text/css; charset=utf-8",
	".js":  "text/javascript; charset=utf-8",
	".svg": "image/svg+xml",
}

// serveAsset serves the files of the page and the manifests of the files, the latter at the paths where the service
// would publish them.
func (s *Studio) serveAsset(w http.ResponseWriter, r *http.Request) {
	if file, ok := s.assets[r.URL.Path]; ok {
		body := file.body
		w.Header().Set("Vary", "Accept-Encoding")
		w.Header().Set("ETag", `"`+s.build+`"`)
		if takesGzip(r) {
			body = file.compressed
			w.Header().Set("Content-Encoding", "gzip")
			w.Header().Set("ETag", `"`+s.build+`-gzip"`)
		}
		w.Header().Set("Content-Type", contentTypes[path.Ext(r.URL.Path)])
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
