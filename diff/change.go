package diff

import (
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strings"

	"signpost"
)

// Change is one difference between two states of a service, judged from the point of view of a studio that
// registered the old one: its feeds, the values that editors saved under modifier ids, and the requests of apps.
type Change struct {
	Rule    string `json:"rule"`
	Level   Level  `json:"level"`
	Service string `json:"service,omitempty"` // the base path; empty unless several services are compared
	Version string `json:"version"`           // empty if unknown, or if the change concerns the whole service

	// Endpoint is the URL of the endpoint that changed. It is empty if the change concerns a whole version or service.
	Endpoint string `json:"endpoint"`

	// Host is the host on which the change happens. It is empty if that does not depend on the host.
	Host string `json:"host,omitempty"`

	Message string `json:"message"`

	// Old and New hold the values before and after, as they appear in the manifest: a string, an option, a whole
	// endpoint. Nil means absent.
	Old any `json:"old"`
	New any `json:"new"`

	// Fingerprint identifies the change. It is the same whether definitions, manifests or directories are compared, for
	// every host, and after reordering and unrelated edits.
	Fingerprint string `json:"fingerprint"`

	// Requests says how many requests the change concerns. Diff does not know that: nil means unknown.
	*Requests

	// Subject has the steps to what changed inside the endpoint: "context" and a key; or "modifier" and its id, then
	// "param" and its key, then "option" and its value.
	Subject []string `json:"-"`
}

// Level says how serious a change is.
type Level string

// A breaking change costs feeds, saved values or requests. A notable change is visible to editors or to the service. A
// compatible change only adds something that nobody uses yet.
const (
	Breaking   Level = "breaking"
	Notable    Level = "notable"
	Compatible Level = "compatible"
)

// fingerprintLength is the number of hexadecimal digits in a fingerprint. 46 bits are enough to tell thousands of
// changes apart and short enough to copy by hand. The first digit is always a letter, because YAML reads 123456789012
// and 1e2345678901 as numbers.
const fingerprintLength = 12

// fingerprint hashes the identity of a change: its rule, version and path, the steps to its subject inside the
// endpoint, and the values and keys that change. Neither the host nor the service is part of it, and neither is the
// message, so that rewording it keeps fingerprints stable.
func fingerprint(rule, version, rest string, subject []string, values ...string) string {
	h := sha256.New()
	for _, part := range [][]string{{rule, version, rest}, subject, values} {
		for _, text := range part {
			h.Write([]byte(text))
			h.Write([]byte{0})
		}
		h.Write([]byte{1})
	}
	sum := h.Sum(nil)
	text := []byte(hex.EncodeToString(sum)[:fingerprintLength])
	text[0] = "abcdef"[sum[len(sum)-1]%6]
	return string(text)
}

// identity returns what identifies a value that changes: all of a text, a number or a list of texts, and the key of
// anything else, which unrelated edits may change. A nil value has none.
func identity(value any) string {
	switch value := value.(type) {
	case nil, signpost.Option, signpost.Modifier, signpost.Endpoint, feedSettings, lostKeys, order:
		return "" // it is the subject
	case signpost.Manifest:
		return strings.Join(paths(value), " ")
	case map[string]signpost.Manifest:
		var all []string
		for version, m := range value {
			all = append(all, version+" "+strings.Join(paths(m), " "))
		}
		slices.Sort(all)
		return strings.Join(all, "\n")
	}
	return jsonText(value)
}

// paths returns what follows the host in the URLs of a manifest, sorted.
func paths(m signpost.Manifest) []string {
	var all []string
	for _, u := range urlsOf(signpost.Version{Manifest: m}) {
		all = append(all, u.Rest())
	}
	slices.Sort(all)
	return all
}
