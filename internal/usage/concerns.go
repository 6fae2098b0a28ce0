package usage

import (
	"strings"

	"signpost"
	"signpost/diff"
)

// Join fills in how many requests each change concerns, as far as the counts tell: of an endpoint or more that goes,
// its requests; of a parameter, an option or a key, those that have it; of a key that becomes required, those without
// it. If none was for an endpoint, they tell nothing: the log may be that of another host.
func (u *Usage) Join(changes []diff.Change) {
	if !u.Answered() {
		return
	}
	for i, endpoints := range u.concerned(changes) {
		changes[i].Requests = u.requests(&changes[i], endpoints)
	}
}

// concerned returns the endpoints that each change concerns: one, or those of a version or a service. They are looked
// up by URL: comparing each change with each endpoint takes hundreds of times as long (BenchmarkJoin).
func (u *Usage) concerned(changes []diff.Change) [][]*Endpoint {
	var all []*Endpoint
	for i := range u.Endpoints {
		all = append(all, &u.Endpoints[i])
	}
	hosts := make(map[string]map[string][]*Endpoint) // the URLs on each
	concerned := make([][]*Endpoint, len(changes))
	for i, c := range changes {
		candidates := all
		if c.Endpoint != "" {
			if hosts[c.Host] == nil {
				hosts[c.Host] = byURL(all, c.Host)
			}
			candidates = hosts[c.Host][onHost(c.Endpoint, c.Host)]
		}
		for _, e := range candidates {
			if !differ(c.Service, e.Service) && !differ(c.Version, e.Version) {
				concerned[i] = append(concerned[i], e)
			}
		}
	}
	return concerned
}

// byURL returns endpoints by their URL on a host.
func byURL(endpoints []*Endpoint, host string) map[string][]*Endpoint {
	urls := make(map[string][]*Endpoint, len(endpoints))
	for _, e := range endpoints {
		url := onHost(e.URL, host)
		urls[url] = append(urls[url], e)
	}
	return urls
}

func onHost(url, host string) string { return strings.Replace(url, signpost.HostPlaceholder, host, 1) }

// requests returns how many requests for endpoints a change concerns, or nil if the counts do not tell.
func (u *Usage) requests(c *diff.Change, endpoints []*Endpoint) *diff.Requests {
	if len(endpoints) == 0 || c.Endpoint == "" && u.LeftOut {
		return nil
	}
	sum := &diff.Requests{Period: u.Period()}
	_, _, sum.Days = u.days()
	for _, e := range endpoints {
		n, doing, counted := e.requests(c)
		if !counted {
			return nil
		}
		sum.Doing = doing
		sum.Requests += n
		sum.Of += e.Requests
	}
	return sum
}

// differ reports whether two names are known and not the same.
func differ(a, b string) bool { return a != "" && b != "" && a != b }

// requests returns how many requests for the endpoint a change concerns, and what these do. Changes that cost nobody a
// request are not counted.
func (e *Endpoint) requests(c *diff.Change) (n uint, doing string, counted bool) {
	switch c.Rule {
	case diff.ChangeServiceRemoved, diff.ChangeBasePath, diff.ChangeVersionRemoved, diff.ChangeEndpointRemoved,
		diff.ChangeMethod, diff.ChangeMIMEType:
		return e.Requests, "", true
	case diff.ChangeModifierRemoved, diff.ChangeParamKey, diff.ChangeParamType, diff.ChangeOptionRemoved:
		n, counted = e.setting(c)
		return n, "set it", counted
	case diff.ChangeContextRemoved, diff.ChangeContextType, diff.ChangeContextMapper, diff.ChangeContextRequired:
		key := e.Keys[c.Subject[1]]
		switch {
		case key == nil || key.Unseen > 0:
			return 0, "", false
		case c.Rule == diff.ChangeContextRequired:
			return key.Lacking(), "came without it", true
		}
		return key.Present, "have it", true
	}
	return 0, "", false
}

// setting returns how many requests set the modifier, the parameter or the option that a change concerns.
func (e *Endpoint) setting(c *diff.Change) (n uint, counted bool) {
	option, isOption := c.Old.(signpost.Option)
	for _, name := range paramsOf(c) {
		param := e.Params[name]
		if param == nil {
			return 0, false
		}
		n, counted = max(n, param.Set), true
		if isOption {
			n, counted = param.Options[option.Value]
		}
	}
	return n, counted
}

// paramsOf returns the parameters of a modifier that a change concerns.
func paramsOf(c *diff.Change) []string {
	key, _ := c.Old.(string)
	if c.Rule == diff.ChangeParamKey {
		return []string{key}
	}
	modifier, isWhole := c.Old.(signpost.Modifier)
	if !isWhole {
		return c.Subject[3:4] // after the modifier, its id and param
	}
	var names []string
	for _, p := range modifier.Params {
		names = append(names, p.Key)
	}
	return names
}
