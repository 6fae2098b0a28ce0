package httpurl

import (
	"net/url"
	"testing"

	"signpost/internal/testkit"
)

func TestParse(t *testing.T) {
	for path, parse := range map[string]func(string) (*url.URL, error){
		"testdata/addresses.golden": ParseAddress, "testdata/origins.golden": ParseOrigin,
	} {
		testkit.Cases(t, path, func(text string) string {
			u, err := parse(text)
			if err != nil {
				return "error: " + err.Error()
			}
			return u.String()
		})
	}
}
