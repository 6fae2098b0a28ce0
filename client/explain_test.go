package client

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"
)

func TestExplain(t *testing.T) {
	if p := Explain(nil); p != (Problem{}) {
		t.Errorf("no error: %+v", p)
	}
	expired := &requestError{err: context.DeadlineExceeded, timeout: 2 * time.Second}
	begun := &requestError{err: context.DeadlineExceeded, timeout: 2 * time.Second, begun: true}
	authority := newAuthority(t).cert
	for _, test := range []struct {
		err  error
		want Problem
	}{
		{fmt.Errorf("send request: %w", expired), Problem{Cause: causeTimeout, Message: "no response within 2s"}},
		{fmt.Errorf("send request: %w", begun), Problem{Cause: causeTimeout, Message: "the response did not end within 2s"}},
		{os.ErrDeadlineExceeded, Problem{Cause: causeTimeout, Message: "no response in time"}},
		{context.Canceled, Problem{Cause: causeCanceled, Message: "the request was canceled"}},
		{&requestError{err: io.EOF}, Problem{Message: "the connection was closed without a response"}},
		{&requestError{err: io.EOF, begun: true}, Problem{Message: "the connection was closed before the end of the response"}},
		{&tls.CertificateVerificationError{Err: x509.UnknownAuthorityError{Cert: authority}}, Problem{TLS: true, Cause: causeUnknownAuthority, Message: "the certificate is self-signed; clients will not trust it"}},
		{&tls.CertificateVerificationError{Err: x509.UnknownAuthorityError{}}, Problem{TLS: true, Cause: causeUnknownAuthority, Message: "the certificate is from an authority that clients do not trust"}},
		{&StatusError{"https://a.example/v1/endpoints-manifest", 404, ""}, Problem{Message: "the response is 404 Not Found, not 200 OK"}},
		{&StatusError{"https://a.example/v1/endpoints-manifest", 302, "https://b.example/"}, Problem{Message: `the address redirects to "https://b.example/"`}},
		{&requestError{err: errors.New("odd")}, Problem{Message: "the request failed: odd", Quotes: true}},
		{errors.New(`fetch "x": the response is not JSON`), Problem{Message: `fetch "x": the response is not JSON`, Quotes: true}},
	} {
		got := Explain(test.err)
		if got.Hint == "" {
			t.Errorf("%v: no hint", test.err)
		}
		got.Hint = ""
		if got != test.want {
			t.Errorf("%v:\n got %+v\nwant %+v", test.err, got, test.want)
		}
	}
}

// TestNoFlags checks that the library does not mention flags: its results carry facts, and the command line adds the
// flags.
func TestNoFlags(t *testing.T) {
	files, err := filepath.Glob("*.go")
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, flag := range regexp.MustCompile(`--[a-z][a-z-]+`).FindAllString(string(text), -1) {
			if !strings.HasSuffix(file, "_test.go") {
				t.Errorf("%s names the flag %s", file, flag)
			}
		}
	}
}
