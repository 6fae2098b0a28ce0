package definition

import (
	"fmt"
	"testing"
)

// An allow field applies to its endpoint; that of the file applies everywhere.
func TestAllowHoldsWhereItStands(t *testing.T) {
	const endpoint = "      http://%s.example.org/feeds: {name: %s, method: get, mime_type: application/json%s}\n"
	const allow = ", allow: {plain-http: no TLS there}"
	file := func(head, a, b string) string {
		return head + "versions:\n  v1:\n    endpoints:\n" + fmt.Sprintf(endpoint, "a", "A", a) + fmt.Sprintf(endpoint, "b", "B", b)
	}
	for _, test := range []struct {
		name, text string
		want       []int // lines
	}{
		{"nowhere", file("", "", ""), []int{4, 5}},
		{"on the first", file("", allow, ""), []int{5}},
		{"on the second", file("", "", allow), []int{4}},
		{"on both", file("", allow, allow), nil},
		{"on the file", file("allow: {plain-http: no TLS there}\n", "", ""), nil},
	} {
		t.Run(test.name, func(t *testing.T) {
			var got []int
			for _, f := range Lint(Parse("f.yaml", []byte(test.text))) {
				if f.Rule != "plain-http" {
					t.Errorf("unexpected: %v", f)
				}
				got = append(got, f.Line)
			}
			if fmt.Sprint(got) != fmt.Sprint(test.want) {
				t.Errorf("reported on lines %v, not %v, of\n%s", got, test.want, test.text)
			}
		})
	}
}
