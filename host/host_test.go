package host_test

import (
	"encoding/json"
	"net/netip"
	"strings"
	"testing"

	"signpost"
	"signpost/host"
)

func TestParse(t *testing.T) {
	label63 := strings.Repeat("a", 63)
	name253 := strings.Repeat(label63+".", 3) + strings.Repeat("b", 61)
	for in, want := range map[string]string{
		"feeds.example.com":       "feeds.example.com",
		"feeds.example.com:8080":  "feeds.example.com",
		"feeds.example.com:":      "feeds.example.com",
		"feeds.example.com:0":     "feeds.example.com",
		"feeds.example.com:65535": "feeds.example.com",
		"FEEDS.Example.COM":       "feeds.example.com",
		"feeds.example.com.":      "feeds.example.com",
		"feeds.example.com.:80":   "feeds.example.com",
		"localhost":               "localhost",
		"a_b.example.com":         "a_b.example.com",
		"r3---sn.example.com":     "r3---sn.example.com",
		"1.example":               "1.example",
		"192.0.2.1":               "192.0.2.1",
		"192.0.2.1:80":            "192.0.2.1",
		"192.0.2.1.":              "192.0.2.1",
		"１９２.0.2.1":               "192.0.2.1",
		"[::1]":                   "[::1]",
		"[::1]:8080":              "[::1]",
		"[::1]:":                  "[::1]",
		"[2001:DB8:0:0::1]":       "[2001:db8::1]",
		"[::ffff:192.0.2.1]":      "[::ffff:192.0.2.1]",
		"bücher.example":          "xn--bcher-kva.example",
		"BÜCHER.example:80":       "xn--bcher-kva.example",
		"xn--bcher-kva.example":   "xn--bcher-kva.example",
		"a_b.bücher.example":      "a_b.xn--bcher-kva.example",
		"r3---sn.bücher.example":  "r3---sn.xn--bcher-kva.example",
		"straße.example":          "xn--strae-oqa.example",
		"日本":                      "xn--wgv71a",
		"example。com":             "example.com",
		"example.com。":            "example.com",
		"ｅｘａｍｐｌｅ.com":             "example.com",
		label63 + ".example":      label63 + ".example",
		name253:                   name253,
		name253 + ".:443":         name253,
	} {
		got, err := host.Parse(in)
		if err != nil || got != want {
			t.Errorf("Parse(%q) = %q, %v, want %q", in, got, err, want)
		}
	}
	for _, in := range []string{
		"", ".", "..", ":80", "[]", "[", "]", "[::1", "::1]", "a..b", ".example.com", "example.com..", "a.\u00ad.b", "\u00ad",
		"1.2.3.256", "127.1", "127.0x1", "0x7f.0x1", "example.0x", "1.2.3.0xABC", "1.2.3.4.5", "0177.0.0.1", "2130706433", "example.123", "1.2.3.4.example.5", "１２７.1",
		"::1", "2001:db8::1", "1:2", "[::1]80", "[::1].", "[::1].:80", "[::1]x:80", "x[::1]", "-", "-a.example", "a-.example", "a.-", "_.-", "[::1%eth0]", "[fe80::1%25eth0]", "[192.0.2.1]", "[v1.a]", "[[::1]]",
		"example.com:80:80", "example.com:-1", "example.com:+1", "example.com:65536", "example.com:http", "example.com: 80", "example.com:８０",
		"https://example.com", "example.com/", "user@example.com", "user:password@example.com", "example.com?a", "example.com#a", `example.com\a`,
		"exam ple.com", " example.com", "example.com ", "example.com\t", "example.com\r\nEvil: 1", "example\x00.com", "a,b", "a;b", `a"b`, "a'b", "a<b", "a%41b", "%", "{{host}}", "a*b", "*",
		"example.com／evil", "example.com：80", "user＠example.com", "example．com？a", "a％41b", "℀.example", "exa\u200bmple\u3000.com", "\xff.example", "\ufffd.example", "xn--a.bücher", "\u202eexample",
		name253 + "b", strings.Repeat("ü.", 127) + "a", strings.Repeat("a", 64) + ".example", strings.Repeat("a.", 127) + "a", strings.Repeat("a", 300), strings.Repeat("ü", 300), strings.Repeat("a", 1<<20), strings.Repeat("ü", 1<<20), strings.Repeat("@", 1<<20),
	} {
		got, err := host.Parse(in)
		if err == nil {
			t.Errorf("Parse(%.80q) = %q, want an error", in, got)
			continue
		}
		if got != "" {
			t.Errorf("Parse(%.80q) = %q beside error %v", in, got, err)
		}
		if s := err.Error(); !strings.Contains(s, ": ") || strings.HasSuffix(s, ".") || strings.Contains(s, "\n") {
			t.Errorf("error %q does not say what to do", s)
		}
		if len(err.Error()) > 12_000 {
			t.Errorf("Parse(%.80q) has an error of %d bytes", in, len(err.Error()))
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

func TestParseName(t *testing.T) {
	for in, want := range map[string]string{"Feeds.Example.com.": "feeds.example.com", "[::1]": "[::1]", "bücher.example": "xn--bcher-kva.example"} {
		if got, err := host.ParseName(in); err != nil || got != want {
			t.Errorf("ParseName(%q) = %q, %v", in, got, err)
		}
	}
	for _, in := range []string{"", "a b", "localhost:3000", "a:", "[::1]:80"} {
		if got, err := host.ParseName(in); err == nil || got != "" {
			t.Errorf("ParseName(%q) = %q, %v", in, got, err)
		}
	}
	if _, err := host.ParseName("localhost:3000"); !strings.Contains(err.Error(), "https://{{host}}:3000/") {
		t.Errorf("the error does not say where the port goes: %v", err)
	}
}

func TestEqual(t *testing.T) {
	for _, test := range []struct {
		a, b string
		want bool
	}{
		{"a.example", "A.Example.:443", true},
		{"bücher.example", "xn--bcher-kva.example", true},
		{"[::1]", "[0:0::1]:80", true},
		{"a.example", "b.example", false},
		{"192.0.2.1", "[::ffff:192.0.2.1]", false},
		{"", "", false},
		{"a b", "a b", false}, // not a host
		{"a", "a b", false},
	} {
		if got := host.Equal(test.a, test.b); got != test.want {
			t.Errorf("Equal(%q, %q) = %v", test.a, test.b, got)
		}
	}
}

func TestKindsOfHosts(t *testing.T) {
	for _, test := range []struct {
		in                  string
		ip, loopback, local bool
	}{
		{"127.0.0.1", true, true, true},
		{"127.8.0.1:80", true, true, true},
		{"[::1]:80", true, true, true},
		{"[::ffff:127.0.0.1]", true, true, true},
		{"192.0.2.1", true, false, false},
		{"[2001:db8::1]", true, false, false},
		{"10.0.0.1", true, false, true},
		{"[::ffff:10.0.0.1]", true, false, true},
		{"169.254.1.1", true, false, true},
		{"0.0.0.0", true, false, true},
		{"[fd00::1]", true, false, true},
		{"localhost", false, true, true},
		{"a.LOCALHOST.", false, true, true},
		{"nas.local", false, false, true},
		{"localhost.example", false, false, false},
		{"notlocalhost", false, false, false},
		{"::1", false, false, false}, // not a host
		{"", false, false, false},
	} {
		if ip, loopback, local := host.IsIP(test.in), host.IsLoopback(test.in), host.IsLocal(test.in); ip != test.ip || loopback != test.loopback || local != test.local {
			t.Errorf("%q: IP %v, loopback %v, local %v", test.in, ip, loopback, local)
		}
	}
}

func TestErrors(t *testing.T) {
	for in, want := range map[string]string{
		"":                       `host is empty: give a name such as feeds.example.com`,
		"a..b":                   `host "a..b" has nothing between two dots: each part between two dots has 1 to 63 characters`,
		strings.Repeat("a", 64):  `host "` + strings.Repeat("a", 64) + `" has a part of 64 characters: each part between two dots has 1 to 63 characters`,
		strings.Repeat("a", 254): `host "` + strings.Repeat("a", 254) + `" has 254 characters: at most 253 are allowed`,
		strings.Repeat("a", 4*253+len(":65535")+1): "host is too long: 1019 bytes, but a host name has at most 253 characters",
		"a-.example": `host "a-.example" has a hyphen at the beginning or end of "a-": put a letter or a digit there`,
		"1.2.3.256":  `host "1.2.3.256" is not an IPv4 address: write four numbers from 0 to 255, such as 192.0.2.1`,
		"a b":        `host "a b" contains ' ': use letters, digits, "-", "_" and "."`,
	} {
		if _, err := host.Parse(in); err == nil || err.Error() != want {
			t.Errorf("Parse(%.80q): %v", in, err)
		}
	}
	longest := strings.Repeat("a", 4*253+len(":65535"))
	if _, err := host.Parse(longest); err == nil || !strings.HasPrefix(err.Error(), `host "aaa`) {
		t.Errorf("an authority that could be a host: %v", err)
	}
}
