package client

import (
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"signpost/internal/httpurl"

	"signpost"
)

// TestSendTo checks that requests for the service's own host go elsewhere, and no others do.
func TestSendTo(t *testing.T) {
	f := newFeeds(endpoint("https://{{host}}/v1/media", items(tokenItem)), endpoint("https://partner.example.net/x", items(signpost.ContextItem{Key: "token", Type: signpost.ContextCtx})))
	var got *http.Request
	f.handle("/v1/media", func(w http.ResponseWriter, r *http.Request) {
		got = r
		answer(200, `{"x": "BASE/"}`, jsonType)(w, r)
	})
	partner := serveHTTP(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Host != "partner.example.net" || r.URL.RawQuery != "" || r.Header.Get("X-Forwarded-Host") != "" {
			t.Errorf("the partner got %s %s %v", r.Host, r.URL, r.Header)
		}
		answer(200, "{}", jsonType)(w, r)
	}))
	ca := newAuthority(t)
	theirs := serveTLS(t, ca.issue(t, "partner.example.net", time.Now().AddDate(0, -1, 0), time.Now().AddDate(0, 2, 0)), partner.Config.Handler)
	local := serveHTTP(t, f.mux)
	sendTo, err := httpurl.ParseOrigin(local.URL + "/")
	if err != nil {
		t.Fatal(err)
	}
	opts := CheckOptions{
		Options: Options{Transport: network(t, ca.pool, map[string]*httptest.Server{"partner.example.net:443": theirs})},
		SendTo:  sendTo, Context: map[string]string{"token": secret},
	}
	report := check(t, address, opts)
	for _, r := range resultsOf(report, "probe") {
		expect(t, r, "passed: ", "")
	}
	expect(t, one(t, report, "reachable"), "passed: "+sendTo.Host+" answers for feeds.example.com", "")
	expect(t, one(t, report, "certificate"), "skipped: requests are sent to http://"+sendTo.Host+" instead", "")
	if got.Host != asked || got.Header.Get("X-Forwarded-Host") != asked || got.Header.Get("X-Forwarded-Proto") != "https" || !got.URL.Query().Has("ctx") {
		t.Errorf("the service got %s %s %v", got.Host, got.URL, got.Header)
	}

	// A manifest with an explicit port is fetched from there.
	mux := http.NewServeMux()
	mux.HandleFunc("/v1/endpoints-manifest", answer(200, manifestOf("https://127.0.0.1/v1/media"), jsonType))
	report = check(t, serveHTTP(t, mux).URL+"/v1/endpoints-manifest", CheckOptions{SendTo: sendTo})
	expect(t, one(t, report, "probe"), "passed: 200 OK", "")
	if got.Host != "127.0.0.1" {
		t.Errorf("the service got %s", got.Host)
	}

	// Context values are not sent over plain http to another machine.
	opts.SendTo, _ = httpurl.ParseOrigin("http://staging.example.com")
	opts.Transport = network(t, ca.pool, map[string]*httptest.Server{"partner.example.net:443": theirs, "staging.example.com:80": local})
	got = nil
	report = check(t, address, opts)
	expect(t, probeOf(t, report, "https://feeds.example.com/v1/media"), "skipped: it requires token, which is not sent because it is plain http", "")
	if got != nil {
		t.Errorf("the service got %s", got.URL)
	}
}
