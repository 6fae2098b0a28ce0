package deploy

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// instruction is a line of the Dockerfile.
type instruction struct{ name, args string }

// dockerStages parses the Dockerfile into the instructions of each stage, starting with FROM.
func dockerStages(t *testing.T) [][]instruction {
	t.Helper()
	text := strings.ReplaceAll(readFile(t, deployDir, "Dockerfile"), "\\\n", " ")
	var stages [][]instruction
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		name, args, _ := strings.Cut(line, " ")
		if name == "FROM" {
			stages = append(stages, nil)
		}
		last := len(stages) - 1
		if last < 0 {
			t.Fatalf("%s before the first FROM", name)
		}
		stages[last] = append(stages[last], instruction{name, strings.TrimSpace(args)})
	}
	if len(stages) != 2 {
		t.Fatalf("the Dockerfile has %d stages, not a build and an image", len(stages))
	}
	return stages
}

// only returns the arguments of the only instruction with the name.
func only(t *testing.T, stage []instruction, name string) string {
	t.Helper()
	var found []string
	for _, in := range stage {
		if in.name == name {
			found = append(found, in.args)
		}
	}
	if len(found) != 1 {
		t.Fatalf("%d times %s, not once", len(found), name)
	}
	return found[0]
}

func execForm(t *testing.T, args string) []string {
	t.Helper()
	var words []string
	if err := json.Unmarshal([]byte(args), &words); err != nil {
		t.Fatalf("%s is not in exec form, which is all that works without a shell: %v", args, err)
	}
	return words
}

// TestDockerfile checks that the image contains nothing but a binary, certificates and licenses, and does not run as
// root. The image of a release, which has the same configuration, is run by the tests of tools/release.
func TestDockerfile(t *testing.T) {
	stages := dockerStages(t)
	build, image := stages[0], stages[1]

	base, _, _ := strings.Cut(only(t, build, "FROM"), " AS ")
	minimum := regexp.MustCompile(`(?m)^go (\d+\.\d+)`).FindStringSubmatch(readFile(t, repoDir, "go.mod"))[1]
	if base != "golang:"+minimum {
		t.Errorf("the build is on %s, but go.mod says Go %s", base, minimum)
	}
	for _, in := range build {
		if in.name != "COPY" {
			continue
		}
		words := strings.Fields(in.args)
		for _, source := range words[:len(words)-1] {
			if _, err := os.Stat(filepath.Join(repoDir, source)); err != nil {
				t.Errorf("COPY of what is not there: %v", err)
			}
		}
	}

	if got := only(t, image, "FROM"); got != "scratch" {
		t.Errorf("the image is on %s, not on scratch", got)
	}
	var files []string
	for _, in := range image {
		switch in.name {
		case "COPY":
			words := strings.Fields(in.args)
			if len(words) != 3 || words[0] != "--from=build" {
				t.Errorf("COPY %s is not one file from the build", in.args)
			}
			files = append(files, words[len(words)-1])
		case "ADD", "RUN", "VOLUME":
			t.Errorf("%s %s: the image has three files and no shell", in.name, in.args)
		}
	}
	slices.Sort(files)
	if want := []string{"/etc/ssl/certs/ca-certificates.crt", "/signpost", "/usr/share/licenses/signpost/THIRD_PARTY_LICENSES"}; !slices.Equal(files, want) {
		t.Errorf("the image holds %q, not %q", files, want)
	}
	for _, id := range strings.Split(only(t, image, "USER"), ":") {
		if n, err := strconv.Atoi(id); err != nil || n == 0 {
			t.Errorf("user or group %q is not a number other than 0", id)
		}
	}
	if got := execForm(t, only(t, image, "ENTRYPOINT")); !slices.Equal(got, []string{"/signpost"}) {
		t.Errorf("the entrypoint is %q", got)
	}
	args := execForm(t, only(t, image, "CMD"))
	checkServeArguments(t, args)
	var ports []string
	for _, flag := range []string{"--listen", "--admin-listen"} {
		ports = append(ports, strings.TrimPrefix(flagValue(t, args, flag), ":"))
	}
	if got := strings.Fields(only(t, image, "EXPOSE")); !slices.Equal(got, ports) {
		t.Errorf("it exposes %q and listens on %q", got, ports)
	}
}
