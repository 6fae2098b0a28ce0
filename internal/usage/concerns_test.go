package usage

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"signpost"
	"signpost/diff"
	"signpost/internal/testkit"
)

// TestJoin shows how many requests changes concern, and that nothing is said that a usage file did not count.
func TestJoin(t *testing.T) {
	t.Parallel()
	log := combined("/v1/films?sort=newest&limit=1", 200) + combined("/v1/films?sort=newest", 200) + combined("/v1/films", 200) +
		combined("/v1/films/7/media?ctx="+ctx(`{"`+token+`":"x"}`), 200) + combined("/v1/films/7/media", 401) + combined("/v1/votes", 200)
	was := services()
	counted := func(text string, with []signpost.Service) *Usage {
		c := NewCounter(with, nil)
		testkit.OK(t, c.Count(t.Context(), "log", strings.NewReader(text)))
		return c.Usage()
	}
	change := func(edit func(films, media, votes *signpost.Endpoint)) []signpost.Service {
		next := services()
		films, sport := next[0].Versions[0].Manifest.Endpoints, next[1].Versions[0].Manifest.Endpoints
		edit(&films[0], &films[1], &sport[2])
		return next
	}
	var out strings.Builder
	show := func(name string, u *Usage, next []signpost.Service) {
		changes := testkit.Must(diff.Options{}.Services(was, next))(t)
		u.Join(changes)
		for _, c := range changes {
			text := "unknown"
			if c.Requests != nil {
				text = c.Requests.Text()
				fields := string(testkit.Must(json.Marshal(c))(t))
				if want := fmt.Sprintf(`"requests":%d,"of":%d`, c.Requests.Requests, c.Requests.Of); !strings.Contains(fields, want) {
					t.Errorf("there is no %s in %s", want, fields)
				}
			}
			fmt.Fprintf(&out, "%s: %s %s: %s\n", name, c.Rule, c.Message, text)
		}
	}
	keys := change(func(films, media, votes *signpost.Endpoint) {
		films.ContextObj = []signpost.ContextItem{{Key: profile, Type: signpost.ContextCtx, Required: true}}
		media.ContextObj[0].Mapper = "token"
		media.ContextObj[1].Required = true
		votes.ContextObj = nil
	})
	show("keys", counted(log, was), keys)
	show("keys of both states", counted(log, keys), change(func(films, _, _ *signpost.Endpoint) {
		films.ContextObj = keys[0].Versions[0].Manifest.Endpoints[0].ContextObj
	}))
	modifiers := change(func(films, _, _ *signpost.Endpoint) {
		sort := &films.Modifiers[0].Params[0]
		sort.UI.Options, sort.Schema.Enum = sort.UI.Options[1:], sort.Schema.Enum[1:]
		films.Modifiers[1].Params[0].Key = "count"
	})
	show("modifiers", counted(log, was), modifiers)
	gone := change(func(films, media, _ *signpost.Endpoint) { films.Modifiers = nil; media.Method = signpost.MethodPost })
	show("gone", counted(log, was), gone)
	show("gone, without a request", counted(combined("/v1/scores", 200), was), gone)
	show("gone, without times", counted(`{"method":"GET","uri":"/v1/scores"}`, was), gone)
	lacking := counted(file(t, counted(log, gone))+log, was)
	show("gone, in the log of another service", counted(combined("/v9/films", 200), was), gone)
	show("a usage file that did not count them", lacking, gone)
	show("a sum with that file", counted(file(t, lacking), was), gone)
	fewer := services()[:1]
	lacking = counted(file(t, counted(log, fewer)), was)
	show("a usage file of other services", lacking, slices.Delete(services(), 1, 2))
	show("a sum with that file", counted(file(t, lacking), was), slices.Delete(services(), 1, 2))
	show("endpoint", counted(log, was), func() []signpost.Service {
		next := services()
		next[0].Versions[0].Manifest.Endpoints = next[0].Versions[0].Manifest.Endpoints[:1]
		return next
	}())
	show("version", counted(log, was), func() []signpost.Service {
		next := services()
		next[0].Versions[0].Name = "v2"
		return next
	}())
	show("service", counted(log, was), slices.Delete(services(), 1, 2))
	testkit.Golden(t, "testdata/join.golden", out.String())
}
