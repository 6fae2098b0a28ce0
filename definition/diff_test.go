package definition_test

import (
	"strings"
	"testing"

	"signpost/definition"
	"signpost/diff"
	"signpost/internal/testkit"
)

// What cannot be read is an error, as for the command, and not a state in which everything is new.
func TestDiffOfUnreadable(t *testing.T) {
	good := definition.Parse("feeds.yaml", []byte(`versions: {v1: {endpoints: {"https://{{host}}/v1/feeds": {name: Feeds, method: get, mime_type: application/json}}}}`))
	bad := definition.Parse("feeds.yaml", []byte(`versions: {v1: {endpoints: {"https://{{host}}/v1/feeds": {name: Feeds, method: GET, mime_type: application/json}}}}`))
	blank, other := definition.Parse("feeds.yaml", []byte("\n")), definition.Parse("feeds.yaml", []byte("openapi: 3.0.0\npaths: {}"))
	page := definition.ParseManifest("https://feeds.example.com/v1/endpoints-manifest", []byte("<html>Sign in</html>"))
	others := definition.ParseManifest("theirs.json", []byte(`{"endpoints": {"https://feeds.example.com/v1/feeds": {"method": "GET"}}}`))
	for name, test := range map[string]struct {
		old, new *definition.File
		besides  []*definition.File
		ok       bool
	}{
		"errors in old":     {bad, good, nil, true},
		"errors in new":     {good, bad, nil, false},
		"errors besides":    {good, good, []*definition.File{bad}, false},
		"a page besides":    {good, good, []*definition.File{page}, false},
		"nothing in old":    {blank, good, nil, false},
		"OpenAPI as old":    {other, good, nil, false},
		"a page as old":     {page, good, nil, false},
		"a page as new":     {good, page, nil, false},
		"errors of others":  {others, others, []*definition.File{others}, true},
		"nothing different": {good, good, nil, true},
	} {
		if changes, err := definition.Diff(test.old, test.new, test.besides...); (err == nil) != test.ok {
			t.Errorf("%s: %v, %v", name, changes, err)
		}
	}
}

// A mistake of a definition was never served, so its repair is notable. A manifest was registered with it.
func TestDiffOfMistakes(t *testing.T) {
	const mistakes = `"https://feeds.example.com/v1/feeds": {"name": "Feeds", "method": "get", "mime_type": "aplication/json", "modifiers": [` +
		`{"id": "sort", "name": "Sort order", "params": [{"key": "?sort", "ui": {"label": "Sort by"}, "schema": {"type": "string"}}]}]}`
	const repaired = `{"versions": {"v1": {"endpoints": {"https://feeds.example.com/v1/feeds": {"name": "Feeds", "method": "get", "mime_type": "text/html"}}}}}`
	now := definition.Parse("feeds.json", []byte(repaired))
	for level, was := range map[diff.Level]*definition.File{
		diff.Notable:  definition.Parse("feeds.json", []byte(`{"versions": {"v1": {"endpoints": {`+mistakes+`}}}}`)),
		diff.Breaking: definition.ParseManifest("manifest.json", []byte(`{"endpoints": {`+mistakes+`}}`)),
	} {
		var rules []string
		for _, c := range testkit.Must(definition.Diff(was, now))(t) {
			rules = append(rules, c.Rule)
			if isTold := strings.HasSuffix(c.Message, "; OLD had an error here"); c.Level != level || isTold != (level == diff.Notable) {
				t.Errorf("%s is %s, not %s", c.Message, c.Level, level)
			}
		}
		testkit.Equal(t, string(level), rules, []string{diff.ChangeMIMEType, diff.ChangeModifierRemoved})
	}
}
