package studio

import (
	"bytes"
	"compress/gzip"
	"embed"
	"fmt"
	"hash/fnv"
	"html/template"
	"maps"
	"net/http"
	"path"
	"slices"
	"strings"
	"sync"
	"time"
)

//go:embed assets
var assetFiles embed.FS

type asset struct{ body, compressed []byte }

// assets are the files of the page.
type assets struct {
	files map[string]asset // by route
	pages *template.Template
	build string // a hash of them
}

var loadAssets = sync.OnceValue(func() *assets {
	a := &assets{files: make(map[string]asset), pages: template.New("")}
	hash := fnv.New64a()
	add := func(name string, body []byte) { a.files["/"+name] = asset{body, compress(body, gzip.BestCompression)} }
	modules, styles := make(map[string]string), []byte{}
	entries, _ := assetFiles.ReadDir("assets") // in memory, as everything here, so it cannot fail
	for _, entry := range entries {
		name := entry.Name()
		body, _ := assetFiles.ReadFile("assets/" + name)
		fmt.Fprintf(hash, "%s %s", name, body)
		switch path.Ext(name) {
		case ".html":
			template.Must(a.pages.New(name).Parse(string(body)))
		case ".js":
			modules[name] = string(body)
		case ".css":
			styles = append(styles, body...) // in the order of their names
		default:
			add(name, body)
		}
	}
	add("studio.css", styles)
	add("studio.js", joined(modules))
	a.build = fmt.Sprintf("%x", hash.Sum64())
	return a
})

// joined returns the modules of the page as one script: a browser takes half as long for it as for 25 files. Each
// module becomes a function that returns what the module exports, and is called after those that it imports. In a
// module, an import is a statement of its own, and an export is a declaration.
func joined(modules map[string]string) []byte {
	out := bytes.NewBufferString("const modules = {};\n")
	done := make(map[string]bool)
	var add func(name string)
	add = func(name string) {
		if done[name] {
			return
		}
		done[name] = true
		var body strings.Builder
		parts := strings.Split(modules[name], "\nimport ")
		body.WriteString(parts[0])
		for _, part := range parts[1:] {
			names, from, _ := strings.Cut(part, ` from "./`)
			imported, code, _ := strings.Cut(from, `";`)
			add(imported)
			fmt.Fprintf(&body, "\nconst %s = modules[%q];%s", names, imported, code)
		}
		parts = strings.Split(body.String(), "\nexport ")
		var exports []string
		for _, part := range parts[1:] {
			_, declared, _ := strings.Cut(strings.TrimPrefix(part, "async "), " ") // behind const, class or function
			exports = append(exports, declared[:strings.IndexAny(declared, " (")])
		}
		code := strings.Join(parts, "\n")
		fmt.Fprintf(out, "modules[%q] = (() => {\n%sreturn { %s };\n})();\n", name, code, strings.Join(exports, ", "))
	}
	for _, name := range slices.Sorted(maps.Keys(modules)) {
		add(name)
	}
	return out.Bytes()
}

func (a *assets) executed(name string, data any) []byte {
	var out bytes.Buffer
	a.pages.ExecuteTemplate(&out, name, data) // into memory, from plain values
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
	if file, ok := s.assets.files[r.URL.Path]; ok {
		body := file.body
		w.Header().Set("Vary", "Accept-Encoding")
		w.Header().Set("ETag", `"`+s.assets.build+`"`)
		if takesGzip(r) {
			body = file.compressed
			w.Header().Set("Content-Encoding", "gzip")
			w.Header().Set("ETag", `"`+s.assets.build+`-gzip"`)
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
