package source

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/opencontainers/go-digest"
	ocispec "github.com/opencontainers/image-spec/specs-go/v1"

	"signpost/internal/registrytest"
	"signpost/internal/testkit"
)

// startRegistry starts a registry, and returns how to access it with its credentials, and an artifact in it.
func startRegistry(t *testing.T) (front *registrytest.Registry, registry *Reader, target string) {
	t.Helper()
	front = registrytest.Start(t)
	t.Setenv("DOCKER_CONFIG", front.Config)
	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM([]byte(testkit.Read(t, front.CAFile)))
	return front, &Reader{Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: pool}}}, "oci://" + front.Host + "/feeds:prod"
}

// push stores files, and returns the result.
func push(t *testing.T, registry *Reader, files map[string]string, target string) Pushed {
	t.Helper()
	return testkit.Must(registry.Push(t.Context(), documentsOf(files), target))(t)
}

// readFrom reads an artifact.
func readFrom(t *testing.T, registry *Reader, target string) ([]Document, error) {
	t.Helper()
	return registry.Read(t.Context(), target)
}

func documentsOf(texts map[string]string) []Document {
	var documents []Document
	for path, text := range texts { // in any order
		documents = append(documents, Document{Name: "/somewhere/" + path, Path: path, Text: []byte(text)})
	}
	return documents
}

// textsOf returns the texts of documents by path.
func textsOf(documents []Document) map[string]string {
	texts := make(map[string]string)
	for _, d := range documents {
		texts[d.Path] = string(d.Text)
	}
	return texts
}

// fails checks that an error says something.
func fails(t *testing.T, what string, err error, want string) {
	t.Helper()
	if err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("%s: %v, want %s", what, err, want)
	}
}

func TestPush(t *testing.T) {
	front, registry, _ := startRegistry(t)
	files := map[string]string{"a.yaml": definitionText, "b/c.json": `{"versions": {}}`, "b/same.yaml": definitionText}
	target := "oci://" + front.Host + "/team/feeds:prod"
	first := push(t, registry, files, target)
	if prefix := "oci://" + front.Host + "/team/feeds@sha256:"; !strings.HasPrefix(first.Name, prefix) || first.Files != 3 || first.New != 2 {
		t.Errorf("Push returned %+v", first)
	}
	if again := push(t, registry, files, "oci://"+front.Host+"/team/feeds:other"); again.Name != first.Name || again.New != 0 {
		t.Errorf("pushing the same files again gives %+v, want %s", again, first.Name)
	}
	changed := maps.Clone(files)
	changed["a.yaml"] = "service: changed\n" + definitionText
	if second := push(t, registry, changed, target); second.Name == first.Name || second.New != 1 {
		t.Fatalf("pushing different files gives %+v", second)
	}

	// The files come back, by tag and by digest, and later changes do not affect a digest. A file or a directory of the artifact
	// can be named by itself, as its findings name it.
	for within, want := range map[string][]string{"": {"a.yaml", "b/c.json", "b/same.yaml"}, "/a.yaml": {"a.yaml"}, "/b": {"b/c.json", "b/same.yaml"}, "/b/c.json": {"b/c.json"}} {
		for name, texts := range map[string]map[string]string{target: changed, first.Name: files} {
			documents, err := readFrom(t, registry, name+within)
			if err != nil || !slices.Equal(pathsOf(documents), want) {
				t.Errorf("%s%s holds %q, not %q; %v", name, within, pathsOf(documents), want, err)
			}
			for _, d := range documents {
				if d.Name != name+"/"+d.Path || string(d.Text) != texts[d.Path] {
					t.Errorf("%s of %s is %s: %q", d.Path, name, d.Name, d.Text)
				}
			}
		}
	}
	_, err := readFrom(t, registry, target+"/other.yaml")
	fails(t, "a file that the artifact does not have", err, `the artifact has no definition "other.yaml"`)

	for target, want := range map[string]string{
		target + "/a.yaml": "push to the artifact, " + target,
		first.Name:         "names a digest",
	} {
		_, err := registry.Push(t.Context(), documentsOf(files), target)
		if fails(t, target, err, want); !errors.As(err, new(*ArgumentError)) {
			t.Errorf("%s: %T", target, err)
		}
	}
	_, err = registry.Push(t.Context(), append(documentsOf(files), Document{Name: "/elsewhere/a.yaml", Path: "a.yaml"}), target)
	fails(t, "two files with the same path", err, "would both be a.yaml")
}

// TestCredentials uses the credentials of a helper, wrong ones, and none.
func TestCredentials(t *testing.T) {
	front, registry, target := startRegistry(t)
	push(t, registry, map[string]string{"a.yaml": definitionText}, target)
	bin := t.TempDir()
	write(t, fmt.Sprintf("#!/bin/sh\necho '{\"ServerURL\": \"%s\", \"Username\": \"%s\", \"Secret\": \"%s\"}'\n", front.Host, registrytest.User, registrytest.Password), bin, "docker-credential-test")
	testkit.OK(t, os.Chmod(filepath.Join(bin, "docker-credential-test"), 0o700))
	t.Setenv("PATH", bin+":"+os.Getenv("PATH"))
	read := func(config string) error {
		t.Setenv("DOCKER_CONFIG", tree(t, map[string]string{"config.json": config}))
		_, err := readFrom(t, registry, target)
		return err
	}
	testkit.OK(t, read(fmt.Sprintf(`{"credHelpers": {%q: "test"}}`, front.Host)))
	fails(t, "without credentials", read("{}"), "the Docker configuration has none for it: docker login "+front.Host)
	fails(t, "with wrong credentials", read(fmt.Sprintf(`{"auths": {%q: {"auth": "bm9ib2R5Ondyb25n"}}}`, front.Host)), "the registry denies access (401 Unauthorized)")
	t.Setenv("DOCKER_CONFIG", front.Config)
	_, err := new(Reader).Read(t.Context(), target)
	fails(t, "without its certificate authority", err, "the certificate is self-signed; clients will not trust it: --ca-file adds the authority that signed it")
}

// follow returns a source, which is followed.
func follow(t *testing.T, registry *Reader, arg, cacheDir string) *Remote {
	t.Helper()
	return testkit.Must((&Reader{Transport: registry.Transport, CacheDir: cacheDir}).Follow(arg))(t)[0].(*Remote)
}

// TestFollowKeepsOptions changes the reader after it has returned a source: one reader serves for several kinds of sources.
func TestFollowKeepsOptions(t *testing.T) {
	_, registry, target := startRegistry(t)
	push(t, registry, map[string]string{"a.yaml": definitionText, "m.json": `{"endpoints": {}}`}, target)
	r := &Reader{Transport: registry.Transport}
	s := testkit.Must(r.Follow(target))(t)[0].(*Remote)
	r.Manifests = true
	s.Fetch(t.Context())
	if documents, err := s.Read(); err != nil || len(documents) != 1 {
		t.Errorf("%v, %v", textsOf(documents), err)
	}
}

// TestFollowRegistry moves a tag back and forth. Only files that have changed are fetched.
func TestFollowRegistry(t *testing.T) {
	front, registry, target := startRegistry(t)
	cacheDir := t.TempDir()
	var blobs atomic.Int32
	front.Fail(func(_ http.ResponseWriter, r *http.Request) bool {
		if r.Method == http.MethodGet && strings.Contains(r.URL.Path, "/blobs/") && !strings.Contains(r.URL.Path, "/uploads/") {
			blobs.Add(1)
		}
		return false
	})
	first := map[string]string{"a.yaml": definitionText, "b.yaml": "base_path: /b\n" + definitionText}
	second := map[string]string{"a.yaml": "service: two\n" + definitionText, "b.yaml": first["b.yaml"]}
	pinned := push(t, registry, first, target).Name
	s := follow(t, registry, target, cacheDir)
	step := func(news bool, fetched int32, want map[string]string) {
		t.Helper()
		before := blobs.Load()
		if got := s.Fetch(t.Context()); got != news {
			t.Errorf("the source reports a change: %v", got)
		}
		if got := blobs.Load() - before; got != fetched {
			t.Errorf("%d files were fetched, want %d", got, fetched)
		}
		documents, err := s.Read()
		if diff := cmp.Diff(want, textsOf(documents)); diff != "" || err != nil {
			t.Errorf("%v (-want +got):\n%s", err, diff)
		}
	}
	step(true, 2, first)
	step(false, 0, first)
	testkit.OK(t, s.Keep())
	push(t, registry, second, target)
	step(true, 1, second)
	testkit.OK(t, s.Keep())
	push(t, registry, first, target)
	step(true, 1, first)

	// The cache contains the whole second state.
	restored := follow(t, registry, target, cacheDir)
	if ok, err := restored.Restore(); !ok || err != nil {
		t.Fatal(ok, err)
	}
	if documents, _ := restored.Read(); !cmp.Equal(textsOf(documents), second) {
		t.Errorf("restored: %q", textsOf(documents))
	}
	// A digest is fetched once.
	s = follow(t, registry, pinned, "")
	step(true, 2, first)
	front.Fail(func(w http.ResponseWriter, r *http.Request) bool {
		t.Error("a pinned digest is polled")
		return false
	})
	step(false, 0, first)
}

// TestRegistryFaults makes a registry fail in every possible way. Each failure is reported, and the previous state
// stays.
func TestRegistryFaults(t *testing.T) {
	front, registry, target := startRegistry(t)
	good := map[string]string{"a.yaml": definitionText, "b.yaml": "base_path: /b\n" + definitionText}
	push(t, registry, good, target)
	s := follow(t, registry, target, "")
	if !s.Fetch(t.Context()) {
		t.Fatal("nothing was fetched")
	}
	push(t, registry, map[string]string{"a.yaml": "service: two\n" + definitionText}, target)
	status := func(code int) func(http.ResponseWriter, *http.Request) bool {
		return func(w http.ResponseWriter, _ *http.Request) bool { w.WriteHeader(code); return true }
	}
	corrupt := func(part string) func(http.ResponseWriter, *http.Request) bool {
		return func(w http.ResponseWriter, r *http.Request) bool {
			if r.Method != http.MethodGet || !strings.Contains(r.URL.Path, part) {
				return false
			}
			length := map[string]int{"/manifests/": 427, "/blobs/": len("service: two\n" + definitionText)}[part]
			w.Header().Set("Content-Type", ocispec.MediaTypeImageManifest)
			io.WriteString(w, strings.Repeat(" ", length))
			return true
		}
	}
	check := func(name, want string, ctx context.Context) {
		t.Helper()
		s.Fetch(ctx)
		documents, err := s.Read()
		fails(t, name, err, fmt.Sprintf("fetch definition %q: ", target))
		if fails(t, name, err, want); !cmp.Equal(textsOf(documents), good) {
			t.Errorf("%s: the previous state became %q", name, textsOf(documents))
		}
	}
	for want, fault := range map[string]func(http.ResponseWriter, *http.Request) bool{
		"the registry denies access (401 Unauthorized): docker login " + front.Host: status(401),
		"the registry denies access (403 Forbidden)":                                status(403),
		"the registry has no such repository, tag or digest":                        status(404),
		"the registry responds with 500 Internal Server Error":                      status(500),
		`the registry sent content that does not match its digest`:                  corrupt("/manifests/"),
		`layer "a.yaml": the registry sent content that does not match its digest`:  corrupt("/blobs/"),
		"the server is not an OCI registry": func(w http.ResponseWriter, _ *http.Request) bool {
			_, err := io.WriteString(w, "<html>")
			return err == nil
		},
		"the connection was closed without a response": func(http.ResponseWriter, *http.Request) bool { panic(http.ErrAbortHandler) },
	} {
		front.Fail(fault)
		check("a fault", want, t.Context())
	}
	hangs := make(chan struct{})
	front.Fail(func(w http.ResponseWriter, r *http.Request) bool { <-hangs; return true })
	ctx, cancel := context.WithCancelCause(t.Context())
	go cancel(errors.New("no answer in time"))
	check("slow", "no answer in time", ctx)
	close(hangs)
	front.Fail(nil)

	// The registry goes down, and comes back.
	front.Stop()
	check("gone", "the connection was closed without a response", t.Context())
	front.Start()
	push(t, registry, good, target)
	s.Fetch(t.Context())
	if documents, err := s.Read(); err != nil || !cmp.Equal(textsOf(documents), good) {
		t.Errorf("after the registry recovered: %v, %q", err, textsOf(documents))
	}
}

// TestRegistryRedirects reads from a registry that sends blobs to another host, as large registries do. No other host gets
// credentials.
func TestRegistryRedirects(t *testing.T) {
	front, registry, target := startRegistry(t)
	files := map[string]string{"a.yaml": definitionText, "b.yaml": "base_path: /b\n" + definitionText}
	push(t, registry, files, target)
	serve := func(handler http.HandlerFunc) string {
		return front.Serve(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.Header.Get("Authorization") != "" || r.Header.Get("Referer") != "" {
				t.Errorf("another host gets %q", r.Header)
			}
			handler(w, r)
		})).URL
	}
	storage := serve(func(w http.ResponseWriter, r *http.Request) {
		for _, text := range files {
			if strings.HasSuffix(r.URL.Path, digest.FromString(text).String()) {
				io.WriteString(w, text)
			}
		}
	})
	denying := serve(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Www-Authenticate", `Bearer realm="https://`+r.Host+`/token",service="x"`)
		w.WriteHeader(http.StatusUnauthorized)
	})
	plain := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { io.WriteString(w, "service: other") }))
	defer plain.Close()
	for _, test := range []struct{ part, to, want string }{
		{"/blobs/", storage, ""},
		{"/blobs/", denying, "the registry denies access (401 Unauthorized)"},
		{"/blobs/", plain.URL, "the registry sent content that does not match its digest"},
		{"/blobs/", "http://192.0.2.1", "redirected to plain http on 192.0.2.1"},
		{"/blobs/", "https://:", `redirected to another host, ":"`},
		{"/manifests/", "https://storage.example.com", `redirected to another host, "storage.example.com"`},
	} {
		front.Fail(func(w http.ResponseWriter, r *http.Request) bool {
			if r.Method != http.MethodGet || !strings.Contains(r.URL.Path, test.part) {
				return false
			}
			http.Redirect(w, r, test.to+r.URL.Path+"?signature=x", http.StatusTemporaryRedirect)
			return true
		})
		documents, err := readFrom(t, registry, target)
		if test.want != "" {
			fails(t, test.to, err, test.want)
		} else if err != nil || !cmp.Equal(textsOf(documents), files) {
			t.Errorf("%s: %v, %v", test.to, documents, err)
		}
	}
}

// TestPlainRegistry uses a registry on this machine that speaks plain http.
func TestPlainRegistry(t *testing.T) {
	front, _, _ := startRegistry(t)
	target := "oci://" + front.PlainHost + "/feeds:prod"
	files := map[string]string{"a.yaml": definitionText}
	push(t, new(Reader), files, target)
	if documents, err := readFrom(t, new(Reader), target); err != nil || !cmp.Equal(textsOf(documents), files) {
		t.Errorf("%v, %v", documents, err)
	}
	transport := roundTrip(func(req *http.Request) (*http.Response, error) {
		if req.URL.Scheme != "https" {
			t.Errorf("%s is called", req.URL)
		}
		return nil, tls.RecordHeaderError{Msg: "first record does not look like a TLS handshake", RecordHeader: [5]byte([]byte("<html"))}
	})
	_, err := readFrom(t, &Reader{Transport: transport}, "oci://oci.example.com/feeds:prod")
	fails(t, "another machine", err, "the registry speaks plain http, which is only used for registries on this machine")
}

// TestTokenService gets a token where a registry says. The password goes there over https only, unless it is the registry.
func TestTokenService(t *testing.T) {
	password := false // has been received
	tokens := func(w http.ResponseWriter, r *http.Request) {
		_, _, password = r.BasicAuth()
		io.WriteString(w, `{"token": "t"}`)
	}
	plain, secure := httptest.NewServer(http.HandlerFunc(tokens)), httptest.NewTLSServer(http.HandlerFunc(tokens))
	defer plain.Close()
	defer secure.Close()
	realm := ""
	registry := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/token" {
			tokens(w, r)
			return
		}
		w.Header().Set("Www-Authenticate", `Bearer realm="`+realm+`/token",service="x"`)
		w.WriteHeader(http.StatusUnauthorized)
	}))
	defer registry.Close()
	name := registry.Listener.Addr().String()
	t.Setenv("DOCKER_CONFIG", tree(t, map[string]string{"config.json": `{"auths": {"` + name + `": {"auth": "dTpw"}}}`})) // u:p
	for _, test := range []struct {
		realm, want string
		password    bool
	}{
		{registry.URL, "the registry denies access (401 Unauthorized)", true},
		{secure.URL, "the registry denies access (401 Unauthorized)", true},
		{plain.URL, "which speaks plain http: no password is sent there", false},
		{strings.Replace(plain.URL, "http:", "https:", 1), "the server does not speak TLS on this port", false},
		{"http://tokens.example", "the registry names tokens.example for tokens, which speaks plain http", false},
	} {
		realm, password = test.realm, false
		_, err := readFrom(t, &Reader{Transport: secure.Client().Transport}, "oci://"+name+"/feeds:prod")
		fails(t, realm, err, test.want)
		if password != test.password {
			t.Errorf("%s gets the password: %v", realm, password)
		}
	}
}

type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(req *http.Request) (*http.Response, error) { return f(req) }

// TestRegistryArguments checks that arguments that name no artifact are rejected, and that no password is printed.
func TestRegistryArguments(t *testing.T) {
	testkit.Cases(t, "testdata/artifacts.golden", func(arg string) string {
		_, err := new(Reader).Read(t.Context(), arg)
		_, followErr := new(Reader).Follow(arg)
		if argument, ok := errors.AsType[*ArgumentError](err); !ok || followErr == nil || followErr.Error() != argument.Error() {
			t.Errorf("%s: %v, %v", arg, err, followErr)
		}
		return fmt.Sprint(err)
	})
}

// registryOf returns a registry that answers every request with the manifest of an artifact.
func registryOf(manifest string) *Reader {
	header := http.Header{"Content-Type": {ocispec.MediaTypeImageManifest}, "Docker-Content-Digest": {digest.FromString(manifest).String()}}
	return &Reader{Transport: roundTrip(func(req *http.Request) (*http.Response, error) {
		body := io.NopCloser(strings.NewReader(manifest))
		return &http.Response{StatusCode: 200, Request: req, Header: header, ContentLength: int64(len(manifest)), Body: body}, nil
	})}
}

// TestOtherArtifacts reads artifacts that are not as push makes them. A case is the artifact type, and the titles and sizes of
// its layers.
func TestOtherArtifacts(t *testing.T) {
	testkit.Cases(t, "testdata/layers.golden", func(line string) string {
		manifest, _, err := pack(nil)
		testkit.OK(t, err)
		kind, layers, _ := strings.Cut(line, " ")
		manifest.ArtifactType = strings.TrimPrefix(kind, "none")
		for word := range strings.FieldsSeq(layers) {
			title, size, _ := strings.Cut(word, "=")
			manifest.Layers = append(manifest.Layers, ocispec.Descriptor{
				MediaType: "application/yaml", Digest: digest.FromString(definitionText), Size: testkit.Must(strconv.ParseInt(size, 10, 64))(t),
				Annotations: map[string]string{ocispec.AnnotationTitle: title},
			})
		}
		_, err = readFrom(t, registryOf(string(testkit.Must(json.Marshal(manifest))(t))), "oci://oci.example.com/feeds:prod")
		return fmt.Sprint(err)
	})
	// Many empty layers would take much memory.
	_, err := readFrom(t, registryOf(`{"layers": [`+strings.Repeat("{},", 3*maxFiles)+`{}]}`), "oci://oci.example.com/feeds:prod")
	fails(t, "many layers", err, "the artifact has more than 20000 layers")
}
