package contextkeys

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"slices"
	"strconv"

	"signpost"
)

// Middleware reads the context keys of each request, as [FromRequest] does, and passes them to the handler in the
// request's context: see [FromContext]. The handler runs only if every required key has a value. Take the items from
// [signpost.Template.Endpoint], which includes those that features add.
//
// Otherwise the response is application/problem+json with status 400, or 413, 414 or 415 as [MalformedError] says, and
// its member "key" names the key. It is not 401: conforming clients never omit a required key, so the request is
// malformed, and a 401 must name an HTTP authentication scheme to retry with, which ctx is not. Services that need 401
// anyway can call FromRequest. Rejecting a token that is present but invalid is up to the handler.
//
// Every method is checked. Put the handler of CORS preflights around the middleware, not inside it.
func Middleware(items []signpost.ContextItem) func(http.Handler) http.Handler {
	items = slices.Clone(items)
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			values, err := FromRequest(r, items)
			if err != nil {
				refuse(w, err)
				return
			}
			next.ServeHTTP(w, r.WithContext(NewContext(r.Context(), values)))
		})
	}
}

type contextKey struct{}

// NewContext returns a copy of ctx that carries the values, as [Middleware] passes it on.
func NewContext(ctx context.Context, v Values) context.Context {
	return context.WithValue(ctx, contextKey{}, v)
}

// FromContext returns the values in the context of a request. The zero Values means that there are none.
func FromContext(ctx context.Context) Values {
	v, _ := ctx.Value(contextKey{}).(Values)
	return v
}

// refuse responds with a problem (RFC 9457). This is the only place that maps errors to statuses.
func refuse(w http.ResponseWriter, err error) {
	status, key := http.StatusBadRequest, ""
	if missing, ok := errors.AsType[*MissingError](err); ok {
		key = missing.Item.Key
	}
	if malformed, ok := errors.AsType[*MalformedError](err); ok {
		status, key = malformed.Status, malformed.Key
	}
	body, _ := json.Marshal(struct { // strings and numbers always marshal
		Type   string `json:"type"`
		Title  string `json:"title"`
		Status int    `json:"status"`
		Detail string `json:"detail"`
		Key    string `json:"key,omitempty"`
	}{"about:blank", http.StatusText(status), status, "The " + err.Error() + ".", key})
	body = append(body, '\n')
	header := w.Header()
	header.Set("Cache-Control", "no-store")
	header.Set("Content-Length", strconv.Itoa(len(body)))
	header.Set("Content-Type", "application/problem+json")
	header.Set("X-Content-Type-Options", "nosniff")
	w.WriteHeader(status)
	w.Write(body)
}
