package signpost

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"

	"signpost/internal/spell"
)

// Template is a manifest that is ready to be served: features are applied, the JSON is encoded, and only the host is
// missing. It is immutable and safe for concurrent use.
type Template struct {
	endpoints []Endpoint // of the manifest with features
	revision  string

	pieces [][]byte // of the response: joined by the host, they are all of it
	size   int      // of the pieces

	// composed holds one URL for each host that {{host}} is only a part of. Not every host fits there.
	composed []URL

	// rivals holds the URLs of endpoints that may get the same URL for some host.
	rivals []string
}

// revisionBytes is how many bytes of a SHA-256 hash make up a revision: enough to rule out collisions, short enough to
// read.
const revisionBytes = 16

// usualSize is the size of an endpoint with two modifiers in a response.
const usualSize = 512

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
	t := &Template{endpoints: NewManifest(m.Endpoints...).Endpoints}
	if err := t.write(); err != nil {
		return nil, fmt.Errorf("compile manifest: %w", err) // a bug: Validate should have caught it
	}
	t.groupURLs()
	return t, nil
}

// write computes pieces, size and revision. Only URLs are split; {{host}} in a name is ordinary text.
func (t *Template) write() error {
	var out bytes.Buffer
	var cuts []int // where the host is inserted
	out.Grow(usualSize * len(t.endpoints))
	if err := (Manifest{t.endpoints}).encode(&out, func(key []byte) {
		for i, part := range bytes.Split(key, []byte(HostPlaceholder)) {
			if i > 0 {
				cuts = append(cuts, out.Len())
			}
			out.Write(part)
		}
	}); err != nil {
		return err
	}
	out.WriteByte('\n')
	text := bytes.Clone(out.Bytes()) // without the room to grow
	t.size = len(text)
	t.pieces = make([][]byte, 0, len(cuts)+1)
	from := 0
	for _, cut := range append(cuts, t.size) {
		t.pieces = append(t.pieces, text[from:cut])
		from = cut
	}
	hash := sha256.Sum256(bytes.Join(t.pieces, []byte(HostPlaceholder)))
	t.revision = hex.EncodeToString(hash[:revisionBytes])
	return nil
}

// groupURLs computes composed and rivals. A host contains no slash, so two URLs can only collide if they have the same
// scheme and the same text after the authority.
func (t *Template) groupURLs() {
	groups := make(map[string][]string)
	composed := make(map[string]bool)
	for _, e := range t.endpoints {
		u := CutURL(e.URL)
		if name := u.Hostname(); u.HasHostPlaceholder() && name != HostPlaceholder && !composed[name] {
			composed[name] = true
			t.composed = append(t.composed, u)
		}
		key := u.scheme + "://" + u.Rest()
		groups[key] = append(groups[key], e.URL)
	}
	for _, group := range groups {
		if len(group) > 1 {
			t.rivals = append(t.rivals, group...)
		}
	}
}

// Revision identifies the manifest before the host is filled in. It is the same on every replica.
func (t *Template) Revision() string { return t.revision }

// Manifest returns a copy of the manifest with features applied and {{host}} unresolved.
func (t *Template) Manifest() Manifest { return NewManifest(t.endpoints...) }

// Endpoint returns a copy of the endpoint with the given URL, spelled as in the compiled manifest, {{host}} included.
// Its context items are those of the served manifest, so they include those added by features. Pass them to
// contextkeys.Middleware to make the manifest and the handler share one list.
func (t *Template) Endpoint(url string) (Endpoint, error) {
	urls := make([]string, len(t.endpoints))
	for i, e := range t.endpoints {
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
	return t.size + len(host)*(len(t.pieces)-1)
}

// Render returns the manifest for a host as JSON on a single line, with a trailing newline. The host has no port. Since
// it is inserted as is, anything but a host name or an IP literal (IPv6 in brackets) is rejected. The error is a
// [*HostError] if the manifest does not exist for that host.
func (t *Template) Render(host string) ([]byte, error) {
	if !plausibleHost(host) {
		return nil, fmt.Errorf("%q is not a host name or an IP address", host)
	}
	if t.size == 0 {
		return nil, errors.New("the template is empty: use one that Compile returned")
	}
	for _, u := range t.composed {
		if !u.fits(host) {
			return nil, &HostError{host, u}
		}
	}
	if t.collides(host) {
		doc, err := Manifest{t.endpoints}.resolve(host).MarshalJSON()
		if err != nil {
			return nil, err
		}
		return append(doc, '\n'), nil
	}
	return bytes.Join(t.pieces, []byte(host)), nil
}

// plausibleHost accepts only hosts that can break out of neither the JSON string nor the authority of the URL.
func plausibleHost(host string) bool {
	return isASCII(host) && checkHost(host) == nil
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
	if !plausibleHost(host) {
		return Manifest{}, fmt.Errorf("%q is not a host name or an IP address", host)
	}
	for _, e := range m.Endpoints {
		if u := CutURL(e.URL); u.HasHostPlaceholder() && u.Hostname() != HostPlaceholder && !u.fits(host) {
			return Manifest{}, &HostError{host, u}
		}
	}
	return m.resolve(host), nil
}

// resolve returns the manifest with the host filled in. If two URLs become the same, the later endpoint wins but takes
// the earlier one's position.
func (m Manifest) resolve(host string) Manifest {
	var out Manifest
	place := make(map[string]int, len(m.Endpoints))
	for _, e := range m.Endpoints {
		e = e.Clone()
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
