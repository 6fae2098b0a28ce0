package cli

import (
	"fmt"
	"math/rand"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

func TestUnifiedDiff(t *testing.T) {
	old := "1\n2\n3\n4\n5\n6\n7\n8\n9\n10\n11\n12\n13\n14\n15\n16"
	text := strings.NewReplacer("2\n3", "two\n3", "\n5\n", "\n", "15\n16", "15\n16\n").Replace(old)
	want := `--- f
+++ f
@@ -1,8 +1,7 @@
 1
-2
+two
 3
 4
-5
 6
 7
 8
@@ -13,4 +12,4 @@
 13
 14
 15
-16
\ No newline at end of file
+16
`
	text = strings.Replace(text, "1two", "12", 1) // only the second line
	if got := string(unifiedDiff("f", []byte(old), []byte(text))); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	if got := unifiedDiff("f", []byte(old), []byte(old)); len(got) > 0 {
		t.Errorf("equal texts differ: %s", got)
	}
}

// TestUnifiedDiffApplies applies the diffs of random edits with patch.
func TestUnifiedDiffApplies(t *testing.T) {
	patch, err := exec.LookPath("patch")
	if err != nil {
		t.Skip("DIFFS WERE NOT APPLIED: patch is not installed. Run make setup, or make test, which does.")
	}
	random := rand.New(rand.NewSource(1))
	for range 50 {
		var old, text []string
		for i := range 60 {
			line := fmt.Sprintf("line %d\n", i%7)
			old = append(old, line)
			switch random.Intn(12) {
			case 0:
			case 1:
				text = append(text, line, "more\n")
			case 2:
				text = append(text, "other\n")
			default:
				text = append(text, line)
			}
		}
		before, after := strings.Join(old, ""), strings.Join(text, "")
		path := filepath.Join(t.TempDir(), "f")
		if err := os.WriteFile(path, []byte(before), 0o644); err != nil {
			t.Fatal(err)
		}
		diff := unifiedDiff("f", []byte(before), []byte(after))
		cmd := exec.Command(patch, "-s", path)
		cmd.Stdin = strings.NewReader(string(diff))
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v: %s\n%s", err, out, diff)
		}
		if got, _ := os.ReadFile(path); string(got) != after {
			t.Fatalf("patch gives\n%s\nwant\n%s\nwith\n%s", got, after, diff)
		}
	}
}
