package warnings_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"signpost"
	"signpost/internal/warnings"
)

// feed returns a valid endpoint with only the required fields.
func feed(url string) signpost.Endpoint {
	return signpost.Endpoint{URL: url, Name: "Feed", Method: signpost.MethodGet, MIMEType: signpost.MIMEJSON}
}

// sort returns a modifier with two options.
func sort() signpost.Modifier {
	return signpost.Select(signpost.ModifierInput{ID: "sort", Name: "Sort", Key: "sort", Label: "Sort by",
		Options: []signpost.Option{{Value: "newest", Label: "Newest"}, {Value: "title", Label: "Title"}}})
}

// warn returns the findings about a manifest without features.
func warn(m signpost.Manifest, own string) []signpost.Finding { return warnings.Manifest(m, m, own) }

// endpoints returns a manifest of endpoints with these URLs. The context key of each is its URL.
func endpoints(urls ...string) signpost.Manifest {
	var m signpost.Manifest
	for _, url := range urls {
		m.Endpoints = append(m.Endpoints, signpost.Endpoint{
			URL: url, Name: url, Method: signpost.MethodGet, MIMEType: signpost.MIMEJSON,
			ContextObj: []signpost.ContextItem{{Key: url, Type: signpost.ContextCtx}},
		})
	}
	return m
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
	token := signpost.ContextItem{Key: "token", Type: signpost.ContextCtx}
	for _, test := range []struct {
		url  string
		edit func(*signpost.Endpoint)
		want []string
	}{
		{"https://{{host}}/feeds", nil, nil},
		{"http://{{host}}/feeds", nil, []string{`plain-http: "URL" is plain http`}},
		{"HTTP://{{host}}/feeds", func(e *signpost.Endpoint) { e.ContextObj = []signpost.ContextItem{token} },
			[]string{`plain-http: "URL" is plain http: context keys travel in the clear`}},
		{"https://{{host}}", nil, []string{`endpoint-too-wide: "URL" has no path: it answers for every feed of the host`}},
		{"https://{{host}}/v2/media/", nil, []string{
			`trailing-slash: "URL" has a trailing slash: it does not answer for "/v2/media", and a feature for URLs that end in "/media" misses it`}},
		{"https://{{host}}/feeds?series={{id}}", nil, []string{`placeholder-outside-path: "URL" has {{id}} outside its path`}},
		{"https://{{host}}/series/:id", nil, []string{`colon-placeholder: "URL" has ":id" in its path, which is literal text`}},
		{"https://{{host}}/games/*/plays", nil, []string{`colon-placeholder: "URL" has "*" in its path, which is literal text`}},
		{"https://{{host}}/games/<game_id>/plays", nil, []string{`colon-placeholder: "URL" has "<game_id>" in its path, which is literal text`}},
		{"https://{{host}}/v1/münchen/{{bücher}}", nil, []string{`unusual-url: "URL" is not in the form that clients send: feeds in that form do not match`}},
		{"https://{{host}}/12:30/a:b/:/:7/{{id}}", nil, nil},
		{"https://localhost/feeds", nil, []string{`local-address: "URL" is on localhost, which apps cannot reach`}},
		{"https://[::ffff:192.168.0.1]/feeds", nil, []string{`local-address: "URL" is on [::ffff:192.168.0.1], which apps cannot reach`}},
		{"https://NAS.local./feeds", nil, []string{`local-address: "URL" is on nas.local, which apps cannot reach`,
			`unusual-url: "URL" is not in the form that clients send: feeds in that form do not match`}},
		{"https://local.example/feeds", nil, nil},
		{"https://{{host}}/feeds?limit=1&Sort=x", func(e *signpost.Endpoint) {
			e.Modifiers = []signpost.Modifier{sort(), signpost.Number(signpost.ModifierInput{Key: "limit"})}
		}, []string{`modifiers[1].params[0].key query-in-url: parameter "limit" is already in the URL`}},
		{"https://{{host}}/feeds?page=1", func(e *signpost.Endpoint) { e.Modifiers = []signpost.Modifier{sort()} },
			[]string{`query-in-url: "URL" has a query, and the studio appends modifiers as ?key=value`}},
		{"https://{{host}}/feeds?ctx=1", func(e *signpost.Endpoint) { e.ContextObj = []signpost.ContextItem{token} },
			[]string{`query-in-url: parameter "ctx", which carries the context keys, is already in the URL`}},
		{"https://{{host}}/feeds", func(e *signpost.Endpoint) {
			e.ContextObj = []signpost.ContextItem{token, {Key: "id", Type: signpost.ContextBodyParam}}
		}, []string{`context_obj[1].type body-param-on-get: context key "id" goes into the body, and a get request has none`}},
		{"https://{{host}}/feeds", func(e *signpost.Endpoint) {
			e.Method, e.ContextObj = signpost.MethodPost, []signpost.ContextItem{{Key: "id", Type: signpost.ContextBodyParam}}
		}, nil},
		{"https://{{host}}/search", func(e *signpost.Endpoint) { e.MIMEType = "Application/X-www-form-urlencoded; charset=utf-8" },
			[]string{`mime_type form-on-get: mime_type "Application/X-www-form-urlencoded; charset=utf-8" describes the body of a post request, and this is a get endpoint`}},
		{"https://{{host}}/login", func(e *signpost.Endpoint) { e.Method, e.MIMEType = signpost.MethodPost, signpost.MIMEForm }, nil},
		{"https://{{host}}/feeds", func(e *signpost.Endpoint) {
			e.Modifiers = []signpost.Modifier{sort()}
			e.Modifiers[0].Params[0].UI.Options[1].Label = "Newest"
		}, []string{`modifiers[0].params[0].ui.options[1].label option-label-duplicate: label "Newest" is also used by option "newest"`}},
		{"https://partner.example.net/feeds", func(e *signpost.Endpoint) {
			e.ContextObj = []signpost.ContextItem{token, {Key: "id", Type: signpost.ContextCtx, Required: true}}
		}, []string{`context_obj[0].key token-to-third-party: context key "token" is sent to "URL", which is not a URL of this service`,
			`context_obj[1].key token-to-third-party: context key "id" is sent to "URL", which is not a URL of this service`}},
		{"https://{host}/feeds/", func(e *signpost.Endpoint) { e.ContextObj = []signpost.ContextItem{token} }, nil}, // reported by the url rule
	} {
		e := feed(test.url)
		if test.edit != nil {
			test.edit(&e)
		}
		got := warn(signpost.NewManifest(e), "")
		if diff := cmp.Diff(test.want, texts(got)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", test.url, diff)
		}
		for _, f := range got {
			if f.Severity != signpost.SeverityWarning || f.Hint == "" {
				t.Errorf("%s: %+v", test.url, f)
			}
		}
	}
}

// Optional keys added by features go everywhere, as the spec says; the required ones are reported.
func TestThirdPartyKeysOfFeatures(t *testing.T) {
	own := signpost.ContextItem{Key: "own", Type: signpost.ContextCtx}
	e := feed("https://partner.example.net/media")
	e.Name = "Partner"
	e.ContextObj = []signpost.ContextItem{own}
	m := signpost.NewManifest(feed("https://{{host}}/feeds"), e)
	got := warnings.Manifest(m, m.WithFeatures(signpost.Authentication(), signpost.GeoRestriction()), "")
	want := []string{
		`context_obj[0].key token-to-third-party: context key "own" is sent to "URL", which is not a URL of this service`,
		`context_obj[1].key token-to-third-party: context key "plugin-login-flow.access_token" is sent to "URL", which is not a URL of this service`,
	}
	if diff := cmp.Diff(want, texts(got)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}

	// A served manifest does not tell which keys features added. Keys that every endpoint has probably are.
	served, err := m.WithFeatures(signpost.Authentication(), signpost.GeoRestriction()).ForHost("localhost")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, texts(warn(served, "localhost"))); diff != "" {
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
	served, err := signpost.NewManifest(e, media).ForHost("nas.local")
	if err != nil {
		t.Fatal(err)
	}
	if got := warn(served, "nas.local"); len(got) != 0 {
		t.Errorf("got %v", got)
	}
	if got := warn(served, "other.example"); len(got) != 4 {
		t.Errorf("for another host: got %v", got)
	}
}

// Two endpoints of a manifest can answer for the same feeds, or do so for some host, even though their URLs are different
// keys in it.
func TestResolvedURLCollision(t *testing.T) {
	const same = "%q and %q answer for the same feeds: only the first one counts"
	for _, test := range []struct{ first, second, want string }{
		{"https://{{host}}/a", "https://api.example.com/a", "for the host api.example.com, %q and %q are the same: only this one is served"},
		{"https://api.example.com/a", "https://{{host}}/a", "for the host api.example.com, %q and %q are the same: only this one is served"},
		{"https://media.{{host}}:8443/a", "https://media.example.com:8443/a", "for the host example.com, %q and %q are the same: only this one is served"},
		{"https://{{host}}/a", "https://192.0.2.1/a", "for the host 192.0.2.1, %q and %q are the same: only this one is served"},
		{"https://{{host}}/a", "https://API.example.com/a", "for the host api.example.com, " + same},
		{"https://Media.{{host}}/a", "https://media.example.com/a", "for the host example.com, " + same},
		{"https://{{host}}/a/{{x}}", "https://api.example.com/a/{{y}}", "for the host api.example.com, " + same},
		{"https://{{host}}/a", "https://bücher.example/a", ""},   // hosts are converted to ASCII
		{"https://{{host}}/a", "https://example.com:8443/a", ""}, // and have no port
		{"https://{{host}}:8443/a", "https://example.com/a", ""},
		{"https://media.{{host}}/a", "https://films.example.com/a", ""},
		{"https://{{host}}/a", "https://example.com/b", ""},
		{"https://{{host}}/a", "http://example.com/a", ""},
		{"https://{{host}}.{{host}}/a", "https://x.x/a", ""},
		{"https://b.example/a", "https://c.example/a", ""},
		{"https://{{host}}/{{a}}/{{b}}-{{c}}/x", "https://{{host}}/{{b}}/{{a}}-{{c}}/x", same},
		{"https://{{host}}/a", "HTTPS://{{host}}/a", same},
		{"https://API.example.com/a", "https://api.example.com/a", same},
		{"https://{{host}}/a", "https://{{host}}/A", ""},
		{"https://{{host}}/{{a}}", "https://{{host}}/{{a}}/{{b}}", ""},
		{"https://{{host}}/{{a}}", "https://{{host}}/a", ""},
	} {
		got, want := "", test.want
		for _, f := range warn(endpoints(test.first, test.second), "") {
			if f.Rule == "resolved-url-collision" && f.Path.Endpoint() == test.second {
				got += f.Message
			}
		}
		if want != "" {
			want = fmt.Sprintf(want, test.first, test.second)
		}
		if got != want {
			t.Errorf("got  %s\nwant %s", got, want)
		}
	}
}

// The path of a finding starts at the endpoint, even if its URL is empty.
func TestPath(t *testing.T) {
	got := warn(signpost.NewManifest(feed("https://{{host}}/a"), feed("")), "")
	if len(got) != 1 || got[0].Rule != "duplicate-name" || got[0].Path.Endpoint() != "" || len(got[0].Path) != 2 {
		t.Errorf("got %+v", got)
	}
}

func TestModifier(t *testing.T) {
	m := sort()
	m.Params[0].UI.Options[1].Label = m.Params[0].UI.Options[0].Label
	if got := warnings.Modifier(m); len(got) != 1 || got[0].Path.String() != "params[0].ui.options[1].label" || warnings.Modifier(sort()) != nil {
		t.Errorf("got %v", got)
	}
}
