package source

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"signpost/internal/spell"
)

// gitPath is REV:path, a file or directory at a git revision. As in git, the path is relative to the root of the
// repository, or to the current directory if it begins with "./" or "../", and an empty revision is the index.
type gitPath struct {
	name     string // as given
	revision string // ":0" for the index, ":1" to ":3" for its stages in a merge conflict
	path     string // from the root of the repository; empty for all of it
}

// gitEntry is a file at a revision. Its path is below the directory that was named, and empty for a file that was.
type gitEntry struct{ path, object string }

// readRevision reads REV:path.
func (r *Reader) readRevision(ctx context.Context, name string) ([]Document, error) {
	g, err := parseRevision(ctx, name)
	if err != nil {
		return nil, err
	}
	entries, submodules, err := g.list(ctx)
	if err != nil {
		return nil, err
	}
	if r.Note != nil && len(submodules) > 0 {
		r.Note(fmt.Sprintf("skipped submodules of %s: %s", name, spell.First(submodules, MaxNamed)))
	}
	documents, err := g.read(ctx, entries)
	if err != nil || len(entries) == 1 && entries[0].path == "" {
		return documents, err
	}
	documents, err = r.keepDefinitions(documents)
	if err != nil {
		return nil, readError(name, err)
	}
	return documents, nil
}

func parseRevision(ctx context.Context, name string) (gitPath, error) {
	revision, below := cutRevision(name)
	if strings.HasPrefix(revision, "-") {
		return gitPath{}, argumentErrorf(
			`%q is not a file, and not REV:path either: a git revision does not begin with "-"`, name)
	}
	g := gitPath{name: name, revision: revision, path: cleanPath(below)}
	if strings.HasPrefix(below, "./") || strings.HasPrefix(below, "../") || below == "." || below == ".." {
		prefix, err := g.git(ctx, "rev-parse", "--show-prefix")
		if err != nil {
			return gitPath{}, err
		}
		g.path = cleanPath(path.Join(strings.TrimSuffix(string(prefix), "\n"), below))
	}
	return g, nil
}

// revisionPath matches REV:path. The revision ends at the first colon outside the braces of one such as HEAD@{10:00};
// it may also be a stage of the index.
var revisionPath = regexp.MustCompile(`(?s)^(:[0-3]|(?:[^:{]|\{[^}]*\})*):(.*)$`)

// cutRevision splits REV:path. Without a colon there is no path.
func cutRevision(name string) (revision, path string) {
	parts := revisionPath.FindStringSubmatch(name)
	if parts == nil {
		return name, ""
	}
	return cmp.Or(parts[1], ":0"), parts[2]
}

func (g gitPath) object() string { return g.revision + ":" + g.path }

func (g gitPath) inIndex() bool { return strings.HasPrefix(g.revision, ":") }

// list returns the file, or the files of the directory that may be definitions, sorted by path. It follows symbolic
// links, as in a directory on disk, but not out of the repository, and to no file twice. It does not enter submodules,
// and returns their paths.
func (g gitPath) list(ctx context.Context) (entries []gitEntry, submodules []string, err error) {
	seen := make(map[string]bool) // paths from the root, without symbolic links
	links, root := []gitLink{{to: g.path}}, ""
	for len(links) > 0 {
		at := links[0]
		links = links[1:]
		files, real, err := g.follow(ctx, at.to)
		nowhere, isNowhere := errors.AsType[nowhereError](err)
		switch isNamed := at.path == ""; {
		case isNowhere && !isNamed:
			continue
		case isNowhere && nowhere == notInRevision:
			return nil, nil, g.missing(ctx)
		case isNowhere:
			return nil, nil, g.failed(string(nowhere))
		case err != nil:
			return nil, nil, err
		case isNamed && files[0].path == real:
			return []gitEntry{{"", files[0].object}}, nil, nil
		case isNamed:
			root = real
		case seen[real], real == "", strings.HasPrefix(root, real+"/"): // around the directory that was named
			continue
		}
		seen[real] = true
		var found []gitEntry // links
		for _, f := range files {
			below := strings.TrimPrefix(strings.TrimPrefix(f.path, real), "/")
			e := gitEntry{path.Join(at.path, below), f.object}
			switch {
			case below != "" && seen[f.path], slices.ContainsFunc(strings.Split(below, "/"), skipped):
			case f.isLink:
				found = append(found, e)
			case !f.isFile:
				seen[f.path] = true
				submodules = append(submodules, e.path)
			case candidate(e.path):
				seen[f.path] = true
				entries = append(entries, e)
			}
		}
		targets, err := g.read(ctx, found)
		if err != nil {
			entries = append(entries, found...) // which cannot be read, either
			continue
		}
		for i, e := range slices.Backward(found) {
			to, isInside := target(path.Join(real, strings.TrimPrefix(e.path, at.path)), string(targets[i].Text))
			if isInside {
				links = slices.Insert(links, 0, gitLink{e.path, to})
			}
		}
	}
	slices.SortFunc(entries, func(a, b gitEntry) int { return strings.Compare(a.path, b.path) })
	return entries, submodules, nil
}

// gitLink is a symbolic link: its path below the directory that was named, and the path from the root to which it leads.
type gitLink struct{ path, to string }

// nowhereError is the error of follow for a path that leads to nothing in the revision, with the reason.
type nowhereError string

func (e nowhereError) Error() string { return string(e) }

const (
	notInRevision = nowhereError("it is not in the revision")
	inSubmodule   = nowhereError("it is in a submodule: name a revision of that, in its directory")
	outside       = nowhereError("a symbolic link leads out of the repository")
)

// maxLinks is how many symbolic links are followed for one path: a few times as many as anybody has. Each takes three
// calls of git.
const maxLinks = 10

// follow returns the files at a path from the root or below it, and the path without symbolic links.
func (g gitPath) follow(ctx context.Context, at string) (files []gitFile, real string, err error) {
	for range maxLinks {
		files, err := g.files(ctx, at)
		if err != nil || len(files) > 0 && (files[0].path != at || files[0].isFile) {
			return files, at, err
		}
		var parents []string // and the path itself
		for p := at; p != "" && p != "."; p = path.Dir(p) {
			parents = append(parents, p)
		}
		if len(parents) > 0 {
			files, err = g.files(ctx, parents...)
		}
		isOn := func(f gitFile) bool { return !f.isFile && strings.HasPrefix(at+"/", f.path+"/") }
		i := slices.IndexFunc(files, isOn)
		switch {
		case err != nil:
			return nil, "", err
		case i < 0:
			return nil, "", notInRevision
		case !files[i].isLink:
			return nil, "", inSubmodule
		}
		link, err := g.read(ctx, []gitEntry{{"", files[i].object}})
		if err != nil {
			return nil, "", err
		}
		to, isInside := target(files[i].path, string(link[0].Text))
		if !isInside {
			return nil, "", outside
		}
		at = cleanPath(to + strings.TrimPrefix(at, files[i].path))
	}
	return nil, "", notInRevision
}

// target returns the path from the root to which a symbolic link leads, and whether that is in the repository.
func target(link, text string) (to string, isInside bool) {
	to = cleanPath(path.Join(path.Dir(link), text))
	return to, !path.IsAbs(text) && to != ".." && !strings.HasPrefix(to, "../")
}

// cleanPath returns the shortest form of a path from the root, which is "" for the root itself.
func cleanPath(p string) string {
	p = path.Clean(p)
	if p == "." {
		return ""
	}
	return p
}

// gitFile is a file, a symbolic link or a submodule of a revision, with its path from the root.
type gitFile struct {
	path, object   string
	isFile, isLink bool
}

// files returns the files of a revision at some paths, and below them. In a merge conflict a file of the index has no
// version that counts, so the stage must be named.
func (g gitPath) files(ctx context.Context, paths ...string) ([]gitFile, error) {
	args := []string{"ls-tree", "-r", "-z", "--full-tree", g.revision, "--"} // MODE TYPE OBJECT, a tab, PATH
	if g.inIndex() {
		args = []string{"ls-files", "-s", "-z", "--full-name", "--"} // MODE OBJECT STAGE, a tab, PATH
	}
	for _, p := range paths {
		switch {
		case g.inIndex():
			args = append(args, ":(top,literal)"+p)
		case p != "":
			args = append(args, p)
		}
	}
	out, err := g.git(ctx, args...)
	if err != nil {
		return nil, err
	}
	var files []gitFile
	for line := range strings.SplitSeq(string(out), "\x00") {
		meta, file, _ := strings.Cut(line, "\t")
		fields := strings.Fields(meta)
		if len(fields) != 3 { // the end
			break
		}
		mode, object := fields[0], fields[2]
		if g.inIndex() {
			object = fields[1]
			if stage := ":" + fields[2]; g.revision == ":0" && stage != ":0" {
				return nil, fmt.Errorf("read definition %q: %s has a merge conflict: resolve it, "+
					"or name :2:%[2]s (ours) or :3:%[2]s (theirs)", g.name, file)
			} else if stage != g.revision {
				continue
			}
		}
		files = append(files, gitFile{file, object, strings.HasPrefix(mode, "100"), strings.HasPrefix(mode, "120")})
	}
	return files, nil
}

// missing returns an fs.ErrNotExist for a path that the revision does not have. Its message has the spelling that
// works, if the path was meant to be relative to the current directory.
func (g gitPath) missing(ctx context.Context) error {
	in := "'" + g.revision + "'"
	if g.inIndex() {
		in = "the index"
	}
	message := g.failed(fmt.Sprintf("path '%s' does not exist in %s", g.path, in)).Error()
	_, below := cutRevision(g.name)
	if here, ok := g.spelling(ctx, "./"+below); ok {
		message += fmt.Sprintf(
			"; did you mean %s? A path is relative to the root of the repository unless it begins with ./", here)
	}
	return &missingError{message}
}

// spelling returns REV:path if that exists. The path may be relative to the current directory.
func (g gitPath) spelling(ctx context.Context, path string) (string, bool) {
	at, err := parseRevision(ctx, g.revision+":"+path)
	if err == nil {
		_, _, err = at.follow(ctx, at.path)
	}
	return strings.TrimPrefix(at.object(), ":0"), err == nil
}

// ConfirmNew returns nil if the path of NEW does not exist at the revision of OLD, a REV:path that does not exist
// itself: then everything in NEW is new. Otherwise OLD is misspelt, and the error has the spelling that exists. A NEW
// outside the repository has no such path, so it proves nothing.
func (r *Reader) ConfirmNew(ctx context.Context, old, new string) error {
	ctx, cancel := limitRead(ctx)
	defer cancel()
	noPath := fmt.Errorf("read definition %q: it does not exist there, and %s has no path in the repository "+
		"that could be new", old, Shown(new))
	g, err := parseRevision(ctx, old)
	if err != nil {
		return err
	}
	var below string
	_, missing := os.Stat(new)
	switch {
	case new == Stdin || IsAddress(new) || IsRegistry(new):
		return noPath
	case missing != nil && strings.Contains(new, ":"):
		_, below = cutRevision(new)
	default:
		here, _ := filepath.Abs(".")
		full, _ := filepath.Abs(new)
		below, err = filepath.Rel(here, full)
		if err != nil {
			return err
		}
		below = "./" + filepath.ToSlash(below)
	}
	if at, err := parseRevision(ctx, g.revision+":"+below); err != nil || strings.HasPrefix(at.path, "../") {
		return noPath
	}
	if spelling, ok := g.spelling(ctx, below); ok {
		return fmt.Errorf("read definition %q: it does not exist there: did you mean %s?", old, spelling)
	}
	return nil
}

// read reads the files with a single git process.
func (g gitPath) read(ctx context.Context, entries []gitEntry) ([]Document, error) {
	if len(entries) == 0 {
		return nil, nil
	}
	var objects bytes.Buffer
	for _, e := range entries {
		fmt.Fprintln(&objects, e.object)
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	cmd := g.command(ctx, "cat-file", "--batch")
	cmd.Stdin = &objects
	pipe, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, g.failed(err.Error())
	}
	defer func() { cancel(); cmd.Wait() }()
	out := bufio.NewReader(pipe)
	documents := make([]Document, 0, len(entries))
	directory := g.name
	if !strings.HasSuffix(directory, "/") && !strings.HasSuffix(directory, ":") {
		directory += "/"
	}
	for _, e := range entries {
		var object, kind string
		var size int64
		_, err := fmt.Fscanf(out, "%s %s %d\n", &object, &kind, &size)
		var text []byte
		if object := io.LimitReader(out, size); err == nil {
			text, err = readLimited(object)
			io.Copy(io.Discard, object) // the rest, if it is too large
		}
		if err == nil {
			_, err = out.ReadByte() // a line break
		}
		switch {
		case err != nil && ctx.Err() != nil:
			return nil, g.failed(context.Cause(ctx).Error())
		case err != nil: // git has just listed it
			full := g.revision + ":" + path.Join(g.path, e.path)
			return nil, fmt.Errorf("read definition %q: the repository lacks the contents of %s: it may be a partial "+
				"clone, for which Signpost fetches nothing; git show %[2]s does", g.name, strings.TrimPrefix(full, ":0"))
		}
		d := Document{Name: g.name, Path: path.Base(g.path), Text: text}
		if e.path != "" {
			d.Name, d.Path = directory+e.path, e.path
		}
		documents = append(documents, d)
	}
	return documents, nil
}

// git runs git and returns its output.
func (g gitPath) git(ctx context.Context, args ...string) ([]byte, error) {
	out, err := g.command(ctx, args...).Output()
	if err == nil {
		return out, nil
	}
	why := err.Error()
	if exit, ok := errors.AsType[*exec.ExitError](err); ok && len(exit.Stderr) > 0 {
		// Further lines are git's own hints.
		why, _, _ = strings.Cut(strings.TrimPrefix(string(exit.Stderr), "fatal: "), "\n")
		why = strings.TrimSuffix(why, ".")
	}
	switch {
	case ctx.Err() != nil:
		why = context.Cause(ctx).Error()
	case errors.Is(err, exec.ErrNotFound):
		why = "git is not installed"
	}
	return nil, g.failed(why)
}

// command returns a git command that starts nothing that the configuration of the repository names: no file monitor, no
// hook, and no program that fetches what a partial clone lacks.
func (g gitPath) command(ctx context.Context, args ...string) *exec.Cmd {
	args = append([]string{"-c", "core.fsmonitor=false", "-c", "core.hooksPath="}, args...)
	cmd := exec.CommandContext(ctx, "git", args...)
	// git before 2.44 knows GIT_ALLOW_PROTOCOL only.
	cmd.Env = append(os.Environ(), "LC_ALL=C", "GIT_NO_LAZY_FETCH=1", "GIT_ALLOW_PROTOCOL=none")
	cmd.WaitDelay = time.Second // a program that git has started may keep the pipe open
	return cmd
}

func (g gitPath) failed(why string) error {
	return fmt.Errorf("read definition %q: neither a file nor a git revision: %s", g.name, why)
}

// missingError is an fs.ErrNotExist with a message of its own.
type missingError struct{ message string }

func (e *missingError) Error() string { return e.message }
func (e *missingError) Unwrap() error { return fs.ErrNotExist }
