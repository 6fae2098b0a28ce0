package cli

import (
	"bytes"
	"crypto/rand"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"runtime"

	"signpost/internal/readfile"
	"signpost/internal/source"
)

// isStudioToken matches what studioToken writes. Anything else in the file is replaced.
var isStudioToken = regexp.MustCompile(`^[A-Z2-7]{26}$`)

// studioToken returns the token with which browsers may use the studio page. It is kept in a file that only the user
// can read, so that open pages and bookmarks survive a restart.
func studioToken() (string, error) {
	dir, err := os.UserConfigDir()
	if err != nil {
		return "", err
	}
	path := filepath.Join(dir, "signpost", "studio-token")
	if token, err := readStudioToken(path); err == nil {
		return token, nil
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return "", err
	}
	if err := source.WriteFile(path, []byte(rand.Text()+"\n"), 0o600); err != nil {
		return "", err
	}
	return readStudioToken(path) // another studio may have been started at the same time
}

// readStudioToken reads a token that nobody else could read.
func readStudioToken(path string) (string, error) {
	info, err := os.Stat(path)
	if err != nil {
		return "", err
	}
	text, err := readfile.Limit(path, 1<<10)
	if err != nil {
		return "", err
	}
	token := bytes.TrimSpace(text)
	if !isStudioToken.Match(token) || runtime.GOOS != "windows" && info.Mode().Perm()&0o077 != 0 {
		return "", fmt.Errorf("%s is not a token of this user alone", path)
	}
	return string(token), nil
}
