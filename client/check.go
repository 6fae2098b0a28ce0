package client

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"time"

	"signpost/internal/httpurl"
	"signpost/internal/spell"

	"signpost"
)

// Names of checks, in the order in which a studio and then its apps would encounter a problem.
const (
	httpsCheck       = "https"       // the address is https, which studios require
	reachableCheck   = "reachable"   // it responds in time
	certificateCheck = "certificate" // clients trust the certificate
	redirectCheck    = "redirect"    // the address does not redirect
	statusCheck      = "status"      // the status is 200
	jsonCheck        = "json"        // the response is complete JSON, and declared as such
	manifestCheck    = "manifest"    // it is a manifest without findings
	hostCheck        = "host"        // its URLs carry the host of the address
	corsCheck        = "cors"        // a studio in a browser can read it
	etagCheck        = "etag"        // it is not sent again if unchanged
	probeCheck       = "probe"       // its endpoints respond with the type that they declare
	feedCheck        = "feed"        // feeds are JSON objects, and valid against a schema
	linksCheck       = "links"       // every link to a registered host has an endpoint and works
	feedCORSCheck    = "feed-cors"   // apps in a browser engine can read the feeds
	feedCacheCheck   = "feed-cache"  // shared caches do not store responses that required a context key
)

// checks lists all checks in order. Each adds its results and reports whether the next ones make sense; if not, they are
// blocked for the given reason.
var checks = []struct {
	name    string
	run     func(*checker, context.Context) bool
	blocked string
}{
	{httpsCheck, (*checker).checkHTTPS, ""},
	{reachableCheck, (*checker).checkReachable, "no response"},
	{certificateCheck, (*checker).checkCertificate, "no secure connection"},
	{redirectCheck, (*checker).checkRedirect, "the address redirects"},
	{statusCheck, (*checker).checkStatus, "the response is not a manifest"},
	{jsonCheck, (*checker).checkJSON, "the response is not JSON"},
	{manifestCheck, (*checker).checkManifest, ""},
	{hostCheck, (*checker).checkHost, ""},
	{corsCheck, (*checker).checkCORS, ""},
	{etagCheck, (*checker).checkETag, ""},
	{probeCheck, (*checker).checkProbes, ""},
	{feedCheck, (*checker).checkFeeds, ""},
	{linksCheck, (*checker).checkLinks, ""},
	{feedCORSCheck, (*checker).checkFeedCORS, ""},
	{feedCacheCheck, (*checker).checkFeedCache, ""},
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

	SkipProbes  bool // call no endpoints
	Concurrency int  // number of concurrent requests; DefaultConcurrency if zero
	Follow      int  // number of links to call; DefaultFollow if zero, none if negative

	// Params has values for placeholders by name, Context for context keys. Context values are sent only to the
	// service's own host, over https or on this machine, and never after a redirect. They never occur in a result.
	Params, Context map[string]string

	Endpoints map[string]Values // values for single endpoints, by URL or path; they take precedence

	// SendTo receives the requests for the service's own host, with the host in Host and X-Forwarded-Host, as a reverse proxy
	// forwards them. Use it to check a service before it is deployed.
	SendTo *url.URL

	// FeedSchema validates a feed, a JSON value as returned by [json.Unmarshal] with json.Number for numbers. It is not
	// called concurrently.
	FeedSchema func(feed any) []Violation

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
	// studioOrigin stands in for the origin of a studio in a browser, appOrigin for that of an app. Neither exists.
	studioOrigin = "https://studio.example"
	appOrigin    = "https://app.example"

	// otherTag is an entity tag that no manifest has.
	otherTag = `"signpost-check"`

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
	opts.Timeout = cmp.Or(opts.Timeout, DefaultTimeout)
	c := &checker{opts: opts, address: u, limits: limits{maxFollowBytes, maxFollowTime, maxProbes}, crawl: &crawl{}}
	report := c.check(ctx)
	report.Address = httpurl.Redacted(address)
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

	// The response to the plain request, as returned by exchange, and the manifest in it, if it could be read.
	res      *http.Response
	body     []byte
	err      error
	manifest *signpost.Manifest

	crawl *crawl // responses of the endpoints and their links
}

func (c *checker) run(ctx context.Context) {
	blocked := ""
	for _, step := range checks {
		before := len(c.results)
		if blocked != "" {
			c.add(step.name, Skipped, "", "%s", blocked)
		} else if !step.run(c, ctx) {
			blocked = step.blocked
		}
		c.ignore(step.name, before)
		for _, r := range c.results[before:] {
			if c.opts.Observe != nil {
				c.opts.Observe(r)
			}
		}
	}
}

// ignore removes failures and warnings that do not count. The check keeps at least one result.
func (c *checker) ignore(check string, from int) {
	kept := slices.DeleteFunc(c.results[from:], func(r Result) bool {
		return (r.Status == Failed || r.Status == Warned) && (slices.Contains(c.opts.Ignore, r.Check) || r.Rule != "" && slices.Contains(c.opts.Ignore, r.Rule))
	})
	ignored := len(c.results) - from - len(kept)
	c.results, c.ignored = c.results[:from+len(kept)], c.ignored+ignored
	if len(kept) == 0 && ignored > 0 {
		c.add(check, Skipped, "", "%s ignored", spell.Count(ignored, "result"))
	}
}

// add adds a result. The pointer is valid until the next call.
func (c *checker) add(check string, status Status, hint, format string, args ...any) *Result {
	c.results = append(c.results, Result{Check: check, Status: status, Message: fmt.Sprintf(format, args...), Hint: hint})
	return &c.results[len(c.results)-1]
}

// addProblem adds a failure that has been explained.
func (c *checker) addProblem(check, prefix string, p Problem) {
	c.add(check, Failed, p.Hint, "%s%s", prefix, p.Message).Cause = p.Cause
}

// get requests the manifest as a studio does.
func (c *checker) get(ctx context.Context, header map[string]string) (*http.Response, []byte, error) {
	req, err := newGet(ctx, c.address)
	if err != nil {
		return nil, nil, err
	}
	for name, value := range header {
		req.Header.Set(name, value)
	}
	if c.forwardsManifest() {
		req = httpurl.SendTo(req, c.opts.SendTo)
	}
	return exchange(req, c.opts.Options, MaxSize)
}
