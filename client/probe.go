package client

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"

	"signpost"
	"signpost/host"
	"signpost/internal/httpurl"
	"signpost/internal/routes"
	"signpost/internal/spell"
)

const (
	maxProbes = 1000    // endpoints that are called; somebody is waiting for the result
	maxFeed   = 4 << 20 // bytes of a feed that are read; apps on television sets choke on less
)

// probe is the call of an endpoint, or of a link that belongs to it. If it cannot be called, req is nil and the result
// says why.
type probe struct {
	target *target
	req    *http.Request
	sent   map[string]any // context values in the request
	unsent []string       // optional keys of a type that Signpost does not know
	link   *link          // where its URL was found; nil for the URL of the endpoint itself
	named  bool           // its URL is the feed in the endpoint's values

	result   Result
	answer   *Answer  // without its body; zero if there is no complete response
	empty    bool     // it is a success without a body
	isFeed   bool     // it is a feed
	problems []Result // what is wrong with the shape of the feed
	links    []*link  // of the feed, until they have been sorted
}

func (p *probe) set(status Status, hint, format string, args ...any) *probe {
	p.result.Status, p.result.Message, p.result.Hint = status, fmt.Sprintf(format, args...), hint
	if len(p.unsent) > 0 {
		p.result.Message += "; not sent: " + strings.Join(p.unsent, ", ")
	}
	return p
}

// dead reports whether a call failed.
func (p *probe) dead() bool { return p.answer.Status/100 != 2 }

// refused reports whether the service wants to know who calls.
func (p *probe) refused() bool {
	return p.answer.Status == http.StatusUnauthorized || p.answer.Status == http.StatusForbidden
}

// answered reports whether a feed answered a call, if only to ask for credentials.
func (p *probe) answered() bool {
	return p.refused() || !p.dead() && p.result.Status != Failed
}

// checkProbes calls the endpoints that can be called without side effects, and the links of their feeds.
func (c *checker) checkProbes(ctx context.Context) {
	switch {
	case c.opts.SkipProbes:
		c.add(Skipped, "", "the endpoints are not called").Cause = causeNotCalled
		return
	case len(c.targets) == 0:
		c.add(Skipped, "", "there are no endpoints to call")
		return
	}
	c.warnOfUnusedValues()
	var calls []*probe
	left := 0
	for _, t := range c.targets {
		p := c.plan(ctx, t, nil)
		switch {
		case p.req != nil && len(calls) == maxProbes:
			left++
			continue
		case p.req != nil:
			calls = append(calls, p)
			t.reached = true
			c.called[identity(httpurl.Requested(p.req).String())] = true
			if len(t.params) == 0 {
				c.called[identity(t.URL)] = true // the same feed without its modifiers
			}
		}
		c.endpoints = append(c.endpoints, p)
	}
	c.call(calls)
	c.follow(ctx, calls)
	all := slices.Concat(c.endpoints, c.followed)
	c.feeds = slices.DeleteFunc(slices.Clone(all), func(p *probe) bool { return !p.isFeed })
	answered := slices.ContainsFunc(all, (*probe).answered)
	base := ""
	if !answered {
		base, _, _ = routes.Parse(c.address.Path)
		base = strings.TrimSuffix(base, "/")
	}
	for _, p := range all {
		if p.answer.Status > 0 && (p.dead() || p.empty) {
			p.explain(base)
		}
	}
	results := c.probeResults()
	c.results = append(c.results, results...)
	if left > 0 {
		c.add(Skipped, "", "%s: only %d are called", spell.Count(left, "more endpoint"), maxProbes)
	}
	failed := slices.ContainsFunc(results, func(r Result) bool { return r.Status == Failed })
	switch {
	case len(calls) == 0:
		hint := "try them with an app: the results above say why they cannot be called from here"
		needsValues := func(p *probe) bool { return p.result.Cause == causeMissingValues }
		switch {
		case slices.ContainsFunc(c.endpoints, needsValues):
			hint = "give the values that endpoints need"
		case failed:
			hint = "correct what the results above say"
		}
		c.add(Warned, hint, "no endpoint was called, so nothing is known about the feeds")
	case !answered && !failed:
		r := c.add(Failed, "compare the URLs of the manifest with those that the feed service answers for, "+
			"and see that the proxy passes paths on as they are",
			"no feed answered in %s", spell.Count(len(calls)+len(c.followed), "request"))
		if calls[0].result.Cause == causeBasePath {
			r.Hint = calls[0].result.Hint
		}
	}
}

// warnOfUnusedValues reports values that no endpoint uses: most likely a name is misspelt.
func (c *checker) warnOfUnusedValues() {
	type names struct{ params, keys []string }
	var all names
	own := make(map[string]names) // by URL and by path
	for _, t := range c.targets {
		var keys []string
		for _, item := range t.ContextObj {
			keys = append(keys, item.Key)
		}
		all = names{append(all.params, t.params...), append(all.keys, keys...)}
		for _, at := range []string{t.URL, t.url.Path()} {
			own[at] = names{append(own[at].params, t.params...), append(own[at].keys, keys...)}
		}
	}
	const param, key = "a value is given for the placeholder {{%s}}", "a value is given for the context key %q"
	urls := slices.Sorted(maps.Keys(own))
	warnOfUnused(c, c.opts.Params, all.params, param, "no endpoint has")
	warnOfUnused(c, c.opts.Context, all.keys, key, "no endpoint declares")
	warnOfUnused(c, c.opts.Endpoints, urls, "values are given for the endpoint %q", "the manifest does not have")
	for _, at := range urls {
		values := c.opts.Endpoints[at]
		warnOfUnused(c, values.Params, own[at].params, param, fmt.Sprintf("%q does not have", at))
		warnOfUnused(c, values.Context, own[at].keys, key, fmt.Sprintf("%q does not declare", at))
	}
}

// warnOfUnused reports names of values that are not known, and who does not know them.
func warnOfUnused[V any](c *checker, given map[string]V, known []string, message, who string) {
	for _, name := range slices.Sorted(maps.Keys(given)) {
		if slices.Contains(known, name) {
			continue
		}
		hint := "remove it, or correct it"
		if near := spell.Nearest(name, known); near != "" {
			hint = fmt.Sprintf("did you mean %q?", near)
		}
		c.add(Warned, hint, message+", which %s", name, who)
	}
}

// values returns the values for an endpoint: its own ones, and the general ones for the rest. Empty ones are none.
func (c *checker) values(t *target) (params map[string]string, context map[string]any, feed string) {
	params, context = make(map[string]string), make(map[string]any)
	general := Values{Params: c.opts.Params, Context: c.opts.Context}
	for _, from := range []Values{general, c.opts.Endpoints[t.url.Path()], c.opts.Endpoints[t.URL]} {
		maps.Copy(params, from.Params)
		feed = cmp.Or(from.Feed, feed)
		for key, value := range from.Context {
			context[key] = value
		}
		for key, value := range from.ContextJSON {
			context[key] = value
		}
	}
	maps.DeleteFunc(context, func(_ string, value any) bool {
		raw, _ := value.(json.RawMessage)
		return value == "" || string(raw) == "null"
	})
	return params, context, feed
}

// plan prepares the call of an endpoint, or of a link that belongs to it, or the result that says why there is none.
func (c *checker) plan(ctx context.Context, t *target, l *link) *probe {
	p := &probe{target: t, sent: make(map[string]any), link: l, result: Result{Endpoint: t.URL}, answer: new(Answer)}
	switch {
	case t.Method == signpost.MethodPost:
		return p.set(Skipped, "", "post endpoints are not called: that might change something")
	case strings.Contains(t.URL, signpost.HostPlaceholder):
		return p.set(Skipped, "", "{{host}} is not replaced in its URL")
	case t.url.Scheme() != "https" && t.url.Scheme() != "http":
		return p.set(Failed, "correct the URL in the definition", "it cannot be called: its URL is not an http(s) URL")
	}
	params, values, feed := c.values(t)
	call := Call{Context: p.sent}
	switch {
	case l != nil:
		call.Feed = l.text
	case feed != "":
		if strings.HasPrefix(feed, "/") {
			feed = t.url.Origin() + feed
		}
		call.Feed, call.Modifiers, p.named = feed, Defaults(t.Endpoint), true
	default:
		call.Params, call.Modifiers = make(map[string]string), Defaults(t.Endpoint)
		for _, name := range t.params {
			call.Params[name] = params[name]
			if params[name] == "" {
				p.result.Params = append(p.result.Params, name)
			}
		}
	}
	refusal := c.contextRefusal(t)
	if hint, reason := p.chooseContext(values, refusal); reason != "" {
		return p.set(Skipped, hint, "%s", reason)
	}
	switch owner := c.otherOwner(t, call); {
	case l != nil && refusal != "" && l.describe() != fmt.Sprintf("%q", l.text): // what no result may quote
		return p.set(Skipped, "", "the link may repeat a context value, which is not sent because %s", refusal)
	case owner != "":
		p.result.Cause, p.result.Params = causeMissingValues, t.params
		return p.set(Skipped, "give other values for it, or name a feed that this endpoint answers for",
			"with the values that are given for it, %s answers for its feed", owner)
	}
	req, err := NewRequest(ctx, t.Endpoint, call)
	if err != nil {
		return p.set(Failed, "correct the definition, or the value that is given for it", "it cannot be called: %v", err)
	}
	req.Header.Set("Origin", appOrigin) // without it, services that reflect the origin omit CORS headers
	if c.opts.SendTo != nil && t.own {
		req = httpurl.SendTo(req, c.opts.SendTo)
	}
	p.req = req
	return p
}

// chooseContext chooses the context values to send, unless there is a reason to refuse them all. If a placeholder or a
// required key is left without a value, it says so.
func (p *probe) chooseContext(values map[string]any, refusal string) (hint, reason string) {
	unsent := ""
	for _, item := range p.target.ContextObj {
		known, value := item.Place() != "", values[item.Key]
		switch {
		case known && !item.SentWith(p.target.Method): // NewRequest reports it
		case known && refusal == "" && value != nil:
			p.sent[item.Key] = value
		case !known && !item.Required:
			p.unsent = append(p.unsent, fmt.Sprintf("%s of type %q", item.Key, item.Type))
		case !item.Required:
		case !known:
			unsent = fmt.Sprintf("it requires %s with type %q, which this check cannot send", item.Key, item.Type)
		case refusal != "":
			unsent = fmt.Sprintf("it requires %s, which is not sent because %s", item.Key, refusal)
		default:
			p.result.ContextKeys = append(p.result.ContextKeys, item.Key)
		}
	}
	if len(p.result.Params)+len(p.result.ContextKeys) == 0 {
		return "", unsent
	}
	p.result.Cause = causeMissingValues
	var needs []string
	for _, name := range p.result.Params {
		needs = append(needs, "{{"+name+"}}")
	}
	needs = append(needs, p.result.ContextKeys...)
	return "give a value for " + strings.Join(needs, " and "), "it needs a value for " + strings.Join(needs, ", ")
}

// otherOwner names the endpoint that answers for the feed of a call, if it is another one: an app would call that one
// instead, with its context keys. It returns "" if it is this one, or if the call is that of the endpoint's own URL.
func (c *checker) otherOwner(t *target, call Call) string {
	feed, err := feedURL(t.Endpoint, call)
	if err != nil || len(call.Params) == 0 && call.Feed == "" {
		return ""
	}
	switch owner := c.owner(feed); {
	case owner == nil:
		return "no endpoint"
	case owner.URL != t.URL:
		return fmt.Sprintf("%q", owner.Name)
	}
	return ""
}

// contextRefusal says why an endpoint gets no context values, or "" if it gets them. They are for the service at the
// given address, and the manifest is merely what that service claims.
func (c *checker) contextRefusal(t *target) string {
	if !t.own {
		return "it is not on " + c.address.Hostname()
	}
	scheme, authority := t.url.Scheme(), t.url.Authority()
	if to := c.opts.SendTo; to != nil {
		scheme, authority = to.Scheme, to.Host
	}
	if scheme != "https" && !host.IsLoopback(authority) {
		return "it is plain http"
	}
	return ""
}

const webPageOfFeed = "a web page answers instead of the feed, such as a sign-in or the start page of an app: " +
	"make the proxy send the path to the feed service"

// judge fills in the result of a call, from what exchange returned.
func (c *checker) judge(p *probe, answer *Answer, err error) {
	if err != nil {
		problem := Explain(err)
		p.result.Cause = problem.Cause
		if port := c.address.Port(); port != "" && p.req.URL.Port() == "" && p.target.own {
			problem.Hint = fmt.Sprintf("{{host}} has no port, so this is the default one, not port %s of the address; %s",
				port, problem.Hint)
			p.result.Cause = causePortDropped
		}
		p.set(Failed, problem.Hint, "%s", p.shown(problem.Message))
		return
	}
	got := mediaType(answer.Header.Get("Content-Type"))
	// That it is not declared is a finding about the manifest.
	declared := cmp.Or(mediaType(p.target.MIMEType), got, signpost.MIMEJSON)
	p.answer = answer
	p.empty = !p.dead() && len(bytes.TrimSpace(answer.Body)) == 0 && !answer.Truncated
	status, told := statusText(answer.Status), fmt.Sprintf("Content-Type %q", p.shown(got))
	if got == "" {
		told = "no Content-Type"
	}
	readable := isJSON(declared) && (answer.Truncated || json.Valid(answer.Body))
	switch {
	case p.refused() && len(p.unsent) > 0:
		p.set(Warned, "", "the response is %s", status)
	case p.empty:
		p.set(Failed, "", "%s with an empty body", status)
	case answer.isLoop():
		p.set(Failed, "", "the response is %s, to itself: a loop", status)
	case answer.Redirect != "":
		p.set(Failed, "", "the response is %s, to %s", status, p.quoteURL(answer.Redirect))
	case p.dead():
		p.set(Failed, "", "the response is %s", status)
	case declared == signpost.MIMEForm:
		p.set(Warned, "declare the type of the response",
			"%s with %s; mime_type is %q, which no response to a get request has", status, told, declared)
	case isJSON(got) && isJSON(declared) && !readable:
		why := notJSON(answer.Body)
		p.set(Failed, cmp.Or(why.Hint, webPageOfFeed),
			"%s with %s, but the body is not JSON: %s", status, told, why.Message)
	case got != declared && isJSON(got) && isJSON(declared):
		p.set(Warned, "both are JSON, but clients may rely on the type: make them the same",
			"%s with %s, not %q", status, told, declared)
	case got == "text/html" && isJSON(declared) && !readable:
		p.set(Failed, webPageOfFeed, "%s with %s, not %q", status, told, declared)
	case got != declared:
		p.set(Failed, "send the type that mime_type declares, or correct mime_type",
			"%s with %s, not %q", status, told, declared)
	default:
		p.set(Passed, "", "%s, %s", status, declared)
	}
	if !p.dead() && isJSON(got) && readable {
		c.readFeed(p)
	}
	answer.Body = nil
}
