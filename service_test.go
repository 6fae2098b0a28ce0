package signpost_test

import (
	"testing"

	"signpost"
)

func TestValidVersion(t *testing.T) {
	for _, name := range []string{"v1", "v2", "v9", "v10", "v20250101"} {
		if !signpost.ValidVersion(name) {
			t.Errorf("%q is not valid", name)
		}
	}
	for _, name := range []string{"", "v", "1", "V1", "v1.0", "v-1", "v+1", "v1a", "va1", "v1a1", "vv1", " v1", "v1 ", "v1\n", "v1/", "v١", "latest"} {
		if signpost.ValidVersion(name) {
			t.Errorf("%q is valid", name)
		}
	}
}

func TestForeignVersion(t *testing.T) {
	tests := []struct{ url, want string }{ // in v1 of a service with v1, v2 and v10
		{"https://{{host}}/v1/feeds", ""},
		{"https://{{host}}/v2/feeds", "v2"},
		{"https://{{host}}/v2", "v2"},
		{"https://{{host}}/v10/feeds", "v10"},
		{"https://{{host}}/api/v2/feeds", "v2"},
		{"https://{{host}}:8443/v2/feeds", "v2"},
		{"https://{{host}}/v2?a=b", "v2"},
		{"https://{{host}}/v2#a", "v2"},
		{"https://{{host}}/v1/compare/v2", "v2"},
		{"https://{{host}}/feeds", ""},
		{"https://{{host}}", ""},
		{"https://{{host}}/v3/feeds", ""}, // no version of this service
		{"https://{{host}}/v22/feeds", ""},
		{"https://{{host}}/v2-beta/feeds", ""},
		{"https://{{host}}/V2/feeds", ""},
		{"https://{{host}}/{{v2}}/feeds", ""},
		{"https://{{host}}/feeds?next=/v2/feeds", ""},
		{"https://{{host}}/feeds#/v2/feeds", ""},
		{"https://v2.{{host}}/feeds", ""},              // not a path segment
		{"https://partner.example.net/v2/catalog", ""}, // somebody else's version
		{"/v2/feeds", ""},                              // not a URL: the rule url says so
		{"", ""},
	}
	for _, test := range tests {
		if got := signpost.ForeignVersion(test.url, "v1", []string{"v1", "v2", "v10"}); got != test.want {
			t.Errorf("%s: got %q, want %q", test.url, got, test.want)
		}
	}
	if got := signpost.ForeignVersion("https://{{host}}/v2/feeds", "v1", nil); got != "" {
		t.Errorf("without declared versions: got %q", got)
	}
}
