// Package diff tells what a change of a service means to studios that registered the state before: to their feeds, the
// values that editors saved, and the requests of apps.
//
// [Diff] compares two states of a service. Accepted changes, read by signpost/definition, mark the breaking ones that
// are intended.
package diff

import (
	"cmp"
	"fmt"
	"time"

	"signpost"
	"signpost/host"
	"signpost/internal/spell"
)

// Options say what else decides what a change means. The zero value compares services by themselves, today.
type Options struct {
	// Registered is what the studio has besides, before and after the change. It takes part in overlap, but is not
	// compared.
	Registered []signpost.Version

	// Host is what {{host}} is filled in with. If it is empty, it follows from what is compared: see [Options.Diff].
	Host string

	// Export says that the old state is all that a studio has, of every service, often without some of the fields.
	// What is on hosts of the new state is compared, all versions at once, as far as the old state tells. The rest counts
	// as registered besides.
	Export bool

	// Whole says that a side with a single manifest is all that there is. Otherwise that is compared with the service of
	// the other side that it is of, and nothing else is.
	Whole bool

	// Today is the date for deprecations. Zero means the current date.
	Today time.Time

	// Note is called with what was decided about a manifest, for people. It may be nil.
	Note func(message string)
}

// Diff returns the changes from old to new as [Options.Diff] does, beside registered.
func Diff(old, new signpost.Service, registered ...signpost.Version) ([]Change, error) {
	return Options{Registered: registered}.Diff(old, new)
}

// Diff returns the changes from old to new, never nil. They are grouped by version; within a version, the endpoints of
// old come first, in their order, followed by the added ones. If the JSON of a manifest differs, there is at least one
// change.
//
// What is compared is what a studio has: manifests. Two definitions are rendered for each host that either of them
// declares; changes that are the same on all of them are returned once. A definition is compared with a manifest as it
// is rendered for the host of the manifest, and only the version that the manifest is of. The error is an
// [*UndecidedError] if neither side tells which host or version that is. Two manifests are compared as they are. All
// versions count as registered together.
func (o Options) Diff(old, new signpost.Service) ([]Change, error) {
	return o.compare([]signpost.Service{old}, []signpost.Service{new}, false)
}

// Services compares services that are registered together, paired by base path. Each change names the base path of its
// service. Otherwise it works like [Options.Diff].
func (o Options) Services(old, new []signpost.Service) ([]Change, error) {
	return o.compare(old, new, true)
}

// differ collects changes and labels each with the current service, version and endpoint.
type differ struct {
	Options
	several  bool // services are compared, which changes name by their base path
	plan     *plan
	service  string
	slot     *slot         // nil outside of a version
	host     string        // for which {{host}} is filled in
	endpoint signpost.URL  // as it is shown
	part     signpost.Part // of the old state that the endpoint is, as written
	faults   []fault       // where the old endpoint had errors
	changes  []Change

	deprecations  map[signpost.Part]*signpost.Deprecation // of the old state of the service
	reordered     bool                                    // ties between versions can go to another one
	registrations func() (before, after *registration)    // most comparisons need none of it
}

// compare pairs services, by their base paths if there can be several, and compares each pair.
func (o Options) compare(olds, news []signpost.Service, several bool) ([]Change, error) {
	d := &differ{Options: o, several: several, changes: []Change{}}
	d.Today = cmp.Or(o.Today, time.Now())
	if d.Note == nil {
		d.Note = func(string) {}
	}
	if err := d.makePlan(olds, news); err != nil {
		return nil, err
	}
	p := d.plan
	d.reordered = p.reordered()
	moved := make(map[string]string) // base paths of added services, by their URLs
	for _, c := range p.comparisons {
		if c.old == nil {
			moved[fmt.Sprint(urlsOf(c.new.Versions...))] = c.new.BasePath
		}
	}
	for _, m := range p.moves {
		d.hostReplaced(m[0], m[1])
	}
	for _, c := range p.comparisons {
		d.service, d.slot, d.endpoint, d.deprecations = c.name, nil, signpost.URL{}, nil
		if c.old != nil {
			d.deprecations = c.old.Deprecations
		}
		switch {
		case c.old == nil:
			d.add(ChangeServiceAdded, subject{}, nil, manifests(c.new.Versions), "service added")
		case c.new == nil:
			hint := ""
			if to := moved[fmt.Sprint(urlsOf(c.old.Versions...))]; to != "" {
				hint = fmt.Sprintf("; perhaps moved to %q, which has the same endpoints", to)
			}
			d.add(ChangeServiceRemoved, subject{}, manifests(c.old.Versions), nil,
				"service removed, with all of its versions%s", hint)
			continue
		default:
			d.compareService(*c.old, *c.new, p.host)
		}
		d.onEachHost(c.hosts, func() {
			d.register(c, d.host)
			if d.publishedOn(c) {
				for _, at := range c.slots {
					d.compareVersion(at, c.old != nil)
				}
			}
			d.arrive(c)
		})
	}
	d.hostsUnknown()
	return d.changes, nil
}

// compareService reports changes that concern all versions. on is the host of a manifest.
func (d *differ) compareService(old, new signpost.Service, on string) {
	if was, is := old.BasePath, new.BasePath; was != is && was != "" && is != "" && !old.Served && !new.Served {
		d.add(ChangeBasePath, subject{}, was, is,
			"base path changed from %q to %q: the manifests have new addresses, which must be registered again", was, is)
	}
	if on != "" && !host.IsLoopback(on) && old.Served != new.Served {
		if old.Served {
			old.Hosts = signpost.Hosts{on}
		} else if !old.Hosts.Has(on) {
			for _, entry := range old.Hosts {
				d.hostReplaced(entry, on)
			}
		}
	}
	if len(old.Hosts) == 0 || len(new.Hosts) == 0 || new.Served {
		return
	}
	for _, entry := range old.Hosts {
		if !new.Hosts.Covers(entry) {
			d.hostChanged(entry, nil, fmt.Sprintf("the service is no longer published on %s", entry))
		}
	}
	for _, entry := range new.Hosts {
		if !old.Hosts.Covers(entry) && !old.Served {
			d.add(ChangeHostAdded, subject{path: []string{entry}}, nil, entry, "the service is also published on %s", entry)
		}
	}
}

// hostChanged reports a host on which the service is no longer published. Where it went instead is no part of the
// fingerprint.
func (d *differ) hostChanged(old string, new any, message string) {
	d.add(ChangeHost, subject{path: []string{old}, closed: true}, old, new, "%s", message)
}

// hostReplaced reports a host that another one of a manifest replaces.
func (d *differ) hostReplaced(old, new string) {
	d.hostChanged(old, new,
		fmt.Sprintf("host changed from %q to %q: its manifests and feeds must be registered again", old, new))
}

// onEachHost compares for each host, and reports once what is the same on all of them.
func (d *differ) onEachHost(hosts []string, compare func()) {
	before, host := d.changes, d.host
	like := make(map[string]int) // how many hosts a host stands for
	for _, name := range hosts {
		like[cmp.Or(d.plan.alike[name], name)]++
	}
	folded := fold{hosts: len(hosts), known: make(map[changeID]*foldedChange)}
	for _, name := range hosts {
		if like[name] > 0 {
			d.changes, d.host = nil, name
			compare()
			folded.add(d.changes, hostCount{name, like[name]})
		}
	}
	d.changes, d.host = append(before, folded.changes()...), host
}

// manifests returns copies of the manifests, keyed by version.
func manifests(versions []signpost.Version) map[string]signpost.Manifest {
	all := make(map[string]signpost.Manifest, len(versions))
	for _, v := range versions {
		all[v.Name] = v.Manifest.Clone()
	}
	return all
}

// compareVersion compares a version. Those of a service that is not known yet are not reported themselves.
func (d *differ) compareVersion(at *slot, known bool) {
	d.slot, d.endpoint, d.part = at, signpost.URL{}, signpost.Part{Version: at.version}
	switch {
	case at.besides && at.old == nil:
		d.takenOverBy(at)
	case at.besides:
	case at.new == nil:
		d.add(ChangeVersionRemoved, subject{}, at.old.Manifest.Clone(), nil, "version removed, with all of its endpoints")
	case at.old == nil:
		if known {
			d.add(ChangeVersionAdded, subject{}, nil, at.new.Manifest.Clone(), "version added")
		}
		d.takenOverBy(at)
	default:
		d.manifest(at)
	}
}

// endpoint is an endpoint of a version on the current host.
type endpoint struct {
	signpost.Endpoint              // its URL is rendered
	url               signpost.URL // the same, parsed
	written           signpost.URL // in its definition
	shown             signpost.URL // in changes
}

// render returns the endpoints of a version for the current host.
func (d *differ) render(at *slot, s state) []endpoint {
	endpoints := make([]endpoint, len(at.urls[s]))
	for i, written := range at.urls[s] {
		e := endpoint{at.in(s).Manifest.Endpoints[i], written.Resolve(d.host), written, written}
		e.URL = e.url.String()
		if d.plan.host != "" {
			e.shown = e.url
		}
		endpoints[i] = e
	}
	return endpoints
}

func (d *differ) manifest(at *slot) {
	old, new := d.render(at, before), d.render(at, after)
	d.extra(subject{}, at.old.Manifest.Extra, at.new.Manifest.Extra)
	pairs, moved := pairUp(old, new, func(e *endpoint) string { return e.URL })
	pairs = pairRest(pairs, func(e *endpoint) string { return canonical(e.url) })

	// Endpoints have no id, so a new URL is a new endpoint. Its name may still hint at where the old one went.
	byName := make(map[string][]string)
	for _, p := range pairs {
		switch {
		case p.old == nil:
			byName[p.new.Name] = append(byName[p.new.Name], p.new.shown.String())
		case p.new != nil && p.old.URL == p.new.URL && p.new.written.HasHostPlaceholder(): // {{host}} is better known
			p.old.shown = p.new.shown
		}
	}
	faults := faultsOf(at.old)
	for _, p := range pairs {
		d.faults, d.part = nil, signpost.Part{Version: at.version}
		if p.old != nil {
			d.endpoint, d.part.Endpoint = p.old.shown, p.old.written.String()
			d.faults = faults[d.part.Endpoint]
		}
		switch {
		case p.new == nil:
			d.endpointRemoved(*p.old, byName[p.old.Name])
		case p.old == nil:
			d.endpoint = p.new.shown
			d.add(ChangeEndpointAdded, subject{}, nil, p.new.Clone(), "endpoint %q added", p.new.Name)
			d.takenOver(at, *p.new)
		default:
			respelled := p.old.URL != p.new.URL
			if respelled {
				d.add(ChangeURL, subject{closed: true}, p.old.shown.String(), p.new.shown.String(),
					"URL changed to %q, which is the same to clients", p.new.shown)
			}
			if d.Export {
				fillIn(&p.old.Endpoint, p.new.Endpoint)
			}
			d.descriptor(p.old.Endpoint, p.new.Endpoint)
			if moved || d.reordered || respelled { // ties between endpoints go to the first one
				d.takenOver(at, *p.new)
			}
		}
	}
	d.endpoint, d.faults, d.part.Endpoint = signpost.URL{}, nil, ""
	if moved && !d.Export {
		shown := func(e *endpoint) string { return e.shown.String() }
		d.add(ChangeOrder, subject{}, order(keysOf(old, shown)), order(keysOf(new, shown)), "endpoints are in another order")
	}
}

// endpointRemoved reports an endpoint that is gone. New ones may have the same name.
func (d *differ) endpointRemoved(e endpoint, namesakes []string) {
	name, hint := "", ""
	if e.Name != "" { // an export has none
		name = fmt.Sprintf("%q ", e.Name)
		if len(namesakes) == 1 {
			hint = fmt.Sprintf("; perhaps moved to %q, which has the same name", namesakes[0])
		}
	}
	d.add(ChangeEndpointRemoved, subject{}, e.Clone(), nil, "endpoint %sremoved%s", name, hint)
}

// order lists keys whose order changed.
type order []string

// subject is what a change concerns inside an endpoint.
type subject struct {
	prefix string   // of messages about it
	remark string   // after them
	path   []string // the steps to it, for the fingerprint
	closed bool     // the fingerprint has the path only, and not the values
	host   string   // on which alone it happens
	level  Level    // if it is not that of the rule
}

// sub returns a subject nested in s, with the same prefix.
func (s subject) sub(steps ...string) subject {
	s.path = append(s.path[:len(s.path):len(s.path)], steps...)
	return s
}

// add reports a change.
func (d *differ) add(rule string, at subject, old, new any, format string, args ...any) {
	c := Change{
		Rule: rule, Level: cmp.Or(at.level, levelOf(rule)), Service: d.service, Endpoint: d.endpoint.String(),
		Message: spell.Shorten(at.prefix + fmt.Sprintf(format, args...) + at.remark), Old: old, New: new,
	}
	version := ""
	if d.slot != nil {
		c.Service, c.Version, version = d.slot.service, d.slot.version, d.slot.known
	}
	c.Host = at.host
	if d.plan.host != "" {
		c.Host = d.host
	}
	var values []string
	if !at.closed {
		values = []string{identity(old), identity(new)}
	}
	c.Fingerprint = fingerprint(rule, version, d.endpoint.Rest(), at.path, values...)
	c.Subject = at.path
	d.lower(&c)
	if d.isFaulty(at, old) {
		c.Message += "; OLD had an error here"
		if c.Level == Breaking {
			c.Level = Notable
		}
	}
	d.changes = append(d.changes, c)
}

// text compares a field of the manifest. Empty means absent.
func (d *differ) text(rule string, at subject, field, old, new string) {
	at = at.sub(field)
	switch {
	case old == new:
	case old == "":
		d.add(rule, at, nil, new, "%s %q added", field, new)
	case new == "":
		d.add(rule, at, old, nil, "%s %q removed", field, old)
	default:
		d.add(rule, at, old, new, "%s changed from %q to %q", field, old, new)
	}
}
