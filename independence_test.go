package signpost_test

import (
	"reflect"
	"testing"

	"github.com/google/go-cmp/cmp"

	"signpost"
	"signpost/internal/testkit"
)

// These tests cover the independence rule of section 2.5. Each test keeps a result, overwrites everything reachable
// from elsewhere, and checks that the result has not changed. The values come from testkit.FullEndpoint, which sets
// every field, so fields that are added later are covered as well.

func fullFeature() signpost.Feature {
	return signpost.Feature{
		Name: "kids", URLSuffix: "/kids", URLSuffixes: []string{"/family"},
		ContextObj: []signpost.ContextItem{{Key: "age", Type: signpost.ContextCtx, Required: true, Mapper: "years", Extra: `"x":1`}},
	}
}

func fullInput() signpost.ModifierInput {
	return signpost.ModifierInput{
		ID: "sort", Name: "Sort order", Key: "sort", Label: "Sort by", DefaultValue: "newest", Placeholder: "choose",
		Options: []signpost.Option{{Value: "newest", Label: "Newest", Extra: `"x":1`}},
	}
}

func TestSpec2_5FullValuesAreFull(t *testing.T) {
	for _, value := range []any{testkit.FullEndpoint("https://{{host}}/kids"), fullFeature(), fullInput()} {
		wantNoZero(t, reflect.ValueOf(value), reflect.TypeOf(value).Name())
	}
}

// Neither a change of the input nor one of another endpoint shows, although the endpoints share their lists, which have spare
// capacity, and get items from the same features.
func TestSpec2_5InputsStayApart(t *testing.T) {
	inputs := func() ([]signpost.Endpoint, []signpost.Feature) {
		e := testkit.FullEndpoint("https://{{host}}/kids")
		e.ContextObj = append(make([]signpost.ContextItem, 0, 8), e.ContextObj...)
		endpoints := []signpost.Endpoint{e, e, e}
		endpoints[1].URL, endpoints[2].URL = "https://{{host}}/more/kids", "https://api.example.com/kids"
		return endpoints, []signpost.Feature{fullFeature(), signpost.Authentication(), signpost.GeoRestriction()}
	}
	endpoints, features := inputs()
	m, template := signpost.NewManifest(endpoints...), compile(t, signpost.Manifest{Endpoints: endpoints}, features...)
	look := func() []any {
		return []any{m, template.Manifest(), rendered(t, template, "other.example.com")}
	}
	want := look()
	wantEndpoints, wantFeatures := inputs()
	testkit.Equal(t, "the input", []any{endpoints, features}, []any{wantEndpoints, wantFeatures})
	scribble(reflect.ValueOf(&endpoints))
	scribble(reflect.ValueOf(&features))
	testkit.Equal(t, "results after a change of the input", look(), want)
	for _, m := range []signpost.Manifest{m, template.Manifest()} {
		second := m.Endpoints[1].Clone()
		scribble(reflect.ValueOf(&m.Endpoints[0]))
		testkit.Equal(t, "the second endpoint after a change of the first", m.Endpoints[1], second)
	}
}

func TestSpec2_5OutputsStayApart(t *testing.T) {
	template := compile(t, signpost.NewManifest(testkit.FullEndpoint("https://{{host}}/kids"), testkit.FullEndpoint("https://api.example.com/kids")), fullFeature())
	hostless := compile(t, signpost.NewManifest(testkit.FullEndpoint("https://api.example.com/kids")))
	in := fullInput()
	m := signpost.NewManifest(testkit.FullEndpoint("https://{{host}}/kids"))
	bad := signpost.NewManifest(signpost.Endpoint{URL: "https://{{host}}/kids", Modifiers: []signpost.Modifier{{}}})
	results := map[string]func() any{
		"Template.Manifest":              func() any { return new(template.Manifest()) },
		"Template.Endpoint":              func() any { e, _ := template.Endpoint("https://{{host}}/kids"); return &e },
		"Template.Render":                func() any { return new(rendered(t, template, "other.example.com")) },
		"Manifest.ForHost":               func() any { return new(testkit.Must(m.ForHost("other.example.com"))(t)) },
		"Template.Render without a host": func() any { return new(rendered(t, hostless, "api.example.com")) },
		"NewManifest":                    func() any { return new(signpost.NewManifest(m.Endpoints...)) },
		"Validate":                       func() any { return new(bad.Validate()) },
		"Text":                           func() any { return new(signpost.Text(in)) },
		"Number":                         func() any { return new(signpost.Number(in)) },
		"Boolean":                        func() any { return new(signpost.Boolean(in)) },
		"Select":                         func() any { return new(signpost.Select(in)) },
		"Authentication":                 func() any { return new(signpost.Authentication()) },
		"GeoRestriction":                 func() any { return new(signpost.GeoRestriction()) },
	}
	for name, result := range results {
		first, second, want := result(), result(), result()
		scribble(reflect.ValueOf(first))
		if cmp.Equal(first, want) {
			t.Errorf("%s: nothing was scribbled over", name)
		}
		testkit.Equal(t, name+": another result after a change of one", second, want)
		testkit.Equal(t, name+": the next result after a change of one", result(), want)
	}
}

func rendered(t testing.TB, template *signpost.Template, host string) []byte {
	t.Helper()
	return testkit.Must(template.Render(host))(t)
}

// scribble overwrites every value reachable from v, including the spare capacity of slices, where somebody else's
// append would write.
func scribble(v reflect.Value) {
	switch v.Kind() {
	case reflect.Pointer:
		if !v.IsNil() {
			scribble(v.Elem())
		}
	case reflect.Struct:
		for i := range v.NumField() {
			scribble(v.Field(i))
		}
	case reflect.Slice:
		all := v.Slice(0, v.Cap())
		for i := range all.Len() {
			scribble(all.Index(i))
		}
	case reflect.String:
		v.SetString("scribbled")
	case reflect.Bool:
		v.SetBool(!v.Bool())
	case reflect.Int:
		v.SetInt(-1)
	case reflect.Uint8:
		v.SetUint('#')
	case reflect.Interface:
		if value := reflect.ValueOf("scribbled"); value.Type().AssignableTo(v.Type()) {
			v.Set(value)
		} else {
			v.Set(reflect.ValueOf(signpost.Field("scribbled")))
		}
	default:
		panic("scribble cannot change a " + v.Kind().String() + " yet")
	}
}

// wantNoZero fails if a field below v is not set.
func wantNoZero(t *testing.T, v reflect.Value, path string) {
	t.Helper()
	if v.IsZero() {
		t.Errorf("%s is not set: give it a value, so that the tests here cover it", path)
	}
	switch v.Kind() {
	case reflect.Struct:
		for i := range v.NumField() {
			wantNoZero(t, v.Field(i), path+"."+v.Type().Field(i).Name)
		}
	case reflect.Slice:
		for i := range v.Len() {
			wantNoZero(t, v.Index(i), path+"[]")
		}
	}
}
