package signpost_test

import (
	"fmt"
	"strings"
	"testing"

	"signpost"
	"signpost/internal/testkit"
)

func TestHosts(t *testing.T) {
	testkit.Cases(t, "testdata/hosts.golden", func(line string) string {
		list, url, _ := strings.Cut(line, ": ")
		hosts, err := signpost.ParseHosts(strings.Fields(list)...)
		if name, fetched := strings.CutPrefix(list, "fetched "); fetched {
			hosts, err = signpost.FetchedFrom(name), nil
		}
		if err != nil {
			return err.Error()
		}
		u := signpost.CutURL(url)
		return fmt.Sprintf("of %q, exact %q: has %v, owns %v", []string(hosts), hosts.Exact(), hosts.Has(u.Hostname()), hosts.Owns(u))
	})
}
