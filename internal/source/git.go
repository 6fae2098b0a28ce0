package source

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"

	"signpost/definition"
)

// readRevision reads REV:path, a file at a git revision. The path is relative to the current directory, as those
// of other files are. Without a revision it is the file as it is staged.
func readRevision(ctx context.Context, name string) ([]byte, error) {
	revision, path := cutRevision(name)
	switch {
	case strings.HasPrefix(revision, "-"):
		return nil, argumentErrorf(`%q is not a file, and not REV:path either: a git revision does not begin with "-"`, name)
	case path == "":
		return nil, argumentErrorf("%q is not a file, and not REV:path either: it has no path", name)
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel() // ends git where it has more to say than is read
	cmd := exec.CommandContext(ctx, "git", "cat-file", "blob", revision+":./"+path)
	cmd.Env = append(os.Environ(), "LC_ALL=C")
	var said bytes.Buffer
	cmd.Stderr = &said
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	failed := func(why string) error {
		return fmt.Errorf("read definition %q: there is no such file, and git has none: %s", name, why)
	}
	if err := cmd.Start(); errors.Is(err, exec.ErrNotFound) {
		return nil, failed("git is not installed")
	} else if err != nil {
		return nil, failed(err.Error())
	}
	text, err := readLimited(out)
	if err == nil && len(text) > definition.MaxSize {
		cancel()
		cmd.Wait()
		return text, nil
	}
	if waitErr := cmd.Wait(); waitErr != nil || err != nil {
		why := strings.TrimSuffix(strings.TrimPrefix(strings.TrimSpace(said.String()), "fatal: "), ".")
		if why == "" {
			why = fmt.Sprint(errors.Join(err, waitErr))
		}
		return nil, failed(why)
	}
	return text, nil
}

// cutRevision cuts REV:path at the first colon that is not in the braces of a revision such as HEAD@{10:00}.
func cutRevision(name string) (revision, path string) {
	depth := 0
	for i, r := range name {
		switch r {
		case '{':
			depth++
		case '}':
			depth--
		case ':':
			if depth == 0 {
				return name[:i], name[i+1:]
			}
		}
	}
	return name, ""
}
