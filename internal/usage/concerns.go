package usage

import (
	"strings"

	"signpost"
	"signpost/diff"
)

// What requests that a change concerns do.
const (
	all     = ""
	setting = "set it"
	having  = "have it"
	lacking = "came without it"
)

// concerns lists the rules whose changes concern requests.
var concerns = map[string]string{
	diff.ChangeServiceRemoved:  all,
	diff.ChangeBasePath:        all,
	diff.ChangeVersionRemoved:  all,
	diff.ChangeEndpointRemoved: all,
	diff.ChangeMethod:          all,
	diff.ChangeMIMEType:        all,
	diff.ChangeModifierRemoved: setting,
	diff.ChangeParamKey:        setting,
	diff.ChangeParamType:       setting,
	diff.ChangeOptionRemoved:   setting,
	diff.ChangeContextRemoved:  having,
	diff.ChangeContextType:     having,
	diff.ChangeContextMapper:   having,
	diff.ChangeContextRequired: lacking,
}

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
	doing, known := concerns[c.Rule]
	if !known || c.Endpoint == "" && u.LeftOut {
		return nil
	}
	count, found := diff.Requests{Doing: doing}, false
	count.Period, count.Days = u.period()
	for i := range u.Endpoints {
		e := &u.Endpoints[i]
		if !e.isConcerned(c) {
			continue
		}
		n, counted := e.requests(c, doing)
		if !counted {
			return nil
		}
		found = true
		count.Requests += n
		count.Of += e.Requests
	}
	if !found {
		return nil
	}
	return &count
}

// isConcerned reports whether a change is one of the endpoint, or of its version or service.
func (e *Endpoint) isConcerned(c *diff.Change) bool {
	onHost := func(url string) string { return strings.Replace(url, signpost.HostPlaceholder, c.Host, 1) }
	isInside := c.Endpoint == "" || onHost(c.Endpoint) == onHost(e.URL)
	return isInside && !differ(c.Service, e.Service) && !differ(c.Version, e.Version)
}

// differ reports whether two names are known and not the same.
func differ(a, b string) bool { return a != "" && b != "" && a != b }

// requests returns the number of requests that a change concerns.
func (e *Endpoint) requests(c *diff.Change, doing string) (n uint, counted bool) {
	switch doing {
	case all:
		return e.Requests, true
	case setting:
		return e.setting(c)
	}
	key := e.Keys[c.Subject[1]]
	if key == nil || key.Unseen > 0 {
		return 0, false
	}
	if doing == having {
		return key.Present, true
	}
	return key.Lacking(), true
}

// setting returns the number of requests that set a modifier, a parameter or an option.
func (e *Endpoint) setting(c *diff.Change) (n uint, counted bool) {
	for _, name := range paramsOf(c) {
		p := e.Params[name]
		if p == nil {
			return 0, false
		}
		if option, isOption := c.Old.(signpost.Option); isOption {
			n, counted = p.Options[option.Value]
		} else {
			n, counted = max(n, p.Set), true
		}
	}
	return n, counted
}

// paramsOf returns the parameters that a change of a modifier concerns.
func paramsOf(c *diff.Change) []string {
	var names []string
	modifier, isWhole := c.Old.(signpost.Modifier)
	key, isKey := c.Old.(string)
	switch {
	case isWhole:
		for _, p := range modifier.Params {
			names = append(names, p.Key)
		}
	case len(c.Subject) > 3: // modifier, its id, param, its key
		names = c.Subject[3:4]
	case isKey:
		names = []string{key}
	}
	return names
}
