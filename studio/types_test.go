package studio_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// npmFolder is where make npm installs what the tests of the page need.
const npmFolder = "../bin/npm/node_modules"

// npmFile returns a file of an npm package. Without it, the test is skipped with a message.
func npmFile(t *testing.T, name string) string {
	t.Helper()
	path := filepath.Join(npmFolder, name)
	if _, err := os.Stat(path); err != nil {
		t.Skipf("THIS TEST DID NOT RUN: %s is missing. Run make npm, or make test, which does.", path)
	}
	return path
}

// TestTypes checks the scripts of the page with the TypeScript compiler; their types are in comments.
func TestTypes(t *testing.T) {
	t.Parallel()
	compiler := npmFile(t, "typescript/bin/tsc")
	out, err := exec.Command("node", compiler, "--project", "jsconfig.json").CombinedOutput()
	if err != nil {
		t.Errorf("%v:\n%s", err, out)
	}
}
