// Package warnings has the rules for manifests that can be served, but probably not as intended. Package match adds
// those about endpoints that take feeds from each other.
package warnings

import (
	"cmp"
	"fmt"
	"mime"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"signpost"
	"signpost/host"
	"signpost/internal/spell"
)

// Rules that are mentioned outside of the table.
const (
	optionLabelDuplicate = "option-label-duplicate"
	spaceAround          = "space-around"
	localAddress         = "local-address"
	thirdParty           = "token-to-third-party"
	ownHostWritten       = "own-host-written"
	QueryInURL           = "query-in-url"
	TrailingSlash        = "trailing-slash"
)

// AboutHosts are the rules that depend on the hosts of the service.
var AboutHosts = []string{localAddress, thirdParty, ownHostWritten}

// Rule is a rule about a manifest on its own.
type Rule struct {
	Name    string
	Summary string // one sentence, without a full stop
	check   func(*checker)
	anyURL  bool // it does not depend on the URL, so an invalid one does not matter
}

// Rules returns every rule, in the order of the findings about an endpoint.
func Rules() []Rule {
	return []Rule{
		{"plain-http", "URLs are https", (*checker).plainHTTP, false},
		{localAddress, "apps can reach the hosts of all URLs", (*checker).localAddress, false},
		{"endpoint-too-wide", "an endpoint has a path", (*checker).tooWide, false},
		{TrailingSlash, "no URL ends in a slash", (*checker).trailingSlash, false},
		{"placeholder-outside-path", "placeholders are in the path", (*checker).placeholderOutside, false},
		{"colon-placeholder", "no path segment begins with a colon and a name", (*checker).colonPlaceholder, false},
		{"unusual-url", "URLs are written as clients send them", (*checker).unusual, false},
		{QueryInURL, "a modifier's parameter is not already in the URL", (*checker).query, false},
		{thirdParty, "context keys go to the service's own URLs", (*checker).thirdParty, false},
		{ownHostWritten, "the only host of the service is written {{host}}", (*checker).ownHost, false},
		{"unusual-mime-type", "mime_type is not a misspelling of a usual one", (*checker).unusualMIMEType, true},
		{"form-on-get", "a get endpoint does not have a form as its mime_type", (*checker).formOnGet, true},
		{"body-param-on-get", "a get request carries no body parameter", (*checker).bodyParamOnGet, true},
		{optionLabelDuplicate, "the option labels of a select are unique", (*checker).optionLabels, true},
		{"duplicate-name", "endpoint names are unique", (*checker).duplicateName, true},
		{spaceAround, "names and keys have no white space around them", (*checker).spaces, true},
	}
}

// Manifest returns what is probably unintended in a manifest on its own, in the order of the endpoints. applied is the
// manifest with the features of the deployment applied. The hosts say which URLs are the service's own. errors are those
// of applied: consequences of an invalid URL are not reported.
func Manifest(declared, applied signpost.Manifest, hosts signpost.Hosts, errors []signpost.Finding) []signpost.Finding {
	c := checker{hosts: hosts}
	return c.manifest(declared, applied, errors)
}

// Published is [Manifest] for a manifest that somebody publishes. Where hosts is empty, nothing tells which URLs are
// the service's own.
func Published(m signpost.Manifest, hosts signpost.Hosts, errors []signpost.Finding) []signpost.Finding {
	c := checker{hosts: hosts, published: true}
	for _, f := range signpost.BuiltIn() {
		c.added = append(c.added, f.ContextObj...)
	}
	return c.manifest(m, m, errors)
}

func (c *checker) manifest(declared, applied signpost.Manifest, errors []signpost.Finding) []signpost.Finding {
	invalid := make(map[string]bool) // URLs
	for _, f := range errors {
		if f.Rule == signpost.RuleURL {
			invalid[f.Path.Endpoint()] = true
		}
	}
	c.names, c.urls = make(map[string]string), make(map[string]bool, len(applied.Endpoints))
	var urls []signpost.URL
	for u := range applied.All() {
		urls = append(urls, u)
		c.urls[u.String()] = true
	}
	c.ownUnknown = c.published && len(c.hosts) == 0 && !slices.ContainsFunc(urls, signpost.URL.HasHostPlaceholder)
	rules := Rules()
	for i, e := range applied.Endpoints {
		c.endpoint, c.path, c.declared = e, signpost.Path{field(e.URL)}, len(declared.Endpoints[i].ContextObj)
		c.url = urls[i]
		c.mediaType = mediaType(e.MIMEType)
		for _, r := range rules {
			if r.anyURL || !invalid[e.URL] {
				c.rule = r.Name
				r.check(c)
			}
		}
	}
	return c.findings
}

// Modifier returns what is probably unintended in a modifier on its own. Paths start at the modifier.
func Modifier(m signpost.Modifier) []signpost.Finding {
	c := checker{rule: optionLabelDuplicate}
	c.modifier(m, nil)
	c.rule = spaceAround
	c.modifierSpaces(m, nil)
	return c.findings
}

// checker checks one endpoint after the other.
type checker struct {
	hosts      signpost.Hosts         // of the service
	published  bool                   // by somebody: it need not tell which URLs are the service's own
	ownUnknown bool                   // nothing tells which URLs are the service's own
	added      []signpost.ContextItem // those of features, in a manifest that does not tell which these are
	names      map[string]string      // URLs of the endpoints so far, by name
	urls       map[string]bool        // of all endpoints

	rule      string // the current one
	path      signpost.Path
	endpoint  signpost.Endpoint
	url       signpost.URL
	mediaType string // in lower case, without parameters; empty if it is invalid
	declared  int    // number of context items that no feature added

	findings []signpost.Finding
}

// warn adds a finding of the current rule about the endpoint, or about a part of it.
func (c *checker) warn(hint string, part signpost.Path, format string, args ...any) {
	c.findings = append(c.findings, signpost.Finding{
		Rule: c.rule, Severity: signpost.SeverityWarning,
		Message: spell.Shorten(fmt.Sprintf(format, args...)), Hint: spell.Shorten(hint),
		Path: slices.Concat(c.path, part),
	})
}

// isOwn reports whether the URL belongs to the service, or may do so.
func (c *checker) isOwn() bool { return c.ownUnknown || c.hosts.Owns(c.url) }

func (c *checker) plainHTTP() {
	switch {
	case c.url.Scheme() != "http":
	case len(c.endpoint.ContextObj) > 0:
		c.warn("use https", nil, "%q is plain http: context keys travel in the clear", c.url)
	default:
		c.warn("use https", nil, "%q is plain http", c.url)
	}
}

func (c *checker) localAddress() {
	if name := strings.TrimSuffix(strings.ToLower(c.url.Hostname()), "."); !c.isOwn() && host.IsLocal(name) {
		c.warn("write {{host}}, or a host that apps can reach", nil, "%q is on %s, which apps cannot reach", c.url, name)
	}
}

func (c *checker) tooWide() {
	if path := c.url.Path(); path == "" || path == "/" {
		c.warn("give the path that all its feeds begin with", nil,
			"%q has no path: it answers for every feed of the host", c.url)
	}
}

func (c *checker) trailingSlash() {
	if path, found := strings.CutSuffix(c.url.Path(), "/"); found && path != "" {
		c.warn("remove the slash, unless the server needs it", nil,
			"%q has a trailing slash: it does not answer for %q, and a feature for URLs that end in %q misses it",
			c.url, path, path[strings.LastIndexByte(path, '/'):])
	}
}

func (c *checker) placeholderOutside() {
	first := ""
	signpost.ReplacePlaceholders(c.url.Query(), func(name string) string {
		first = cmp.Or(first, name)
		return ""
	})
	if first != "" {
		c.warn("entries fill in segments of the path only", nil, "%q has {{%s}} outside its path", c.url, first)
	}
}

// foreignPlaceholder matches a path segment that other tools treat as a placeholder, or that a browser made of one.
var foreignPlaceholder = regexp.MustCompile(`/(:([A-Za-z_][A-Za-z0-9_]*)|[<\[]([A-Za-z_][A-Za-z0-9_-]*)[>\]]|\*|` +
	`(?i:%7B)+([A-Za-z_][A-Za-z0-9_-]*)(?i:%7D)+)(?:/|$)`)

// colonPlaceholder reports a segment that is literal text, but looks like a placeholder of another tool.
func (c *checker) colonPlaceholder() {
	if !strings.ContainsAny(c.url.Path(), ":<[*%") { // the expression takes longer
		return
	}
	if found := foreignPlaceholder.FindStringSubmatch(c.url.Path()); found != nil {
		name := cmp.Or(found[2], found[3], found[4], "id")
		c.warn(fmt.Sprintf("write {{%s}}, if an entry fills it in", name), nil,
			"%q has %q in its path, which is literal text", c.url, found[1])
	}
}

// query reports parameters of the URL that clients set as well: those of modifiers, and the one with the context keys.
func (c *checker) query() {
	if c.url.Query() == "" {
		return
	}
	used, _ := url.ParseQuery(c.url.Query()) // an unparsable part is not a key
	before := len(c.findings)
	isCtx := func(item signpost.ContextItem) bool { return item.Type == signpost.ContextCtx }
	if used.Has("ctx") && slices.ContainsFunc(c.endpoint.ContextObj, isCtx) {
		c.warn("the feed URL would contain it twice: remove it from the URL", nil,
			"parameter %q, which carries the context keys, is already in the URL", "ctx")
	}
	for i, m := range c.endpoint.Modifiers {
		for j, p := range m.Params {
			if used.Has(p.Key) {
				c.warn("the feed URL would contain it twice: remove it from one of the two",
					signpost.Path{field("modifiers"), item(i), field("params"), item(j), field("key")},
					"parameter %q is already in the URL", p.Key)
			}
		}
	}
	if len(c.findings) == before && len(c.endpoint.Modifiers) > 0 {
		c.warn("move the parameter into a modifier, or remove the modifiers", nil,
			"%q has a query, and the studio appends modifiers as ?key=value", c.url)
	}
}

type (
	field = signpost.Field
	item  = signpost.Item
)

// thirdParty reports context keys that are sent to third parties: all keys that the endpoint declares but only the
// required ones among those that features add, since optional ones go everywhere. In a manifest that somebody publishes,
// the items of the built-in features are taken to be theirs.
func (c *checker) thirdParty() {
	if c.isOwn() {
		return
	}
	for i, key := range c.endpoint.ContextObj {
		if i < c.declared && !slices.Contains(c.added, key) || key.Required {
			c.warn("make sure that its owner is meant to have it", signpost.Path{field("context_obj"), item(i), field("key")},
				"context key %q is sent to %q, which is not a URL of this service", key.Key, c.url)
		}
	}
}

// ownHost reports a URL that names the only host of the service.
func (c *checker) ownHost() {
	isOneName := len(c.hosts) == 1 && !strings.ContainsAny(c.hosts[0][:1], "*.")
	if !isOneName || !host.Equal(c.url.Hostname(), c.hosts[0]) {
		return
	}
	authority, rest := usualParts(c.url)
	_, port := host.CutPort(authority) // not one that nobody writes
	open := withParts(c.url, signpost.HostPlaceholder+port, rest)
	if !c.urls[open] { // otherwise they are the same URL, which is an error
		c.warn("write "+open, nil, "%q names %s, the only host of the service", c.url, c.hosts[0])
	}
}

// mediaType returns a media type in lower case, without parameters, or "" if it is invalid.
func mediaType(text string) string {
	mediaType, _, err := mime.ParseMediaType(text)
	if err != nil {
		return ""
	}
	return mediaType
}

// unusualMIMEType reports a type that is nearly one of those that the specification names. One with json in it, such as
// application/json5, is another one.
func (c *checker) unusualMIMEType() {
	usual := []string{signpost.MIMEJSON, signpost.MIMEFeed, signpost.MIMEForm}
	top, subtype, _ := strings.Cut(c.mediaType, "/")
	if top != "application" || slices.Contains(usual, c.mediaType) {
		return
	}
	var near []string
	for _, known := range usual {
		if _, other, _ := strings.Cut(known, "/"); !strings.Contains(subtype, other) {
			near = append(near, other)
		}
	}
	if meant := spell.Nearest(subtype, near); meant != "" {
		c.warn(fmt.Sprintf("did you mean %q?", top+"/"+meant), signpost.Path{field("mime_type")},
			"mime_type %q is not a usual one", c.endpoint.MIMEType)
	}
}

func (c *checker) formOnGet() {
	if c.endpoint.Method == signpost.MethodGet && c.mediaType == signpost.MIMEForm {
		c.warn("declare what it returns, usually application/json", signpost.Path{field("mime_type")},
			"mime_type %q describes the body of a post request, and this is a get endpoint", c.endpoint.MIMEType)
	}
}

func (c *checker) bodyParamOnGet() {
	for i, key := range c.endpoint.ContextObj {
		if key.Type == signpost.ContextBodyParam && c.endpoint.Method == signpost.MethodGet {
			c.warn("send it as ctx, or use method post", signpost.Path{field("context_obj"), item(i), field("type")},
				"context key %q goes into the body, and a get request has none", key.Key)
		}
	}
}

func (c *checker) optionLabels() {
	for i, m := range c.endpoint.Modifiers {
		c.modifier(m, signpost.Path{field("modifiers"), item(i)})
	}
}

func (c *checker) modifier(m signpost.Modifier, path signpost.Path) {
	for i, p := range m.Params {
		if len(p.UI.Options) == 0 {
			continue
		}
		labels := make(map[string]string, len(p.UI.Options))
		for j, o := range p.UI.Options {
			if first, taken := labels[o.Label]; taken && o.Label != "" {
				c.warn("editors see the label alone: make it tell the options apart",
					slices.Concat(path, signpost.Path{field("params"), item(i), field("ui"), field("options"), item(j), field("label")}),
					"label %q is also used by option %q", o.Label, first)
			} else {
				labels[o.Label] = o.Value
			}
		}
	}
}

func (c *checker) duplicateName() {
	name := c.endpoint.Name
	if first, taken := c.names[name]; taken && name != "" {
		c.warn("editors see the name alone: make it tell the endpoints apart", signpost.Path{field("name")},
			"name %q is also used by %s", name, first)
	} else {
		c.names[name] = c.endpoint.URL
	}
}

// spaces reports names and keys that begin or end with white space, which nobody sees.
func (c *checker) spaces() {
	c.space("name", c.endpoint.Name, nil)
	for i, key := range c.endpoint.ContextObj {
		path := signpost.Path{field("context_obj"), item(i)}
		c.space("key", key.Key, path)
		c.space("mapper", key.Mapper, path)
	}
	for i, m := range c.endpoint.Modifiers {
		c.modifierSpaces(m, signpost.Path{field("modifiers"), item(i)})
	}
}

func (c *checker) modifierSpaces(m signpost.Modifier, path signpost.Path) {
	c.space("id", m.ID, path)
	c.space("name", m.Name, path)
	for i, p := range m.Params {
		c.space("label", p.UI.Label, path, signpost.Path{field("params"), item(i), field("ui")})
	}
}

// space reports white space around the text of a field. The paths lead to its object, one behind the other.
func (c *checker) space(name field, text string, paths ...signpost.Path) {
	trimmed := strings.TrimSpace(text)
	if trimmed == text {
		return
	}
	path := append(slices.Concat(paths...), name)
	if trimmed == "" {
		c.warn("write what is meant", path, "%s %q is nothing but white space", name, text)
	} else {
		c.warn(fmt.Sprintf("write %q", trimmed), path, "%s %q has white space around it", name, text)
	}
}
