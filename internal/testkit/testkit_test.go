package testkit

import (
	"os"
	"path/filepath"
	"testing"
)

func TestMissingIsRepeated(t *testing.T) {
	path := filepath.Join(t.TempDir(), "not-tested")
	t.Setenv(notTestedVariable, path)
	if !t.Run("skips", func(t *testing.T) { Find(t, "no-such-program", "THE EXAMPLE") }) {
		t.Fatal("a missing program fails a test")
	}
	got, err := os.ReadFile(path)
	if want := "THE EXAMPLE: no-such-program is not installed\n"; err != nil || string(got) != want {
		t.Errorf("collected %q, %v; want %q", got, err, want)
	}
}
