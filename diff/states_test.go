package diff_test

import (
	"fmt"
	"strings"
	"testing"

	"signpost"
	"signpost/diff"
	"signpost/internal/testkit"
)

// stateCase reads an input of testdata/states.golden: the old and the new state of a service and, after each "beside", what else is
// registered. A state is a list of versions, as in changes.golden. Before them may stand "on" and the hosts that the
// definition declares, or "manifest" and the host of its address, if it was fetched. The first word can be "export", or "for"
// and a host that is given.
func stateCase(input string) (old, new signpost.Service, options diff.Options) {
	parts := strings.Split(input, " beside ")
	before, after, _ := strings.Cut(parts[0], " => ")
	for i, beside := range parts[1:] {
		s := state(beside)
		for j := range s.Versions {
			s.Versions[j].Hosts, s.Versions[j].Source = s.Hosts, []string{"other.yaml", "third.yaml"}[i]
		}
		options.Registered = append(options.Registered, s.Versions...)
	}
	before, options.Export = strings.CutPrefix(before, "export ")
	if rest, isGiven := strings.CutPrefix(before, "for "); isGiven {
		options.Host, before, _ = strings.Cut(rest, " ")
	}
	old, new = state(before), state(after)
	for i := range old.Versions {
		old.Versions[i].Source = "OLD"
	}
	for i := range new.Versions {
		new.Versions[i].Source = "NEW"
	}
	return old, new, options
}

func state(text string) signpost.Service {
	s := signpost.Service{BasePath: "/"}
	kind, rest, _ := strings.Cut(text, ";")
	words := strings.Fields(kind)
	switch words[0] {
	case "on":
		s.Hosts, text = words[1:], rest
	case "manifest":
		s.Served, text = true, rest
		if len(words) > 1 {
			s.Host = words[1]
		}
	}
	for _, v := range versions(text) {
		if v.Name == "v0" {
			v.Name = "" // that of a file is not known
		}
		s.Versions = append(s.Versions, v)
	}
	return s
}

// What is compared depends on hosts, and on whether a side is a manifest.
func TestStates(t *testing.T) {
	testkit.Cases(t, "testdata/states.golden", func(input string) string {
		old, new, options := stateCase(input)
		var out strings.Builder
		options.Note = func(note string) { fmt.Fprintf(&out, "note: %s\n", note) }
		changes, err := options.Diff(old, new)
		if err != nil {
			fmt.Fprintf(&out, "error: %v\n", err)
		}
		for _, c := range changes {
			about := strings.Join(strings.Fields(c.Version+" "+c.Endpoint), " ")
			if c.Host != "" {
				about += " @" + c.Host
			}
			fmt.Fprintf(&out, "%s %s: %s: %s\n", c.Level, c.Rule, about, c.Message)
		}
		return out.String()
	})
}

// What an export does not say is not compared.
func TestExportOfSomeFields(t *testing.T) {
	full := testkit.FullEndpoint("https://{{host}}/v1/feeds")
	for name, exported := range map[string]signpost.Endpoint{
		"nothing":      {},
		"the method":   {Method: full.Method},
		"context keys": {ContextObj: []signpost.ContextItem{{Key: full.ContextObj[0].Key, Required: true, Mapper: full.ContextObj[0].Mapper}}},
	} {
		exported.URL = "https://a.example.com/v1/feeds"
		old := signpost.Service{Served: true, Versions: []signpost.Version{{Manifest: signpost.NewManifest(exported)}}}
		new := signpost.Service{Hosts: signpost.Hosts{"a.example.com"}, Versions: v1(full)}
		changes, err := diff.Options{Export: true}.Diff(old, new)
		if err != nil || len(changes) > 0 {
			t.Errorf("an export that says %s: %+v, %v", name, changes, err)
		}
	}
}
