package contextkeys

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"strings"
	"unicode/utf8"

	"signpost"
)

const (
	// MaxCtx is the maximum length of a ctx parameter in bytes. Proxies commonly accept URLs of 8 KiB; this is four
	// times as much.
	MaxCtx = 32 << 10

	// MaxKeys is the number of keys of a request up to which undeclared ones are kept. However many there are, declared
	// keys are found, but every one that is kept costs the service memory.
	MaxKeys = 256

	// maxEscapes is how many levels of percent-encoding are removed: one for the URL, one for a client or proxy that
	// escaped it again.
	maxEscapes = 2
)

// Decode reads the value of a ctx parameter, escaped or not: the base64url encoding of one JSON object. It also accepts
// padding, the standard alphabet, line breaks and percent-encoding, and a space in place of a + that was lost in
// unescaping the query. An empty parameter, undefined and null hold no keys. Values are looked up by the name they were
// sent under.
//
// The error is a [*MalformedError].
func Decode(ctx string) (Values, error) {
	params, err := decodeCtx(ctx, nil)
	if err != nil {
		return Values{}, err
	}
	return Values{parts: map[string]map[string]any{signpost.ContextCtx: params}}, nil
}

func decodeCtx(ctx string, declared map[string]bool) (map[string]any, error) {
	if ctx == "" {
		return nil, nil
	}
	data, err := DecodeText(ctx)
	if err != nil || isNothing(string(data)) {
		return nil, err
	}
	return decodeObject(data, signpost.ContextCtx, declared)
}

// isNothing reports whether a whole ctx is what some clients send if they have none.
func isNothing(ctx string) bool { return ctx == "undefined" || ctx == "null" }

// toURL converts the standard alphabet to base64url, and removes the line breaks that some encoders put into long texts.
var toURL = strings.NewReplacer("+", "-", " ", "-", "/", "_", "\r", "", "\n", "")

// DecodeText returns the JSON text in a ctx parameter, in the forms that [Decode] accepts. It does not look at the
// text. It is for programs that see many requests and few of their keys.
func DecodeText(ctx string) ([]byte, error) {
	text := ctx
	if len(text) > MaxCtx {
		return nil, malformed(http.StatusRequestURITooLong, signpost.ContextCtx, "", "is longer than %d bytes", MaxCtx)
	}
	for n := 0; n < maxEscapes && strings.Contains(text, "%"); n++ {
		unescaped, err := url.PathUnescape(text) // unlike QueryUnescape, leaves a + alone
		if err != nil {                          // the error quotes what follows the %
			return nil, bad(signpost.ContextCtx, "", "has a %% without two hexadecimal digits after it")
		}
		text = unescaped
	}
	text = toURL.Replace(text)
	if isNothing(text) {
		return []byte(text), nil
	}
	if strings.HasPrefix(text, "{") {
		return nil, bad(signpost.ContextCtx, "", "is plain JSON, which must be base64url-encoded")
	}
	encoding := base64.RawURLEncoding
	if strings.HasSuffix(text, "=") {
		encoding = base64.URLEncoding
	}
	data, err := encoding.Strict().DecodeString(text)
	if offset, ok := errors.AsType[base64.CorruptInputError](err); ok {
		at := min(int(offset)+1, len(text))
		return nil, bad(signpost.ContextCtx, "", "is not base64url: invalid at byte %d of %d", at, len(text))
	}
	return data, err
}

// decodeObject reads the names and values of one JSON object. A duplicate name is an error if it is declared, as all
// are if declared is nil; otherwise it gets no value. kind is the part of the request, for errors.
func decodeObject(data []byte, kind string, declared map[string]bool) (map[string]any, error) {
	if !utf8.Valid(data) {
		return nil, bad(kind, "", "is not UTF-8 text")
	}
	err := json.Unmarshal(data, new(json.RawMessage))
	if syntax, ok := errors.AsType[*json.SyntaxError](err); ok { // its text quotes a character
		return nil, bad(kind, "", "is not JSON: invalid at byte %d of %d", syntax.Offset, len(data))
	}
	dec := json.NewDecoder(bytes.NewReader(data)) // the text is valid, so neither Token nor Decode can fail
	if start, _ := dec.Token(); start != json.Delim('{') {
		return nil, bad(kind, "", "is JSON, but not an object")
	}
	params := make(map[string]any)
	for dec.More() {
		token, _ := dec.Token()
		name, _ := token.(string)
		var raw json.RawMessage
		dec.Decode(&raw)
		_, twice := params[name]
		matters := declared == nil || declared[name]
		switch {
		case twice && matters:
			return nil, bad(kind, name, "is duplicated")
		case twice:
			params[name] = nil
		case !matters && len(params) >= MaxKeys: // nobody needs that many
		default:
			params[name] = decodeValue(raw)
		}
	}
	return params, nil
}

// decodeValue converts a valid JSON value to the form that [Values] holds.
func decodeValue(raw json.RawMessage) (value any) {
	if raw[0] == '{' || raw[0] == '[' {
		return raw
	}
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.UseNumber()
	dec.Decode(&value)
	return value
}
