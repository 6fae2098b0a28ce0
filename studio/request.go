package studio

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/url"
	"strings"
	"time"
	"unicode/utf8"

	"signpost"
	"signpost/client"
	"signpost/contextkeys"
)

// filled is an endpoint, and what the page has filled in for it. Values are kept by the page alone.
type filled struct {
	Source   string `json:"source"`
	Version  string `json:"version"`
	Endpoint string `json:"endpoint"` // its URL

	Params    map[string]string `json:"params"`    // by the name of the placeholder
	Modifiers map[string]string `json:"modifiers"` // by the key of the param
	Context   map[string]string `json:"context"`   // by context key
}

// draft is the request that an app would send, as far as it is filled in.
type draft struct {
	Method   string    `json:"method"`
	URL      string    `json:"url"` // placeholders that are open stand as they are
	Ctx      string    `json:"ctx"`
	Decoded  string    `json:"decoded"` // what is in ctx, as indented JSON
	Body     string    `json:"body"`
	BodyType string    `json:"body_type"`
	Curl     string    `json:"curl"`
	Problems []missing `json:"problems"` // what keeps it from being sent
}

// missing is something that a request lacks, and the field that it belongs in: param:, modifier: or context: and
// a name, or nothing.
type missing struct {
	Field   string `json:"field"`
	Message string `json:"message"`
}

// find returns the endpoint that a request is about, and its source.
func (s *Studio) find(in filled) (*source, signpost.Endpoint, bool) {
	if src := s.source(in.Source); src != nil {
		for _, v := range src.Versions {
			for _, e := range v.manifest.Endpoints {
				if v.Name == in.Version && e.URL == in.Endpoint {
					return src, e, true
				}
			}
		}
	}
	return nil, signpost.Endpoint{}, false
}

var noEndpoint = problem{
	Status: http.StatusNotFound, Detail: "This endpoint is not in the manifest any more.", Hint: "Choose another one.",
}

func (s *Studio) serveCompose(w http.ResponseWriter, r *http.Request) {
	var in filled
	if !read(w, r, &in) {
		return
	}
	_, e, ok := s.find(in)
	if !ok {
		refuse(w, noEndpoint)
		return
	}
	d, _ := compose(r.Context(), e, in)
	reply(w, d)
}

// compose returns the draft of a request and, if nothing is missing, the request. Package client builds it, so it
// is what an app sends; where something is missing, that is left out or stands for itself.
func compose(ctx context.Context, e signpost.Endpoint, in filled) (draft, *http.Request) {
	d := draft{Method: strings.ToUpper(e.Method), URL: e.URL, Problems: []missing{}}
	call, open := d.usable(e, in)
	relaxed := e
	relaxed.ContextObj = nil
	for _, item := range e.ContextObj {
		item.Required = false
		relaxed.ContextObj = append(relaxed.ContextObj, item)
	}
	req, err := client.NewRequest(ctx, relaxed, call)
	if err == nil {
		err = checkTarget(req.URL)
	}
	if err != nil {
		if len(d.Problems) == 0 || len(open) == 0 { // else it is about a placeholder that is open
			d.Problems = append(d.Problems, missing{"", sentence(err)})
		}
		return d, nil
	}
	d.URL = req.URL.String()
	for _, name := range open {
		d.URL = strings.ReplaceAll(d.URL, url.PathEscape(name), name)
	}
	d.Ctx = req.URL.Query().Get("ctx")
	d.Decoded = decoded(d.Ctx)
	if req.Body != nil {
		body, _ := io.ReadAll(req.Body) // from memory
		req.Body = io.NopCloser(bytes.NewReader(body))
		d.Body, d.BodyType = string(body), req.Header.Get("Content-Type")
	}
	d.Curl = curl(d)
	if len(d.Problems) > 0 {
		return d, nil
	}
	return d, req
}

// usable returns what a request can be built from, and the placeholders that are open. The rest becomes problems.
func (d *draft) usable(e signpost.Endpoint, in filled) (call client.Call, open []string) {
	call = client.Call{Params: make(map[string]string), Modifiers: make(map[string]string), Context: make(map[string]any)}
	problem := func(field, format string, args ...any) {
		d.Problems = append(d.Problems, missing{field, fmt.Sprintf(format, args...)})
	}
	for _, name := range signpost.CutURL(e.URL).Placeholders() {
		if call.Params[name] = in.Params[name]; in.Params[name] == "" {
			call.Params[name] = "{{" + name + "}}"
			open = append(open, call.Params[name])
			problem("param:"+name, "Fill in %s.", name)
		}
	}
	for _, m := range e.Modifiers {
		for _, p := range m.Params {
			value := in.Modifiers[p.Key]
			if err := client.CheckValue(p, value); err != nil {
				problem("modifier:"+p.Key, "%s", sentence(err))
				continue
			}
			call.Modifiers[p.Key] = value
		}
	}
	for _, item := range e.ContextObj {
		value := in.Context[item.Key]
		switch {
		case !sendable(e, item):
		case value != "":
			call.Context[item.Key] = value
		case item.Required:
			problem("context:"+item.Key, "Fill in the context key %s, which is required.", item.Key)
		}
	}
	return call, open
}

// checkTarget reports a URL that nothing is sent to, whatever a manifest says.
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

// decoded reads ctx as a feed service does.
func decoded(ctx string) string {
	values, err := contextkeys.Decode(ctx)
	if ctx == "" || err != nil {
		return ""
	}
	all := make(map[string]any)
	for name, value := range values.All() {
		all[name] = value
	}
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if err := enc.Encode(all); err != nil {
		return ""
	}
	return strings.TrimSpace(out.String())
}

// curl returns the command that sends the same request.
func curl(d draft) string {
	parts := []string{"curl"}
	if strings.ContainsAny(d.URL, "{}[]") {
		parts = append(parts, "--globoff")
	}
	if d.Method != http.MethodGet {
		parts = append(parts, "-X", quote(d.Method))
	}
	if d.BodyType != "" {
		parts = append(parts, "-H", quote("Content-Type: "+d.BodyType), "--data-raw", quote(d.Body))
	}
	return strings.Join(append(parts, quote(d.URL)), " ")
}

// quote makes a text one word of a shell's command line.
func quote(text string) string {
	const plain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_."
	if text != "" && strings.Trim(text, plain) == "" {
		return text
	}
	return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'"
}

// response is what a feed answered.
type response struct {
	Status      int         `json:"status"`
	StatusText  string      `json:"status_text"`
	ContentType string      `json:"content_type"`
	Headers     [][2]string `json:"headers"`
	Body        string      `json:"body"` // indented where it is JSON
	Binary      bool        `json:"binary"`
	Bytes       int         `json:"bytes"`
	Truncated   bool        `json:"truncated"`
	Millis      int64       `json:"millis"`
	Example     bool        `json:"example"` // the studio itself has answered
	Notes       []string    `json:"notes"`
}

// shownHeaders are those that say something about a feed. Cookies are nobody's business here.
var shownHeaders = []string{
	"Content-Type", "Content-Length", "Content-Encoding", "Content-Language", "Cache-Control", "ETag", "Last-Modified",
	"Expires", "Vary", "Location", "Retry-After", "WWW-Authenticate", "Access-Control-Allow-Origin", "Server",
}

func (s *Studio) serveSend(w http.ResponseWriter, r *http.Request) {
	var in filled
	if !read(w, r, &in) {
		return
	}
	src, e, ok := s.find(in)
	if !ok {
		refuse(w, noEndpoint)
		return
	}
	d, req := compose(r.Context(), e, in)
	if req == nil {
		refuse(w, problem{Status: http.StatusUnprocessableEntity, Detail: d.Problems[0].Message})
		return
	}
	opts := s.clientOptions()
	if src.Kind == kindExample {
		opts.Transport = exampleFeeds{}
	}
	start := time.Now()
	a, err := client.Send(req, opts)
	if err != nil {
		refuse(w, *explained(err))
		return
	}
	reply(w, describe(a, e, src.Kind == kindExample, time.Since(start)))
}

// describe returns an answer as the page shows it, with what is to be said about it.
func describe(a *client.Answer, e signpost.Endpoint, example bool, took time.Duration) response {
	out := response{
		Status: a.Status, StatusText: http.StatusText(a.Status), ContentType: a.Header.Get("Content-Type"),
		Headers: [][2]string{}, Bytes: len(a.Body), Truncated: a.Truncated, Millis: took.Milliseconds(), Example: example, Notes: []string{},
	}
	for _, name := range shownHeaders {
		if value := a.Header.Get(name); value != "" {
			out.Headers = append(out.Headers, [2]string{name, value})
		}
	}
	body := a.Body
	for a.Truncated && len(body) > 0 && !utf8.Valid(body[max(0, len(body)-utf8.UTFMax):]) {
		body = body[:len(body)-1] // half a character
	}
	var indented bytes.Buffer
	switch {
	case !utf8.Valid(body):
		out.Binary = true
	case json.Indent(&indented, body, "", "  ") == nil:
		out.Body = indented.String()
	default:
		out.Body = string(body)
	}
	note := func(format string, args ...any) { out.Notes = append(out.Notes, fmt.Sprintf(format, args...)) }
	if a.Redirect != "" {
		note("It redirects to %s. The studio has not followed: another host must not get the context keys.", a.Redirect)
	}
	got, _, _ := mime.ParseMediaType(out.ContentType)
	want, _, _ := mime.ParseMediaType(e.MIMEType)
	if a.Status/100 == 2 && a.Status != http.StatusNoContent && want != "" && want != signpost.MIMEForm && got != want {
		note("The manifest says %s, and the answer is %s.", e.MIMEType, orNone(out.ContentType))
	}
	if a.Truncated {
		note("There is more: this is the first %d KiB.", client.MaxAnswer>>10)
	}
	if out.Binary {
		note("The answer is not text, so it is not shown.")
	}
	return out
}

func orNone(contentType string) string {
	if contentType == "" {
		return "without a content type"
	}
	return contentType
}

// explained returns the problem of a request that failed.
func explained(err error) *problem {
	why := client.Explain(err)
	if why.Cause == client.CauseUnknownAuthority {
		why.Hint = "for an authority of your own, start the studio with --ca-file and its certificate"
	}
	return &problem{Status: http.StatusBadGateway, Detail: sentence(errors.New(why.Message)), Hint: sentence(errors.New(why.Hint))}
}
