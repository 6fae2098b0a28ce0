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

// answer adapts a function that returns a result for the page, or why there is none.
func answer(f func(*http.Request) (any, *problem)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		result, why := f(r)
		if why != nil {
			refuse(w, why)
			return
		}
		write(w, http.StatusOK, "application/json", result)
	}
}

// post is answer for a function that gets the JSON body of the request, of up to limit bytes.
func post[In any](limit int64, f func(*http.Request, In) (any, *problem)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		var in In
		if why := read(w, r, &in, limit); why != nil {
			refuse(w, why)
			return
		}
		answer(func(r *http.Request) (any, *problem) { return f(r, in) })(w, r)
	}
}

// read decodes the JSON body of a request.
func read(w http.ResponseWriter, r *http.Request, into any, limit int64) *problem {
	if media, _, err := mime.ParseMediaType(r.Header.Get("Content-Type")); err != nil || media != "application/json" {
		// A form on another site cannot post JSON without a preflight request.
		return failed(http.StatusUnsupportedMediaType, "Send application/json.", "")
	}
	control := http.NewResponseController(w)
	control.SetReadDeadline(time.Now().Add(readTimeout)) // fails only if deadlines are not supported, as in a test
	defer control.SetReadDeadline(time.Time{})
	dec := json.NewDecoder(http.MaxBytesReader(w, r.Body, limit))
	dec.DisallowUnknownFields()
	if err := dec.Decode(into); err != nil {
		if tooLarge := new(http.MaxBytesError); errors.As(err, &tooLarge) {
			return failed(http.StatusRequestEntityTooLarge, fmt.Sprintf("The values are larger than %d KiB: shorten them.", limit>>10), "")
		}
		return failed(http.StatusBadRequest, "This is not the JSON that the page sends.", "")
	}
	return nil
}

func write(w http.ResponseWriter, status int, contentType string, result any) {
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

// problem is an RFC 9457 body, with additional fields that the page shows.
type problem struct {
	Title    string    `json:"title"`
	Status   int       `json:"status"`
	Detail   string    `json:"detail"`
	Hint     string    `json:"hint,omitempty"`
	Findings []finding `json:"findings,omitempty"`
	Problems []missing `json:"problems,omitempty"`
}

// failed returns a problem: what is wrong, and what to do about it.
func failed(status int, detail, hint string) *problem {
	return &problem{Title: http.StatusText(status), Status: status, Detail: detail, Hint: hint}
}

// invalid is the problem with something that was entered.
func invalid(err error, hint string) *problem {
	return failed(http.StatusUnprocessableEntity, sentence(err.Error()), hint)
}

func refuse(w http.ResponseWriter, p *problem) { write(w, p.Status, "application/problem+json", p) }

var noSource = failed(http.StatusNotFound, "This manifest is no longer registered.", "Choose another one.")

// find returns the view that a request is about, and a source in it.
func (s *Studio) find(r *http.Request, id string) (*view, *source, *problem) {
	v, why := s.view(r)
	if why != nil {
		return nil, nil, why
	}
	src := v.source(id)
	if src == nil {
		return nil, nil, noSource
	}
	return v, src, nil
}

// sourceOnly is the body of a request that only names a source.
type sourceOnly struct {
	Source string `json:"source"`
}

// done is the result of a request that has nothing to tell.
type done struct{}

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
