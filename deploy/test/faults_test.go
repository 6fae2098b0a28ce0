package deploy

import (
	"cmp"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"signpost/internal/testkit"
)

// fault is a mistake that people make when they put a proxy in front of a feed service and Signpost. The test makes it,
// and docs/troubleshooting.md shows what check says about it.
type fault struct {
	symptom string      // empty if the page has it already
	front   string      // nginx or caddy
	edits   [][2]string // of its file in deploy: what is replaced, and the mistake instead
	outside string      // nginx's configuration outside of any server
	base    string      // base_path of the definition
	urls    string      // the base path in its URLs
	address string      // base path in the address of the manifest
	flags   []string    // of signpost serve
	feeds   http.HandlerFunc
	example string // the mistake, if edits do not show it
	check   string // a flag of check
	before  func(t *testing.T, client *http.Client, address string)
	cause   string // part of a hint or message
	remedy  string
}

// Parts of the files in deploy.
const (
	nginxHost     = "    proxy_set_header Host $host;\n"
	nginxProto    = "    proxy_set_header X-Forwarded-Proto $scheme;\n"
	nginxManifest = "    location ~ /endpoints-manifest$ {\n        proxy_pass http://signpost;\n    }\n"
	nginxFeeds    = "    location / {\n        proxy_pass http://feeds;\n    }\n"
	toSignpost    = "        proxy_pass http://signpost;\n"
	toFeeds       = "        proxy_pass http://feeds;\n"
	caddyManifest = "\t@manifest path */endpoints-manifest\n\thandle @manifest {\n\t\treverse_proxy 127.0.0.1:8080\n\t}\n"
	caddyFeeds    = "\thandle {\n\t\treverse_proxy 127.0.0.1:3000\n\t}\n"
)

// feed sends a feed with a header of its own.
func feed(header, value, body string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Access-Control-Allow-Origin", "*")
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set(header, value)
		io.WriteString(w, body)
	}
}

const shows = `{"entry": []}`

// onlyHTTPS redirects requests that a proxy received without TLS.
func onlyHTTPS(w http.ResponseWriter, r *http.Request) {
	if r.Header.Get("X-Forwarded-Proto") != "https" {
		http.Redirect(w, r, r.URL.Path, http.StatusMovedPermanently)
		return
	}
	feed("Vary", "Origin", shows)(w, r)
}

var faults = []fault{
	{symptom: "421 Misdirected Request: the proxy replaces the host", front: "nginx", flags: []string{"--allowed-host=" + publicHost},
		edits: [][2]string{{nginxHost, ""}}, example: "nginx has no `proxy_set_header Host $host;`.",
		cause:  `Signpost got the host "signpost" in the header Host, not feeds.example.com`,
		remedy: "Pass the host on, as `deploy/nginx/signpost.conf` does."},
	{symptom: "The URLs in the manifest have the wrong host", front: "caddy",
		edits:  [][2]string{{"\t\treverse_proxy 127.0.0.1:8080", "\t\treverse_proxy 127.0.0.1:8080 {\n\t\t\theader_up Host backend.internal\n\t\t}"}},
		check:  "--probe=false",
		cause:  "a proxy in front of it must pass the Host header on",
		remedy: "Pass the host on: Caddy does, unless it is told otherwise. See [Which host goes into the URLs](serve.md#which-host-goes-into-the-urls)."},
	{symptom: "421 Misdirected Request: a location has a proxy_set_header of its own", front: "nginx", flags: []string{"--allowed-host=" + publicHost},
		edits:  [][2]string{{toSignpost, toSignpost + "        proxy_set_header Accept-Encoding \"\";\n"}},
		cause:  "a location with a proxy_set_header of its own inherits none",
		remedy: "Repeat all `proxy_set_header` lines of the server in the location, or move the new one to them."},
	{symptom: "421 Misdirected Request: the host is not allowed", front: "nginx", flags: []string{"--allowed-host=www.example.com"},
		example: "Signpost was started with `--allowed-host www.example.com`.", cause: "configure the service to answer for this host",
		remedy: "Add the name to `hosts` in the definition, or to `--allowed-host`."},
	{symptom: "421 Misdirected Request: a forwarding header has another host", front: "nginx",
		flags: []string{"--allowed-host=" + publicHost, "--trusted-proxy=127.0.0.0/8"},
		edits: [][2]string{{nginxHost, "    proxy_set_header X-Forwarded-Host backend.internal;\n"}},
		cause: `Signpost got the host "backend.internal" in the header X-Forwarded-Host`, remedy: "Set the header to the requested host: `$host` in nginx."},
	{symptom: "400 Bad Request: forwarding headers name two hosts", front: "nginx", flags: []string{"--trusted-proxy=127.0.0.0/8"},
		edits:  [][2]string{{nginxHost, nginxHost + "    proxy_set_header X-Forwarded-Host \"www.example.com, $host\";\n"}},
		cause:  `"www.example.com, feeds.example.com" in the header X-Forwarded-Host`,
		remedy: "Make the outermost proxy replace the `Forwarded` and `X-Forwarded-Host` headers that clients send, and the others pass them on as they are."},
	{symptom: "404: the proxy changes the path of the manifest", front: "nginx", base: "/catalogue", urls: "/catalogue", address: "/catalogue",
		edits: [][2]string{{toSignpost, "        rewrite ^/catalogue(/.*)$ $1 break;\n" + toSignpost}},
		cause: `the path "/v1/endpoints-manifest" arrived at Signpost`, remedy: "Pass the path on as it is. If the prefix is not meant to be there, remove `base_path`."},
	{symptom: "404: Caddy strips the path of the manifest", front: "caddy", base: "/catalogue", urls: "/catalogue", address: "/catalogue",
		edits:  [][2]string{{caddyManifest, "\thandle_path /catalogue/v1/* {\n\t\trewrite * /v1{path}\n\t\treverse_proxy 127.0.0.1:8080\n\t}\n"}},
		cause:  `the path "/v1/endpoints-manifest" arrived at Signpost`,
		remedy: "Use `handle`, not `handle_path`: the latter removes what it matches."},
	{symptom: "404: the proxy sends the manifest's path to the feed service", front: "nginx", edits: [][2]string{{nginxManifest, ""}},
		example: "nginx has no `location ~ /endpoints-manifest$`.", cause: "something other than Signpost answered", remedy: "Add the location, as in `deploy/nginx/signpost.conf`."},
	{symptom: "404 for every feed: the proxy strips a prefix from the manifest's path", front: "nginx", address: "/catalogue",
		edits: [][2]string{{toSignpost, "        rewrite ^/catalogue(/.*)$ $1 break;\n" + toSignpost},
			{nginxFeeds, "    location /catalogue/ {\n        proxy_pass http://feeds/;\n    }\n"}},
		cause:  `the address of the manifest begins with "/catalogue", and the URL does not`,
		remedy: "The URLs of the definition are those that apps call: write the prefix into them, and set `base_path`. Keep the prefix on the way to Signpost."},
	{symptom: "An empty response for every feed: Caddy strips a prefix", front: "caddy", address: "/catalogue",
		edits: [][2]string{{caddyManifest, "\thandle_path /catalogue/* {\n\t\t@manifest path */endpoints-manifest\n" +
			"\t\treverse_proxy @manifest 127.0.0.1:8080\n\t\treverse_proxy 127.0.0.1:3000\n\t}\n"}, {caddyFeeds, ""}},
		cause: `the address of the manifest begins with "/catalogue", and the URL does not`, remedy: "As above, with `handle` instead of `handle_path`."},
	{symptom: "404 for every feed: the feed service does not know the prefix", front: "nginx", base: "/catalogue", urls: "/catalogue", address: "/catalogue",
		edits:  [][2]string{{toFeeds, "        rewrite ^/catalogue(/.*)$ $1 break;\n" + toFeeds}},
		feeds:  http.StripPrefix("/catalogue", feed("Vary", "Origin", shows)).ServeHTTP,
		cause:  `if the proxy strips "/catalogue" from it on the way to the feed service`,
		remedy: "Keep the prefix on the way to the feed service, or teach the feed service to do without it."},
	{symptom: "404 for every feed: the proxy sends feeds to Signpost", front: "nginx", edits: [][2]string{{toFeeds, toSignpost}},
		cause: "the proxy sends the paths of feeds to it", remedy: "Send only `*/endpoints-manifest` to Signpost, as the files in `deploy` do."},
	{symptom: "404 for every feed, and nothing is wrong with the path", front: "nginx", feeds: http.NotFound,
		example: "The feed service has no `/v1/shows`.", cause: "no feed answered in 1 request",
		remedy: "Correct the URLs in the definition. If the URL is only a prefix, name a feed below it with `feed` in `--values`."},
	{symptom: "502 Bad Gateway: Signpost does not run", front: "nginx", edits: [][2]string{{"127.0.0.1:8080;", "127.0.0.1:8080 down;"}},
		example: "Nothing listens at the address of `upstream signpost`.", cause: "the proxy in front of it reaches it",
		remedy: "Start Signpost, or correct its address in the proxy."},
	{symptom: "502 Bad Gateway for every feed: the feed service does not run", front: "nginx", edits: [][2]string{{"127.0.0.1:3000;", "127.0.0.1:3000 down;"}},
		example: "Nothing listens at the address of `upstream feeds`.", cause: "the proxy in front of the service gets no response from it",
		remedy: "Start the feed service, or correct its address in the proxy."},
	{symptom: "A web page instead of the manifest", front: "nginx",
		edits: [][2]string{{toSignpost, "        default_type text/html;\n        return 200 \"<!doctype html><title>Our app</title>\";\n"}},
		cause: "a web page answers, such as a sign-in or the start page of an app", remedy: "Add the location of the manifest, before that of the page."},
	{symptom: "A web page instead of a feed", front: "nginx",
		edits: [][2]string{{toFeeds, "        default_type text/html;\n        return 200 \"<!doctype html><title>Our app</title>\";\n"}},
		cause: "a web page answers instead of the feed", remedy: "Send the paths of feeds to the feed service, not to the fallback of an app."},
	{symptom: "A redirect to a sign-in", front: "nginx", edits: [][2]string{{toFeeds, "        return 302 https://login.example.com/;\n"}},
		cause:  "if it is a sign-in, declare the context key that the feed needs",
		remedy: "Apps cannot sign in on a page: the feed service must take the token that the declared context key brings. A manifest is public."},
	{symptom: "The URLs in the manifest have the host of another site: a cache ignores the host", front: "nginx", flags: []string{"--cache-control=public, max-age=60"},
		edits: [][2]string{{"server_name feeds.example.com;", "server_name feeds.example.com www.example.com;"},
			{toSignpost, toSignpost + "        proxy_cache manifests;\n"}},
		outside: "proxy_cache_path manifests keys_zone=manifests:1m;\n",
		before: func(t *testing.T, client *http.Client, address string) {
			testkit.Get(t, client, address, "Host", "www.example.com", "Accept-Encoding", "gzip")
		},
		check: "--probe=false", cause: "a cache in front of the service has the manifest of another host",
		remedy: "Make the host a part of the key of the cache."},
	{symptom: "A redirect loop, of the manifest", front: "nginx",
		edits: [][2]string{{nginxManifest, "    if ($http_x_forwarded_proto != https) {\n        return 301 https://$http_host$request_uri;\n    }\n" + nginxManifest}},
		cause: "X-Forwarded-Proto", remedy: "Redirect in the server for port 80 alone. A server with TLS gets no `X-Forwarded-Proto`, unless another proxy is in front of it."},
	{symptom: "A redirect loop, of the feeds", front: "nginx", edits: [][2]string{{nginxProto, ""}}, feeds: onlyHTTPS,
		example: "nginx has no `proxy_set_header X-Forwarded-Proto $scheme;`, and the feed service redirects to https.", cause: "X-Forwarded-Proto",
		remedy: "Tell the service that the request came over https, as `deploy/nginx/signpost.conf` does."},
	{symptom: "Browsers and curl cannot decode the manifest: Content-Encoding is doubled", front: "nginx",
		edits: [][2]string{{toSignpost, toSignpost + "        add_header Content-Encoding gzip;\n"}},
		cause: "add_header adds a second one", remedy: "Remove the line: Signpost compresses by itself, and nginx passes that on."},
	{symptom: "The manifest is binary: Content-Encoding is missing", front: "nginx",
		edits: [][2]string{{toSignpost, toSignpost + "        proxy_hide_header Content-Encoding;\n"}},
		cause: "the header Content-Encoding is missing", remedy: "Remove the line. To compress in the proxy instead, add `proxy_set_header Accept-Encoding \"\";` to the other lines of that name."},
	{symptom: "The manifest is binary for some clients: a cache ignores Vary", front: "nginx", flags: []string{"--cache-control=public, max-age=60"},
		edits:   [][2]string{{toSignpost, toSignpost + "        proxy_cache manifests;\n        proxy_ignore_headers Vary;\n"}},
		outside: "proxy_cache_path manifests keys_zone=manifests:1m;\n",
		cause:   "ignores Vary: Accept-Encoding", remedy: "Remove `proxy_ignore_headers Vary`: nginx then stores both forms. `check` finds this even while the cache has the plain form: it asks with a query that no cache knows."},
	{front: "nginx", flags: []string{"--cache-control=public, max-age=60"},
		edits:   [][2]string{{toSignpost, toSignpost + "        proxy_cache manifests;\n        proxy_ignore_headers Vary;\n"}},
		outside: "proxy_cache_path manifests keys_zone=manifests:1m;\n",
		before: func(t *testing.T, client *http.Client, address string) {
			testkit.Get(t, client, address, "Accept-Encoding", "identity")
		},
		cause: "ignores Vary: Accept-Encoding"},
	{symptom: "Apps cannot decode the feeds: an encoding that they did not ask for", front: "nginx", feeds: feed("Content-Encoding", "br", "\x0b\x06\x80{\"entry\":[]}\x03"),
		example: "The feed service always sends `Content-Encoding: br`.", cause: `Content-Encoding is "br"`,
		remedy: "Compress only if `Accept-Encoding` of the request names the encoding."},
	{symptom: "Wrong characters in feeds", front: "nginx", feeds: feed("Content-Type", "application/json; charset=iso-8859-1", `{"title": "`+"\xdcbung"+`"}`),
		example: "The feed service sends `Content-Type: application/json; charset=iso-8859-1`.", cause: "the body is in iso-8859-1", remedy: "Send UTF-8: JSON allows nothing else."},
	{symptom: "The browser reports a CORS error: the header is doubled", front: "nginx",
		edits: [][2]string{{toSignpost, toSignpost + "        add_header Access-Control-Allow-Origin *;\n"}},
		cause: "either the proxy or the service, not both", remedy: "Remove the line: Signpost sends the header."},
	{symptom: "401 Unauthorized: the proxy asks for a password", front: "nginx",
		edits: [][2]string{{toSignpost, "        auth_basic \"internal\";\n        auth_basic_user_file passwords;\n" + toSignpost}},
		cause: "studios send no credentials", remedy: "Exempt `*/endpoints-manifest`: a manifest holds no secrets."},
}

// TestFaults makes each fault with a real proxy. No check may be green, each must name the cause, and
// docs/troubleshooting.md must show what it says.
func TestFaults(t *testing.T) {
	if _, out := (&fault{front: "nginx"}).make(t); !strings.Contains(out, ", 0 failed, 0 warned, ") {
		t.Fatalf("without a fault, check says:\n%s", out)
	}
	sections := make([]string, len(faults))
	t.Run("each", func(t *testing.T) {
		for i, f := range faults {
			t.Run(cmp.Or(f.symptom, "another way"), func(t *testing.T) {
				t.Parallel()
				code, out := f.make(t)
				said := regexp.MustCompile(`(?m)^(failed|warned) .*(\n  +.*)*`).FindAllString(out, -1)
				if code != 1 || !strings.Contains(strings.Join(said, "\n"), f.cause) {
					t.Errorf("exit status %d, and not %q in what check says:\n%s", code, f.cause, out)
				}
				if f.symptom != "" {
					sections[i] = f.section(said)
				}
			})
		}
	})
	const begin, end = "<!-- faults: made by a test -->\n", "<!-- end of faults -->"
	page := filepath.Join(repoDir, "docs", "troubleshooting.md")
	head, rest, _ := strings.Cut(readFile(t, page), begin)
	_, tail, found := strings.Cut(rest, end)
	if !found {
		t.Fatalf("there is no %q and %q in %s", begin, end, page)
	}
	if !t.Failed() {
		sections = slices.DeleteFunc(sections, func(section string) bool { return section == "" })
		testkit.Golden(t, page, head+begin+"\n"+strings.Join(sections, "\n")+"\n"+end+tail)
	}
}

// section returns the part of docs/troubleshooting.md about a fault.
func (f *fault) section(said []string) string {
	example := f.example
	if example == "" {
		var parts []string
		for _, edit := range append([][2]string{{"", f.outside}}, f.edits...) {
			if edit[1] != "" {
				parts = append(parts, undent(edit[1]))
			}
		}
		example = fmt.Sprintf("For example, in the configuration of %s:\n\n```text\n%s```", f.front, strings.Join(parts, "\n"))
	}
	return fmt.Sprintf("### %s\n\n%s\n\n`check` says:\n\n```text\n%s\n```\n\n%s\n", f.symptom, example, strings.Join(said, "\n"), f.remedy)
}

// undent removes the indentation of the first line from all lines.
func undent(text string) string {
	indentation := text[:len(text)-len(strings.TrimLeft(text, " \t"))]
	return strings.ReplaceAll(strings.TrimRight(text[len(indentation):], "\n"), "\n"+indentation, "\n") + "\n"
}

// make makes the fault and returns what check says about it, with the names and addresses of the files in deploy.
func (f *fault) make(t *testing.T) (code int, out string) {
	t.Helper()
	handler := f.feeds
	if handler == nil {
		mux := http.NewServeMux()
		mux.HandleFunc("/v1/shows", feed("Vary", "Origin", shows))
		handler = mux.ServeHTTP
	}
	feeds := httptest.NewServer(handler)
	t.Cleanup(feeds.Close)
	s := &site{feeds: feeds.Listener.Addr().String(), https: testkit.FreeAddress(t), plain: testkit.FreeAddress(t), cert: newCertificate(t, publicHost)}
	s.edit = func(file string) string {
		for _, edit := range f.edits {
			file = replace(t, file, edit[0], edit[1])
		}
		return f.outside + file
	}
	definition := filepath.Join(t.TempDir(), "feeds.yaml")
	base := ""
	if f.base != "" {
		base = "base_path: " + f.base + "\n"
	}
	testkit.Write(t, definition, base+"versions:\n  v1:\n    endpoints:\n      https://{{host}}:"+port(s.https)+f.urls+
		"/v1/shows: {name: Shows, method: get, mime_type: application/json}\n")
	s.signpost, _ = startSignpost(t, nil, append(f.flags, definition)...)
	client := s.start(t, f.front)
	front := "https://" + publicHost + ":" + port(s.https)
	address := front + f.address + manifestPath
	if f.before != nil {
		f.before(t, client, address)
	}
	check := exec.Command(testkit.Program(t, "signpost"), "check", address, "--ca-file", s.cert.certFile, "--ignore", "local-address")
	if f.check != "" {
		check.Args = append(check.Args, f.check)
	}
	text, _ := check.CombinedOutput()
	out = strings.NewReplacer(front, "https://feeds.example.com", publicHost+":"+port(s.https), "feeds.example.com", publicHost, "feeds.example.com").Replace(string(text))
	return check.ProcessState.ExitCode(), out
}
