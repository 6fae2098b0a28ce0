package warnings_test

import (
	"cmp"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"signpost"
	"signpost/internal/testkit"
	"signpost/internal/warnings"
)

// feed returns a valid endpoint with only the required fields.
func feed(url string) signpost.Endpoint {
	return signpost.Endpoint{URL: url, Name: "Feed", Method: signpost.MethodGet, MIMEType: signpost.MIMEJSON}
}

// warn returns the findings about a manifest without features, of a service with the given hosts.
func warn(m signpost.Manifest, hosts ...string) []signpost.Finding {
	return warnings.Manifest(m, m, hosts, m.Validate())
}

// texts formats findings as path, rule and message.
func texts(findings []signpost.Finding) []string {
	var all []string
	for _, f := range findings {
		path := strings.TrimPrefix(strings.TrimPrefix(f.Path.String(), f.Path.Endpoint()), ".")
		all = append(all, strings.TrimSpace(fmt.Sprintf("%s %s: %s", path, f.Rule, strings.ReplaceAll(f.Message, f.Path.Endpoint(), "URL"))))
	}
	return all
}

func TestOneEndpoint(t *testing.T) {
	testkit.Cases(t, "testdata/endpoints.golden", func(text string) string {
		url, fields, _ := strings.Cut(text, " ")
		e := feed(url)
		testkit.OK(t, json.Unmarshal([]byte(cmp.Or(fields, "{}")), &e))
		var out strings.Builder
		findings := warn(signpost.NewManifest(e))
		for i, text := range texts(findings) {
			fmt.Fprintf(&out, "%s\nhint: %s\n", text, findings[i].Hint)
			if findings[i].Severity != signpost.SeverityWarning {
				t.Errorf("%s: %+v", url, findings[i])
			}
		}
		return out.String()
	})
}

// Optional keys added by features go everywhere, as the spec says; the required ones are reported.
func TestThirdPartyKeysOfFeatures(t *testing.T) {
	own := signpost.ContextItem{Key: "own", Type: signpost.ContextCtx}
	e := feed("https://partner.example.net/media")
	e.Name = "Partner"
	e.ContextObj = []signpost.ContextItem{own}
	m := signpost.NewManifest(feed("https://{{host}}/feeds"), e)
	got := warnings.Manifest(m, m.WithFeatures(signpost.Authentication(), signpost.GeoRestriction()), nil, m.Validate())
	want := []string{
		`context_obj[0].key token-to-third-party: context key "own" is sent to "URL", which is not a URL of this service`,
		`context_obj[1].key token-to-third-party: context key "plugin-login-flow.access_token" is sent to "URL", which is not a URL of this service`,
	}
	if diff := gocmp.Diff(want, texts(got)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}

	// A served manifest does not tell which keys features added. Those of the built-in features are known; another one is
	// reported even if every endpoint has it.
	m.Endpoints[0].ContextObj = []signpost.ContextItem{own}
	served := testkit.Must(m.WithFeatures(signpost.Authentication(), signpost.GeoRestriction()).ForHost("localhost"))(t)
	if diff := gocmp.Diff(want, texts(warnings.Published(served, signpost.FetchedFrom("localhost"), nil))); diff != "" {
		t.Errorf("served (-want +got):\n%s", diff)
	}
}

// A served manifest owns the URLs on its host and on subdomains of it.
func TestServedManifestOwnsItsHost(t *testing.T) {
	e := feed("https://{{host}}:8443/feeds")
	media := feed("https://media.{{host}}/a")
	e.ContextObj = []signpost.ContextItem{{Key: "token", Type: signpost.ContextCtx, Required: true}}
	media.ContextObj = e.ContextObj
	media.Name = "Media"
	served := testkit.Must(signpost.NewManifest(e, media).ForHost("nas.local"))(t)
	if got := warnings.Published(served, signpost.FetchedFrom("nas.local"), nil); len(got) != 0 {
		t.Errorf("got %v", got)
	}
	if got := warnings.Published(served, signpost.FetchedFrom("other.example"), nil); len(got) != 4 {
		t.Errorf("for another host: got %v", got)
	}
}

// A manifest that was saved does not tell which URLs are the service's own, so nothing is said about them.
func TestSavedManifest(t *testing.T) {
	e := feed("https://nas.local/feeds")
	e.ContextObj = []signpost.ContextItem{{Key: "token", Type: signpost.ContextCtx, Required: true}}
	if got := warnings.Published(signpost.NewManifest(e), nil, nil); len(got) != 0 {
		t.Errorf("got %v", got)
	}
	if got := warn(signpost.NewManifest(e)); len(got) != 2 {
		t.Errorf("in a definition: got %v", got)
	}
}

// Exact names of hosts are the service's own. If there is only one, {{host}} says it.
func TestHosts(t *testing.T) {
	testkit.Cases(t, "testdata/hosts.golden", func(text string) string {
		list, urls, _ := strings.Cut(text, ": ")
		var m signpost.Manifest
		for i, url := range strings.Fields(urls) {
			e := feed(url)
			e.Name, e.ContextObj = fmt.Sprint(i), []signpost.ContextItem{{Key: "k", Type: signpost.ContextCtx}}
			m.Endpoints = append(m.Endpoints, e)
		}
		return strings.Join(texts(warn(m, strings.Fields(list)...)), "\n")
	})
}

// The path of a finding starts at the endpoint, even if its URL is empty.
func TestPath(t *testing.T) {
	got := warn(signpost.NewManifest(feed("https://{{host}}/a"), feed("")))
	if len(got) != 1 || got[0].Rule != "duplicate-name" || got[0].Path.Endpoint() != "" || len(got[0].Path) != 2 {
		t.Errorf("got %+v", got)
	}
}

func TestModifier(t *testing.T) {
	options := []signpost.Option{{Value: "newest", Label: "Newest"}, {Value: "title", Label: "Newest"}}
	m := signpost.Select(signpost.ModifierInput{ID: "sort", Name: "Sort", Key: "sort", Label: "Sort by", Options: options})
	if got := warnings.Modifier(m); len(got) != 1 || got[0].Path.String() != "params[0].ui.options[1].label" {
		t.Errorf("got %v", got)
	}
	m.Params[0].UI.Options[1].Label = "Title"
	if got := warnings.Modifier(m); len(got) > 0 {
		t.Errorf("got %v", got)
	}
}
