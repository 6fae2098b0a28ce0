package definition_test

import (
	"fmt"
	"strings"
	"testing"

	"signpost/definition"
	"signpost/internal/testkit"
)

// TestWithoutStates checks which versions of definitions are left out beside a manifest: those that it is of, and never those
// of another service.
func TestWithoutStates(t *testing.T) {
	const (
		a = "/a: v1 {}/search {}/a, v2 {}/search {}/a/2"
		b = "/b: v1 {}/search {}/a/b"
		c = "/: v1 {}/c {}/d {}/e https://h.example/x https://h.example/y https://h.example/z"
	)
	for _, test := range []struct{ manifest, definitions, want string }{
		{"saved.json h/search h/a", a + "; " + b, "/a v1"},
		{"saved.json {}/search {}/a", a + "; " + b, "/a v1"},                  // stored unresolved
		{"saved.json h/search h/a h/new", a + "; " + b, "/a v1"},              // newer than the definition
		{"saved.json h/a", "/a: v1 {}/a {}/new {}/newer; " + b, "/a v1"},      // older
		{"saved.json h/a/b", a + "; " + b, "/b v1"},                           // of which nothing is in another service
		{"saved.json h/search", a + "; " + b, ""},                             // of which service is unknown
		{"saved.json h/a h/b", "/a: v1 {}/a {}/1; " + "/b: v1 {}/b {}/2", ""}, // an endpoint moved
		{"saved.json h/search h/a h/a/2 h/a/b", a + "; " + b, ""},             // of several
		{"saved.json h/x h/y h/z", c, ""},                                     // of a third party
		{"saved.json h/c h/d h/x h/y h/z", c, "/ v1"},
		{"saved.json h/a", "[h.example] /a: v1 {}/a; [other.example] /b: v1 {}/a", "/a v1"},
		{"https://h.example/v1/endpoints-manifest h/c h/d", c, "/ v1"},
		{"https://h.example/v1/endpoints-manifest h/c h/d", a, ""},
		{"https://h.example/v1/endpoints-manifest h/c h/1 h/2", c, ""}, // of another host with the same path
		{"https://h.example/v1/endpoints-manifest h/1", "[h.example] " + c, "/ v1"},
		{"https://h.example/v1/endpoints-manifest h/c h/d h/e", "[other.example] " + c, ""},
		{"http://localhost:8080/v1/endpoints-manifest h/c h/d h/e", "[h.example] " + c, "/ v1"}, // with a public host
		{"https://h.example/v2/endpoints-manifest h/c h/d h/e", c, ""},
	} {
		name, urls, _ := strings.Cut(test.manifest, " ")
		hosts := strings.NewReplacer("{}", "https://{{host}}", "h/", "https://h.example/", "other/", "https://other.example/")
		manifest := definition.ParseManifest(name, []byte(`{"endpoints": {`+descriptors(strings.Fields(hosts.Replace(urls)))+`}}`))
		var definitions []*definition.File
		for text := range strings.SplitSeq(test.definitions, "; ") {
			definitions = append(definitions, project(text))
		}
		var out []string
		for i, left := range manifest.WithoutStates(definitions) {
			for _, version := range definitions[i].Versions() {
				if !strings.Contains(fmt.Sprint(left.Versions()), version) {
					out = append(out, left.BasePath+" "+version)
				}
			}
		}
		testkit.Equal(t, test.manifest+" beside "+test.definitions, strings.Join(out, ", "), test.want)
	}
}

// project returns a definition, such as [h.example] /a: v1 {}/x {}/y, v2 {}/z.
func project(text string) *definition.File {
	head, tail, _ := strings.Cut(text, ": ")
	hosts, base, found := strings.Cut(head, " ")
	if !found {
		hosts, base = "[]", head
	}
	var versions []string
	for v := range strings.SplitSeq(tail, ", ") {
		words := strings.Fields(strings.ReplaceAll(v, "{}", "https://{{host}}"))
		versions = append(versions, fmt.Sprintf("%s: {endpoints: {%s}}", words[0], descriptors(words[1:])))
	}
	yaml := fmt.Sprintf("base_path: %s\nversions: {%s}\n", base, strings.Join(versions, ", "))
	if hosts != "[]" {
		yaml += "hosts: " + strings.Replace(strings.Replace(hosts, "[", `["`, 1), "]", `"]`, 1) + "\n"
	}
	return definition.Parse("a.yaml", []byte(yaml))
}

func descriptors(urls []string) string {
	var all []string
	for _, u := range urls {
		all = append(all, fmt.Sprintf(`%q: {"name": "N", "method": "get", "mime_type": "application/json"}`, u))
	}
	return strings.Join(all, ", ")
}
