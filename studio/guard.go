package studio

import (
	"crypto/subtle"
	"net"
	"net/http"
	"net/netip"
	"slices"
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
// rebinding), which Host reveals. Another user of this machine can send any request, but does not have the token. The
// page itself opens from a link anywhere: it has nothing in it before its cookie was seen.
func (s *Studio) guard(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("Content-Security-Policy", policy)
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("X-Frame-Options", "DENY")
		h.Set("Referrer-Policy", "no-referrer")
		h.Set("Cross-Origin-Opener-Policy", "same-origin")
		h.Set("Cross-Origin-Resource-Policy", "same-origin")

		_, isAsset := s.assets.files[r.URL.Path] // which has nothing of the user in it
		token := s.redeem(r.URL.Query().Get("token"))
		switch {
		case !s.origins["http://"+strings.ToLower(r.Host)]:
			refuse(w, failed(http.StatusMisdirectedRequest, "The studio does not answer for this host.",
				"Open the address that signpost studio printed."))
		case !s.fromHere(r) && !isVisit(r):
			refuse(w, failed(http.StatusForbidden, "The studio rejects requests from other sites.",
				"Type the address into the browser, or open it from the terminal."))
		case s.opts.Token != "" && r.URL.Path == "/" && s.isToken(token):
			http.SetCookie(w, &http.Cookie{
				Name: s.cookie, Value: token, Path: "/", MaxAge: cookieAge, HttpOnly: true, SameSite: http.SameSiteLaxMode,
			})
			h.Set("Cache-Control", "no-store")
			http.Redirect(w, r, "/", http.StatusSeeOther) // the browser keeps what is behind the #
		case isAsset || s.isToken(token) || s.hasCookie(r):
			next.ServeHTTP(w, r)
		case r.URL.Path == "/":
			s.serveLocked(w)
		default:
			refuse(w, failed(http.StatusUnauthorized, "This browser may not use the studio.", openPrinted))
		}
	})
}

const openPrinted = "Open the address that signpost studio printed: it has a token, with which this browser may use " +
	"the page."

// cookieAge is how long a browser that has opened the address with the token may use the page, in seconds: a year.
const cookieAge = 365 * 24 * 60 * 60

// fromHere reports whether a request comes from the page, from the address bar, or from a program.
func (s *Studio) fromHere(r *http.Request) bool {
	origin := r.Header.Values("Origin")
	site := r.Header.Values("Sec-Fetch-Site")
	if len(origin) > 1 || len(origin) == 1 && !s.origins[strings.ToLower(origin[0])] {
		return false
	}
	// None means that the user typed the address.
	return len(site) == 0 || len(site) == 1 && (site[0] == "same-origin" || site[0] == "none")
}

// isVisit reports whether a link somewhere else was followed to the page: not in a frame, and not to the API.
func isVisit(r *http.Request) bool {
	one := func(name, value string) bool { return slices.Equal(r.Header.Values(name), []string{value}) }
	return r.Method == http.MethodGet && r.URL.Path == "/" && len(r.Header.Values("Origin")) == 0 &&
		len(r.Header.Values("Sec-Fetch-Site")) == 1 && one("Sec-Fetch-Mode", "navigate") && one("Sec-Fetch-Dest", "document")
}

// redeem returns the token for the one that is good for one visit, and any other text as it is.
func (s *Studio) redeem(text string) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.once == "" || subtle.ConstantTimeCompare([]byte(text), []byte(s.once)) != 1 {
		return text
	}
	s.once = ""
	return s.opts.Token
}

// isToken compares in constant time. Without a token in the options, anything will do.
func (s *Studio) isToken(text string) bool {
	return s.opts.Token == "" || subtle.ConstantTimeCompare([]byte(text), []byte(s.opts.Token)) == 1
}

// hasCookie reports whether one of the cookies is that of this studio: another program on this host may have set more.
func (s *Studio) hasCookie(r *http.Request) bool {
	return slices.ContainsFunc(r.CookiesNamed(s.cookie), func(c *http.Cookie) bool { return s.isToken(c.Value) })
}

func (s *Studio) serveLocked(w http.ResponseWriter) {
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(http.StatusUnauthorized)
	w.Write(s.assets.executed("locked.html", "http://"+s.opts.Listen.String()+"/?token=…"))
}
