package client

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"signpost"
	"signpost/host"
	"signpost/internal/foreign"
	"signpost/internal/routes"
	"signpost/internal/spell"
	"signpost/internal/warnings"
	"signpost/match"
)

// The checks follow in the order in which they run.

func (c *checker) checkHTTPS(context.Context) {
	if c.address.Scheme == "https" {
		c.add(Passed, "", "the address is https")
		return
	}
	r := c.add(Failed, "terminate TLS in the service, or in a reverse proxy in front of it",
		"the address is plain http: studios require https")
	r.Cause = causePlainHTTP
	if c.answer != nil && strings.HasPrefix(c.answer.Redirect, "https://") {
		r.Cause, r.Hint = "", "use the https address that it redirects to"
	}
	if host.IsLoopback(c.address.Host) {
		r.Status, r.Message = Warned, "the address is plain http, which only works on this machine: studios require https"
	}
}

func (c *checker) checkReachable(context.Context) {
	if p := Explain(c.err); c.answer == nil && !p.TLS {
		c.addProblem("", p)
		c.blocked = "no response"
	} else if c.forwardsManifest() {
		c.add(Passed, "", "%s answers for %s", c.opts.SendTo.Host, c.address.Host)
	} else {
		c.add(Passed, "", "%s answers", c.address.Host)
	}
}

func (c *checker) checkCertificate(context.Context) {
	switch {
	case c.answer == nil:
		c.addProblem("", Explain(c.err))
		c.blocked = "no secure connection"
	case c.forwardsManifest():
		c.add(Skipped, "", "requests are sent to %s instead", c.opts.SendTo)
	case c.address.Scheme == "http":
		c.add(Skipped, "", "plain http has no certificate")
	case c.answer.tls == nil || len(c.answer.tls.PeerCertificates) == 0: // a Transport that does not provide it
		c.add(Passed, "", "it is trusted")
	default:
		leaf := c.answer.tls.PeerCertificates[0]
		until := leaf.NotAfter.UTC().Format(time.DateOnly)
		if time.Until(leaf.NotAfter) < min(expiresSoon, leaf.NotAfter.Sub(leaf.NotBefore)/10) {
			c.add(Warned, "renew it, and find out why that has not happened yet", "it expires soon, on %s", until)
		} else {
			c.add(Passed, "", "it is valid until %s", until)
		}
	}
}

func (c *checker) checkRedirect(context.Context) {
	if c.answer.Redirect == "" {
		c.add(Passed, "", "no redirect")
		return
	}
	c.addProblem("", c.answer.problem())
	c.blocked = "the address redirects"
}

func (c *checker) checkStatus(ctx context.Context) {
	if c.answer.Status == http.StatusOK {
		c.add(Passed, "", "200 OK")
		return
	}
	p := c.answer.problem()
	missing := c.answer.Status == http.StatusNotFound && !strings.HasSuffix(c.address.Path, "/")
	if c.forwardsManifest() && c.answer.signpost == nil && missing {
		p.Hint = fmt.Sprintf("%s has no manifest at this path; if another server publishes it, "+
			"give the address with the port of that server: it is then fetched from there", c.opts.SendTo.Host)
	}
	if fresh := c.uncached(ctx); fresh.Status == http.StatusOK {
		p.Cause = ""
		p.Hint = "a cache in front of the service has an older response: a request that no cache knows gets 200 OK. " +
			"Purge it, and let it store no errors (nginx: no proxy_cache_valid for them)"
	}
	c.addProblem("", p)
	c.blocked = "the response is not a manifest"
}

func (c *checker) checkJSON(ctx context.Context) {
	const (
		look     = "look at what the service sends at this address"
		webPage  = "a web page answers, such as a sign-in or the start page of an app: correct the address, or " + routeHint
		sendJSON = "send Content-Type: application/json"
	)
	unreadable := func(hint, format string, args ...any) *Result {
		c.blocked = "the response is not JSON"
		return c.add(Failed, hint, format, args...)
	}
	contentType := c.answer.Header.Get("Content-Type")
	declared := mediaType(contentType)
	switch problem := Explain(c.err); {
	case errors.As(c.err, new(*encodingError)):
		unreadable(problem.Hint, "%s", problem.Message)
	case c.err != nil:
		unreadable(problem.Hint, "%s, after %d bytes", problem.Message, len(c.answer.Body)).Cause = problem.Cause
	case c.answer.Truncated:
		unreadable(look, "the response is larger than %d MiB, and may be endless", MaxSize>>20)
	case len(bytes.TrimSpace(c.answer.Body)) == 0:
		unreadable(look, "the response is empty")
	case !utf8.Valid(c.answer.Body):
		unreadable("send UTF-8, as JSON requires",
			"the response is not UTF-8 text; its Content-Type is %s", quoteOrNone(contentType))
	case !json.Valid(c.answer.Body):
		why := notJSON(c.answer.Body)
		unreadable(cmp.Or(why.Hint, webPage),
			"the response is not JSON: %s; its Content-Type is %s", why.Message, quoteOrNone(declared))
	}
	if c.blocked != "" {
		return
	}
	before := len(c.results)
	c.compareEncodings(ctx)
	switch {
	case declared == "":
		c.add(Warned, c.remedy("Content-Type", sendJSON),
			"the response has no Content-Type: clients have to guess that it is JSON")
	case !isJSON(declared):
		c.add(Failed, c.remedy("Content-Type", sendJSON), "the response is JSON, but its Content-Type is %q: "+
			"clients that rely on it reject the manifest", declared)
	case len(c.results) == before:
		c.add(Passed, "", "%s, %d bytes", declared, len(c.answer.Body))
	}
}

// remedy returns what to do about a missing header: the hint, which is for the service, or something about a proxy if
// Signpost itself published the manifest, because then the service does what the hint says.
func (c *checker) remedy(header, hint string) string {
	if c.answer.Header.Get("Signpost-Revision") == "" {
		return hint
	}
	return "Signpost published this manifest, so a proxy in front of it removes or replaces the header: " +
		"make it pass on " + header
}

// notJSON says why a body is not JSON, and what to do about it, unless it is a web page: then the hint is empty.
func notJSON(body []byte) Problem {
	_, err := decodeJSON(body)
	switch {
	case bytes.HasPrefix(body, []byte("\ufeff")):
		return Problem{Message: "it begins with a byte order mark", Hint: "remove the mark: JSON has none"}
	case !utf8.Valid(body):
		return Problem{Message: "it is not UTF-8 text", Hint: "send UTF-8, as JSON requires"}
	case bytes.HasPrefix(bytes.TrimSpace(body), []byte("<")):
		return Problem{Message: "it is HTML or XML"}
	case errors.Is(err, io.ErrUnexpectedEOF):
		return Problem{Message: "it ends too early, after " + spell.Count(len(body), "byte"), Hint: cutOffHint}
	case err == nil:
		return Problem{Message: "more follows after a JSON value", Hint: "look at what is sent"}
	}
	return Problem{Message: err.Error(), Hint: "look at what is sent"}
}

func (c *checker) checkManifest(context.Context) {
	before := len(c.results)
	if isSomethingElse(c.answer.Body) {
		c.add(Failed, "something else is sent, such as a feed or an error: correct the address, or "+routeHint,
			"the response is JSON, but not a manifest: it has no endpoints")
		return
	}
	m, err := ReadManifest(c.answer.Body)
	var findings []signpost.Finding
	if c.opts.Lint != nil {
		var readable signpost.Manifest
		readable, findings = c.opts.Lint(c.answer.Body)
		if err != nil && len(readable.Endpoints) > 0 {
			m, err = readable, nil
		}
	} else if err == nil {
		overlaps := match.Overlaps([]signpost.Version{{Manifest: m}}, nil)[0]
		mistakes := m.Validate()
		findings = slices.Concat(mistakes, warnings.Published(m, c.ownHosts, mistakes), overlaps)
	}
	for _, f := range findings {
		switch {
		case err != nil:
			c.addFinding(f)
		case !isSent(f, m):
			c.addFinding(foreign.Finding(f))
		}
	}
	if err != nil {
		if len(c.results) == before {
			c.add(Failed, "compare it with what the service is meant to publish", "%v", err)
		}
		return
	}
	foreign.Methods(m.Endpoints)
	c.register(m)
	c.warnOfVersions()
	switch {
	case len(m.Endpoints) == 0:
		c.add(Warned, "check that the right definition is published",
			"it has no endpoints: a studio would fill in nothing")
	case len(c.results) == before:
		c.add(Passed, "", "%s, no findings", spell.Count(len(m.Endpoints), "endpoint"))
	}
}

// isSent reports whether a finding is about the type of a context item that the specification does not know, and apps
// do. The probes send such items.
func isSent(f signpost.Finding, m signpost.Manifest) bool {
	if f.Rule != signpost.RuleContextType || len(f.Path) < 3 {
		return false
	}
	i, _ := f.Path[2].(signpost.Item)
	for _, e := range m.Endpoints {
		if e.URL == f.Path.Endpoint() && int(i) < len(e.ContextObj) {
			return e.ContextObj[i].Place() != ""
		}
	}
	return false
}

// isSomethingElse reports whether a JSON document is null, or an object that is not even meant as a manifest.
func isSomethingElse(body []byte) bool {
	var document map[string]json.RawMessage
	if err := json.Unmarshal(body, &document); err != nil {
		return false
	}
	names := slices.Sorted(maps.Keys(document))
	return !slices.Contains(names, "endpoints") && spell.Nearest("endpoints", names) == ""
}

func (c *checker) addFinding(f signpost.Finding) {
	at := ""
	if f.Line > 0 && f.Path.Endpoint() == "" { // a manifest is one long line, so the endpoint is the better location
		at = fmt.Sprintf("line %d, column %d: ", f.Line, f.Column)
	}
	status := Warned
	if f.Severity == signpost.SeverityError {
		status = Failed
	}
	r := c.add(status, cmp.Or(f.Hint, "docs/rules.md explains the rule "+f.Rule), "%s%s [%s]", at, f.Message, f.Rule)
	r.Endpoint, r.Rule = f.Path.Endpoint(), f.Rule
}

// warnOfVersions reports URLs of another API version than that of the address. This is a warning, because the other
// versions of the service are unknown.
func (c *checker) warnOfVersions() {
	_, version, ok := routes.Parse(c.address.Path)
	if !ok {
		return
	}
	for _, t := range c.targets {
		named := routes.VersionIn(t.url)
		if named != "" && t.own && !slices.Contains(strings.Split(t.url.Path(), "/"), version) {
			r := c.add(Warned, "each version has a manifest of its own, which lists only the URLs of that version",
				"%q belongs to %s, but this is the manifest of %s [version-mismatch]", t.URL, named, version)
			r.Endpoint, r.Rule = t.URL, "version-mismatch"
		}
	}
}

func (c *checker) checkHost(ctx context.Context) {
	if len(c.targets) == 0 {
		c.add(Skipped, "", "the manifest has no URLs")
		return
	}
	var unresolved []string
	own, all, hostname := 0, len(c.targets), ""
	for _, t := range c.targets {
		if strings.Contains(t.URL, signpost.HostPlaceholder) {
			unresolved = append(unresolved, t.URL)
		}
		if t.own {
			own++
		}
		hostname = cmp.Or(hostname, t.url.Hostname())
	}
	switch {
	case len(unresolved) > 0:
		c.add(Failed, "the definition itself is served: "+
			"replace {{host}} with the host of each request, as signpost serve does",
			"{{host}} is not replaced in %s, such as %q", spell.Count(len(unresolved), "URL"), unresolved[0])
	case hostname == "":
		c.add(Skipped, "", "no URL of the manifest has a host")
	case own == all:
		c.add(Passed, "", "the URLs are on %s", c.host)
	case own > 0:
		c.add(Passed, "", "%d of %s are on %s", own, spell.Count(all, "URL"), c.host)
	default:
		const hint = "the service does not see the host that it is called by, or is configured to write another one: " +
			"a proxy in front of it must pass the Host header on"
		r := c.add(Failed, hint, "none of %s is on %s: apps would call another host, such as %s",
			spell.Count(all, "URL"), c.host, hostname)
		r.Cause = causeWrongHost
		if c.isCached(ctx) {
			r.Cause, r.Hint = "", "a cache in front of the service has the manifest of another host: "+
				"make the host a part of its keys (nginx: proxy_cache_key $scheme$host$uri)"
		}
	}
}

// isCached reports whether a cache answered with the manifest of another host: a request that no cache knows gets URLs
// on this one.
func (c *checker) isCached(ctx context.Context) bool {
	m, err := ReadManifest(c.uncached(ctx).Body)
	if err != nil {
		return false
	}
	for u := range m.All() {
		if c.ownHosts.Owns(u) {
			return true
		}
	}
	return false
}

const doubledHint = "make sure that the header is set by either the proxy or the service, not both"

func (c *checker) checkCORS(ctx context.Context) {
	const (
		onlyBrowsers = "a studio that runs in a browser cannot read the manifest; others can"
		hint         = "send Access-Control-Allow-Origin: *, as signpost serve does"
	)
	answer, err := c.get(ctx, c.address, "Origin", studioOrigin)
	if err != nil {
		c.addProblem("with an Origin header: ", Explain(err))
		return
	}
	origins := answer.Header.Values("Access-Control-Allow-Origin")
	allowed := strings.Join(origins, ", ")
	reflected, vary := allowed == studioOrigin, listed(answer.Header, "Vary")
	switch {
	case answer.Status != http.StatusOK:
		c.add(Failed, statusHint(answer.Status, "answer requests with an Origin header like any other"),
			"with an Origin header, the response is %s", statusText(answer.Status))
	case len(origins) == 0:
		c.add(Warned, c.remedy("Access-Control-Allow-Origin, which Signpost sends unless it is configured not to", hint),
			"no Access-Control-Allow-Origin header: %s", onlyBrowsers)
	case strings.ContainsAny(allowed, ", "):
		c.add(Failed, doubledHint,
			"Access-Control-Allow-Origin has more than one value, which browsers reject: %q", allowed)
	case reflected && !slices.Contains(vary, "*") && !slices.Contains(vary, "origin"):
		c.add(Warned, "send Vary: Origin or, simpler, Access-Control-Allow-Origin: *",
			"the allowed origin is that of the request, without Vary: Origin: a cache would send it to other origins")
	case allowed == "*" || reflected:
		c.add(Passed, "", "pages of every origin can read it")
	default:
		c.add(Passed, "", "pages of %q can read it", allowed)
	}
}

func (c *checker) checkETag(ctx context.Context) {
	const (
		hint     = "answer 304 when If-None-Match has the current ETag, as signpost serve does"
		otherTag = `"signpost-check"` // which no manifest has
	)
	tag := c.answer.Header.Get("ETag")
	if tag == "" {
		c.add(Warned, c.remedy("ETag", "send an ETag, and "+hint), "no ETag header: the manifest is sent in full each time")
		return
	}
	answer, err := c.get(ctx, c.address, "If-None-Match", tag)
	honoured := err == nil && answer.Status == http.StatusNotModified
	if honoured {
		answer, err = c.get(ctx, c.address, "If-None-Match", otherTag)
	}
	switch {
	case err != nil:
		c.addProblem("with If-None-Match: ", Explain(err))
	case honoured && answer.Status == http.StatusNotModified:
		c.add(Failed, "compare If-None-Match with the ETag: otherwise a studio never sees a change",
			"If-None-Match with another ETag gets 304")
	case answer.Status != http.StatusOK:
		c.add(Failed, statusHint(answer.Status, hint), "with If-None-Match, the response is %s", statusText(answer.Status))
	case honoured:
		c.add(Passed, "", "If-None-Match with the current ETag gets 304")
	case answer.Header.Get("ETag") != tag:
		c.add(Warned, "make it a hash of the manifest, "+
			"so that it is the same on every replica and changes only with the manifest",
			"the ETag was %s and is %s now", tag, cmp.Or(answer.Header.Get("ETag"), "missing"))
	default:
		c.add(Warned, c.remedy("If-None-Match", hint)+"; nginx drops If-None-Match where proxy_cache is on",
			"If-None-Match with the current ETag gets 200 OK and the manifest in full")
	}
}

// mediaType returns the media type of a Content-Type, without its parameters, or "".
func mediaType(contentType string) string {
	name, _, _ := strings.Cut(contentType, ";")
	return strings.ToLower(strings.TrimSpace(name))
}

// isJSON reports whether a media type is JSON, such as application/json or application/feed+json.
func isJSON(mediaType string) bool {
	return mediaType == signpost.MIMEJSON || strings.HasSuffix(mediaType, "+json")
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
