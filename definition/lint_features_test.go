package definition_test

import (
	"strings"
	"testing"

	"signpost"
	"signpost/definition"
)

// A feature that is not enabled can clash with an endpoint whether or not another one is enabled.
func TestClashWithAnotherFeature(t *testing.T) {
	const text = `
enable: [login]
features:
  login: {context_obj: [{key: user.token, type: ctx}]}
  profile: {context_obj: [{key: user.profile, type: ctx, mapper: who}]}
versions:
  v1:
    endpoints:
      https://{{host}}/v1/feeds: {name: Feeds, method: get, mime_type: application/json, context_obj: [{key: viewer, type: ctx, mapper: who}]}
`
	findings := definition.Lint(definition.Parse("feeds.yaml", []byte(text)))
	if len(findings) != 1 || findings[0].Rule != signpost.RuleContextDuplicate || !strings.Contains(findings[0].Message, `if feature "profile" is enabled`) {
		t.Errorf("got %v", findings)
	}
}
