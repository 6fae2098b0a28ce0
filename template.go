package signpost

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"strings"

	"signpost/internal/spell"
)

// Template is a manifest that is ready to be served: features applied, JSON written, only the host open.
// It never changes and may be used by many goroutines at once.
type Template struct {
	manifest Manifest
	revision string

	// literals is the document cut at every {{host}} of a URL. Joined by the host it is the response.
	literals [][]byte
	size     int // bytes in literals

	// composed has a URL for each host of which {{host}} is only a part. Not every host fits into them.
	composed []URL

	// meeting holds the endpoints, by index, that may become the same URL for some host.
	meeting [][]int
}

// revisionBytes is how much of a SHA-256 makes a revision: enough that two never meet, short enough to read.
const revisionBytes = 16

// Compile checks the manifest, applies the features that the deployment has, and prepares everything
// that does not depend on the host. It copies what it is given. The error is an [*InvalidError].
func Compile(m Manifest, features ...Feature) (*Template, error) {
	findings := m.Validate()
	for _, feature := range features {
		for _, f := range feature.Validate() {
			f.Path = Path{Field("feature " + feature.Name)}.then(f.Path...)
			findings = append(findings, f)
		}
	}
	t := &Template{manifest: m.WithFeatures(features...)}
	if len(findings) == 0 {
		findings = t.manifest.Validate() // a feature may send a key under a name that is taken
	}
	if len(findings) > 0 {
		return nil, &InvalidError{findings}
	}
	if err := t.write(); err != nil {
		return nil, fmt.Errorf("compile manifest: %w", err) // a defect: Validate should have said so
	}
	t.lookAtURLs()
	return t, nil
}

// write fills literals and what follows from them. Only the URLs are cut: a name that mentions {{host}}
// is text like any other.
func (t *Template) write() error {
	literal := []byte(`{"endpoints":{`)
	for i, e := range t.manifest.Endpoints {
		key, err := marshal(e.URL)
		if err != nil {
			return err
		}
		value, err := e.MarshalJSON()
		if err != nil {
			return err
		}
		if i > 0 {
			literal = append(literal, ',')
		}
		for j, part := range bytes.Split(key, []byte(HostPlaceholder)) {
			if j > 0 {
				t.literals = append(t.literals, literal)
				literal = nil
			}
			literal = append(literal, part...)
		}
		literal = append(literal, ':')
		literal = append(literal, value...)
	}
	t.literals = append(t.literals, append(literal, "}}\n"...))

	hash := sha256.New()
	for i, l := range t.literals {
		if i > 0 {
			io.WriteString(hash, HostPlaceholder)
		}
		hash.Write(l)
		t.size += len(l)
	}
	t.revision = hex.EncodeToString(hash.Sum(nil)[:revisionBytes])
	return nil
}

// lookAtURLs fills composed and meeting. A host cannot hold a slash, so only URLs with the same scheme and
// the same text after the authority can become one.
func (t *Template) lookAtURLs() {
	groups := make(map[string][]int)
	composed := make(map[string]bool)
	for i, e := range t.manifest.Endpoints {
		u := CutURL(e.URL)
		if name := u.Hostname(); u.HasHostPlaceholder() && name != HostPlaceholder && !composed[name] {
			composed[name] = true
			t.composed = append(t.composed, u)
		}
		key := u.scheme + "://" + u.rest()
		groups[key] = append(groups[key], i)
	}
	for _, group := range groups {
		if len(group) > 1 {
			t.meeting = append(t.meeting, group)
		}
	}
}

// Revision identifies the manifest before the host goes in. It is the same on every replica.
func (t *Template) Revision() string { return t.revision }

// Manifest returns a copy of the manifest with features applied and {{host}} still in it.
func (t *Template) Manifest() Manifest { return NewManifest(t.manifest.Endpoints...) }

// Endpoint returns a copy of the endpoint with a URL, written as in the manifest that was compiled, {{host}}
// included. Its context items are those that the served manifest declares, with those of the features: give them to
// contextkeys.Middleware, and one list serves the manifest and the handler.
func (t *Template) Endpoint(url string) (Endpoint, error) {
	urls := make([]string, len(t.manifest.Endpoints))
	for i, e := range t.manifest.Endpoints {
		if e.URL == url {
			return e.clone(), nil
		}
		urls[i] = e.URL
	}
	if near := spell.Nearest(url, urls); near != "" {
		return Endpoint{}, fmt.Errorf("manifest has no endpoint %q: did you mean %q?", url, near)
	}
	return Endpoint{}, fmt.Errorf("manifest has no endpoint %q", url)
}

// URLs returns the URLs of the endpoints, in their order, with {{host}} still in them.
func (t *Template) URLs() []URL {
	urls := make([]URL, len(t.manifest.Endpoints))
	for i, e := range t.manifest.Endpoints {
		urls[i] = CutURL(e.URL)
	}
	return urls
}

// HostError says that a URL of a manifest does not exist for a host: {{host}} is only a part of the URL's host, and
// the two together are not a host name. An IP address never fits.
type HostError struct {
	Host string
	URL  URL // with {{host}} in it
}

func (e *HostError) Error() string {
	return fmt.Sprintf("host %q does not fit into %q", e.Host, e.URL)
}

// Size returns how many bytes [Template.Render] returns for a host, or a few more if URLs become the same for it.
func (t *Template) Size(host string) int {
	return t.size + len(host)*max(0, len(t.literals)-1)
}

// Render returns the manifest for a host, as JSON on one line that ends in a newline. The host carries no
// port. It is put in as it is given, so anything but a host name or an IP literal (IPv6 in brackets)
// is rejected. The error is a [*HostError] if the manifest exists for other hosts only.
func (t *Template) Render(host string) ([]byte, error) {
	if !plausibleHost(host) {
		return nil, fmt.Errorf("%q is not a host name or an IP address", host)
	}
	if len(t.literals) == 0 {
		return nil, errors.New("the template is empty: use one that Compile returned")
	}
	for _, u := range t.composed {
		if !u.fits(host) {
			return nil, &HostError{host, u}
		}
	}
	if t.meets(host) {
		doc, err := t.resolve(host).MarshalJSON()
		if err != nil {
			return nil, err
		}
		return append(doc, '\n'), nil
	}
	out := make([]byte, 0, t.Size(host))
	for i, l := range t.literals {
		if i > 0 {
			out = append(out, host...)
		}
		out = append(out, l...)
	}
	return out, nil
}

// plausibleHost lets through only what can leave neither the JSON string nor the authority of the URL.
func plausibleHost(host string) bool {
	return isASCII(host) && checkHost(host) == nil
}

// meets reports whether two URLs become one for this host.
func (t *Template) meets(host string) bool {
	for _, group := range t.meeting {
		seen := make(map[string]bool, len(group))
		for _, i := range group {
			url := strings.ReplaceAll(t.manifest.Endpoints[i].URL, HostPlaceholder, host)
			if seen[url] {
				return true
			}
			seen[url] = true
		}
	}
	return false
}

// resolve returns the manifest with the host in its URLs. Of two URLs that become one, the later wins,
// in the place of the first.
func (t *Template) resolve(host string) Manifest {
	var out Manifest
	place := make(map[string]int, len(t.manifest.Endpoints))
	for _, e := range t.manifest.Endpoints {
		e = e.clone()
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
