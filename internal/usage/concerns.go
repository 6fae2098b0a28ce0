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
	for i := range changes {
		changes[i].Requests = u.concerned(&changes[i])
	}
}

// concerned returns how many requests a change concerns, or nil if the counts do not tell.
func (u *Usage) concerned(c *diff.Change) *diff.Requests {
	if c.Endpoint == "" && u.LeftOut {
		return nil
	}
	var sum *diff.Requests
	for i := range u.Endpoints {
		e := &u.Endpoints[i]
		if !e.isConcerned(c) {
			continue
		}
		n, doing, counted := e.concerned(c)
		if !counted {
			return nil
		}
		if sum == nil {
			sum = &diff.Requests{Doing: doing}
			sum.Period, sum.Days = u.period()
		}
		sum.Requests += n
		sum.Of += e.Requests
	}
	return sum
}

// isConcerned reports whether a change is one of the endpoint, or of its version or service.
func (e *Endpoint) isConcerned(c *diff.Change) bool {
	onHost := func(url string) string { return strings.Replace(url, signpost.HostPlaceholder, c.Host, 1) }
	isInside := c.Endpoint == "" || onHost(c.Endpoint) == onHost(e.URL)
	return isInside && !differ(c.Service, e.Service) && !differ(c.Version, e.Version)
}

// differ reports whether two names are known and not the same.
func differ(a, b string) bool { return a != "" && b != "" && a != b }

// concerned returns how many requests for the endpoint a change concerns, and what these do. Changes that cost nobody a
// request are not counted.
func (e *Endpoint) concerned(c *diff.Change) (n uint, doing string, counted bool) {
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
