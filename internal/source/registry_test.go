package source

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/opencontainers/go-digest"
	ocispec "github.com/opencontainers/image-spec/specs-go/v1"

	"signpost/definition"
	"signpost/internal/registrytest"
)

// startRegistry starts a registry, and returns how to access it with its credentials.
func startRegistry(t *testing.T) (*registrytest.Registry, Registry) {
	t.Helper()
	r := registrytest.Start(t)
	t.Setenv("DOCKER_CONFIG", r.Config)
	return r, Registry{Transport: trusting(t, r.CAFile)}
}

func trusting(t *testing.T, caFile string) http.RoundTripper {
	t.Helper()
	pem, err := os.ReadFile(caFile)
	must(t, err)
	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM(pem)
	return &http.Transport{TLSClientConfig: &tls.Config{RootCAs: pool}}
}

// push stores files, and returns the result.
func push(t *testing.T, registry Registry, files map[string]string, target string) Pushed {
	t.Helper()
	pushed, err := registry.Push(t.Context(), documentsOf(files), target)
	must(t, err)
	return pushed
}

func documentsOf(texts map[string]string) []Document {
	var documents []Document
	for path, text := range texts { // in any order
		documents = append(documents, Document{Name: "/somewhere/" + path, Path: path, Text: []byte(text)})
	}
	return documents
}

func TestPush(t *testing.T) {
	front, registry := startRegistry(t)
	files := map[string]string{"a.yaml": definitionText, "b/c.json": `{"versions": {}}`, "b/same.yaml": definitionText}
	target := "oci://" + front.Host + "/team/feeds:prod"
	first := push(t, registry, files, target)
	if prefix := "oci://" + front.Host + "/team/feeds@sha256:"; !strings.HasPrefix(first.Name, prefix) || first.Files != 3 || first.New != 2 {
		t.Errorf("Push returned %+v", first)
	}
	if again := push(t, registry, files, "oci://"+front.Host+"/team/feeds:other"); again.Name != first.Name || again.New != 0 {
		t.Errorf("pushing the same files again gives %+v, want %s", again, first.Name)
	}

	// The files come back, by tag and by digest, and later changes do not affect a digest.
	files["a.yaml"] = "service: changed\n" + definitionText
	if second := push(t, registry, files, target); second.Name == first.Name || second.New != 1 {
		t.Fatalf("pushing different files gives %+v", second)
	}
	read := func(arg string) map[string]string {
		t.Helper()
		reader := Reader{Registry: registry}
		documents, err := reader.Read(t.Context(), arg)
		must(t, err)
		got := make(map[string]string)
		for _, d := range documents {
			if d.Name != arg+"/"+d.Path {
				t.Errorf("the name of %s is %s", d.Path, d.Name)
			}
			got[d.Path] = string(d.Text)
		}
		return got
	}
	if diff := cmp.Diff(files, read(target)); diff != "" {
		t.Errorf("by tag (-want +got):\n%s", diff)
	}
	files["a.yaml"] = definitionText
	if diff := cmp.Diff(files, read(first.Name)); diff != "" {
		t.Errorf("by digest (-want +got):\n%s", diff)
	}

	// A file or a directory of the artifact can be named by itself, as its findings name it.
	for within, want := range map[string][]string{"/a.yaml": {"a.yaml"}, "/b": {"b/c.json", "b/same.yaml"}, "/b/c.json": {"b/c.json"}} {
		for _, of := range []string{target, first.Name} {
			documents, err := (&Reader{Registry: registry}).Read(t.Context(), of+within)
			var got []string
			for _, d := range documents {
				got = append(got, d.Path)
				if d.Name != of+"/"+d.Path {
					t.Errorf("the name of %s is %s", d.Path, d.Name)
				}
			}
			if err != nil || !slices.Equal(got, want) {
				t.Errorf("%s%s holds %q, not %q; %v", of, within, got, want, err)
			}
		}
	}
	if _, err := (&Reader{Registry: registry}).Read(t.Context(), target+"/other.yaml"); err == nil || !strings.HasSuffix(err.Error(), `the artifact has no definition "other.yaml"`) {
		t.Errorf("a file that the artifact does not have: %v", err)
	}

	for _, test := range []struct{ target, want string }{
		{target + "/a.yaml", "push to the artifact, " + target},
		{"oci://" + front.Host + "/team/feeds", "has no tag"},
		{first.Name, "names a digest"},
		{"oci://Not A Registry", "is not an artifact in a registry"},
	} {
		var argument *ArgumentError
		if _, err := registry.Push(t.Context(), documentsOf(files), test.target); !errors.As(err, &argument) || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: %v", test.target, err)
		}
	}
	twice := append(documentsOf(files), Document{Name: "/elsewhere/a.yaml", Path: "a.yaml"})
	if _, err := registry.Push(t.Context(), twice, target); err == nil || !strings.Contains(err.Error(), "would both be a.yaml") {
		t.Errorf("two files with the same path: %v", err)
	}
}

// TestCredentials uses the credentials of a helper, wrong ones, and none.
func TestCredentials(t *testing.T) {
	front, registry := startRegistry(t)
	target := "oci://" + front.Host + "/feeds:prod"
	push(t, registry, map[string]string{"a.yaml": definitionText}, target)
	read := func(config string) error {
		t.Helper()
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, "config.json"), []byte(config), 0o600); err != nil {
			t.Fatal(err)
		}
		t.Setenv("DOCKER_CONFIG", dir)
		_, err := (&Reader{Registry: registry}).Read(t.Context(), target)
		return err
	}
	bin := t.TempDir()
	helper := fmt.Sprintf("#!/bin/sh\necho '{\"ServerURL\": \"%s\", \"Username\": \"%s\", \"Secret\": \"%s\"}'\n", front.Host, registrytest.User, registrytest.Password)
	if err := os.WriteFile(filepath.Join(bin, "docker-credential-test"), []byte(helper), 0o700); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", bin+":"+os.Getenv("PATH"))
	if err := read(fmt.Sprintf(`{"credHelpers": {%q: "test"}}`, front.Host)); err != nil {
		t.Errorf("with a helper: %v", err)
	}
	if err := read("{}"); err == nil || !strings.Contains(err.Error(), "the Docker configuration has none for it: docker login "+front.Host) {
		t.Errorf("without credentials: %v", err)
	}
	if err := read(fmt.Sprintf(`{"auths": {%q: {"auth": "bm9ib2R5Ondyb25n"}}}`, front.Host)); err == nil || !strings.Contains(err.Error(), "the registry denies access (401 Unauthorized)") {
		t.Errorf("with wrong credentials: %v", err)
	}
	t.Setenv("DOCKER_CONFIG", front.Config)
	if _, err := new(Reader).Read(t.Context(), target); err == nil || !strings.Contains(err.Error(), "the certificate is self-signed; clients will not trust it: --ca-file adds the authority that signed it") {
		t.Errorf("without its certificate authority: %v", err)
	}
}

// followed is a source that is followed, and its state.
type followed struct {
	*Remote
	t *testing.T
}

func follow(t *testing.T, registry Registry, arg, cacheDir string) followed {
	t.Helper()
	sources, err := Follow([]string{arg}, Options{Transport: registry.Transport, CacheDir: cacheDir})
	must(t, err)
	return followed{sources[0].(*Remote), t}
}

// state returns the texts by path, and the error.
func (f followed) state() (map[string]string, string) {
	f.t.Helper()
	documents, _, err := f.Read()
	texts := make(map[string]string)
	for _, d := range documents {
		texts[d.Path] = string(d.Text)
	}
	return texts, fmt.Sprint(err)
}

// TestFollowRegistry moves a tag back and forth. Only files that have changed are fetched.
func TestFollowRegistry(t *testing.T) {
	front, registry := startRegistry(t)
	target, cacheDir := "oci://"+front.Host+"/feeds:prod", t.TempDir()
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
		got, err := s.state()
		if diff := cmp.Diff(want, got); diff != "" || err != "<nil>" {
			t.Errorf("%s (-want +got):\n%s", err, diff)
		}
	}
	step(true, 2, first)
	step(false, 0, first)
	must(t, s.Keep())
	push(t, registry, second, target)
	step(true, 1, second)
	must(t, s.Keep())
	push(t, registry, first, target)
	step(true, 1, first)

	// The cache contains the whole second state.
	restored := follow(t, registry, target, cacheDir)
	if ok, err := restored.Restore(); !ok || err != nil {
		t.Fatal(ok, err)
	}
	if got, _ := restored.state(); !cmp.Equal(got, second) {
		t.Errorf("restored: %q", got)
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
	front, registry := startRegistry(t)
	target := "oci://" + front.Host + "/feeds:prod"
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
			var length int
			switch part {
			case "/manifests/":
				length = 427
			default:
				length = len("service: two\n" + definitionText)
			}
			w.Header().Set("Content-Type", ocispec.MediaTypeImageManifest)
			io.WriteString(w, strings.Repeat(" ", length))
			return true
		}
	}
	check := func(name, want string, ctx context.Context) {
		t.Helper()
		s.Fetch(ctx)
		got, err := s.state()
		if !strings.HasPrefix(err, fmt.Sprintf("fetch definition %q: ", target)) || !strings.Contains(err, want) {
			t.Errorf("%s: %s", name, err)
		}
		if !cmp.Equal(got, good) {
			t.Errorf("%s: the previous state became %q", name, got)
		}
	}
	for _, test := range []struct {
		name  string
		fault func(http.ResponseWriter, *http.Request) bool
		want  string
	}{
		{"401", status(401), "the registry denies access (401 Unauthorized): docker login " + front.Host},
		{"403", status(403), "the registry denies access (403 Forbidden)"},
		{"404", status(404), "the registry has no such repository, tag or digest"},
		{"429", status(429), "the registry limits requests (429 Too Many Requests)"},
		{"500", status(500), "the registry responds with 500 Internal Server Error"},
		{"wrong manifest", corrupt("/manifests/"), "the registry sent content that does not match its digest"},
		{"wrong layer", corrupt("/blobs/"), `layer "a.yaml": the registry sent content that does not match its digest`},
		{"another server", func(w http.ResponseWriter, _ *http.Request) bool {
			io.WriteString(w, "<html>")
			return true
		}, "the server is not an OCI registry"},
		{"cut off", func(w http.ResponseWriter, r *http.Request) bool { panic(http.ErrAbortHandler) }, "the connection was closed without a response"},
	} {
		front.Fail(test.fault)
		check(test.name, test.want, t.Context())
	}
	hangs := make(chan struct{})
	front.Fail(func(w http.ResponseWriter, r *http.Request) bool { <-hangs; return true })
	ctx, cancel := context.WithCancelCause(t.Context())
	go cancel(errors.New("no answer in time"))
	check("slow", "no answer in time", ctx)
	close(hangs)
	front.Fail(nil)

	// Artifacts of other kinds, pushed as they are.
	a, err := registry.artifact(target, false)
	must(t, err)
	layer := func(title string, size int64) ocispec.Descriptor {
		d := ocispec.Descriptor{MediaType: "application/yaml", Digest: digest.FromString(definitionText), Size: int64(len(definitionText))}
		if size > 0 {
			d.Size = size
		}
		if title != "" {
			d.Annotations = map[string]string{ocispec.AnnotationTitle: title}
		}
		return d
	}
	for _, test := range []struct {
		name   string
		change func(*ocispec.Manifest)
		want   string
	}{
		{"another type", func(m *ocispec.Manifest) { m.ArtifactType = "application/vnd.example" }, `the artifact has the type "application/vnd.example", not "` + ArtifactType + `": signpost push makes one`},
		{"an image", func(m *ocispec.Manifest) { m.ArtifactType = "" }, `the artifact has the type "application/vnd.oci.empty.v1+json"`},
		{"outside", func(m *ocispec.Manifest) { m.Layers = []ocispec.Descriptor{layer("../../etc/passwd.yaml", 0)} }, `layer "../../etc/passwd.yaml": the path leaves the directory`},
		{"absolute", func(m *ocispec.Manifest) { m.Layers = []ocispec.Descriptor{layer("/etc/passwd.yaml", 0)} }, "the path leaves the directory"},
		{"Windows", func(m *ocispec.Manifest) { m.Layers = []ocispec.Descriptor{layer(`..\x.yaml`, 0)} }, "the path leaves the directory"},
		{"no title", func(m *ocispec.Manifest) { m.Layers = []ocispec.Descriptor{layer("", 0)} }, "has no title"},
		{"twice", func(m *ocispec.Manifest) { m.Layers = []ocispec.Descriptor{layer("a.yaml", 0), layer("a.yaml", 0)} }, `layer "a.yaml" is duplicated`},
		{"too large", func(m *ocispec.Manifest) { m.Layers = []ocispec.Descriptor{layer("a.yaml", definition.MaxSize+1)} }, `layer "a.yaml" has 67108865 bytes, more than the 64 MiB of a definition`},
		{"wrong size", func(m *ocispec.Manifest) { m.Layers = []ocispec.Descriptor{layer("c.yaml", 5)} }, `layer "c.yaml": the registry sent content that does not match its digest`},
		{"no files", func(m *ocispec.Manifest) { m.Layers = nil }, "the directory holds no .yaml, .yml or .json file"},
	} {
		manifest, _, err := pack(documentsOf(good))
		must(t, err)
		test.change(&manifest)
		body, err := json.Marshal(manifest)
		must(t, err)
		desc := ocispec.Descriptor{MediaType: manifest.MediaType, Digest: digest.FromBytes(body), Size: int64(len(body))}
		if err := a.repo.Manifests().PushReference(t.Context(), desc, bytes.NewReader(body), "prod"); err != nil {
			t.Fatalf("%s: %v", test.name, err)
		}
		check(test.name, test.want, t.Context())
	}

	// The registry goes down, and comes back.
	front.Stop()
	check("gone", "the connection was closed without a response", t.Context())
	front.Start()
	push(t, registry, good, target)
	s.Fetch(t.Context())
	if got, err := s.state(); err != "<nil>" || !cmp.Equal(got, good) {
		t.Errorf("after the registry recovered: %s, %q", err, got)
	}
}

// TestRegistryRedirects reads from a registry that sends blobs to another host, as large registries do.
func TestRegistryRedirects(t *testing.T) {
	front, registry := startRegistry(t)
	target := "oci://" + front.Host + "/feeds:prod"
	files := map[string]string{"a.yaml": definitionText, "b.yaml": "base_path: /b\n" + definitionText}
	push(t, registry, files, target)
	var fetched atomic.Int32
	front.RedirectBlobs(func(r *http.Request) {
		fetched.Add(1)
		if r.Header.Get("Authorization") != "" || r.Header.Get("Referer") != "" {
			t.Errorf("another host gets %q", r.Header)
		}
	})
	read := func() (int, error) {
		documents, err := (&Reader{Registry: registry}).Read(t.Context(), target)
		return len(documents), err
	}
	if n, err := read(); err != nil || n != 2 || fetched.Load() != 2 {
		t.Errorf("%d files, %d fetched from another host, %v", n, fetched.Load(), err)
	}
	asked := make(chan string, 10)
	other := front.Serve(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked <- r.Header.Get("Authorization")
		w.Header().Set("Www-Authenticate", `Bearer realm="https://`+r.Host+`/token",service="x"`)
		w.WriteHeader(http.StatusUnauthorized)
	}))
	plain := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { io.WriteString(w, "service: other") }))
	defer plain.Close()
	for _, test := range []struct{ part, to, want string }{
		{"/blobs/", other.URL + "/x", "the registry denies access (401 Unauthorized)"},
		{"/blobs/", plain.URL + "/x", "the registry sent content that does not match its digest"},
		{"/blobs/", "http://192.0.2.1/x", "redirected to plain http on 192.0.2.1"},
		{"/blobs/", "https://:/x", `redirected to another host, ":"`},
		{"/manifests/", "https://storage.example.com/x", `redirected to another host, "storage.example.com"`},
	} {
		front.Fail(func(w http.ResponseWriter, r *http.Request) bool {
			if r.Method != http.MethodGet || !strings.Contains(r.URL.Path, test.part) {
				return false
			}
			http.Redirect(w, r, test.to, http.StatusTemporaryRedirect)
			return true
		})
		if _, err := read(); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: %v", test.to, err)
		}
	}
	close(asked)
	for header := range asked {
		if header != "" {
			t.Errorf("another host gets %q", header)
		}
	}
	if fetched.Load() != 2 {
		t.Errorf("%d requests to storage", fetched.Load())
	}
}

// TestPlainRegistry uses a registry on this machine that speaks plain http.
func TestPlainRegistry(t *testing.T) {
	front, _ := startRegistry(t)
	target := "oci://" + front.PlainHost + "/feeds:prod"
	files := map[string]string{"a.yaml": definitionText}
	if _, err := (Registry{}).Push(t.Context(), documentsOf(files), target); err != nil {
		t.Fatal(err)
	}
	documents, err := new(Reader).Read(t.Context(), target)
	if err != nil || len(documents) != 1 || string(documents[0].Text) != definitionText {
		t.Errorf("%v, %v", documents, err)
	}
	transport := roundTrip(func(req *http.Request) (*http.Response, error) {
		if req.URL.Scheme != "https" {
			t.Errorf("%s is called", req.URL)
		}
		return nil, tls.RecordHeaderError{RecordHeader: [5]byte([]byte("HTTP/"))}
	})
	if _, err := (&Reader{Registry: Registry{Transport: transport}}).Read(t.Context(), "oci://oci.example.com/feeds:prod"); err == nil || !strings.Contains(err.Error(), "the registry speaks plain http, which is only used for registries on this machine") {
		t.Errorf("another machine: %v", err)
	}
}

type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(req *http.Request) (*http.Response, error) { return f(req) }

// TestRegistryArguments checks that arguments that name no artifact are rejected, and that no password is printed.
func TestRegistryArguments(t *testing.T) {
	for arg, want := range map[string]string{
		"oci://me:s3cret@oci.example.com/feeds:prod": `"oci://me:xxxxx@oci.example.com/feeds:prod" has user info before its host: docker login stores credentials`,
		"oci://me:s3cret@oci.example.com:x":          `has user info before its host`,
		"oci://oci.example.com":                      `"oci://oci.example.com" is not an artifact in a registry, such as oci://oci.example.com/feeds:prod`,
		"oci://oci.example.com/feeds":                `"oci://oci.example.com/feeds" has no tag: add one, such as oci://oci.example.com/feeds:prod`,
	} {
		_, err := new(Reader).Read(t.Context(), arg)
		_, followErr := Follow([]string{arg}, Options{})
		for _, err := range []error{err, followErr} {
			var argument *ArgumentError
			if !errors.As(err, &argument) || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "s3cret") {
				t.Errorf("%s: %v", arg, err)
			}
		}
	}
}

// TestManyLayers checks that a manifest of many empty layers is rejected before it takes memory.
func TestManyLayers(t *testing.T) {
	body := `{"layers": [` + strings.Repeat("{},", 3*maxFiles) + `{}]}`
	header := http.Header{"Content-Type": {ocispec.MediaTypeImageManifest}, "Docker-Content-Digest": {digest.FromString(body).String()}}
	transport := roundTrip(func(req *http.Request) (*http.Response, error) {
		return &http.Response{StatusCode: 200, Request: req, Header: header, ContentLength: int64(len(body)), Body: io.NopCloser(strings.NewReader(body))}, nil
	})
	_, err := (&Reader{Registry: Registry{Transport: transport}}).Read(t.Context(), "oci://oci.example.com/feeds:prod")
	if err == nil || !strings.HasSuffix(err.Error(), "the artifact has more than 20000 layers") {
		t.Error(err)
	}
}
