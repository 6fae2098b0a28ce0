package diff_test

import (
	"testing"

	"signpost"
	"signpost/diff"
	"signpost/internal/testkit"
)

// repairedDiff compares an invalid service, alone and beside another one, which must leave the old state as it is.
func repairedDiff(t *testing.T, old, new []signpost.Version) []diff.Change {
	t.Helper()
	before := jsonOf(t, old)
	olds := services(signpost.Service{BasePath: "/", Versions: old, Invalid: true}, service("/other"))
	news := services(signpost.Service{BasePath: "/", Versions: new}, service("/other"))
	changes := diff.Diff(olds[0], news[0])
	if got := diff.Services(olds, news); len(got) != len(changes) {
		t.Errorf("beside another service: %s, not %s", jsonOf(t, got), jsonOf(t, changes))
	}
	testkit.Equal(t, "the old state", jsonOf(t, olds[0].Versions), before)
	return changes
}

// Fixing errors of the old state is not a change; other edits are.
func TestDiffOfRepairs(t *testing.T) {
	const url = "https://{{host}}/v1/feeds"
	good := func() signpost.Endpoint {
		e := testkit.FullEndpoint(url)
		e.ContextObj = append(e.ContextObj, signpost.ContextItem{Key: "age", Type: signpost.ContextCtx, Required: true})
		return e
	}
	for name, spoil := range map[string]func(*signpost.Endpoint){
		"method":              func(e *signpost.Endpoint) { e.Method = "GET" },
		"no method":           func(e *signpost.Endpoint) { e.Method = "" },
		"mime type":           func(e *signpost.Endpoint) { e.MIMEType = "json" },
		"no name":             func(e *signpost.Endpoint) { e.Name = "" },
		"context type":        func(e *signpost.Endpoint) { e.ContextObj[1].Type = "CTX" },
		"context key twice":   func(e *signpost.Endpoint) { e.ContextObj = append(e.ContextObj, e.ContextObj[1]) },
		"modifier type":       func(e *signpost.Endpoint) { e.Modifiers[0].Params[0].Schema.Type = "text" },
		"modifier key":        func(e *signpost.Endpoint) { e.Modifiers[0].Params[0].Key = "ctx" },
		"modifier twice":      func(e *signpost.Endpoint) { e.Modifiers = append(e.Modifiers, e.Modifiers[0]) },
		"modifier without id": func(e *signpost.Endpoint) { e.Modifiers = append(e.Modifiers, signpost.Modifier{Name: "x"}) },
	} {
		e := good()
		spoil(&e)
		old, new := v1(e), v1(good())
		if len(old[0].Manifest.Validate()) == 0 {
			t.Errorf("%s: nothing is wrong with it", name)
		}
		if changes := repairedDiff(t, old, new); len(changes) > 0 {
			t.Errorf("%s: %s", name, jsonOf(t, changes))
		}
		new[0].Manifest.Endpoints[0].ContextObj = append(new[0].Manifest.Endpoints[0].ContextObj, signpost.ContextItem{Key: "new", Type: "ctx", Required: true})
		if changes := repairedDiff(t, old, new); len(changes) != 1 || changes[0].Rule != diff.ChangeContextRequired {
			t.Errorf("%s, and something else: %s", name, jsonOf(t, changes))
		}
	}

	twice := signpost.Service{Versions: v1(good(), good()), Invalid: true}
	if changes := diff.Diff(twice, signpost.Service{Versions: v1(good())}); len(changes) > 0 {
		t.Errorf("an endpoint twice: %s", jsonOf(t, changes))
	}

	// A URL that could not be registered is not missed. A removed endpoint is, whatever was wrong with it.
	bad, gone := feed("feeds"), feed(url)
	gone.Method = "GET"
	changes := repairedDiff(t, v1(bad, gone), v1())
	if len(changes) != 1 || changes[0].Rule != diff.ChangeEndpointRemoved || changes[0].Endpoint != url {
		t.Errorf("endpoints that are gone: %s", jsonOf(t, changes))
	}
	if changes := repairedDiff(t, v1(gone), nil); len(changes) != 1 || changes[0].Rule != diff.ChangeVersionRemoved {
		t.Errorf("a version that is gone: %s", jsonOf(t, changes))
	}
}
