package server

import (
	"strings"
	"testing"

	"signpost/internal/testkit"
)

func TestNegotiation(t *testing.T) {
	testkit.Cases(t, "testdata/negotiation.golden", func(header string) string {
		name, value, _ := strings.Cut(header, ": ")
		lines := strings.Split(value, "|")
		switch {
		case name == "If-None-Match" && matchesTag(lines, "abc"):
			return "304"
		case name == "Accept-Encoding" && acceptsGzip(lines):
			return "gzip"
		}
		return ""
	})
}
