package definition

import (
	"cmp"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"signpost"
	"signpost/internal/routes"
	"signpost/internal/suffix"
	"signpost/internal/tree"
	"signpost/internal/warnings"
	"signpost/match"
)

// Rules about the file. For those about its contents, see package signpost.
const (
	RuleSyntax                = "syntax"
	RuleTooLarge              = match.RuleTooLarge
	RuleNotADefinition        = "not-a-definition"
	RuleNoEndpoints           = "no-endpoints"
	RuleBasePathVersion       = "base-path-version"
	RuleQuotedName            = "quoted-name"
	RuleUnknownField          = "unknown-field"
	RuleVersionMismatch       = "version-mismatch"
	RuleUnknownModifier       = "unknown-modifier"
	RuleUnknownFeature        = "unknown-feature"
	RuleBasePath              = "base-path"
	RuleHosts                 = "hosts"
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
	Summary  string         // one sentence, without a full stop
	check    func(*decoder) // nil if other packages check it, or if it is checked on reading or for several files
}

// Rules returns every rule, errors first. docs/rules.md, which is made from this table and from testdata/rules,
// explains them.
func Rules() []Rule {
	const e, w = signpost.SeverityError, signpost.SeverityWarning
	rules := []Rule{
		{RuleSyntax, e, "the file is valid YAML or JSON", nil},
		{RuleTooLarge, e, "the file is within the limits of size and depth", nil},
		{RuleNotADefinition, e, "the file is a Signpost definition", nil},
		{signpost.RuleDuplicateKey, e, "keys are unique within an object", nil},
		{RuleUnknownField, e, "all fields are known", nil},
		{signpost.RuleRequiredField, e, "required fields are present", nil},
		{signpost.RuleWrongType, e, "values have the type of their field", nil},
		{signpost.RuleMethod, e, "a method is get or post", nil},
		{signpost.RuleMIMEType, e, "a mime_type is a media type", nil},
		{signpost.RuleURL, e, "a URL is absolute, and its placeholders are well formed", nil},
		{RuleVersionMismatch, e, "a version lists only its own URLs", nil},
		{signpost.RuleContextType, e, "a context type is ctx or bodyParam", nil},
		{signpost.RuleContextDuplicate, e, "no context key is declared or sent twice", nil},
		{signpost.RuleModifierIDDuplicate, e, "the modifier ids of an endpoint are unique", nil},
		{signpost.RuleModifierKeyDuplicate, e, "the modifier parameters of an endpoint are unique", nil},
		{signpost.RuleModifierKey, e, "a modifier key is the name of a query parameter", nil},
		{signpost.RuleModifierKeyReserved, e, "no modifier sets the ctx parameter", nil},
		{signpost.RuleModifierDefault, e, "a default is a possible value of the control", nil},
		{signpost.RuleSelectOptions, e, "a select has options, and no other kind does", nil},
		{signpost.RuleEnumMismatch, e, "schema.enum lists the values of ui.options", nil},
		{RuleUnknownModifier, e, "a modifier that is used by name exists", nil},
		{RuleUnknownFeature, e, "a feature that is enabled exists", nil},
		{RuleBasePath, e, "every service has its own base_path", nil},
		{RuleHosts, e, "hosts lists host names, or *.suffix", nil},
		{signpost.RuleResolvedURLCollision, e, "no two URLs become the same on a host of the service", nil},
		{RuleUnknownContextKey, e, "every context key is known to the apps", (*decoder).checkContextKeys},
	}
	for _, r := range warnings.Rules() {
		rules = append(rules, Rule{r.Name, w, r.Summary, nil})
	}
	return append(rules, []Rule{
		{match.RuleOverlapDropsContext, w, "a nested endpoint has the context keys of the one around it", nil},
		{match.RuleOverlapInsideSegment, w, "no URL ends in the middle of a path segment of another one", nil},
		{match.RuleRegisteredTwice, w, "no URL is declared twice", nil},
		{match.RuleHostsUnknown, w, "where hosts decide whether URLs overlap, they are declared", nil},
		{RuleUnusedModifier, w, "a shared modifier is used", (*decoder).checkUnusedModifiers},
		{RuleFeatureMatchesNothing, w, "an enabled feature applies to an endpoint", (*decoder).checkIdleFeatures},
		{RuleVersionNotDeclared, w, "the URLs of the service name no version that it does not have",
			(*decoder).checkVersionsInURLs},
		{RuleNoEndpoints, w, "every version has endpoints", (*decoder).checkNoEndpoints},
		{RuleBasePathVersion, w, "a base_path does not repeat the version or the route", (*decoder).checkBasePath},
		{RuleQuotedName, w, "names and ids have no typographic quotes around them", (*decoder).checkQuotes},
		{RuleDeprecationExpired, w, "deprecated items are removed in time", nil},
		{RuleUnusedAllow, w, "every allowed warning occurs, and has a reason", (*decoder).checkAllowances}, // after all others
	}...)
}

// allowable returns the names of the rules that can be allowed.
func allowable() []string {
	var names []string
	for _, r := range Rules() {
		if r.Severity == signpost.SeverityWarning && r.Name != RuleUnusedAllow {
			names = append(names, r.Name)
		}
	}
	return names
}

func (d *decoder) checkNoEndpoints() {
	for _, v := range d.versions {
		if len(v.manifest.Endpoints) == 0 && v.endpoints != nil && !d.unread {
			d.warn(RuleNoEndpoints, "add an endpoint, or remove the version", v.key, nil,
				"version %s has no endpoints: its manifest is empty", v.name)
		}
	}
}

// checkVersionsInURLs reports URLs of the service that name a different version than the one they are listed in: an
// error if the service has it, and a warning otherwise.
func (d *decoder) checkVersionsInURLs() {
	declared := make(map[string]bool)
	for _, v := range d.versions {
		declared[v.name] = true
	}
	for _, v := range d.versions {
		for u, e := range v.manifest.All() {
			named, other := routes.VersionIn(u), routes.OtherVersion(u, v.name, declared)
			// Beside its own version, a URL may have that of another API.
			isUndeclared := named != "" && named != v.name && u.HasHostPlaceholder() &&
				!slices.Contains(strings.Split(u.Path(), "/"), v.name)
			if other == "" && !isUndeclared {
				continue
			}
			if _, err := signpost.ParseURL(e.URL); err != nil {
				continue
			}
			at := v.endpoints[e.URL]
			if other != "" {
				d.add(RuleVersionMismatch,
					"a manifest lists the URLs of its own version: move it to "+other+", or correct the URL",
					at.Key, "URL %q of version %s names version %s", e.URL, v.name, other)
			} else {
				d.warn(RuleVersionNotDeclared, "declare "+named+" under versions, or correct the URL", at.Key, at.Key,
					"URL %q names version %s, which the service does not have", e.URL, named)
			}
		}
	}
}

// typographic matches text in typographic quotes, such as “Games” or „Spiele“.
var typographic = regexp.MustCompile(`(?s)^[\p{Pi}\p{Pf}\p{Ps}](.+)[\p{Pi}\p{Pf}]$`)

// isQuoted reports whether a text is in typographic quotes. The last of them is never ASCII, which is quick to see.
func isQuoted(text string) bool {
	return text != "" && text[len(text)-1] >= utf8.RuneSelf && typographic.MatchString(text)
}

// quotable are the fields whose value is not checked otherwise, so that quotes around it go unnoticed.
var quotable = []string{"name", "id", "key", "label", "value"}

// quotedText is a value of one of the quotable fields in typographic quotes.
type quotedText struct {
	field        string
	at, endpoint *tree.Node
}

// checkQuotes reports values in typographic quotes, which YAML takes for part of the text.
func (d *decoder) checkQuotes() {
	for _, q := range d.quoted {
		d.warn(RuleQuotedName, "write "+typographic.ReplaceAllString(q.at.Text, "$1")+", or use straight quotes",
			q.at, q.endpoint, "%s %s has typographic quotes around it, which are part of it", q.field, q.at.Text)
	}
}

// checkBasePath reports a base path that ends in what Signpost appends to it.
func (d *decoder) checkBasePath() {
	base, at := strings.TrimSuffix(d.BasePath, "/endpoints-manifest"), d.basePath
	if i := strings.LastIndexByte(base, '/'); routes.ValidVersion(base[i+1:]) {
		base = base[:i]
	}
	if at == nil || base == d.BasePath {
		return
	}
	d.warn(RuleBasePathVersion, "write "+cmp.Or(base, "/"), at, nil,
		"base path %q ends in what Signpost appends: the manifest of v1 is at %s", d.BasePath,
		routes.Path(d.BasePath, "v1"))
}

func (d *decoder) checkUnusedModifiers() {
	for _, name := range d.sharedNames {
		if shared := d.shared[name]; !shared.used && !d.unread { // otherwise the part that was not read may use it
			d.warn(RuleUnusedModifier, "remove it, or name it in an endpoint's modifiers", shared.Key, nil,
				"no endpoint uses the shared modifier %q", name)
		}
	}
}

// checkIdleFeatures reports enabled features that apply to no endpoint of a version.
func (d *decoder) checkIdleFeatures() {
	mayApply := func(f signpost.Finding) bool { // once it is corrected
		return f.Rule == signpost.RuleURL || f.Rule == signpost.RuleDuplicateKey
	}
	if slices.ContainsFunc(d.findings, mayApply) {
		return
	}
	enabled := d.named(d.enable)
	idle := make([][]string, len(enabled)) // versions, by feature
	versions := 0                          // with endpoints
	for _, v := range d.versions {
		if len(v.manifest.Endpoints) == 0 {
			continue
		}
		versions++
		queried := d.queriesBehindSuffix(v, enabled)
		for i, n := range d.applications(v, enabled) {
			if n == 0 && !queried[i] {
				idle[i] = append(idle[i], v.name)
			}
		}
	}
	for i, feature := range enabled {
		if len(idle[i]) == 0 {
			continue
		}
		at, remedy := d.enabledAt(feature.Name, idle[i][0])
		where := ""
		if len(idle[i]) < versions {
			where = " of " + strings.Join(idle[i], ", ")
		}
		suffixes := strconv.Quote(feature.URLSuffix)
		for _, suffix := range feature.URLSuffixes {
			suffixes += " or " + strconv.Quote(suffix)
		}
		d.warn(RuleFeatureMatchesNothing, "correct the URLs or the suffix, or "+remedy, at, nil,
			"feature %q applies to no endpoint%s: no URL ends in %s", feature.Name, where, suffixes)
	}
}

// queriesBehindSuffix reports the URLs of a version whose query keeps features from applying to them, and returns which
// features these are.
func (d *decoder) queriesBehindSuffix(v version, features []signpost.Feature) map[int]bool {
	kept := make(map[int]bool)
	suffixes := suffixesOf(features)
	matching := suffix.NewSet(suffixes...)
	for _, e := range v.manifest.Endpoints {
		path, _, hasQuery := strings.Cut(e.URL, "?")
		if !hasQuery {
			continue
		}
		for _, i := range matching.Of(path) {
			for _, suffix := range suffixes[i] {
				if strings.HasSuffix(path, suffix) && !strings.HasSuffix(e.URL, suffix) {
					kept[i] = true
					key := v.endpoints[e.URL].Key
					d.warn(RuleFeatureMatchesNothing, "remove the query; a modifier can set the parameter", key, key,
						"the query keeps feature %q from applying: the URL does not end in %q", features[i].Name, suffix)
				}
			}
		}
	}
	return kept
}

// enabledAt returns where a feature is enabled, and how not to enable it. One that --feature names, and the file does
// not, is reported at the given version.
func (d *decoder) enabledAt(feature, in string) (at *tree.Node, remedy string) {
	for _, n := range d.enabled {
		if n.Text == feature {
			return n, "do not enable it"
		}
	}
	i := slices.IndexFunc(d.versions, func(v version) bool { return v.name == in })
	return d.versions[i].key, "leave it out of --feature"
}
