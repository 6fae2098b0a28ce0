package cli

import (
	"net/http"
	"path/filepath"
	"strings"
	"testing"

	"signpost/internal/registrytest"
	"signpost/internal/testkit"
)

const (
	filmsText = "base_path: /films\nversions: {v1: {endpoints: {'https://{{host}}/films/v1': {name: Films, method: get, mime_type: application/json}}}}\n"
	sportText = "base_path: /sport\nversions: {v1: {endpoints: {'https://{{host}}/sport/v1': {name: Sport, method: get, mime_type: application/json}}}}\n"
)

// TestRegistrySource passes an artifact in a real registry to every command that reads sources.
func TestRegistrySource(t *testing.T) {
	registry := registrytest.Start(t)
	t.Setenv("DOCKER_CONFIG", registry.Config)
	dir := t.TempDir()
	for name, text := range map[string]string{
		"services/films.yaml": filmsText,
		"services/sport.yaml": sportText,
		"error.yaml":          strings.Replace(filmsText, "get", "GET", 1),
		"warning.yaml":        strings.Replace(filmsText, "https", "http", 1),
	} {
		testkit.Write(t, filepath.Join(dir, name), text)
	}
	target := "oci://" + registry.Host + "/team/feeds:prod"
	for _, test := range []struct {
		args string
		code int
		want string // in the output
	}{
		{"push DIR/services TARGET", exitFine, "pushed 2 files to " + target},
		{"push DIR/error.yaml TARGET", exitFindings, "not pushed: "},
		{"push --strict DIR/warning.yaml TARGET", exitFindings, "not pushed: "},
		{"push DIR/warning.yaml DIR/error.yaml", exitUsage, "is not a push target"},
		{"lint TARGET", exitFine, "2 files: 0 errors, 0 warnings"},
		{"lint TARGET/films.yaml", exitFine, "1 file: 0 errors, 0 warnings"},
		{"match TARGET/films.yaml https://feeds.example.com/sport/v1 --registered TARGET/sport.yaml", exitFine, target + "/sport.yaml"},
		{"render TARGET", exitUsage, "holds 2 definitions: name one of them, such as " + target + "/films.yaml"},
		{"render TARGET/films.yaml --host feeds.example.com", exitFine, `"https://feeds.example.com/films/v1": {`},
		{"render TARGET --all DIR --host feeds.example.com", exitFine, "feeds.example.com/sport/v1/endpoints-manifest"},
		{"match TARGET https://feeds.example.com/sport/v1/5", exitFine, target + "/sport.yaml"},
		{"diff TARGET TARGET", exitFine, "no changes"},
		{"diff TARGET TARGET/sport.yaml", exitFindings, "[service-removed]"},
		{"diff TARGETx TARGET", exitFailure, "the registry has no such repository, tag or digest"}, // may be misspelt, so it is not empty
		{"lint TARGETx", exitFailure, `signpost: read definitions "` + target + `x": the registry has no such repository, tag or digest`},
		{"lint TARGET/news.yaml", exitFailure, `the artifact has no definition "news.yaml"`},
		{"studio TARGETx", exitFailure, "the registry has no such repository, tag or digest"},
		{"push TARGET TARGET/films.yaml", exitUsage, "names a file of an artifact"},
		{"push TARGET/films.yaml oci://" + registry.Host + "/team/films:prod", exitFine, "pushed 1 file to "},
	} {
		args := strings.NewReplacer("TARGET", target, "DIR", dir).Replace(test.args) + " --ca-file " + registry.CAFile
		out, errOut, code := runCLI("", strings.Fields(args)...)
		if code != test.code || !strings.Contains(out+errOut, test.want) {
			t.Errorf("%s: exit %d, want %d with %q:\n%s%s", test.args, code, test.code, test.want, out, errOut)
		}
	}
	for _, test := range []struct {
		status int
		want   string
	}{
		{http.StatusUnauthorized, "the registry denies access (401 Unauthorized): docker login " + registry.Host + " stores credentials"},
		{http.StatusNotFound, "the registry has no such repository, tag or digest"},
	} {
		registry.Fail(func(w http.ResponseWriter, _ *http.Request) bool { w.WriteHeader(test.status); return true })
		out, errOut, code := runCLI("", "match", target, "https://feeds.example.com/sport/v1", "--ca-file", registry.CAFile)
		if want := `signpost: read definitions "` + target + `": ` + test.want + "\n"; code != exitFailure || out != "" || errOut != want {
			t.Errorf("%d: exit %d, %q, want %q", test.status, code, errOut, want)
		}
	}
}
