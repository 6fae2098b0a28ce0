package source

import (
	"fmt"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"

	"signpost"
	"signpost/internal/testkit"
)

// TestCompare runs the commands in the comment of an archive on its files, and compares what they do. A file is loaded for
// each command; its name may be followed by the address from which it was fetched. F(URL) in it is an endpoint.
func TestCompare(t *testing.T) {
	const path = "testdata/compare.txtar"
	archive := testkit.Must(txtar.ParseFile(path))(t)
	archive.Files = slices.DeleteFunc(archive.Files, func(f txtar.File) bool { return f.Name == "output" })
	files := make(map[string]Document)
	for _, f := range archive.Files {
		name, address, fetched := strings.Cut(f.Name, " ")
		d := Document{Name: name, Text: expandEndpoints(f.Data)}
		if fetched {
			d.Address = testkit.Must(url.Parse(address))(t)
		}
		files[name] = d
	}
	var out strings.Builder
	for line := range strings.Lines(string(archive.Comment)) {
		command, args, _ := strings.Cut(strings.TrimSpace(line), " ")
		if command == "" || command == "#" {
			continue
		}
		fmt.Fprintf(&out, "%s %s\n", command, args)
		runCompare(&out, command, func(text string) (services []*Service) {
			for _, name := range strings.Fields(text) {
				if _, ok := files[name]; !ok {
					t.Fatalf("no file %s", name)
				}
				s := newService(files[name])
				s.Load(nil)
				services = append(services, s)
			}
			return services
		}, args)
	}
	archive.Files = append(archive.Files, txtar.File{Name: "output", Data: []byte(out.String())})
	testkit.Golden(t, path, txtar.Format(archive))
}

var shortEndpoint = regexp.MustCompile(`F\((.*?)\)`)

// expandEndpoints replaces F(URL) with an endpoint, in YAML and JSON.
func expandEndpoints(text []byte) []byte {
	return shortEndpoint.ReplaceAll(text, []byte(`"$1": {"name": "F", "method": "get", "mime_type": "application/json"}`))
}

// runCompare runs one command: load returns services by their names.
func runCompare(out *strings.Builder, command string, load func(string) []*Service, args string) {
	describe := func(services ...*Service) {
		for _, s := range services {
			fmt.Fprintf(out, "  %s %s on %s:", s.Name, s.File.BasePath, s.Host)
			for _, v := range s.Versions {
				fmt.Fprintf(out, " %s", v.Name)
				for _, e := range v.Manifest.Endpoints {
					fmt.Fprintf(out, " %s %s", e.Method, e.URL)
				}
			}
			fmt.Fprintln(out)
		}
	}
	switch command {
	case "errors":
		services := load(args)
		errors, foreign := Errors(services...)
		for _, f := range slices.Concat(errors, foreign) {
			fmt.Fprintf(out, "  %s: %s [%s]\n", f.Severity, f.Message, f.Rule)
		}
		describe(services...)
	}
}

// TestServeFor checks what a service is resolved for, and features that only some services have.
func TestServeFor(t *testing.T) {
	s := newService(Document{Name: "feeds.yaml", Text: expandEndpoints([]byte("features: {kids: {context_obj: [{key: profile, type: ctx}]}}\nversions: {v1: {endpoints: {F(https://{{host}}/v1/media)}}}\n"))})
	for _, test := range []struct {
		features []string
		keys     int
	}{{nil, 0}, {[]string{"kids", "authentication", "unknown"}, 2}, {[]string{}, 0}} {
		if s.Load(test.features); s.Host != signpost.HostPlaceholder || len(s.Versions[0].Manifest.Endpoints[0].ContextObj) != test.keys {
			t.Errorf("%q: %+v", test.features, s.Versions)
		}
	}
	for _, host := range []string{"a.example", "b.example"} {
		s.Load(nil)
		if err := s.ServeFor(host); err != nil || s.Host != host || s.Versions[0].Manifest.Endpoints[0].URL != "https://"+host+"/v1/media" || s.Versions[0].Source != "feeds.yaml" {
			t.Errorf("%s: %+v, %v", host, s, err)
		}
	}
}

func newService(d Document) *Service { return ServiceOf(d, d.Parse()) }
