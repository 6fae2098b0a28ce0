package contextkeys

import (
	"cmp"
	"fmt"
	"net/http"

	"signpost"
)

// MissingError reports that a required key has no value.
type MissingError struct {
	Item signpost.ContextItem // as declared

	// Sent is the JSON that was sent in place of a value: "undefined", "null" or "" as a string, or null. It is empty
	// if nothing was sent.
	Sent string
}

func (e *MissingError) Error() string {
	text := fmt.Sprintf("required context key %q is missing: ", e.Item.Key)
	if e.Sent == "" {
		text += "it goes into the "
	} else {
		text += e.Sent + " counts as no value; send one in the "
	}
	text += carrier(e.Item.Type)
	if name := e.Item.SentAs(); name != e.Item.Key {
		text += fmt.Sprintf(" as %q", name)
	}
	return text
}

// MalformedError describes a problem with what a client sent. It never quotes a value.
type MalformedError struct {
	Status int    // HTTP status: 400, 413 or 414 if too large, 415 for an unsupported type of body
	Type   string // part of the request: signpost.ContextCtx, ContextBodyParam, ContextHeader or ContextBearerHeader
	Key    string // name of the key as sent, truncated to 64 characters; may be empty
	Reason string
}

func (e *MalformedError) Error() string {
	if e.Key != "" {
		return fmt.Sprintf("key %q of the %s %s", e.Key, carrier(e.Type), e.Reason)
	}
	return fmt.Sprintf("%s %s", carrier(e.Type), e.Reason)
}

// maxQuoted is the length to which names sent by a client are truncated in errors: enough to recognize a key.
const maxQuoted = 64

func malformed(status int, kind, key, reason string, args ...any) error {
	return &MalformedError{status, kind, fmt.Sprintf("%.*s", maxQuoted, key), fmt.Sprintf(reason, args...)}
}

// bad returns an error of status 400 about a part of the request.
func bad(kind, key, reason string, args ...any) error {
	return malformed(http.StatusBadRequest, kind, key, reason, args...)
}

// carrier names the part of a request that carries context items of this type.
func carrier(kind string) string {
	return cmp.Or(signpost.ContextItem{Type: kind}.Place(), "ctx query parameter")
}
