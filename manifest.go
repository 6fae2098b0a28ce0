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
	"fmt"
	"slices"
	"unicode/utf8"
)

// Manifest maps endpoint URLs to endpoint descriptors. The order is kept.
type Manifest struct {
	Endpoints []Endpoint
}

// Endpoint is an endpoint descriptor together with its URL, the key in the manifest.
type Endpoint struct {
	// URL is absolute. Its authority may contain {{host}}, which is replaced with the hostname of the manifest request.
	// Other {{name}} placeholders belong to the feed locator and are left untouched.
	URL string `json:"-"`

	Name       string        `json:"name"`
	Method     string        `json:"method"` // MethodGet or MethodPost
	MIMEType   string        `json:"mime_type"`
	ContextObj []ContextItem `json:"context_obj"` // never omitted: [] if empty
	Modifiers  []Modifier    `json:"modifiers,omitempty"`
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
	Type     string `json:"type"` // ContextCtx or ContextBodyParam
	Required bool   `json:"required"`
	Mapper   string `json:"mapper,omitempty"` // name to send the key under, if different from Key
}

// SentAs returns the name under which a client sends the item.
func (c ContextItem) SentAs() string { return cmp.Or(c.Mapper, c.Key) }

// Ways to send a context key.
const (
	ContextCtx       = "ctx"       // in the ctx query parameter, as base64url-encoded JSON
	ContextBodyParam = "bodyParam" // as a parameter of the request body
)

// ContextTypes returns the ways in which clients send context keys.
func ContextTypes() []string { return []string{ContextCtx, ContextBodyParam} }

// Place names the part of a request that carries the item, such as "request body", or returns "" if its type is unknown.
func (c ContextItem) Place() string {
	return map[string]string{ContextCtx: "ctx query parameter", ContextBodyParam: "request body"}[c.Type]
}

// SentWith reports whether a request with the method can carry the item.
func (c ContextItem) SentWith(method string) bool {
	return c.Place() != "" && (c.Type != ContextBodyParam || method == MethodPost)
}

// NewManifest returns a manifest with copies of the endpoints. If several of them share a modifier or a context list,
// changing it in one endpoint does not change it in the others.
func NewManifest(endpoints ...Endpoint) Manifest {
	m := Manifest{make([]Endpoint, len(endpoints))}
	for i, e := range endpoints {
		m.Endpoints[i] = e.Clone()
	}
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
func (e Endpoint) MarshalJSON() ([]byte, error) {
	type descriptor Endpoint // sheds this method
	if e.ContextObj == nil {
		e.ContextObj = []ContextItem{}
	}
	return jsonText(descriptor(e))
}

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

// pieces returns the manifest as JSON on one line, cut at every {{host}} of a URL. In a name, {{host}} is ordinary text.
func (m Manifest) pieces() ([][]byte, error) {
	cut := []byte{0} // in place of {{host}}: JSON escapes it everywhere else
	var out bytes.Buffer
	out.WriteString(`{"endpoints":{`)
	for i, e := range m.Endpoints {
		if i > 0 {
			out.WriteByte(',')
		}
		key, _ := jsonText(e.URL) // strings always encode
		descriptor, err := e.MarshalJSON()
		if err != nil {
			return nil, fmt.Errorf("endpoint %q: %w", e.URL, err)
		}
		out.Write(bytes.ReplaceAll(key, []byte(HostPlaceholder), cut))
		out.WriteByte(':')
		out.Write(descriptor)
	}
	out.WriteString("}}")
	text := bytes.Clone(out.Bytes()) // without the room to grow: a server keeps it
	return bytes.Split(text, cut), nil
}

// jsonText encodes a value on one line, without escaping &, < and >, which are common in URLs and labels.
func jsonText(value any) ([]byte, error) {
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	err := enc.Encode(value)
	return bytes.TrimSuffix(out.Bytes(), []byte("\n")), err
}

// UnmarshalJSON reads a manifest. It keeps the order of endpoints and the notation of numbers, and returns an error for
// duplicate endpoints. For all other checks, see [Manifest.Validate].
func (m *Manifest) UnmarshalJSON(data []byte) error {
	var doc map[string]json.RawMessage // a struct would also take "ENDPOINTS"
	if err := json.Unmarshal(data, &doc); err != nil {
		return err
	}
	if !bytes.HasPrefix(doc["endpoints"], []byte("{")) {
		return fmt.Errorf(`manifest has no "endpoints" object`)
	}
	dec := json.NewDecoder(bytes.NewReader(doc["endpoints"]))
	dec.Token() // the opening brace; the text is valid, so Token cannot fail
	var endpoints []Endpoint
	seen := make(map[string]bool)
	for dec.More() {
		key, _ := dec.Token()
		e := Endpoint{}
		if err := dec.Decode(&e); err != nil {
			return fmt.Errorf("endpoint %q: %w", key, err)
		}
		e.URL = key.(string) // object keys are always strings
		if seen[e.URL] {
			return fmt.Errorf("endpoint %q is in the manifest twice", e.URL)
		}
		seen[e.URL] = true
		endpoints = append(endpoints, e)
	}
	m.Endpoints = endpoints
	return nil
}
