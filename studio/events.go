package studio

import (
	"fmt"
	"net/http"
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

// state returns what the page shows.
func (s *Studio) state(c call) (any, error) {
	return object{
		"instance": s.instance, "build": s.assets.build, "rev": c.view.rev, "host": c.view.host, "send_to": s.opts.SendTo,
		"sources": c.view.sources, "overlap": c.view.overlaps().nested,
		"git":   s.opts.ReadRevision != nil, // whether comparison with a git revision is available
		"fixes": s.opts.WriteFile != nil,    // whether fixes can be applied to files
	}, nil
}
