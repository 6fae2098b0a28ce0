package client

import (
	"context"
	"encoding/json"
	"fmt"
	"net/url"
	"slices"
	"time"

	"signpost"
	"signpost/host"
	"signpost/internal/httpurl"
	"signpost/internal/spell"
	"signpost/match"
)

// checks lists all checks, in the order in which a studio and then its apps would encounter a problem. Each adds its
// results, and sets checker.blocked if the next ones make no sense. Checks of feeds are skipped if there are none.
var checks = []struct {
	name    string
	run     func(*checker, context.Context)
	ofFeeds bool
}{
	{name: "https", run: (*checker).checkHTTPS},                         // studios require https
	{name: "reachable", run: (*checker).checkReachable},                 // the address responds in time
	{name: "certificate", run: (*checker).checkCertificate},             // clients trust it
	{name: "redirect", run: (*checker).checkRedirect},                   // there is none
	{name: "status", run: (*checker).checkStatus},                       // it is 200
	{name: "json", run: (*checker).checkJSON},                           // complete, declared, with and without gzip
	{name: "manifest", run: (*checker).checkManifest},                   // it has no findings
	{name: "host", run: (*checker).checkHost},                           // the URLs carry the host of the address
	{name: "cors", run: (*checker).checkCORS},                           // a studio in a browser can read it
	{name: "etag", run: (*checker).checkETag},                           // it is not sent again if unchanged
	{name: "probe", run: (*checker).checkProbes},                        // endpoints respond with their type
	{name: "feed", run: (*checker).checkFeeds, ofFeeds: true},           // feeds are objects, valid against a schema
	{name: "links", run: (*checker).checkLinks, ofFeeds: true},          // links to registered hosts work
	{name: "feed-cors", run: (*checker).checkFeedCORS, ofFeeds: true},   // apps in a browser engine can read feeds
	{name: "feed-cache", run: (*checker).checkFeedCache, ofFeeds: true}, // shared caches store no personal feeds
}

// Checks returns the names of all checks, in order.
func Checks() []string {
	var names []string
	for _, c := range checks {
		names = append(names, c.name)
	}
	return names
}

// Status is the outcome of a check.
type Status string

const (
	Passed  Status = "passed"
	Failed  Status = "failed"
	Warned  Status = "warned"  // it works, but not as well as it could, or not for everyone
	Skipped Status = "skipped" // the message says why
)

// Report is the result of [Check]. Every check has at least one result, in the order of [Checks].
type Report struct {
	Address string   `json:"address"`
	OK      bool     `json:"ok"` // nothing failed
	Results []Result `json:"results"`
	Ignored int      `json:"-"` // number of results left out because of CheckOptions.Ignore
}

// Result is the outcome of one check or, for checks of endpoints, of one check for one endpoint.
type Result struct {
	Check    string `json:"check"`
	Status   Status `json:"status"`
	Endpoint string `json:"endpoint"` // URL of the endpoint, if the result is about one
	Message  string `json:"message"`
	Hint     string `json:"hint"` // what to do

	// The facts behind message and hint, for callers with their own wording. They are not part of the JSON.
	Cause       string   `json:"-"` // such as "missing-values"; the constants beside Explain list all
	Rule        string   `json:"-"` // of a finding about the manifest
	Params      []string `json:"-"` // names of placeholders
	ContextKeys []string `json:"-"`
}

// CheckOptions configure Check. The zero value calls the endpoints that need no values, and follows their links.
type CheckOptions struct {
	Options // the timeout applies to each request

	// Lint returns the findings about a manifest, and the manifest as far as it can be read in spite of them, like package
	// signpost/definition. If it is nil, a manifest with a field of the wrong type cannot be read.
	Lint func(body []byte) (signpost.Manifest, []signpost.Finding)

	// Registered are other manifests in the same studio, resolved. They take part in overlap and in the check of links,
	// but are not checked themselves.
	Registered []signpost.Manifest

	SkipProbes bool // call no endpoints
	Follow     int  // number of links to call; DefaultFollow if zero, none if negative

	// Params has values for placeholders by name, Context for context keys. Context values are sent only to the
	// service's own host, over https or on this machine, and never after a redirect. They never occur in a result.
	Params, Context map[string]string

	Endpoints map[string]Values // values for single endpoints, by URL or path; they take precedence

	// SendTo receives the requests for the service's own host, with the host in Host and X-Forwarded-Host, as a reverse
	// proxy forwards them. Use it to check a service before it is deployed.
	SendTo *url.URL

	// FeedSchema validates a feed, a JSON value as returned by [json.Unmarshal] with json.Number for numbers. It is not
	// called concurrently.
	FeedSchema func(feed any) []Violation

	Strict bool     // warnings are failures
	Ignore []string // checks and rules whose failures and warnings do not count

	// Progress is called before the first endpoint is called, and after each call. It is not called concurrently.
	Progress func(done, total int)

	// Observe is called with each result as soon as it is final, in order.
	Observe func(Result)
}

// Values holds values for a single endpoint. See [CheckOptions].
type Values struct {
	Feed            string // a feed of the endpoint, by URL or path, to call instead of the endpoint's own URL
	Params, Context map[string]string
	ContextJSON     map[string]json.RawMessage // context values that are not strings; for a key in both, this one counts
}

const (
	// studioOrigin represents the origin of a studio in a browser, appOrigin that of an app. Neither exists.
	studioOrigin = "https://studio.example"
	appOrigin    = "https://app.example"

	// A certificate that expires this soon should have been renewed. A short-lived certificate always expires soon; for
	// these, a tenth of the lifetime counts.
	expiresSoon = 14 * 24 * time.Hour
)

// Check checks a manifest as a studio would read it, and its endpoints as an app would call them. Problems are in the
// Report; the error is non-nil only if the address is invalid.
func Check(ctx context.Context, address string, opts CheckOptions) (Report, error) {
	u, err := httpurl.ParseAddress(address)
	if err != nil {
		return Report{}, err
	}
	name, _ := host.Parse(u.Host) // ParseAddress has done so before
	c := &checker{opts: opts, address: u, host: name, ownHosts: signpost.FetchedFrom(name), hosts: make(map[string]bool),
		called: make(map[string]bool), seen: make(map[string]bool)}
	c.answer, c.err = c.get(ctx, u, "", "")
	for _, step := range checks {
		before := len(c.results)
		switch {
		case c.blocked != "":
			c.add(Skipped, "", "%s", c.blocked)
		case step.ofFeeds && opts.SkipProbes:
			c.add(Skipped, "", "the endpoints are not called").Cause = causeNotCalled
		case step.ofFeeds && len(c.feeds) == 0:
			c.add(Skipped, "", "no endpoint returned a feed")
		default:
			step.run(c, ctx)
		}
		c.ignore(step.name, before)
		for i := before; i < len(c.results); i++ {
			r := &c.results[i]
			r.Check = step.name
			if r.Status == Warned && opts.Strict {
				r.Status = Failed
			}
			if opts.Observe != nil {
				opts.Observe(*r)
			}
		}
	}
	failed := slices.ContainsFunc(c.results, func(r Result) bool { return r.Status == Failed })
	return Report{Address: httpurl.Redacted(address), OK: !failed, Results: c.results, Ignored: c.ignored}, nil
}

// checker is one run of the checks.
type checker struct {
	opts     CheckOptions
	address  *url.URL
	host     string // of the address, normalized
	ownHosts signpost.Hosts
	results  []Result
	ignored  int
	blocked  string // why the remaining checks are skipped

	// The response to the plain request, as returned by exchange.
	answer *Answer
	err    error

	// The registered endpoints: see register. There are none if the manifest cannot be read.
	registered []*target
	targets    []*target // of the manifest
	index      *match.Index
	hosts      map[string]bool

	// The calls, and where links lead.
	endpoints []*probe        // of the manifest, in order
	followed  []*probe        // links that were called
	feeds     []*probe        // those of both that returned a feed
	links     []*link         // links to get endpoints of the manifest that were not called
	called    map[string]bool // the identities of the endpoints' own calls
	seen      map[string]bool // the identities of links that have been looked at
	answered  int             // number of links that have an endpoint
	bad       []*link         // links with a problem

	done, total int // calls, for progress reports
	kept        int // bytes of links
}

// ignore removes failures and warnings that do not count. The check keeps at least one result.
func (c *checker) ignore(check string, from int) {
	kept := slices.DeleteFunc(c.results[from:], func(r Result) bool {
		ignored := slices.Contains(c.opts.Ignore, check) || r.Rule != "" && slices.Contains(c.opts.Ignore, r.Rule)
		return ignored && (r.Status == Failed || r.Status == Warned)
	})
	ignored := len(c.results) - from - len(kept)
	c.results, c.ignored = c.results[:from+len(kept)], c.ignored+ignored
	if len(kept) == 0 && ignored > 0 {
		c.add(Skipped, "", "%s ignored", spell.Count(ignored, "result"))
	}
}

// add adds a result. The pointer is valid until the next call.
func (c *checker) add(status Status, hint, format string, args ...any) *Result {
	c.results = append(c.results, Result{Status: status, Message: fmt.Sprintf(format, args...), Hint: hint})
	return &c.results[len(c.results)-1]
}

// addProblem adds a failure that has been explained.
func (c *checker) addProblem(prefix string, p Problem) {
	c.add(Failed, p.Hint, "%s%s", prefix, p.Message).Cause = p.Cause
}

// get requests the manifest as a studio does, with another header if that has a name. The address may be another one of
// the service.
func (c *checker) get(ctx context.Context, address *url.URL, header, value string) (*Answer, error) {
	req := newGet(ctx, address)
	if header != "" {
		req.Header.Set(header, value)
	}
	if c.forwardsManifest() {
		req = httpurl.SendTo(req, c.opts.SendTo)
	}
	return exchange(req, c.opts.Options, MaxSize)
}

// forwardsManifest reports whether SendTo also applies to the address. An address with an explicit port is not one of
// the service's URLs, since {{host}} has no port; usually it is a server on this machine.
func (c *checker) forwardsManifest() bool { return c.opts.SendTo != nil && c.address.Port() == "" }
