package client

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"signpost"
	"signpost/host"
	"signpost/internal/routes"
)

// problemBody is what Signpost writes in an error response. It says what arrived, so that a proxy that changes the request
// on its way is seen.
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

// cause is a reason for an outcome. Its name, if it has one, becomes Result.Cause.
type cause struct {
	name string
	is   func(*outcome) bool
	hint func(*outcome) string
}

// explain returns the first cause of a table that applies, and its hint. The last one of each table always does.
func (o *outcome) explain(causes []cause) (name, hint string) {
	i := slices.IndexFunc(causes, func(c cause) bool { return c.is(o) })
	return causes[i].name, causes[i].hint(o)
}

// status returns the condition that a response has one of some statuses.
func status(codes ...int) func(*outcome) bool {
	return func(o *outcome) bool { return slices.Contains(codes, o.status) }
}

// say returns a hint that is always the same.
func say(text string) func(*outcome) string { return func(*outcome) string { return text } }

var isRefused, isNotFound = status(http.StatusUnauthorized, http.StatusForbidden), status(http.StatusNotFound)

func always(*outcome) bool          { return true }
func isServerError(o *outcome) bool { return o.status >= 500 }
func bySignpost(o *outcome) bool    { return o.signpost != nil }

// redirectLoop is the usual reason for a redirect of a URL to itself.
var redirectLoop = cause{"", (*outcome).isLoop,
	say("the service takes the request for plain http, because TLS ends in front of it, and redirects to https: " +
		"make the proxy send X-Forwarded-Proto: https and the service trust it, or let the proxy alone redirect, and only plain http")}

// manifestCauses are the reasons why an address does not respond with a manifest, in the order in which they are considered.
var manifestCauses = []cause{
	redirectLoop,
	{"", func(o *outcome) bool { return o.redirect != "" },
		say("studios store the address that they are given: use the target, if it is the right one")},
	{causeHostReplaced, func(o *outcome) bool { return o.hostReplaced() && o.signpost.Header == "Host" }, func(o *outcome) string {
		return fmt.Sprintf("Signpost got the host %q in the header Host, not %s: the proxy in front of it does not pass the host on",
			o.signpost.Host, o.asked.Hostname())
	}},
	{"", (*outcome).hostReplaced, func(o *outcome) string {
		return fmt.Sprintf("Signpost got the host %q in the header %s, not %s: make the proxy replace that header with the host that clients ask for",
			o.signpost.Host, o.signpost.Header, o.asked.Hostname())
	}},
	{causeHostNotAllowed, func(o *outcome) bool { return bySignpost(o) && o.signpost.Reason == refusedNotAllowed },
		say("configure the service to answer for this host")},
	{"", func(o *outcome) bool { return o.status == http.StatusMisdirectedRequest && !bySignpost(o) },
		say("configure the proxy and the service behind it to answer for this host")},
	{"", func(o *outcome) bool { return isNotFound(o) && o.pathRewritten() }, func(o *outcome) string {
		return fmt.Sprintf("the path %q arrived at Signpost, so the proxy in front of it rewrites the path: make it pass on the path as it is "+
			"(nginx: no path after the address in proxy_pass; Caddy: handle instead of handle_path)", o.signpost.Path)
	}},
	{"", func(o *outcome) bool { return bySignpost(o) && len(o.signpost.Manifests) > 0 }, func(o *outcome) string {
		const maxNames = 5
		return "the manifests of this server are at: " + strings.Join(o.signpost.Manifests[:min(maxNames, len(o.signpost.Manifests))], ", ")
	}},
	{"", bySignpost, func(o *outcome) string { return o.signpost.Detail }},
	{"", func(o *outcome) bool { return isNotFound(o) && o.isManifestPath() },
		say("something other than Signpost answered, such as the feed service: make the proxy send paths that end in /endpoints-manifest to Signpost; " +
			"a service that publishes its manifest itself has none at this path")},
	{"", isNotFound, say("correct the path: a manifest is at {base_url}/v1/endpoints-manifest")},
	{"", status(http.StatusBadRequest),
		say("check that the service is meant to be called by this host, and that its port speaks https or plain http as the address says")},
	{"", isRefused, say("studios send no credentials: make the manifest public")},
	{"", isServerError, say("check that the service runs, and that the proxy in front of it reaches it; look at its log")},
	{"", always, say("respond to every GET request with the manifest")},
}

// feedCauses are the reasons why an endpoint does not respond with a feed, in the order in which they are considered.
var feedCauses = []cause{
	redirectLoop,
	{"", func(o *outcome) bool { return o.status/100 == 3 }, say("use the URL that it redirects to: clients do not send context keys after a redirect")},
	{"", bySignpost, say("Signpost wrote this response, so the proxy sends the paths of feeds to it: " +
		"route only paths that end in /endpoints-manifest to Signpost, and all others to the feed service")},
	{causeBasePath, func(o *outcome) bool {
		return (isNotFound(o) || o.empty) && o.base != "" && !strings.HasPrefix(o.asked.Path, o.base+"/")
	}, func(o *outcome) string {
		return fmt.Sprintf("the address of the manifest begins with %q, and the URL does not: the proxy strips it on the way to Signpost. "+
			"Write %[1]s into the URLs of the definition; then set base_path: %[1]s, and make the proxy keep the prefix", o.base)
	}},
	{causeBasePath, func(o *outcome) bool { return isNotFound(o) && o.base != "" }, func(o *outcome) string {
		return fmt.Sprintf("correct the URL in the definition or, if the proxy strips %q from it on the way to the feed service, make it keep the prefix", o.base)
	}},
	{"", func(o *outcome) bool { return o.empty && strings.Contains(o.server, "Caddy") },
		say("Caddy answers like this if none of its routes has the path: route it to the feed service")},
	{"", func(o *outcome) bool { return o.empty }, say("send the feed; an empty JSON feed is an object with an empty list")},
	{causeOptionalValues, func(o *outcome) bool { return isRefused(o) && len(o.unsent) > 0 }, func(o *outcome) string {
		hint := "it may need a key that the manifest declares as optional: " + strings.Join(o.unsent, ", ")
		if len(o.sent) > 0 {
			hint = o.stillValid() + "; " + hint
		}
		return hint
	}},
	{"", func(o *outcome) bool { return isRefused(o) && len(o.sent) > 0 }, (*outcome).stillValid},
	{"", isRefused, say("apps would get this, too: declare the context key that it needs, as the feature authentication does, or make it public")},
	{"", func(o *outcome) bool { return isNotFound(o) && o.named }, say("correct the feed that is given for it")},
	{causeNotFound, func(o *outcome) bool { return isNotFound(o) && len(o.params) > 0 && !o.link }, func(o *outcome) string {
		return "correct the URL in the definition, or the value for " + strings.Join(o.params, ", ")
	}},
	{"", status(http.StatusNotFound, http.StatusGone), say("correct the URL in the definition")},
	{"", status(http.StatusBadRequest, http.StatusUnprocessableEntity),
		say("check whether it needs a parameter that the manifest does not declare, or rejects a default of its modifiers")},
	{"", status(http.StatusMethodNotAllowed), say("check whether it is a post endpoint, and declare method post then")},
	{"", status(http.StatusTooManyRequests), say("try again later")},
	{"", isServerError, say("look at the service's log")},
	{"", always, say("find out what the service means by it")},
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

func (o *outcome) stillValid() string {
	return "check that the value for " + strings.Join(o.sent, ", ") + " is still valid, and is the one that this endpoint expects"
}

// outcome returns what is known about the response to the call of a feed.
func (p *probe) outcomeOf(answer *Answer) *outcome {
	o := &outcome{status: answer.Status, redirect: answer.Redirect, signpost: signpostProblem(answer.Status, answer.Body),
		server: answer.Header.Get("Server"), params: signpost.CutURL(p.endpoint.URL).Placeholders(), named: p.named, link: p.link != nil}
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
