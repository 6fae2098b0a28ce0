package routes_test

import (
	"strings"
	"testing"

	"signpost"
	"signpost/internal/routes"
	"signpost/internal/testkit"
)

func TestValidVersion(t *testing.T) {
	testkit.Cases(t, "testdata/names.golden", func(name string) string {
		if routes.ValidVersion(name) {
			return "valid"
		}
		return ""
	})
}

func TestOtherVersion(t *testing.T) {
	testkit.Cases(t, "testdata/versions.golden", func(url string) string {
		return routes.OtherVersion(signpost.CutURL(url), "v1", map[string]bool{"v1": true, "v2": true, "v10": true})
	})
}

func TestParse(t *testing.T) {
	testkit.Cases(t, "testdata/paths.golden", func(path string) string {
		base, version, ok := routes.Parse(path)
		if !ok {
			return base + version // both are empty
		}
		if back := routes.Path(base, version); back != strings.TrimSuffix(path, "/") {
			t.Errorf("%s becomes %s", path, back)
		}
		return base + " " + version
	})
}

func TestCleanBasePath(t *testing.T) {
	testkit.Cases(t, "testdata/base-paths.golden", func(path string) string {
		base, err := routes.CleanBasePath(path)
		if err != nil {
			return base + err.Error() // base is empty
		}
		return base
	})
}
