package studio

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"signpost"
	"signpost/client"
	"signpost/definition"
	"signpost/host"
	"signpost/internal/routes"
)

// source is something that the page shows: the file, or a manifest at an address. It does not change.
type source struct {
	ID       string    `json:"id"`
	Kind     string    `json:"kind"`  // one of the kinds below
	Name     string    `json:"name"`  // the file or the address
	Title    string    `json:"title"` // of the service, where the file has one
	Host     string    `json:"host"`  // what {{host}} has become
	HostOpen bool      `json:"host_open"`
	Read     time.Time `json:"read"` // when it was read

	Versions []version `json:"versions"` // those of the last text without errors
	Findings []finding `json:"findings"`
	Notes    []string  `json:"notes"`
	Stale    bool      `json:"stale"` // the versions are not those of the present text

	// Changes are what has changed since the studio was opened or, for an address, since it was fetched before.
	Changes []signpost.Change `json:"changes"`
}

// The kinds of source.
const (
	kindFile    = "file"
	kindExample = "example"
	kindAddress = "address"
)

const fileID = "file"

// version is one API version, with its host resolved.
type version struct {
	Name      string     `json:"name"` // empty where it is not known
	Revision  string     `json:"revision"`
	Route     string     `json:"route"` // where this server has it; empty for an address
	Endpoints []endpoint `json:"endpoints"`

	manifest signpost.Manifest
	body     []byte
}

func (src *source) plain() []signpost.Version {
	var versions []signpost.Version
	for _, v := range src.Versions {
		versions = append(versions, signpost.Version{Name: v.Name, Manifest: v.manifest})
	}
	return versions
}

// fileState is the file as it was last read, as it was last good, and as it was when the studio was opened.
type fileState struct {
	host       string
	file       *definition.File
	read       time.Time
	unreadable string // why the file could not be read since

	good, first *compiled
	stale       bool

	source *source // nil until there is a file
}

// compiled is a text without errors.
type compiled struct {
	file      *definition.File
	templates map[string]*signpost.Template
}

// set takes a file over, unless it has errors.
func (s *fileState) set(f *definition.File, opts Options) {
	s.file, s.read, s.unreadable = f, time.Now(), ""
	features := opts.Features
	if features != nil {
		features = slices.DeleteFunc(slices.Clone(features), func(name string) bool {
			return !slices.Contains(f.Features(), name)
		})
	}
	templates, err := f.Compile(features) // an error is among the findings
	if s.stale = err != nil; !s.stale {
		s.good = &compiled{f, templates}
	}
	if s.first == nil {
		s.first = s.good
	}
	s.build(opts)
}

// build makes the source of the file.
func (s *fileState) build(opts Options) {
	src := &source{
		ID: fileID, Kind: kindFile, Name: s.file.Name, Title: s.file.Service, Host: s.host, Read: s.read,
		Versions: []version{}, Findings: findings(s.file), Stale: s.stale, Changes: []signpost.Change{}, Notes: []string{},
	}
	if opts.Example {
		src.Kind = kindExample
	}
	if s.unreadable != "" {
		src.Notes = append(src.Notes, "The file cannot be read any more, so this is what it was: "+s.unreadable)
	}
	s.source = src
	if s.good == nil {
		return
	}
	var err error
	if src.Versions, src.HostOpen, err = s.good.resolve(s.host); err != nil {
		src.Notes = append(src.Notes, err.Error()+": enter another host")
		return
	}
	if before, _, err := s.first.resolve(s.host); err == nil && s.first != s.good {
		src.Changes = signpost.Diff((&source{Versions: before}).plain(), src.plain())
	}
}

// resolve returns the versions for a host, and whether that is in any of their URLs.
func (c *compiled) resolve(host string) (versions []version, open bool, err error) {
	versions = []version{}
	for _, name := range c.file.Versions() {
		t := c.templates[name]
		v := version{Name: name, Revision: t.Revision()}
		if name != "" {
			v.Route = routes.Path(c.file.BasePath, name)
		}
		if v.body, err = t.Render(host); err != nil {
			return []version{}, true, err
		}
		if err := json.Unmarshal(v.body, &v.manifest); err != nil {
			return []version{}, true, err
		}
		for _, e := range t.Manifest().Endpoints {
			open = open || strings.Contains(e.URL, signpost.HostPlaceholder)
		}
		versions = append(versions, v)
	}
	if !open {
		host = "" // it was put in long ago, or all endpoints are somebody else's
	}
	for i := range versions {
		versions[i].Endpoints = endpoints(versions[i].manifest, host)
	}
	return versions, open, nil
}

const (
	// maxRegistered is how many addresses a page may have registered: more than one looks at in a day.
	maxRegistered = 50

	// maxManifest is how large a manifest may be to be shown. A browser has to lay it out.
	maxManifest = 16 << 20

	// fetchTimeout bounds a fetch: somebody is waiting for it.
	fetchTimeout = 15 * time.Second
)

// fetch returns the source at an address, without an id. The problem is nil if there is one.
func (s *Studio) fetch(ctx context.Context, address string) (*source, *problem) {
	u, err := client.ParseAddress(address)
	if err != nil {
		return nil, &problem{Status: http.StatusUnprocessableEntity, Detail: sentence(err)}
	}
	answer, err := client.Fetch(ctx, address, s.clientOptions())
	if err != nil {
		return nil, explained(err)
	}
	text := answer.Body
	if len(text) > maxManifest {
		return nil, &problem{Status: http.StatusBadGateway, Detail: fmt.Sprintf("The manifest is larger than %d MiB, which is more than this page shows.", maxManifest>>20)}
	}
	file := definition.ParseManifest(address, text)
	src := &source{
		Kind: kindAddress, Name: address, Host: u.Hostname(), Read: time.Now(),
		Versions: []version{}, Findings: findings(file), Changes: []signpost.Change{}, Notes: []string{},
	}
	// Whoever wrote it may have made mistakes, which are among the findings: what can be read is shown.
	_, name, _ := routes.Parse(u.Path)
	v := version{Name: name, Revision: answer.Header.Get("Signpost-Revision"), Endpoints: []endpoint{}, body: text}
	if v.manifest, err = client.ReadManifest(text); err != nil {
		return nil, &problem{
			Status: http.StatusBadGateway, Detail: sentence(err),
			Hint:     "The address should end in a version and endpoints-manifest, such as https://feeds.example.com/v1/endpoints-manifest.",
			Findings: src.Findings,
		}
	}
	v.Endpoints = endpoints(v.manifest, u.Host)
	src.Versions = []version{v}
	if u.Scheme != "https" {
		src.Notes = append(src.Notes, "This address is good for trying out. A studio registers manifests over https only.")
	}
	return src, nil
}

func (s *Studio) clientOptions() client.Options {
	opts := s.opts.Client
	if opts.Timeout == 0 {
		opts.Timeout = fetchTimeout
	}
	return opts
}

// register fetches a manifest and keeps it. An address that is registered already is updated.
func (s *Studio) register(ctx context.Context, address string) (*source, *problem) {
	src, failed := s.fetch(ctx, address)
	if failed != nil {
		return nil, failed
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	i := slices.IndexFunc(s.registered, func(other *source) bool { return other.Name == src.Name })
	switch {
	case i >= 0:
		src.ID = s.registered[i].ID
		src.Changes = signpost.Diff(s.registered[i].plain(), src.plain())
		s.registered[i] = src
	case len(s.registered) == maxRegistered:
		return nil, &problem{Status: http.StatusConflict, Detail: fmt.Sprintf("%d addresses are registered. Remove one of them first.", maxRegistered)}
	default:
		s.lastID++
		src.ID = fmt.Sprint(s.lastID)
		s.registered = append(s.registered, src)
	}
	return src, nil
}

func (s *Studio) serveState(w http.ResponseWriter, _ *http.Request) {
	sources := s.sources()
	start := s.opts.Address
	if slices.ContainsFunc(sources, func(src *source) bool { return src.Name == start }) {
		start = ""
	}
	reply(w, struct {
		Sources []*source `json:"sources"`
		Start   string    `json:"start"` // an address to register
	}{sources, start})
}

func (s *Studio) serveRegister(w http.ResponseWriter, r *http.Request) {
	var in struct {
		Address string `json:"address"`
	}
	if !read(w, r, &in) {
		return
	}
	src, failed := s.register(r.Context(), strings.TrimSpace(in.Address))
	if failed != nil {
		refuse(w, *failed)
		return
	}
	reply(w, src)
}

func (s *Studio) serveUpdate(w http.ResponseWriter, r *http.Request) {
	src, ok := s.readSource(w, r)
	if !ok {
		return
	}
	if src.Kind != kindAddress {
		refuse(w, problem{Status: http.StatusConflict, Detail: "A file is read again by itself when it is saved."})
		return
	}
	updated, failed := s.register(r.Context(), src.Name)
	if failed != nil {
		refuse(w, *failed)
		return
	}
	reply(w, updated)
}

func (s *Studio) serveRemove(w http.ResponseWriter, r *http.Request) {
	src, ok := s.readSource(w, r)
	if !ok {
		return
	}
	s.mu.Lock()
	s.registered = slices.DeleteFunc(s.registered, func(other *source) bool { return other.ID == src.ID })
	s.mu.Unlock()
	reply(w, struct{}{})
}

// readSource reads a request that names a source.
func (s *Studio) readSource(w http.ResponseWriter, r *http.Request) (*source, bool) {
	var in struct {
		Source string `json:"source"`
	}
	if !read(w, r, &in) {
		return nil, false
	}
	src := s.source(in.Source)
	if src == nil {
		refuse(w, noSource)
	}
	return src, src != nil
}

var noSource = problem{
	Status: http.StatusNotFound, Detail: "This manifest is not registered any more.", Hint: "Reload the page.",
}

// serveHost changes what {{host}} becomes in the manifests of the file.
func (s *Studio) serveHost(w http.ResponseWriter, r *http.Request) {
	var in struct {
		Host string `json:"host"`
	}
	if !read(w, r, &in) {
		return
	}
	name, err := host.ParseName(strings.TrimSpace(in.Host))
	if err != nil {
		refuse(w, problem{Status: http.StatusUnprocessableEntity, Detail: sentence(err), Hint: "Enter a hostname, such as feeds.example.com, without a port."})
		return
	}
	src, failed := s.setHost(name)
	if failed != nil {
		refuse(w, *failed)
		return
	}
	reply(w, src)
}

func (s *Studio) setHost(host string) (*source, *problem) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.file.source == nil {
		return nil, &noSource
	}
	if s.file.good != nil {
		if _, _, err := s.file.good.resolve(host); err != nil {
			return nil, &problem{Status: http.StatusUnprocessableEntity, Detail: sentence(err)}
		}
	}
	s.file.host = host
	s.file.build(s.opts)
	s.notify()
	return s.file.source, nil
}

// sentence makes the text of an error one that stands alone.
func sentence(err error) string {
	text := err.Error()
	return strings.ToUpper(text[:1]) + text[1:] + "."
}
