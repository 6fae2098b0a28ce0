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
	// MaxCtx is the length in bytes up to which a ctx parameter is read or written. Usual proxies let a URL of 8 KiB
	// through; this is four of them.
	MaxCtx = 32 << 10

	// MaxKeys is the number of keys up to which ctx, or a body, is read. Endpoints declare a handful; each one that
	// is sent costs the service memory.
	MaxKeys = 256

	// maxEscapes is how often percent-encoding is taken off: once for the URL, once for a client or a proxy that
	// escaped it again.
	maxEscapes = 2
)

// Decode reads the value of a ctx parameter, escaped or not: base64url of one JSON object. Padding, the standard
// alphabet and percent-encoding are accepted too, as is a space for a + that unescaping the query turned into one. An
// empty parameter holds no keys. Look-ups in the Values are by name as sent.
//
// The error is a [*MalformedError].
func Decode(ctx string) (Values, error) {
	params, err := decodeCtx(ctx, func(string) bool { return true })
	if err != nil {
		return Values{}, err
	}
	return Values{ctx: params}, nil
}

func decodeCtx(ctx string, unique func(name string) bool) (map[string]any, error) {
	if ctx == "" {
		return nil, nil
	}
	data, err := decodeBase64(ctx)
	if err != nil {
		return nil, err
	}
	return decodeObject(data, badCtx, unique)
}

// toURL turns the standard alphabet into that of base64url. Line breaks become something that is in neither, because
// package base64 skips them.
var toURL = strings.NewReplacer("+", "-", " ", "-", "/", "_", "\r", "!", "\n", "!")

func decodeBase64(text string) ([]byte, error) {
	if len(text) > MaxCtx {
		return nil, malformed(http.StatusRequestURITooLong, signpost.ContextCtx, "", "is longer than %d bytes", MaxCtx)
	}
	for n := 0; n < maxEscapes && strings.Contains(text, "%"); n++ {
		unescaped, err := url.PathUnescape(text) // unlike QueryUnescape it leaves a + alone
		if err != nil {                          // which quotes what follows the %
			return nil, badCtx("", "has a %% without two hexadecimal digits after it")
		}
		text = unescaped
	}
	if strings.HasPrefix(text, "{") {
		return nil, badCtx("", "is JSON as it is, not base64url of it")
	}
	encoding := base64.RawURLEncoding
	if strings.HasSuffix(text, "=") {
		encoding = base64.URLEncoding
	}
	data, err := encoding.Strict().DecodeString(toURL.Replace(text))
	if offset, ok := errors.AsType[base64.CorruptInputError](err); ok {
		return nil, badCtx("", "is not base64url: it goes wrong at byte %d of %d", min(int(offset)+1, len(text)), len(text))
	}
	return data, err
}

// decodeObject reads one JSON object into its names and values. A name that occurs twice is an error where unique
// reports true for it, and has no value elsewhere. bad makes the errors.
func decodeObject(data []byte, bad func(key, reason string, args ...any) error, unique func(name string) bool) (map[string]any, error) {
	if !utf8.Valid(data) {
		return nil, bad("", "is not UTF-8 text")
	}
	if !json.Valid(data) {
		var offset int64
		if syntax, ok := errors.AsType[*json.SyntaxError](json.Unmarshal(data, new(json.RawMessage))); ok {
			offset = syntax.Offset // its message quotes a character
		}
		return nil, bad("", "is not JSON: it goes wrong at byte %d of %d", offset, len(data))
	}
	dec := json.NewDecoder(bytes.NewReader(data)) // the text is valid, so every token is there
	if start, _ := dec.Token(); start != json.Delim('{') {
		return nil, bad("", "is JSON, but not an object of keys and values")
	}
	params := make(map[string]any)
	for dec.More() {
		token, _ := dec.Token()
		name, _ := token.(string)
		var raw json.RawMessage
		if err := dec.Decode(&raw); err != nil {
			return nil, bad("", "is not JSON: it goes wrong at byte %d of %d", dec.InputOffset(), len(data))
		}
		_, twice := params[name]
		switch {
		case twice && unique(name):
			return nil, bad(name, "is duplicated")
		case twice:
			params[name] = nil
		case len(params) == MaxKeys:
			return nil, bad("", "has more than %d keys", MaxKeys)
		default:
			params[name] = decodeValue(raw)
		}
	}
	return params, nil
}

// decodeValue returns a JSON value in the form in which [Values] holds it.
func decodeValue(raw json.RawMessage) any {
	switch raw[0] {
	case '{', '[':
		return raw
	case '"':
		var text string
		json.Unmarshal(raw, &text) // valid, so there is no error
		return text
	case 't', 'f':
		return raw[0] == 't'
	case 'n':
		return nil
	}
	return json.Number(raw)
}
