package contextkeys

import (
	"fmt"
	"net/http"

	"signpost"
)

// MissingError says that a required key has no value.
type MissingError struct {
	Item signpost.ContextItem // as declared

	// Sent is the JSON of what was sent instead of a value: "undefined", "null" or "" as a string, or null. It is
	// empty if nothing was sent.
	Sent string
}

func (e *MissingError) Error() string {
	text := fmt.Sprintf("required context key %q is missing: ", e.Item.Key)
	switch e.Sent {
	case "":
		text += "it goes into the "
	case `""`:
		text += "an empty string counts as no value; send one in the "
	case "null":
		text += "null counts as no value; send one in the "
	default:
		text += fmt.Sprintf("the string %s counts as no value; send one in the ", e.Sent)
	}
	text += place(e.Item.Type)
	if name := e.Item.SentAs(); name != e.Item.Key {
		text += fmt.Sprintf(" as %q", name)
	}
	return text
}

// MalformedError says what is wrong with what a client sent. It quotes no value.
type MalformedError struct {
	Status int    // the HTTP status for it: 400, or 413 or 414 for too much, or 415 for a body of another type
	Type   string // where it is: signpost.ContextCtx or ContextBodyParam
	Key    string // the name, as sent, that it is about, cut to 64 characters; empty if it is about none
	Reason string
}

func (e *MalformedError) Error() string {
	if e.Key != "" {
		return fmt.Sprintf("key %q of the %s %s", e.Key, place(e.Type), e.Reason)
	}
	return fmt.Sprintf("%s %s", place(e.Type), e.Reason)
}

// maxQuoted is the length to which names that a client sent are cut in errors: enough to know a key by.
const maxQuoted = 64

func malformed(status int, kind, key, reason string, args ...any) error {
	return &MalformedError{status, kind, fmt.Sprintf("%.*s", maxQuoted, key), fmt.Sprintf(reason, args...)}
}

func badCtx(key, reason string, args ...any) error {
	return malformed(http.StatusBadRequest, signpost.ContextCtx, key, reason, args...)
}

func badBody(key, reason string, args ...any) error {
	return malformed(http.StatusBadRequest, signpost.ContextBodyParam, key, reason, args...)
}

// place names the part of a request that context items of this type are sent in.
func place(kind string) string {
	if kind == signpost.ContextBodyParam {
		return "request body"
	}
	return "ctx query parameter"
}
