package wire

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net"
	"net/http"
	"testing"

	"signpost/internal/testkit"
)

// FuzzPlainRequest checks that net/http takes a plain request for the same one: it calls the handler once, with the same
// request, and wants another one.
func FuzzPlainRequest(f *testing.F) {
	for _, request := range testkit.Inputs(f, "testdata/requests.golden") {
		f.Add(request)
	}
	f.Fuzz(func(t *testing.T, data string) {
		r := plainRequest([]byte(data))
		if r == nil {
			return
		}
		describe := func(r *http.Request) string {
			return fmt.Sprintf("%s %s %s %s %q %q %d %v", r.Method, r.RequestURI, r.URL, r.Proto, r.Host, r.Header, r.ContentLength, r.Close)
		}
		unused, _ := net.Pipe()
		ended, cancel := context.WithCancel(t.Context())
		conn := &recorder{Conn: unused, in: data, random: rand.New(rand.NewPCG(0, 0)), close: cancel}
		accept := make(pipeListener, 1)
		accept <- conn
		var got []string
		srv := &http.Server{Handler: http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { got = append(got, describe(r)) })}
		go srv.Serve(accept)
		defer srv.Close()
		<-ended.Done()
		if len(got) != 1 || got[0] != describe(r) {
			t.Errorf("%q is %s, and for net/http %q", data, describe(r), got)
		}
	})
}
