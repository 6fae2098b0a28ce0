package server

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestWireRespondsLikeNetHTTP compares announced responses with those written by net/http.
func TestWireRespondsLikeNetHTTP(t *testing.T) {
	h := newHandler(t, Options{AllowedHosts: []string{"feeds.example.com"}, MaxBodyBytes: 10}, v1(compile(t, strings.Repeat("a", 10_000))))
	wired, plain := listen(t, h), listenPlain(t, h)
	for _, request := range []string{
		"GET " + manifestPath + " HTTP/1.1",
		"GET " + manifestPath + " HTTP/1.0",
		"HEAD " + manifestPath + " HTTP/1.1",
		"GET " + manifestPath + " HTTP/1.1\r\nAccept-Encoding: gzip",
		"HEAD " + manifestPath + " HTTP/1.1\r\nAccept-Encoding: gzip",
		"GET " + manifestPath + " HTTP/1.1\r\nAccept-Encoding: gzip\r\nIf-None-Match: *",
		"HEAD " + manifestPath + " HTTP/1.1\r\nIf-None-Match: *",
		"GET /none HTTP/1.1",
		"OPTIONS " + manifestPath + " HTTP/1.1",
		"DELETE " + manifestPath + " HTTP/1.1",
		"GET http://other.example.com" + manifestPath + " HTTP/1.1",
	} {
		method, _, _ := strings.Cut(request, " ")
		var all [2]string
		for i, address := range []string{wired, plain} {
			a := exchange(t, address, method, request+"\r\nHost: feeds.example.com\r\nConnection: close\r\n\r\n")
			a.Header.Del("Date")
			all[i] = fmt.Sprintln(a.Proto, a.Status, a.Close, a.ContentLength, a.TransferEncoding, a.Header, string(a.body))
		}
		if diff := cmp.Diff(all[1], all[0]); diff != "" {
			t.Errorf("%q (-net/http +wire):\n%s", request, diff)
		}
	}
}
