package cli

import (
	"path/filepath"
	"testing"

	"signpost"
	"signpost/definition"
	"signpost/internal/testkit"
)

// A baseline does not have what would hide findings that nobody has seen.
func TestBaselineBesideALimit(t *testing.T) {
	path := filepath.Join(t.TempDir(), "known.json")
	known := signpost.Finding{Rule: "overlap-drops-context", File: "feeds.yaml", Message: "feeds lose a key"}
	limit := signpost.Finding{Rule: definition.RuleTooLarge, File: "feeds.yaml", Message: "there may be more"}
	left := testkit.Must(writeBaseline(path, []signpost.Finding{known, limit}))(t)
	testkit.Equal(t, "not written", left, []signpost.Finding{limit})
	left, gone, err := withoutBaseline(path, []signpost.Finding{known, limit})
	if err != nil || gone > 0 {
		t.Errorf("%d entries match nothing, %v", gone, err)
	}
	testkit.Equal(t, "still reported", left, []signpost.Finding{limit})
}
