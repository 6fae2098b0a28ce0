package definition

import (
	"slices"

	"signpost"
)

// The rules about the file. Those about what it says are the contract's: see package signpost.
const (
	RuleSyntax                = "syntax"
	RuleUnknownField          = "unknown-field"
	RuleVersionMismatch       = "version-mismatch"
	RuleUnknownModifier       = "unknown-modifier"
	RuleUnknownFeature        = "unknown-feature"
	RuleBasePath              = "base-path"
	RuleUnusedModifier        = "unused-modifier"
	RuleFeatureMatchesNothing = "feature-matches-nothing"
	RuleUnusedAllow           = "unused-allow"
	RuleUnknownContextKey     = "unknown-context-key"
	RuleContextKeyLookalike   = "context-key-lookalike"
	RuleVersionNotDeclared    = "version-not-declared"
	RuleDeprecationExpired    = "deprecation-expired"
)

// Rule is something that Lint looks for.
type Rule struct {
	Name     string
	Severity signpost.Severity
	Summary  string // in one sentence, without a full stop
}

// Rules returns every rule, the errors first. docs/rules.md explains each.
func Rules() []Rule {
	const e, w = signpost.SeverityError, signpost.SeverityWarning
	return []Rule{
		{RuleSyntax, e, "the file is YAML or JSON that can be read"},
		{signpost.RuleDuplicateKey, e, "no object has a key twice"},
		{RuleUnknownField, e, "every field is one that the format has"},
		{signpost.RuleRequiredField, e, "what must be there is there"},
		{signpost.RuleWrongType, e, "every value is of the type that its field takes"},
		{signpost.RuleMethod, e, "a method is get or post"},
		{signpost.RuleMIMEType, e, "a mime_type is a media type"},
		{signpost.RuleURL, e, "a URL is absolute, and its placeholders are well formed"},
		{RuleVersionMismatch, e, "a version lists its own URLs only"},
		{signpost.RuleContextType, e, "a context type is ctx or bodyParam"},
		{signpost.RuleContextDuplicate, e, "no context key is declared or sent twice"},
		{signpost.RuleModifierIDDuplicate, e, "the ids of an endpoint's modifiers differ"},
		{signpost.RuleModifierKeyDuplicate, e, "the parameters of an endpoint's modifiers differ"},
		{signpost.RuleModifierKeyReserved, e, "no modifier sets the ctx parameter"},
		{signpost.RuleModifierDefault, e, "a default is a value that the control can have"},
		{signpost.RuleSelectOptions, e, "a select, and nothing else, has options"},
		{signpost.RuleEnumMismatch, e, "schema.enum has the values of ui.options"},
		{RuleUnknownModifier, e, "a modifier that is used by name exists"},
		{RuleUnknownFeature, e, "a feature that is enabled exists"},
		{RuleBasePath, e, "every service has a base_path of its own"},
		{RuleUnknownContextKey, e, "every context key is one that apps have"},

		{signpost.RuleBodyParamOnGet, w, "a get request carries no body parameter"},
		{signpost.RulePlainHTTP, w, "URLs are https"},
		{signpost.RuleEndpointTooWide, w, "an endpoint has a path"},
		{signpost.RuleOverlapDropsContext, w, "a nested endpoint has the context keys of the one around it"},
		{signpost.RuleOverlapInsideSegment, w, "no URL begins an unlike one in the middle of a path segment"},
		{signpost.RuleRegisteredTwice, w, "no two services declare the same URL"},
		{signpost.RuleResolvedURLCollision, w, "no host makes two URLs the same"},
		{signpost.RuleQueryInURL, w, "a modifier's parameter is not in the URL already"},
		{RuleUnusedModifier, w, "a shared modifier is used"},
		{RuleFeatureMatchesNothing, w, "an enabled feature applies to an endpoint"},
		{signpost.RuleTokenToThirdParty, w, "context keys go to the service's own URLs"},
		{signpost.RulePlaceholderOutside, w, "placeholders stand in the path"},
		{signpost.RuleDuplicateName, w, "the names of endpoints differ"},
		{signpost.RuleTrailingSlash, w, "no URL ends in a slash"},
		{signpost.RuleColonPlaceholder, w, "no path segment begins with a colon and a name"},
		{signpost.RuleLocalAddress, w, "apps can reach the hosts of all URLs"},
		{signpost.RuleOptionLabelDuplicate, w, "the labels of a select's options differ"},
		{signpost.RuleFormOnGet, w, "a get endpoint does not have the type of a form"},
		{RuleVersionNotDeclared, w, "the URLs of the service name no version that it does not have"},
		{RuleContextKeyLookalike, w, "no context key is another one misspelt"},
		{RuleDeprecationExpired, w, "what is deprecated until a day is gone after it"},
		{RuleUnusedAllow, w, "a warning that is allowed would otherwise be reported, and the reason is given"},
	}
}

// warnings returns the names of the rules that can be allowed.
func warnings() []string {
	var names []string
	for _, r := range Rules() {
		if r.Severity == signpost.SeverityWarning && r.Name != RuleUnusedAllow {
			names = append(names, r.Name)
		}
	}
	return names
}

func isRule(name string) bool {
	return slices.ContainsFunc(Rules(), func(r Rule) bool { return r.Name == name })
}
