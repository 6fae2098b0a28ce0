package studio

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"signpost/client"
	"signpost/definition"
	"signpost/internal/httpurl"
	"signpost/internal/routes"
)

const (
	// maxRegistered is the maximum number of registered addresses: more than anyone looks at in a day.
	maxRegistered = 50

	// maxManifest is the maximum size of a manifest shown on the page. A browser has to lay it out.
	maxManifest = 16 << 20

	// fetchTimeout limits a fetch: somebody is waiting for it.
	fetchTimeout = 15 * time.Second
)

// Register shows addresses immediately and fetches their manifests in the background. If one cannot be fetched, the
// page says why.
func (s *Studio) Register(ctx context.Context, addresses ...string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, address := range addresses {
		s.records = append(s.records, newAddress(address, s.bump()))
		go s.fetch(ctx, address, false, false)
	}
}

func newAddress(address string, rev int) *record {
	// The page is shown to others, and keeps what it has: it does not get the query.
	return &record{id: httpurl.Redacted(address), kind: KindAddress, address: address, judged: true, rev: rev}
}

func hostOf(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return ""
	}
	return u.Hostname()
}

// fetch fetches the manifest of an address, and returns its id. An unknown address is added if add is set, and if keep
// is set even if it fails.
func (s *Studio) fetch(ctx context.Context, address string, add, keep bool) (id string, failed *problem) {
	now, failed := s.fetchText(ctx, address)
	s.mu.Lock()
	defer s.mu.Unlock()
	i := slices.IndexFunc(s.records, func(r *record) bool { return r.address == address })
	switch {
	case i < 0 && !add: // it was removed in the meantime
		return "", &noSource
	case i < 0 && failed != nil && !keep:
		return "", failed
	case i < 0 && len(s.records) >= maxRegistered:
		return "", &problem{
			Status: http.StatusConflict, Detail: fmt.Sprintf("%d addresses are registered. Remove one of them first.", maxRegistered),
		}
	}
	rev := s.bump()
	var r *record
	if i >= 0 {
		r = s.records[i]
	} else {
		r = newAddress(address, rev)
		s.records = append(s.records, r)
	}
	if r.touch(rev); failed != nil {
		r.failure = failed
		return r.id, failed
	}
	_, r.version, _ = routes.Parse(address[strings.LastIndex(address[:strings.IndexAny(address+"?", "?#")], "//")+2:])
	r.set(now)
	s.relint(rev)
	return r.id, nil
}

// fetchText fetches a manifest. It may have mistakes, which are reported as findings; whatever can be read is shown.
func (s *Studio) fetchText(ctx context.Context, address string) (now *text, failed *problem) {
	u, err := httpurl.ParseAddress(address)
	switch {
	case err != nil:
		return nil, &problem{Status: http.StatusUnprocessableEntity, Detail: sentence(err.Error())}
	case strings.HasPrefix(u.RawQuery, "…"):
		return nil, &problem{
			Status: http.StatusUnprocessableEntity, Hint: "Register the address again.",
			Detail: "The studio was restarted, and this page does not keep the query of an address, which may have an access token in it.",
		}
	}
	answer, err := client.Fetch(ctx, address, s.clientOptions())
	if err != nil {
		return nil, explain(err)
	}
	if len(answer.Body) > maxManifest {
		return nil, &problem{
			Status: http.StatusBadGateway, Detail: fmt.Sprintf("The manifest is larger than %d MiB, the most that this page shows.", maxManifest>>20),
		}
	}
	now = parse(httpurl.Redacted(address), answer.Body, true)
	if _, err = now.manifest(); err != nil {
		return nil, &problem{
			Status: http.StatusBadGateway, Detail: sentence(err.Error()), Findings: findings(now.file, definition.Lint(now.file), nil),
			Hint: "The address should end in a version and endpoints-manifest, such as https://feeds.example.com/v1/endpoints-manifest.",
		}
	}
	return now, nil
}

func (s *Studio) clientOptions() client.Options {
	opts := s.opts.Client
	if opts.Timeout == 0 {
		opts.Timeout = fetchTimeout
	}
	return opts
}

func (s *Studio) serveRegister(w http.ResponseWriter, r *http.Request) {
	var in struct {
		Address string `json:"address"`
		Keep    bool   `json:"keep"` // even if it fails: the page had it before the studio was restarted
	}
	if read(w, r, &in) {
		s.replyFetched(w, r, strings.TrimSpace(in.Address), true, in.Keep)
	}
}

func (s *Studio) serveUpdate(w http.ResponseWriter, r *http.Request) {
	var in sourceOnly
	_, src, ok := s.readSource(w, r, &in, &in.Source)
	switch {
	case !ok:
	case src.Kind != KindAddress:
		refuse(w, problem{Status: http.StatusConflict, Detail: "Files are reloaded automatically when they are saved."})
	default:
		s.replyFetched(w, r, src.record.address, false, false)
	}
}

func (s *Studio) replyFetched(w http.ResponseWriter, r *http.Request, address string, add, keep bool) {
	id, failed := s.fetch(r.Context(), address, add, keep)
	if failed != nil {
		refuse(w, *failed)
		return
	}
	if _, src, ok := s.findSource(w, r, id); ok {
		reply(w, struct {
			Source    string   `json:"source"`
			Endpoints int      `json:"endpoints"`
			Changes   []change `json:"changes"`
		}{id, len(src.Versions[0].Endpoints), src.Changes})
	}
}

func (s *Studio) serveRemove(w http.ResponseWriter, r *http.Request) {
	var in sourceOnly
	_, src, ok := s.readSource(w, r, &in, &in.Source)
	switch {
	case !ok:
	case src.Kind != KindAddress:
		refuse(w, problem{
			Status: http.StatusConflict, Detail: "This file was given on the command line. To remove it, start the studio without it.",
		})
	default:
		s.mu.Lock()
		s.records = slices.DeleteFunc(s.records, func(other *record) bool { return other.id == src.ID })
		s.relint(s.bump())
		s.mu.Unlock()
		reply(w, struct{}{})
	}
}
