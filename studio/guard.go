package studio

import (
	"net"
	"net/http"
	"net/netip"
	"strconv"
	"strings"
)

// policy lets the page load only what this server serves. Not even its own scripts can turn text into markup.
const policy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; " +
	"base-uri 'none'; form-action 'none'; frame-ancestors 'none'; " +
	"require-trusted-types-for 'script'; trusted-types 'none'"

// ownOrigins returns the origins of this server's page: its address, and localhost instead of it.
func ownOrigins(listen netip.AddrPort) map[string]bool {
	origins := make(map[string]bool)
	for _, host := range []string{listen.Addr().String(), "localhost"} {
		origin := "http://" + net.JoinHostPort(host, strconv.Itoa(int(listen.Port())))
		origins[origin] = true
		origins[strings.TrimSuffix(origin, ":80")] = true // which browsers omit
	}
	return origins
}

// guard rejects every request that does not come from the user. Another site can make the browser send requests here:
// with a form or script, which Origin and Sec-Fetch-Site reveal, or with a domain name that resolves to loopback (DNS
// rebinding), which Host reveals.
func (s *Studio) guard(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("Content-Security-Policy", policy)
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("X-Frame-Options", "DENY")
		h.Set("Referrer-Policy", "no-referrer")
		h.Set("Cross-Origin-Opener-Policy", "same-origin")
		h.Set("Cross-Origin-Resource-Policy", "same-origin")

		origin := r.Header.Values("Origin")
		site := r.Header.Values("Sec-Fetch-Site")
		switch {
		case !s.origins["http://"+strings.ToLower(r.Host)]:
			refuse(w, failed(http.StatusMisdirectedRequest, "The studio does not answer for this host.", "Open the address that signpost studio printed."))
		case len(origin) > 1 || len(origin) == 1 && !s.origins[strings.ToLower(origin[0])],
			len(site) > 1 || len(site) == 1 && site[0] != "same-origin" && site[0] != "none": // none means that the user typed the address
			refuse(w, failed(http.StatusForbidden, "The studio rejects requests from other sites.",
				"Type the address into the browser, or open it from the terminal."))
		default:
			next.ServeHTTP(w, r)
		}
	})
}
