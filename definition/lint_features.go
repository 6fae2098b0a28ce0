package definition

import (
	"fmt"
	"slices"
	"strings"

	"signpost"
	"signpost/internal/tree"
)

// lintFeatures checks the features that the file declares and the names of those that it enables.
func (d *decoder) lintFeatures() {
	for _, declared := range d.features {
		for _, f := range declared.feature.Validate() {
			d.reportAt(f, declared.Field, f.Path)
		}
		if _, items := d.field(declared.Value, "context_obj"); len(declared.feature.ContextObj) == 0 && !d.broken[declared.Value] && !d.broken[items] {
			d.add(signpost.RuleRequiredField, "", declared.Key, "feature %q has no context_obj", declared.Key.Text)
		}
	}
	known := d.file.Features()
	exists, enabled := make(map[string]bool, len(known)), make(map[string]bool, len(d.enable))
	for _, name := range known {
		exists[name] = true
	}
	for _, n := range d.enable {
		switch {
		case !exists[n.Text]:
			d.unknown(RuleUnknownFeature, n, known, fmt.Sprintf("there is no feature %q", n.Text))
		case enabled[n.Text]:
			d.add(signpost.RuleDuplicateKey, "name it once", n, "feature %q is enabled twice", n.Text)
		default:
			d.file.enable = append(d.file.enable, n.Text)
		}
		enabled[n.Text] = true
	}
	for _, declared := range d.features {
		if name := declared.feature.Name; !enabled[name] {
			d.file.declared = append(d.file.declared, name)
			d.file.declaredAt = append(d.file.declaredAt, d.endpointAt(declared.Field, nil))
		}
	}
}

// tooManyFeatures reports a file whose features add more to its manifests than allowed.
func (d *decoder) tooManyFeatures(enabled []signpost.Feature) bool {
	size := 0
	for _, feature := range enabled {
		added := renderedSize(feature.ContextObj)
		for _, v := range d.file.versions {
			for _, e := range v.manifest.Endpoints {
				if strings.HasSuffix(e.URL, feature.URLSuffix) {
					size += added
				}
			}
		}
		if size > d.maxShared() {
			d.add(RuleSyntax, "split the service into several files", d.enable[0], "features make the manifests larger by more than %d MiB", d.maxShared()>>20)
			d.file.enable = nil // keep others from applying them
			return true
		}
	}
	return false
}

// warnIdleFeatures reports enabled features that apply to no endpoint of a version.
func (d *decoder) warnIdleFeatures(enabled []signpost.Feature) {
	if d.duplicated {
		return // the other URL may be the one that was meant
	}
	for _, feature := range enabled {
		var idle []string
		judged := 0
		for _, v := range d.file.versions {
			if len(v.manifest.Endpoints) == 0 {
				continue // a version without endpoints
			}
			judged++
			if !slices.ContainsFunc(v.manifest.Endpoints, func(e signpost.Endpoint) bool {
				if strings.HasSuffix(e.URL, feature.URLSuffix) {
					return true
				}
				_, err := signpost.ParseURL(e.URL)
				return err != nil // once corrected, it may end in the suffix
			}) {
				idle = append(idle, v.name)
			}
		}
		i := slices.IndexFunc(d.enable, func(n *tree.Node) bool { return n.Text == feature.Name })
		if len(idle) == 0 || i < 0 {
			continue
		}
		where := ""
		if len(idle) < judged {
			where = " of " + strings.Join(idle, ", ")
		}
		d.warn(signpost.Finding{
			Rule: RuleFeatureMatchesNothing, Severity: signpost.SeverityWarning, Hint: "correct the URLs or the suffix, or do not enable it",
			Message: fmt.Sprintf("feature %q applies to no endpoint%s: no URL ends in %q", feature.Name, where, feature.URLSuffix),
		}, tree.Field{Key: d.enable[i], Value: d.enable[i]}, nil, nil)
	}
}

// featureWarnings are the warnings about context keys that a feature adds to an endpoint.
var featureWarnings = []string{signpost.RuleBodyParamOnGet, signpost.RuleTokenToThirdParty}

const (
	// maxJudged limits how many endpoints are linted again for features that are declared but not enabled. Otherwise a
	// file of 100 kB with as many features as endpoints would take several seconds.
	maxJudged = 20_000

	// alwaysJudged is the number of declared features that are linted regardless of the number of endpoints.
	alwaysJudged = 8
)

// judgedFeatures returns how many of the declared features are linted.
func judgedFeatures(declared, endpoints int) int {
	return min(declared, max(alwaysJudged, maxJudged/max(1, endpoints)))
}

// warnOfDeclared reports what is probably unintended in a version if --feature enables a feature that the file
// declares. Otherwise nobody would notice until such a deployment behaves differently. most is how many endpoints are
// judged in all versions.
func (d *decoder) warnOfDeclared(v version, enabled []signpost.Feature, most int) {
	for _, feature := range d.file.named(d.file.declared) {
		var with signpost.Manifest // the endpoints that the feature applies to, without irrelevant parts
		for _, e := range v.manifest.Endpoints {
			if !d.mayPair() {
				return
			}
			if strings.HasSuffix(e.URL, feature.URLSuffix) {
				with.Endpoints = append(with.Endpoints, signpost.Endpoint{URL: e.URL, Method: e.Method, ContextObj: e.ContextObj})
			}
		}
		if d.judged += len(with.Endpoints); d.judged > most {
			return
		}
		said := make(map[string]bool)
		for _, f := range with.OwnWarnings(signpost.Deployment{Features: enabled}) {
			said[f.Path.Endpoint()+" "+f.Message] = true
		}
		for _, f := range with.OwnWarnings(signpost.Deployment{Features: append(slices.Clone(enabled), feature)}) {
			if slices.Contains(featureWarnings, f.Rule) && !said[f.Path.Endpoint()+" "+f.Message] {
				f.Message = withFeature(feature.Name, f.Message)
				at := v.endpoints[f.Path.Endpoint()]
				d.warn(f, at, f.Path[1:], at.Value)
			}
		}
	}
}

// withFeature returns the message of a warning that applies only with a feature.
func withFeature(feature, message string) string {
	return fmt.Sprintf("with feature %q enabled, %s", feature, message)
}

// maxPairs limits how many pairs of a feature and an endpoint are checked for clashes. It takes a second at most.
const maxPairs = 2_000_000

// mayPair counts a pair, and reports whether it may be looked at.
func (d *decoder) mayPair() bool {
	d.pairs++
	d.file.tooMany = d.pairs > maxPairs
	return !d.file.tooMany
}

// lintClashes reports context keys that would clash with those of a feature if --feature enabled it. Otherwise nobody
// would notice until a deployment fails to start. own has the context keys of the endpoints, and served those with the
// enabled features.
func (d *decoder) lintClashes(v version, enabled []signpost.Feature, own, served signpost.Manifest) {
	if d.served {
		return
	}
	sent := make([]map[string]string, len(own.Endpoints)) // the keys by the name they are sent under; nil until needed
	for _, feature := range d.file.features {
		if slices.ContainsFunc(enabled, func(f signpost.Feature) bool { return f.Name == feature.Name }) {
			continue
		}
		for i, e := range own.Endpoints {
			if !d.mayPair() {
				return
			}
			if !strings.HasSuffix(e.URL, feature.URLSuffix) {
				continue
			}
			if sent[i] == nil {
				sent[i] = keysSent(served.Endpoints[i])
			}
			if slices.ContainsFunc(feature.ContextObj, func(item signpost.ContextItem) bool {
				key, taken := sent[i][item.Type+" "+item.SentAs()]
				return taken && key != item.Key
			}) {
				d.reportClashes(e, v.endpoints[e.URL], enabled, feature)
			}
		}
	}
}

// keysSent returns the context keys of an endpoint by the type and name that they are sent under.
func keysSent(e signpost.Endpoint) map[string]string {
	sent := make(map[string]string, len(e.ContextObj))
	for _, item := range e.ContextObj {
		sent[item.Type+" "+item.SentAs()] = item.Key
	}
	return sent
}

// reportClashes reports the findings about an endpoint that a feature causes.
func (d *decoder) reportClashes(e signpost.Endpoint, at tree.Field, enabled []signpost.Feature, feature signpost.Feature) {
	alone := signpost.NewManifest(e)
	before := make(map[string]bool)
	for _, f := range alone.WithFeatures(enabled...).Validate() {
		before[f.Message] = true
	}
	for _, f := range alone.WithFeatures(append(slices.Clone(enabled), feature)...).Validate() {
		if f.Rule == signpost.RuleContextDuplicate && !before[f.Message] {
			f.Message += fmt.Sprintf(" if feature %q is enabled", feature.Name)
			d.reportEndpoint(f, at)
		}
	}
}
