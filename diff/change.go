package diff

import (
	"crypto/sha256"
	"encoding/hex"
	"maps"
	"reflect"
	"strings"

	"signpost"
	"signpost/internal/routes"
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

	// Written is Endpoint as its definition has it, with {{host}}.
	Written string `json:"-"`

	Message string `json:"message"`

	// Old and New hold the values before and after, as they appear in the manifest: a string, an option, a whole
	// endpoint. Nil means absent.
	Old any `json:"old"`
	New any `json:"new"`

	// Fingerprint identifies the change. Reordering endpoints, keys or modifiers does not affect it, and neither do
	// unrelated edits or the host that a manifest was served for.
	Fingerprint string `json:"fingerprint"`
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

// Change rules.
const (
	ChangeServiceRemoved  = "service-removed"
	ChangeServiceAdded    = "service-added"
	ChangeBasePath        = "base-path-changed"
	ChangeVersionRemoved  = "version-removed"
	ChangeVersionAdded    = "version-added"
	ChangeEndpointRemoved = "endpoint-removed"
	ChangeEndpointAdded   = "endpoint-added"
	ChangeFeedsTakenOver  = "feeds-taken-over"
	ChangeMethod          = "method-changed"
	ChangeMIMEType        = "mime-type-changed"
	ChangeURL             = "url-changed"
	ChangeName            = "name-changed"
	ChangeContextRequired = "context-required"
	ChangeContextAdded    = "context-added"
	ChangeContextRemoved  = "context-removed"
	ChangeContextType     = "context-type-changed"
	ChangeContextMapper   = "context-mapper-changed"
	ChangeContextShadowed = "context-shadowed"
	ChangeModifierRemoved = "modifier-removed"
	ChangeModifierAdded   = "modifier-added"
	ChangeModifier        = "modifier-changed"
	ChangeParamKey        = "param-key-changed"
	ChangeParamType       = "param-type-changed"
	ChangeDefault         = "default-changed"
	ChangeOptionRemoved   = "option-removed"
	ChangeOptionAdded     = "option-added"
	ChangeOrder           = "order-changed"
)

var levels = map[string]Level{
	ChangeServiceRemoved:  Breaking,
	ChangeServiceAdded:    Compatible,
	ChangeBasePath:        Breaking,
	ChangeVersionRemoved:  Breaking,
	ChangeVersionAdded:    Compatible,
	ChangeEndpointRemoved: Breaking,
	ChangeEndpointAdded:   Compatible,
	ChangeFeedsTakenOver:  Breaking,
	ChangeMethod:          Breaking,
	ChangeMIMEType:        Breaking,
	ChangeURL:             Notable,
	ChangeName:            Notable,
	ChangeContextRequired: Breaking,
	ChangeContextAdded:    Compatible,
	ChangeContextRemoved:  Notable,
	ChangeContextType:     Breaking,
	ChangeContextMapper:   Breaking,
	ChangeContextShadowed: Breaking,
	ChangeModifierRemoved: Breaking,
	ChangeModifierAdded:   Compatible,
	ChangeModifier:        Notable,
	ChangeParamKey:        Breaking,
	ChangeParamType:       Breaking,
	ChangeDefault:         Notable,
	ChangeOptionRemoved:   Breaking,
	ChangeOptionAdded:     Notable,
	ChangeOrder:           Notable,
}

// Rules returns every change rule with its level.
func Rules() map[string]Level { return maps.Clone(levels) }

// fingerprintLength is the number of hexadecimal digits in a fingerprint. 46 bits are enough to tell thousands of
// changes apart and short enough to copy by hand. The first digit is always a letter, because YAML reads 123456789012
// and 1e2345678901 as numbers.
const fingerprintLength = 12

// fingerprint hashes the identity of a change: its rule, its location, the path to its subject inside the endpoint, and
// scalar values before and after. Lists and whole descriptors are left out because unrelated edits change them; so is
// the message, so that rewording it keeps fingerprints stable. The version of a manifest file is unknown, but its URLs tell.
func (c *Change) fingerprint(subject []string) string {
	h := sha256.New()
	write := func(parts ...string) {
		for _, part := range parts {
			h.Write([]byte(part))
			h.Write([]byte{0})
		}
		h.Write([]byte{1})
	}
	version := c.Version
	for segment := range strings.SplitSeq(signpost.CutURL(c.Written).Path(), "/") {
		if version == "" && routes.ValidVersion(segment) {
			version = segment
		}
	}
	write(c.Rule, c.Service, version, c.Written)
	write(subject...)
	if c.Rule != ChangeURL { // which has the host
		write(plainText(c.Old), plainText(c.New))
	}
	sum := h.Sum(nil)
	text := []byte(hex.EncodeToString(sum)[:fingerprintLength])
	text[0] = "abcdef"[sum[len(sum)-1]%6]
	return string(text)
}

// plainText returns a scalar as JSON, and "" for a list, a descriptor or nil.
func plainText(value any) string {
	switch reflect.ValueOf(value).Kind() {
	case reflect.Invalid, reflect.Struct, reflect.Slice, reflect.Map:
		return ""
	}
	return jsonText(value)
}
