package contextkeys_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"signpost"
	"signpost/contextkeys"
)

func decode(t testing.TB, text string) contextkeys.Values {
	t.Helper()
	v, err := contextkeys.Decode(b64(text))
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func TestLookups(t *testing.T) {
	type row struct {
		json   string // if different from what was sent
		text   string
		is     bool
		on     bool
		isBool bool
		number json.Number
		n      int64
		isInt  bool
	}
	for value, want := range map[string]row{
		`null`:                 {json: "none"},
		`[1, {"a": "b"}]`:      {},
		`{"a": 20}`:            {},
		`""`:                   {is: true},
		`true`:                 {text: "true", is: true, on: true, isBool: true},
		`"true"`:               {text: "true", is: true, on: true, isBool: true},
		`false`:                {text: "false", is: true, isBool: true},
		`20`:                   {text: "20", is: true, number: "20", n: 20, isInt: true},
		`"20"`:                 {text: "20", is: true, number: "20", n: 20, isInt: true},
		`-9223372036854775808`: {text: "-9223372036854775808", is: true, number: "-9223372036854775808", n: -1 << 63, isInt: true},
		`9223372036854775808`:  {text: "9223372036854775808", is: true, number: "9223372036854775808"},
		`20.0`:                 {text: "20.0", is: true, number: "20.0"},
		`-1E+3`:                {text: "-1E+3", is: true, number: "-1E+3"},
		`"020"`:                {text: "020", is: true},
		`" 20"`:                {text: " 20", is: true},
		`"20\n"`:               {text: "20\n", is: true},
		`"-"`:                  {text: "-", is: true},
		`"0x10"`:               {text: "0x10", is: true},
	} {
		t.Run(value, func(t *testing.T) {
			v := decode(t, `{"k":`+value+`}`)
			var got row
			var isNumber bool
			got.text, got.is = v.Text("k")
			got.on, got.isBool = v.Bool("k")
			got.number, isNumber = v.Number("k")
			got.n, got.isInt = v.Int64("k")
			if !got.isInt {
				got.n = 0 // irrelevant if there was an error
			}
			if raw, ok := v.JSON("k"); string(raw) != value && want.json != "none" || ok == (want.json == "none") {
				t.Errorf("JSON gives %s, %v", raw, ok)
			}
			want.json = ""
			if got != want || isNumber != (want.number != "") {
				t.Errorf("got %+v, %v, want %+v", got, isNumber, want)
			}
		})
	}
	v := contextkeys.Values{}
	if _, ok := v.Text("k"); ok {
		t.Error("the zero value has a key")
	}
}

// Callers own what JSON returns.
func TestJSONIsACopy(t *testing.T) {
	v := decode(t, `{"k":[1]}`)
	raw, _ := v.JSON("k")
	raw[1] = '2'
	if again, _ := v.JSON("k"); string(again) != "[1]" {
		t.Errorf("got %s", again)
	}
	v, err := contextkeys.FromRequest(httptest.NewRequest("GET", "/?ctx="+b64(`{"p":{"id": 7}}`), nil),
		[]signpost.ContextItem{{Key: "profile", Type: signpost.ContextCtx, Mapper: "p", Required: true}})
	if raw, ok := v.JSON("profile"); err != nil || !ok || string(raw) != `{"id": 7}` {
		t.Errorf("got %s, %v, %v", raw, ok, err)
	}
}

func TestAllIsSortedAndStops(t *testing.T) {
	var names []string
	for name := range decode(t, `{"c":1,"a":2,"b":3}`).All() {
		if names = append(names, name); len(names) == 2 {
			break
		}
	}
	if !slices.Equal(names, []string{"a", "b"}) {
		t.Errorf("got %q", names)
	}
}

// Values never show up in output, however they are printed or logged.
func TestValuesPrintNamesOnly(t *testing.T) {
	v := decode(t, `{"b":"sesame","a":4711}`)
	var log bytes.Buffer
	slog.New(slog.NewTextHandler(&log, nil)).Info("request", "keys", v)
	slog.New(slog.NewJSONHandler(&log, nil)).Info("request", "keys", v)
	printed := fmt.Sprintf("%v %+v %#v %s %d %q %v", v, v, v, v, v, &v, struct{ V contextkeys.Values }{v}) + log.String()
	if strings.Contains(printed, "sesame") || strings.Contains(printed, "4711") {
		t.Errorf("a value is in %s", printed)
	}
	if got := fmt.Sprint(v); got != `context keys ["a" "b"]` {
		t.Errorf("got %s", got)
	}
}
