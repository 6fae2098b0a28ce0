package client

import (
	"cmp"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"signpost"
	"signpost/host"
	"signpost/internal/httpurl"
	"signpost/internal/routes"
)

// problemBody is what Signpost writes in an error response. It says what arrived, so that a proxy that changes the
// request on its way is seen.
type problemBody struct {
	Type      string   `json:"type"`
	Detail    string   `json:"detail"`
	Reason    string   `json:"reason"`
	Host      string   `json:"host"`
	Header    string   `json:"header"` // that the host was taken from
	Path      string   `json:"path"`
	Manifests []string `json:"manifests"`
}

// signpostProblem returns the body of an error response that Signpost itself wrote, or nil.
func signpostProblem(status int, body []byte) *problemBody {
	p := new(problemBody)
	if status < 400 || json.Unmarshal(body, p) != nil {
		return nil
	}
	if len(p.Manifests) > 0 || p.Type == "about:blank" && (p.Header != "" || p.Path != "") {
		return p
	}
	return nil
}

const (
	plainHint = "the service takes the request for plain http, because TLS ends in front of it"
	protoHint = "make the proxy send X-Forwarded-Proto: https and the service trust it"

	parameterHint = "check whether it needs a parameter that the manifest does not declare, " +
		"or rejects a default of its modifiers"
	proxyHint = "the proxy in front of the service gets no response from it: start the service, " +
		"correct its address in the proxy, or find out why it takes so long"
	sizeHint = "context values make requests long: raise the limit of the proxy in front of the service, " +
		"and of the service itself (nginx: large_client_header_buffers; Node.js: maxHeaderSize)"
)

// isLoop reports whether a redirect leads back to where it came from.
func (a *Answer) isLoop() bool {
	return a.Redirect != "" && identity(a.Redirect) == identity(a.asked.String())
}

// redirectHint says what to do about a redirect: use its target, or something about a sign-in if it may lead to one.
func (a *Answer) redirectHint(use, signIn string) string {
	to, err := url.Parse(a.Redirect)
	switch {
	case a.isLoop():
		return plainHint + ", and redirects to https: " + protoHint + ", or let the proxy alone redirect, and only plain http"
	case err != nil:
		return use
	case isPrivate(to.Host) && !isPrivate(a.asked.Host):
		return "the service redirects to the host that the proxy calls it by: make the proxy pass the Host header on"
	case a.asked.Scheme == "https" && to.Scheme == "http" && host.Equal(to.Host, a.asked.Host):
		return plainHint + ": " + protoHint
	case strings.HasPrefix(to.Path, a.asked.Path):
		return use
	}
	return use + "; if it is a sign-in, " + signIn
}

// problem explains why an address does not respond with a manifest.
func (a *Answer) problem() Problem {
	p := Problem{Message: fmt.Sprintf("the response is %s, not 200 OK", statusText(a.Status))}
	target := fmt.Sprintf("%q", httpurl.Redacted(a.Redirect)) // services repeat the query of the address
	switch {
	case a.isLoop():
		p.Message = "the address redirects to itself, " + target + ": a loop"
	case a.Redirect != "":
		p.Message = "the address redirects to " + target
	}
	if a.signpost != nil {
		p.Cause, p.Hint = a.signpostHint()
	} else {
		p.Hint = a.manifestHint()
	}
	return p
}

// signpostHint says why Signpost itself does not respond with a manifest, and what to do about it.
func (a *Answer) signpostHint() (cause, hint string) {
	const maxNames = 5
	asked, p := a.asked.Hostname(), a.signpost
	hostReplaced := p.Header != "" && !host.Equal(p.Host, asked)
	switch {
	case hostReplaced && p.Header == "Host":
		return causeHostReplaced, fmt.Sprintf("Signpost got the host %q in the header Host, not %s: "+
			"the proxy in front of it does not pass the host on", p.Host, asked)
	case hostReplaced:
		return "", fmt.Sprintf("Signpost got the host %q in the header %s, not %s: "+
			"make the proxy replace that header with the host that clients ask for", p.Host, p.Header, asked)
	case p.Reason == "not-allowed":
		return causeHostNotAllowed, "configure the service to answer for this host"
	case a.Status == http.StatusNotFound && p.Path != "" && p.Path != a.asked.Path:
		return "", fmt.Sprintf("the path %q arrived at Signpost, so the proxy in front of it rewrites the path: "+
			"make it pass on the path as it is "+
			"(nginx: no path after the address in proxy_pass; Caddy: handle instead of handle_path)", p.Path)
	case len(p.Manifests) > 0:
		some := p.Manifests[:min(maxNames, len(p.Manifests))]
		return "", "the manifests of this server are at: " + strings.Join(some, ", ")
	}
	return "", p.Detail
}

// manifestHint says why something other than Signpost does not respond with a manifest, and what to do about it.
func (a *Answer) manifestHint() string {
	_, _, isManifestPath := routes.Parse(a.asked.Path)
	if a.Redirect != "" {
		return a.redirectHint("studios store the address that they are given: use the target, if it is the right one",
			"make the manifest public instead")
	}
	switch {
	case a.Status == http.StatusNotFound && isManifestPath && strings.HasSuffix(a.asked.Path, "/"):
		return "remove the slash at the end of the address"
	case a.Status == http.StatusNotFound && isManifestPath:
		return "something other than Signpost answered, such as the feed service: " + routeHint +
			"; a service that publishes its manifest itself has none at this path"
	}
	return cmp.Or(manifestHints[a.Status], statusHint(a.Status, "respond to every GET request with the manifest"))
}

const publicHint = "studios send no credentials: make the manifest public"

// manifestHints says what to do about statuses that mean the same for every manifest.
var manifestHints = map[int]string{
	http.StatusNotFound:           "correct the path: a manifest is at {base_url}/v1/endpoints-manifest",
	http.StatusMisdirectedRequest: "configure the proxy and the service behind it to answer for this host",
	http.StatusBadRequest: "check that the service is meant to be called by this host, " +
		"and that its port speaks https or plain http as the address says",
	http.StatusUnauthorized: publicHint,
	http.StatusForbidden:    publicHint,
}

// statusHint returns the hint about a status, unless it says that the service fails, or has had enough.
func statusHint(status int, hint string) string {
	switch {
	case status == http.StatusTooManyRequests:
		return "it limits requests: try again later"
	case status == http.StatusInternalServerError:
		return "look at the service's log"
	case status > http.StatusInternalServerError:
		return "check that the service runs, and that the proxy in front of it reaches it; look at its log"
	}
	return hint
}

const routeHint = "make the proxy send paths that end in /endpoints-manifest to Signpost"

// explain sets the hint of a call that got no feed, and the facts behind it. If no feed of the service answered, base
// is the path before the version in the address of the manifest: a proxy may have lost it.
func (p *probe) explain(base string) {
	a, r, params := p.answer, &p.result, p.target.params
	if !p.target.own {
		base = ""
	}
	missing := p.empty || a.Status == http.StatusNotFound
	switch {
	case a.Redirect != "":
		r.Hint = a.redirectHint("use the URL that it redirects to: clients do not send context keys after a redirect",
			cmp.Or(p.sentHint(), "declare the context key that the feed needs, or make it public"))
	case a.signpost != nil:
		r.Hint = "Signpost wrote this response, so the proxy sends the paths of feeds to it: " +
			"route only paths that end in /endpoints-manifest to Signpost, and all others to the feed service"
	case missing && base != "" && !strings.HasPrefix(a.asked.Path, base+"/"):
		r.Cause = causeBasePath
		r.Hint = fmt.Sprintf("the address of the manifest begins with %q, and the URL does not: "+
			"the proxy strips it on the way to Signpost. Write %[2]s into the URLs of the definition; "+
			"then set base_path: %[2]s, and make the proxy keep the prefix", base, base)
	case a.Status == http.StatusNotFound && base != "":
		r.Cause = causeBasePath
		r.Hint = fmt.Sprintf("correct the URL in the definition or, "+
			"if the proxy strips %q from it on the way to the feed service, make it keep the prefix", base)
	case p.empty && strings.Contains(a.Header.Get("Server"), "Caddy"):
		r.Hint = "Caddy answers like this if none of its routes has the path: route it to the feed service"
	case p.empty:
		r.Hint = "send the feed; an empty JSON feed is an object with an empty list"
	case p.refused() && len(p.unsent) > 0:
		r.Hint = "try it with an app that knows such keys"
	case p.refused():
		r.Hint = cmp.Or(p.keyHint(), "apps would get this, too: "+declareHint)
		if slices.Equal(p.target.ContextObj, signpost.GeoRestriction().ContextObj) { // which say where, and not who
			r.Hint += "; if it wants to know who calls, " + declareHint
		}
	case a.Status == http.StatusNotFound && p.named:
		r.Hint = "correct the feed that is given for it"
	case a.Status == http.StatusNotFound && len(params) > 0 && p.link == nil:
		r.Cause, r.Params = causeNotFound, params
		r.Hint = "correct the URL in the definition, or the value for " + strings.Join(params, ", ")
	case a.Status == http.StatusBadRequest: // also what package contextkeys responds with if a key is missing
		r.Hint = strings.TrimPrefix(p.keyHint()+"; "+feedHints[a.Status], "; ")
	default:
		r.Hint = cmp.Or(feedHints[a.Status], statusHint(a.Status, "find out what the service means by it"))
	}
}

// keyHint says what to do if a service rejects a request for its context keys, or returns "" if the endpoint has none.
func (p *probe) keyHint() string {
	var unsent []string
	for _, item := range p.target.ContextObj {
		if p.sent[item.Key] == nil && item.SentWith(p.target.Method) {
			unsent = append(unsent, item.Key)
		}
	}
	hint := p.sentHint()
	if len(unsent) == 0 {
		return hint
	}
	p.result.Cause, p.result.ContextKeys = causeOptionalValues, unsent
	optional := "it may need a key that the manifest declares as optional: " + strings.Join(unsent, ", ")
	return strings.TrimPrefix(hint+"; "+optional, "; ")
}

// sentHint says what to do about context keys that did not help, or returns "" if none was sent.
func (p *probe) sentHint() string {
	var sent []string
	for _, item := range p.target.ContextObj {
		if p.sent[item.Key] != nil {
			sent = append(sent, item.Key)
		}
	}
	if len(sent) == 0 {
		return ""
	}
	return "check that the value for " + strings.Join(sent, ", ") + " is still valid, " +
		"is the one that this endpoint expects, and is not lost on the way: a proxy may remove queries and headers"
}

const declareHint = "declare the context key that it needs, as the feature authentication does, or make it public"

// feedHints says what to do about statuses that mean the same for every feed.
var feedHints = map[int]string{
	http.StatusBadRequest: parameterHint +
		". A proxy that calls an https port with plain http gets this status, too",
	http.StatusUnprocessableEntity: parameterHint,
	http.StatusNotFound:            "correct the URL in the definition",
	http.StatusGone:                "correct the URL in the definition",
	http.StatusMethodNotAllowed:    "check whether it is a post endpoint, and declare method post then",
	http.StatusMisdirectedRequest: "configure the feed service to answer for this host, " +
		"and the proxy in front of it to pass the host on",
	http.StatusBadGateway:                  proxyHint,
	http.StatusGatewayTimeout:              proxyHint,
	http.StatusRequestURITooLong:           sizeHint,
	http.StatusRequestHeaderFieldsTooLarge: sizeHint,
}
