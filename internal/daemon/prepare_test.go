package daemon

import (
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"

	"signpost"
	"signpost/internal/source"
	"signpost/server"
)

// stub is a source controlled by the test.
type stub struct {
	documents []source.Document
	changed   bool
	err       error
}

func (s *stub) Name() string { return "stub" }

func (s *stub) Read() ([]source.Document, bool, error) {
	changed := s.changed
	s.changed = false
	return s.documents, changed, s.err
}

func (s *stub) set(texts ...string) {
	s.documents, s.changed = nil, true
	for i, text := range texts {
		s.documents = append(s.documents, source.Document{Name: fmt.Sprintf("%d.yaml", i), Text: []byte(text), Sum: source.Sum(text)})
	}
}

func definitionOf(basePath, authority string) string {
	return fmt.Sprintf("base_path: %[1]s\nversions: {v1: {endpoints: {'https://%[2]s/v1%[1]s/feeds': {name: Feeds, method: get, mime_type: application/json}}}}\n", basePath, authority)
}

func newPublisher(t *testing.T, s source.Source, host string) *publisher {
	t.Helper()
	handler, err := server.New(server.Options{})
	if err != nil {
		t.Fatal(err)
	}
	p := &publisher{handler: handler, log: slog.New(slog.DiscardHandler), metrics: newMetrics("test"), sources: []source.Source{s}, preparer: preparer{host: host}}
	p.revision.Store("")
	return p
}

// TestCannotRender checks that a definition that passes lint but cannot be rendered is rejected like any bad one, and
// does not keep others from being published.
func TestCannotRender(t *testing.T) {
	s := &stub{}
	p := newPublisher(t, s, "192.0.2.1") // does not fit into cdn.{{host}}
	s.set(definitionOf("/a", "{{host}}"), definitionOf("/b", "{{host}}"))
	if out := p.update(); len(out.Findings)+len(out.Errors) > 0 || len(p.handler.Routes()) != 2 {
		t.Fatalf("%+v, %v", out, p.handler.Routes())
	}
	before := p.served[1].current
	s.set(definitionOf("/c", "{{host}}"), definitionOf("/b", "cdn.{{host}}"))
	out := p.update()
	if len(out.Findings) != 1 || !strings.Contains(out.Findings[0].Message, "it cannot be published") || out.Findings[0].File != "1.yaml" || !out.Broken {
		t.Errorf("%+v", out)
	}
	if got := strings.Join(p.handler.Routes(), " "); got != "/c/v1/endpoints-manifest /b/v1/endpoints-manifest" || p.served[1].current != before {
		t.Errorf("published: %s", got)
	}
	if !p.served[1].rejected || p.served[0].rejected {
		t.Error("the wrong definition is rejected")
	}
}

// TestPlausibleHost checks that a name that requests may have is preferred.
func TestPlausibleHost(t *testing.T) {
	for want, opts := range map[string]server.Options{
		"feeds.example.com":   {},
		"public.example.com":  {PublicHost: "public.example.com", AllowedHosts: []string{"a.example.com"}},
		"a.example.com":       {AllowedHosts: []string{"127.0.0.1", "[::1]", "A.example.com"}},
		"feeds.b.example.com": {PublicHost: "192.0.2.1", AllowedHosts: []string{"*.b.example.com"}},
	} {
		if got := plausibleHost(opts); got != want {
			t.Errorf("%+v: %s, not %s", opts, got, want)
		}
	}
}

// TestUnchangedIsNotPrepared changes one of many definitions; the others are neither parsed nor compiled again.
func TestUnchangedIsNotPrepared(t *testing.T) {
	s := &stub{}
	p := newPublisher(t, s, "feeds.example.com")
	s.set(definitionOf("/a", "{{host}}"), definitionOf("/b", "{{host}}"))
	p.update()
	before := p.served[0].current
	s.set(definitionOf("/a", "{{host}}"), definitionOf("/c", "{{host}}"))
	s.documents[0].Text = nil // as a source does if nothing has changed
	if out := p.update(); len(out.changed) != 1 || len(out.Files) != 1 || p.served[0].current != before {
		t.Errorf("%+v", out)
	}
	s.err = errors.New("gone")
	if out := p.update(); len(out.changed) != 0 || len(out.Errors) != 1 {
		t.Errorf("%+v", out)
	}
}

// TestFirstFindings checks that errors come first.
func TestFirstFindings(t *testing.T) {
	var many []signpost.Finding
	for i := range 3 * MaxFindings {
		severity := signpost.SeverityWarning
		if i == 3*MaxFindings-1 {
			severity = signpost.SeverityError
		}
		many = append(many, signpost.Finding{Line: i, Severity: severity})
	}
	shown, more := FirstFindings(many)
	if len(shown) != MaxFindings || more != 2*MaxFindings || shown[0].Severity != signpost.SeverityError || shown[1].Line != 0 {
		t.Errorf("%d findings are shown, %d are not: %v", len(shown), more, shown)
	}
	if shown, more := FirstFindings(many[:3]); len(shown) != 3 || more != 0 {
		t.Errorf("%d of three findings are shown", len(shown))
	}
}
