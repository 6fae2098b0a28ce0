package testkit

import (
	"strconv"
	"strings"

	"signpost"
)

// Endpoints reads endpoints that are separated by commas. Each is a path, or = and a URL. Before it stands what is
// unusual: post, form or feed for the method and the type, and the name in quotes. After it stand its context keys: !
// is required, body. is sent in the body, and = precedes the name that a key is sent under.
func Endpoints(text string) []signpost.Endpoint {
	var all []signpost.Endpoint
	for endpoint := range strings.SplitSeq(text, ",") {
		e := signpost.Endpoint{Name: "Feed", Method: signpost.MethodGet, MIMEType: signpost.MIMEJSON}
		for word := range strings.FieldsSeq(endpoint) {
			switch name, err := strconv.Unquote(word); {
			case err == nil:
				e.Name = name
			case word == "post":
				e.Method = signpost.MethodPost
			case word == "form":
				e.MIMEType = signpost.MIMEForm
			case word == "feed":
				e.MIMEType = signpost.MIMEFeed
			case e.URL == "":
				e.URL = strings.TrimPrefix("https://{{host}}"+word, "https://{{host}}=")
			default:
				item := signpost.ContextItem{Type: signpost.ContextCtx}
				word, item.Required = strings.CutSuffix(word, "!")
				item.Key, item.Mapper, _ = strings.Cut(word, "=")
				if key, ok := strings.CutPrefix(item.Key, "body."); ok {
					item.Key, item.Type = key, signpost.ContextBodyParam
				}
				e.ContextObj = append(e.ContextObj, item)
			}
		}
		if e.URL != "" {
			all = append(all, e)
		}
	}
	return all
}

// FullEndpoint returns a new endpoint with a value in every field.
func FullEndpoint(url string) signpost.Endpoint {
	options := []signpost.Option{{Value: "newest", Label: "Newest", Extra: `"icon":"n"`}}
	return signpost.Endpoint{
		Extra: `"observe_storage":["a"]`,
		URL:   url, Name: "Feed", Method: signpost.MethodGet, MIMEType: signpost.MIMEJSON,
		ContextObj: []signpost.ContextItem{{Key: "profile", Type: signpost.ContextCtx, Required: true, Mapper: "user", Extra: `"x":1`}},
		Modifiers: []signpost.Modifier{{ID: "sort", Name: "Sort order", Params: []signpost.Param{{
			Key:    "sort",
			UI:     signpost.UI{Label: "Sort by", Placeholder: "choose", Options: options, Extra: `"help":"&"`},
			Schema: signpost.Schema{Type: signpost.TypeString, Default: "newest", Enum: []string{"newest"}, Extra: `"minimum":1.0`},
			Extra:  `"hidden":false`,
		}}, Extra: `"group":null`}},
	}
}
