package diff_test

import (
	"slices"
	"strings"
	"testing"

	"signpost"
	"signpost/diff"
	"signpost/internal/testkit"
)

// servedFor returns versions as a service for the host, or as a definition if it is empty.
func servedFor(t *testing.T, host string, versions []signpost.Version) signpost.Service {
	t.Helper()
	s := signpost.Service{Host: host, Versions: cloneVersions(versions)}
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
		all = append(all, c.Rule+" "+string(c.Level)+" "+c.Written+" "+c.Fingerprint)
	}
	return all
}

// Neither the verdict nor the fingerprint depends on the hosts that manifests were served for.
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
	for _, test := range diffCases(t) {
		for name, edit := range map[string]func([]signpost.Version) []signpost.Version{"": cloneVersions, "composed: ": composed} {
			old, new := edit(test.old), edit(test.new)
			want := identities(diffVersions(old, new))
			for _, hosts := range [][2]string{{"a.example.com", ""}, {"", "a.example.com"}, {"a.example.com", "a.example.com"}, {"a.example.com", "staging.example.net"}} {
				if name != "" && hosts[0] != "" && hosts[1] != "" && strings.Contains(strings.Join(want, " "), "-added") {
					continue // nothing tells that cdn.a.example.com in only one of the manifests is not a third party
				}
				got := identities(diff.Diff(servedFor(t, hosts[0], old), servedFor(t, hosts[1], new)))
				if !slices.Equal(got, want) && !strings.Contains(test.input, "=https://feeds") {
					t.Errorf("%s%s, served for %q: %q, want %q", name, test.input, hosts, got, want)
				}
			}
		}
	}
}

// A third party keeps its URL, even if it contains the host that a manifest was served for, or is that host.
func TestDiffHostsOfThirdParties(t *testing.T) {
	third := v1(feed("https://{{host}}/feeds"), feed("https://cdn.example.com/feeds"), feed("https://example.com/films"))
	for _, hosts := range [][2]string{{"example.com", "staging.example.net"}, {"staging.example.net", "example.com"}} {
		if changes := diff.Diff(servedFor(t, hosts[0], third), servedFor(t, hosts[1], third)); len(changes) > 0 {
			t.Errorf("served for %q: %v", hosts, changes)
		}
	}
	// A definition tells which of its URLs have {{host}}.
	literal := v1(feed("https://a.example.com/feeds"))
	changes := diff.Diff(servedFor(t, "a.example.com", literal), signpost.Service{Versions: v1(named("https://a.example.com/feeds", "New"))})
	if want := diffVersions(literal, v1(named("https://a.example.com/feeds", "New"))); len(changes) != 1 || changes[0].Fingerprint != want[0].Fingerprint {
		t.Errorf("%v, want %v", changes, want)
	}
	// A service without a manifest for the host is compared as it is written.
	misfit := signpost.Service{Versions: v1(feed("https://cdn.{{host}}/feeds"))}
	if changes := diff.Diff(signpost.Service{Host: "192.0.2.1"}, misfit); len(changes) != 1 || changes[0].Rule != diff.ChangeVersionAdded {
		t.Errorf("%v", changes)
	}
}

// A manifest file does not tell its version, but an accepted change is accepted there too.
func TestFingerprintWithoutVersion(t *testing.T) {
	old, new := v1(feed("https://{{host}}/sport/v1/feeds")), v1(formPost("https://{{host}}/sport/v1/feeds"))
	want := identities(diffVersions(old, new))
	unknown := func(host string, versions []signpost.Version) signpost.Service {
		s := servedFor(t, host, versions)
		s.Versions[0].Name = ""
		return s
	}
	testkit.Equal(t, "changes", identities(diff.Diff(unknown("a.example.com", old), unknown("b.example.com", new))), want)
}
