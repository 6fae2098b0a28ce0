package host_test

import (
	"encoding/json"
	"fmt"
	"net/netip"
	"strings"
	"testing"

	"signpost"
	"signpost/host"
	"signpost/internal/testkit"
)

func TestParse(t *testing.T) {
	testkit.Cases(t, "testdata/hosts.golden", func(in string) string {
		got, err := host.Parse(in)
		name, nameErr := host.ParseName(in)
		if (got == "") != (err != nil) || (name == "") != (nameErr != nil) {
			t.Errorf("%q becomes %q, %v, or as a name %q, %v", in, got, err, name, nameErr)
		}
		out := got
		if err != nil {
			out = "error: " + err.Error()
		}
		for i, is := range []func(string) bool{host.IsIP, host.IsLoopback, host.IsLocal} {
			if is(in) {
				out += []string{", an IP address", ", loopback", ", local"}[i]
			}
		}
		if name != got {
			out += fmt.Sprintf("\nas a name: %v", nameErr)
		}
		return out
	})
}

// Names have at most 253 characters, in parts of at most 63. What is longer is rejected before any work.
func TestParseLength(t *testing.T) {
	label63 := strings.Repeat("a", 63)
	name253 := strings.Repeat(label63+".", 3) + strings.Repeat("b", 61)
	for in, want := range map[string]string{label63 + ".example": label63 + ".example", name253: name253, name253 + ".:443": name253} {
		if got, err := host.Parse(in); err != nil || got != want {
			t.Errorf("Parse(%q) = %q, %v", in, got, err)
		}
	}
	const longest = 4*253 + len(":65535")
	for in, want := range map[string]string{
		label63 + "a.example":           `a.example" has a part of 64 characters: each part between two dots has 1 to 63 characters`,
		name253 + "b":                   `host "` + name253 + `b" has 254 characters: at most 253 are allowed`,
		strings.Repeat("ü.", 127) + "a": "at most 253 are allowed",
		strings.Repeat("a.", 127) + "a": "has 255 characters: at most 253 are allowed",
		strings.Repeat("a", longest):    "has 1018 characters: at most 253 are allowed",
		strings.Repeat("a", longest+1):  "host is too long: 1019 bytes, but a host name has at most 253 characters",
		strings.Repeat("ü", 300):        `host "`,
		strings.Repeat("ü", 1<<20):      "host is too long",
		strings.Repeat("@", 1<<20):      "host is too long",
	} {
		if got, err := host.Parse(in); err == nil || got != "" || !strings.Contains(err.Error(), want) || len(err.Error()) > 12_000 {
			t.Errorf("Parse(%.80q) = %q, %v", in, got, err)
		}
	}
}

func FuzzParse(f *testing.F) {
	for _, seed := range []string{
		"feeds.example.com", "FEEDS.example.com.:8080", "[2001:DB8::1]:443", "[::ffff:192.0.2.1]", "192.0.2.1", "127.1",
		"bücher.example", "xn--bcher-kva", "example。com", "a.\u00ad.b", "℀", "example.com：80", "fe80::1%eth0", "ß", "\u200d", "1.２.3.4",
	} {
		f.Add(seed)
	}
	template, err := signpost.Compile(signpost.Manifest{Endpoints: []signpost.Endpoint{
		{URL: "https://{{host}}/a", Name: "A", Method: signpost.MethodGet, MIMEType: signpost.MIMEJSON},
	}})
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, in string) {
		parsed, err := host.Parse(in)
		if err != nil {
			if parsed != "" {
				t.Fatalf("%q beside error %v", parsed, err)
			}
			return
		}
		letters, inner := "abcdefghijklmnopqrstuvwxyz0123456789-_.", parsed
		if strings.HasPrefix(parsed, "[") {
			letters, inner = "abcdef0123456789:.", strings.TrimSuffix(parsed[1:], "]")
			if addr, err := netip.ParseAddr(inner); err != nil || !addr.Is6() || addr.Zone() != "" {
				t.Fatalf("%q is not an IPv6 address", parsed)
			}
		}
		if inner == "" || strings.Trim(inner, letters) != "" || len(parsed) > 253 {
			t.Fatalf("Parse(%q) = %q, which is not a host", in, parsed)
		}
		for _, again := range []string{parsed, parsed + ":443", strings.ToUpper(parsed)} {
			if got, err := host.Parse(again); err != nil || got != parsed {
				t.Fatalf("Parse(%q) = %q, %v, want %q", again, got, err, parsed)
			}
		}
		body, err := template.Render(parsed)
		if err != nil || !json.Valid(body) {
			t.Fatalf("Render(%q) = %q, %v", parsed, body, err)
		}
	})
}

func TestEqual(t *testing.T) {
	testkit.Cases(t, "testdata/equal.golden", func(pair string) string {
		a, b, _ := strings.Cut(pair, ", ")
		return map[bool]string{true: "equal"}[host.Equal(a, b)]
	})
}
