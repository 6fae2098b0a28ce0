package signpost

import (
	"cmp"
	"fmt"
	"mime"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"signpost/host"
)

// Warning rules: the manifest is served, but probably not as intended. Overlaps has the rules about endpoints that take
// feeds from each other.
const (
	RuleBodyParamOnGet       = "body-param-on-get"
	RuleColonPlaceholder     = "colon-placeholder"
	RuleDuplicateName        = "duplicate-name"
	RuleEndpointTooWide      = "endpoint-too-wide"
	RuleFormOnGet            = "form-on-get"
	RuleLocalAddress         = "local-address"
	RuleOptionLabelDuplicate = "option-label-duplicate"
	RulePlaceholderOutside   = "placeholder-outside-path"
	RulePlainHTTP            = "plain-http"
	RuleQueryInURL           = "query-in-url"
	RuleResolvedURLCollision = "resolved-url-collision"
	RuleTokenToThirdParty    = "token-to-third-party"
	RuleTrailingSlash        = "trailing-slash"
)

// Deployment describes how a manifest is served, which the manifest itself does not say.
type Deployment struct {
	Features []Feature // enabled, but not yet applied to the manifest

	// Host is the host that the manifest was served for; URLs on it are the service's own. If it is empty, the URLs
	// with {{host}} are.
	Host string
}

// OwnWarnings returns what is probably unintended in the manifest on its own, in the order of the endpoints. Overlap
// depends on everything registered together: see package signpost/match. Consequences of a URL that [Manifest.Validate] rejects are
// not reported.
func (m Manifest) OwnWarnings(d Deployment) []Finding {
	v := warner{validator: validator{severity: SeverityWarning, endpoints: m.Endpoints}, deployment: d, everywhere: m.everywhere(d)}
	names := make(map[string]string)
	collisions := make(map[string]*collisionGroup) // by everything except the authority
	mixed := m.mixesHosts()
	patterns := make(map[string]string, len(m.Endpoints))
	applied := m.applied(d.Features)
	for i, e := range applied.Endpoints {
		v.in = &applied.Endpoints[i].URL
		if u, err := ParseURL(e.URL); err == nil {
			v.url(u, e)
			v.query(u, e)
			v.thirdParty(u, e, len(m.Endpoints[i].ContextObj))
			pattern := u.pattern()
			if first, taken := patterns[pattern]; taken && first != e.URL {
				v.sameToClients("", first, u)
			} else {
				patterns[pattern] = e.URL
				if mixed {
					rest := u.Scheme() + "://" + withoutNames(u.Rest())
					if collisions[rest] == nil {
						collisions[rest] = &collisionGroup{}
					}
					v.collision(u, collisions[rest])
				}
			}
		}
		v.descriptor(e)
		if first, taken := names[e.Name]; taken && e.Name != "" {
			v.add(RuleDuplicateName, "editors see the name alone: make it tell the endpoints apart", Path{Field("name")},
				"name %q is also used by %s", e.Name, first)
		} else {
			names[e.Name] = e.URL
		}
	}
	return v.findings
}

// mixesHosts reports whether there are both URLs with {{host}} and URLs without it. Otherwise, no two of them become the
// same for some host.
func (m Manifest) mixesHosts() bool {
	open := func(e Endpoint) bool { return CutURL(e.URL).HasHostPlaceholder() }
	return slices.ContainsFunc(m.Endpoints, open) && slices.ContainsFunc(m.Endpoints, func(e Endpoint) bool { return !open(e) })
}

// warner collects warnings for one endpoint after the other.
type warner struct {
	validator
	deployment Deployment
	everywhere map[ContextItem]bool // optional items of a served manifest that a feature probably added
}

// owns reports whether the URL belongs to the service.
func (v *warner) owns(u URL) bool {
	name, own := strings.ToLower(u.Hostname()), v.deployment.Host
	return u.HasHostPlaceholder() || own != "" && (name == own || strings.HasSuffix(name, "."+own))
}

// url checks the URL of an endpoint.
func (v *warner) url(u URL, e Endpoint) {
	switch {
	case u.Scheme() == "http" && len(e.ContextObj) > 0:
		v.add(RulePlainHTTP, "use https", nil, "%q is plain http: context keys travel in the clear", e.URL)
	case u.Scheme() == "http":
		v.add(RulePlainHTTP, "use https", nil, "%q is plain http", e.URL)
	}
	if name := strings.TrimSuffix(strings.ToLower(u.Hostname()), "."); !v.owns(u) && host.IsLocal(name) {
		v.add(RuleLocalAddress, "write {{host}}, or a host that apps can reach", nil, "%q is on %s, which apps cannot reach", e.URL, name)
	}
	switch {
	case u.path == "" || u.path == "/":
		v.add(RuleEndpointTooWide, "give the path that all its feeds begin with", nil,
			"%q has no path: it answers for every feed of the host", e.URL)
	case strings.HasSuffix(u.path, "/"):
		v.add(RuleTrailingSlash, "remove the slash, unless the server needs it", nil,
			"%q has a trailing slash: it does not answer for %q, and a feature for URLs that end in %q misses it",
			e.URL, strings.TrimSuffix(u.path, "/"), lastSegment(strings.TrimSuffix(u.path, "/")))
	}
	if _, name, _, found := cutPlaceholder(u.query); found {
		v.add(RulePlaceholderOutside, "entries fill in segments of the path only", nil, "%q has {{%s}} outside its path", e.URL, name)
	}
	v.colonPlaceholder(u)
	v.unusual(u)
}

func lastSegment(path string) string { return path[strings.LastIndexByte(path, '/'):] }

// Path segments that other tools treat as placeholders.
var (
	colonName     = regexp.MustCompile(`/(:)([A-Za-z_][A-Za-z0-9_]*)(/|$)`)
	bracketedName = regexp.MustCompile(`/([<\[])([A-Za-z_][A-Za-z0-9_-]*)[>\]](/|$)`)
	asterisk      = regexp.MustCompile(`/(\*)()(/|$)`)
)

// colonPlaceholder reports a segment that is literal text, but looks like a placeholder of another tool.
func (v *warner) colonPlaceholder(u URL) {
	for _, form := range []*regexp.Regexp{colonName, bracketedName, asterisk} {
		found := form.FindStringSubmatchIndex(u.path)
		if found == nil {
			continue
		}
		text, name := u.path[found[0]+1:found[6]], u.path[found[4]:found[5]]
		v.add(RuleColonPlaceholder, fmt.Sprintf("write {{%s}}, if an entry fills it in", cmp.Or(name, "id")), nil,
			"%q has %q in its path, which is literal text", u, text)
		return
	}
}

// query reports parameters of the URL that clients set as well: those of modifiers, and the one with the context keys.
func (v *warner) query(u URL, e Endpoint) {
	if u.Query() == "" {
		return
	}
	used, _ := url.ParseQuery(u.Query()) // an unparsable part is not a key
	before := len(v.findings)
	defer func() {
		if len(v.findings) == before && len(e.Modifiers) > 0 {
			v.add(RuleQueryInURL, "move the parameter into a modifier, or remove the modifiers", nil,
				"%q has a query, and the studio appends modifiers as ?key=value", u)
		}
	}()
	if isCtx := func(c ContextItem) bool { return c.Type == ContextCtx }; used.Has(reservedKey) && slices.ContainsFunc(e.ContextObj, isCtx) {
		v.add(RuleQueryInURL, "the feed URL would contain it twice: remove it from the URL", nil,
			"parameter %q, which carries the context keys, is already in the URL", reservedKey)
	}
	for i, m := range e.Modifiers {
		for j, p := range m.Params {
			if used.Has(p.Key) {
				v.add(RuleQueryInURL, "the feed URL would contain it twice: remove it from one of the two",
					Path{Field("modifiers"), Item(i), Field("params"), Item(j), Field("key")}, "parameter %q is already in the URL", p.Key)
			}
		}
	}
}

// thirdParty reports context keys that are sent to third parties: all keys that the endpoint declares but only the
// required ones among those that features add, since optional ones go everywhere.
func (v *warner) thirdParty(u URL, e Endpoint, declared int) {
	if v.owns(u) {
		return
	}
	for i, c := range e.ContextObj {
		if i < declared && !v.everywhere[c] || c.Required {
			v.add(RuleTokenToThirdParty, "make sure that its owner is meant to have it", Path{Field("context_obj"), Item(i), Field("key")},
				"context key %q is sent to %q, which is not a URL of this service", c.Key, e.URL)
		}
	}
}

// everywhere returns the optional context items that all endpoints of a served manifest have in common. The manifest
// does not tell where they come from, but a feature adds its items to every endpoint.
func (m Manifest) everywhere(d Deployment) map[ContextItem]bool {
	if d.Host == "" {
		return nil
	}
	counts := make(map[ContextItem]int)
	for _, e := range m.Endpoints {
		for _, c := range e.ContextObj {
			counts[c]++
		}
	}
	everywhere := make(map[ContextItem]bool)
	for item, n := range counts {
		everywhere[item] = !item.Required && n == len(m.Endpoints)
	}
	return everywhere
}

// descriptor checks everything that does not depend on the URL.
func (v *warner) descriptor(e Endpoint) {
	if e.Method == MethodGet && isForm(e.MIMEType) {
		v.add(RuleFormOnGet, "declare what it returns, usually application/json", Path{Field("mime_type")},
			"mime_type %q describes the body of a post request, and this is a get endpoint", e.MIMEType)
	}
	for i, c := range e.ContextObj {
		if c.Type == ContextBodyParam && e.Method == MethodGet {
			v.add(RuleBodyParamOnGet, "send it as ctx, or use method post", Path{Field("context_obj"), Item(i), Field("type")},
				"context key %q goes into the body, and a get request has none", c.Key)
		}
	}
	for i, m := range e.Modifiers {
		v.optionLabels(m, Path{Field("modifiers"), Item(i)})
	}
}

func isForm(mimeType string) bool {
	if mimeType == MIMEJSON { // nearly always
		return false
	}
	mediaType, _, err := mime.ParseMediaType(mimeType)
	return err == nil && mediaType == MIMEForm
}

// Warnings returns what is probably unintended in the modifier itself. Paths start at the modifier.
func (m Modifier) Warnings() []Finding {
	v := warner{validator: validator{severity: SeverityWarning}}
	v.optionLabels(m, Path{})
	return v.findings
}

func (v *warner) optionLabels(m Modifier, path Path) {
	for i, p := range m.Params {
		if len(p.UI.Options) == 0 {
			continue
		}
		labels := make(map[string]string, len(p.UI.Options))
		for j, o := range p.UI.Options {
			if first, taken := labels[o.Label]; taken && o.Label != "" {
				v.add(RuleOptionLabelDuplicate, "editors see the label alone: make it tell the options apart",
					path.then(Field("params"), Item(i), Field("ui"), Field("options"), Item(j), Field("label")),
					"label %q is also used by option %q", o.Label, first)
			} else {
				labels[o.Label] = o.Value
			}
		}
	}
}

// collisionGroup holds URLs that differ only in their authority.
type collisionGroup struct{ open, absolute []URL }

// maxCollisions bounds how many URLs of a group each one is compared with. Real services do not have so many hosts, and
// one reported collision is enough.
const maxCollisions = 100

// collision reports a URL that becomes the same as an earlier one for some host.
func (v *warner) collision(u URL, group *collisionGroup) {
	others := &group.open
	if u.HasHostPlaceholder() {
		others = &group.absolute
	}
	for _, other := range *others {
		open, absolute := u, other
		if !u.HasHostPlaceholder() {
			open, absolute = other, u
		}
		host := open.HostFor(absolute)
		if host == "" || !isASCII(host) {
			continue
		}
		if open.Resolve(host).raw == absolute.raw {
			v.add(RuleResolvedURLCollision, "remove one of the two", nil,
				"for the host %s, %q and %q are the same: only this one is served", host, other, u)
		} else {
			v.sameToClients(fmt.Sprintf("for the host %s, ", host), other.raw, u)
		}
		break
	}
	if u.HasHostPlaceholder() {
		others = &group.open
	} else {
		others = &group.absolute
	}
	if len(*others) < maxCollisions {
		*others = append(*others, u)
	}
}

// sameToClients reports a URL that differs from another one in the manifest only in letter case or in the names of its
// placeholders, which do not count when the endpoint of a feed is looked up.
func (v *warner) sameToClients(when, first string, u URL) {
	v.add(RuleResolvedURLCollision, "remove one of the two", nil,
		"%s%q and %q answer for the same feeds: only the first one counts", when, first, u)
}
