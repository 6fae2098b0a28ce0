package studio

import (
	"bytes"
	"compress/gzip"
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

// maxRequest limits the body of an API request. The largest ones have values for all endpoints, or a JSON Schema.
const maxRequest = 8 << 20

// readTimeout limits how long the body of an API request may take to arrive. It comes from the same machine.
const readTimeout = 10 * time.Second

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

// call is an API request: who asks, and what is shown there.
type call struct {
	r    *http.Request
	view *view
	src  *source // what the body is about; nil for routes about no source
}

// sourceBody is a part of the body of each route that needs a source.
type sourceBody struct {
	Source  string `json:"source"`
	Version string `json:"version"`
}

func (b sourceBody) sourceID() string { return b.Source }

// api adapts a function that takes a body and returns a result for the page, or why there is none. A result that is a
// function writes the response itself.
func api[Body any](s *Studio, f func(call, Body) (any, error)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		result, err := answer(s, w, r, f)
		stream, writes := result.(func(http.ResponseWriter))
		switch {
		case err != nil:
			refuse(w, err)
		case writes:
			stream(w)
		default:
			text, _ := json.Marshal(result) // plain values
			writeText(w, r, "application/json", text)
		}
	}
}

func answer[Body any](s *Studio, w http.ResponseWriter, r *http.Request, f func(call, Body) (any, error)) (any, error) {
	var body Body
	if r.Method == http.MethodPost {
		if err := read(w, r, &body); err != nil {
			return nil, err
		}
	}
	shown, err := s.view(r)
	if err != nil {
		return nil, err
	}
	c := call{r: r, view: shown}
	if of, ok := any(body).(interface{ sourceID() string }); ok {
		c.src = shown.source(of.sourceID())
		if c.src == nil {
			return nil, noSource
		}
	}
	return f(c, body)
}

// read decodes the JSON body of a request.
func read(w http.ResponseWriter, r *http.Request, into any) error {
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
		detail := fmt.Sprintf("The values are larger than %d MiB: shorten them.", maxRequest>>20)
		return failed(http.StatusRequestEntityTooLarge, detail, "")
	case err != nil:
		return failed(http.StatusBadRequest, "This is not the JSON that the page sends.", "")
	}
	return nil
}

func writeText(w http.ResponseWriter, r *http.Request, contentType string, text []byte) {
	w.Header().Set("Content-Type", contentType)
	w.Header().Set("Cache-Control", "no-store")
	if len(text) >= minCompressed && takesGzip(r) {
		w.Header().Set("Content-Encoding", "gzip")
		text = compress(text, gzip.BestSpeed)
	}
	w.Write(text)
}

func takesGzip(r *http.Request) bool {
	return strings.Contains(r.Header.Get("Accept-Encoding"), "gzip")
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

func failed(status int, detail, hint string) *problem {
	return &problem{Title: http.StatusText(status), Status: status, Detail: detail, Hint: hint}
}

// conflict is the problem with something that cannot be done to a source.
func conflict(detail, hint string) *problem { return failed(http.StatusConflict, detail, hint) }

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
	text, _ := json.Marshal(p) // plain values
	w.Header().Set("Content-Type", "application/problem+json")
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(p.Status)
	w.Write(text)
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

// minCompressed is the size from which on compressing is worth its header.
const minCompressed = 1 << 10

func compress(text []byte, level int) []byte {
	var out bytes.Buffer
	zip, _ := gzip.NewWriterLevel(&out, level) // the level is valid, and the buffer takes everything
	zip.Write(text)
	zip.Close()
	return out.Bytes()
}
