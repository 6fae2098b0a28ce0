package studio

import (
	"fmt"
	"net/http"
	"strconv"
	"time"
)

const (
	// heartbeat is how often a quiet stream sends a comment, to notice pages that are gone.
	heartbeat = 15 * time.Second

	// writeTimeout limits each write to a stream, which as a whole is endless.
	writeTimeout = 10 * time.Second
)

// serveEvents streams the revision of the state, immediately and after each change. One tab of a browser holds the
// stream and notifies the others, because a browser opens at most six connections to a host.
func (s *Studio) serveEvents(w http.ResponseWriter, r *http.Request) {
	control := http.NewResponseController(w)
	control.SetReadDeadline(time.Time{})
	w.Header().Set("Content-Type", "text/event-stream")
	w.Header().Set("Cache-Control", "no-store")
	send := func(text string) bool {
		control.SetWriteDeadline(time.Now().Add(writeTimeout))
		_, err := fmt.Fprint(w, text)
		return err == nil && control.Flush() == nil
	}
	beat := time.NewTicker(heartbeat)
	defer beat.Stop()
	text := "retry: 1000\n"
	for {
		s.mu.Lock()
		changed, rev := s.changed, s.rev
		s.mu.Unlock()
		if !send(fmt.Sprintf("%sevent: state\ndata: {\"instance\":%q,\"rev\":%d}\n\n", text, s.instance, rev)) {
			return
		}
		text = ""
		for waiting := true; waiting; {
			select {
			case <-r.Context().Done():
				return
			case <-changed:
				waiting = false
			case <-beat.C:
				if !send(": still here\n\n") {
					return
				}
			}
		}
	}
}

// snapshot is what the page knows about the server. Sources contains only those that changed after the revision that the
// page has, for the same deployment.
type snapshot struct {
	Instance string    `json:"instance"`
	Build    string    `json:"build"`
	Rev      int       `json:"rev"`
	Host     string    `json:"host"` // value of {{host}}
	SendTo   string    `json:"send_to"`
	Order    []string  `json:"order"` // ids of all sources
	Sources  []*source `json:"sources"`
	Overlap  []nesting `json:"overlap"` // nil if unchanged
	Git      bool      `json:"git"`     // whether comparison with a git revision is available
	Fixes    bool      `json:"fixes"`   // whether fixes can be applied to files
}

func (s *Studio) state(c call) (any, error) {
	v, query := c.view, c.r.URL.Query()
	since, _ := strconv.Atoi(query.Get("since"))
	if query.Get("instance") != s.instance {
		since = 0
	}
	out := snapshot{
		Instance: s.instance, Build: s.assets.build, Rev: v.rev, Host: v.host, SendTo: s.opts.SendTo, Order: []string{}, Sources: []*source{},
		Git: s.opts.ReadRevision != nil, Fixes: s.opts.WriteFile != nil,
	}
	for _, src := range v.sources {
		out.Order = append(out.Order, src.ID)
		if src.Rev > since {
			out.Sources = append(out.Sources, src)
		}
	}
	if out.Rev > since {
		out.Overlap = v.overlaps().nested
	}
	return out, nil
}
