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

// The checks, in the order in which a studio would stumble over what is wrong.
const (
	CheckHTTPS       = "https"       // the address is one that the studio takes
	CheckReachable   = "reachable"   // there is an answer in time
	CheckCertificate = "certificate" // clients can trust it
	CheckRedirect    = "redirect"    // the address is the manifest's own
	CheckStatus      = "status"      // the answer is 200
	CheckJSON        = "json"        // it is JSON, complete, and says so
	CheckManifest    = "manifest"    // it is a manifest, without findings
	CheckHost        = "host"        // its URLs carry the host that was asked for
	CheckCORS        = "cors"        // a studio in a browser can read it
	CheckETag        = "etag"        // it is not sent again while it has not changed
	CheckProbe       = "probe"       // its endpoints answer
)

// Status is how a check went.
type Status string

const (
	Passed  Status = "passed"
	Failed  Status = "failed"
	Warned  Status = "warned"  // it works, but not as well as it could, or not for everybody
	Skipped Status = "skipped" // the message says why
)

// Report is what [Check] found. Every check has at least one result, in order.
type Report struct {
	Address string   `json:"address"`
	OK      bool     `json:"ok"` // nothing failed
	Results []Result `json:"results"`
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

// CheckOptions say how to check. The zero value calls the endpoints that need nothing to be filled in.
type CheckOptions struct {
	Options // the time limit is for each request

	// Lint returns what is wrong with a manifest, with line and column, as package signpost/definition does.
	// Without it the findings are those of [signpost.Manifest.Validate] and Warnings.
	Lint func(body []byte) []signpost.Finding

	SkipProbes  bool              // call no endpoints
	Concurrency int               // how many endpoints are called side by side; DefaultConcurrency if zero
	Params      map[string]string // values for the placeholders of endpoints, by name

	// Context has values for the context keys of endpoints. They are sent to endpoints on the host of the address
	// alone, over https or on this machine, and are in no result.
	Context map[string]string

	// Progress is called before the endpoints are called, and after each. Calls do not overlap.
	Progress func(done, total int)
}

const (
	// studioOrigin stands for the origin of a studio in a browser. Nobody has it.
	studioOrigin = "https://studio.example"

	// otherTag is an entity tag that no manifest has.
	otherTag = `"signpost-check"`

	// A certificate that ends this soon should have been renewed. One that is made for days and not for months ends
	// soon from the beginning: then a tenth of its time counts.
	expiresSoon = 14 * 24 * time.Hour
)

// Check finds out what a studio would find at the address of a manifest, and what an app would find at the
// endpoints. What is wrong is in the report; the error is for an address that is none.
func Check(ctx context.Context, address string, opts CheckOptions) (Report, error) {
	u, err := ParseAddress(address)
	if err != nil {
		return Report{}, err
	}
	opts.Timeout = cmp.Or(opts.Timeout, DefaultTimeout)
	c := &checker{opts: opts, address: u}
	c.res, c.body, c.err = c.get(ctx, nil)
	c.run(ctx)
	failed := slices.ContainsFunc(c.results, func(r Result) bool { return r.Status == Failed })
	return Report{Address: address, OK: !failed, Results: c.results}, nil
}

// checker is one run of the checks.
type checker struct {
	opts    CheckOptions
	address *url.URL
	results []Result

	// The answer to the plain request, as exchange returns it, and the manifest in it once that has been read.
	res      *http.Response
	body     []byte
	err      error
	manifest *signpost.Manifest
}

func (c *checker) run(ctx context.Context) {
	blocked := ""
	for _, step := range []struct {
		check   string
		run     func(context.Context) bool // whether there is a point in going on
		blocked string                     // if there is not, why
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
	} {
		if blocked != "" {
			c.add(step.check, Skipped, "", "%s", blocked)
		} else if !step.run(ctx) {
			blocked = step.blocked
		}
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
	return exchange(req, c.opts.Options, MaxSize)
}
