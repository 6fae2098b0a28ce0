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

// Middleware reads the context keys of each request, as [FromRequest] does, and hands them to the handler in the
// request's context: see [FromContext]. The handler runs only if every required key is there.
//
// Otherwise the answer is application/problem+json with the status 400, or 413, 414 or 415 where [MalformedError] says
// so, and names the key in its member "key". It is not 401, since clients do not send a request without a required
// key; and a 401 has to say by which HTTP authentication scheme to try again, which ctx is not. A service that wants
// one all the same calls FromRequest. A token that is there and not good is for the handler to refuse.
//
// Every method is checked. Put what answers CORS preflights around the middleware, not inside it.
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

// NewContext returns a context that carries the values, as [Middleware] does.
func NewContext(ctx context.Context, v Values) context.Context {
	return context.WithValue(ctx, contextKey{}, v)
}

// FromContext returns the values that the context of a request carries, none if it carries none.
func FromContext(ctx context.Context) Values {
	v, _ := ctx.Value(contextKey{}).(Values)
	return v
}

// refuse answers with the problem (RFC 9457). This is where errors become statuses.
func refuse(w http.ResponseWriter, err error) {
	status, key := http.StatusBadRequest, ""
	if missing, ok := errors.AsType[*MissingError](err); ok {
		key = missing.Item.Key
	}
	if malformed, ok := errors.AsType[*MalformedError](err); ok {
		status, key = malformed.Status, malformed.Key
	}
	body, err := json.Marshal(struct {
		Type   string `json:"type"`
		Title  string `json:"title"`
		Status int    `json:"status"`
		Detail string `json:"detail"`
		Key    string `json:"key,omitempty"`
	}{"about:blank", http.StatusText(status), status, "The " + err.Error() + ".", key})
	if err != nil {
		panic(err) // strings and numbers always marshal
	}
	body = append(body, '\n')
	header := w.Header()
	header.Set("Cache-Control", "no-store")
	header.Set("Content-Length", strconv.Itoa(len(body)))
	header.Set("Content-Type", "application/problem+json")
	header.Set("X-Content-Type-Options", "nosniff")
	w.WriteHeader(status)
	w.Write(body)
}
