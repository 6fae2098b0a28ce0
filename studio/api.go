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

// maxRequest limits the body of an API request. Context values are most of it, and ctx may have 32 KiB.
const maxRequest = 256 << 10

// readTimeout limits how long the body of an API request may take to arrive. It comes from the same machine.
const readTimeout = 10 * time.Second

// read decodes the JSON body of a request, or rejects the request.
func read(w http.ResponseWriter, r *http.Request, into any) bool {
	return readUpTo(w, r, into, maxRequest)
}

// readUpTo is read with a custom limit in bytes.
func readUpTo(w http.ResponseWriter, r *http.Request, into any, limit int64) bool {
	if media, _, err := mime.ParseMediaType(r.Header.Get("Content-Type")); err != nil || media != "application/json" {
		// A form on another site cannot post JSON without a preflight request.
		refuse(w, problem{Status: http.StatusUnsupportedMediaType, Detail: "Send application/json."})
		return false
	}
	control := http.NewResponseController(w)
	control.SetReadDeadline(time.Now().Add(readTimeout)) // fails only if deadlines are not supported, as in a test
	defer control.SetReadDeadline(time.Time{})
	dec := json.NewDecoder(http.MaxBytesReader(w, r.Body, limit))
	dec.DisallowUnknownFields()
	if err := dec.Decode(into); err != nil {
		p := problem{Status: http.StatusBadRequest, Detail: "This is not the JSON that the page sends."}
		if tooLarge := new(http.MaxBytesError); errors.As(err, &tooLarge) {
			p.Status, p.Detail = http.StatusRequestEntityTooLarge, fmt.Sprintf("The values are larger than %d KiB: shorten them.", limit>>10)
		}
		refuse(w, p)
		return false
	}
	return true
}

// answer writes a result for the page.
func answer(w http.ResponseWriter, status int, contentType string, result any) {
	body, err := json.Marshal(result)
	if err != nil { // a bug: all results are plain values
		http.Error(w, "internal error", http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", contentType)
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	w.Write(body)
}

func reply(w http.ResponseWriter, result any) { answer(w, http.StatusOK, "application/json", result) }

// problem is an RFC 9457 body, with additional fields that the page shows.
type problem struct {
	Title    string    `json:"title"`
	Status   int       `json:"status"`
	Detail   string    `json:"detail"`
	Hint     string    `json:"hint,omitempty"`
	Findings []finding `json:"findings,omitempty"`
	Problems []missing `json:"problems,omitempty"`
}

func refuse(w http.ResponseWriter, p problem) {
	p.Title = http.StatusText(p.Status)
	answer(w, p.Status, "application/problem+json", p)
}

var noSource = problem{
	Status: http.StatusNotFound, Detail: "This manifest is no longer registered.", Hint: "Choose another one.",
}

// readSource reads a request about a source of the view that it names, or rejects the request.
func (s *Studio) readSource(w http.ResponseWriter, r *http.Request, into any, id *string) (*view, *source, bool) {
	if !read(w, r, into) {
		return nil, nil, false
	}
	return s.findSource(w, r, *id)
}

func (s *Studio) findSource(w http.ResponseWriter, r *http.Request, id string) (*view, *source, bool) {
	v, ok := s.view(w, r)
	if !ok {
		return nil, nil, false
	}
	src := v.source(id)
	if src == nil {
		refuse(w, noSource)
	}
	return v, src, src != nil
}

// sourceOnly is the body of a request that only names a source.
type sourceOnly struct {
	Source string `json:"source"`
}

// sentence turns an error message into a sentence.
func sentence(text string) string {
	if text == "" {
		return ""
	}
	first, size := utf8.DecodeRuneInString(text)
	text = string(unicode.ToUpper(first)) + text[size:]
	if strings.HasSuffix(text, ".") || strings.HasSuffix(text, "?") {
		return text
	}
	return text + "."
}
