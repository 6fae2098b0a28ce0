package studio

import (
	"bytes"
	"cmp"
	"encoding/json"
	"io"
	"net/http"
	"strconv"
	"strings"

	"signpost"
	"signpost/contextkeys"
)

// exampleFeeds answers for the endpoints of the built-in example, which are nowhere. It is a feed service that also
// says what it was sent.
type exampleFeeds struct{}

type exampleFeed struct {
	Title    string          `json:"title"`
	Entry    []exampleEntry  `json:"entry"`
	Received exampleReceived `json:"received"`
}

type exampleEntry struct {
	ID    string `json:"id"`
	Title string `json:"title"`
}

type exampleReceived struct {
	Modifiers map[string]string `json:"modifiers"`
	Context   map[string]any    `json:"context_keys"`
	Body      string            `json:"body,omitempty"`
}

var exampleTitles = []string{"The Lighthouse Keeper", "Northbound", "A Year on the Island"}

// RoundTrip returns a feed. It always answers.
func (exampleFeeds) RoundTrip(req *http.Request) (*http.Response, error) {
	received := exampleReceived{Modifiers: make(map[string]string), Context: make(map[string]any)}
	for key, values := range req.URL.Query() {
		if key != "ctx" {
			received.Modifiers[key] = values[0]
		}
	}
	if sent, err := contextkeys.Decode(req.URL.Query().Get("ctx")); err == nil {
		for name, value := range sent.All() {
			received.Context[name] = value
		}
	}
	if req.Body != nil {
		defer req.Body.Close()
		body, err := io.ReadAll(req.Body) // from memory
		if err != nil {
			return nil, err
		}
		received.Body = string(body)
	}
	feed := exampleFeed{Title: "Example feed " + req.URL.Path, Entry: []exampleEntry{}, Received: received}
	limit, err := strconv.Atoi(received.Modifiers["limit"])
	for i, title := range exampleTitles {
		if err != nil || i < limit {
			feed.Entry = append(feed.Entry, exampleEntry{strconv.Itoa(i + 1), title})
		}
	}
	body, err := json.Marshal(feed)
	if err != nil {
		return nil, err
	}
	// The first type that an app accepts is the one that the manifest names.
	contentType, _, _ := strings.Cut(req.Header.Get("Accept"), ",")
	if contentType == signpost.MIMEForm { // what it takes, not what it returns
		contentType = ""
	}
	return &http.Response{
		StatusCode: http.StatusOK, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1, Request: req,
		Header: http.Header{"Content-Type": {cmp.Or(contentType, signpost.MIMEJSON)}, "Cache-Control": {"no-store"}},
		Body:   io.NopCloser(bytes.NewReader(body)), ContentLength: int64(len(body)),
	}, nil
}
