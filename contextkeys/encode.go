package contextkeys

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"mime"
	"net/url"
	"unicode/utf8"

	"signpost"
)

// Encode returns the value of the ctx parameter for an endpoint: base64url without padding of one JSON object with
// sorted keys, which needs no escaping in a URL. It takes the values, which are by key, of the items that are sent in
// ctx, and writes them under the names that their mappers give. Other values are left out. A value is a string, a
// number, a boolean, or a [json.RawMessage] that holds any of these, an object or an array; nil counts as absent.
//
// With nothing to send it returns "": leave the parameter out. If a required value is missing, or is one of the
// strings that services count as missing (see [FromRequest]), the error is a [*MissingError] and no request should be
// sent. No error quotes another value.
func Encode(items []signpost.ContextItem, values map[string]any) (string, error) {
	params, err := gather(signpost.ContextCtx, items, values)
	if err != nil || len(params) == 0 {
		return "", err
	}
	object, err := json.Marshal(params)
	if err != nil {
		return "", fmt.Errorf("encode ctx: %w", err)
	}
	ctx := base64.RawURLEncoding.EncodeToString(object)
	if len(ctx) > MaxCtx {
		return "", fmt.Errorf("ctx would have %d bytes: services read up to %d", len(ctx), MaxCtx)
	}
	return ctx, nil
}

// EncodeBody returns the body and its Content-Type for a post endpoint: a form if mimeType, the mime_type of the
// endpoint's descriptor, is signpost.MIMEForm, and a JSON object otherwise. It takes the items that are sent in the
// body, and works like [Encode] in all other respects. With nothing to send it returns no body and no type.
func EncodeBody(items []signpost.ContextItem, values map[string]any, mimeType string) (body []byte, contentType string, err error) {
	params, err := gather(signpost.ContextBodyParam, items, values)
	if err != nil || len(params) == 0 {
		return nil, "", err
	}
	if media, _, _ := mime.ParseMediaType(mimeType); media == signpost.MIMEForm {
		form := make(url.Values)
		for name, raw := range params {
			var text string
			if json.Unmarshal(raw, &text) != nil {
				text = string(raw) // a number or a boolean
			}
			form.Set(name, text)
		}
		return []byte(form.Encode()), signpost.MIMEForm, nil
	}
	if body, err = json.Marshal(params); err != nil {
		return nil, "", fmt.Errorf("encode body: %w", err)
	}
	return body, signpost.MIMEJSON, nil
}

// gather returns what is sent in one part of a request: JSON values by the names that they are sent under.
func gather(kind string, items []signpost.ContextItem, values map[string]any) (map[string]json.RawMessage, error) {
	params := make(map[string]json.RawMessage)
	for _, item := range items {
		if item.Type != kind {
			continue
		}
		value, name := values[item.Key], item.SentAs()
		if value == nil {
			if item.Required {
				return nil, &MissingError{Item: item}
			}
			continue
		}
		if params[name] != nil {
			return nil, fmt.Errorf("context key %q and another one are both sent as %q", item.Key, name)
		}
		if text, ok := value.(string); ok && !utf8.ValidString(text) { // json.Marshal would send another text
			return nil, fmt.Errorf("value of context key %q is not UTF-8 text", item.Key)
		}
		_, written := value.(json.RawMessage)
		raw, err := json.Marshal(value)
		if err != nil || !written && (raw[0] == '{' || raw[0] == '[') || raw[0] == 'n' { // the error may quote the value
			return nil, fmt.Errorf("value of context key %q is a %T: give a string, a number or a boolean", item.Key, value)
		}
		if item.Required && noValue(decodeValue(raw)) {
			return nil, &MissingError{Item: item, Sent: string(raw)}
		}
		params[name] = raw
	}
	return params, nil
}
