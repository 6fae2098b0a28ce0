package diff

import "slices"

// Change rules.
const (
	ChangeServiceRemoved  = "service-removed"
	ChangeServiceAdded    = "service-added"
	ChangeBasePath        = "base-path-changed"
	ChangeHost            = "host-changed"
	ChangeHostAdded       = "host-added"
	ChangeHostsUnknown    = "hosts-unknown"
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
	ChangeExtra           = "extra-changed"
)

// Rule is a kind of change.
type Rule struct {
	Name    string
	Level   Level  // of most of its changes: some are notable because clients see no difference
	Meaning string // to studios that registered OLD, in Markdown
}

// rules are the rows of the table in docs/diff.md.
var rules = []Rule{
	{ChangeServiceRemoved, Breaking, "none of its manifests and endpoints answer any more"},
	{ChangeServiceAdded, Compatible, "there is another service to register"},
	{ChangeBasePath, Breaking, "every manifest has a new address and must be registered again"},
	{ChangeHost, Breaking,
		"the service is no longer published on a host: its manifests and feeds there no longer answer"},
	{ChangeHostAdded, Compatible, "the service is published on another host, too"},
	{ChangeHostsUnknown, Notable,
		"whether endpoints take feeds from each other depends on a host that the definition does not declare: " +
			"list it under `hosts`, or write `{{host}}`"},
	{ChangeVersionRemoved, Breaking, "the manifest and its endpoints no longer answer"},
	{ChangeVersionAdded, Compatible, "there is another manifest to register"},
	{ChangeEndpointRemoved, Breaking, "feeds on this URL have no endpoint, or fall back to a shorter one. " +
		"If exactly one new endpoint has the same name, the message names it"},
	{ChangeEndpointAdded, Compatible, "there is another endpoint to build feeds on"},
	{ChangeFeedsTakenOver, Breaking,
		"an endpoint now answers for feeds of another one, but with a different method or type, " +
			"with a required key that they lack, or with a key that is sent differently"},
	{ChangeMethod, Breaking, "apps call the endpoint with a method that it no longer accepts"},
	{ChangeMIMEType, Breaking,
		"apps expect the old content type or, on a post endpoint, encode the request body in the old way. " +
			"If the types differ only in case or parameters, the change is notable"},
	{ChangeURL, Notable, "the URL differs only in the case of its scheme or host, which clients ignore"},
	{ChangeName, Notable, "editors see a different name"},
	{ChangeContextRequired, Breaking,
		"a new key is required, or an existing key has become required: apps without it stop sending requests"},
	{ChangeContextAdded, Compatible, "apps that have the optional key will send it"},
	{ChangeContextRemoved, Notable, "a key is no longer sent, or no longer required, so requests may arrive without it"},
	{ChangeContextType, Breaking,
		"the key moves between the `ctx` parameter and the request body, and the service looks in the wrong place"},
	{ChangeContextMapper, Breaking,
		"the key is sent under a different name. If the mapper only repeats the key, the change is notable"},
	{ChangeContextShadowed, Breaking,
		"an endpoint now answers for feeds of another one, without context keys that they had"},
	{ChangeModifierRemoved, Breaking, "values that editors saved under its `id` are lost. " +
		"If only the `id` changed, the message says that it was renamed"},
	{ChangeModifierAdded, Compatible, "editors get another control"},
	{ChangeModifier, Notable, "editors see a different name, label, placeholder or order, an additional parameter, " +
		"or a text input instead of a dropdown"},
	{ChangeParamKey, Breaking, "a saved value is sent in a different query parameter, or not at all"},
	{ChangeParamType, Breaking, "saved values have the wrong type, or were free text that a dropdown does not offer"},
	{ChangeDefault, Notable, "a default was added, changed or removed"},
	{ChangeOptionRemoved, Breaking, "a saved value is no longer offered"},
	{ChangeOptionAdded, Notable, "editors have another choice"},
	{ChangeOrder, Notable, "the same endpoints, or the same context keys, are in a different order"},
	{ChangeExtra, Notable, "a field that the specification does not define was added, changed or removed: " +
		"what that means depends on the studio that knows it"},
}

// Rules returns every rule, in the order of the documentation.
func Rules() []Rule { return slices.Clone(rules) }

// levelOf returns the level of a rule.
func levelOf(rule string) Level {
	return rules[slices.IndexFunc(rules, func(r Rule) bool { return r.Name == rule })].Level
}
