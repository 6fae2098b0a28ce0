package contextkeys_test

import (
	"bytes"
	"fmt"
	"log/slog"
	"net/http/httptest"
	"strings"
	"testing"

	"signpost"
	"signpost/contextkeys"
	"signpost/internal/testkit"
)

func decode(t testing.TB, text string) contextkeys.Values {
	t.Helper()
	return testkit.Must(contextkeys.Decode(b64(text)))(t)
}

// Callers own what JSON returns.
func TestJSONIsACopy(t *testing.T) {
	v := decode(t, `{"k":[1]}`)
	raw, _ := v.JSON("k")
	raw[1] = '2'
	again, _ := v.JSON("k")
	testkit.Equal(t, "the value", string(again), "[1]")
	v, err := contextkeys.FromRequest(httptest.NewRequest("GET", "/?ctx="+b64(`{"p":{"id": 7}}`), nil),
		[]signpost.ContextItem{{Key: "profile", Type: signpost.ContextCtx, Mapper: "p", Required: true}})
	if raw, ok := v.JSON("profile"); err != nil || !ok || string(raw) != `{"id": 7}` {
		t.Errorf("got %s, %v, %v", raw, ok, err)
	}
}

func TestAllIsSortedAndStops(t *testing.T) {
	if text, ok := (contextkeys.Values{}).Text("k"); ok {
		t.Errorf("the zero value has %q", text)
	}
	var names []string
	for name := range decode(t, `{"c":1,"a":2,"b":3}`).All() {
		if names = append(names, name); len(names) == 2 {
			break
		}
	}
	testkit.Equal(t, "names", names, []string{"a", "b"})
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
	testkit.Equal(t, "printed", fmt.Sprint(v), `context keys ["a" "b"]`)
}
