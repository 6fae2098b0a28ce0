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

// Decode reads the value of a ctx parameter, as it stands in a URL or unescaped: base64url of one flat JSON object.
// Padding, the standard alphabet and percent-encoding are accepted too, and a space for a + that a query's unescaping
// took away. An empty parameter holds no keys. Look-ups in the Values are by name as sent.
//
// The error is a [*MalformedError].
func Decode(ctx string) (Values, error) {
	if ctx == "" {
		return Values{}, nil
	}
	data, err := decodeBase64(ctx)
	if err != nil {
		return Values{}, err
	}
	params, err := decodeObject(data, badCtx, func(string) bool { return true })
	if err != nil {
		return Values{}, err
	}
	return Values{ctx: params}, nil
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

// decodeObject reads one JSON object into its names and values. A value that is an object or an array is an error
// where flat says so of its name, and as good as null elsewhere. bad makes the errors.
func decodeObject(data []byte, bad func(key, reason string, args ...any) error, flat func(name string) bool) (map[string]any, error) {
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
	dec.UseNumber()
	if start, _ := dec.Token(); start != json.Delim('{') {
		return nil, bad("", "is JSON, but not an object of keys and values")
	}
	params := make(map[string]any)
	for dec.More() {
		key, _ := dec.Token()
		name, _ := key.(string)
		value, _ := dec.Token()
		_, nested := value.(json.Delim)
		_, twice := params[name]
		switch {
		case nested && flat(name):
			return nil, bad(name, "is an object or an array: send a string, a number, a boolean or null")
		case twice:
			return nil, bad(name, "is there twice")
		case len(params) == MaxKeys:
			return nil, bad("", "has more than %d keys", MaxKeys)
		case nested:
			value = nil
			skipNested(dec)
		}
		params[name] = value
	}
	return params, nil
}

// skipNested reads on to the end of the object or array that has begun.
func skipNested(dec *json.Decoder) {
	for depth := 1; depth > 0; {
		token, err := dec.Token()
		switch {
		case err != nil:
			return
		case token == json.Delim('{'), token == json.Delim('['):
			depth++
		case token == json.Delim('}'), token == json.Delim(']'):
			depth--
		}
	}
}
