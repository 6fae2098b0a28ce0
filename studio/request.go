package studio

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"signpost"
	"signpost/client"
	"signpost/internal/httpurl"
)

// Ways to send a request.
const (
	sendPublished = "published" // to the URL in the manifest
	sendOrigin    = "origin"    // to another origin, if it is for the service's own host
	sendSample    = "sample"    // not at all: the studio generates a response
)

// composeBody has what is filled in for an endpoint, and how to send it.
type composeBody struct {
	sourceBody
	Endpoint string `json:"endpoint"` // its key
	values
	Modifiers map[string]string `json:"modifiers"` // by the key of the param
	Send      string            `json:"send"`      // one of the ways above; empty means sendPublished
	To        string            `json:"to"`        // the origin for sendOrigin
}

// draft is the request that an app would send, as far as it is filled in.
type draft struct {
	Method   string    `json:"method"`
	URL      string    `json:"url"` // placeholders without a value are left as they are
	Ctx      string    `json:"ctx"`
	Body     string    `json:"body"`
	BodyType string    `json:"body_type"`
	Snippets []snippet `json:"snippets"` // none while anything is missing
	Problems []missing `json:"problems"` // reasons why it cannot be sent
	Owner    *matched  `json:"owner"`    // the endpoint of the feed, if it is another one

	endpoint signpost.Endpoint
	version  *version
	unfilled []string // placeholders without a value, with their braces
	foreign  bool     // not on the host of the manifest
	to       *url.URL // where requests for the service's own host go instead; nil means where they are for
	req      *http.Request
}

// missing is something that a request lacks, and its field: param:, modifier: or context: and a name, or nothing.
type missing struct {
	Field   string `json:"field"`
	Message string `json:"message"`
	Context bool   `json:"context"` // a required context key: the request can be sent without it
}

func (s *Studio) compose(c call, in composeBody) (any, error) {
	d, err := compose(c, in)
	if err != nil {
		return nil, err
	}
	if d.req != nil && d.Owner == nil && len(d.Problems) == 0 {
		if d.to != nil {
			d.req = httpurl.SendTo(d.req, d.to)
		}
		d.Snippets = snippets(d)
	}
	return d, nil
}

// compose returns the draft of a request. Package client builds it, so it is what an app sends; missing values are
// omitted or shown as placeholders. If the feed belongs to another endpoint, an app would send a different request, and
// the draft says whose.
func compose(c call, in composeBody) (draft, error) {
	d := draft{version: c.src.version(in.Version), Snippets: []snippet{}, Problems: []missing{}}
	if d.version != nil {
		for i, e := range d.version.Endpoints {
			if e.Key == in.Endpoint {
				d.endpoint, d.foreign = d.version.manifest.Endpoints[i], e.Foreign
			}
		}
	}
	e := d.endpoint
	if e.URL == "" {
		return d, failed(http.StatusNotFound, "This endpoint is no longer in the manifest.", "Choose another one.")
	}
	if in.Send == sendOrigin && !d.foreign {
		to, err := parseOrigin(in.To)
		if err != nil {
			return d, err
		}
		d.to = to
	}
	d.Method, d.URL = strings.ToUpper(e.Method), e.URL
	values := d.usable(in)
	relaxed := e.Clone() // what is missing is a problem already
	for i := range relaxed.ContextObj {
		relaxed.ContextObj[i].Required = false
	}
	req, err := client.NewRequest(c.r.Context(), relaxed, values)
	if err == nil {
		err = checkTarget(req.URL)
	}
	if err != nil {
		if len(d.unfilled) == 0 { // otherwise it is about a placeholder
			d.Problems = append(d.Problems, missing{Message: sentence(err.Error())})
		}
		return d, nil
	}
	d.req, d.URL = req, req.URL.String()
	for _, name := range d.unfilled { // is shown as it is in the manifest
		d.URL = strings.ReplaceAll(d.URL, url.PathEscape(name), name)
	}
	d.Ctx = req.URL.Query().Get("ctx")
	if req.Body != nil {
		body, _ := io.ReadAll(req.Body) // in memory
		req.Body = io.NopCloser(bytes.NewReader(body))
		d.Body, d.BodyType = string(body), req.Header.Get("Content-Type")
	}
	if len(d.unfilled) == 0 {
		m := c.view.overlap.match(d.URL)
		self := reference{Source: in.Source, Key: in.Endpoint, URL: e.URL}
		isOn := slices.ContainsFunc(m.Losers, self.isSame) // the page may show a host that the service does not have
		if isOn && m.Winner.URL != e.URL && c.view.overlap.isKnown(self, m.Winner) {
			d.Owner = &m
		}
	}
	return d, nil
}

// blocked reports whether the request cannot be sent as it is. Only required context keys may be left out.
func (d *draft) blocked(without bool) bool {
	return d.req == nil || slices.ContainsFunc(d.Problems, func(p missing) bool { return !p.Context || !without })
}

// usable returns what a request can be built from. The rest becomes problems.
func (d *draft) usable(in composeBody) client.Call {
	e := d.endpoint
	call := client.Call{Params: make(map[string]string), Modifiers: make(map[string]string), Context: make(map[string]any)}
	problem := func(field, message string, context bool) {
		d.Problems = append(d.Problems, missing{field, message, context})
	}
	for _, name := range signpost.CutURL(e.URL).Placeholders() {
		call.Params[name] = in.Params[name]
		if in.Params[name] == "" {
			call.Params[name] = "{{" + name + "}}"
			d.unfilled = append(d.unfilled, call.Params[name])
			problem("param:"+name, "Fill in "+name+".", false)
		}
	}
	for _, m := range e.Modifiers {
		for _, p := range m.Params {
			value := in.Modifiers[p.Key]
			if err := client.CheckValue(p, value); err != nil {
				problem("modifier:"+p.Key, sentence(err.Error()), false)
				continue
			}
			call.Modifiers[p.Key] = value
		}
	}
	for _, item := range e.ContextObj {
		value := in.Context[item.Key]
		switch {
		case !item.SentWith(e.Method):
		case value.Text != "" && value.JSON:
			if !json.Valid([]byte(value.Text)) {
				problem("context:"+item.Key, "The value of "+item.Key+" is not JSON.", false)
				continue
			}
			call.Context[item.Key] = json.RawMessage(value.Text)
		case value.Text != "":
			call.Context[item.Key] = value.Text
		case item.Required:
			problem("context:"+item.Key, "Fill in the required context key "+item.Key+".", true)
		}
	}
	return call
}

// checkTarget rejects URLs to which nothing is ever sent, whatever a manifest says.
func checkTarget(u *url.URL) error {
	switch {
	case u.Scheme != "https" && u.Scheme != "http":
		return fmt.Errorf("the URL has the scheme %q: requests go to https and http only", u.Scheme)
	case u.Hostname() == "":
		return errors.New("the URL has no host")
	case u.User != nil:
		return errors.New("the URL has user info before its host, which apps do not send")
	}
	return nil
}
