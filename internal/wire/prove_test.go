package wire

import (
	"net/http"
	"testing"
)

func TestProve(t *testing.T) {
	if err := Prove(); err != nil {
		t.Errorf("with this release of Go: %v", err)
	}
	for name, handler := range map[string]http.HandlerFunc{
		"a response that is not sent": func(w http.ResponseWriter, r *http.Request) {
			if c := Of(w, r); c != nil {
				c.Announce(response(r, http.StatusOK, "x", unobserved{}))
				w.Header().Set("X-New", "a field that a later net/http might add")
			}
		},
		"another header": func(w http.ResponseWriter, r *http.Request) {
			if c := Of(w, r); c != nil {
				c.Announce(&Response{Status: http.StatusOK, Header: []byte("Content-Length: 0\r\nX: y\r\n"), Head: r.Method == "HEAD", Observer: unobserved{}})
			}
		},
	} {
		if err := prove(handler); err == nil {
			t.Errorf("%s went unnoticed", name)
		}
	}
}
