package source

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
)

// BenchmarkLook checks 2,000 unchanged files, as a server does every LookInterval.
func BenchmarkLook(b *testing.B) {
	dir := b.TempDir()
	for i := range 2000 {
		if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("s%d.yaml", i)), []byte(definitionText), 0o644); err != nil {
			b.Fatal(err)
		}
	}
	l := newLocal(dir, Options{Note: func(string) {}})
	if _, _, err := l.Read(); err != nil {
		b.Fatal(err)
	}
	for name, f := range l.files {
		f.trusted = true
		l.files[name] = f
	}
	l.settled = true
	b.ReportAllocs()
	for b.Loop() {
		if _, changed, err := l.Read(); changed || err != nil {
			b.Fatal(changed, err)
		}
	}
}
