package client

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"signpost"
	"signpost/host"
	"signpost/internal/httpurl"
	"signpost/internal/routes"
	"signpost/internal/spell"
)

const (
	// maxProbes limits how many endpoints are called. Somebody is waiting for the result.
	maxProbes = 1000

	// maxFeed limits how much of a feed is read. Apps on television sets choke on less.
	maxFeed = 4 << 20
)

// probe is the call of an endpoint, or of a link that belongs to it. If it cannot be called, req is nil and the result
// says why.
type probe struct {
	endpoint signpost.Endpoint
	req      *http.Request
	url      string         // of the request, wherever it is sent
	sent     map[string]any // context values in the request
	unsent   []string       // optional keys of a type that Signpost does not know
	link     *link          // where its URL was found; nil for the URL of the endpoint itself
	named    bool           // its URL is the feed in the endpoint's values

	result   Result
	status   int         // 0 if there is no complete response
	outcome  *outcome    // what is known about the response if it is not a feed
	feed     http.Header // header of the response if it is a feed, or nil
	problems []Result    // what is wrong with the shape of the feed
	links    []*link     // of the feed, until they have been sorted
}

// set fills in the result.
func (p *probe) set(status Status, hint, format string, args ...any) *probe {
	p.result.Status, p.result.Message, p.result.Hint = status, fmt.Sprintf(format, args...), hint
	if len(p.unsent) > 0 {
		p.result.Message += "; not sent: " + strings.Join(p.unsent, ", ")
	}
	return p
}

// dead reports whether a call failed.
func (p *probe) dead() bool { return p.status/100 != 2 }

// refused reports whether the service wants to know who calls.
func (p *probe) refused() bool {
	return p.status == http.StatusUnauthorized || p.status == http.StatusForbidden
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
	case c.manifest == nil || len(c.manifest.Endpoints) == 0:
		c.add(Skipped, "", "there are no endpoints to call")
		return
	}
	c.warnOfUnusedValues()
	c.crawl = newCrawl(*c.manifest, c.opts.Registered)
	for _, e := range c.manifest.Endpoints {
		if u := signpost.CutURL(e.URL); c.origin == "" && c.isOwn(e.URL) {
			c.origin = u.Scheme() + "://" + u.Authority()
		}
	}
	var calls []*probe
	left := 0
	for _, e := range c.manifest.Endpoints {
		p := c.plan(ctx, e, nil)
		if p.req != nil && len(calls) == maxProbes {
			left++
			continue
		}
		c.endpoints = append(c.endpoints, p)
		if p.req == nil {
			continue
		}
		calls = append(calls, p)
		c.reached[e.URL], c.called[identity(p.url)] = true, true
		if len(signpost.CutURL(e.URL).Placeholders()) == 0 {
			c.called[identity(e.URL)] = true // the same feed without its modifiers
		}
	}
	c.call(calls)
	c.follow(ctx, calls)
	answered := slices.ContainsFunc(slices.Concat(c.endpoints, c.followed), (*probe).answered)
	base := ""
	if !answered {
		base, _, _ = routes.Parse(c.address.Path)
	}
	for _, p := range slices.Concat(calls, c.followed) {
		switch {
		case p.outcome == nil:
		case c.isOwn(p.url):
			p.explain(strings.TrimSuffix(base, "/"))
		default:
			p.explain("")
		}
	}
	before := len(c.results)
	c.results = append(c.results, c.probeResults()...)
	if left > 0 {
		c.add(Skipped, "", "%s: only %d are called", spell.Count(left, "more endpoint"), maxProbes)
	}
	failed := slices.ContainsFunc(c.results[before:], func(r Result) bool { return r.Status == Failed })
	switch {
	case len(calls) == 0:
		hint := "try them with an app: the results above say why they cannot be called from here"
		needsValues := func(p *probe) bool { return p.result.Cause == causeMissingValues }
		if slices.ContainsFunc(c.endpoints, needsValues) {
			hint = "give the values that endpoints need"
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
	var params, keys, endpoints []string
	for _, e := range c.manifest.Endpoints {
		params = append(params, signpost.CutURL(e.URL).Placeholders()...)
		endpoints = append(endpoints, e.URL, signpost.CutURL(e.URL).Path())
		for _, item := range e.ContextObj {
			keys = append(keys, item.Key)
		}
	}
	for _, kind := range []struct {
		given   iter.Seq[string]
		known   []string
		message string
	}{
		{maps.Keys(c.opts.Params), params, "a value is given for the placeholder {{%s}}, which no endpoint has"},
		{maps.Keys(c.opts.Context), keys, "a value is given for the context key %q, which no endpoint declares"},
		{maps.Keys(c.opts.Endpoints), endpoints, "values are given for the endpoint %q, which the manifest does not have"},
	} {
		for _, name := range slices.Sorted(kind.given) {
			if slices.Contains(kind.known, name) {
				continue
			}
			hint := "remove it, or correct it"
			if near := spell.Nearest(name, kind.known); near != "" {
				hint = fmt.Sprintf("did you mean %q?", near)
			}
			c.add(Warned, hint, kind.message, name)
		}
	}
}

// values returns the values for an endpoint: its own ones, and the general ones for the rest. Empty ones are none.
func (c *checker) values(e signpost.Endpoint) (params map[string]string, context map[string]any, feed string) {
	params, context = make(map[string]string), make(map[string]any)
	general := Values{Params: c.opts.Params, Context: c.opts.Context}
	for _, from := range []Values{general, c.opts.Endpoints[signpost.CutURL(e.URL).Path()], c.opts.Endpoints[e.URL]} {
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
func (c *checker) plan(ctx context.Context, e signpost.Endpoint, l *link) *probe {
	p := &probe{endpoint: e, sent: make(map[string]any), link: l, result: Result{Endpoint: e.URL}}
	switch {
	case e.Method == signpost.MethodPost:
		return p.set(Skipped, "", "post endpoints are not called: that might change something")
	case strings.Contains(e.URL, signpost.HostPlaceholder):
		return p.set(Skipped, "", "{{host}} is not replaced in its URL")
	case !strings.HasPrefix(signpost.CutURL(e.URL).Scheme(), "http"):
		return p.set(Failed, "correct the URL in the definition", "it cannot be called: its URL is not an http(s) URL")
	}
	placeholders := signpost.CutURL(e.URL).Placeholders()
	params, context, feed := c.values(e)
	call := Call{Context: p.sent}
	var needs []string // what has no value
	switch {
	case l != nil:
		call.Feed = l.text
	case feed != "":
		call.Feed, call.Modifiers, p.named = resolveFeed(e, feed), Defaults(e), true
	default:
		call.Params, call.Modifiers = make(map[string]string), Defaults(e)
		for _, name := range placeholders {
			call.Params[name] = params[name]
			if params[name] == "" {
				needs = append(needs, "{{"+name+"}}")
				p.result.Params = append(p.result.Params, name)
			}
		}
	}
	refusal, unsent := c.contextRefusal(e), ""
	for _, item := range e.ContextObj {
		value := context[item.Key]
		switch {
		case item.Place() != "" && !item.SentWith(e.Method): // NewRequest reports it
		case item.Place() != "" && refusal == "" && value != nil:
			p.sent[item.Key] = value
		case item.Place() == "" && !item.Required:
			p.unsent = append(p.unsent, fmt.Sprintf("%s of type %q", item.Key, item.Type))
		case !item.Required:
		case item.Place() == "":
			unsent = fmt.Sprintf("it requires %s with type %q, which this check cannot send", item.Key, item.Type)
		case refusal != "":
			unsent = fmt.Sprintf("it requires %s, which is not sent because %s", item.Key, refusal)
		default:
			needs = append(needs, item.Key)
			p.result.ContextKeys = append(p.result.ContextKeys, item.Key)
		}
	}
	owner := c.otherOwner(e, call)
	switch {
	case len(needs) > 0:
		p.result.Cause = causeMissingValues
		return p.set(Skipped, "give a value for "+strings.Join(needs, " and "),
			"it needs a value for %s", strings.Join(needs, ", "))
	case unsent != "":
		return p.set(Skipped, "", "%s", unsent)
	case l != nil && refusal != "" && l.describe() != fmt.Sprintf("%q", l.text): // what no result may quote
		return p.set(Skipped, "", "the link may repeat a context value, which is not sent because %s", refusal)
	case owner != "" && call.Feed != "":
		return p.set(Skipped, "name a feed that this endpoint answers for",
			"%s answers for the feed that is given for it", owner)
	case owner != "":
		p.result.Cause, p.result.Params = causeMissingValues, placeholders
		return p.set(Skipped, "give another value for {{"+strings.Join(placeholders, "}} or {{")+"}}",
			"with the given values, %s answers for its feed", owner)
	}
	req, err := NewRequest(ctx, e, call)
	if err != nil {
		return p.set(Failed, "correct the definition, or the value that is given for it", "it cannot be called: %v", err)
	}
	req.Header.Set("Origin", appOrigin) // without it, services that reflect the origin omit CORS headers
	p.url = req.URL.String()
	if c.opts.SendTo != nil && c.isOwn(p.url) {
		req = httpurl.SendTo(req, c.opts.SendTo)
	}
	p.req = req
	return p
}

// otherOwner names the endpoint that answers for the feed of a call, if it is another one: an app would call that one
// instead, with its context keys. It returns "" if it is this one, or if the call is that of the endpoint's own URL.
func (c *checker) otherOwner(e signpost.Endpoint, call Call) string {
	feed, err := feedURL(e, call)
	if err != nil || len(call.Params) == 0 && call.Feed == "" {
		return ""
	}
	match, ok := c.index.Match(feed)
	switch {
	case !ok:
		return "no endpoint"
	case match.Endpoint != e.URL:
		return fmt.Sprintf("%q", match.Name)
	}
	return ""
}

// resolveFeed returns the URL of a feed that may be a path on the host of its endpoint.
func resolveFeed(e signpost.Endpoint, feed string) string {
	if u := signpost.CutURL(e.URL); strings.HasPrefix(feed, "/") {
		return strings.TrimSuffix(e.URL, u.Path()+strings.TrimSuffix("?"+u.Query(), "?")) + feed
	}
	return feed
}

// contextRefusal says why an endpoint gets no context values, or "" if it gets them. They are for the service at the
// given address, and the manifest is merely what that service claims.
func (c *checker) contextRefusal(e signpost.Endpoint) string {
	if !c.isOwn(e.URL) {
		return "it is not on " + c.address.Hostname()
	}
	to := c.opts.SendTo
	if to == nil {
		to, _ = url.Parse(e.URL) // isOwn has parsed it
	}
	if to.Scheme != "https" && !host.IsLoopback(to.Host) {
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
		if port := c.address.Port(); port != "" && p.req.URL.Port() == "" && c.isOwn(p.endpoint.URL) {
			problem.Hint = fmt.Sprintf("{{host}} has no port, so this is the default one, not port %s of the address; %s",
				port, problem.Hint)
			p.result.Cause = causePortDropped
		}
		p.set(Failed, problem.Hint, "%s", p.shown(problem.Message))
		return
	}
	got := mediaType(answer.Header.Get("Content-Type"))
	// That it is not declared is a finding about the manifest.
	declared := cmp.Or(mediaType(p.endpoint.MIMEType), got, signpost.MIMEJSON)
	p.status = answer.Status
	asked, _ := url.Parse(p.url) // it is that of a request
	o := newOutcome(asked, answer)
	status, told := statusText(answer.Status), fmt.Sprintf("Content-Type %q", p.shown(got))
	if got == "" {
		told = "no Content-Type"
	}
	readable := isJSON(declared) && (answer.Truncated || json.Valid(answer.Body))
	o.empty = !p.dead() && len(bytes.TrimSpace(answer.Body)) == 0 && !answer.Truncated
	switch {
	case p.refused() && len(p.unsent) > 0:
		p.set(Warned, "try it with an app that knows such keys", "the response is %s", status)
	case p.dead() || o.empty:
		p.outcome = o
		told := "the response is " + status
		switch {
		case o.empty:
			told = status + " with an empty body"
		case o.isLoop():
			told += ", to itself: a loop"
		case answer.Redirect != "":
			told += ", to " + p.quoteURL(answer.Redirect)
		}
		p.set(Failed, "", "%s", told)
	case declared == signpost.MIMEForm:
		p.set(Warned, "declare the type of the response",
			"%s with %s; mime_type is %q, which no response to a get request has", status, told, declared)
	case isJSON(got) && isJSON(declared) && !readable:
		why := notJSON(answer.Body)
		p.set(Failed, cmp.Or(why.Hint, webPageOfFeed), "%s with %s, but the body is not JSON: %s", status, told, why.Message)
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
		c.readFeed(p, answer)
	}
}
