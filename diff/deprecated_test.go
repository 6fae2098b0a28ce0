package diff_test

import (
	"testing"
	"time"

	"signpost"
	"signpost/diff"
	"signpost/internal/testkit"
)

// The removal of what was deprecated is notable once the last day is over. A deprecation covers everything below it.
func TestDiffDeprecated(t *testing.T) {
	const url = "https://{{host}}/v1/feeds"
	version, endpoint, modifier := signpost.Part{Version: "v1"}, signpost.Part{Version: "v1", Endpoint: url}, signpost.Part{Version: "v1", Endpoint: url, Modifier: "sort"}
	bare := testkit.FullEndpoint(url)
	bare.Modifiers = nil
	const over, open = "; it was deprecated until 2020-06-30", "; it is deprecated until 2999-06-30 and can be removed after that"
	for _, test := range []struct {
		name  string
		part  signpost.Part
		until int // year; 0 if undecided
		new   []signpost.Version
		level diff.Level
		want  string
	}{
		{"a modifier", modifier, 2020, v1(bare), diff.Notable, `modifier "sort" removed` + over},
		{"a modifier of an endpoint", endpoint, 2020, v1(bare), diff.Notable, `modifier "sort" removed` + over},
		{"a modifier too early", modifier, 2999, v1(bare), diff.Breaking, `modifier "sort" removed` + open},
		{"another modifier", signpost.Part{Version: "v1", Endpoint: url, Modifier: "q"}, 2020, v1(bare), diff.Breaking, `modifier "sort" removed`},
		{"an endpoint", endpoint, 2020, v1(), diff.Notable, `endpoint "Feed" removed` + over},
		{"an endpoint of a version", version, 2020, v1(), diff.Notable, `endpoint "Feed" removed` + over},
		{"an endpoint, undecided", endpoint, 0, v1(), diff.Breaking, `endpoint "Feed" removed`},
		{"a version", version, 2020, nil, diff.Notable, `version removed, with all of its endpoints` + over},
		{"a version too early", version, 2999, nil, diff.Breaking, `version removed, with all of its endpoints` + open},
	} {
		d := &signpost.Deprecation{}
		if test.until > 0 {
			d.Until = time.Date(test.until, 6, 30, 0, 0, 0, 0, time.UTC)
		}
		old := signpost.Service{Versions: v1(testkit.FullEndpoint(url)), Deprecations: map[signpost.Part]*signpost.Deprecation{test.part: d}}
		for _, host := range []string{"", "feeds.example.com"} { // the deprecation is that of the definition
			changes := compare(old, servedFor(t, host, test.new))
			if len(changes) != 1 || changes[0].Level != test.level || changes[0].Message != test.want {
				t.Errorf("%s for %q: %+v", test.name, host, changes)
			}
		}
	}
}
