package studio

import (
	"bytes"
	"encoding/json"
	"net/http"
	"strconv"
)

// state returns what the page shows, or, if the page names a revision that it has, only what has changed since.
func (s *Studio) state(c call, _ struct{}) (any, error) {
	query := c.r.URL.Query()
	since, _ := strconv.Atoi(query.Get("since"))
	return s.stateSince(c.view, query.Get("instance"), since), nil
}

// stateSince returns the state of a view for a page that has a revision, which is 0 for a new one.
func (s *Studio) stateSince(now *view, instance string, since int) object {
	s.mu.Lock()
	defer s.mu.Unlock()
	var known lists // what the page has
	if old := s.known(now.deployment, since); old != nil && instance == s.instance {
		known = old.lists
	}
	if now.lists == nil {
		now.lists = newLists(now)
	}
	out := object{
		"instance": s.instance, "build": s.assets.build, "rev": now.rev, "host": now.host, "send_to": s.opts.SendTo,
		"timeout": s.clientOptions().Timeout.Seconds(), "sources": now.sources, "lists": now.lists.since(known),
	}
	if known == nil && s.opts.Usage != nil {
		out["usage"], out["period"] = s.opts.Usage, s.opts.Usage.Period()
	}
	return out
}

// lists has the parts of a view that can be long, element by element. The page finds them by their names.
type lists map[string][]json.RawMessage

func newLists(v *view) lists {
	all := lists{"overlap": elements(v.nested)}
	for _, src := range v.sources {
		all["findings "+src.ID] = elements(src.Findings)
		all["changes "+src.ID] = elements(src.Changes)
		for _, version := range src.Versions {
			all["endpoints "+version.Name+" "+src.ID] = elements(version.Endpoints)
		}
	}
	return all
}

func elements[T any](list []T) []json.RawMessage {
	all := make([]json.RawMessage, len(list))
	for i := range list {
		all[i], _ = json.Marshal(list[i]) // plain values
	}
	return all
}

// changed is a list for a page that has an older one. It begins and ends as that one does.
type changed struct {
	Head  int               `json:"head"` // number of elements at the start that are as before
	Items []json.RawMessage `json:"items"`
	Tail  int               `json:"tail"` // the same at the end
}

// since returns the lists for a page that has known ones, in which most elements are as before.
func (l lists) since(known lists) map[string]changed {
	all := make(map[string]changed, len(l))
	for name, now := range l {
		old, c := known[name], changed{}
		for c.Head < min(len(old), len(now)) && bytes.Equal(old[c.Head], now[c.Head]) {
			c.Head++
		}
		for c.Tail < min(len(old), len(now))-c.Head && bytes.Equal(old[len(old)-1-c.Tail], now[len(now)-1-c.Tail]) {
			c.Tail++
		}
		c.Items = now[c.Head : len(now)-c.Tail]
		all[name] = c
	}
	return all
}

// servePage serves the page with the state in it, so that it is shown without another request.
func (s *Studio) servePage(w http.ResponseWriter, r *http.Request) {
	shown, err := s.view(r)
	if err != nil {
		refuse(w, err)
		return
	}
	writeText(w, r, contentTypes[""], s.assets.executed("index.html", s.stateSince(shown, "", 0)))
}
