package definition_test

import (
	"testing"

	"signpost/definition"
)

// An inline modifier is not mistaken for a shared one without a name.
func TestSharedModifierWithoutName(t *testing.T) {
	const text = `
modifiers:
  "": {kind: number, id: limit, name: Page size, key: limit, label: Limit}
versions:
  v1:
    endpoints:
      https://{{host}}/v1/feeds:
        name: Feeds
        method: get
        mime_type: application/json
        modifiers: ["", {kind: select, id: sort, name: Sort, key: sort, label: Sort, options: [{value: a, label: A}, {value: b, label: A}]}]
`
	findings := definition.Lint(definition.Parse("feeds.yaml", []byte(text)))
	if len(findings) != 1 || findings[0].Rule != "option-label-duplicate" {
		t.Errorf("got %v", findings)
	}
}
