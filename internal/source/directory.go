package source

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

func readFile(path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, readError(path, err)
	}
	defer f.Close()
	text, err := readLimited(f)
	if err != nil {
		return nil, readError(path, err)
	}
	return text, nil
}

// readError names the path once: the errors of package os have it too.
func readError(path string, err error) error {
	var pathErr *os.PathError
	if errors.As(err, &pathErr) {
		err = pathErr.Err
	}
	return fmt.Errorf("read definition %q: %w", path, err)
}

// definitionsIn returns the path itself or, for a directory, the definitions directly in it, sorted by name.
// Hidden files are skipped, as a mounted Kubernetes ConfigMap has some, and so are JSON schemas.
func definitionsIn(path string) ([]string, error) {
	if path == Stdin {
		return []string{path}, nil
	}
	info, err := os.Stat(path)
	if err != nil {
		return nil, readError(path, err)
	}
	if !info.IsDir() {
		return []string{path}, nil
	}
	entries, err := os.ReadDir(path)
	if err != nil {
		return nil, readError(path, err)
	}
	var paths []string
	for _, e := range entries {
		name := e.Name()
		wanted := slices.Contains([]string{".yaml", ".yml", ".json"}, filepath.Ext(name)) &&
			!strings.HasPrefix(name, ".") && !strings.HasSuffix(name, ".schema.json")
		if !wanted {
			continue
		}
		full := filepath.Join(path, name)
		if info, err := os.Stat(full); err == nil && info.IsDir() { // a link is followed
			continue
		}
		paths = append(paths, full)
	}
	if len(paths) == 0 {
		return nil, fmt.Errorf("read definitions in %q: the folder holds no .yaml, .yml or .json file", path)
	}
	return paths, nil
}
