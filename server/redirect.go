package server

import (
	"net"
	"net/http"
	"strings"
)

// Redirect returns a handler for plain http that sends every request to the same address over https, at the
// given port. Its host is held against the same policy, so that nobody is sent to a host of a client's choice.
func (h *Handler) Redirect(httpsPort string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		header := w.Header()
		h.setCommon(header)
		host, refused := h.hosts.host(r)
		if refused != nil {
			refused.write(w, r, Event{})
			return
		}
		if httpsPort != "443" {
			host = net.JoinHostPort(strings.Trim(host, "[]"), httpsPort)
		}
		target := "https://" + host + r.URL.EscapedPath()
		if r.URL.RawQuery != "" {
			target += "?" + r.URL.RawQuery
		}
		header["Location"] = []string{target}
		closeConnection.set(header)
		header["Content-Length"] = []string{"0"}
		w.WriteHeader(http.StatusPermanentRedirect)
	})
}
