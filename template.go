package signpost

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"iter"
	"maps"
	"slices"
	"strings"

	"signpost/internal/spell"
)

// Template is a manifest that is ready to be served: features are applied, the JSON is encoded, and only the host is
// missing. It is immutable and safe for concurrent use.
type Template struct {
	revision string
	urls     []string // of the endpoints, with {{host}}

	pieces [][]byte // of the response: joined by the host, they are all of it
	size   int      // of the response, with {{host}}

	hosts hostCheck
}

// revisionBytes is how many bytes of a SHA-256 hash make up a revision: enough to rule out collisions, short enough to
// read.
const revisionBytes = 16

// Compile validates the manifest, applies the features enabled in the deployment, and prepares everything that does not
// depend on the host. It copies its arguments. The error is an [*InvalidError].
func Compile(m Manifest, features ...Feature) (*Template, error) {
	findings := m.Validate()
	for _, feature := range features {
		for _, f := range feature.Validate() {
			f.Path = Path{Field("feature " + feature.Name)}.then(f.Path...)
			findings = append(findings, f)
		}
	}
	if len(findings) == 0 && len(features) > 0 {
		m = m.WithFeatures(features...)
		findings = m.Validate() // a feature may add a key under a name that is already taken
	}
	if len(findings) > 0 {
		return nil, &InvalidError{findings}
	}
	pieces, err := m.pieces()
	if err != nil {
		return nil, fmt.Errorf("compile manifest: %w", err) // a bug: Validate should have caught it
	}
	last := len(pieces) - 1
	pieces[last] = append(pieces[last], '\n')
	text := bytes.Join(pieces, []byte(HostPlaceholder))
	hash := sha256.Sum256(text)
	t := &Template{revision: hex.EncodeToString(hash[:revisionBytes]), pieces: pieces, size: len(text),
		hosts: m.hostCheck()}
	for _, e := range m.Endpoints {
		t.urls = append(t.urls, e.URL)
	}
	return t, nil
}

// Revision identifies the manifest before the host is filled in. It is the same on every replica.
func (t *Template) Revision() string { return t.revision }

// Manifest returns the manifest as it is served, with features applied and {{host}} unresolved. It is read from the
// JSON each time: a server with thousands of manifests would keep them all twice.
func (t *Template) Manifest() Manifest {
	var m Manifest
	if t.size == 0 {
		return m
	}
	if err := m.UnmarshalJSON(bytes.Join(t.pieces, []byte(HostPlaceholder))); err != nil {
		panic(err) // cannot happen: Compile has written it
	}
	for i, e := range m.Endpoints {
		if len(e.ContextObj) == 0 {
			m.Endpoints[i].ContextObj = nil
		}
	}
	return m
}

// URLs returns those of the endpoints, in order, with {{host}} unresolved.
func (t *Template) URLs() []string { return slices.Clone(t.urls) }

// Endpoint returns a copy of the endpoint with the given URL, spelled as in the compiled manifest, {{host}} included.
// Its context items are those of the served manifest, so they include those added by features. Pass them to
// contextkeys.Middleware to make the manifest and the handler share one list.
func (t *Template) Endpoint(url string) (Endpoint, error) {
	if i := slices.Index(t.urls, url); i >= 0 {
		return t.Manifest().Endpoints[i], nil
	}
	if near := spell.Nearest(url, t.urls); near != "" {
		return Endpoint{}, fmt.Errorf("manifest has no endpoint %q: did you mean %q?", url, near)
	}
	return Endpoint{}, fmt.Errorf("manifest has no endpoint %q", url)
}

// HostError reports that the manifest does not exist for a host. Either {{host}} is only a part of a URL's host, and
// the combination is not a valid host name, as with an IP address; or two URLs become the same.
type HostError struct {
	Host string
	URL  URL // with {{host}} unresolved
	Same URL // the later URL that becomes the same for the host; zero if URL does not fit
}

func (e *HostError) Error() string {
	if e.Same.raw != "" {
		return fmt.Sprintf("on host %q, %q and %q are the same URL", e.Host, e.URL, e.Same)
	}
	return fmt.Sprintf("host %q does not fit into %q", e.Host, e.URL)
}

// Size returns the number of bytes that [Template.Render] returns for a host.
func (t *Template) Size(host string) int {
	return t.size + (len(host)-len(HostPlaceholder))*(len(t.pieces)-1)
}

// Render returns the manifest for a host as JSON on a single line, with a trailing newline. The host has no port. Since
// it is inserted as is, anything but a host name or an IP literal (IPv6 in brackets) is rejected. The error is a
// [*HostError] if the manifest does not exist for that host.
func (t *Template) Render(host string) ([]byte, error) {
	if t.size == 0 {
		return nil, errors.New("the template is empty: use one that Compile returned")
	}
	if err := t.hosts.check(host); err != nil {
		return nil, err
	}
	return bytes.Join(t.pieces, []byte(host)), nil
}

// hostCheck holds the URLs that decide whether a manifest exists for a host.
type hostCheck struct {
	composed []URL   // one for each authority in which {{host}} is only a part of the host
	alike    [][]URL // those that may become the same
}

// hostCheck returns the URLs that do not fit every host, and those that differ in their authority only, which may
// become the same if one of them contains {{host}}.
func (m Manifest) hostCheck() hostCheck {
	var c hostCheck
	first := make(map[string]URL, len(m.Endpoints)) // of each group
	groups := make(map[string][]URL)                // with more than one URL
	known := make(map[string]bool)                  // by authority
	for u := range m.All() {
		group := u.Scheme() + "://" + u.Rest()
		switch other, found := first[group]; {
		case !found:
			first[group] = u
		case groups[group] == nil:
			groups[group] = []URL{other, u}
		default:
			groups[group] = append(groups[group], u)
		}
		isPart := u.HasHostPlaceholder() && u.Hostname() != HostPlaceholder
		if isPart && !known[u.authority] {
			c.composed = append(c.composed, u)
		}
		known[u.authority] = true
	}
	for _, group := range slices.Sorted(maps.Keys(groups)) {
		if slices.ContainsFunc(groups[group], URL.HasHostPlaceholder) {
			c.alike = append(c.alike, groups[group])
		}
	}
	return c
}

// check returns an error if a request cannot be for the host, or if the manifest does not exist for it. What it accepts
// can break out of neither the JSON string nor the authority of the URL.
func (c hostCheck) check(host string) error {
	if !isASCII(host) || checkHost(host) != nil {
		return fmt.Errorf("%q is not a host name or an IP address", host)
	}
	for misfit := range c.misfits(host) {
		return misfit
	}
	return nil
}

// misfits returns the reasons why the manifest does not exist for a host.
func (c hostCheck) misfits(host string) iter.Seq[*HostError] {
	return func(yield func(*HostError) bool) {
		for _, u := range c.composed {
			if !u.fits(host) && !yield(&HostError{Host: host, URL: u}) {
				return
			}
		}
		for _, group := range c.alike {
			seen := make(map[string]URL, len(group))
			for _, u := range group {
				origin := u.Resolve(host).Origin()
				first, taken := seen[origin]
				same := taken && (first.HasHostPlaceholder() || u.HasHostPlaceholder())
				if same && !yield(&HostError{Host: host, URL: first, Same: u}) {
					return
				}
				if !taken {
					seen[origin] = u
				}
			}
		}
	}
}

// ForHost returns a copy of the manifest as served to host, with {{host}} replaced in every URL. The error is a
// [*HostError] if the manifest does not exist for that host. Unlike [Template.Render], ForHost does not require a valid
// manifest.
func (m Manifest) ForHost(host string) (Manifest, error) {
	if err := m.hostCheck().check(host); err != nil {
		return Manifest{}, err
	}
	m = m.Served()
	for i, e := range m.Endpoints {
		m.Endpoints[i].URL = strings.ReplaceAll(e.URL, HostPlaceholder, host)
	}
	return m, nil
}
