package client

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"mime"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"signpost"
	"signpost/host"
	"signpost/internal/foreign"
	"signpost/internal/httpurl"
	"signpost/internal/routes"
	"signpost/internal/spell"
	"signpost/match"
)

// The checks follow in the order in which they run. Each adds its results and reports whether the next ones make sense.

func (c *checker) checkHTTPS(context.Context) bool {
	const hint = "terminate TLS in the service, or in a reverse proxy in front of it"
	switch {
	case c.address.Scheme == "https":
		c.add(httpsCheck, Passed, "", "the address is https")
	case host.IsLoopback(c.address.Host):
		c.add(httpsCheck, Warned, hint, "the address is plain http, which only works on this machine: studios require https").Cause = causePlainHTTP
	default:
		c.add(httpsCheck, Failed, hint, "the address is plain http: studios require https").Cause = causePlainHTTP
	}
	return true
}

func (c *checker) checkReachable(context.Context) bool {
	if p := Explain(c.err); c.res == nil && !p.TLS {
		c.addProblem(reachableCheck, "", p)
		return false
	}
	if c.forwardsManifest() {
		c.add(reachableCheck, Passed, "", "%s answers for %s", c.opts.SendTo.Host, c.address.Host)
	} else {
		c.add(reachableCheck, Passed, "", "%s answers", c.address.Host)
	}
	return true
}

func (c *checker) checkCertificate(context.Context) bool {
	switch {
	case c.res == nil:
		c.addProblem(certificateCheck, "", Explain(c.err))
		return false
	case c.forwardsManifest():
		c.add(certificateCheck, Skipped, "", "requests are sent to %s instead", c.opts.SendTo)
	case c.address.Scheme == "http":
		c.add(certificateCheck, Skipped, "", "plain http has no certificate")
	case c.res.TLS == nil || len(c.res.TLS.PeerCertificates) == 0: // a Transport that does not provide it
		c.add(certificateCheck, Passed, "", "it is trusted")
	default:
		leaf := c.res.TLS.PeerCertificates[0]
		until := leaf.NotAfter.UTC().Format(time.DateOnly)
		if time.Until(leaf.NotAfter) < min(expiresSoon, leaf.NotAfter.Sub(leaf.NotBefore)/10) {
			c.add(certificateCheck, Warned, "renew it, and find out why that has not happened yet", "it expires soon, on %s", until)
		} else {
			c.add(certificateCheck, Passed, "", "it is valid until %s", until)
		}
	}
	return true
}

func (c *checker) checkRedirect(context.Context) bool {
	if c.res.StatusCode/100 != 3 {
		c.add(redirectCheck, Passed, "", "no redirect")
		return true
	}
	target, err := c.res.Location()
	if err != nil {
		c.add(redirectCheck, Failed, "send the manifest itself", "the response is %s, without a Location", statusText(c.res.StatusCode))
		return false
	}
	shown := httpurl.Redacted(target.String()) // services repeat the query
	c.add(redirectCheck, Failed, fmt.Sprintf("studios store the address that they are given: register %s, if that is the right one", shown),
		"the address redirects to %q", shown)
	return false
}

func (c *checker) checkStatus(context.Context) bool {
	if c.res.StatusCode == http.StatusOK {
		c.add(statusCheck, Passed, "", "200 OK")
		return true
	}
	r := c.add(statusCheck, Failed, c.statusHint(), "the response is %s, not 200 OK", statusText(c.res.StatusCode))
	if c.res.StatusCode == http.StatusMisdirectedRequest {
		r.Cause = causeHostNotAllowed
	}
	return false
}

// statusHint returns the hint for a response that is not 200. Signpost itself lists its manifests.
func (c *checker) statusHint() string {
	if manifests := listedManifests(c.res.StatusCode, c.body); len(manifests) > 0 {
		return "the manifests of this server are at: " + strings.Join(manifests[:min(maxNames, len(manifests))], ", ")
	}
	return manifestHint(c.res.StatusCode)
}

// listedManifests returns the manifests that Signpost lists in a 404 that it writes itself.
func listedManifests(status int, body []byte) []string {
	var problem struct {
		Manifests []string `json:"manifests"`
	}
	if status != http.StatusNotFound || json.Unmarshal(body, &problem) != nil {
		return nil
	}
	return problem.Manifests
}

// manifestHint returns the hint for the status of a manifest response.
func manifestHint(code int) string {
	switch {
	case code == http.StatusNotFound:
		return "correct the path: a manifest is at {base_url}/v1/endpoints-manifest"
	case code == http.StatusBadRequest:
		return "check that the service is meant to be called by this host, and that its port speaks https or plain http as the address says"
	case code == http.StatusUnauthorized || code == http.StatusForbidden:
		return "studios send no credentials: make the manifest public"
	case code == http.StatusMisdirectedRequest:
		return "configure the service to answer for this host"
	case code == http.StatusBadGateway || code == http.StatusServiceUnavailable || code == http.StatusGatewayTimeout:
		return "check that the service runs, and that the proxy in front of it reaches it"
	case code >= 500:
		return "look at the service's log"
	}
	return "respond to every GET request with the manifest"
}

func (c *checker) checkJSON(context.Context) bool {
	const (
		wrongPlace = "make sure that this is the address of the manifest, not of a web page or a sign-in in front of it"
		sendJSON   = "send Content-Type: application/json"
	)
	declared := mediaType(c.res.Header.Get("Content-Type"))
	if p := c.unreadable(); p.Message != "" {
		c.addProblem(jsonCheck, "", p)
		return false
	}
	switch err := json.Unmarshal(c.body, new(json.RawMessage)); {
	case err != nil && looksLikeHTML(c.body):
		c.add(jsonCheck, Failed, wrongPlace, "the response is HTML, not JSON; its Content-Type is %s", quoteOrNone(declared))
		return false
	case err != nil:
		c.add(jsonCheck, Failed, wrongPlace, "the response is not JSON: %v; its Content-Type is %s", err, quoteOrNone(declared))
		return false
	case declared == "":
		c.add(jsonCheck, Warned, sendJSON, "the response has no Content-Type: clients have to guess that it is JSON")
	case !isJSON(declared):
		c.add(jsonCheck, Failed, sendJSON, "the response is JSON, but its Content-Type is %q: clients that rely on it reject the manifest", declared)
	default:
		c.add(jsonCheck, Passed, "", "%s, %d bytes", declared, len(c.body))
	}
	return true
}

// unreadable says why a response need not be parsed.
func (c *checker) unreadable() Problem {
	const look = "look at what the service sends at this address"
	switch p := Explain(c.err); {
	case c.err != nil:
		p.Message += fmt.Sprintf(", after %d bytes", len(c.body))
		return p
	case len(c.body) > MaxSize:
		return Problem{Message: fmt.Sprintf("the response is larger than %d MiB, and may be endless", MaxSize>>20), Hint: look}
	case len(bytes.TrimSpace(c.body)) == 0:
		return Problem{Message: "the response is empty", Hint: look}
	case bytes.HasPrefix(c.body, []byte("\ufeff")):
		return Problem{Message: "the response begins with a byte order mark", Hint: "remove it: JSON has none"}
	}
	return Problem{}
}

func (c *checker) checkManifest(context.Context) bool {
	before := len(c.results)
	m, err := ReadManifest(c.body)
	var findings []signpost.Finding
	if c.opts.Lint != nil {
		var readable signpost.Manifest
		if readable, findings = c.opts.Lint(c.body); err != nil && len(readable.Endpoints) > 0 {
			m, err = readable, nil
		}
	} else if err == nil {
		own, _ := host.Parse(c.address.Host) // already validated by ParseAddress
		findings = slices.Concat(m.Validate(), m.OwnWarnings(signpost.Deployment{Host: own}), match.Overlaps([]signpost.Version{{Manifest: m}}, nil)[0])
	}
	for _, f := range findings {
		if err == nil {
			f = foreign.Finding(f)
		}
		c.addFinding(f)
	}
	if err != nil {
		if len(c.results) == before {
			c.add(manifestCheck, Failed, "compare it with what the service is meant to publish", "%v", err)
		}
		return true
	}
	foreign.Methods(m.Endpoints)
	c.manifest = &m
	c.warnOfVersions()
	switch {
	case len(m.Endpoints) == 0:
		c.add(manifestCheck, Warned, "check that the right definition is published", "it has no endpoints: a studio would fill in nothing")
	case len(c.results) == before:
		c.add(manifestCheck, Passed, "", "%s, no findings", spell.Count(len(m.Endpoints), "endpoint"))
	}
	return true
}

// addFinding adds a finding about the manifest.
func (c *checker) addFinding(f signpost.Finding) {
	r := Result{Check: manifestCheck, Status: Warned, Message: f.Message + " [" + f.Rule + "]",
		Hint: cmp.Or(f.Hint, "docs/rules.md explains the rule "+f.Rule), Rule: f.Rule}
	r.Endpoint = f.Path.Endpoint()
	if f.Severity == signpost.SeverityError {
		r.Status = Failed
	}
	if f.Line > 0 && r.Endpoint == "" { // a manifest is one long line, so the endpoint is the better location
		r.Message = fmt.Sprintf("line %d, column %d: %s", f.Line, f.Column, r.Message)
	}
	c.results = append(c.results, r)
}

// warnOfVersions reports URLs of another API version than that of the address. This is a warning, because the other
// versions of the service are unknown.
func (c *checker) warnOfVersions() {
	_, version, ok := routes.Parse(c.address.Path)
	if !ok {
		return
	}
	for _, e := range c.manifest.Endpoints {
		segments := strings.Split(signpost.CutURL(e.URL).Path(), "/")
		i := slices.IndexFunc(segments, routes.ValidVersion)
		if i >= 0 && c.owns(e.URL) && !slices.Contains(segments, version) {
			c.results = append(c.results, Result{Check: manifestCheck, Status: Warned, Endpoint: e.URL,
				Message: fmt.Sprintf("%q belongs to %s, but this is the manifest of %s [version-mismatch]", e.URL, segments[i], version),
				Hint:    "each version has a manifest of its own, which lists only the URLs of that version", Rule: "version-mismatch"})
		}
	}
}

// owns reports whether the URL of an endpoint is on the host of the address.
func (c *checker) owns(endpointURL string) bool {
	u, err := url.Parse(endpointURL)
	return err == nil && c.onOwnHost(u)
}

func (c *checker) checkHost(context.Context) bool {
	if c.manifest == nil || len(c.manifest.Endpoints) == 0 {
		c.add(hostCheck, Skipped, "", "the manifest has no URLs")
		return true
	}
	asked, _ := host.Parse(c.address.Host) // already validated by ParseAddress
	var open []string
	counts, most := make(map[string]int), ""
	ours, all := 0, len(c.manifest.Endpoints)
	for _, e := range c.manifest.Endpoints {
		if strings.Contains(e.URL, signpost.HostPlaceholder) {
			open = append(open, e.URL)
			continue
		}
		name, err := host.Parse(signpost.CutURL(e.URL).Hostname())
		if err != nil {
			continue // reported by a finding
		}
		if name == asked || strings.HasSuffix(name, "."+asked) { // for example https://media.{{host}}/
			ours++
		}
		if counts[name]++; counts[name] > counts[most] {
			most = name
		}
	}
	switch {
	case len(open) > 0:
		c.add(hostCheck, Failed, "the definition itself is served: replace {{host}} with the host of each request, as signpost serve does",
			"{{host}} is not replaced in %s, such as %q", spell.Count(len(open), "URL"), open[0])
	case ours == all:
		c.add(hostCheck, Passed, "", "the URLs are on %s%s", asked, c.portNote())
	case ours > 0:
		c.add(hostCheck, Passed, "", "%d of %s are on %s%s", ours, spell.Count(all, "URL"), asked, c.portNote())
	case counts[most]*2 > all:
		c.add(hostCheck, Failed, hostHint, "no URL is on %s, but %d of %s on %s: apps would call that host", asked, counts[most], spell.Count(all, "URL"), most).Cause = causeWrongHost
	default:
		c.add(hostCheck, Warned, hostHint, "no URL is on %s", asked).Cause = causeWrongHost
	}
	return true
}

// portNote mentions a port that the URLs lack, because {{host}} never includes one.
func (c *checker) portNote() string {
	onPort := func(e signpost.Endpoint) bool {
		u, err := url.Parse(e.URL)
		return err == nil && u.Port() == c.address.Port()
	}
	if c.address.Port() == "" || slices.ContainsFunc(c.manifest.Endpoints, onPort) {
		return ""
	}
	return fmt.Sprintf(", without the port %s of the address", c.address.Port())
}

// hostHint is the hint for a manifest with the wrong host: there is almost always a proxy in front of the service.
const hostHint = "the service does not see the host that it is called by: make the proxy in front of it pass the Host header on"

func (c *checker) checkCORS(ctx context.Context) bool {
	const (
		onlyBrowsers = "a studio that runs in a browser cannot read the manifest; others can"
		hint         = "send Access-Control-Allow-Origin: *, as signpost serve does"
	)
	res, _, err := c.get(ctx, map[string]string{"Origin": studioOrigin})
	if err != nil {
		c.addProblem(corsCheck, "with an Origin header: ", Explain(err))
		return true
	}
	origins := res.Header.Values("Access-Control-Allow-Origin")
	credentials := res.Header.Get("Access-Control-Allow-Credentials") == "true"
	allowed := strings.Join(origins, ", ")
	reflected := allowed == studioOrigin
	switch {
	case res.StatusCode != http.StatusOK:
		c.add(corsCheck, Failed, "answer requests with an Origin header like any other", "with an Origin header, the response is %s", statusText(res.StatusCode))
	case len(origins) == 0:
		c.add(corsCheck, Warned, hint, "no Access-Control-Allow-Origin header: %s", onlyBrowsers)
	case strings.ContainsAny(allowed, ", "):
		c.add(corsCheck, Failed, "make sure that the header is set by either the proxy or the service, not both",
			"Access-Control-Allow-Origin has more than one value, which browsers reject: %q", allowed)
	case credentials && allowed == "*":
		c.add(corsCheck, Warned, "remove Access-Control-Allow-Credentials", "credentials are allowed for every origin, which browsers reject")
	case credentials && reflected:
		c.add(corsCheck, Warned, "remove Access-Control-Allow-Credentials: a manifest needs none",
			"pages of every origin can read it with the visitor's credentials")
	case reflected && !variesByOrigin(res.Header):
		c.add(corsCheck, Warned, "send Vary: Origin or, simpler, Access-Control-Allow-Origin: *",
			"the allowed origin is that of the request, without Vary: Origin: a cache would send it to other origins")
	case allowed == "*" || reflected:
		c.add(corsCheck, Passed, "", "pages of every origin can read it")
	default:
		c.add(corsCheck, Passed, "", "pages of %q can read it", allowed)
	}
	return true
}

func variesByOrigin(h http.Header) bool {
	for name := range strings.SplitSeq(strings.Join(h.Values("Vary"), ","), ",") {
		if name = strings.TrimSpace(name); name == "*" || strings.EqualFold(name, "Origin") {
			return true
		}
	}
	return false
}

func (c *checker) checkETag(ctx context.Context) bool {
	const hint = "answer 304 when If-None-Match has the current ETag, as signpost serve does"
	tag := c.res.Header.Get("ETag")
	if tag == "" {
		c.add(etagCheck, Warned, hint, "no ETag header: the manifest is sent in full each time")
		return true
	}
	for _, ask := range []string{tag, otherTag} {
		res, _, err := c.get(ctx, map[string]string{"If-None-Match": ask})
		switch {
		case err != nil:
			c.addProblem(etagCheck, "with If-None-Match: ", Explain(err))
		case ask == tag && res.StatusCode == http.StatusNotModified:
			continue
		case ask == tag && res.StatusCode == http.StatusOK && res.Header.Get("ETag") != tag:
			c.add(etagCheck, Warned, "make it a hash of the manifest, so that it is the same on every replica and changes only with the manifest",
				"the ETag was %s and is %s now", quoteOrNone(tag), quoteOrNone(res.Header.Get("ETag")))
		case ask == tag && res.StatusCode == http.StatusOK:
			c.add(etagCheck, Warned, hint, "If-None-Match with the current ETag gets 200 OK and the manifest in full")
		case ask == otherTag && res.StatusCode == http.StatusOK:
			c.add(etagCheck, Passed, "", "If-None-Match with the current ETag gets 304")
		case res.StatusCode == http.StatusNotModified:
			c.add(etagCheck, Failed, "compare If-None-Match with the ETag: otherwise a studio never sees a change", "If-None-Match with another ETag gets 304")
		default:
			c.add(etagCheck, Failed, hint, "with If-None-Match, the response is %s", statusText(res.StatusCode))
		}
		return true
	}
	return true
}

// mediaType returns the media type of a Content-Type, without its parameters, or "".
func mediaType(contentType string) string {
	name, _, _ := strings.Cut(contentType, ";")
	if parsed, _, err := mime.ParseMediaType(contentType); err == nil {
		name = parsed
	}
	return strings.ToLower(strings.TrimSpace(name))
}

// isJSON reports whether a media type is JSON, such as application/json or application/feed+json.
func isJSON(mediaType string) bool {
	return mediaType == signpost.MIMEJSON || strings.HasSuffix(mediaType, "+json")
}

func looksLikeHTML(body []byte) bool {
	return bytes.HasPrefix(bytes.TrimSpace(bytes.TrimPrefix(body, []byte("\ufeff"))), []byte("<"))
}

func quoteOrNone(s string) string {
	if s == "" {
		return "missing"
	}
	return fmt.Sprintf("%q", s)
}

func statusText(code int) string {
	return strings.TrimSpace(fmt.Sprintf("%d %s", code, http.StatusText(code)))
}
