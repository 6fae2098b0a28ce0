package studio

import (
	"strings"
	"time"

	"signpost"
	"signpost/client"
	"signpost/definition"
	"signpost/host"
)

// endpoint is an endpoint as the page shows it.
type endpoint struct {
	Key          string         `json:"key"` // URL as in the definition, independent of the host
	URL          string         `json:"url"`
	Origin       string         `json:"origin"` // scheme and authority, where requests go
	Name         string         `json:"name"`
	Method       string         `json:"method"`
	MIMEType     string         `json:"mime_type"`
	Foreign      bool           `json:"foreign"` // on another host than the manifest
	Placeholders []string       `json:"placeholders"`
	Context      []contextField `json:"context"`
	Modifiers    []modifier     `json:"modifiers"`
	Deprecated   string         `json:"deprecated"` // text about the deprecation; empty if not deprecated
}

type contextField struct {
	Key      string `json:"key"`
	Type     string `json:"type"`
	Required bool   `json:"required"`
	SentAs   string `json:"sent_as"`
	Sent     bool   `json:"sent"`    // false if a get request has no body for it
	Feature  string `json:"feature"` // feature that adds it; empty if the endpoint declares it
	About    string `json:"about"`   // from the catalogue of context keys
}

type modifier struct {
	ID         string  `json:"id"`
	Name       string  `json:"name"`
	Params     []param `json:"params"`
	Deprecated string  `json:"deprecated"`
}

// param is one control.
type param struct {
	Key         string            `json:"key"`
	Label       string            `json:"label"`
	Placeholder string            `json:"placeholder"`
	Control     string            `json:"control"` // one of the controls below
	Options     []signpost.Option `json:"options"`
	Default     *string           `json:"default"` // as written in a URL; nil if there is none
}

// The controls.
const (
	controlText   = "text"
	controlNumber = "number"
	controlToggle = "toggle"
	controlSelect = "select"
)

// newEndpoint converts an endpoint of a manifest.
func newEndpoint(e signpost.Endpoint, key string) endpoint {
	u := signpost.CutURL(e.URL)
	view := endpoint{
		Key: key, URL: e.URL, Origin: u.Origin(), Name: e.Name, Method: e.Method, MIMEType: e.MIMEType,
		Placeholders: append([]string{}, u.Placeholders()...), Context: []contextField{}, Modifiers: []modifier{},
	}
	for _, item := range e.ContextObj {
		view.Context = append(view.Context, contextField{
			Key: item.Key, Type: item.Type, Required: item.Required, SentAs: item.SentAs(), Sent: sendable(e, item),
		})
	}
	defaults := client.Defaults(e)
	for _, m := range e.Modifiers {
		params := []param{}
		for _, p := range m.Params {
			params = append(params, control(p, defaults))
		}
		view.Modifiers = append(view.Modifiers, modifier{ID: m.ID, Name: m.Name, Params: params})
	}
	return view
}

// deprecation says what is deprecated, until when, and what to use instead.
func deprecation(d *signpost.Deprecation) string {
	if d == nil {
		return ""
	}
	text := "Deprecated since " + d.Since.Format(time.DateOnly)
	if !d.Until.IsZero() {
		text += ", works until " + d.Until.Format(time.DateOnly)
	}
	if text += "."; d.Use != "" {
		text += " Use " + d.Use + "."
	}
	if d.Reason != "" {
		text += " " + sentence(d.Reason)
	}
	return text
}

// control chooses the control for a param: a dropdown if there are options, otherwise by type.
func control(p signpost.Param, defaults map[string]string) param {
	view := param{Key: p.Key, Label: p.UI.Label, Placeholder: p.UI.Placeholder, Control: controlText, Options: p.UI.Options}
	if len(view.Options) == 0 {
		view.Options = []signpost.Option{}
		for _, value := range p.Schema.Enum {
			view.Options = append(view.Options, signpost.Option{Value: value, Label: value})
		}
	}
	switch {
	case len(view.Options) > 0:
		view.Control = controlSelect
	case p.Schema.Type == signpost.TypeNumber:
		view.Control = controlNumber
	case p.Schema.Type == signpost.TypeBoolean:
		view.Control = controlToggle
	}
	switch p.Schema.Default.(type) {
	case nil, map[string]any, []any: // not a possible value of a control
	default:
		value := defaults[p.Key]
		view.Default = &value
	}
	return view
}

// sendable reports whether a request to the endpoint can carry a context item.
func sendable(e signpost.Endpoint, item signpost.ContextItem) bool {
	return item.Type == signpost.ContextCtx || item.Type == signpost.ContextBodyParam && e.Method == signpost.MethodPost
}

// onHost reports whether a URL, which may have placeholders, is on a host.
func onHost(endpointURL, name string) bool {
	return host.Equal(signpost.CutURL(endpointURL).Hostname(), name)
}

// finding is a finding with the relevant part of the line, and its endpoint.
type finding struct {
	signpost.Finding
	Text  string `json:"text"`
	At    int    `json:"at"`    // start of the range in the text, in characters from 0
	Width int    `json:"width"` // its length in characters
	Key   string `json:"key"`   // key of the endpoint, or empty
}

// maxLine is how many characters of a line are shown. A manifest is usually one very long line.
const maxLine = 100

// findings converts the lint findings of a file for the page. The endpoints are those of src, which may be nil.
func findings(f *definition.File, found []signpost.Finding, src *source) []finding {
	keys := make(map[string]bool)
	if src != nil {
		for _, v := range src.Versions {
			for _, e := range v.Endpoints {
				keys[e.Key] = true
			}
		}
	}
	all := []finding{}
	for _, found := range found {
		text, first := f.Snippet(found.Line, found.Column, maxLine)
		line := []rune(strings.ReplaceAll(text, "\t", " "))
		indent := len(line) - len([]rune(strings.TrimLeft(string(line), " ")))
		at := max(0, min(found.Column-first, len(line)))
		indent = min(indent, at)
		view := finding{Finding: found, Text: string(line[indent:]), At: at - indent, Width: max(1, min(found.Width, len(line)-at))}
		if len(found.Path) > 0 && keys[found.Path.Endpoint()] {
			view.Key = found.Path.Endpoint()
		}
		all = append(all, view)
	}
	return all
}
