package studio

import (
	"encoding/json"
	"errors"
	"fmt"
	"mime"
	"net/http"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

// maxRequest limits the body of an API request. The largest one restores a base: a manifest, in which every character may be
// escaped.
const maxRequest = 2 * maxManifest

// readTimeout limits how long the body of an API request may take to arrive. It comes from the same machine.
const readTimeout = 10 * time.Second

// request is the body of an API request. Each route takes a part of it.
type request struct {
	Source   string `json:"source"`
	Version  string `json:"version"`
	Endpoint string `json:"endpoint"` // its key

	// What is filled in for the endpoint, and how to send it.
	values
	Modifiers map[string]string `json:"modifiers"` // by the key of the param
	Send      string            `json:"send"`      // one of the ways in request.go; empty means sendPublished
	To        string            `json:"to"`        // the origin for sendOrigin
	Without   bool              `json:"without"`   // send it although required context keys are missing
	Follow    string            `json:"follow"`    // a redirect to follow on the same host, instead of the URL

	// An address to register.
	Address string `json:"address"`
	Keep    bool   `json:"keep"` // even if it fails: the page had it before the studio was restarted

	// What to compare with, or what to compare with from now on.
	Base  string    `json:"base"`
	Of    string    `json:"of"` // the other version for baseVersion, the revision for baseGit
	Since time.Time `json:"since"`
	Text  string    `json:"text"`

	// A finding to fix.
	Rule   string `json:"rule"`
	Line   int    `json:"line"`
	Column int    `json:"column"`

	// Feeds to find the endpoints of.
	Feeds []string `json:"feeds"`

	// Options of a check.
	Endpoints map[string]values `json:"endpoints"` // what was filled in, by URL
	Links     int               `json:"links"`     // how many to follow
	Schema    *struct {
		Name string `json:"name"`
		Text string `json:"text"`
	} `json:"schema"` // a JSON Schema to validate feeds against
}

// values holds the values filled in for an endpoint. Only the page stores them.
type values struct {
	Params  map[string]string       `json:"params"`  // by placeholder name
	Context map[string]contextValue `json:"context"` // by context key
}

// contextValue is a string, or the text of a JSON value.
type contextValue struct {
	Text string `json:"text"`
	JSON bool   `json:"json"`
}

// call is an API request with what it is about.
type call struct {
	request
	r    *http.Request
	view *view
	src  *source // nil if the view has no such source
}

// api adapts a function that returns a result for the page, or why there is none. A result that is a function writes the
// response itself.
func (s *Studio) api(f func(call) (any, error)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		c := call{r: r}
		result, err := func() (any, error) {
			if r.Method == http.MethodPost {
				if err := read(w, r, &c.request); err != nil {
					return nil, err
				}
			}
			var err error
			if c.view, err = s.view(r); err != nil {
				return nil, err
			}
			c.src = c.view.source(c.Source)
			return f(c)
		}()
		if err != nil {
			refuse(w, err)
		} else if stream, ok := result.(func(http.ResponseWriter)); ok {
			stream(w)
		} else {
			write(w, http.StatusOK, "application/json", result)
		}
	}
}

// about is api for a function that needs a source.
func (s *Studio) about(f func(call) (any, error)) http.HandlerFunc {
	return s.api(func(c call) (any, error) {
		if c.src == nil {
			return nil, noSource
		}
		return f(c)
	})
}

// read decodes the JSON body of a request.
func read(w http.ResponseWriter, r *http.Request, into *request) error {
	if media, _, err := mime.ParseMediaType(r.Header.Get("Content-Type")); err != nil || media != "application/json" {
		// A form on another site cannot post JSON without a preflight request.
		return failed(http.StatusUnsupportedMediaType, "Send application/json.", "")
	}
	control := http.NewResponseController(w)
	control.SetReadDeadline(time.Now().Add(readTimeout)) // fails only if deadlines are not supported, as in a test
	defer control.SetReadDeadline(time.Time{})
	dec := json.NewDecoder(http.MaxBytesReader(w, r.Body, maxRequest))
	dec.DisallowUnknownFields()
	err := dec.Decode(into)
	switch tooLarge := new(http.MaxBytesError); {
	case errors.As(err, &tooLarge):
		return failed(http.StatusRequestEntityTooLarge, fmt.Sprintf("The values are larger than %d MiB: shorten them.", maxRequest>>20), "")
	case err != nil:
		return failed(http.StatusBadRequest, "This is not the JSON that the page sends.", "")
	}
	return nil
}

func write(w http.ResponseWriter, status int, contentType string, result any) {
	w.Header().Set("Content-Type", contentType)
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	json.NewEncoder(w).Encode(result) // plain values, to a page that may be gone
}

// problem is an RFC 9457 body, with additional fields that the page shows.
type problem struct {
	Title    string    `json:"title"`
	Status   int       `json:"status"`
	Detail   string    `json:"detail"`
	Hint     string    `json:"hint,omitempty"`
	Findings []finding `json:"findings,omitempty"`
	Problems []missing `json:"problems,omitempty"`
}

func (p *problem) Error() string { return p.Detail }

// failed returns a problem: what is wrong, and what to do about it.
func failed(status int, detail, hint string) *problem {
	return &problem{Title: http.StatusText(status), Status: status, Detail: detail, Hint: hint}
}

// invalid is the problem with something that was entered.
func invalid(err error, hint string) *problem {
	return failed(http.StatusUnprocessableEntity, sentence(err.Error()), hint)
}

// refuse writes why there is no result. An error that is no problem is about something that was entered.
func refuse(w http.ResponseWriter, err error) {
	var p *problem
	if !errors.As(err, &p) {
		p = invalid(err, "")
	}
	write(w, p.Status, "application/problem+json", p)
}

var noSource = failed(http.StatusNotFound, "This manifest is no longer registered.", "Choose another one.")

// sentence turns an error message, which is not empty, into a sentence.
func sentence(text string) string {
	first, size := utf8.DecodeRuneInString(text)
	text = string(unicode.ToUpper(first)) + text[size:]
	if strings.HasSuffix(text, ".") || strings.HasSuffix(text, "?") {
		return text
	}
	return text + "."
}
