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
	"signpost/internal/routes"
)

// The checks follow in the order of their run. Each says what it found, and reports whether there is a point in going on.

func (c *checker) checkHTTPS(context.Context) bool {
	const hint = "signpost serve speaks https with --tls-cert and --tls-key or with --acme-domain; or put a server in front that does"
	switch {
	case c.address.Scheme == "https":
		c.add(CheckHTTPS, Passed, "", "the address is https")
	case host.IsLoopback(c.address.Host):
		c.add(CheckHTTPS, Warned, hint, "the address is plain http, which will do on this machine only: the studio takes https")
	default:
		c.add(CheckHTTPS, Failed, hint, "the address is plain http: the studio takes https")
	}
	return true
}

func (c *checker) checkReachable(context.Context) bool {
	if p := explain(c.err, c.opts.Timeout); c.res == nil && !p.tls {
		c.add(CheckReachable, Failed, p.hint, "%s", p.message)
		return false
	}
	c.add(CheckReachable, Passed, "", "%s answers", c.address.Host)
	return true
}

func (c *checker) checkCertificate(context.Context) bool {
	switch {
	case c.res == nil:
		p := explain(c.err, c.opts.Timeout)
		c.add(CheckCertificate, Failed, p.hint, "%s", p.message)
		return false
	case c.address.Scheme == "http":
		c.add(CheckCertificate, Skipped, "", "plain http has none")
	case c.res.TLS == nil || len(c.res.TLS.PeerCertificates) == 0: // a Transport that does not tell
		c.add(CheckCertificate, Passed, "", "it is trusted")
	default:
		leaf := c.res.TLS.PeerCertificates[0]
		until := leaf.NotAfter.UTC().Format(time.DateOnly)
		if time.Until(leaf.NotAfter) < min(expiresSoon, leaf.NotAfter.Sub(leaf.NotBefore)/10) {
			c.add(CheckCertificate, Warned, "renew it, and see why that has not been done", "it is valid until %s only", until)
		} else {
			c.add(CheckCertificate, Passed, "", "it is valid until %s", until)
		}
	}
	return true
}

func (c *checker) checkRedirect(context.Context) bool {
	if c.res.StatusCode/100 != 3 {
		c.add(CheckRedirect, Passed, "", "there is none")
		return true
	}
	target, err := c.res.Location()
	if err != nil {
		c.add(CheckRedirect, Failed, "send the manifest itself", "the answer is %s, and does not say where to", statusText(c.res.StatusCode))
		return false
	}
	c.add(CheckRedirect, Failed, fmt.Sprintf("the studio stores the address that it is given: give it %s, if that is the right one", target),
		"the address redirects to %q", target)
	return false
}

func (c *checker) checkStatus(context.Context) bool {
	if c.res.StatusCode == http.StatusOK {
		c.add(CheckStatus, Passed, "", "200 OK")
		return true
	}
	c.add(CheckStatus, Failed, c.statusHint(), "the answer is %s, not 200 OK", statusText(c.res.StatusCode))
	return false
}

// statusHint says what to do about an answer that is not 200. Signpost itself says where its manifests are.
func (c *checker) statusHint() string {
	var problem struct {
		Manifests []string `json:"manifests"`
	}
	switch code := c.res.StatusCode; {
	case code == http.StatusNotFound && json.Unmarshal(c.body, &problem) == nil && len(problem.Manifests) > 0:
		return "the manifests of this server are at: " + strings.Join(problem.Manifests[:min(maxNames, len(problem.Manifests))], ", ")
	case code == http.StatusNotFound:
		return "a manifest is at {base_url}/v1/endpoints-manifest: correct the path"
	case code == http.StatusBadRequest:
		return fmt.Sprintf("see whether the service is meant to be called as %s, and whether its port speaks https or plain http", c.address.Host)
	case code == http.StatusUnauthorized || code == http.StatusForbidden:
		return "the studio sends no credentials: let everybody read the manifest"
	case code == http.StatusMisdirectedRequest:
		return fmt.Sprintf("let the service answer for this host: signpost serve --allowed-host %s", c.address.Hostname())
	case code == http.StatusBadGateway || code == http.StatusServiceUnavailable || code == http.StatusGatewayTimeout:
		return "see whether the service runs, and whether what stands in front of it finds it"
	case code >= 500:
		return "the log of the service may say why"
	}
	return "the manifest must be there for everyone who asks with GET"
}

func (c *checker) checkJSON(context.Context) bool {
	const (
		wrongPlace = "make sure that the address is that of the manifest, and not of a page or a sign-in in front of it"
		sendJSON   = "send Content-Type: application/json"
	)
	declared := mediaType(c.res.Header.Get("Content-Type"))
	if message, hint := c.unreadable(); message != "" {
		c.add(CheckJSON, Failed, hint, "%s", message)
		return false
	}
	switch err := json.Unmarshal(c.body, new(json.RawMessage)); {
	case err != nil && looksLikeHTML(c.body):
		c.add(CheckJSON, Failed, wrongPlace, "the answer is HTML, and not JSON; its Content-Type is %s", quoteOrNone(declared))
		return false
	case err != nil:
		c.add(CheckJSON, Failed, wrongPlace, "the answer is not JSON: %v; its Content-Type is %s", err, quoteOrNone(declared))
		return false
	case declared == "":
		c.add(CheckJSON, Warned, sendJSON, "the answer has no Content-Type: clients have to guess that it is JSON")
	case !isJSON(declared):
		c.add(CheckJSON, Failed, sendJSON, "the answer is JSON, but its Content-Type says %q: clients that go by it refuse it", declared)
	default:
		c.add(CheckJSON, Passed, "", "%s, %d bytes", declared, len(c.body))
	}
	return true
}

// unreadable says why the answer need not even be parsed, and what to do, or "".
func (c *checker) unreadable() (message, hint string) {
	const check = "see what the service sends at this address"
	switch p := explain(c.err, c.opts.Timeout); {
	case c.err != nil:
		return fmt.Sprintf("%s, after %d bytes", p.cutOff, len(c.body)), p.hint
	case len(c.body) > MaxSize:
		return fmt.Sprintf("the answer is larger than %d MiB, and may have no end", MaxSize>>20), check
	case len(bytes.TrimSpace(c.body)) == 0:
		return "the answer is empty", check
	case bytes.HasPrefix(c.body, []byte("\ufeff")):
		return "the answer begins with a byte order mark", "save it without: JSON has none"
	}
	return "", ""
}

func (c *checker) checkManifest(context.Context) bool {
	before := len(c.results)
	var m signpost.Manifest
	err := json.Unmarshal(c.body, &m)
	if err == nil {
		c.manifest = &m
	}
	lint := c.opts.Lint
	if lint == nil {
		lint = func([]byte) []signpost.Finding { return slices.Concat(m.Validate(), m.Warnings()) }
	}
	for _, f := range lint(c.body) {
		c.addFinding(f)
	}
	c.warnOfVersions(m)
	failed := slices.ContainsFunc(c.results[before:], func(r Result) bool { return r.Status == Failed })
	switch {
	case err != nil && !failed:
		c.add(CheckManifest, Failed, "see what the service sends: signpost render prints what it should be", "the answer is not a manifest: %v", err)
	case err == nil && len(m.Endpoints) == 0:
		c.add(CheckManifest, Warned, "see whether the right definition is published", "it has no endpoints: the studio would fill in nothing")
	case len(c.results) == before:
		c.add(CheckManifest, Passed, "", "%s, without findings", count(len(m.Endpoints), "endpoint"))
	}
	return true
}

// addFinding adds a finding about the manifest, unless it is about what a served manifest always has: every URL in
// it is absolute, so the rule about other people's URLs takes the service's own for one.
func (c *checker) addFinding(f signpost.Finding) {
	r := Result{Check: CheckManifest, Status: Warned, Message: f.Message + " [" + f.Rule + "]",
		Hint: cmp.Or(f.Hint, "docs/rules.md explains the rule "+f.Rule)}
	r.Endpoint = f.Path.Endpoint()
	if f.Rule == signpost.RuleTokenToThirdParty && c.owns(r.Endpoint) {
		return
	}
	if f.Severity == signpost.SeverityError {
		r.Status = Failed
	}
	if f.Line > 0 {
		r.Message = fmt.Sprintf("line %d, column %d: %s", f.Line, f.Column, r.Message)
	}
	c.results = append(c.results, r)
}

// warnOfVersions looks for URLs of another API version than that of the address. Which versions the service has
// is not known here, so this is a warning.
func (c *checker) warnOfVersions(m signpost.Manifest) {
	_, version, ok := routes.Parse(c.address.Path)
	if !ok {
		return
	}
	for _, e := range m.Endpoints {
		segments := strings.Split(signpost.CutURL(e.URL).Path(), "/")
		i := slices.IndexFunc(segments, routes.ValidVersion)
		if i >= 0 && c.owns(e.URL) && !slices.Contains(segments, version) {
			c.results = append(c.results, Result{Check: CheckManifest, Status: Warned, Endpoint: e.URL,
				Message: fmt.Sprintf("%q is of version %s, and the address of version %s [version-mismatch]", e.URL, segments[i], version),
				Hint:    "each version has a manifest of its own, which lists the URLs of that version only"})
		}
	}
}

// owns reports whether the URL of an endpoint is on the host of the address.
func (c *checker) owns(endpointURL string) bool {
	u, err := url.Parse(endpointURL)
	return err == nil && u.User == nil && host.Equal(u.Host, c.address.Host)
}

func (c *checker) checkHost(context.Context) bool {
	if c.manifest == nil || len(c.manifest.Endpoints) == 0 {
		c.add(CheckHost, Skipped, "", "there are no URLs to look at")
		return true
	}
	asked, _ := host.Parse(c.address.Host) // ParseAddress has checked it
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
			continue // the finding about it says what is wrong
		}
		if name == asked || strings.HasSuffix(name, "."+asked) { // as of https://media.{{host}}/
			ours++
		}
		if counts[name]++; counts[name] > counts[most] {
			most = name
		}
	}
	switch {
	case len(open) > 0:
		c.add(CheckHost, Failed, "the definition is served as it stands: publish it with signpost serve, or render it for each request",
			"{{host}} is left in %s, such as %q", count(len(open), "URL"), open[0])
	case ours == all:
		c.add(CheckHost, Passed, "", "the URLs are on %s%s", asked, c.portNote())
	case ours > 0:
		c.add(CheckHost, Passed, "", "%d of %s are on %s%s", ours, count(all, "URL"), asked, c.portNote())
	case counts[most]*2 > all:
		c.add(CheckHost, Failed, c.hostHint(), "no URL is on %s, and %d of %s on %s: apps would call that", asked, counts[most], count(all, "URL"), most)
	default:
		c.add(CheckHost, Warned, c.hostHint(), "no URL is on %s", asked)
	}
	return true
}

// portNote tells of a port that the URLs do not have: {{host}} carries none.
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

// hostHint says how the host that clients ask for gets to the service. Caddy passes it on if not told otherwise.
func (c *checker) hostHint() string {
	host := c.address.Hostname()
	return strings.Join([]string{
		"the service does not see the host that it was asked for. If a proxy stands in front of it, one of these helps:",
		"nginx, beside proxy_pass:      proxy_set_header Host $host;",
		"Caddy, inside reverse_proxy:   header_up Host {host}",
		"a proxy that cannot, but sends X-Forwarded-Host:   signpost serve --trusted-proxy ADDRESS-RANGE-OF-THE-PROXY",
		"a service with one host:   signpost serve --public-host " + host,
	}, "\n")
}

func (c *checker) checkCORS(ctx context.Context) bool {
	const (
		onlyBrowsers = "a studio in a browser cannot read the manifest; others can"
		hint         = "send Access-Control-Allow-Origin: *, as signpost serve does"
	)
	res, _, err := c.get(ctx, map[string]string{"Origin": studioOrigin})
	if err != nil {
		p := explain(err, c.opts.Timeout)
		c.add(CheckCORS, Failed, p.hint, "with an Origin header: %s", p.message)
		return true
	}
	origins := res.Header.Values("Access-Control-Allow-Origin")
	credentials := res.Header.Get("Access-Control-Allow-Credentials") == "true"
	allowed := strings.Join(origins, ", ")
	reflected := allowed == studioOrigin
	switch {
	case res.StatusCode != http.StatusOK:
		c.add(CheckCORS, Failed, "answer requests with an Origin header as any other", "with an Origin header, the answer is %s", statusText(res.StatusCode))
	case len(origins) == 0:
		c.add(CheckCORS, Warned, hint, "there is no Access-Control-Allow-Origin: %s", onlyBrowsers)
	case strings.ContainsAny(allowed, ", "):
		c.add(CheckCORS, Failed, "see to it that only one of proxy and service sets the header",
			"Access-Control-Allow-Origin has more than one value, which browsers refuse: %q", allowed)
	case credentials && allowed == "*":
		c.add(CheckCORS, Warned, "leave Access-Control-Allow-Credentials out", "credentials are allowed to every origin, which browsers refuse")
	case credentials && reflected:
		c.add(CheckCORS, Warned, "leave Access-Control-Allow-Credentials out: a manifest needs none",
			"pages of every origin may read it, with the credentials of whoever looks at them")
	case reflected && !variesByOrigin(res.Header):
		c.add(CheckCORS, Warned, "send Vary: Origin or, simpler, Access-Control-Allow-Origin: *",
			"the allowed origin is the one that asks, and there is no Vary: Origin: a cache would hand it to others")
	case allowed == "*" || reflected:
		c.add(CheckCORS, Passed, "", "pages of every origin may read it")
	default:
		c.add(CheckCORS, Passed, "", "pages of %q may read it", allowed)
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
	const hint = "answer 304 when If-None-Match names the current ETag, as signpost serve does"
	tag := c.res.Header.Get("ETag")
	if tag == "" {
		c.add(CheckETag, Warned, hint, "there is no ETag: the manifest is sent in full each time")
		return true
	}
	for _, ask := range []string{tag, otherTag} {
		res, _, err := c.get(ctx, map[string]string{"If-None-Match": ask})
		switch {
		case err != nil:
			p := explain(err, c.opts.Timeout)
			c.add(CheckETag, Failed, p.hint, "with If-None-Match: %s", p.message)
		case ask == tag && res.StatusCode == http.StatusNotModified:
			continue
		case ask == tag && res.StatusCode == http.StatusOK && res.Header.Get("ETag") != tag:
			c.add(CheckETag, Warned, "make it a hash of the manifest, so that it is the same on every replica and changes with the manifest only",
				"the ETag was %s and is %s now", quoteOrNone(tag), quoteOrNone(res.Header.Get("ETag")))
		case ask == tag && res.StatusCode == http.StatusOK:
			c.add(CheckETag, Warned, hint, "If-None-Match with the current ETag gets 200 OK, and the manifest in full")
		case ask == otherTag && res.StatusCode == http.StatusOK:
			c.add(CheckETag, Passed, "", "If-None-Match with the current ETag gets 304")
		case res.StatusCode == http.StatusNotModified:
			c.add(CheckETag, Failed, "compare If-None-Match with the ETag: a studio would never see a change", "If-None-Match with another ETag gets 304")
		default:
			c.add(CheckETag, Failed, hint, "with If-None-Match, the answer is %s", statusText(res.StatusCode))
		}
		return true
	}
	return true
}

// mediaType returns the type of a Content-Type, without its parameters, or "".
func mediaType(contentType string) string {
	name, _, _ := strings.Cut(contentType, ";")
	if parsed, _, err := mime.ParseMediaType(contentType); err == nil {
		name = parsed
	}
	return strings.ToLower(strings.TrimSpace(name))
}

// isJSON reports whether a media type is that of JSON, such as application/json or application/feed+json.
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

func count(n int, word string) string {
	if n == 1 {
		return "1 " + word
	}
	return fmt.Sprintf("%d %ss", n, word)
}
