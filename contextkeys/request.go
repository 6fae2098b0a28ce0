package contextkeys

import (
	"bytes"
	"errors"
	"io"
	"mime"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"unicode/utf8"

	"signpost"
)

// MaxBody is the length in bytes up to which a body is read. Body parameters need little of it; the rest is for what
// else the handler takes.
const MaxBody = 1 << 20

// FromRequest reads the context keys of a request and checks that those which the items require are there, not null.
//
// It reads the body only if an item is sent in one, as a form or as a JSON object, as the Content-Type says. The body
// can be read again afterwards, also after an error. Nothing in ctx may be nested; in a body, only the items may not,
// and other fields that are lists or objects read as null.
//
// The error is a [*MissingError] or a [*MalformedError].
func FromRequest(r *http.Request, items []signpost.ContextItem) (Values, error) {
	ctx, err := ctxParameter(r.URL.RawQuery)
	if err != nil {
		return Values{}, err
	}
	v, err := Decode(ctx)
	if err != nil {
		return Values{}, err
	}
	v.items = slices.Clone(items)
	if v.body, err = bodyParameters(r, items); err != nil {
		return Values{}, err
	}
	for _, item := range items {
		if item.Required && v.sent(item) == nil {
			return Values{}, &MissingError{item}
		}
	}
	return v, nil
}

// ctxParameter finds the ctx parameter and leaves it escaped. url.ParseQuery would drop one that is escaped badly, and
// its keys would seem to be missing.
func ctxParameter(query string) (ctx string, err error) {
	found := 0
	for pair := range strings.SplitSeq(query, "&") {
		name, value, _ := strings.Cut(pair, "=")
		if name, err := url.QueryUnescape(name); err == nil && name == signpost.ContextCtx {
			ctx, found = value, found+1
		}
	}
	if found > 1 {
		return "", badCtx("", "is there %d times", found)
	}
	return ctx, nil
}

// bodyParameters reads the fields of the body, if any item is sent in it.
func bodyParameters(r *http.Request, items []signpost.ContextItem) (map[string]any, error) {
	var declared []string // the names that must have one value, which is not nested
	for _, item := range items {
		if item.Type == signpost.ContextBodyParam {
			declared = append(declared, sentAs(item))
		}
	}
	if len(declared) == 0 {
		return nil, nil
	}
	data, err := readBody(r)
	if err != nil {
		return nil, err
	}
	if len(data) == 0 {
		return formParameters(r.PostForm, declared) // of a form that something before this has read
	}
	media, _, _ := mime.ParseMediaType(r.Header.Get("Content-Type"))
	switch {
	case media == signpost.MIMEForm:
		if bytes.Count(data, []byte("&")) >= MaxKeys {
			return nil, badBody("", "has more than %d fields", MaxKeys)
		}
		form, err := url.ParseQuery(string(data))
		if err != nil { // which quotes what it cannot read
			return nil, badBody("", "is not a form: it is not percent-encoded as one is")
		}
		return formParameters(form, declared)
	case media == signpost.MIMEJSON, strings.HasSuffix(media, "+json"):
		return decodeObject(data, badBody, func(name string) bool { return slices.Contains(declared, name) })
	}
	return nil, malformed(http.StatusUnsupportedMediaType, signpost.ContextBodyParam, "",
		"needs a Content-Type of %s or %s", signpost.MIMEJSON, signpost.MIMEForm)
}

func formParameters(form url.Values, declared []string) (map[string]any, error) {
	params := make(map[string]any, len(form))
	for name, texts := range form {
		valid := utf8.ValidString(texts[0])
		switch {
		case len(texts) == 1 && valid:
			params[name] = texts[0]
		case !slices.Contains(declared, name):
		case !valid:
			return nil, badBody(name, "is not UTF-8 text")
		default:
			return nil, badBody(name, "is there %d times", len(texts))
		}
	}
	return params, nil
}

// readBody returns the body, and puts it back for the handler.
func readBody(r *http.Request) ([]byte, error) {
	if r.Body == nil {
		return nil, nil
	}
	data, err := io.ReadAll(io.LimitReader(r.Body, MaxBody+1))
	r.Body = struct {
		io.Reader
		io.Closer
	}{io.MultiReader(bytes.NewReader(data), r.Body), r.Body}
	_, limited := errors.AsType[*http.MaxBytesError](err) // by the service itself
	switch {
	case limited, len(data) > MaxBody:
		return nil, malformed(http.StatusRequestEntityTooLarge, signpost.ContextBodyParam, "", "is longer than the service reads")
	case err != nil:
		return nil, badBody("", "could not be read to its end")
	}
	return data, nil
}
