// Package signpost is the contract of an endpoints manifest: the document that tells a configuration
// studio which endpoints a data-source service offers, and how clients call them.
//
// Build a [Manifest] from endpoints and modifiers, [Compile] it once with the features that the
// deployment has, and [Template.Render] it for the host of each request. Package signpost/server does
// the last step over HTTP; package signpost/definition reads manifests from files.
package signpost

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"unicode/utf8"
)

// Manifest maps endpoint URLs to endpoint descriptors, in the order in which they were written.
type Manifest struct {
	Endpoints []Endpoint
}

// Endpoint is one endpoint: its URL, the key in the manifest, and its descriptor.
type Endpoint struct {
	// URL is absolute. It may hold {{host}} in its authority, which stands for the hostname of the
	// manifest request, and {{name}} segments, which belong to the feed locator and stay as they are.
	URL string `json:"-"`

	Name       string        `json:"name"`
	Method     string        `json:"method"` // MethodGet or MethodPost
	MIMEType   string        `json:"mime_type"`
	ContextObj []ContextItem `json:"context_obj"` // written as [] when there is none
	Modifiers  []Modifier    `json:"modifiers,omitempty"`
}

// The methods that an endpoint may have.
const (
	MethodGet  = "get"
	MethodPost = "post"
)

// The content types that the specification names. Any other media type is allowed too.
const (
	MIMEJSON = "application/json"
	MIMEFeed = "application/vnd+vendor.feed+json"
	MIMEForm = "application/x-www-form-urlencoded"
)

// ContextItem is a context key that the client adds to its requests.
type ContextItem struct {
	Key      string `json:"key"`
	Type     string `json:"type"` // ContextCtx or ContextBodyParam
	Required bool   `json:"required"`
	Mapper   string `json:"mapper,omitempty"` // the name it is sent under, where that is not Key
}

// SentAs returns the name under which a client sends the item.
func (c ContextItem) SentAs() string { return cmp.Or(c.Mapper, c.Key) }

// The ways in which a client sends a context key.
const (
	ContextCtx       = "ctx"       // in the ctx query parameter, as base64url-encoded JSON
	ContextBodyParam = "bodyParam" // as a parameter of the request body
)

// NewManifest returns a manifest of copies of the endpoints, so that a modifier or a context list that
// several of them share can be changed in one without changing the others.
func NewManifest(endpoints ...Endpoint) Manifest {
	m := Manifest{Endpoints: make([]Endpoint, len(endpoints))}
	for i, e := range endpoints {
		m.Endpoints[i] = e.clone()
	}
	return m
}

func (e Endpoint) clone() Endpoint {
	e.ContextObj = slices.Clone(e.ContextObj)
	e.Modifiers = slices.Clone(e.Modifiers)
	for i, m := range e.Modifiers {
		e.Modifiers[i] = m.clone()
	}
	return e
}

// MarshalJSON writes the descriptor; the URL is the key in the manifest and not part of it.
func (e Endpoint) MarshalJSON() ([]byte, error) {
	type descriptor Endpoint // without this method
	if e.ContextObj == nil {
		e.ContextObj = []ContextItem{}
	}
	return marshal(descriptor(e))
}

// MarshalJSON writes the endpoints as one object, in order. Note that json.Marshal escapes &, < and >
// in what any MarshalJSON returns; [Template.Render] does not.
func (m Manifest) MarshalJSON() ([]byte, error) {
	var out bytes.Buffer
	out.WriteString(`{"endpoints":{`)
	seen := make(map[string]bool, len(m.Endpoints))
	for i, e := range m.Endpoints {
		if seen[e.URL] {
			return nil, fmt.Errorf("endpoint %q is in the manifest twice", e.URL)
		}
		if !utf8.ValidString(e.URL) { // two of them could become the same key
			return nil, fmt.Errorf("URL %q is not UTF-8 text", e.URL)
		}
		seen[e.URL] = true
		if i > 0 {
			out.WriteByte(',')
		}
		key, err := marshal(e.URL)
		if err != nil {
			return nil, err
		}
		value, err := e.MarshalJSON()
		if err != nil {
			return nil, fmt.Errorf("endpoint %q: %w", e.URL, err)
		}
		out.Write(key)
		out.WriteByte(':')
		out.Write(value)
	}
	out.WriteString(`}}`)
	return out.Bytes(), nil
}

// marshal is json.Marshal without the escaping of &, < and >, which URLs and labels are full of.
func marshal(v any) ([]byte, error) {
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(out.Bytes(), []byte("\n")), nil
}

// UnmarshalJSON reads a manifest, keeping the order of its endpoints and the form of its numbers.
// An endpoint that is there twice is an error. It checks no more than that: see [Manifest.Validate].
func (m *Manifest) UnmarshalJSON(data []byte) error {
	var doc struct {
		Endpoints json.RawMessage `json:"endpoints"`
	}
	if err := json.Unmarshal(data, &doc); err != nil {
		return err
	}
	if !bytes.HasPrefix(doc.Endpoints, []byte("{")) {
		return fmt.Errorf(`manifest has no "endpoints" object`)
	}
	dec := json.NewDecoder(bytes.NewReader(doc.Endpoints))
	if _, err := dec.Token(); err != nil {
		return err
	}
	var endpoints []Endpoint
	seen := make(map[string]bool)
	for dec.More() {
		key, err := dec.Token()
		if err != nil {
			return err
		}
		e := Endpoint{}
		if err := dec.Decode(&e); err != nil {
			return fmt.Errorf("endpoint %q: %w", key, err)
		}
		e.URL = key.(string) // a key of an object is always a string
		if seen[e.URL] {
			return fmt.Errorf("endpoint %q is in the manifest twice", e.URL)
		}
		seen[e.URL] = true
		endpoints = append(endpoints, e)
	}
	m.Endpoints = endpoints
	return nil
}
