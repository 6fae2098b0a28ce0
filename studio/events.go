package studio

import (
	"fmt"
	"net/http"
	"time"
)

const (
	// heartbeat is how often a quiet stream shows that it lives, so that a page that is gone is noticed.
	heartbeat = 15 * time.Second

	// writeTimeout bounds each write to a stream, which as a whole has no end.
	writeTimeout = 10 * time.Second
)

// serveEvents tells the page that something has changed, each time, until it goes away. What has changed is in
// /api/state.
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
	text := "retry: 1000\n\n"
	for {
		s.mu.Lock()
		changed := s.changed
		s.mu.Unlock()
		if !send(text) {
			return
		}
		select {
		case <-r.Context().Done():
			return
		case <-changed:
			text = "event: changed\ndata: 1\n\n"
		case <-beat.C:
			text = ": still here\n\n"
		}
	}
}
