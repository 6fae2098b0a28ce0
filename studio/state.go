package studio

import (
	"encoding/json"
	"net/http"
	"strconv"
)

// state returns what the page shows, or, if the page names a revision that it has, only what has changed since.
func (s *Studio) state(c call, _ nothing) (any, error) {
	query := c.r.URL.Query()
	since, _ := strconv.Atoi(query.Get("since"))
	return s.stateSince(c.view, query.Get("instance"), since), nil
}

// stateSince returns the state of a view for a page that has a revision, which is 0 for a new one.
func (s *Studio) stateSince(now *view, instance string, since int) object {
	s.mu.Lock()
	defer s.mu.Unlock()
	known := &encodedView{} // what the page has
	if old := s.known(now.deployment, since); old != nil && old.encoded != nil && instance == s.instance {
		known = old.encoded
	}
	out := object{
		"instance": s.instance, "build": s.build, "rev": now.rev, "host": now.host, "send_to": s.opts.SendTo,
		"timeout": s.clientOptions().Timeout.Seconds(),
	}
	if now.encoded == nil {
		now.encoded = now.encode()
	}
	if known.sources == nil && s.opts.Usage != nil {
		out["usage"], out["period"] = s.opts.Usage, s.opts.Usage.Period()
	}
	sources := []any{}
	for _, src := range now.sources {
		sources = append(sources, wire(src, now.encoded.sources[src.ID], known.sources[src.ID]))
	}
	out["sources"], out["overlap"] = sources, runs(known.overlap, now.encoded.overlap)
	return out
}

// encodedView has the parts of a view that can be long, element by element.
type encodedView struct {
	overlap []json.RawMessage
	sources map[string]encodedSource
}

type encodedSource struct {
	findings, changes []json.RawMessage
	endpoints         map[string][]json.RawMessage // by version
}

func (v *view) encode() *encodedView {
	all := &encodedView{overlap: encodeAll(v.overlap.nested), sources: make(map[string]encodedSource)}
	for _, src := range v.sources {
		encoded := encodedSource{encodeAll(src.Findings), encodeAll(src.Changes), make(map[string][]json.RawMessage)}
		for _, version := range src.Versions {
			encoded.endpoints[version.Name] = encodeAll(version.Endpoints)
		}
		all.sources[src.ID] = encoded
	}
	return all
}

func encodeAll[T any](list []T) []json.RawMessage {
	all := make([]json.RawMessage, len(list))
	for i := range list {
		all[i], _ = json.Marshal(list[i]) // plain values
	}
	return all
}

// wireVersion is a version in which endpoints that the page has are runs.
type wireVersion struct {
	Name      string `json:"name"`
	Route     string `json:"route"`
	Endpoints []any  `json:"endpoints"`
}

// wire returns a source as it is sent to a page that has an older one. Its fields hide those of the source.
func wire(src *source, now, old encodedSource) any {
	out := struct {
		*source
		Versions []wireVersion `json:"versions"`
		Findings []any         `json:"findings"`
		Changes  []any         `json:"changes"`
	}{src, []wireVersion{}, runs(old.findings, now.findings), runs(old.changes, now.changes)}
	for _, v := range src.Versions {
		out.Versions = append(out.Versions, wireVersion{v.Name, v.Route, runs(old.endpoints[v.Name], now.endpoints[v.Name])})
	}
	return out
}

// runs returns a list of objects in which elements of an old list are replaced by where they are there: [from, to].
func runs(old, now []json.RawMessage) []any {
	at := make(map[string]int, len(old))
	for i, element := range old {
		at[string(element)] = i
	}
	list := []any{}
	var run *[2]int // the last element of the list, if that is one
	for _, element := range now {
		i, known := at[string(element)]
		switch {
		case !known:
			run = nil
			list = append(list, element)
		case run != nil && run[1] == i:
			run[1]++
		default:
			run = &[2]int{i, i + 1}
			list = append(list, run)
		}
	}
	return list
}

// servePage serves the page with the state in it, so that it is shown without another request.
func (s *Studio) servePage(w http.ResponseWriter, r *http.Request) {
	shown, err := s.view(r)
	if err != nil {
		refuse(w, err)
		return
	}
	writeText(w, r, contentTypes[""], s.executed("index.html", s.stateSince(shown, "", 0)))
}
