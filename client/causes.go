package client

import (
	"encoding/json"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"signpost"
	"signpost/host"
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

// refusedNotAllowed is the reason of a problem for a host that is not one of those that Signpost answers for.
const refusedNotAllowed = "not-allowed"

// outcome is what is known about a response other than the one that was asked for.
type outcome struct {
	asked    *url.URL // nil if unknown
	status   int
	redirect string
	signpost *problemBody // nil if something else wrote the response
	empty    bool         // success, without a body
	server   string       // the header Server

	// Of feeds.
	sent, unsent []string // context keys that the endpoint declares
	params       []string // placeholders in its URL
	named, link  bool     // the URL was given by the user, or found in a feed
	base         string   // the path before the version in the address of the manifest, if no feed answered
}

// cause is a reason for an outcome. Its name, if it has one, becomes Result.Cause. In the hint, words in braces stand for
// what [outcome.fill] knows about the outcome.
type cause struct {
	name string
	is   condition
	hint string
}

type condition func(*outcome) bool

// explain returns the first cause of a table that applies, and its hint. The last one of each table always does.
func (o *outcome) explain(causes []cause) (name, hint string) {
	i := slices.IndexFunc(causes, func(c cause) bool { return c.is(o) })
	return causes[i].name, o.fill(causes[i].hint)
}

// fill replaces the words in braces of a hint.
func (o *outcome) fill(hint string) string {
	values := []string{
		"{base}", o.base, "{params}", strings.Join(o.params, ", "),
		"{sent}", strings.Join(o.sent, ", "), "{unsent}", strings.Join(o.unsent, ", "),
	}
	if o.asked != nil {
		values = append(values, "{asked}", o.asked.Hostname())
	}
	if p := o.signpost; p != nil {
		const maxNames = 5
		manifests := strings.Join(p.Manifests[:min(maxNames, len(p.Manifests))], ", ")
		values = append(values, "{host}", strconv.Quote(p.Host), "{header}", p.Header, "{path}", strconv.Quote(p.Path),
			"{detail}", p.Detail, "{manifests}", manifests)
	}
	return strings.NewReplacer(values...).Replace(hint)
}

// status returns the condition that a response has one of some statuses.
func status(codes ...int) condition {
	return func(o *outcome) bool { return slices.Contains(codes, o.status) }
}

// all returns the condition that all of some conditions hold.
func all(conditions ...condition) condition {
	return func(o *outcome) bool {
		return !slices.ContainsFunc(conditions, func(c condition) bool { return !c(o) })
	}
}

var isRefused, isNotFound = status(http.StatusUnauthorized, http.StatusForbidden), status(http.StatusNotFound)

func always(*outcome) bool           { return true }
func isServerError(o *outcome) bool  { return o.status >= 500 }
func isRedirect(o *outcome) bool     { return o.status/100 == 3 }
func leadsElsewhere(o *outcome) bool { return o.redirect != "" }
func isEmpty(o *outcome) bool        { return o.empty }
func bySignpost(o *outcome) bool     { return o.signpost != nil }
func notBySignpost(o *outcome) bool  { return o.signpost == nil }
func hasUnsent(o *outcome) bool      { return len(o.unsent) > 0 }
func hasSent(o *outcome) bool        { return len(o.sent) > 0 }
func isNamed(o *outcome) bool        { return o.named }
func hasParams(o *outcome) bool      { return len(o.params) > 0 && !o.link }
func fromHostHeader(o *outcome) bool { return o.signpost.Header == "Host" }
func namesManifests(o *outcome) bool { return len(o.signpost.Manifests) > 0 }
func hostNotAllowed(o *outcome) bool { return o.signpost.Reason == refusedNotAllowed }
func hasBasePath(o *outcome) bool    { return o.base != "" }
func lacksBasePath(o *outcome) bool  { return !strings.HasPrefix(o.asked.Path, o.base+"/") }
func isMissing(o *outcome) bool      { return isNotFound(o) || o.empty }
func byCaddy(o *outcome) bool        { return strings.Contains(o.server, "Caddy") }

const loopHint = "the service takes the request for plain http, because TLS ends in front of it, and redirects to https: " +
	"make the proxy send X-Forwarded-Proto: https and the service trust it, " +
	"or let the proxy alone redirect, and only plain http"

// manifestCauses are the reasons why an address does not respond with a manifest, in the order of their consideration.
var manifestCauses = []cause{
	{"", (*outcome).isLoop, loopHint},
	{"", leadsElsewhere, "studios store the address that they are given: use the target, if it is the right one"},
	{causeHostReplaced, all((*outcome).hostReplaced, fromHostHeader),
		"Signpost got the host {host} in the header Host, not {asked}: the proxy in front of it does not pass the host on"},
	{"", (*outcome).hostReplaced,
		"Signpost got the host {host} in the header {header}, not {asked}: " +
			"make the proxy replace that header with the host that clients ask for"},
	{causeHostNotAllowed, all(bySignpost, hostNotAllowed), "configure the service to answer for this host"},
	{"", all(status(http.StatusMisdirectedRequest), notBySignpost),
		"configure the proxy and the service behind it to answer for this host"},
	{"", all(isNotFound, (*outcome).pathRewritten),
		"the path {path} arrived at Signpost, so the proxy in front of it rewrites the path: make it pass on the path as it is " +
			"(nginx: no path after the address in proxy_pass; Caddy: handle instead of handle_path)"},
	{"", all(bySignpost, namesManifests), "the manifests of this server are at: {manifests}"},
	{"", bySignpost, "{detail}"},
	{"", all(isNotFound, (*outcome).isManifestPath),
		"something other than Signpost answered, such as the feed service: " +
			"make the proxy send paths that end in /endpoints-manifest to Signpost; " +
			"a service that publishes its manifest itself has none at this path"},
	{"", isNotFound, "correct the path: a manifest is at {base_url}/v1/endpoints-manifest"},
	{"", status(http.StatusBadRequest),
		"check that the service is meant to be called by this host, " +
			"and that its port speaks https or plain http as the address says"},
	{"", isRefused, "studios send no credentials: make the manifest public"},
	{"", isServerError, "check that the service runs, and that the proxy in front of it reaches it; look at its log"},
	{"", always, "respond to every GET request with the manifest"},
}

const (
	validHint    = "check that the value for {sent} is still valid, and is the one that this endpoint expects"
	optionalHint = "it may need a key that the manifest declares as optional: {unsent}"
)

// feedCauses are the reasons why an endpoint does not respond with a feed, in the order of their consideration.
var feedCauses = []cause{
	{"", (*outcome).isLoop, loopHint},
	{"", isRedirect, "use the URL that it redirects to: clients do not send context keys after a redirect"},
	{"", bySignpost, "Signpost wrote this response, so the proxy sends the paths of feeds to it: " +
		"route only paths that end in /endpoints-manifest to Signpost, and all others to the feed service"},
	{causeBasePath, all(isMissing, hasBasePath, lacksBasePath),
		`the address of the manifest begins with "{base}", and the URL does not: the proxy strips it on the way to Signpost. ` +
			"Write {base} into the URLs of the definition; then set base_path: {base}, and make the proxy keep the prefix"},
	{causeBasePath, all(isNotFound, hasBasePath),
		`correct the URL in the definition or, if the proxy strips "{base}" from it on the way to the feed service, ` +
			"make it keep the prefix"},
	{"", all(isEmpty, byCaddy), "Caddy answers like this if none of its routes has the path: route it to the feed service"},
	{"", isEmpty, "send the feed; an empty JSON feed is an object with an empty list"},
	{causeOptionalValues, all(isRefused, hasUnsent, hasSent), validHint + "; " + optionalHint},
	{causeOptionalValues, all(isRefused, hasUnsent), optionalHint},
	{"", all(isRefused, hasSent), validHint},
	{"", isRefused, "apps would get this, too: " +
		"declare the context key that it needs, as the feature authentication does, or make it public"},
	{"", all(isNotFound, isNamed), "correct the feed that is given for it"},
	{causeNotFound, all(isNotFound, hasParams), "correct the URL in the definition, or the value for {params}"},
	{"", status(http.StatusNotFound, http.StatusGone), "correct the URL in the definition"},
	{"", status(http.StatusBadRequest, http.StatusUnprocessableEntity),
		"check whether it needs a parameter that the manifest does not declare, or rejects a default of its modifiers"},
	{"", status(http.StatusMethodNotAllowed), "check whether it is a post endpoint, and declare method post then"},
	{"", status(http.StatusTooManyRequests), "try again later"},
	{"", isServerError, "look at the service's log"},
	{"", always, "find out what the service means by it"},
}

// isLoop reports whether a redirect leads back to where it came from.
func (o *outcome) isLoop() bool {
	return o.asked != nil && o.redirect != "" && identity(o.redirect) == identity(o.asked.String())
}

// hostReplaced reports whether another host arrived at Signpost than the one that was asked for.
func (o *outcome) hostReplaced() bool {
	return o.asked != nil && bySignpost(o) && o.signpost.Header != "" && !host.Equal(o.signpost.Host, o.asked.Host)
}

// pathRewritten reports whether another path arrived at Signpost than the one that was asked for.
func (o *outcome) pathRewritten() bool {
	return o.asked != nil && bySignpost(o) && o.signpost.Path != "" && o.signpost.Path != o.asked.Path
}

func (o *outcome) isManifestPath() bool {
	if o.asked == nil {
		return false
	}
	_, _, ok := routes.Parse(o.asked.Path)
	return ok
}

// outcomeOf returns what is known about the response to the call of a feed.
func (p *probe) outcomeOf(answer *Answer) *outcome {
	o := &outcome{
		status: answer.Status, redirect: answer.Redirect, signpost: signpostProblem(answer.Status, answer.Body),
		server: answer.Header.Get("Server"), params: signpost.CutURL(p.endpoint.URL).Placeholders(),
		named: p.named, link: p.link != nil,
	}
	o.asked, _ = url.Parse(p.url) // it is that of a request
	for _, item := range p.endpoint.ContextObj {
		switch {
		case p.sent[item.Key] != nil:
			o.sent = append(o.sent, item.Key)
		case item.SentWith(p.endpoint.Method):
			o.unsent = append(o.unsent, item.Key)
		}
	}
	return o
}

// explainOutcome sets the hint of a call that got no feed, and the facts behind it.
func (p *probe) explainOutcome() {
	p.result.Cause, p.result.Hint = p.outcome.explain(feedCauses)
	switch p.result.Cause {
	case causeOptionalValues:
		p.result.ContextKeys = p.outcome.unsent
	case causeNotFound:
		p.result.Params = p.outcome.params
	}
}
