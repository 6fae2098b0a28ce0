package client

import (
	"testing"

	"signpost"
)

func TestCheckValue(t *testing.T) {
	number, text := signpost.Number(input("n", nil)).Params[0], signpost.Text(input("q", nil)).Params[0]
	toggle, choice := signpost.Boolean(input("on", nil)).Params[0], signpost.Select(input("sort", nil, "newest", "title")).Params[0]
	for _, test := range []struct {
		param signpost.Param
		value string
		err   string
	}{
		{number, "", ""}, {number, "-1.5e3", ""}, {number, ".5", ""}, {number, "5.", `modifier "n" takes a number, not "5."`}, {number, "x", `modifier "n" takes a number, not "x"`}, {number, "0x10", `modifier "n" takes a number, not "0x10"`},
		{text, "", ""}, {text, "anything", ""},
		{toggle, "false", ""}, {toggle, "0", `modifier "on" takes true or false, not "0"`},
		{choice, "title", ""}, {choice, "", ""}, {choice, "Title", `modifier "sort" takes one of ["newest" "title"], not "Title"`},
	} {
		err := CheckValue(test.param, test.value)
		if got := errorText(err); got != test.err {
			t.Errorf("%s %q: %s, want %s", test.param.Key, test.value, got, test.err)
		}
	}
}

func errorText(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}
