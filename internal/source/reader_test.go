package source

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"signpost/internal/testkit"
)

func TestReadStdin(t *testing.T) {
	for text, path := range map[string]string{definitionText: "stdin.yaml", " {\"versions\": {}}": "stdin.json", "": "stdin.yaml"} {
		r := Reader{Stdin: strings.NewReader(text)}
		documents, err := r.Read(t.Context(), Stdin)
		if err != nil || len(documents) != 1 || documents[0].Name != StdinName || documents[0].Path != path || string(documents[0].Text) != text {
			t.Errorf("%q: %+v, %v", text, documents, err)
		}
		var argument *ArgumentError
		if _, err := r.Read(t.Context(), Stdin); !errors.As(err, &argument) {
			t.Errorf("standard input is read twice: %v", err)
		}
	}
	if documents, err := new(Reader).Read(t.Context(), Stdin); err != nil || len(documents[0].Text) != 0 {
		t.Errorf("without standard input: %+v, %v", documents, err)
	}
	never, stop := io.Pipe()
	defer stop.Close()
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(errors.New("stopped"))
	if _, err := (&Reader{Stdin: never}).Read(ctx, Stdin); err == nil || err.Error() != `read definition "<stdin>": stopped` {
		t.Error(err)
	}
}

// TestFollowWhatNeverChanges reads standard input and a revision once, and not before it is asked to.
func TestFollowWhatNeverChanges(t *testing.T) {
	t.Chdir(repository(t))
	stdin := strings.NewReader(service("typed"))
	sources := testkit.Must((&Reader{Stdin: stdin}).Follow(Stdin, "HEAD:feeds.yaml", "HEAD:none.yaml"))(t)
	for i, want := range []string{"<stdin>, stdin.yaml, service: typed", "HEAD:feeds.yaml, feeds.yaml, service: root"} {
		remote := sources[i].(*Remote)
		if documents, err := remote.Read(); len(documents) > 0 || err != nil || remote.Status().Answered {
			t.Errorf("it is read at once: %q, %v", servicesIn(documents), err)
		}
		remote.Fetch(t.Context())
		remote.Poll(t.Context(), nil, nil) // which ends at once
		if documents, err := remote.Read(); err != nil || servicesIn(documents) != want || !remote.Status().Answered {
			t.Errorf("%q, %v", servicesIn(documents), err)
		}
	}
	missing := sources[2].(*Remote)
	missing.Fetch(t.Context())
	if _, err := missing.Read(); !errors.Is(err, fs.ErrNotExist) || !missing.Status().Answered {
		t.Errorf("a path that does not exist: %v", err)
	}
}

// TestReadAddress fetches a manifest, and shows nothing of the query of its address.
func TestReadAddress(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Write(expandEndpoints([]byte(`{"endpoints": {F(https://a.example/v1/a)}}`)))
	}))
	defer server.Close()
	d, err := new(Reader).ReadOne(t.Context(), server.URL+"/v1/endpoints-manifest?token=s3cr3t")
	if err != nil || strings.Contains(d.Name, "s3cr3t") || d.Path != "endpoints-manifest" || !d.Manifest() || d.ID() != d.Name || d.Address.Path != "/v1/endpoints-manifest" {
		t.Errorf("%+v, %v", d, err)
	}
	s := newService(d)
	if s.Load([]string{"geo-restriction"}); len(s.Versions[0].Manifest.Endpoints[0].ContextObj) > 0 {
		t.Errorf("a feature was added to a manifest that was served without it: %+v", s.Versions)
	}
	var argument *ArgumentError
	if _, err := new(Reader).Read(t.Context(), "https://a.example"); !errors.As(err, &argument) {
		t.Errorf("an address without a path: %v", err)
	}
	if _, err := new(Reader).ReadOne(t.Context(), server.URL+"x/v1"); err == nil {
		t.Error("no error although nothing can be fetched")
	}
	dir := tree(t, map[string]string{"a.yaml": definitionText, "b.yaml": definitionText})
	documents, err := new(Reader).Read(t.Context(), dir, dir)
	if err != nil || len(documents) != 2 {
		t.Errorf("%+v, %v", documents, err)
	}
}
