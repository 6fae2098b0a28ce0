package fields

import (
	"strings"
	"testing"
)

func TestAt(t *testing.T) {
	endpoint := []string{"versions", "v1", "endpoints", "https://{{host}}/v1/feeds"}
	for _, test := range []struct {
		path []string
		want string // the fields of what can be there, or its values
	}{
		{nil, "$schema service base_path hosts enable context_keys features modifiers versions allow"},
		{[]string{"versions", "latest"}, ""},
		{endpoint, "name method mime_type context_obj modifiers allow deprecated"},
		{append(endpoint, "modifiers", ""), "kind id name key label defaultValue placeholder options deprecated; deprecated id name params"},
		{append(endpoint, "modifiers", "", "params", "", "schema", "type"), "string number boolean"},
		{[]string{"features", "kids", "url_suffix", ""}, ""},
		{[]string{"service", "x"}, ""},
	} {
		var got []string
		for _, v := range Definition.At(test.path...) {
			names := append([]string{}, v.Values...)
			for _, f := range v.Fields {
				names = append(names, f.Name)
			}
			got = append(got, strings.Join(names, " "))
		}
		if text := strings.Join(got, "; "); text != test.want {
			t.Errorf("%v: got %q, want %q", test.path, text, test.want)
		}
	}
}
