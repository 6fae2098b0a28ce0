package studio

import (
	"time"

	"signpost"
	"signpost/client"
	"signpost/definition"
)

type endpoint struct {
	Key          string         `json:"key"` // URL as in the definition, independent of the host
	URL          string         `json:"url"`
	Origin       string         `json:"origin"` // scheme and authority, where requests go
	Name         string         `json:"name"`
	Method       string         `json:"method"`
	MIMEType     string         `json:"mime_type"`
	Foreign      bool           `json:"foreign"` // known not to be the service's own
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
	Sent     bool   `json:"sent"`    // false if a get request has no body for it, or its type is unknown
	Feature  string `json:"feature"` // feature that adds it; empty if the endpoint declares it
	About    string `json:"about"`   // from the catalogue of context keys
}

type modifier struct {
	ID         string  `json:"id"`
	Name       string  `json:"name"`
	Params     []param `json:"params"`
	Deprecated string  `json:"deprecated"`
}

type param struct {
	Key         string            `json:"key"`
	Label       string            `json:"label"`
	Placeholder string            `json:"placeholder"`
	Control     string            `json:"control"` // the kind of modifier; text if the page does not know it
	Options     []signpost.Option `json:"options"`
	Default     *string           `json:"default"` // as written in a URL; nil if there is none
}

func newEndpoint(e signpost.Endpoint, u signpost.URL, key string) endpoint {
	view := endpoint{
		Key: key, URL: e.URL, Origin: u.Origin(), Name: e.Name, Method: e.Method, MIMEType: e.MIMEType,
		Placeholders: append([]string{}, u.Placeholders()...), Context: []contextField{}, Modifiers: []modifier{},
	}
	for _, item := range e.ContextObj {
		view.Context = append(view.Context, contextField{
			Key: item.Key, Type: item.Type, Required: item.Required, SentAs: item.SentAs(), Sent: item.SentWith(e.Method),
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
	text += "."
	if d.Use != "" {
		text += " Use " + d.Use + "."
	}
	if d.Reason != "" {
		text += " " + sentence(d.Reason)
	}
	return text
}

// control chooses the control for a param: a dropdown if there are options, otherwise that of its kind.
func control(p signpost.Param, defaults map[string]string) param {
	view := param{Key: p.Key, Label: p.UI.Label, Placeholder: p.UI.Placeholder, Control: p.Kind(), Options: p.UI.Options}
	if len(view.Options) == 0 {
		view.Options = []signpost.Option{}
		for _, value := range p.Schema.Enum {
			view.Options = append(view.Options, signpost.Option{Value: value, Label: value})
		}
	}
	if len(view.Options) > 0 {
		view.Control = signpost.KindSelect
	}
	value, hasDefault := defaults[p.Key]
	if hasDefault && client.CheckValue(p, value) == nil { // which fits the control
		view.Default = &value
	}
	return view
}

// finding is a finding with what the page needs to show it in the text.
type finding struct {
	signpost.Finding
	Width int    `json:"width"`
	Key   string `json:"key"`   // key of the endpoint, if it is about one
	Field string `json:"field"` // the control that it is about, such as modifiers[1]; empty if none
}

// fieldOf returns which modifier or context item of an endpoint a path leads into, such as modifiers[1].
func fieldOf(p signpost.Path) string {
	if len(p) < 3 {
		return ""
	}
	return signpost.Path{p[1], p[2]}.String()
}

func findings(file *definition.File, found []signpost.Finding) []finding {
	all := []finding{}
	for _, f := range found {
		path := file.Locate(f)
		all = append(all, finding{f, f.Width, path.Endpoint(), fieldOf(path)})
	}
	return all
}
