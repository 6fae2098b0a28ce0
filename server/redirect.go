package server

import (
	"net/http"
	"strings"
)

// Redirect returns a handler for plain http that redirects every request to https on the given port. The host must pass
// the same policy, so that clients cannot choose where others are sent.
func (h *Handler) Redirect(httpsPort string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		host, refused := h.hosts.host(r)
		if refused != nil {
			h.problems[refused].write(w, r)
			return
		}
		if httpsPort != "443" {
			host += ":" + httpsPort
		}
		path := r.URL.EscapedPath()
		if !strings.HasPrefix(path, "/") {
			path = "/" // the target was *
		}
		target := "https://" + host + path
		if r.URL.RawQuery != "" {
			target += "?" + r.URL.RawQuery
		}
		closeConnection.set(w.Header()) // there is nothing else to get here
		newResponse(http.StatusPermanentRedirect, h.common, nil, newField("Location", target)).write(w, r)
	})
}
