package signpost

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strings"

	"signpost/internal/spell"
)

// Template is a manifest that is ready to be served: features are applied, the JSON is encoded, and only the host is
// missing. It is immutable and safe for concurrent use.
type Template struct {
	manifest Manifest // with features
	revision string

	pieces [][]byte // of the response: joined by the host, they are all of it
	size   int      // of the response, with {{host}}

	composed []URL    // one for each authority in which {{host}} is only a part of the host
	rivals   []string // that may become the same for some host
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
	return &Template{
		manifest: m.Served(), revision: hex.EncodeToString(hash[:revisionBytes]),
		pieces: pieces, size: len(text), composed: m.composed(), rivals: m.rivals(),
	}, nil
}

// composed returns one URL for each authority in which {{host}} is only a part of the host. Not every host fits there.
func (m Manifest) composed() []URL {
	var urls []URL
	for _, e := range m.Endpoints {
		u := CutURL(e.URL)
		known := func(other URL) bool { return other.authority == u.authority }
		if u.HasHostPlaceholder() && u.Hostname() != HostPlaceholder && !slices.ContainsFunc(urls, known) {
			urls = append(urls, u)
		}
	}
	return urls
}

// rivals returns the URLs that may become the same for some host. A host contains no slash, so they have the same scheme and
// the same text after the authority.
func (m Manifest) rivals() []string {
	groups := make(map[string][]string)
	for _, e := range m.Endpoints {
		u := CutURL(e.URL)
		key := u.scheme + "://" + u.Rest()
		groups[key] = append(groups[key], e.URL)
	}
	var rivals []string
	for _, group := range groups {
		if len(group) > 1 {
			rivals = append(rivals, group...)
		}
	}
	return rivals
}

// Revision identifies the manifest before the host is filled in. It is the same on every replica.
func (t *Template) Revision() string { return t.revision }

// Manifest returns a copy of the manifest with features applied and {{host}} unresolved.
func (t *Template) Manifest() Manifest { return t.manifest.Clone() }

// Endpoint returns a copy of the endpoint with the given URL, spelled as in the compiled manifest, {{host}} included.
// Its context items are those of the served manifest, so they include those added by features. Pass them to
// contextkeys.Middleware to make the manifest and the handler share one list.
func (t *Template) Endpoint(url string) (Endpoint, error) {
	urls := make([]string, len(t.manifest.Endpoints))
	for i, e := range t.manifest.Endpoints {
		if e.URL == url {
			return e.Clone(), nil
		}
		urls[i] = e.URL
	}
	if near := spell.Nearest(url, urls); near != "" {
		return Endpoint{}, fmt.Errorf("manifest has no endpoint %q: did you mean %q?", url, near)
	}
	return Endpoint{}, fmt.Errorf("manifest has no endpoint %q", url)
}

// HostError reports that a URL of the manifest does not exist for a host: {{host}} is only a part of the URL's host,
// and the combination is not a valid host name. IP addresses never fit.
type HostError struct {
	Host string
	URL  URL // with {{host}} unresolved
}

func (e *HostError) Error() string {
	return fmt.Sprintf("host %q does not fit into %q", e.Host, e.URL)
}

// Size returns the number of bytes that [Template.Render] returns for a host. It is slightly too large if URLs collide
// for that host.
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
	if err := checkRequest(host, t.composed); err != nil {
		return nil, err
	}
	if t.collides(host) {
		doc, err := t.manifest.resolve(host).MarshalJSON()
		if err != nil {
			return nil, err
		}
		return append(doc, '\n'), nil
	}
	return bytes.Join(t.pieces, []byte(host)), nil
}

// checkRequest returns an error if a request cannot be for the host, or if one of the composed URLs does not exist for it. What
// it accepts can break out of neither the JSON string nor the authority of the URL.
func checkRequest(host string, composed []URL) error {
	if !isASCII(host) || checkHost(host) != nil {
		return fmt.Errorf("%q is not a host name or an IP address", host)
	}
	for _, u := range composed {
		if !u.fits(host) {
			return &HostError{host, u}
		}
	}
	return nil
}

// collides reports whether two URLs become the same for this host.
func (t *Template) collides(host string) bool {
	seen := make(map[string]bool, len(t.rivals))
	for _, url := range t.rivals {
		url = strings.ReplaceAll(url, HostPlaceholder, host)
		if seen[url] {
			return true
		}
		seen[url] = true
	}
	return false
}

// ForHost returns a copy of the manifest as served to host, with {{host}} replaced in every URL. The error is a
// [*HostError] if the manifest does not exist for that host. Unlike [Template.Render], ForHost does not require a valid
// manifest.
func (m Manifest) ForHost(host string) (Manifest, error) {
	if err := checkRequest(host, m.composed()); err != nil {
		return Manifest{}, err
	}
	return m.resolve(host), nil
}

// resolve returns the manifest with the host filled in. If two URLs become the same, the later endpoint wins but takes
// the earlier one's position.
func (m Manifest) resolve(host string) Manifest {
	out := Manifest{Extra: m.Extra}
	place := make(map[string]int, len(m.Endpoints))
	for _, e := range m.Endpoints {
		e = e.served().Clone()
		e.URL = strings.ReplaceAll(e.URL, HostPlaceholder, host)
		if i, ok := place[e.URL]; ok {
			out.Endpoints[i] = e
			continue
		}
		place[e.URL] = len(out.Endpoints)
		out.Endpoints = append(out.Endpoints, e)
	}
	return out
}
