package client

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"time"

	"signpost"
)

// The checks, in the order in which a studio and then its apps would come across a problem.
const (
	CheckHTTPS       = "https"       // the address is https, which studios require
	CheckReachable   = "reachable"   // there is a response in time
	CheckCertificate = "certificate" // clients trust the certificate
	CheckRedirect    = "redirect"    // the address does not redirect
	CheckStatus      = "status"      // the status is 200
	CheckJSON        = "json"        // the response is complete JSON, and declared as such
	CheckManifest    = "manifest"    // it is a manifest without findings
	CheckHost        = "host"        // its URLs carry the host of the address
	CheckCORS        = "cors"        // a studio in a browser can read it
	CheckETag        = "etag"        // it is not sent again while it is unchanged
	CheckProbe       = "probe"       // its endpoints respond with the type that they declare
	CheckFeed        = "feed"        // feeds are JSON objects, and valid against a schema
	CheckLinks       = "links"       // every link to a registered host has an endpoint and works
	CheckFeedCORS    = "feed-cors"   // apps in a browser engine can read the feeds
	CheckFeedCache   = "feed-cache"  // shared caches do not keep what a context key was required for
)

// Checks returns the names of all checks, in order.
func Checks() []string {
	return []string{
		CheckHTTPS, CheckReachable, CheckCertificate, CheckRedirect, CheckStatus, CheckJSON, CheckManifest, CheckHost, CheckCORS, CheckETag,
		CheckProbe, CheckFeed, CheckLinks, CheckFeedCORS, CheckFeedCache,
	}
}

// Status is how a check went.
type Status string

const (
	Passed  Status = "passed"
	Failed  Status = "failed"
	Warned  Status = "warned"  // it works, but not as well as it could, or not for everybody
	Skipped Status = "skipped" // the message says why
)

// Report is what [Check] found. Every check has at least one result, in the order of [Checks].
type Report struct {
	Address string   `json:"address"`
	OK      bool     `json:"ok"` // nothing failed
	Results []Result `json:"results"`
	Ignored int      `json:"-"` // how many results CheckOptions.Ignore left out
}

// Result is how one check went or, for the checks that look at each endpoint, how it went for one of them.
type Result struct {
	Check    string `json:"check"`
	Status   Status `json:"status"`
	Endpoint string `json:"endpoint"` // its URL, where the result is about one
	Message  string `json:"message"`
	Hint     string `json:"hint"` // what to do

	// The facts behind message and hint, for callers that word them for their users. They are not part of the JSON.
	Cause       Cause    `json:"-"`
	Rule        string   `json:"-"` // of a finding about the manifest
	Params      []string `json:"-"` // names of placeholders
	ContextKeys []string `json:"-"`
}

// CheckOptions say how to check. The zero value calls the endpoints that need no values, and follows their links.
type CheckOptions struct {
	Options // the time limit is for each request

	// Lint returns the findings about a manifest, as package signpost/definition does. Without it they are those of
	// [signpost.Manifest.Validate] and Warnings.
	Lint func(body []byte) []signpost.Finding

	// Registered are manifests that the studio has besides, resolved: they count for overlap and for links, and are
	// not checked themselves.
	Registered []signpost.Manifest

	SkipProbes  bool // call no endpoints
	Concurrency int  // how many requests are sent side by side; DefaultConcurrency if zero
	Follow      int  // how many links of feeds are called; DefaultFollow if zero, none if negative

	// Params has values for placeholders, by name, and Context for context keys. Context values are sent to the
	// service's own host only, over https or on this machine, never after a redirect, and are in no result.
	Params, Context map[string]string

	Endpoints map[string]Values // values for single endpoints, by URL or by path; they take precedence

	// SendTo receives what is for the service's own host, as [SendTo] sends it: a service that is not deployed yet.
	SendTo *url.URL

	// FeedSchema returns what is wrong with a feed: a JSON value as [json.Unmarshal] returns it, with json.Number for
	// numbers. Calls do not overlap.
	FeedSchema func(feed any) []Violation

	Ignore []string // names of checks, and rules, whose failures and warnings do not count

	// Progress is called before endpoints are called, and after each. Calls do not overlap.
	Progress func(done, total int)

	// Observe is called with each result as soon as it is final, in order.
	Observe func(Result)
}

// Values are what a check fills in for an endpoint, as those of [CheckOptions] for all.
type Values struct{ Params, Context map[string]string }

const (
	// studioOrigin stands for the origin of a studio in a browser, and appOrigin for that of an app. Nobody has them.
	studioOrigin = "https://studio.example"
	appOrigin    = "https://app.example"

	// otherTag is an entity tag that no manifest has.
	otherTag = `"signpost-check"`

	// A certificate that ends this soon should have been renewed. One that is made for days and not for months ends
	// soon from the beginning: then a tenth of its time counts.
	expiresSoon = 14 * 24 * time.Hour
)

// Check finds out what a studio would find at the address of a manifest, and what an app would find at the endpoints.
// Problems are in the Report; the error is non-nil only if the address is invalid.
func Check(ctx context.Context, address string, opts CheckOptions) (Report, error) {
	u, err := ParseAddress(address)
	if err != nil {
		return Report{}, err
	}
	opts.Timeout = cmp.Or(opts.Timeout, DefaultTimeout)
	c := &checker{opts: opts, address: u, limits: limits{maxFollowBytes, maxFollowTime}, crawl: &crawl{}}
	report := c.check(ctx)
	report.Address = address
	return report, nil
}

func (c *checker) check(ctx context.Context) Report {
	c.res, c.body, c.err = c.get(ctx, nil)
	c.run(ctx)
	failed := slices.ContainsFunc(c.results, func(r Result) bool { return r.Status == Failed })
	return Report{OK: !failed, Results: c.results, Ignored: c.ignored}
}

// checker is one run of the checks.
type checker struct {
	opts    CheckOptions
	limits  limits
	address *url.URL
	results []Result
	ignored int

	// The response to the plain request, as exchange returns it, and the manifest in it once that has been read.
	res      *http.Response
	body     []byte
	err      error
	manifest *signpost.Manifest

	crawl *crawl // what the endpoints and their links returned
}

func (c *checker) run(ctx context.Context) {
	blocked := ""
	for _, step := range []struct {
		check   string
		run     func(context.Context) bool // whether the next checks make sense
		blocked string                     // if not, why
	}{
		{CheckHTTPS, c.checkHTTPS, ""},
		{CheckReachable, c.checkReachable, "no response"},
		{CheckCertificate, c.checkCertificate, "no secure connection"},
		{CheckRedirect, c.checkRedirect, "the address redirects"},
		{CheckStatus, c.checkStatus, "the response is not a manifest"},
		{CheckJSON, c.checkJSON, "the response is not JSON"},
		{CheckManifest, c.checkManifest, ""},
		{CheckHost, c.checkHost, ""},
		{CheckCORS, c.checkCORS, ""},
		{CheckETag, c.checkETag, ""},
		{CheckProbe, c.checkProbes, ""},
		{CheckFeed, c.checkFeeds, ""},
		{CheckLinks, c.checkLinks, ""},
		{CheckFeedCORS, c.checkFeedCORS, ""},
		{CheckFeedCache, c.checkFeedCache, ""},
	} {
		before := len(c.results)
		if blocked != "" {
			c.add(step.check, Skipped, "", "%s", blocked)
		} else if !step.run(ctx) {
			blocked = step.blocked
		}
		c.ignore(step.check, before)
		for _, r := range c.results[before:] {
			if c.opts.Observe != nil {
				c.opts.Observe(r)
			}
		}
	}
}

// ignore removes the failures and warnings of a check that do not count. The check keeps at least one result.
func (c *checker) ignore(check string, from int) {
	kept := slices.DeleteFunc(c.results[from:], func(r Result) bool {
		return (r.Status == Failed || r.Status == Warned) && (slices.Contains(c.opts.Ignore, r.Check) || r.Rule != "" && slices.Contains(c.opts.Ignore, r.Rule))
	})
	ignored := len(c.results) - from - len(kept)
	c.results, c.ignored = c.results[:from+len(kept)], c.ignored+ignored
	if len(kept) == 0 && ignored > 0 {
		c.add(check, Skipped, "", "%s ignored", count(ignored, "result"))
	}
}

// add adds a result. The pointer is good until the next one is added.
func (c *checker) add(check string, status Status, hint, format string, args ...any) *Result {
	c.results = append(c.results, Result{Check: check, Status: status, Message: fmt.Sprintf(format, args...), Hint: hint})
	return &c.results[len(c.results)-1]
}

// addProblem adds a failure that has been explained.
func (c *checker) addProblem(check, prefix string, p Problem) {
	c.add(check, Failed, p.Hint, "%s%s", prefix, p.Message).Cause = p.Cause
}

// get asks for the manifest as a studio does.
func (c *checker) get(ctx context.Context, header map[string]string) (*http.Response, []byte, error) {
	req, err := newGet(ctx, c.address)
	if err != nil {
		return nil, nil, err
	}
	for name, value := range header {
		req.Header.Set(name, value)
	}
	if c.forwardsManifest() {
		req = SendTo(req, c.opts.SendTo)
	}
	return exchange(req, c.opts.Options, MaxSize)
}
