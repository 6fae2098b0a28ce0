package definition

import (
	"cmp"
	"iter"
	"slices"
	"strings"

	"signpost"
	"signpost/internal/tree"
	"signpost/match"
)

// togetherRules are the rules that depend on everything registered together. Lint checks them, since Parse sees a
// single file.
var togetherRules = []string{
	match.RuleOverlapDropsContext, match.RuleOverlapInsideSegment, match.RuleRegisteredTwice, match.RuleHostsUnknown,
}

// keepPlaces records where the endpoints are, for Lint. The tree itself is too large for a server to keep.
func (d *decoder) keepPlaces() {
	var errors []int   // offsets of errors
	var unpathed []int // of those that do not say where in the manifest they are
	for _, f := range d.findings {
		if isError(f) && (!d.served || f.Rule == signpost.RuleURL) { // the others of somebody else take part nevertheless
			offset := d.doc.Offset(f.Line, f.Column)
			errors = append(errors, offset)
			if f.Path == nil {
				unpathed = append(unpathed, offset)
			}
		}
	}
	slices.Sort(errors)
	slices.Sort(unpathed)
	featuresFail := false
	for _, name := range []string{"enable", "features"} {
		key, value := d.doc.Root.Field(name)
		featuresFail = featuresFail || key != nil && len(inside(tree.Field{Key: key, Value: value}, unpathed)) > 0
	}
	d.partial = d.unread || d.hostsFail || featuresFail
	isDone := func(a *allowance) bool { return !slices.Contains(togetherRules, a.rule) }
	d.allowances = slices.DeleteFunc(d.allowances, isDone)
	for _, a := range d.allowances {
		a.key = nil
	}
	for i := range d.versions {
		v := &d.versions[i]
		v.places = make([]place, 0, len(v.manifest.Endpoints))
		v.faulty = make([]bool, 0, len(v.manifest.Endpoints))
		for _, e := range v.manifest.Endpoints {
			f := v.endpoints[e.URL]
			v.errors = append(v.errors, d.errorsIn(f, unpathed)...)
			if featuresFail {
				v.errors = append(v.errors, signpost.Path{signpost.Field(e.URL), signpost.Field("enable")})
			}
			v.faulty = append(v.faulty, len(inside(f, errors)) > 0)
			v.places = append(v.places, placeOf(f.Key))
		}
		v.key, v.endpoints = nil, nil
	}
}

// Locate returns the path of a finding in this file. One about the form of the definition has none of its own, but may
// be in an endpoint.
func (f *File) Locate(found signpost.Finding) signpost.Path {
	if found.Path != nil {
		return found.Path
	}
	return f.located[f.doc.Offset(found.Line, found.Column)]
}

// inside returns those of some sorted offsets that are in a field.
func inside(f tree.Field, offsets []int) []int {
	start, _ := slices.BinarySearch(offsets, f.Key.Start())
	end, _ := slices.BinarySearch(offsets, max(f.Key.End(), f.Value.End()))
	return offsets[start:end]
}

// errorsIn returns the paths of the errors at the given offsets that are in an endpoint, or in a shared modifier that
// it uses.
func (d *decoder) errorsIn(endpoint tree.Field, offsets []int) []signpost.Path {
	var paths []signpost.Path
	url := signpost.Field(endpoint.Key.Text)
	for _, offset := range inside(endpoint, offsets) {
		path := append(signpost.Path{url}, pathTo(endpoint.Value, offset)...)
		d.located[offset] = path
		paths = append(paths, path)
	}
	for i, item := range endpoint.Value.Get("modifiers").Items {
		shared := d.shared[item.Text]
		if shared != nil && item.Kind == tree.String && len(inside(shared.Field, offsets)) > 0 {
			paths = append(paths, signpost.Path{url, signpost.Field("modifiers"), signpost.Item(i)})
		}
	}
	return paths
}

// pathTo returns the path from a value to what is at an offset.
func pathTo(n *tree.Node, offset int) signpost.Path {
	for _, f := range n.Fields {
		if len(inside(f, []int{offset})) > 0 {
			return append(signpost.Path{signpost.Field(f.Key.Text)}, pathTo(f.Value, offset)...)
		}
	}
	for i, item := range n.Items {
		if item.Start() <= offset && offset < item.End() {
			return append(signpost.Path{signpost.Item(i)}, pathTo(item, offset)...)
		}
	}
	return nil
}

// ForLint returns a copy of the file for [Lint] alone: it has no text and no modifiers, and cannot be compiled. A server
// keeps it to judge the file together with others. What the endpoints say is in memory of their own: the strings of the
// file lie scattered among what parsing took, and would keep the pages of all of it. With 2,000 services, a server at
// rest takes a third less memory (go run ./bench growth).
func (f *File) ForLint() *File {
	slim := *f
	slim.doc = nil
	slim.versions = slices.Clone(f.versions)
	for i := range slim.versions {
		v := &slim.versions[i]
		v.manifest = signpost.Manifest{Endpoints: packed(v.manifest.Endpoints)}
	}
	return &slim
}

// packed returns a copy of endpoints without modifiers whose texts are parts of one.
func packed(endpoints []signpost.Endpoint) []signpost.Endpoint {
	var all strings.Builder
	for _, e := range endpoints {
		all.WriteString(e.URL + e.Name + e.Method + e.MIMEType)
	}
	rest := all.String()
	cut := func(text string) string {
		part := rest[:len(text)]
		rest = rest[len(text):]
		return part
	}
	slim := make([]signpost.Endpoint, len(endpoints))
	for i, e := range endpoints {
		slim[i] = signpost.Endpoint{
			URL: cut(e.URL), Name: cut(e.Name), Method: cut(e.Method), MIMEType: cut(e.MIMEType),
			ContextObj: slices.Clone(e.ContextObj),
		}
	}
	return slim
}

// LintTogether is [Lint] for files in a studio that has others registered as well. Those take part in overlap, but get
// no findings of their own.
func LintTogether(files, registered []*File) []signpost.Finding {
	findings := Errors(files...)
	for _, f := range files {
		findings = append(findings, f.only(func(f signpost.Finding) bool { return !isError(f) })...)
	}
	used := make(map[*File]map[place]bool)
	for _, f := range slices.Concat(files, registered) {
		used[f] = make(map[place]bool)
	}
	findings = append(findings, overlaps(files, registered, used)...)
	if len(files)+len(registered) > 1 { // a single file cannot tell whether the allowance is used
		for _, f := range files {
			if slices.ContainsFunc(f.findings, isError) {
				continue // it may allow something once they are fixed
			}
			for _, a := range f.allowances {
				if !used[f][a.at] {
					findings = append(findings, f.finding(unusedAllow(a.rule), a.at))
				}
			}
		}
	}
	order := make(map[string]int, len(files))
	for i, f := range files {
		order[f.Name] = i
	}
	slices.SortStableFunc(findings, func(a, b signpost.Finding) int {
		return cmp.Or(order[a.File]-order[b.File], a.Line-b.Line, a.Column-b.Column)
	})
	return findings
}

// owner is a version that is compared with others.
type owner struct {
	*File
	places []place // of its endpoints
}

// overlaps returns the findings about overlap, and records which rules of the files' allow fields are used.
func overlaps(files, registered []*File, used map[*File]map[place]bool) []signpost.Finding {
	without := published(files, registered)
	var owners []owner // by version
	var judged, others []signpost.Version
	for f, v := range versionsOf(files, without) {
		version, places := f.comparable(v, func(e signpost.Endpoint, faulty bool) bool { return !faulty })
		owners = append(owners, owner{f, places})
		judged = append(judged, version)
	}
	var entries map[string]registeredEndpoint
	if len(registered) > 0 {
		entries = asRegistered(files)
	}
	for f, v := range versionsOf(registered, without) {
		isExport := f.served && addressHost(f.Name) == ""
		version, places := f.comparable(v, func(e signpost.Endpoint, faulty bool) bool {
			if faulty {
				if _, err := signpost.ParseURL(e.URL); err != nil {
					return false
				}
			}
			entry, found := entries[e.URL]
			return !isExport || !found || !entry.isEntryOf(e)
		})
		owners = append(owners, owner{f, places})
		others = append(others, version)
	}
	var findings []signpost.Finding
	allowed := func(version, position int, rule string, lost signpost.ContextItem) bool {
		o := owners[version]
		return o.allowsLoss(rule, o.places[position], lost, used[o.File])
	}
	for i, some := range match.OverlapsExcept(judged, others, allowed) {
		for _, f := range some {
			o := owners[i]
			if f.Rule == match.RuleHostsUnknown && o.hostsFail { // a consequence
				continue
			}
			at := o.places[f.Position]
			if o.allows(f.Rule, at, used[o.File]) { // but not all of it
				f.Hint += "; allow covers optional keys, and those that it names: {keys: […], reason: …}"
			}
			findings = append(findings, o.finding(f.Finding, at))
		}
	}
	return findings
}

// versionsOf returns the versions of files, but for those that are left out.
func versionsOf(files []*File, without map[*version]bool) iter.Seq2[*File, *version] {
	return func(yield func(*File, *version) bool) {
		for _, f := range files {
			for i := range f.versions {
				if v := &f.versions[i]; !without[v] && !yield(f, v) {
					return
				}
			}
		}
	}
}

// comparable returns a version as package match takes it, with the parts of those endpoints to keep that decide which
// one answers for a feed, and their places. The features that the file enables are applied.
func (f *File) comparable(v *version, keep func(e signpost.Endpoint, faulty bool) bool) (signpost.Version, []place) {
	var places []place
	var lines []int
	m := signpost.Manifest{Endpoints: make([]signpost.Endpoint, 0, len(v.manifest.Endpoints))}
	for i, e := range v.manifest.Endpoints {
		if !keep(e, v.faulty[i]) {
			continue
		}
		e.Modifiers = nil
		m.Endpoints = append(m.Endpoints, e)
		places = append(places, v.places[i])
		if !f.served { // otherwise they are probably all on one
			lines = append(lines, v.places[i].line)
		}
	}
	m = m.WithFeatures(f.named(f.enable)...)
	return signpost.Version{Name: v.name, Source: f.Name, Hosts: f.Hosts, Manifest: m, Lines: lines}, places
}
