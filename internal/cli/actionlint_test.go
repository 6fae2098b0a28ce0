package cli

import (
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"go.yaml.in/yaml/v4"

	"signpost/internal/testkit"
)

// TestActionlint checks action.yml and every GitHub workflow in the docs with actionlint. Since actionlint only reads
// workflows, the steps of the action are wrapped in one.
func TestActionlint(t *testing.T) {
	t.Parallel()
	project := t.TempDir()
	workflows := filepath.Join(project, ".github", "workflows")
	write := func(name, text string) { testkit.Write(t, filepath.Join(workflows, name), text) }
	git(t, project, "init", "-q")
	action := testkit.Read(t, filepath.Join(repo, "action.yml"))
	testkit.Write(t, filepath.Join(project, "action.yml"), action)
	write("uses.yml", "on: pull_request\njobs:\n  feeds:\n    runs-on: ubuntu-latest\n    steps:\n"+
		"      - uses: actions/checkout@v4\n      - uses: ./\n        with: {path: services}\n")
	write("steps.yml", stepsWorkflow(t, action))
	inDocs := 0
	for _, page := range docsPages(t) {
		for i, block := range fence.FindAllStringSubmatch(testkit.Read(t, page), -1) {
			var top map[string]any
			if !strings.HasPrefix(block[1], "yaml") || yaml.Unmarshal([]byte(block[2]), &top) != nil || top["on"] == nil || top["jobs"] == nil {
				continue
			}
			inDocs++
			write(fmt.Sprintf("%s-%d.yml", filepath.Base(page), i), block[2])
		}
	}
	if inDocs == 0 {
		t.Error("no page of the docs has a workflow")
	}
	command := exec.CommandContext(t.Context(), testkit.Program(t, "actionlint"), "-no-color") // all workflows of the project
	command.Dir = project
	if out, err := command.CombinedOutput(); err != nil {
		t.Errorf("actionlint: %v\n%s", err, out)
	}
}

// stepsWorkflow returns a workflow with the inputs and steps of an action.
func stepsWorkflow(t *testing.T, action string) string {
	t.Helper()
	var parsed struct {
		Inputs map[string]map[string]any
		Runs   struct{ Steps []map[string]any }
	}
	testkit.OK(t, yaml.Unmarshal([]byte(action), &parsed))
	for _, input := range parsed.Inputs {
		input["type"] = "string"
		if input["default"] == "${{ github.token }}" {
			delete(input, "default") // allowed in an action, but not in a workflow
		}
	}
	return string(testkit.Must(yaml.Marshal(map[string]any{
		"on":   map[string]any{"workflow_call": map[string]any{"inputs": parsed.Inputs}},
		"jobs": map[string]any{"steps": map[string]any{"runs-on": "ubuntu-latest", "steps": parsed.Runs.Steps}},
	}))(t))
}
