package main

import (
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"signpost/client"
)

// start runs the service on a loopback port.
func start(t *testing.T) (address string, opts client.CheckOptions) {
	handler, err := newService()
	if err != nil {
		t.Fatal(err)
	}
	service := httptest.NewServer(handler)
	t.Cleanup(service.Close)
	// The URLs of the manifest have the host of the request, but not its port, so requests for them are redirected to
	// the test server.
	if opts.SendTo, err = url.Parse(service.URL); err != nil {
		t.Fatal(err)
	}
	return service.URL + "/v1/endpoints-manifest", opts
}

// The service does what its manifest says: every check of a studio and its apps passes.
func TestService(t *testing.T) {
	address, opts := start(t)
	opts.Context = map[string]string{tokenKey: "s3cr3t"}
	report, err := client.Check(t.Context(), address, opts)
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range report.Results {
		if r.Status == client.Failed {
			t.Errorf("%s %s: %s\n%s", r.Check, r.Endpoint, r.Message, r.Hint)
		}
		if r.Check == "probe" && r.Status == client.Skipped {
			t.Errorf("%s is not tested: %s", r.Endpoint, r.Message)
		}
	}
}

// One feed in detail: the request that an app sends, and the response.
func TestMedia(t *testing.T) {
	address, opts := start(t)
	manifest, err := client.FetchManifest(t.Context(), address, client.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range manifest.Endpoints {
		if e.Name != "Media" {
			continue
		}
		request, err := client.NewRequest(t.Context(), e, client.Call{Context: map[string]any{tokenKey: "s3cr3t", profileKey: 7}})
		if err != nil {
			t.Fatal(err)
		}
		request.Host, request.URL.Scheme, request.URL.Host = request.URL.Host, opts.SendTo.Scheme, opts.SendTo.Host
		answer, err := client.Send(request, client.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if got := strings.TrimSpace(string(answer.Body)); answer.Status != 200 || got != `{"entry":[],"profile":7}` {
			t.Errorf("got %d %s", answer.Status, got)
		}
	}
}
