package contextkeys_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"signpost/contextkeys"
)

// A token of 700 bytes is typical of identity providers.
var benchCtx = b64(`{"` + tokenKey + `":"` + strings.Repeat("eyJhbGc", 100) + `","profile":"7"}`)

func BenchmarkDecode(b *testing.B) {
	b.ReportAllocs()
	b.SetBytes(int64(len(benchCtx)))
	for b.Loop() {
		if _, err := contextkeys.Decode(benchCtx); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkMiddleware(b *testing.B) {
	handler := contextkeys.Middleware(items[:3])(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if _, ok := contextkeys.FromContext(r.Context()).Text(tokenKey); !ok {
			b.Fatal("no token")
		}
	}))
	r := httptest.NewRequest("GET", "/v1/media?limit=20&ctx="+benchCtx, nil)
	w := httptest.NewRecorder()
	b.ReportAllocs()
	for b.Loop() {
		handler.ServeHTTP(w, r)
	}
}
