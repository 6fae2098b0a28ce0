package studio

import (
	"fmt"
	"io"
	"net/http"
	"time"
)

// writeTimeout limits each write to a stream, which as a whole may be endless.
const writeTimeout = 10 * time.Second

// stream starts a response that is sent part by part, and returns what sends a part and reports whether it could.
func stream(w http.ResponseWriter, contentType string) (send func(text string) bool) {
	w.Header().Set("Content-Type", contentType)
	w.Header().Set("Cache-Control", "no-store")
	control := http.NewResponseController(w)
	return func(text string) bool {
		control.SetWriteDeadline(time.Now().Add(writeTimeout))
		_, err := io.WriteString(w, text)
		return err == nil && control.Flush() == nil
	}
}

// serveEvents streams the revision of the state, immediately and after each change. One tab of a browser holds the
// stream and notifies the others, because a browser opens at most six connections to a host.
func (s *Studio) serveEvents(w http.ResponseWriter, r *http.Request) {
	send := stream(w, "text/event-stream")
	for {
		s.mu.Lock()
		changed, rev := s.changed, s.rev
		s.mu.Unlock()
		if !send(fmt.Sprintf("retry: 1000\nevent: state\ndata: {\"instance\":%q,\"rev\":%d}\n\n", s.instance, rev)) {
			return
		}
		select {
		case <-r.Context().Done(): // also if the page is gone
			return
		case <-changed:
		}
	}
}
