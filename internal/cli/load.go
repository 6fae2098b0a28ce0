package cli

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"signpost/definition"
)

// stdinName stands for standard input on the command line; findings call it <stdin>.
const stdinName = "-"

// load reads the definitions that the arguments name: files, folders and standard input.
func (c *CLI) load(args []string) ([]*definition.File, error) {
	var files []*definition.File
	for _, arg := range args {
		paths, err := definitionsIn(arg)
		if err != nil {
			return nil, err
		}
		for _, path := range paths {
			file, err := c.read(path)
			if err != nil {
				return nil, err
			}
			files = append(files, file)
		}
	}
	return files, nil
}

func (c *CLI) read(path string) (*definition.File, error) {
	name := path
	var text []byte
	var err error
	if path == stdinName {
		name = "<stdin>"
		text, err = readLimited(c.Stdin)
	} else {
		text, err = readFile(path)
	}
	if err != nil {
		return nil, err
	}
	return definition.Parse(name, text), nil
}

// readError names the path once: the errors of package os have it too.
func readError(path string, err error) error {
	var pathErr *os.PathError
	if errors.As(err, &pathErr) {
		err = pathErr.Err
	}
	return fmt.Errorf("read definition %q: %w", path, err)
}

// definitionsIn returns the path itself or, for a folder, the definitions directly in it, sorted by name.
// Hidden files are left out, as a mounted Kubernetes ConfigMap has some, and so are JSON schemas.
func definitionsIn(path string) ([]string, error) {
	if path == stdinName {
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
