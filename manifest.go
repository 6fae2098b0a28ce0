// Package signpost implements the endpoints manifest: the document that tells a configuration studio which endpoints a
// data-source service offers and how clients call them.
//
// Build a [Manifest] from endpoints and modifiers, [Compile] it once with the features that are enabled in the
// deployment, and [Template.Render] it for the host of each request. Package signpost/server does the last step over
// HTTP; package signpost/definition reads manifests from files. Package signpost/match tells which endpoint answers for
// a feed, and package signpost/diff what a change means to studios that registered the state before.
package signpost

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"reflect"
	"slices"
	"unicode/utf8"
)

// Manifest maps endpoint URLs to endpoint descriptors. The order is kept.
type Manifest struct {
	Endpoints []Endpoint
	Extra     Extra
}

// Endpoint is an endpoint descriptor together with its URL, the key in the manifest.
type Endpoint struct {
	// URL is absolute. Its authority may contain {{host}}, which is replaced with the hostname of the manifest request.
	// Other {{name}} placeholders belong to the feed locator and are left untouched.
	URL string `json:"-"`

	Name       string        `json:"name"`
	Method     string        `json:"method"` // MethodGet or MethodPost; others begin with Beyond
	MIMEType   string        `json:"mime_type"`
	ContextObj []ContextItem `json:"context_obj"` // never omitted: [] if empty
	Modifiers  []Modifier    `json:"modifiers,omitempty"`
	Extra      Extra         `json:"-"`
}

// Allowed methods of an endpoint.
const (
	MethodGet  = "get"
	MethodPost = "post"
)

// Content types named in the specification. Any other media type is allowed as well.
const (
	MIMEJSON = "application/json"
	MIMEFeed = "application/vnd+vendor.feed+json"
	MIMEForm = "application/x-www-form-urlencoded"
)

// ContextItem declares a context key that clients add to their requests.
type ContextItem struct {
	Key      string `json:"key"`
	Type     string `json:"type"` // ContextCtx or ContextBodyParam; others begin with Beyond
	Required bool   `json:"required"`
	Mapper   string `json:"mapper,omitempty"` // name to send the key under, if different from Key
	Extra    Extra  `json:"-"`
}

// SentAs returns the name under which a client sends the item.
func (c ContextItem) SentAs() string {
	if c.Type == ContextBearerHeader {
		return "Authorization"
	}
	return cmp.Or(c.Mapper, c.Key)
}

// Ways to send a context key.
const (
	ContextCtx       = "ctx"       // in the ctx query parameter, as base64url-encoded JSON
	ContextBodyParam = "bodyParam" // as a parameter of the request body
)

// Ways to send a context key that apps know, though the specification does not.
const (
	ContextHeader       = "header"       // as the header that its mapper, or else its key, names
	ContextBearerHeader = "bearerHeader" // as Authorization: Bearer
)

// ContextTypes returns the ways in which clients send context keys, according to the specification.
func ContextTypes() []string { return []string{ContextCtx, ContextBodyParam} }

// Place names the part of a request that carries the item, such as "request body", or returns "" if its type is
// unknown.
func (c ContextItem) Place() string {
	switch c.Type {
	case ContextCtx:
		return "ctx query parameter"
	case ContextBodyParam:
		return "request body"
	case ContextHeader, ContextBearerHeader:
		return "request header"
	}
	return ""
}

// SentWith reports whether a request with the method can carry the item.
func (c ContextItem) SentWith(method string) bool {
	return c.Place() != "" && (c.Type != ContextBodyParam || method == MethodPost)
}

// NewManifest returns a manifest with copies of the endpoints. If several of them share a modifier or a context list,
// changing it in one endpoint does not change it in the others.
func NewManifest(endpoints ...Endpoint) Manifest {
	m := Manifest{Endpoints: make([]Endpoint, len(endpoints))}
	for i, e := range endpoints {
		m.Endpoints[i] = e.Clone()
	}
	return m
}

// All iterates over the endpoints with their URLs, which may be invalid.
func (m Manifest) All() iter.Seq2[URL, *Endpoint] {
	return func(yield func(URL, *Endpoint) bool) {
		for i := range m.Endpoints {
			if e := &m.Endpoints[i]; !yield(CutURL(e.URL), e) {
				return
			}
		}
	}
}

// Clone returns a copy that shares nothing with the manifest.
func (m Manifest) Clone() Manifest {
	extra := m.Extra
	m = NewManifest(m.Endpoints...)
	m.Extra = extra
	return m
}

// Clone returns a copy that shares nothing with the endpoint.
func (e Endpoint) Clone() Endpoint {
	e.ContextObj = slices.Clone(e.ContextObj)
	e.Modifiers = slices.Clone(e.Modifiers)
	for i, m := range e.Modifiers {
		e.Modifiers[i] = m.Clone()
	}
	return e
}

// MarshalJSON writes the descriptor without the URL, which is its key in the manifest.
func (e Endpoint) MarshalJSON() ([]byte, error) { return marshal(e.unmarked()) }

// UnmarshalJSON reads the descriptor and keeps unknown fields as Extra. It leaves the URL as it is.
func (e *Endpoint) UnmarshalJSON(data []byte) error { return unmarshal(data, e) }

// MarshalJSON writes the item, followed by Extra.
func (c ContextItem) MarshalJSON() ([]byte, error) { return marshal(c.unmarked()) }

// UnmarshalJSON keeps unknown fields as Extra.
func (c *ContextItem) UnmarshalJSON(data []byte) error { return unmarshal(data, c) }

// MarshalJSON writes the endpoints as one object, in order. Note that json.Marshal escapes &, < and > in the output of
// any MarshalJSON; [Template.Render] does not.
func (m Manifest) MarshalJSON() ([]byte, error) {
	seen := make(map[string]bool, len(m.Endpoints))
	for _, e := range m.Endpoints {
		if seen[e.URL] {
			return nil, fmt.Errorf("endpoint %q is in the manifest twice", e.URL)
		}
		if !utf8.ValidString(e.URL) { // two invalid URLs could become the same key
			return nil, fmt.Errorf("URL %q is not UTF-8 text", e.URL)
		}
		seen[e.URL] = true
	}
	pieces, err := m.pieces()
	return bytes.Join(pieces, []byte(HostPlaceholder)), err
}

// pieces returns the manifest as JSON on one line, cut at every {{host}} of a URL. In a name, {{host}} is ordinary
// text.
func (m Manifest) pieces() ([][]byte, error) {
	cut := []byte{0} // in place of {{host}}: JSON escapes it everywhere else
	w := newWriter()
	w.out.WriteString(`{"endpoints":{`)
	for i, e := range m.Endpoints {
		start := w.out.Len()
		w.name(i, e.URL)
		key := bytes.ReplaceAll(w.out.Bytes()[start:], []byte(HostPlaceholder), cut)
		w.out.Truncate(start)
		w.out.Write(key)
		if err := w.value(reflect.ValueOf(e.unmarked())); err != nil {
			return nil, fmt.Errorf("endpoint %q: %w", e.URL, err)
		}
	}
	w.out.WriteByte('}')
	if err := w.extra(m.Extra, []string{"endpoints"}); err != nil {
		return nil, err
	}
	w.out.WriteByte('}')
	text := bytes.Clone(w.out.Bytes()) // without the room to grow: a server keeps it
	return bytes.Split(text, cut), nil
}

// UnmarshalJSON reads a manifest. It keeps the order of endpoints, the notation of numbers, and unknown fields as
// Extra, and returns an error for duplicate endpoints. For all other checks, see [Manifest.Validate].
func (m *Manifest) UnmarshalJSON(data []byte) error {
	var endpoints json.RawMessage
	var extra extraFields
	r := newReader(data)
	err := r.members(func(name string) error {
		value, err := r.raw()
		if name == "endpoints" {
			endpoints = value
		} else {
			extra.set(name, value)
		}
		return err
	})
	if err != nil {
		return fmt.Errorf("manifest: %w", err)
	}
	if !bytes.HasPrefix(endpoints, []byte("{")) {
		return errors.New(`manifest has no "endpoints" object`)
	}
	read := Manifest{Extra: extra.text()}
	seen := make(map[string]bool)
	r = newReader(endpoints)
	err = r.members(func(url string) error {
		if seen[url] {
			return fmt.Errorf("endpoint %q is in the manifest twice", url)
		}
		seen[url] = true
		e := Endpoint{URL: url}
		if err := r.object(reflect.ValueOf(&e).Elem()); err != nil {
			return fmt.Errorf("endpoint %q: %w", url, err)
		}
		read.Endpoints = append(read.Endpoints, e)
		return nil
	})
	if err == nil {
		*m = read
	}
	return err
}
