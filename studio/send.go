package studio

import (
	"encoding/json"
	"fmt"
	"mime"
	"net/http"
	"net/url"
	"time"
	"unicode/utf8"

	"signpost"
	"signpost/client"
)

// response is what a feed answered.
type response struct {
	ID          string      `json:"id"` // that pictures of it are asked for with
	Status      int         `json:"status"`
	StatusText  string      `json:"status_text"`
	URL         string      `json:"url"`
	Method      string      `json:"method"`
	To          string      `json:"to"` // the origin that it was sent to, or empty for a sample
	ContentType string      `json:"content_type"`
	Declared    bool        `json:"declared"` // the type is the one that the manifest names
	Headers     [][2]string `json:"headers"`
	Body        string      `json:"body"`
	JSON        bool        `json:"json"`
	Binary      bool        `json:"binary"`
	Bytes       int         `json:"bytes"`
	Truncated   bool        `json:"truncated"`
	Incomplete  bool        `json:"incomplete"` // it did not end
	Millis      int64       `json:"millis"`
	Sample      bool        `json:"sample"` // the studio has made it
	Notes       []string    `json:"notes"`
}

// shownHeaders are those that say something about a feed. Cookies are not among them.
var shownHeaders = []string{
	"Content-Type", "Content-Length", "Content-Encoding", "Content-Language", "Cache-Control", "ETag", "Last-Modified",
	"Expires", "Vary", "Location", "Retry-After", "WWW-Authenticate", "Access-Control-Allow-Origin", "Server",
}

func (s *Studio) serveSend(w http.ResponseWriter, r *http.Request) {
	var in filled
	if !read(w, r, &in) {
		return
	}
	src, at, e, ok := s.find(in)
	if !ok {
		refuse(w, noEndpoint)
		return
	}
	d := s.compose(r.Context(), src, e, in)
	switch {
	case d.Owner != nil:
		refuse(w, problem{Status: http.StatusConflict, Detail: fmt.Sprintf("This feed belongs to %q: %s.", d.Owner.Name, d.Owner.Why),
			Hint: "Open that endpoint to send what an app sends."})
		return
	case d.req == nil || len(d.Problems) > 0 && !in.Without:
		refuse(w, problem{Status: http.StatusUnprocessableEntity, Detail: d.Problems[0].Message, Problems: d.Problems})
		return
	}
	opts := s.clientOptions()
	to := signpost.CutURL(d.URL).Origin()
	switch {
	case in.Send == sendSample:
		opts.Transport, to = &sampleFeeds{src: src, version: src.Versions[at], endpoint: e}, ""
	case in.Send == sendOrigin && !src.Versions[at].foreign(in.Endpoint):
		origin := s.origin()
		if origin == nil {
			refuse(w, problem{Status: http.StatusUnprocessableEntity, Detail: "Enter the server to send requests to.", Hint: "For example, http://localhost:3000."})
			return
		}
		d.req, to = client.SendTo(d.req, origin), origin.String()
	}
	start := time.Now()
	a, err := client.Send(d.req, opts)
	if a == nil {
		refuse(w, *explain(err))
		return
	}
	out := describe(a, e, time.Since(start), err)
	out.URL, out.Method, out.To, out.Sample = d.URL, d.Method, to, in.Send == sendSample
	out.ID = s.pictures.admit(out.Sample, to)
	reply(w, out)
}

// foreign reports whether the endpoint with a key is somebody else's.
func (v version) foreign(key string) bool {
	for _, e := range v.Endpoints {
		if e.Key == key {
			return e.Foreign
		}
	}
	return true
}

// origin returns where requests for the service's own host are sent to, or nil.
func (s *Studio) origin() *url.URL {
	s.mu.Lock()
	defer s.mu.Unlock()
	u, err := url.Parse(s.sendTo)
	if err != nil || s.sendTo == "" {
		return nil
	}
	return u
}

type transportFunc func(*http.Request) (*http.Response, error)

func (f transportFunc) RoundTrip(req *http.Request) (*http.Response, error) { return f(req) }

// describe returns an answer as the page shows it. An error says why it is not all of it.
func describe(a *client.Answer, e signpost.Endpoint, took time.Duration, err error) response {
	out := response{
		Status: a.Status, StatusText: http.StatusText(a.Status), ContentType: a.Header.Get("Content-Type"),
		Headers: [][2]string{}, Bytes: len(a.Body), Truncated: a.Truncated, Incomplete: err != nil, Millis: took.Milliseconds(), Notes: []string{},
	}
	for _, name := range shownHeaders {
		if value := a.Header.Get(name); value != "" {
			out.Headers = append(out.Headers, [2]string{name, value})
		}
	}
	body := a.Body
	for (a.Truncated || out.Incomplete) && len(body) > 0 && !utf8.Valid(body[max(0, len(body)-utf8.UTFMax):]) {
		body = body[:len(body)-1] // half a character
	}
	if out.Binary = !utf8.Valid(body); !out.Binary {
		out.Body, out.JSON = string(body), json.Valid(body)
	}
	note := func(format string, args ...any) { out.Notes = append(out.Notes, fmt.Sprintf(format, args...)) }
	if a.Redirect != "" {
		note("It redirects to %s. The studio does not follow: another host must not get the context keys.", a.Redirect)
	}
	got, _, _ := mime.ParseMediaType(out.ContentType)
	want, _, _ := mime.ParseMediaType(e.MIMEType)
	out.Declared = want == signpost.MIMEForm || got == want
	if a.Status/100 == 2 && a.Status != http.StatusNoContent && want != "" && !out.Declared {
		note("The manifest declares %s, but the response has %s.", e.MIMEType, orNone(out.ContentType))
	}
	if err != nil {
		note("%s The part that arrived is shown.", explain(err).Detail)
	}
	if a.Truncated {
		note("The response is longer: these are the first %d KiB.", client.MaxAnswer>>10)
	}
	if out.Binary {
		note("The response is not text, so it is not shown.")
	}
	return out
}

func orNone(contentType string) string {
	if contentType == "" {
		return "no content type"
	}
	return contentType
}

// explain returns the problem of a request that failed.
func explain(err error) *problem {
	why := client.Explain(err)
	if why.Cause == client.CauseUnknownAuthority {
		why.Hint = "for an authority of your own, start the studio with --ca-file and its certificate"
	}
	return &problem{Status: http.StatusBadGateway, Detail: sentence(why.Message), Hint: sentence(why.Hint)}
}
