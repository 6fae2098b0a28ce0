package cli

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"signpost/internal/registrytest"
	"signpost/internal/testkit"
)

const (
	filmsText = "base_path: /films\nversions: {v1: {endpoints: {'https://{{host}}/films/v1': {name: Films, method: get, mime_type: application/json}}}}\n"
	sportText = "base_path: /sport\nversions: {v1: {endpoints: {'https://{{host}}/sport/v1': {name: Sport, method: get, mime_type: application/json}}}}\n"
)

// TestRegistrySource passes an artifact in a real registry to every command that reads sources. Package source tests how a
// registry can fail.
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
	names := []string{"TARGET", "oci://" + registry.Host + "/team/feeds:prod", "HOST", registry.Host, "DIR", dir}
	fillIn := strings.NewReplacer(names...)
	slices.Reverse(names)
	takeOut := strings.NewReplacer(names...)
	testkit.Cases(t, filepath.Join("testdata", "registry.golden"), func(line string) string {
		out, errOut, code := runCLI(strings.Fields(fillIn.Replace(line) + " --ca-file " + registry.CAFile)...)
		return fmt.Sprintf("exit status %d\n%s", code, takeOut.Replace(out+errOut))
	})
}
