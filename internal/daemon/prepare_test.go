package daemon

import (
	"testing"

	"signpost"
	"signpost/server"
)

// TestPlausibleHost checks that a name that requests may have is preferred.
func TestPlausibleHost(t *testing.T) {
	for want, opts := range map[string]server.Options{
		"feeds.example.com":   {},
		"public.example.com":  {PublicHost: "public.example.com", AllowedHosts: []string{"a.example.com"}},
		"a.example.com":       {AllowedHosts: []string{"127.0.0.1", "[::1]", "A.example.com"}},
		"feeds.b.example.com": {PublicHost: "192.0.2.1", AllowedHosts: []string{"*.b.example.com"}},
	} {
		if got := plausibleHost(opts); got != want {
			t.Errorf("%+v: %s, not %s", opts, got, want)
		}
	}
}

// TestFirstFindings checks that errors come first.
func TestFirstFindings(t *testing.T) {
	many := make([]signpost.Finding, 3*MaxFindings)
	for i := range many {
		many[i] = signpost.Finding{Line: i, Severity: signpost.SeverityWarning}
	}
	many[len(many)-1].Severity = signpost.SeverityError
	shown, more := FirstFindings(many)
	if len(shown) != MaxFindings || more != 2*MaxFindings || shown[0].Severity != signpost.SeverityError || shown[1].Line != 0 {
		t.Errorf("%d findings are shown, %d are not: %v", len(shown), more, shown)
	}
	if shown, more := FirstFindings(many[:3]); len(shown) != 3 || more != 0 {
		t.Errorf("%d of three findings are shown", len(shown))
	}
}
