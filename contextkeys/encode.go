package contextkeys

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"mime"
	"net/http"
	"net/url"
	"strings"
	"unicode"
	"unicode/utf8"

	"signpost"
)

// Encode returns the ctx parameter for an endpoint: one JSON object with sorted keys, base64url-encoded without
// padding, so it needs no escaping in a URL. It contains the values of the items of type ctx under the names that their
// mappers give; all other values are ignored. A value is a string, a number, a boolean, or a [json.RawMessage] that
// holds any of these, an object or an array; nil counts as absent.
//
// If there is nothing to send, Encode returns "": omit the parameter. If a required value is missing, or is one of the
// strings that count as missing (see [FromRequest]), the error is a [*MissingError] and no request should be sent. No
// other error quotes a value.
func Encode(items []signpost.ContextItem, values map[string]any) (string, error) {
	params, err := gather(signpost.ContextCtx, items, values)
	if err != nil || len(params) == 0 {
		return "", err
	}
	object, _ := json.Marshal(params) // of valid JSON, which cannot fail
	ctx := base64.RawURLEncoding.EncodeToString(object)
	if len(ctx) > MaxCtx {
		return "", fmt.Errorf("ctx would have %d bytes: services accept at most %d", len(ctx), MaxCtx)
	}
	return ctx, nil
}

// EncodeBody returns the body and its Content-Type for a post endpoint: a form if mimeType, the mime_type of the
// endpoint's descriptor, is signpost.MIMEForm, and a JSON object otherwise. It sends the items of type bodyParam and
// otherwise works like [Encode]. If there is nothing to send, both results are empty.
func EncodeBody(items []signpost.ContextItem, values map[string]any, mimeType string) (
	body []byte, contentType string, err error) {
	params, err := gather(signpost.ContextBodyParam, items, values)
	if err != nil || len(params) == 0 {
		return nil, "", err
	}
	if media, _, _ := mime.ParseMediaType(mimeType); media == signpost.MIMEForm {
		form := make(url.Values)
		for name, raw := range params {
			form.Set(name, plainText(raw))
		}
		return []byte(form.Encode()), signpost.MIMEForm, nil
	}
	body, _ = json.Marshal(params) // as in Encode
	return body, signpost.MIMEJSON, nil
}

// EncodeHeader returns the headers for an endpoint: the items of type header under the names that their mappers give,
// and one of type bearerHeader as Authorization. The specification does not know these types; apps do. It otherwise
// works like [Encode].
func EncodeHeader(items []signpost.ContextItem, values map[string]any) (http.Header, error) {
	header := make(http.Header)
	for _, item := range items {
		scheme, inHeader := headerSchemes[item.Type]
		if !inHeader {
			continue
		}
		raw, err := encodeValue(item, values[item.Key])
		if err != nil {
			return nil, err
		}
		name, text := item.SentAs(), plainText(raw)
		switch {
		case raw == nil:
			continue
		case name == "" || strings.Trim(name, inNames) != "":
			return nil, fmt.Errorf("%q cannot be the name of a header: give the context key a mapper", name)
		case len(header.Values(name)) > 0:
			return nil, fmt.Errorf("two context keys are both sent as the header %q", name)
		case strings.ContainsFunc(text, unicode.IsControl):
			return nil, fmt.Errorf("value of the header %q has a control character", name)
		}
		header.Set(name, scheme+text)
	}
	return header, nil
}

// headerSchemes has what precedes the value in a header, by type.
var headerSchemes = map[string]string{signpost.ContextHeader: "", signpost.ContextBearerHeader: "Bearer "}

// inNames are the characters of the names of headers (RFC 9110, section 5.6.2).
const inNames = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789!#$%&'*+-.^_`|~"

// plainText returns a JSON string without its quotes, and any other value as it is written.
func plainText(raw json.RawMessage) string {
	var text string
	if json.Unmarshal(raw, &text) != nil {
		return string(raw)
	}
	return text
}

// gather returns the JSON values to send in one part of a request, by the name they are sent under.
func gather(kind string, items []signpost.ContextItem, values map[string]any) (map[string]json.RawMessage, error) {
	params := make(map[string]json.RawMessage)
	for _, item := range items {
		if item.Type != kind {
			continue
		}
		raw, err := encodeValue(item, values[item.Key])
		if err != nil {
			return nil, err
		}
		name := item.SentAs()
		if raw != nil && params[name] != nil {
			return nil, fmt.Errorf("context key %q and another one are both sent as %q", item.Key, name)
		}
		if raw != nil {
			params[name] = raw
		}
	}
	return params, nil
}

// encodeValue returns the value of an item as JSON, or nil if there is none to send.
func encodeValue(item signpost.ContextItem, value any) (json.RawMessage, error) {
	if value == nil {
		if item.Required {
			return nil, &MissingError{Item: item}
		}
		return nil, nil
	}
	if text, ok := value.(string); ok && !utf8.ValidString(text) { // json.Marshal would replace the invalid bytes
		return nil, fmt.Errorf("value of context key %q is not UTF-8 text", item.Key)
	}
	raw, err := json.Marshal(value)
	_, written := value.(json.RawMessage)
	possible := err == nil && raw[0] != 'n' && (written || raw[0] != '{' && raw[0] != '[')
	if !possible { // err may quote the value
		return nil, fmt.Errorf("value of context key %q is a %T: use a string, a number or a boolean", item.Key, value)
	}
	if item.Required && noValue(decodeValue(raw)) {
		return nil, &MissingError{Item: item, Sent: string(raw)}
	}
	return raw, nil
}
