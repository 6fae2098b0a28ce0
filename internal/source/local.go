package source

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"time"
)

const (
	// restTime is how long a file must have been unchanged before it is read. It is longer than writing one takes: a
	// file read while being overwritten can be part old and part new, and still be well-formed.
	restTime = 100 * time.Millisecond

	// patience is how long a file may be written to continuously before that is an error.
	patience = 2 * time.Second

	// racyTime is how long after its last change a file is read again regardless of its timestamps. Timestamps of file
	// systems have a resolution of up to two seconds, and a second change within that time does not show.
	racyTime = 2 * time.Second
)

// local is a file or a directory of files. Files are read only if their identity or timestamps have changed.
type local struct {
	path  string
	opts  Options
	now   func() time.Time    // time.Now, except in tests
	sleep func(time.Duration) // time.Sleep, except in tests

	files       map[string]localFile // by name
	directories []directory          // visited directories; none for a file
	settled     bool                 // everything was read, and identities are sufficient to detect changes
	documents   []Document
}

// localFile is a file as it was last read.
type localFile struct {
	identity identity
	trusted  bool // unchanged for long enough that its identity is sufficient to detect changes
	document Document
	other    bool // not a definition, and never was
}

func newLocal(path string, opts Options) *local {
	return &local{path: path, opts: opts, now: time.Now, sleep: time.Sleep}
}

func (l *local) Name() string { return l.path }

func (l *local) Read() ([]Document, bool, error) {
	if l.settled && l.unchanged() {
		return l.documents, false, nil
	}
	ctx, cancel := context.WithTimeoutCause(context.Background(), DefaultTimeout, fmt.Errorf("not read within %v", DefaultTimeout))
	defer cancel()
	l.settled = false
	listed, isDirectory, err := l.list()
	if err != nil {
		return l.documents, false, err
	}
	files := make(map[string]localFile, len(listed))
	var changed []file
	for _, f := range listed {
		if known, ok := l.files[f.name]; ok && known.trusted && known.identity == identityOf(f.info) {
			known.document.Text = nil
			files[f.name] = known
		} else {
			changed = append(changed, f)
		}
	}
	errs := l.readChanged(ctx, changed, files, isDirectory)

	var documents []Document
	for _, f := range listed {
		if read, ok := files[f.name]; ok && !read.other {
			documents = append(documents, read.document)
		}
	}
	if len(documents)+len(errs) == 0 {
		return l.documents, false, noDefinitions(l.path, len(listed))
	}
	same := func(a, b Document) bool { return a.Name == b.Name && a.Sum == b.Sum }
	news := !slices.EqualFunc(documents, l.documents, same)
	for name, f := range files {
		f.document.Text = nil // the caller has it, and needs it once
		files[name] = f
	}
	l.files, l.settled = files, len(errs) == 0 && l.trusted(files)
	l.documents = slices.Clone(documents)
	for i := range l.documents {
		l.documents[i].Text = nil
	}
	return documents, news, errors.Join(errs...)
}

// list returns the files that may be definitions. A file named explicitly is one.
func (l *local) list() (files []file, isDirectory bool, err error) {
	info, err := os.Stat(l.path)
	if err != nil {
		return nil, false, readError(l.path, err)
	}
	if !info.IsDir() {
		return []file{{name: l.path, path: filepath.Base(l.path), info: info}}, false, nil
	}
	files, directories, err := listDirectory(l.path)
	if err == nil {
		l.directories = directories
	}
	return files, true, err
}

// trusted reports whether the files and directories had been unchanged for long enough, when they were read, that their
// identities are sufficient to detect changes.
func (l *local) trusted(files map[string]localFile) bool {
	now := l.now()
	for _, dir := range l.directories {
		if dir.identity.age(now) <= racyTime {
			return false
		}
	}
	for _, f := range files {
		if !f.trusted {
			return false
		}
	}
	return true
}

// unchanged reports whether all files and directories are unchanged. This is the usual case for a server, so it takes
// one system call each and almost no memory.
func (l *local) unchanged() bool {
	for _, dir := range l.directories {
		if now, ok := statIdentity(dir.name); !ok || now != dir.identity {
			return false
		}
	}
	for name, f := range l.files {
		if now, ok := statIdentity(name); !ok || now != f.identity {
			return false
		}
	}
	return true
}

// readChanged reads files into the map. For a file that cannot be read, it keeps the old contents.
func (l *local) readChanged(ctx context.Context, changed []file, files map[string]localFile, isDirectory bool) []error {
	results, failures := make([]localFile, len(changed)), make([]error, len(changed))
	inParallel(len(changed), func(i int) {
		results[i], failures[i] = l.readAtRest(ctx, changed[i], !isDirectory)
	})
	var errs []error
	for i, f := range changed {
		known, before := l.files[f.name]
		switch err := failures[i]; {
		case errors.Is(err, fs.ErrNotExist) && isDirectory: // removed since the directory was listed
		case err != nil:
			errs = append(errs, err)
			if before {
				known.document.Text, known.trusted = nil, false
				files[f.name] = known
			}
		default:
			read := results[i]
			// A truncated definition still counts as one, so that it is rejected and not withdrawn.
			read.other = isDirectory && !IsDefinition(read.document) && (!before || known.other)
			if before && known.document.Sum == read.document.Sum {
				read.document.Text = nil
			}
			if read.other && !before {
				l.opts.Note(skippedNote(f.name))
			}
			files[f.name] = read
		}
	}
	return errs
}

// readAtRest reads a file once it has been unchanged for restTime. A file named explicitly may be a pipe, to which this
// does not apply.
func (l *local) readAtRest(ctx context.Context, f file, named bool) (localFile, error) {
	for start := l.now(); ; {
		before := identityOf(f.info)
		read := f.read
		if named && !f.info.Mode().IsRegular() {
			read = func(ctx context.Context) (Document, error) {
				text, err := readFile(ctx, f.name)
				return Document{Name: f.name, Path: f.path, Text: text}, err
			}
		}
		if wait := restTime - before.age(l.now()); wait > 0 && f.info.Mode().IsRegular() {
			l.sleep(min(wait, restTime)) // no longer than restTime, in case the clock of the file system is ahead
		}
		document, err := read(ctx)
		if err != nil {
			return localFile{}, err
		}
		now := l.now()
		info, err := os.Stat(f.name)
		if err != nil {
			return localFile{}, readError(f.name, err)
		}
		f.info = info
		if after := identityOf(info); after == before {
			document.Sum = sumOf(document.Text)
			return localFile{identity: after, trusted: after.age(now) > racyTime, document: document}, nil
		}
		if now.Sub(start) > patience {
			return localFile{}, readError(f.name, fmt.Errorf("it has been written to for more than %v", patience))
		}
	}
}

// Directories returns the directories to watch for changes, for a [Watcher]: those that the last Read found.
func Directories(sources []Source) []string {
	all := make(map[string]bool)
	for _, s := range sources {
		if l, ok := s.(*local); ok {
			all[filepath.Dir(l.path)] = all[filepath.Dir(l.path)] || len(l.directories) == 0 // a file may be replaced in its directory
			for _, dir := range l.directories {
				all[dir.name] = true
			}
		}
	}
	maps.DeleteFunc(all, func(_ string, watched bool) bool { return !watched })
	return slices.Sorted(maps.Keys(all))
}
