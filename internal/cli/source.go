package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"os/exec"
	"slices"
	"strings"

	"signpost"
	"signpost/client"
	"signpost/definition"
	"signpost/server"
)

// source is what an argument such as OLD, NEW or SOURCE names: a definition, or a manifest as it is served.
type source struct {
	name   string // as given
	file   *definition.File
	served bool // a manifest: one version, with its features in it already and, mostly, its host

	address *url.URL // where a manifest was fetched

	// load fills these in: the manifests, and what they have in place of {{host}}; that itself while it is open.
	versions []signpost.Version
	host     string
}

// openSources reads what the arguments name. Where one has errors, the findings go to standard error, those of
// all of them, and there are no sources.
func (c *CLI) openSources(ctx context.Context, names ...string) ([]*source, error) {
	stdin := 0
	for _, name := range names {
		if name == stdinName {
			stdin++
		}
	}
	if stdin > 1 {
		return nil, usageErrorf("standard input can be read once: name a file in place of one of the -")
	}
	var sources []*source
	bad := false
	for _, name := range names {
		s, err := c.openSource(ctx, name)
		if err != nil {
			return nil, err
		}
		if findings := definition.Lint(s.file); hasErrors(findings) {
			printFindings(c.Stderr, c.palette(c.Stderr), []*definition.File{s.file}, findings)
			bad = true
		}
		sources = append(sources, s)
	}
	if bad {
		return nil, foundSomething
	}
	return sources, nil
}

func (c *CLI) openSource(ctx context.Context, name string) (*source, error) {
	s := &source{name: name}
	var text []byte
	var err error
	switch _, missing := os.Stat(name); {
	case name == stdinName:
		s.name = "<stdin>"
		text, err = readLimited(c.Stdin)
	case isAddress(name):
		if s.address, err = client.ParseAddress(name); err != nil {
			return nil, usageErrorf("%w", err)
		}
		text, err = client.Fetch(ctx, name, client.Options{})
	case missing != nil && strings.Contains(name, ":"):
		text, err = readRevision(ctx, name)
	default:
		text, err = readFile(name)
	}
	if err != nil {
		return nil, err
	}
	if s.served = s.address != nil || isManifest(text); s.served {
		s.file = definition.ParseManifest(s.name, text)
	} else {
		s.file = definition.Parse(s.name, text)
	}
	return s, nil
}

// readLimited reads no more than one byte too many, which definition reports.
func readLimited(in io.Reader) ([]byte, error) {
	return io.ReadAll(io.LimitReader(in, definition.MaxSize+1))
}

func readFile(path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, readError(path, err)
	}
	defer f.Close()
	text, err := readLimited(f)
	if err != nil {
		return nil, readError(path, err)
	}
	return text, nil
}

// readRevision reads REV:path, a file at a git revision. The path starts at the current folder, as those of
// other files do. Without a revision it is the file as it is staged.
func readRevision(ctx context.Context, name string) ([]byte, error) {
	revision, path := cutRevision(name)
	switch {
	case strings.HasPrefix(revision, "-"):
		return nil, usageErrorf(`%q is not a file, and not REV:path either: a git revision does not begin with "-"`, name)
	case path == "":
		return nil, usageErrorf("%q is not a file, and not REV:path either: it has no path", name)
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel() // ends git where it has more to say than is read
	cmd := exec.CommandContext(ctx, "git", "cat-file", "blob", revision+":./"+path)
	cmd.Env = append(os.Environ(), "LC_ALL=C")
	var said bytes.Buffer
	cmd.Stderr = &said
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	failed := func(why string) error {
		return fmt.Errorf("read definition %q: there is no such file, and git has none: %s", name, why)
	}
	if err := cmd.Start(); errors.Is(err, exec.ErrNotFound) {
		return nil, failed("git is not installed")
	} else if err != nil {
		return nil, failed(err.Error())
	}
	text, err := readLimited(out)
	if err == nil && len(text) > definition.MaxSize {
		cancel()
		cmd.Wait()
		return text, nil
	}
	if waitErr := cmd.Wait(); waitErr != nil || err != nil {
		why := strings.TrimSuffix(strings.TrimPrefix(strings.TrimSpace(said.String()), "fatal: "), ".")
		if why == "" {
			why = fmt.Sprint(errors.Join(err, waitErr))
		}
		return nil, failed(why)
	}
	return text, nil
}

// cutRevision cuts REV:path at the first colon that is not in the braces of a revision such as HEAD@{10:00}.
func cutRevision(name string) (revision, path string) {
	depth := 0
	for i, r := range name {
		switch r {
		case '{':
			depth++
		case '}':
			depth--
		case ':':
			if depth == 0 {
				return name[:i], name[i+1:]
			}
		}
	}
	return name, ""
}

// checkNames reports a name, given with a flag, that is not one of those that are known.
func checkNames(flag, what string, names, known []string) error {
	for _, name := range names {
		if !slices.Contains(known, name) {
			hint := "known: " + strings.Join(known, ", ")
			if near := signpost.Nearest(name, known); near != "" {
				hint = fmt.Sprintf("did you mean %q?", near)
			}
			return usageErrorf("%s: there is no %s %q; %s", flag, what, name, hint)
		}
	}
	return nil
}

func isAddress(name string) bool {
	scheme, _, ok := strings.Cut(name, "://")
	return ok && (strings.EqualFold(scheme, "https") || strings.EqualFold(scheme, "http"))
}

// isManifest tells a manifest from a definition: it is a JSON object with endpoints and without versions.
func isManifest(text []byte) bool {
	var top map[string]json.RawMessage
	if err := json.Unmarshal(bytes.TrimPrefix(text, []byte("\ufeff")), &top); err != nil {
		return false
	}
	return top["endpoints"] != nil && top["versions"] == nil
}

// load fills in the manifests with features applied: nil means those that a definition enables itself. Names that
// it does not know are passed over.
func (s *source) load(features []string) error {
	if s.served {
		features = nil
	}
	templates, err := s.file.Compile(ownFeatures(s.file, features))
	if err != nil {
		return fmt.Errorf("compile definition %q: %w", s.name, err)
	}
	for _, name := range s.file.Versions() {
		v := signpost.Version{Name: name, Manifest: templates[name].Manifest()}
		if s.address != nil {
			v.Name = addressVersion(s.address)
		}
		s.versions = append(s.versions, v)
	}
	s.host = signpost.HostPlaceholder
	if s.served {
		s.host = s.servedHost()
	}
	return nil
}

// addressVersion returns the version that the address of a manifest names: v1 for /feeds/v1/endpoints-manifest.
func addressVersion(address *url.URL) string {
	path := strings.Split(strings.Trim(address.Path, "/"), "/")
	if n := len(path); n > 1 && path[n-1] == "endpoints-manifest" && signpost.ValidVersion(path[n-2]) {
		return path[n-2]
	}
	return ""
}

// servedHost returns the host that a manifest was served for: that of its address or, where no URL has that, the
// one that most URLs have. A manifest that was saved with {{host}} in it is still open.
func (s *source) servedHost() string {
	own := ""
	if s.address != nil {
		own, _ = server.ParseHost(s.address.Host)
	}
	counts, most := make(map[string]int), ""
	endpoints := s.versions[0].Manifest.Endpoints
	for _, e := range endpoints {
		_, host, _ := cutHost(e.URL)
		if strings.Contains(host, signpost.HostPlaceholder) {
			return signpost.HostPlaceholder
		}
		counts[host]++
	}
	for _, e := range endpoints {
		if _, host, _ := cutHost(e.URL); counts[host] > counts[most] && !strings.Contains(host, "{{") {
			most = host
		}
	}
	switch {
	case own != "" && (counts[own] > 0 || most == ""):
		return own
	case most != "":
		return most
	}
	return signpost.HostPlaceholder // there is no URL to go by, and none to compare
}

// cutHost cuts the URL of an endpoint around its hostname.
func cutHost(endpoint string) (before, host, after string) {
	from := strings.Index(endpoint, "://") + len("://")
	authority := endpoint[from:]
	if i := strings.IndexAny(authority, "/?#"); i >= 0 {
		authority = authority[:i]
	}
	if i := strings.LastIndexByte(authority, ':'); i > strings.LastIndexByte(authority, ']') {
		authority = authority[:i]
	}
	return endpoint[:from], authority, endpoint[from+len(authority):]
}

// resolve makes the manifests what the service sends to a host.
func (s *source) resolve(host string) error {
	for i, v := range s.versions {
		template, err := signpost.Compile(v.Manifest)
		if err != nil {
			return fmt.Errorf("compile %q: %w", s.name, err)
		}
		body, err := template.Render(host)
		if err != nil {
			return fmt.Errorf("render %q: %w", s.name, err)
		}
		if err := json.Unmarshal(body, &s.versions[i].Manifest); err != nil {
			return fmt.Errorf("render %q: %w", s.name, err)
		}
	}
	s.host = host
	return nil
}

// reopen puts {{host}} back in place of the host that the manifest was served for.
func (s *source) reopen() {
	for _, v := range s.versions {
		for i, e := range v.Manifest.Endpoints {
			if before, host, after := cutHost(e.URL); host == s.host {
				v.Manifest.Endpoints[i].URL = before + signpost.HostPlaceholder + after
			}
		}
	}
	s.host = signpost.HostPlaceholder
}
