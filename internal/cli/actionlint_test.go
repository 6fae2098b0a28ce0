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
	write := func(path, text string) string {
		t.Helper()
		writeFile(t, path, text)
		return path
	}
	if out, err := exec.Command("git", "init", "-q", project).CombinedOutput(); err != nil {
		t.Fatalf("git init: %v\n%s", err, out)
	}
	action := readFile(t, filepath.Join(repo, "action.yml"))
	write(filepath.Join(project, "action.yml"), string(action))
	files := []string{
		write(filepath.Join(workflows, "uses.yml"), "on: pull_request\njobs:\n  feeds:\n    runs-on: ubuntu-latest\n    steps:\n"+
			"      - uses: actions/checkout@v4\n      - uses: ./\n        with: {path: services}\n"),
		write(filepath.Join(workflows, "steps.yml"), stepsWorkflow(t, action)),
	}
	inDocs := 0
	for _, page := range docsPages(t) {
		text := readFile(t, page)
		for i, block := range fence.FindAllStringSubmatch(text, -1) {
			var top map[string]any
			if !strings.HasPrefix(block[1], "yaml") || yaml.Unmarshal([]byte(block[2]), &top) != nil || top["on"] == nil || top["jobs"] == nil {
				continue
			}
			inDocs++
			name := fmt.Sprintf("%s-%d.yml", strings.TrimSuffix(filepath.Base(page), ".md"), i)
			files = append(files, write(filepath.Join(workflows, name), block[2]))
		}
	}
	if inDocs == 0 {
		t.Error("no page of the docs has a workflow")
	}
	command := exec.CommandContext(t.Context(), testkit.Program(t, "actionlint"), append([]string{"-no-color"}, files...)...)
	if out, err := command.CombinedOutput(); err != nil {
		t.Errorf("actionlint: %v\n%s", err, strings.ReplaceAll(string(out), project+"/", ""))
	}
}

// stepsWorkflow returns a workflow with the inputs and steps of an action.
func stepsWorkflow(t *testing.T, action string) string {
	t.Helper()
	var parsed struct {
		Inputs map[string]map[string]any
		Runs   struct{ Steps []map[string]any }
	}
	if err := yaml.Unmarshal([]byte(action), &parsed); err != nil {
		t.Fatal(err)
	}
	for _, input := range parsed.Inputs {
		input["type"] = "string"
		if input["default"] == "${{ github.token }}" {
			delete(input, "default") // allowed in an action, but not in a workflow
		}
	}
	text, err := yaml.Marshal(map[string]any{
		"on": map[string]any{"workflow_call": map[string]any{"inputs": parsed.Inputs}},
		"jobs": map[string]any{"steps": map[string]any{
			"runs-on": "ubuntu-latest",
			"steps":   parsed.Runs.Steps,
		}},
	})
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
