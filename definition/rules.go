package definition

import (
	"slices"

	"signpost"
	"signpost/match"
)

// Rules about the file. For those about its contents, see package signpost.
const (
	RuleSyntax                = "syntax"
	RuleTooLarge              = "too-large"
	RuleNotADefinition        = "not-a-definition"
	RuleNoEndpoints           = "no-endpoints"
	RuleBasePathVersion       = "base-path-version"
	RuleQuotedName            = "quoted-name"
	RuleUnknownField          = "unknown-field"
	RuleVersionMismatch       = "version-mismatch"
	RuleUnknownModifier       = "unknown-modifier"
	RuleUnknownFeature        = "unknown-feature"
	RuleBasePath              = "base-path"
	RuleUnusedModifier        = "unused-modifier"
	RuleFeatureMatchesNothing = "feature-matches-nothing"
	RuleUnusedAllow           = "unused-allow"
	RuleUnknownContextKey     = "unknown-context-key"
	RuleVersionNotDeclared    = "version-not-declared"
	RuleDeprecationExpired    = "deprecation-expired"
)

// Rule is a rule that Lint checks.
type Rule struct {
	Name     string
	Severity signpost.Severity
	Summary  string // one sentence, without a full stop
}

// Rules returns every rule, errors first. docs/rules.md explains them.
func Rules() []Rule {
	const e, w = signpost.SeverityError, signpost.SeverityWarning
	return []Rule{
		{RuleSyntax, e, "the file is valid YAML or JSON"},
		{RuleTooLarge, e, "the file is within the limits of size and depth"},
		{RuleNotADefinition, e, "the file is a Signpost definition"},
		{signpost.RuleDuplicateKey, e, "keys are unique within an object"},
		{RuleUnknownField, e, "all fields are known"},
		{signpost.RuleRequiredField, e, "required fields are present"},
		{signpost.RuleWrongType, e, "values have the type of their field"},
		{signpost.RuleMethod, e, "a method is get or post"},
		{signpost.RuleMIMEType, e, "a mime_type is a media type"},
		{signpost.RuleURL, e, "a URL is absolute, and its placeholders are well formed"},
		{RuleVersionMismatch, e, "a version lists only its own URLs"},
		{signpost.RuleContextType, e, "a context type is ctx or bodyParam"},
		{signpost.RuleContextDuplicate, e, "no context key is declared or sent twice"},
		{signpost.RuleModifierIDDuplicate, e, "the modifier ids of an endpoint are unique"},
		{signpost.RuleModifierKeyDuplicate, e, "the modifier parameters of an endpoint are unique"},
		{signpost.RuleModifierKey, e, "a modifier key is the name of a query parameter"},
		{signpost.RuleModifierKeyReserved, e, "no modifier sets the ctx parameter"},
		{signpost.RuleModifierDefault, e, "a default is a possible value of the control"},
		{signpost.RuleSelectOptions, e, "a select has options, and no other kind does"},
		{signpost.RuleEnumMismatch, e, "schema.enum lists the values of ui.options"},
		{RuleUnknownModifier, e, "a modifier that is used by name exists"},
		{RuleUnknownFeature, e, "a feature that is enabled exists"},
		{RuleBasePath, e, "every service has its own base_path"},
		{RuleUnknownContextKey, e, "every context key is known to the apps"},

		{signpost.RuleBodyParamOnGet, w, "a get request carries no body parameter"},
		{signpost.RulePlainHTTP, w, "URLs are https"},
		{signpost.RuleEndpointTooWide, w, "an endpoint has a path"},
		{match.RuleOverlapDropsContext, w, "a nested endpoint has the context keys of the one around it"},
		{match.RuleOverlapInsideSegment, w, "no URL ends in the middle of a path segment of another one"},
		{match.RuleRegisteredTwice, w, "no two services declare the same URL"},
		{signpost.RuleResolvedURLCollision, w, "no two URLs become the same for some host"},
		{signpost.RuleQueryInURL, w, "a modifier's parameter is not already in the URL"},
		{RuleUnusedModifier, w, "a shared modifier is used"},
		{RuleFeatureMatchesNothing, w, "an enabled feature applies to an endpoint"},
		{signpost.RuleTokenToThirdParty, w, "context keys go to the service's own URLs"},
		{signpost.RulePlaceholderOutside, w, "placeholders are in the path"},
		{signpost.RuleDuplicateName, w, "endpoint names are unique"},
		{signpost.RuleTrailingSlash, w, "no URL ends in a slash"},
		{signpost.RuleUnusualURL, w, "URLs are written as clients send them"},
		{signpost.RuleColonPlaceholder, w, "no path segment begins with a colon and a name"},
		{signpost.RuleLocalAddress, w, "apps can reach the hosts of all URLs"},
		{signpost.RuleOptionLabelDuplicate, w, "the option labels of a select are unique"},
		{signpost.RuleFormOnGet, w, "a get endpoint does not have a form as its mime_type"},
		{RuleVersionNotDeclared, w, "the URLs of the service name no version that it does not have"},
		{RuleNoEndpoints, w, "every version has endpoints"},
		{RuleBasePathVersion, w, "a base_path does not repeat the version or the route"},
		{RuleQuotedName, w, "names have no typographic quotes around them"},
		{RuleDeprecationExpired, w, "deprecated items are removed in time"},
		{RuleUnusedAllow, w, "every allowed warning occurs, and has a reason"},
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
