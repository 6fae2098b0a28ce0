package routes_test

import (
	"testing"

	"signpost"
	"signpost/internal/routes"
	"signpost/internal/testkit"
)

func TestValidVersion(t *testing.T) {
	for _, name := range []string{"v1", "v2", "v9", "v10", "v20250101", "v0"} {
		if !routes.ValidVersion(name) {
			t.Errorf("%q is not valid", name)
		}
	}
	for _, name := range []string{"", "v", "1", "V1", "v1.0", "v-1", "v+1", "v1a", "va1", "v1a1", "v01", "v0001", "v00", "vv1", " v1", "v1 ", "v1\n", "v1/", "v١", "latest"} {
		if routes.ValidVersion(name) {
			t.Errorf("%q is valid", name)
		}
	}
}

func TestOtherVersion(t *testing.T) {
	testkit.Cases(t, "testdata/versions.golden", func(url string) string {
		return routes.OtherVersion(signpost.CutURL(url), "v1", map[string]bool{"v1": true, "v2": true, "v10": true})
	})
	if got := routes.OtherVersion(signpost.CutURL("https://{{host}}/v2/feeds"), "v1", map[string]bool{}); got != "" {
		t.Errorf("without declared versions: got %q", got)
	}
}

func TestPath(t *testing.T) {
	for _, test := range []struct{ base, version, path string }{
		{"/", "v1", "/v1/endpoints-manifest"},
		{"/feeds", "v2", "/feeds/v2/endpoints-manifest"},
		{"/a/b", "v10", "/a/b/v10/endpoints-manifest"},
	} {
		if got := routes.Path(test.base, test.version); got != test.path {
			t.Errorf("Path(%q, %q) = %q", test.base, test.version, got)
		}
		for _, path := range []string{test.path, test.path + "/"} {
			if base, version, ok := routes.Parse(path); base != test.base || version != test.version || !ok {
				t.Errorf("Parse(%q) = %q, %q, %v", path, base, version, ok)
			}
		}
	}
	for _, path := range []string{"", "/", "/endpoints-manifest", "v1/endpoints-manifest", "/v01/endpoints-manifest", "/latest/endpoints-manifest", "/v1/manifest",
		"/v1/endpoints-manifest/x", "/v1//endpoints-manifest", "/v1"} {
		if base, version, ok := routes.Parse(path); ok || base != "" || version != "" {
			t.Errorf("Parse(%q) = %q, %q, %v", path, base, version, ok)
		}
	}
}

func TestCleanBasePath(t *testing.T) {
	for in, want := range map[string]string{"": "/", "/": "/", "/feeds": "/feeds", "/feeds/": "/feeds", "/a/b-c._~9": "/a/b-c._~9"} {
		if got, err := routes.CleanBasePath(in); got != want || err != nil {
			t.Errorf("CleanBasePath(%q) = %q, %v", in, got, err)
		}
	}
	for _, in := range []string{"feeds", "//", "/a//b", "/./a", "/a/..", "/a b", "/a%20b", "/ä", "/a?b", "/{base}"} {
		if got, err := routes.CleanBasePath(in); err == nil || got != "" {
			t.Errorf("CleanBasePath(%q) = %q, %v", in, got, err)
		}
	}
}
