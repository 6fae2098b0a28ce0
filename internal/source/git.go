package source

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"strings"

	"signpost/definition"
)

// readRevision reads REV:path, a file or directory at a git revision. The path is relative to the current directory,
// like other paths. An empty revision means what is staged.
func (r *Reader) readRevision(ctx context.Context, name string) ([]Document, error) {
	revision, below := cutRevision(name)
	switch {
	case strings.HasPrefix(revision, "-"):
		return nil, argumentErrorf(`%q is not a file, and not REV:path either: a git revision does not begin with "-"`, name)
	case below == "":
		return nil, argumentErrorf("%q is not a file, and not REV:path either: it has no path", name)
	}
	repository := gitFiles{name: name, revision: revision, path: "./" + below}
	entries, err := repository.list(ctx)
	if err != nil {
		return nil, err
	}
	if entries == nil {
		text, err := repository.git(ctx, nil, "cat-file", "blob", repository.object())
		return []Document{{Name: name, Path: path.Base(below), Text: text}}, err
	}
	documents, err := repository.read(ctx, entries)
	if err != nil {
		return nil, err
	}
	return r.keepDefinitions(name, documents)
}

// gitFiles is a file or directory at a revision.
type gitFiles struct{ name, revision, path string }

func (g gitFiles) object() string { return g.revision + ":" + g.path }

// gitEntry is a file below a directory at a revision.
type gitEntry struct{ path, object string }

// list returns the files of a directory that may be definitions, in git's order, which is by path. For a file it
// returns nil. Symbolic links and submodules are skipped: their targets are not part of the revision.
func (g gitFiles) list(ctx context.Context) ([]gitEntry, error) {
	if g.revision == "" { // the index has no directories, only files
		return g.listStaged(ctx)
	}
	kind, err := g.git(ctx, nil, "cat-file", "-t", g.object())
	if err != nil || string(bytes.TrimSpace(kind)) != "tree" {
		return nil, err
	}
	out, err := g.git(ctx, nil, "ls-tree", "-r", "-z", "--full-tree", g.object())
	if err != nil {
		return nil, err
	}
	entries := []gitEntry{}
	for line := range strings.SplitSeq(string(out), "\x00") { // MODE TYPE OBJECT, a tab, PATH
		meta, below, _ := strings.Cut(line, "\t")
		if fields := strings.Fields(meta); len(fields) == 3 && strings.HasPrefix(fields[0], "100") && candidate(below) {
			entries = append(entries, gitEntry{below, fields[2]})
		}
	}
	return entries, nil
}

func (g gitFiles) listStaged(ctx context.Context) ([]gitEntry, error) {
	out, err := g.git(ctx, nil, "ls-files", "-s", "-z", "--", g.path)
	if err != nil {
		return nil, err
	}
	dir := path.Clean(g.path) + "/"
	entries := []gitEntry{}
	for line := range strings.SplitSeq(string(out), "\x00") { // MODE OBJECT STAGE, a tab, PATH
		meta, file, _ := strings.Cut(line, "\t")
		if file == path.Clean(g.path) {
			return nil, nil
		}
		below := strings.TrimPrefix(file, dir)
		if fields := strings.Fields(meta); len(fields) == 3 && strings.HasPrefix(fields[0], "100") && candidate(below) {
			entries = append(entries, gitEntry{below, fields[1]})
		}
	}
	if len(entries) == 0 {
		return nil, nil // let git explain why it does not exist
	}
	return entries, nil
}

// read reads the files with a single git process.
func (g gitFiles) read(ctx context.Context, entries []gitEntry) ([]Document, error) {
	var objects bytes.Buffer
	for _, e := range entries {
		fmt.Fprintln(&objects, e.object)
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	cmd, said := g.command(ctx, "cat-file", "--batch")
	cmd.Stdin = &objects
	pipe, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, g.failed(err, said)
	}
	defer func() { cancel(); cmd.Wait() }()
	out := bufio.NewReader(pipe)
	documents := make([]Document, 0, len(entries))
	for _, e := range entries {
		var object, kind string
		var size int64
		if _, err := fmt.Fscanf(out, "%s %s %d\n", &object, &kind, &size); err != nil {
			return nil, g.failed(errors.Join(err, context.Cause(ctx)), said)
		}
		text, err := readLimited(io.LimitReader(out, size))
		if rest := size - int64(len(text)); err == nil && rest >= 0 {
			_, err = io.CopyN(io.Discard, out, rest+1) // and the line break after it
		}
		if err != nil {
			return nil, g.failed(errors.Join(err, context.Cause(ctx)), said)
		}
		documents = append(documents, Document{Name: strings.TrimSuffix(g.name, "/") + "/" + e.path, Path: e.path, Text: text})
	}
	return documents, nil
}

// git runs git and returns its output, limited to one byte more than a definition may have.
func (g gitFiles) git(ctx context.Context, in io.Reader, args ...string) ([]byte, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel() // stops git if it has more output than is read
	cmd, said := g.command(ctx, args...)
	cmd.Stdin = in
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, g.failed(err, said)
	}
	text, err := readLimited(out)
	if err == nil && len(text) > definition.MaxSize {
		cancel()
		cmd.Wait()
		return text, nil
	}
	if waitErr := cmd.Wait(); waitErr != nil || err != nil {
		if ctx.Err() != nil {
			err, waitErr = context.Cause(ctx), nil
		}
		return nil, g.failed(errors.Join(err, waitErr), said)
	}
	return text, nil
}

func (g gitFiles) command(ctx context.Context, args ...string) (cmd *exec.Cmd, said *bytes.Buffer) {
	cmd = exec.CommandContext(ctx, "git", args...)
	cmd.Env = append(os.Environ(), "LC_ALL=C")
	said = new(bytes.Buffer)
	cmd.Stderr = said
	return cmd, said
}

// failed explains a failure of git. If the path does not exist at the revision, the error is fs.ErrNotExist.
func (g gitFiles) failed(err error, said *bytes.Buffer) error {
	why := strings.TrimSuffix(strings.TrimPrefix(strings.TrimSpace(said.String()), "fatal: "), ".")
	switch {
	case errors.Is(err, exec.ErrNotFound):
		why = "git is not installed"
	case why == "":
		why = err.Error()
	case strings.Contains(why, "does not exist in '"), strings.Contains(why, "exists on disk, but not in '"):
		return &missingError{fmt.Sprintf("read definition %q: there is no such file, and git has none: %s", g.name, why)}
	}
	return fmt.Errorf("read definition %q: there is no such file, and git has none: %s", g.name, why)
}

// missingError is an fs.ErrNotExist with git's message.
type missingError struct{ message string }

func (e *missingError) Error() string { return e.message }
func (e *missingError) Unwrap() error { return fs.ErrNotExist }

// cutRevision splits REV:path at the first colon outside the braces of a revision such as HEAD@{10:00}.
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
