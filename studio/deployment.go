package studio

import (
	"cmp"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"strings"
	"sync"

	"signpost/host"
	"signpost/internal/httpurl"
)

// maxViews limits the views that are kept: each tab may look at another deployment, and gets what has changed in it.
const maxViews = 12

// deployment is what manifests depend on besides their definitions. It belongs to a tab, whose address names it.
type deployment struct {
	Host     string              `json:"host"`     // empty means that of the options
	Features map[string][]string `json:"features"` // by source; those of the file or the options for the others
}

// view is everything that is shown for a deployment. It is immutable.
type view struct {
	rev        int
	deployment string // as the page names it
	host       string
	asked      string    // host that the page or the options name; empty if each file decides
	sources    []*source // files first
	overlap    *overlap  // of all sources
	nested     []nesting
	lists      lists // made when it is sent first
}

func (s *Studio) view(r *http.Request) (*view, error) {
	var d deployment
	wish := cmp.Or(r.URL.Query().Get("deployment"), "{}")
	if err := json.Unmarshal([]byte(wish), &d); err != nil {
		return nil, failed(http.StatusBadRequest, "This is not a deployment.", "")
	}
	name := s.host
	if d.Host != "" {
		asked, err := parseHost(d.Host)
		if err != nil {
			return nil, err
		}
		name = asked
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if v := s.known(wish, s.rev); v != nil {
		return v, nil
	}
	v := &view{rev: s.rev, deployment: wish, host: cmp.Or(name, DefaultHost), asked: name, sources: []*source{}}
	for _, rec := range s.records {
		features := d.Features[rec.ID]
		if features == nil {
			features = s.opts.Features
		}
		v.sources = append(v.sources, rec.build(name, features))
	}
	var comparing sync.WaitGroup // takes as long as the overlap
	for _, src := range v.sources {
		comparing.Go(func() { v.findChanges(src) })
	}
	v.findOverlap()
	comparing.Wait()
	s.views = append(s.views, v)
	s.views = s.views[max(0, len(s.views)-maxViews):]
	return v, nil
}

// known returns the view for a deployment at a revision of the state, or nil. The caller holds the lock.
func (s *Studio) known(deployment string, rev int) *view {
	return find(s.views, func(v *view) bool { return v.deployment == deployment && v.rev == rev })
}

func (v *view) source(id string) *source {
	return find(v.sources, func(src *source) bool { return src.ID == id })
}

// parseHost reads a host as somebody enters it: the host of a URL counts, too.
func parseHost(entered string) (string, error) {
	entered = strings.TrimSpace(entered)
	if u, err := url.Parse(entered); err == nil && u.Scheme != "" && u.Host != "" {
		entered = u.Host
	}
	if alone, port, err := net.SplitHostPort(entered); err == nil && port != "" {
		return "", invalid(fmt.Errorf("%q has a port, and {{host}} never carries one", entered),
			fmt.Sprintf("Enter %s. To reach a service on another port, choose another server as the data.", alone))
	}
	name, err := host.ParseName(entered)
	if err != nil {
		return "", invalid(err, "Enter a hostname, such as feeds.example.com.")
	}
	return name, nil
}

// parseOrigin reads an origin that requests are sent to. Empty means none.
func parseOrigin(entered string) (*url.URL, error) {
	entered = strings.TrimSpace(entered)
	if entered == "" {
		return nil, nil
	}
	u, err := httpurl.ParseOrigin(entered)
	if err != nil {
		return nil, fmt.Errorf("%q is not an origin: enter scheme, host and port alone, such as http://localhost:3000",
			entered)
	}
	return u, nil
}
