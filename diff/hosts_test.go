package diff_test

import (
	"slices"
	"strings"
	"testing"

	"signpost"
	"signpost/diff"
	"signpost/internal/testkit"
)

// servedFor returns versions as a manifest for the host, or as a definition if it is empty.
func servedFor(t *testing.T, host string, versions []signpost.Version) signpost.Service {
	t.Helper()
	s := signpost.Service{Host: host, Served: host != "", Versions: cloneVersions(versions)}
	if host != "" {
		for i, v := range s.Versions {
			s.Versions[i].Manifest = testkit.Must(v.Manifest.ForHost(host))(t)
		}
	}
	return s
}

func identities(changes []diff.Change) []string {
	var all []string
	for _, c := range changes {
		if c.Rule != diff.ChangeHost {
			all = append(all, c.Rule+" "+string(c.Level)+" "+c.Fingerprint)
		}
	}
	return all
}

// Neither the verdict nor the fingerprint depends on whether definitions or manifests are compared, for which hosts, and
// whether the version is known.
func TestDiffHosts(t *testing.T) {
	composed := func(versions []signpost.Version) []signpost.Version {
		versions = cloneVersions(versions)
		for _, v := range versions {
			for i, e := range v.Manifest.Endpoints {
				v.Manifest.Endpoints[i].URL = strings.Replace(e.URL, "://{{host}}", "://cdn.{{host}}:8443", 1)
			}
		}
		return versions
	}
	compared := 0
	for _, test := range diffCases(t) {
		if len(test.old) != 1 || len(test.new) != 1 || test.old[0].Name != test.new[0].Name || strings.Contains(test.input, "=https://feeds") {
			continue // a manifest has one version
		}
		for name, edit := range map[string]func([]signpost.Version) []signpost.Version{"": cloneVersions, "composed: ": composed} {
			old, new := edit(test.old), edit(test.new)
			want := identities(diffVersions(old, new))
			for _, hosts := range [][2]string{{"a.example.com", ""}, {"", "a.example.com"}, {"a.example.com", "a.example.com"}, {"a.example.com", "b.example.net"}} {
				before, after := servedFor(t, hosts[0], old), servedFor(t, hosts[1], new)
				got := identities(compare(before, after))
				if !slices.Equal(got, want) {
					t.Errorf("%s%s, served for %q: %q, want %q", name, test.input, hosts, got, want)
				}
				if before.Served && after.Served {
					before.Versions[0].Name, after.Versions[0].Name = "", ""
					testkit.Equal(t, name+test.input+" as files", identities(compare(before, after)), want)
				}
				compared++
			}
		}
	}
	if compared < 100 {
		t.Errorf("only %d comparisons", compared)
	}
}
